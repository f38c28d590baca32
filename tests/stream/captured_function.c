/* SPDX-License-Identifier: MIT */
/* Host functions in a capture: their user data is released once, when the graph and everything made from it are
 * destroyed. */
#include "support.h"

struct given {
    atomic_int calls;
    atomic_int releases;
    CUresult launch; /* what the registration returned */
    CUresult result; /* what the body returns after it */
};

static void CUDA_CB called(void *user)
{
    struct given *given = user;
    atomic_fetch_add(&given->calls, 1);
}

static void released(void *user)
{
    struct given *given = user;
    atomic_fetch_add(&given->releases, 1);
}

static CUresult launch(struct cushim_stream *stream, void *user)
{
    struct given *given = user;
    given->launch = cushim_stream_launch_host(stream, called, given, released);
    return given->launch != CUDA_SUCCESS ? given->launch : given->result;
}

/* A driver may call the release function a little later, on a thread of its own. */
static void rule_released(const char *key, const struct given *given, int expected)
{
    for (int i = 0; i < 200 && atomic_load(&given->releases) < expected; i++)
        pause_shortly();
    rule_number(key, atomic_load(&given->releases), expected);
}

static struct cushim_graph *captured(struct cushim_stream *stream, struct given *given)
{
    struct cushim_graph *graph = NULL;
    need("capture", cushim_stream_capture(stream, RELAXED, launch, given, &graph));
    need("launch", given->launch);
    return graph;
}

static void never_launched(void)
{
    struct cushim_stream *stream = layer_stream();
    struct given given = {.calls = 0};
    struct cushim_graph *graph = captured(stream, &given);
    rule_number("nodes", node_count(cushim_graph_handle(graph)), 1);
    rule_number("kept", atomic_load(&given.releases), 0);
    done("destroy", cushim_graph_destroy(&graph));
    rule_released("released", &given, 1);
    rule_number("never-called", atomic_load(&given.calls), 0);
    layer_stream_end(stream);
}

/* Two executables and a copy of the graph, launched a hundred times: released with the last of them. */
static void launched_often(void)
{
    struct cushim_stream *stream = layer_stream();
    struct given given = {.calls = 0};
    struct cushim_graph *graph = captured(stream, &given);
    struct cushim_graph_exec *exec[2] = {NULL, NULL};
    CUgraph clone = NULL;
    for (int i = 0; i < 2; i++)
        need("instantiate", cushim_graph_instantiate(graph, NULL, 0, &exec[i]));
    need("clone", cu->GraphClone_v1(&clone, cushim_graph_handle(graph)));
    need("graph", cushim_graph_destroy(&graph));
    for (int i = 0; i < 100; i++)
        need("launch", cushim_graph_exec_launch(exec[i % 2], stream));
    done("synchronize", cushim_stream_synchronize(stream));
    rule_number("calls", atomic_load(&given.calls), 100);
    need("first", cushim_graph_exec_destroy(&exec[0]));
    need("clone", cu->GraphDestroy_v1(clone));
    rule_number("kept", atomic_load(&given.releases), 0);
    need("second", cushim_graph_exec_destroy(&exec[1]));
    rule_released("released", &given, 1);
    layer_stream_end(stream);
}

/* The executable graph is destroyed during a launch: the launch keeps the user data. */
static void destroyed_during_launch(void)
{
    struct cushim_stream *stream = layer_stream();
    struct given given = {.calls = 0};
    struct cushim_graph *graph = captured(stream, &given);
    struct cushim_graph_exec *exec = NULL;
    struct gate gate;
    need("instantiate", cushim_graph_instantiate(graph, NULL, 0, &exec));
    need("graph", cushim_graph_destroy(&graph));
    if (gate_close(&gate, cushim_stream_handle(stream))) {
        done("launch", cushim_graph_exec_launch(exec, stream));
        done("destroy", cushim_graph_exec_destroy(&exec));
        rule_number("kept", atomic_load(&given.releases), 0);
        gate_open(&gate);
        done("synchronize", cushim_stream_synchronize(stream));
        rule_number("called", atomic_load(&given.calls), 1);
    }
    layer_stream_end(stream);
    rule_released("released", &given, 1);
}

static void body_fails(void)
{
    struct cushim_stream *stream = layer_stream();
    struct given given = {.result = CUDA_ERROR_ASSERT};
    struct cushim_graph *graph = NULL;
    rule("code", cushim_stream_capture(stream, RELAXED, launch, &given, &graph), CUDA_ERROR_ASSERT);
    rule_released("released", &given, 1);
    rule_number("never-called", atomic_load(&given.calls), 0);
    layer_stream_end(stream);
}

static void invalidated(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_capture *capture = NULL;
    struct given given[2] = {{.calls = 0}};
    need("begin", cushim_capture_begin(stream, RELAXED, &capture));
    done("launch", launch(stream, &given[0]));
    (void)cushim_stream_query(stream);
    refused("launch-then", launch(stream, &given[1]), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
            "cushim_stream_launch_host");
    rule_number("refused-is-released", atomic_load(&given[1].releases), 1);
    rule("end", cushim_capture_end(&capture, NULL), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    rule_released("released", &given[0], 1);
    rule_number("refused-is-released-once", atomic_load(&given[1].releases), 1);
    layer_stream_end(stream);
}

static void stream_destroyed(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_capture *capture = NULL;
    struct given given = {.calls = 0};
    need("begin", cushim_capture_begin(stream, RELAXED, &capture));
    need("launch", launch(stream, &given));
    done("destroy", cushim_stream_destroy(&stream));
    rule_released("released", &given, 1);
    rule("end", cushim_capture_end(&capture, NULL), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    rule_number("released-once", atomic_load(&given.releases), 1);
}

/* A driver may later free, on a thread of its own, what a refused call allocated. */
static void wait_for_blocks(long wanted)
{
    for (int i = 0; i < 200 && allocation_count() > wanted; i++)
        pause_shortly();
}

/* One turn. Returns whether a call was left to fail. The capture goes on and contains nothing of the refused call. */
static bool refused_at(int turn, struct cushim_stream *stream, long before)
{
    static const char *const names[] = {"first", "second", "third", "fourth", "fifth", "sixth", "seventh"};
    struct given given = {.calls = 0};
    struct cushim_capture *capture = NULL;
    enum cushim_slot slot;
    wait_for_blocks(before); /* that the previous turn allocated */
    need("begin", cushim_capture_begin(stream, RELAXED, &capture));
    long blocks = allocation_count();
    watch_begin();
    watch_fail(turn, CUDA_ERROR_UNKNOWN);
    CUresult result = cushim_stream_launch_host(stream, called, &given, released);
    bool failed = watch_failed(&slot);
    watch_end();
    if (failed) {
        rule_fact(key_of(names[turn], "refused", NULL), result != CUDA_SUCCESS);
        rule_number(key_of(names[turn], "released-at-once", NULL), atomic_load(&given.releases), 1);
        wait_for_blocks(blocks);
        /* Fewer blocks are no fault: a block of an earlier check may have been freed in between. */
        rule_fact(key_of(names[turn], "nothing-is-left", NULL), allocation_count() <= blocks);
    }
    (void)cushim_capture_end(&capture, NULL);
    rule_released(key_of(names[turn], "released-once", NULL), &given, 1);
    rule_number(key_of(names[turn], "never-called", NULL), atomic_load(&given.calls), 0);
    return failed;
}

static void refused_in_turn(void)
{
    struct cushim_stream *stream = layer_stream();
    int turns = 0;
    long before = allocation_count();
    while (refused_at(turns, stream, before))
        turns++;
    rule_number("calls", turns, 5);
    layer_stream_end(stream);
}

static void without_memory(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_capture *capture = NULL;
    struct given given = {.calls = 0};
    need("begin", cushim_capture_begin(stream, RELAXED, &capture));
    allocation_fail(0);
    refused("code", cushim_stream_launch_host(stream, called, &given, released), CUDA_ERROR_OUT_OF_MEMORY,
            "cushim_stream_launch_host");
    rule_fact("failed", allocation_failed());
    rule_number("released", atomic_load(&given.releases), 1);
    rule_status("survives", stream, "active");
    done("end", cushim_capture_end(&capture, NULL));
    rule_number("released-once", atomic_load(&given.releases), 1);
    layer_stream_end(stream);
}

/* Before CUDA 11.3 the driver has no user objects, so a host function in a capture cannot have a release function. */
static void on_old(void)
{
    struct cushim_stream *stream;
    struct cushim_capture *capture = NULL;
    struct cushim_graph *graph = NULL;
    struct given given = {.calls = 0};
    if (cushim_query_slot_state(S(UserObjectCreate_v1), CUSHIM_DEFAULT_STREAM_LEGACY) != CUSHIM_STATE_MISSING
        || cushim_query_slot_state(S(StreamBeginCapture_v2), CUSHIM_DEFAULT_STREAM_LEGACY) == CUSHIM_STATE_MISSING) {
        lacks(NULL, "a driver from CUDA 10.0 to 11.2 alone");
        return;
    }
    stream = layer_stream();
    need("begin", cushim_capture_begin(stream, RELAXED, &capture));
    passed_on("code", cushim_stream_launch_host(stream, called, &given, released), CUDA_ERROR_NOT_SUPPORTED);
    rule_number("released", atomic_load(&given.releases), 1);
    rule_status("survives", stream, "active");
    done("without-release", cushim_stream_launch_host(stream, called, &given, NULL));
    done("end", cushim_capture_end(&capture, &graph));
    rule_number("nodes", node_count(cushim_graph_handle(graph)), 1);
    cushim_graph_destroy(&graph);
    layer_stream_end(stream);
}

static const struct check checks[] = {
    {"captured_function.never-launched", never_launched, 0, {S(UserObjectCreate_v1)}},
    {"captured_function.launched-often", launched_often, 0, {S(UserObjectCreate_v1)}},
    {"captured_function.destroyed-during-launch", destroyed_during_launch, 0, {S(UserObjectCreate_v1)}},
    {"captured_function.body-fails", body_fails, 0, {S(UserObjectCreate_v1)}},
    {"captured_function.invalidated", invalidated, 0, {S(UserObjectCreate_v1)}},
    {"captured_function.stream-destroyed", stream_destroyed, 0, {S(UserObjectCreate_v1)}},
    {"captured_function.refused-in-turn", refused_in_turn, 0, {S(UserObjectCreate_v1)}},
    {"captured_function.without-memory", without_memory, 0, {S(UserObjectCreate_v1)}},
    {"captured_function.on-old", on_old, 0, {0}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_captured_function = {"captured_function", checks};
