/* SPDX-License-Identifier: MIT */
/* A kernel faults, and the context keeps a sticky error: each check runs in a process of its own. */
#include "support.h"

struct given {
    atomic_int calls;
    atomic_int releases;
    atomic_int status;
};

static void CUDA_CB called(void *user)
{
    atomic_fetch_add(&((struct given *)user)->calls, 1);
}

static void CUDA_CB called_back(CUstream stream, CUresult status, void *user)
{
    struct given *given = user;
    (void)stream;
    atomic_store(&given->status, (int)status);
    atomic_fetch_add(&given->calls, 1);
}

static void released(void *user)
{
    atomic_fetch_add(&((struct given *)user)->releases, 1);
}

static void wait_for_releases(const struct given *given, int count)
{
    for (int i = 0; i < 200; i++) {
        int releases = 0;
        for (int j = 0; j < count; j++)
            releases += atomic_load(&given[j].releases);
        if (releases == count)
            return;
        pause_shortly();
    }
}

/* Called before any work is pending: a real driver loads a module only when all other work is done. */
static CUfunction faulting_kernel(void)
{
    CUfunction function = NULL;
    need("kernel", kernel_get("conformance_fault", &function));
    return function;
}

static bool launch_fault(CUfunction function, struct cushim_stream *stream)
{
    return need("fault", kernel_launch(function, cushim_stream_handle(stream), NULL));
}

static bool fault(struct cushim_stream *stream)
{
    return launch_fault(faulting_kernel(), stream);
}

/* Both are registered behind a kernel before it faults: the host function is never called, and the callback is called
 * with the error. */
static void pending(void)
{
    struct cushim_stream *stream = layer_stream();
    struct given given[3] = {{.calls = 0}};
    struct gate gate;
    CUfunction function = faulting_kernel();
    if (!gate_close(&gate, cushim_stream_handle(stream)))
        return;
    done("before", cushim_stream_launch_host(stream, called, &given[0], released));
    if (!launch_fault(function, stream))
        return;
    done("host", cushim_stream_launch_host(stream, called, &given[1], released));
    done("callback", cushim_stream_add_callback(stream, called_back, &given[2], released));
    gate_open(&gate);
    passed_on("synchronize", cushim_stream_synchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    wait_for_releases(given, 3);
    rule_number("before-calls", atomic_load(&given[0].calls), 1);
    rule_number("before-releases", atomic_load(&given[0].releases), 1);
    rule_number("host-calls", atomic_load(&given[1].calls), 0);
    rule_number("host-releases", atomic_load(&given[1].releases), 1);
    rule_number("callback-calls", atomic_load(&given[2].calls), 1);
    rule_number("callback-releases", atomic_load(&given[2].releases), 1);
    rule("callback-status", (CUresult)atomic_load(&given[2].status), CUDA_ERROR_ILLEGAL_ADDRESS);
    saw("destroy", cushim_stream_destroy(&stream));
}

/* Calls on objects of a context with a sticky error return it, and destroying the objects works all the same. */
static void after(void)
{
    struct cushim_context *context = context_new();
    struct cushim_stream *stream = layer_stream();
    struct cushim_stream *made = NULL;
    struct cushim_event *event = NULL;
    struct given given[2] = {{.calls = 0}};
    unsigned flags = 99;
    int least = 99;
    long blocks;
    need("event", cushim_event_create(context, CU_EVENT_DISABLE_TIMING, &event));
    if (!fault(stream))
        return;
    passed_on("synchronize", cushim_stream_synchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    passed_on("query", cushim_stream_query(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    done("flags-are-known", cushim_stream_flags(stream, &flags));
    passed_on("host", cushim_stream_launch_host(stream, called, &given[0], released), CUDA_ERROR_ILLEGAL_ADDRESS);
    rule_number("host-releases", atomic_load(&given[0].releases), 1);
    passed_on("callback", cushim_stream_add_callback(stream, called_back, &given[1], released),
              CUDA_ERROR_ILLEGAL_ADDRESS);
    rule_number("callback-releases", atomic_load(&given[1].releases), 1);
    passed_on("record", cushim_event_record(event, stream, 0), CUDA_ERROR_ILLEGAL_ADDRESS);
    blocks = allocation_count();
    passed_on("create", cushim_stream_create(context, 0, 0, &made), CUDA_ERROR_ILLEGAL_ADDRESS);
    rule_fact("untouched", made == NULL && allocation_count() <= blocks);
    rule_current("current-stays", the_context);
    saw("range", cushim_context_priority_range(context, &least, NULL));
    saw("event-destroy", cushim_event_destroy(&event));
    rule_fact("event-is-gone", event == NULL);
    passed_on("close", cushim_stream_close(&stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    rule_fact("stream-is-gone", stream == NULL);
    done("context-destroy", cushim_context_destroy(&context));
    wait_for_releases(given, 2);
    rule_number("released-once", atomic_load(&given[0].releases) + atomic_load(&given[1].releases), 2);
    rule_number("never-called", atomic_load(&given[0].calls) + atomic_load(&given[1].calls), 0);
}

static CUresult body_faults(struct cushim_stream *stream, void *user)
{
    CUresult *result = user;
    if (*result != CUDA_SUCCESS)
        (void)fault(stream);
    return *result;
}

static void run_faults(void)
{
    struct cushim_stream *stream = layer_stream();
    CUresult result = CUDA_ERROR_ASSERT;
    passed_on("both-fail", cushim_stream_run(stream, body_faults, &result), CUDA_ERROR_ILLEGAL_ADDRESS);
    result = CUDA_SUCCESS;
    passed_on("wait-fails", cushim_stream_run(stream, body_faults, &result), CUDA_ERROR_ILLEGAL_ADDRESS);
    saw("destroy", cushim_stream_destroy(&stream));
}

/* The context gets a sticky error while a capture with user data to release is open. */
static void in_capture(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_stream *other = layer_stream();
    struct cushim_capture *capture = NULL;
    struct cushim_graph *graph = NULL;
    struct given given = {.calls = 0};
    long blocks = allocation_count();
    need("begin", cushim_capture_begin(stream, RELAXED, &capture));
    done("host", cushim_stream_launch_host(stream, called, &given, released));
    if (!fault(other))
        return;
    passed_on("synchronize", cushim_stream_synchronize(other), CUDA_ERROR_ILLEGAL_ADDRESS);
    CUresult ended = cushim_capture_end(&capture, &graph);
    saw("end", ended);
    rule_fact("ended", capture == NULL && (graph != NULL) == (ended == CUDA_SUCCESS));
    cushim_graph_destroy(&graph);
    wait_for_releases(&given, 1);
    rule_number("releases", atomic_load(&given.releases), 1);
    saw("destroy", cushim_stream_destroy(&stream));
    saw("destroy-other", cushim_stream_destroy(&other));
    /* If the driver calls the destructor after all, nothing is released twice. */
    for (int i = 0; i < 20 && allocation_count() > blocks; i++)
        pause_shortly();
    rule_number("releases-then", atomic_load(&given.releases), 1);
    rule_number("calls", atomic_load(&given.calls), 0);
}

static CUresult launch(struct cushim_stream *stream, void *user)
{
    return cushim_stream_launch_host(stream, called, user, released);
}

/* The context gets a sticky error while a graph and an executable graph hold user data to release. */
static void beside_executable(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_graph *graph = NULL;
    struct cushim_graph_exec *exec = NULL;
    struct given given = {.calls = 0};
    need("capture", cushim_stream_capture(stream, RELAXED, launch, &given, &graph));
    need("instantiate", cushim_graph_instantiate(graph, NULL, 0, &exec));
    if (!fault(stream))
        return;
    passed_on("synchronize", cushim_stream_synchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    passed_on("launch", cushim_graph_exec_launch(exec, stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    rule_number("kept", atomic_load(&given.releases), 0);
    saw("graph-destroy", cushim_graph_destroy(&graph));
    saw("executable-destroy", cushim_graph_exec_destroy(&exec));
    wait_for_releases(&given, 1);
    rule_number("releases", atomic_load(&given.releases), 1);
    rule_number("calls", atomic_load(&given.calls), 0);
    saw("destroy", cushim_stream_destroy(&stream));
}

static const struct check checks[] = {
    {"fault.pending", pending, CHECK_ALONE, {0}},
    {"fault.after", after, CHECK_ALONE, {0}},
    {"fault.run", run_faults, CHECK_ALONE, {0}},
    {"fault.in-capture", in_capture, CHECK_ALONE, {S(UserObjectCreate_v1)}},
    {"fault.beside-executable", beside_executable, CHECK_ALONE, {S(UserObjectCreate_v1)}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_fault = {"fault", checks};
