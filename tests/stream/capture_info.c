/* SPDX-License-Identifier: MIT */
/* The state of a capture: all that each driver reports, and the bits that mark it as valid. */
#include "support.h"

#include <string.h>

/* The members that this driver reports, as bits of enum cushim_capture_valid. */
static unsigned known(void)
{
    unsigned graph = CUSHIM_CAPTURE_ID | CUSHIM_CAPTURE_GRAPH | CUSHIM_CAPTURE_DEPENDENCIES;
    return is_native(S(StreamGetCaptureInfo_v2))   ? graph
           : is_native(S(StreamGetCaptureInfo_v1)) ? CUSHIM_CAPTURE_ID
                                                   : 0;
}

/* Whether the driver reports the graph and the dependencies; if not, answers that `key` is not applicable. */
static bool tells_graph(const char *key)
{
    if ((known() & CUSHIM_CAPTURE_GRAPH) == 0)
        not_applicable(key, "reported from CUDA 11.3 on");
    return (known() & CUSHIM_CAPTURE_GRAPH) != 0;
}

CHECK(idle, "capture_info.idle")
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_capture_info info;
    struct cushim_capture_info *copy = NULL;
    CUgraphNode nodes[2];
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)77;
    memset(&info, 0x5a, sizeof info);
    expect_success("status", cushim_stream_get_capture_status(stream, &status));
    expect_number("status-is", status, CU_STREAM_CAPTURE_STATUS_NONE);
    expect_success("info", cushim_stream_get_capture_info(stream, nodes, NULL, 2, &info));
    expect_number("info-status", info.status, CU_STREAM_CAPTURE_STATUS_NONE);
    expect_number("nothing-is-valid", info.valid, 0);
    expect_true("zeroed", info.id == 0 && info.graph == NULL && info.dependency_count == 0 && info.nodes == NULL
                              && info.edges == NULL);
    expect_success("copy", cushim_capture_info_create(stream, &copy));
    expect_number("copy-status", copy->status, CU_STREAM_CAPTURE_STATUS_NONE);
    expect_number("copy-valid", copy->valid, 0);
    cushim_capture_info_destroy(&copy);
    expect_true("gone", copy == NULL);
    cushim_capture_info_destroy(&copy);
    cushim_capture_info_destroy(NULL);
}

CHECK(argument, "capture_info.argument")
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_capture_info info = {.valid = 77};
    struct cushim_capture_info *copy = NULL;
    CUgraphEdgeData edge;
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)77;
    expect_error("status-null-stream", cushim_stream_get_capture_status(NULL, &status), CUDA_ERROR_INVALID_HANDLE);
    expect_error("status-null-output", cushim_stream_get_capture_status(stream, NULL), CUDA_ERROR_INVALID_VALUE);
    expect_error("null-stream", cushim_stream_get_capture_info(NULL, NULL, NULL, 0, &info), CUDA_ERROR_INVALID_HANDLE);
    expect_error("null-output", cushim_stream_get_capture_info(stream, NULL, NULL, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    expect_error("edges-alone", cushim_stream_get_capture_info(stream, NULL, &edge, 1, &info),
                 CUDA_ERROR_INVALID_VALUE);
    expect_error("copy-null-stream", cushim_capture_info_create(NULL, &copy), CUDA_ERROR_INVALID_HANDLE);
    expect_error("copy-null-output", cushim_capture_info_create(stream, NULL), CUDA_ERROR_INVALID_VALUE);
    expect_true("untouched", info.valid == 77 && copy == NULL && (int)status == 77);
}

/* Makes the capture of `stream` depend on two nodes; needs CUDA 11.3. */
static void depend_on_two(struct cushim_stream *stream)
{
    struct cushim_capture_info info;
    CUgraphNode node = NULL;
    require("info", cushim_stream_get_capture_info(stream, NULL, NULL, 0, &info));
    require("node", cu->GraphAddEmptyNode_v1(&node, info.graph, NULL, 0));
    require("update",
            cushim_stream_update_capture_dependencies(stream, &node, NULL, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
}

CHECK(active, "capture_info.active", .needs = {S(StreamBeginCapture_v2)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_graph *graph = NULL;
    struct cushim_capture_info info;
    CUgraphNode nodes[2] = {NULL, NULL};
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    struct cushim_capture *capture = test_capture_begin(stream, RELAXED);
    expect_success("status", cushim_stream_get_capture_status(stream, &status));
    expect_number("status-is", status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    expect_success("empty", cushim_stream_get_capture_info(stream, nodes, NULL, 2, &info));
    expect_number("empty-status", info.status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    expect_number("empty-unknown", info.valid ^ known(), 0);
    expect_number("empty-count", (long long)info.dependency_count, 0);
    require("work", body_adds_work(stream, NULL));
    cuuint64_t id = info.id;
    expect_success("one", cushim_stream_get_capture_info(stream, nodes, NULL, 2, &info));
    expect_number("one-unknown", info.valid ^ known(), 0);
    expect_true("one-same-id", info.id == id);
    if (tells_graph("graph")) {
        expect_number("graph.count", (long long)info.dependency_count, 1);
        expect_true("graph.node", info.nodes == nodes && nodes[0] != NULL && nodes[1] == NULL);
        expect_number("graph.nodes", graph_nodes(info.graph), 1);
    }
    CUgraph told = info.graph;
    expect_status("survives", stream, "active");
    expect_success("end", cushim_capture_end(&capture, &graph));
    if ((known() & CUSHIM_CAPTURE_GRAPH) != 0)
        expect_true("graph.same", told == cushim_graph_handle(graph));
    cushim_graph_destroy(&graph);
}

/* CUDA 10.1, which brought the ids */
CHECK(id_is_new, "capture_info.id-is-new", .needs = {S(ThreadExchangeStreamCaptureMode_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_capture_info info[2];
    for (int i = 0; i < 2; i++) {
        struct cushim_capture *capture = NULL;
        require("begin", cushim_capture_begin(stream, RELAXED, &capture));
        require("info", cushim_stream_get_capture_info(stream, NULL, NULL, 0, &info[i]));
        require("end", cushim_capture_end(&capture, NULL));
    }
    expect_true("returned", (info[0].valid & info[1].valid & CUSHIM_CAPTURE_ID) != 0);
    expect_true("differ", info[0].id != info[1].id);
}

CHECK(capacities, "capture_info.capacities", .needs = {S(StreamUpdateCaptureDependencies_v2)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_capture_info info;
    CUgraphNode nodes[3] = {NULL, NULL, NULL};
    CUgraphEdgeData edges[3];
    CUgraphEdgeData zero[2];
    memset(zero, 0, sizeof zero);
    memset(edges, 0x5a, sizeof edges);
    struct cushim_capture *capture = test_capture_begin(stream, RELAXED);
    require("work", body_adds_work(stream, NULL));
    depend_on_two(stream);
    expect_success("count-alone", cushim_stream_get_capture_info(stream, NULL, NULL, 0, &info));
    expect_number("count", (long long)info.dependency_count, 2);
    expect_true("count-is-valid", (info.valid & CUSHIM_CAPTURE_DEPENDENCIES) != 0 && info.nodes == NULL);
    expect_success("too-small", cushim_stream_get_capture_info(stream, nodes, edges, 1, &info));
    expect_number("too-small-count", (long long)info.dependency_count, 2);
    expect_number("too-small-valid", info.valid, CUSHIM_CAPTURE_ID | CUSHIM_CAPTURE_GRAPH);
    expect_true("too-small-untouched", nodes[0] == NULL && edges[0].type == 0x5a && info.nodes == NULL);
    expect_success("exact", cushim_stream_get_capture_info(stream, nodes, edges, 2, &info));
    expect_number("exact-valid", info.valid, 15);
    expect_true("exact-nodes", nodes[0] != NULL && nodes[1] != NULL && nodes[0] != nodes[1] && nodes[2] == NULL);
    expect_true("exact-edges", memcmp(edges, zero, sizeof zero) == 0 && edges[2].type == 0x5a);
    expect_true("exact-arrays", info.nodes == nodes && info.edges == edges);
    expect_success("without-edges", cushim_stream_get_capture_info(stream, nodes, NULL, 3, &info));
    expect_number("without-edges-valid", info.valid, 7);
    expect_status("survives", stream, "active");
    /* The second node is not a descendant of the capture's nodes. It must be removed, or the end is unjoined. */
    require("set",
            cushim_stream_update_capture_dependencies(stream, NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    expect_success("end", cushim_capture_end(&capture, NULL));
}

CHECK(copied, "capture_info.copied", .needs = {S(StreamBeginCapture_v2)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_capture_info info;
    struct cushim_capture_info *copy = NULL;
    CUgraphNode nodes[2] = {NULL, NULL};
    struct cushim_capture *capture = test_capture_begin(stream, RELAXED);
    require("work", body_adds_work(stream, NULL));
    if ((known() & CUSHIM_CAPTURE_GRAPH) != 0)
        depend_on_two(stream);
    require("info", cushim_stream_get_capture_info(stream, nodes, NULL, 2, &info));
    expect_success("code", cushim_capture_info_create(stream, &copy));
    expect_number("status", copy->status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    expect_true("same",
                copy->id == info.id && copy->graph == info.graph && copy->dependency_count == info.dependency_count);
    if (tells_graph("graph")) {
        expect_number("graph.valid", copy->valid, 15);
        expect_true("graph.nodes", memcmp(copy->nodes, nodes, sizeof nodes) == 0);
        expect_true("graph.edges", copy->edges[0].type == 0 && copy->edges[1].type == 0);
        require("set",
                cushim_stream_update_capture_dependencies(stream, NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    } else {
        expect_number("valid-on-old", copy->valid ^ known(), 0);
    }
    expect_success("end", cushim_capture_end(&capture, NULL));
    cushim_capture_info_destroy(&copy);
}

CHECK(invalidated, "capture_info.invalidated", .needs = {S(StreamBeginCapture_v2)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_capture_info info;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    struct cushim_capture *capture = test_capture_begin(stream, RELAXED);
    (void)cushim_stream_query(stream);
    expect_success("status", cushim_stream_get_capture_status(stream, &status));
    expect_number("status-is", status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    expect_success("info", cushim_stream_get_capture_info(stream, NULL, NULL, 0, &info));
    expect_number("info-status", info.status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    expect_number("info-valid", info.valid, 0);
    expect("end", cushim_capture_end(&capture, NULL), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

/* The legacy stream while a blocking stream captures. */
CHECK(implicit, "capture_info.implicit", .needs = {S(StreamBeginCapture_v2)})
{
    struct cushim_context *context = fixture_context();
    struct cushim_stream *stream = NULL;
    struct cushim_capture_info info = {.valid = 77};
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)77;
    unsigned flags = 77;
    atomic_int releases = 0;
    require("create", cushim_stream_create(context, CU_STREAM_DEFAULT, 0, &stream));
    struct cushim_stream *legacy = fixture_borrowed(CU_STREAM_LEGACY);
    struct cushim_capture *capture = test_capture_begin(stream, RELAXED);
    expect_driver_error("status", cushim_stream_get_capture_status(legacy, &status),
                        CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    expect_driver_error("info", cushim_stream_get_capture_info(legacy, NULL, NULL, 0, &info),
                        CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    expect_error("flags", cushim_stream_get_flags(legacy, &flags), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    expect_true("host-function",
                cushim_stream_launch_host(legacy, count_release, &releases, count_release) != CUDA_SUCCESS);
    expect_number("released", atomic_load(&releases), 1);
    expect_true("untouched", (int)status == 77 && info.valid == 77 && flags == 77);
    expect_capture_ends(stream, &capture);
    test_stream_close(stream);
}

CHECK(mode, "capture_info.mode", .needs = {S(ThreadExchangeStreamCaptureMode_v1)})
{
    CUstreamCaptureMode first = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUstreamCaptureMode second = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    CUstreamCaptureMode third = CU_STREAM_CAPTURE_MODE_GLOBAL;
    expect_success("exchange", cushim_capture_mode_exchange(&first));
    expect_number("was-global", first, CU_STREAM_CAPTURE_MODE_GLOBAL);
    expect_success("exchange-again", cushim_capture_mode_exchange(&second));
    expect_number("was-relaxed", second, CU_STREAM_CAPTURE_MODE_RELAXED);
    expect_success("restore", cushim_capture_mode_exchange(&second));
    expect_number("was-thread-local", second, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    expect_success("restore-again", cushim_capture_mode_exchange(&first));
    expect_number("was-relaxed-again", first, CU_STREAM_CAPTURE_MODE_RELAXED);
    expect_success("exchange-once-more", cushim_capture_mode_exchange(&third));
    expect_number("is-global-again", third, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

/* In the relaxed mode, a call that would otherwise invalidate a capture is allowed. */
CHECK(mode_relaxed, "capture_info.mode-relaxed", .needs = {S(ThreadExchangeStreamCaptureMode_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUdeviceptr memory = 0;
    struct cushim_capture *capture = test_capture_begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    require("exchange", cushim_capture_mode_exchange(&thread_mode));
    expect_success("alloc", cu->MemAlloc_v2(&memory, 64));
    expect_success("free", cu->MemFree_v2(memory));
    require("restore", cushim_capture_mode_exchange(&thread_mode));
    expect_capture_ends(stream, &capture);
}

CHECK(mode_argument, "capture_info.mode-argument")
{
    CUstreamCaptureMode too_large = (CUstreamCaptureMode)3;
    CUstreamCaptureMode negative = (CUstreamCaptureMode)-1;
    expect_error("too-large", cushim_capture_mode_exchange(&too_large), CUDA_ERROR_INVALID_VALUE);
    expect_error("negative", cushim_capture_mode_exchange(&negative), CUDA_ERROR_INVALID_VALUE);
    expect_true("untouched", too_large == (CUstreamCaptureMode)3 && negative == (CUstreamCaptureMode)-1);
    expect_error("null", cushim_capture_mode_exchange(NULL), CUDA_ERROR_INVALID_VALUE);
    if (is_missing(S(ThreadExchangeStreamCaptureMode_v1))) {
        CUstreamCaptureMode relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
        expect_driver_error("on-old", cushim_capture_mode_exchange(&relaxed), CUDA_ERROR_NOT_SUPPORTED);
        expect_number("untouched-on-old", relaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
    }
}
