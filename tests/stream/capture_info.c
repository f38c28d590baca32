/* SPDX-License-Identifier: MIT */
/* The state of a capture: all that each driver reports, and the bits that mark it as valid. */
#include "support.h"

#include <string.h>

static bool is_native(enum cushim_slot slot)
{
    return cushim_query_slot_state(slot, CUSHIM_DEFAULT_STREAM_LEGACY) == CUSHIM_STATE_NATIVE;
}

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
        lacks(key, "reported from CUDA 11.3 on");
    return (known() & CUSHIM_CAPTURE_GRAPH) != 0;
}

static void idle(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_capture_info info;
    struct cushim_capture_info *copy = NULL;
    CUgraphNode nodes[2];
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)77;
    memset(&info, 0x5a, sizeof info);
    done("status", cushim_stream_capture_status(stream, &status));
    rule_number("status-is", status, CU_STREAM_CAPTURE_STATUS_NONE);
    done("info", cushim_stream_capture_info(stream, nodes, NULL, 2, &info));
    rule_number("info-status", info.status, CU_STREAM_CAPTURE_STATUS_NONE);
    rule_number("nothing-is-valid", info.valid, 0);
    rule_fact("zeroed", info.id == 0 && info.graph == NULL && info.dependency_count == 0 && info.nodes == NULL
                            && info.edges == NULL);
    done("copy", cushim_stream_capture_info_copy(stream, &copy));
    rule_number("copy-status", copy->status, CU_STREAM_CAPTURE_STATUS_NONE);
    rule_number("copy-valid", copy->valid, 0);
    cushim_capture_info_destroy(&copy);
    rule_fact("gone", copy == NULL);
    cushim_capture_info_destroy(&copy);
    cushim_capture_info_destroy(NULL);
    layer_stream_end(stream);
}

static void argument(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_capture_info info = {.valid = 77};
    struct cushim_capture_info *copy = NULL;
    CUgraphEdgeData edge;
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)77;
    refused("status-null-stream", cushim_stream_capture_status(NULL, &status), CUDA_ERROR_INVALID_HANDLE,
            "cushim_stream_capture_status");
    refused("status-null-output", cushim_stream_capture_status(stream, NULL), CUDA_ERROR_INVALID_VALUE,
            "cushim_stream_capture_status");
    refused("null-stream", cushim_stream_capture_info(NULL, NULL, NULL, 0, &info), CUDA_ERROR_INVALID_HANDLE,
            "cushim_stream_capture_info");
    refused("null-output", cushim_stream_capture_info(stream, NULL, NULL, 0, NULL), CUDA_ERROR_INVALID_VALUE,
            "cushim_stream_capture_info");
    refused("edges-alone", cushim_stream_capture_info(stream, NULL, &edge, 1, &info), CUDA_ERROR_INVALID_VALUE,
            "cushim_stream_capture_info");
    refused("copy-null-stream", cushim_stream_capture_info_copy(NULL, &copy), CUDA_ERROR_INVALID_HANDLE,
            "cushim_stream_capture_info_copy");
    refused("copy-null-output", cushim_stream_capture_info_copy(stream, NULL), CUDA_ERROR_INVALID_VALUE,
            "cushim_stream_capture_info_copy");
    rule_fact("untouched", info.valid == 77 && copy == NULL && (int)status == 77);
    layer_stream_end(stream);
}

/* Makes the capture of `stream` depend on two nodes; needs CUDA 11.3. */
static void depend_on_two(struct cushim_stream *stream)
{
    struct cushim_capture_info info;
    CUgraphNode node = NULL;
    need("info", cushim_stream_capture_info(stream, NULL, NULL, 0, &info));
    need("node", cu->GraphAddEmptyNode_v1(&node, info.graph, NULL, 0));
    need("update", cushim_stream_update_dependencies(stream, &node, NULL, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
}

static void active(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_capture *capture = NULL;
    struct cushim_graph *graph = NULL;
    struct cushim_capture_info info;
    CUgraphNode nodes[2] = {NULL, NULL};
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    need("begin", cushim_capture_begin(stream, RELAXED, &capture));
    done("status", cushim_stream_capture_status(stream, &status));
    rule_number("status-is", status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    done("empty", cushim_stream_capture_info(stream, nodes, NULL, 2, &info));
    rule_number("empty-status", info.status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    rule_number("empty-unknown", info.valid ^ known(), 0);
    rule_number("empty-count", (long long)info.dependency_count, 0);
    need("work", body_adds_work(stream, NULL));
    cuuint64_t id = info.id;
    done("one", cushim_stream_capture_info(stream, nodes, NULL, 2, &info));
    rule_number("one-unknown", info.valid ^ known(), 0);
    rule_fact("one-same-id", info.id == id);
    if (tells_graph("graph")) {
        rule_number("graph.count", (long long)info.dependency_count, 1);
        rule_fact("graph.node", info.nodes == nodes && nodes[0] != NULL && nodes[1] == NULL);
        rule_number("graph.nodes", node_count(info.graph), 1);
    }
    CUgraph told = info.graph;
    rule_status("survives", stream, "active");
    done("end", cushim_capture_end(&capture, &graph));
    if ((known() & CUSHIM_CAPTURE_GRAPH) != 0)
        rule_fact("graph.same", told == cushim_graph_handle(graph));
    cushim_graph_destroy(&graph);
    layer_stream_end(stream);
}

static void id_is_new(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_capture_info info[2];
    for (int i = 0; i < 2; i++) {
        struct cushim_capture *capture = NULL;
        need("begin", cushim_capture_begin(stream, RELAXED, &capture));
        need("info", cushim_stream_capture_info(stream, NULL, NULL, 0, &info[i]));
        need("end", cushim_capture_end(&capture, NULL));
    }
    rule_fact("returned", (info[0].valid & info[1].valid & CUSHIM_CAPTURE_ID) != 0);
    rule_fact("differ", info[0].id != info[1].id);
    layer_stream_end(stream);
}

static void capacities(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_capture *capture = NULL;
    struct cushim_capture_info info;
    CUgraphNode nodes[3] = {NULL, NULL, NULL};
    CUgraphEdgeData edges[3];
    CUgraphEdgeData zero[2];
    memset(zero, 0, sizeof zero);
    memset(edges, 0x5a, sizeof edges);
    need("begin", cushim_capture_begin(stream, RELAXED, &capture));
    need("work", body_adds_work(stream, NULL));
    depend_on_two(stream);
    done("count-alone", cushim_stream_capture_info(stream, NULL, NULL, 0, &info));
    rule_number("count", (long long)info.dependency_count, 2);
    rule_fact("count-is-valid", (info.valid & CUSHIM_CAPTURE_DEPENDENCIES) != 0 && info.nodes == NULL);
    done("too-small", cushim_stream_capture_info(stream, nodes, edges, 1, &info));
    rule_number("too-small-count", (long long)info.dependency_count, 2);
    rule_number("too-small-valid", info.valid, CUSHIM_CAPTURE_ID | CUSHIM_CAPTURE_GRAPH);
    rule_fact("too-small-untouched", nodes[0] == NULL && edges[0].type == 0x5a && info.nodes == NULL);
    done("exact", cushim_stream_capture_info(stream, nodes, edges, 2, &info));
    rule_number("exact-valid", info.valid, 15);
    rule_fact("exact-nodes", nodes[0] != NULL && nodes[1] != NULL && nodes[0] != nodes[1] && nodes[2] == NULL);
    rule_fact("exact-edges", memcmp(edges, zero, sizeof zero) == 0 && edges[2].type == 0x5a);
    rule_fact("exact-arrays", info.nodes == nodes && info.edges == edges);
    done("without-edges", cushim_stream_capture_info(stream, nodes, NULL, 3, &info));
    rule_number("without-edges-valid", info.valid, 7);
    rule_status("survives", stream, "active");
    /* The second node is not a descendant of the capture's nodes. It must be removed, or the end is unjoined. */
    need("set", cushim_stream_update_dependencies(stream, NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    done("end", cushim_capture_end(&capture, NULL));
    layer_stream_end(stream);
}

static void copied(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_capture *capture = NULL;
    struct cushim_capture_info info;
    struct cushim_capture_info *copy = NULL;
    CUgraphNode nodes[2] = {NULL, NULL};
    need("begin", cushim_capture_begin(stream, RELAXED, &capture));
    need("work", body_adds_work(stream, NULL));
    if ((known() & CUSHIM_CAPTURE_GRAPH) != 0)
        depend_on_two(stream);
    need("info", cushim_stream_capture_info(stream, nodes, NULL, 2, &info));
    done("code", cushim_stream_capture_info_copy(stream, &copy));
    rule_number("status", copy->status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    rule_fact("same",
              copy->id == info.id && copy->graph == info.graph && copy->dependency_count == info.dependency_count);
    if (tells_graph("graph")) {
        rule_number("graph.valid", copy->valid, 15);
        rule_fact("graph.nodes", memcmp(copy->nodes, nodes, sizeof nodes) == 0);
        rule_fact("graph.edges", copy->edges[0].type == 0 && copy->edges[1].type == 0);
        need("set", cushim_stream_update_dependencies(stream, NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    } else {
        rule_number("valid-on-old", copy->valid ^ known(), 0);
    }
    done("end", cushim_capture_end(&capture, NULL));
    cushim_capture_info_destroy(&copy);
    layer_stream_end(stream);
}

static void invalidated(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_capture *capture = NULL;
    struct cushim_capture_info info;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    need("begin", cushim_capture_begin(stream, RELAXED, &capture));
    (void)cushim_stream_query(stream);
    done("status", cushim_stream_capture_status(stream, &status));
    rule_number("status-is", status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    done("info", cushim_stream_capture_info(stream, NULL, NULL, 0, &info));
    rule_number("info-status", info.status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    rule_number("info-valid", info.valid, 0);
    rule("end", cushim_capture_end(&capture, NULL), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    layer_stream_end(stream);
}

/* The legacy stream while a blocking stream captures. */
static void implicit(void)
{
    struct cushim_context *context = context_new();
    struct cushim_stream *stream = NULL;
    struct cushim_stream *legacy = NULL;
    struct cushim_capture *capture = NULL;
    struct cushim_capture_info info = {.valid = 77};
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)77;
    unsigned flags = 77;
    atomic_int releases = 0;
    need("create", cushim_stream_create(context, CU_STREAM_DEFAULT, 0, &stream));
    need("borrow", cushim_stream_borrow(CU_STREAM_LEGACY, NULL, &legacy));
    need("begin", cushim_capture_begin(stream, RELAXED, &capture));
    passed_on("status", cushim_stream_capture_status(legacy, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    passed_on("info", cushim_stream_capture_info(legacy, NULL, NULL, 0, &info), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    refused("flags", cushim_stream_flags(legacy, &flags), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "cushim_stream_flags");
    rule_fact("host-function",
              cushim_stream_launch_host(legacy, count_release, &releases, count_release) != CUDA_SUCCESS);
    rule_number("released", atomic_load(&releases), 1);
    rule_fact("untouched", (int)status == 77 && info.valid == 77 && flags == 77);
    rule_status("survives", stream, "active");
    done("end", cushim_capture_end(&capture, NULL));
    cushim_stream_destroy(&legacy);
    layer_stream_end(stream);
    cushim_context_destroy(&context);
}

static void mode(void)
{
    CUstreamCaptureMode first = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUstreamCaptureMode second = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    CUstreamCaptureMode third = CU_STREAM_CAPTURE_MODE_GLOBAL;
    done("exchange", cushim_capture_mode_exchange(&first));
    rule_number("was-global", first, CU_STREAM_CAPTURE_MODE_GLOBAL);
    done("exchange-again", cushim_capture_mode_exchange(&second));
    rule_number("was-relaxed", second, CU_STREAM_CAPTURE_MODE_RELAXED);
    done("restore", cushim_capture_mode_exchange(&second));
    rule_number("was-thread-local", second, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    done("restore-again", cushim_capture_mode_exchange(&first));
    rule_number("was-relaxed-again", first, CU_STREAM_CAPTURE_MODE_RELAXED);
    done("exchange-once-more", cushim_capture_mode_exchange(&third));
    rule_number("is-global-again", third, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

/* In the relaxed mode, a call that would otherwise invalidate a capture is allowed. */
static void mode_relaxed(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_capture *capture = NULL;
    CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUdeviceptr memory = 0;
    need("begin", cushim_capture_begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL, &capture));
    need("exchange", cushim_capture_mode_exchange(&thread_mode));
    done("alloc", cu->MemAlloc_v2(&memory, 64));
    done("free", cu->MemFree_v2(memory));
    need("restore", cushim_capture_mode_exchange(&thread_mode));
    rule_status("survives", stream, "active");
    done("end", cushim_capture_end(&capture, NULL));
    layer_stream_end(stream);
}

static void mode_argument(void)
{
    CUstreamCaptureMode too_large = (CUstreamCaptureMode)3;
    CUstreamCaptureMode negative = (CUstreamCaptureMode)-1;
    refused("too-large", cushim_capture_mode_exchange(&too_large), CUDA_ERROR_INVALID_VALUE,
            "cushim_capture_mode_exchange");
    refused("negative", cushim_capture_mode_exchange(&negative), CUDA_ERROR_INVALID_VALUE,
            "cushim_capture_mode_exchange");
    rule_fact("untouched", too_large == (CUstreamCaptureMode)3 && negative == (CUstreamCaptureMode)-1);
    refused("null", cushim_capture_mode_exchange(NULL), CUDA_ERROR_INVALID_VALUE, "cushim_capture_mode_exchange");
    if (cushim_query_slot_state(S(ThreadExchangeStreamCaptureMode_v1), CUSHIM_DEFAULT_STREAM_LEGACY)
        == CUSHIM_STATE_MISSING) {
        CUstreamCaptureMode relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
        passed_on("on-old", cushim_capture_mode_exchange(&relaxed), CUDA_ERROR_NOT_SUPPORTED);
        rule_number("untouched-on-old", relaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
    }
}

static const struct check checks[] = {
    {"capture_info.idle", idle, 0, {0}},
    {"capture_info.argument", argument, 0, {0}},
    {"capture_info.active", active, 0, {S(StreamBeginCapture_v2)}},
    {"capture_info.id-is-new",
     id_is_new,
     0,
     {S(ThreadExchangeStreamCaptureMode_v1)}}, /* CUDA 10.1, which brought the ids */
    {"capture_info.capacities", capacities, 0, {S(StreamUpdateCaptureDependencies_v2)}},
    {"capture_info.copied", copied, 0, {S(StreamBeginCapture_v2)}},
    {"capture_info.invalidated", invalidated, 0, {S(StreamBeginCapture_v2)}},
    {"capture_info.implicit", implicit, 0, {S(StreamBeginCapture_v2)}},
    {"capture_info.mode", mode, 0, {S(ThreadExchangeStreamCaptureMode_v1)}},
    {"capture_info.mode-relaxed", mode_relaxed, 0, {S(ThreadExchangeStreamCaptureMode_v1)}},
    {"capture_info.mode-argument", mode_argument, 0, {0}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_capture_info = {"capture_info", checks};
