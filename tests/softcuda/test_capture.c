/* SPDX-License-Identifier: MIT */
/* Capture: what is captured, what invalidates it, how it ends. The codes are what an H200 was measured to give
 * (FACTS). */
#include "support.h"

#include <string.h>

static int number;

static int status_of(CUstream stream)
{
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)9;
    assert_cu(0, cu->StreamIsCapturing_v1(stream, &status));
    return (int)status;
}

static void begin(CUstream stream, CUstreamCaptureMode mode)
{
    assert_cu(0, cu->StreamBeginCapture_v2(stream, mode));
}

/* Ends the capture; the number of nodes, or minus the code of the failure. */
static int end(CUstream stream)
{
    CUgraph graph = (CUgraph)(uintptr_t)8;
    size_t count = 0;
    CUresult result = cu->StreamEndCapture_v1(stream, &graph);
    if (result != CUDA_SUCCESS) {
        assert_null(graph);
        return -(int)result;
    }
    assert_cu(0, cu->GraphGetNodes_v1(graph, NULL, &count));
    assert_cu(0, cu->GraphDestroy_v1(graph));
    return (int)count;
}

static int setup_versions(void **state)
{
    number = 0;
    return support_setup(state);
}

static bool has(int version)
{
    return cushim_driver_version() >= version;
}

static void test_capture_when_work_is_submitted_then_it_becomes_nodes(void **state)
{
    (void)state;
    CUstream stream = support_stream(0);
    begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    assert_int_equal(status_of(stream), 1);
    assert_cu(0, cu->LaunchHostFunc_v1(stream, support_count, &number));
    assert_cu(0, cu->LaunchHostFunc_v1(stream, support_count, &number));
    assert_cu(401, cu->StreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_int_equal(end(stream), 2);
    assert_int_equal(status_of(stream), 0);
    assert_cu(0, cu->StreamSynchronize_v1(stream));
    assert_int_equal(support_number(&number), 0);
    assert_int_equal(end(stream), -401);
    assert_cu(900, cu->StreamBeginCapture_v2(CU_STREAM_LEGACY, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_cu(1, cu->StreamBeginCapture_v2(stream, (CUstreamCaptureMode)3));
}

/* What invalidates the capture of the stream itself, in every mode. */
static void test_capture_when_the_stream_is_asked_the_wrong_thing_then_lost(void **state)
{
    (void)state;
    unsigned flags;
    int priority;
    CUcontext its;
    for (int mode = 0; mode < 3; mode++) {
        CUstream stream = support_stream(0);
        begin(stream, (CUstreamCaptureMode)mode);
        assert_cu(0, cu->StreamGetPriority_v1(stream, &priority));
        assert_cu(0, cu->StreamGetCtx_v1(stream, &its));
        assert_int_equal(status_of(stream), 1);
        assert_cu(900, cu->StreamGetFlags_v1(stream, &flags));
        assert_int_equal(status_of(stream), 2);
        assert_cu(901, cu->LaunchHostFunc_v1(stream, support_count, &number));
        assert_int_equal(end(stream), -901);
        begin(stream, (CUstreamCaptureMode)mode);
        assert_cu(900, cu->StreamQuery_v1(stream));
        assert_int_equal(end(stream), -901);
        begin(stream, (CUstreamCaptureMode)mode);
        assert_cu(900, cu->StreamSynchronize_v1(stream));
        assert_int_equal(end(stream), -901);
        begin(stream, (CUstreamCaptureMode)mode);
        assert_cu(900, cu->CtxSynchronize_v1());
        assert_int_equal(end(stream), -901);
        assert_cu(0, cu->StreamDestroy_v2(stream));
    }
}

static void alloc(void *result)
{
    CUdeviceptr memory;
    *(int *)result = (int)cu->MemAlloc_v2(&memory, 64);
    if (*(int *)result == 0)
        cu->MemFree_v2(memory);
}

/* Unsafe calls: which of (this thread, another) are refused in which mode. */
static void test_capture_when_memory_is_allocated_then_by_mode_and_thread(void **state)
{
    (void)state;
    static const int expected[3][2] = {{900, 900}, {900, 0}, {0, 0}};
    for (int mode = 0; mode < 3; mode++) {
        for (int other = 0; other < 2; other++) {
            int result = -1;
            CUstream stream = support_stream(0);
            begin(stream, (CUstreamCaptureMode)mode);
            if (other)
                support_on_thread(alloc, &result);
            else
                alloc(&result);
            assert_int_equal(result, expected[mode][other]);
            assert_int_equal(status_of(stream), result == 0 ? 1 : 2);
            assert_int_equal(end(stream), result == 0 ? 0 : -901);
            assert_cu(0, cu->StreamDestroy_v2(stream));
        }
    }
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    int result = -1;
    CUstream stream = support_stream(0);
    assert_cu(0, cu->ThreadExchangeStreamCaptureMode_v1(&mode));
    assert_int_equal(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    alloc(&result);
    assert_int_equal(result, 0);
    assert_int_equal(end(stream), 0);
    assert_cu(0, cu->ThreadExchangeStreamCaptureMode_v1(&mode));
}

static void test_capture_when_forked_and_joined_then_one_graph(void **state)
{
    (void)state;
    CUstream stream = support_stream(0), other = support_stream(1);
    CUevent fork = support_event(2), join = support_event(2);
    begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    cu->LaunchHostFunc_v1(stream, support_count, &number);
    assert_cu(0, cu->EventRecord_v1(fork, stream));
    assert_cu(0, cu->StreamWaitEvent_v1(other, fork, 0));
    assert_int_equal(status_of(other), 1);
    cu->LaunchHostFunc_v1(stream, support_count, &number);
    cu->LaunchHostFunc_v1(other, support_count, &number);
    assert_cu(0, cu->EventRecord_v1(join, other));
    assert_cu(0, cu->StreamWaitEvent_v1(stream, join, 0));
    cu->LaunchHostFunc_v1(stream, support_count, &number);
    CUgraph graph;
    size_t nodes, edges;
    assert_cu(0, cu->StreamEndCapture_v1(stream, &graph));
    assert_cu(0, cu->GraphGetNodes_v1(graph, NULL, &nodes));
    assert_cu(0, cu->GraphGetEdges_v1(graph, NULL, NULL, &edges));
    assert_int_equal(nodes, 4);
    assert_int_equal(edges, 4);
    assert_int_equal(status_of(other), 0);
    assert_cu(0, cu->GraphDestroy_v1(graph));
    assert_cu(1, cu->EventQuery_v1(fork)); /* of a capture that is over */
    assert_cu(0, cu->EventRecord_v1(fork, stream));
    assert_cu(0, cu->EventSynchronize_v1(fork));
}

static void test_capture_when_not_joined_then_refused(void **state)
{
    (void)state;
    CUgraph graph;
    CUstream stream = support_stream(0), other = support_stream(1);
    CUevent fork = support_event(2), outside = support_event(2);
    begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    cu->EventRecord_v1(fork, stream);
    cu->StreamWaitEvent_v1(other, fork, 0);
    cu->LaunchHostFunc_v1(other, support_count, &number);
    assert_cu(907, cu->EventElapsedTime_v1(&(float){0}, fork, fork));
    assert_int_equal(end(stream), -904);
    assert_int_equal(status_of(other), 0);

    begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    cu->EventRecord_v1(fork, stream);
    cu->StreamWaitEvent_v1(other, fork, 0);
    assert_cu(903, cu->StreamEndCapture_v1(other, &graph));
    assert_int_equal(end(stream), -901);

    assert_cu(0, cu->EventRecord_v1(outside, other));
    begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    assert_cu(905, cu->StreamWaitEvent_v1(stream, outside, 0));
    assert_int_equal(end(stream), -901);

    begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    begin(other, CU_STREAM_CAPTURE_MODE_RELAXED);
    cu->EventRecord_v1(fork, stream);
    assert_cu(902, cu->StreamWaitEvent_v1(other, fork, 0));
    assert_int_equal(end(stream), -901);
    assert_int_equal(end(other), -901);
}

static void end_on_thread(void *stream)
{
    CUgraph graph;
    assert_cu(908, cu->StreamEndCapture_v1((CUstream)stream, &graph));
    assert_null(graph);
}

static void test_capture_when_ended_by_another_thread_then_over(void **state)
{
    (void)state;
    CUstream stream = support_stream(0);
    begin(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    support_on_thread(end_on_thread, stream);
    assert_int_equal(end(stream), -401);
    assert_cu(0, cu->StreamSynchronize_v1(stream));
}

static void test_legacy_stream_when_a_blocking_one_captures_then_unusable(void **state)
{
    (void)state;
    CUstreamCaptureStatus status;
    CUstream stream = support_stream(0), apart = support_stream(1);
    begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    assert_cu(906, cu->StreamIsCapturing_v1(CU_STREAM_LEGACY, &status));
    assert_int_equal(status_of(stream), 1);
    assert_cu(906, cu->StreamQuery_v1(CU_STREAM_LEGACY));
    assert_int_equal(end(stream), -901);
    begin(apart, CU_STREAM_CAPTURE_MODE_RELAXED);
    assert_cu(0, cu->StreamQuery_v1(CU_STREAM_LEGACY));
    assert_int_equal(end(apart), 0);
}

static void test_capture_info_when_idle_active_or_lost_then_what_is_valid(void **state)
{
    (void)state;
    CUstreamCaptureStatus status;
    cuuint64_t id = 99, second;
    CUgraph graph = (CUgraph)(uintptr_t)8;
    const CUgraphNode *nodes = (const CUgraphNode *)&graph;
    const CUgraphEdgeData *edges = NULL;
    size_t count = 99;
    unsigned flags;
    if (!has(12030))
        skip();
    CUstream stream = support_stream(0);
    assert_cu(0, cu->StreamGetCaptureInfo_v3(stream, &status, &id, &graph, &nodes, &edges, &count));
    assert_true(status == 0 && id == 99 && graph == (CUgraph)(uintptr_t)8 && count == 99);
    assert_cu(1, cu->StreamGetCaptureInfo_v3(stream, NULL, &id, NULL, NULL, NULL, NULL));
    begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    assert_cu(0, cu->StreamGetCaptureInfo_v3(stream, &status, &id, &graph, &nodes, &edges, &count));
    assert_true(status == 1 && id != 99 && nodes == NULL && edges == NULL && count == 0);
    cu->LaunchHostFunc_v1(stream, support_count, &number);
    assert_cu(0, cu->StreamGetCaptureInfo_v3(stream, &status, &second, &graph, &nodes, &edges, &count));
    assert_true(second == id && count == 1 && edges != NULL && edges[0].type == 0);
    assert_cu(1, cu->StreamGetCaptureInfo_v3(stream, &status, NULL, NULL, NULL, &edges, NULL));
    cu->StreamGetFlags_v1(stream, &flags);
    count = 99;
    assert_cu(0, cu->StreamGetCaptureInfo_v3(stream, &status, &id, &graph, &nodes, &edges, &count));
    assert_true(status == 2 && count == 99);
    assert_int_equal(end(stream), -901);
}

static void test_dependencies_when_updated_then_the_next_node_has_them(void **state)
{
    (void)state;
    CUstreamCaptureStatus status;
    CUgraph graph;
    CUgraphNode empty;
    const CUgraphNode *nodes;
    size_t count;
    if (!has(11030))
        skip();
    CUstream stream = support_stream(0);
    assert_cu(401, cu->StreamUpdateCaptureDependencies_v1(stream, NULL, 0, 0));
    begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    cu->LaunchHostFunc_v1(stream, support_count, &number);
    assert_cu(0, cu->StreamGetCaptureInfo_v2(stream, &status, NULL, &graph, &nodes, &count));
    assert_cu(0, cu->GraphAddEmptyNode_v1(&empty, graph, NULL, 0));
    assert_cu(1, cu->StreamUpdateCaptureDependencies_v1(stream, &empty, 1, 2));
    assert_cu(1, cu->StreamUpdateCaptureDependencies_v1(stream, NULL, 1, 0));
    assert_cu(0, cu->StreamUpdateCaptureDependencies_v1(stream, &empty, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    assert_cu(0, cu->StreamGetCaptureInfo_v2(stream, &status, NULL, NULL, &nodes, &count));
    assert_int_equal(count, 2);
    assert_cu(0, cu->StreamUpdateCaptureDependencies_v1(stream, &empty, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    assert_cu(0, cu->StreamGetCaptureInfo_v2(stream, &status, NULL, NULL, &nodes, &count));
    assert_true(count == 1 && nodes[0] == empty);
    assert_int_equal(end(stream), 2); /* the dropped node is no unjoined work */
}

static void test_capture_to_graph_when_ended_then_the_same_graph(void **state)
{
    (void)state;
    CUgraph graph, ended = NULL;
    CUgraphNode root;
    size_t edges = 0;
    if (!has(12030))
        skip();
    CUstream stream = support_stream(0);
    cu->GraphCreate_v1(&graph, 0);
    cu->GraphAddEmptyNode_v1(&root, graph, NULL, 0);
    assert_cu(1, cu->StreamBeginCaptureToGraph_v1(stream, NULL, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_cu(0, cu->StreamBeginCaptureToGraph_v1(stream, graph, &root, NULL, 1, CU_STREAM_CAPTURE_MODE_GLOBAL));
    cu->LaunchHostFunc_v1(stream, support_count, &number);
    assert_cu(0, cu->StreamEndCapture_v1(stream, &ended));
    assert_ptr_equal(ended, graph);
    assert_cu(0, cu->GraphGetEdges_v1(graph, NULL, NULL, &edges));
    assert_int_equal(edges, 1);
    assert_cu(0, cu->GraphDestroy_v1(graph));
}

static void test_capturing_stream_when_destroyed_then_nothing_is_left(void **state)
{
    (void)state;
    CUstream stream = support_stream(0), other = support_stream(0);
    CUevent fork = support_event(2);
    begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    cu->EventRecord_v1(fork, stream);
    cu->StreamWaitEvent_v1(other, fork, 0);
    cu->LaunchHostFunc_v1(other, support_count, &number);
    assert_cu(0, cu->StreamDestroy_v2(stream));
    assert_int_equal(status_of(other), 0);
    assert_cu(0, cu->StreamSynchronize_v1(other));
    assert_cu(0, cu->CtxSynchronize_v1());
}

#define CAPTURE_TEST(name) cmocka_unit_test_setup_teardown(name, setup_versions, support_teardown)

int main(int argc, char **argv)
{
    support_load(argc, argv);
    if (!has(10010)) /* no capture with modes */
        return 77;
    const struct CMUnitTest tests[] = {
        CAPTURE_TEST(test_capture_when_work_is_submitted_then_it_becomes_nodes),
        CAPTURE_TEST(test_capture_when_the_stream_is_asked_the_wrong_thing_then_lost),
        CAPTURE_TEST(test_capture_when_memory_is_allocated_then_by_mode_and_thread),
        CAPTURE_TEST(test_capture_when_forked_and_joined_then_one_graph),
        CAPTURE_TEST(test_capture_when_not_joined_then_refused),
        CAPTURE_TEST(test_capture_when_ended_by_another_thread_then_over),
        CAPTURE_TEST(test_legacy_stream_when_a_blocking_one_captures_then_unusable),
        CAPTURE_TEST(test_capture_info_when_idle_active_or_lost_then_what_is_valid),
        CAPTURE_TEST(test_dependencies_when_updated_then_the_next_node_has_them),
        CAPTURE_TEST(test_capture_to_graph_when_ended_then_the_same_graph),
        CAPTURE_TEST(test_capturing_stream_when_destroyed_then_nothing_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
