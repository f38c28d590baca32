/* SPDX-License-Identifier: MIT */
/* Host functions in a capture: their user data is released once, when the graph and everything made from it are
 * destroyed. */
#include "support.h"

struct given {
    struct user_data data;
    CUresult launch; /* what the registration returned */
    CUresult result; /* what the body returns after it */
};

static CUresult launch(struct cushim_stream *stream, void *user)
{
    struct given *given = user;
    given->launch = cushim_stream_launch_host(stream, user_called, given, user_released);
    return given->launch != CUDA_SUCCESS ? given->launch : given->result;
}

/* A driver may call the destroy function a little later, on a thread of its own. */
static void expect_released(const char *key, const struct given *given, int expected)
{
    wait_for_count(&given->data.releases, expected);
    expect_number(key, atomic_load(&given->data.releases), expected);
}

static struct cushim_graph *captured(struct cushim_stream *stream, struct given *given)
{
    struct cushim_graph *graph = NULL;
    require("capture", cushim_stream_capture(stream, RELAXED, launch, given, &graph));
    require("launch", given->launch);
    return graph;
}

CHECK(never_launched, "captured_function.never-launched", .needs = {S(UserObjectCreate_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    struct given given = {.launch = CUDA_SUCCESS};
    struct cushim_graph *graph = captured(stream, &given);
    expect_number("nodes", graph_nodes(cushim_graph_handle(graph)), 1);
    expect_number("kept", atomic_load(&given.data.releases), 0);
    expect_success("destroy", cushim_graph_destroy(&graph));
    expect_released("released", &given, 1);
    expect_number("never-called", atomic_load(&given.data.calls), 0);
}

/* Two executables and a copy of the graph, launched a hundred times: released with the last of them. */
CHECK(launched_often, "captured_function.launched-often", .needs = {S(UserObjectCreate_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    struct given given = {.launch = CUDA_SUCCESS};
    struct cushim_graph *graph = captured(stream, &given);
    struct cushim_graph_exec *exec[2] = {NULL, NULL};
    CUgraph clone = NULL;
    for (int i = 0; i < 2; i++)
        require("instantiate", cushim_graph_instantiate(graph, NULL, 0, &exec[i]));
    require("clone", cu->GraphClone_v1(&clone, cushim_graph_handle(graph)));
    require("graph", cushim_graph_destroy(&graph));
    for (int i = 0; i < 100; i++)
        require("launch", cushim_graph_exec_launch(exec[i % 2], stream));
    expect_success("synchronize", cushim_stream_synchronize(stream));
    expect_number("calls", atomic_load(&given.data.calls), 100);
    require("first", cushim_graph_exec_destroy(&exec[0]));
    require("clone", cu->GraphDestroy_v1(clone));
    expect_number("kept", atomic_load(&given.data.releases), 0);
    require("second", cushim_graph_exec_destroy(&exec[1]));
    expect_released("released", &given, 1);
}

/* The executable graph is destroyed during a launch: the launch keeps the user data. */
CHECK(destroyed_during_launch, "captured_function.destroyed-during-launch", .needs = {S(UserObjectCreate_v1)})
{
    struct cushim_stream *stream = test_stream_new();
    struct given given = {.launch = CUDA_SUCCESS};
    struct cushim_graph *graph = captured(stream, &given);
    struct cushim_graph_exec *exec = NULL;
    require("instantiate", cushim_graph_instantiate(graph, NULL, 0, &exec));
    require("graph", cushim_graph_destroy(&graph));
    struct gate *gate = gate_new(cushim_stream_handle(stream));
    expect_success("launch", cushim_graph_exec_launch(exec, stream));
    expect_success("destroy", cushim_graph_exec_destroy(&exec));
    expect_number("kept", atomic_load(&given.data.releases), 0);
    gate_open(gate);
    expect_success("synchronize", cushim_stream_synchronize(stream));
    expect_number("called", atomic_load(&given.data.calls), 1);
    test_stream_close(stream);
    expect_released("released", &given, 1);
}

CHECK(body_fails, "captured_function.body-fails", .needs = {S(UserObjectCreate_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    struct given given = {.result = CUDA_ERROR_ASSERT};
    struct cushim_graph *graph = NULL;
    expect("code", cushim_stream_capture(stream, RELAXED, launch, &given, &graph), CUDA_ERROR_ASSERT);
    expect_released("released", &given, 1);
    expect_number("never-called", atomic_load(&given.data.calls), 0);
}

CHECK(invalidated, "captured_function.invalidated", .needs = {S(UserObjectCreate_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    struct given given[2] = {{.launch = CUDA_SUCCESS}};
    struct cushim_capture *capture = test_capture_begin(stream, RELAXED);
    expect_success("launch", launch(stream, &given[0]));
    (void)cushim_stream_query(stream);
    expect_error("launch-then", launch(stream, &given[1]), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                 "cushim_stream_launch_host");
    expect_number("refused-is-released", atomic_load(&given[1].data.releases), 1);
    expect("end", cushim_capture_end(&capture, NULL), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    expect_released("released", &given[0], 1);
    expect_number("refused-is-released-once", atomic_load(&given[1].data.releases), 1);
}

CHECK(stream_destroyed, "captured_function.stream-destroyed", .needs = {S(UserObjectCreate_v1)})
{
    struct cushim_stream *stream = test_stream_new();
    struct given given = {.launch = CUDA_SUCCESS};
    struct cushim_capture *capture = test_capture_begin(stream, RELAXED);
    require("launch", launch(stream, &given));
    expect_success("destroy", cushim_stream_destroy(&stream));
    expect_released("released", &given, 1);
    expect("end", cushim_capture_end(&capture, NULL), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    expect_number("released-once", atomic_load(&given.data.releases), 1);
}

/* A driver may later free, on a thread of its own, what a refused call allocated. */
static void wait_for_blocks(long wanted)
{
    for (int i = 0; i < 200 && allocation_count() > wanted; i++)
        pause_shortly();
}

/* Makes the driver call `number` fail. Returns whether there was such a call. The capture goes on and contains nothing
 * of the refused call. */
static bool refused_at(int number, struct cushim_stream *stream, long before)
{
    static const char *const names[] = {"first", "second", "third", "fourth", "fifth", "sixth", "seventh"};
    struct given given = {.launch = CUDA_SUCCESS};
    enum cushim_slot slot;
    wait_for_blocks(before); /* that the call before allocated */
    struct cushim_capture *capture = test_capture_begin(stream, RELAXED);
    long blocks = allocation_count();
    watch_begin();
    watch_fail(number, CUDA_ERROR_UNKNOWN);
    CUresult result = cushim_stream_launch_host(stream, user_called, &given, user_released);
    bool failed = watch_failed(&slot);
    watch_end();
    if (failed) {
        expect_true(key_of(names[number], "refused", NULL), result != CUDA_SUCCESS);
        expect_number(key_of(names[number], "released-at-once", NULL), atomic_load(&given.data.releases), 1);
        wait_for_blocks(blocks);
        /* Fewer blocks are no fault: a block of an earlier check may have been freed in between. */
        expect_true(key_of(names[number], "nothing-is-left", NULL), allocation_count() <= blocks);
    }
    (void)cushim_capture_end(&capture, NULL);
    expect_released(key_of(names[number], "released-once", NULL), &given, 1);
    expect_number(key_of(names[number], "never-called", NULL), atomic_load(&given.data.calls), 0);
    return failed;
}

CHECK(refused_in_turn, "captured_function.refused-in-turn", .needs = {S(UserObjectCreate_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    int ordinals = 0;
    long before = allocation_count();
    while (refused_at(ordinals, stream, before))
        ordinals++;
    expect_number("calls", ordinals, 5);
}

CHECK(without_memory, "captured_function.without-memory", .needs = {S(UserObjectCreate_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    struct given given = {.launch = CUDA_SUCCESS};
    struct cushim_capture *capture = test_capture_begin(stream, RELAXED);
    allocation_fail(0);
    expect_error("code", cushim_stream_launch_host(stream, user_called, &given, user_released),
                 CUDA_ERROR_OUT_OF_MEMORY);
    expect_true("failed", allocation_failed());
    expect_number("released", atomic_load(&given.data.releases), 1);
    expect_capture_ends(stream, &capture);
    expect_number("released-once", atomic_load(&given.data.releases), 1);
}

/* Before CUDA 11.3 the driver has no user objects, so a host function in a capture cannot have a destroy function. */
CHECK(on_old, "captured_function.on-old", .flags = CHECK_ON_OLD,
      .needs = {S(UserObjectCreate_v1), S(StreamBeginCapture_v2)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_graph *graph = NULL;
    struct given given = {.launch = CUDA_SUCCESS};
    struct cushim_capture *capture = test_capture_begin(stream, RELAXED);
    expect_driver_error("code", cushim_stream_launch_host(stream, user_called, &given, user_released),
                        CUDA_ERROR_NOT_SUPPORTED);
    expect_number("released", atomic_load(&given.data.releases), 1);
    expect_status("survives", stream, "active");
    expect_success("without-release", cushim_stream_launch_host(stream, user_called, &given, NULL));
    expect_success("end", cushim_capture_end(&capture, &graph));
    expect_number("nodes", graph_nodes(cushim_graph_handle(graph)), 1);
    cushim_graph_destroy(&graph);
}
