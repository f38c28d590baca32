/* SPDX-License-Identifier: MIT */
/* A kernel faults, and the context keeps a sticky error: each check runs in a process of its own. */
#include "support.h"

static void wait_for_releases(const struct user_data *data, int count)
{
    for (int i = 0; i < 200; i++) {
        int releases = 0;
        for (int j = 0; j < count; j++)
            releases += atomic_load(&data[j].releases);
        if (releases == count)
            return;
        pause_shortly();
    }
}

/* Called before any work is pending: a real driver loads a module only when all other work is done. */
static CUfunction faulting_kernel(void)
{
    CUfunction function = NULL;
    require("kernel", kernel_get("conformance_fault", &function));
    return function;
}

static bool launch_fault(CUfunction function, struct cushim_stream *stream)
{
    return require("fault", kernel_launch(function, cushim_stream_handle(stream), NULL));
}

static bool fault(struct cushim_stream *stream)
{
    return launch_fault(faulting_kernel(), stream);
}

/* Both are registered behind a kernel before it faults: the host function is never called, and the callback is called
 * with the error. */
CHECK(pending, "fault.pending", .flags = CHECK_ALONE)
{
    struct cushim_stream *stream = test_stream_new();
    struct user_data data[3] = {{.calls = 0}};
    CUfunction function = faulting_kernel();
    struct gate *gate = gate_new(cushim_stream_handle(stream));
    expect_success("before", cushim_stream_launch_host(stream, user_called, &data[0], user_released));
    if (!launch_fault(function, stream))
        return;
    expect_success("host", cushim_stream_launch_host(stream, user_called, &data[1], user_released));
    expect_success("callback", cushim_stream_add_callback(stream, user_called_back, &data[2], user_released));
    gate_open(gate);
    expect_driver_error("synchronize", cushim_stream_synchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    wait_for_releases(data, 3);
    expect_number("before-calls", atomic_load(&data[0].calls), 1);
    expect_number("before-releases", atomic_load(&data[0].releases), 1);
    expect_number("host-calls", atomic_load(&data[1].calls), 0);
    expect_number("host-releases", atomic_load(&data[1].releases), 1);
    expect_number("callback-calls", atomic_load(&data[2].calls), 1);
    expect_number("callback-releases", atomic_load(&data[2].releases), 1);
    expect("callback-status", (CUresult)atomic_load(&data[2].status), CUDA_ERROR_ILLEGAL_ADDRESS);
    observe("destroy", cushim_stream_destroy(&stream));
}

/* Calls on objects of a context with a sticky error return it, and destroying the objects works all the same. */
CHECK(after, "fault.after", .flags = CHECK_ALONE)
{
    struct cushim_context *context = context_new();
    struct cushim_stream *stream = test_stream_new();
    struct cushim_stream *made = NULL;
    struct cushim_event *event = NULL;
    struct user_data data[2] = {{.calls = 0}};
    unsigned flags = 99;
    int least = 99;
    long blocks;
    require("event", cushim_event_create(context, CU_EVENT_DISABLE_TIMING, &event));
    if (!fault(stream))
        return;
    expect_driver_error("synchronize", cushim_stream_synchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    expect_driver_error("query", cushim_stream_query(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    expect_success("flags-are-known", cushim_stream_get_flags(stream, &flags));
    expect_driver_error("host", cushim_stream_launch_host(stream, user_called, &data[0], user_released),
                        CUDA_ERROR_ILLEGAL_ADDRESS);
    expect_number("host-releases", atomic_load(&data[0].releases), 1);
    expect_driver_error("callback", cushim_stream_add_callback(stream, user_called_back, &data[1], user_released),
                        CUDA_ERROR_ILLEGAL_ADDRESS);
    expect_number("callback-releases", atomic_load(&data[1].releases), 1);
    expect_driver_error("record", cushim_event_record(event, stream, 0), CUDA_ERROR_ILLEGAL_ADDRESS);
    blocks = allocation_count();
    expect_driver_error("create", cushim_stream_create(context, 0, 0, &made), CUDA_ERROR_ILLEGAL_ADDRESS);
    expect_true("untouched", made == NULL && allocation_count() <= blocks);
    expect_current("current-stays", the_context);
    observe("range", cushim_context_get_priority_range(context, &least, NULL));
    observe("event-destroy", cushim_event_destroy(&event));
    expect_true("event-is-gone", event == NULL);
    expect_driver_error("close", cushim_stream_close(&stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    expect_true("stream-is-gone", stream == NULL);
    expect_success("context-destroy", cushim_context_destroy(&context));
    wait_for_releases(data, 2);
    expect_number("released-once", atomic_load(&data[0].releases) + atomic_load(&data[1].releases), 2);
    expect_number("never-called", atomic_load(&data[0].calls) + atomic_load(&data[1].calls), 0);
}

static CUresult body_faults(struct cushim_stream *stream, void *user)
{
    CUresult *result = user;
    if (*result != CUDA_SUCCESS)
        (void)fault(stream);
    return *result;
}

CHECK(run_faults, "fault.run", .flags = CHECK_ALONE)
{
    struct cushim_stream *stream = test_stream_new();
    CUresult result = CUDA_ERROR_ASSERT;
    expect_driver_error("both-fail", cushim_stream_run(stream, body_faults, &result), CUDA_ERROR_ILLEGAL_ADDRESS);
    result = CUDA_SUCCESS;
    expect_driver_error("wait-fails", cushim_stream_run(stream, body_faults, &result), CUDA_ERROR_ILLEGAL_ADDRESS);
    observe("destroy", cushim_stream_destroy(&stream));
}

/* The context gets a sticky error while a capture with user data to release is open. */
CHECK(in_capture, "fault.in-capture", .flags = CHECK_ALONE, .needs = {S(UserObjectCreate_v1)})
{
    struct cushim_stream *stream = test_stream_new();
    struct cushim_stream *other = test_stream_new();
    struct cushim_graph *graph = NULL;
    struct user_data data = {.calls = 0};
    long blocks = allocation_count();
    struct cushim_capture *capture = test_capture_begin(stream, RELAXED);
    expect_success("host", cushim_stream_launch_host(stream, user_called, &data, user_released));
    if (!fault(other))
        return;
    expect_driver_error("synchronize", cushim_stream_synchronize(other), CUDA_ERROR_ILLEGAL_ADDRESS);
    CUresult ended = cushim_capture_end(&capture, &graph);
    observe("end", ended);
    expect_true("ended", capture == NULL && (graph != NULL) == (ended == CUDA_SUCCESS));
    cushim_graph_destroy(&graph);
    wait_for_releases(&data, 1);
    expect_number("releases", atomic_load(&data.releases), 1);
    observe("destroy", cushim_stream_destroy(&stream));
    observe("destroy-other", cushim_stream_destroy(&other));
    /* If the driver calls the destructor after all, nothing is released twice. */
    for (int i = 0; i < 20 && allocation_count() > blocks; i++)
        pause_shortly();
    expect_number("releases-then", atomic_load(&data.releases), 1);
    expect_number("calls", atomic_load(&data.calls), 0);
}

static CUresult launch(struct cushim_stream *stream, void *user)
{
    return cushim_stream_launch_host(stream, user_called, user, user_released);
}

/* The context gets a sticky error while a graph and an executable graph hold user data to release. */
CHECK(beside_executable, "fault.beside-executable", .flags = CHECK_ALONE, .needs = {S(UserObjectCreate_v1)})
{
    struct cushim_stream *stream = test_stream_new();
    struct cushim_graph *graph = NULL;
    struct cushim_graph_exec *exec = NULL;
    struct user_data data = {.calls = 0};
    require("capture", cushim_stream_capture(stream, RELAXED, launch, &data, &graph));
    require("instantiate", cushim_graph_instantiate(graph, NULL, 0, &exec));
    if (!fault(stream))
        return;
    expect_driver_error("synchronize", cushim_stream_synchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    expect_driver_error("launch", cushim_graph_exec_launch(exec, stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    expect_number("kept", atomic_load(&data.releases), 0);
    observe("graph-destroy", cushim_graph_destroy(&graph));
    observe("executable-destroy", cushim_graph_exec_destroy(&exec));
    wait_for_releases(&data, 1);
    expect_number("releases", atomic_load(&data.releases), 1);
    expect_number("calls", atomic_load(&data.calls), 0);
    observe("destroy", cushim_stream_destroy(&stream));
}
