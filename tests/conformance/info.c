/* SPDX-License-Identifier: MIT */
/* cuStreamGetCaptureInfo, all three versions. */
#include "kernels.h"

#define UNTOUCHED_ID 0x5a5a5a5aull
#define UNTOUCHED_COUNT ((size_t)0x5a5a)

/* Everything that version 3 reports. */
struct info {
    CUstreamCaptureStatus status;
    cuuint64_t id;
    CUgraph graph;
    const CUgraphNode *dependencies;
    const CUgraphEdgeData *edges;
    size_t count;
};

static const struct info untouched = {
    (CUstreamCaptureStatus)99,       UNTOUCHED_ID,   (CUgraph)0x5a5a, (const CUgraphNode *)0x5a5a,
    (const CUgraphEdgeData *)0x5a5a, UNTOUCHED_COUNT};

static CUresult query_info(CUstream stream, struct info *info)
{
    *info = untouched;
    return cu->StreamGetCaptureInfo_v3(stream, &info->status, &info->id, &info->graph, &info->dependencies,
                                       &info->edges, &info->count);
}

static void report_info(const char *key, const struct info *info)
{
    saw_number(key_of(key, "status", NULL), (long long)info->status);
    saw_text(key_of(key, "id", NULL), info->id == UNTOUCHED_ID ? "untouched" : info->id == 0 ? "zero" : "there");
    saw_text(key_of(key, "graph", NULL), info->graph == untouched.graph ? "untouched"
                                         : info->graph == NULL          ? "null"
                                                                        : "there");
    saw_text(key_of(key, "dependencies", NULL), info->dependencies == untouched.dependencies ? "untouched"
                                                : info->dependencies == NULL                 ? "null"
                                                                                             : "there");
    saw_text(key_of(key, "edges", NULL), info->edges == untouched.edges ? "untouched"
                                         : info->edges == NULL          ? "null"
                                                                        : "there");
    if (info->count == UNTOUCHED_COUNT)
        saw_text(key_of(key, "count", NULL), "untouched");
    else
        saw_number(key_of(key, "count", NULL), (long long)info->count);
}

static void third_idle(void)
{
    CUstream stream = stream_new();
    struct info info;
    rule("code", query_info(stream, &info), CUDA_SUCCESS);
    report_info("idle", &info);
    rule("no-status", cu->StreamGetCaptureInfo_v3(stream, NULL, &info.id, NULL, NULL, NULL, NULL),
         CUDA_ERROR_INVALID_VALUE);
    rule("status-only", cu->StreamGetCaptureInfo_v3(stream, &info.status, NULL, NULL, NULL, NULL, NULL), CUDA_SUCCESS);
    saw("edges-without-dependencies",
        cu->StreamGetCaptureInfo_v3(stream, &info.status, NULL, NULL, NULL, &info.edges, &info.count));
    saw("zero", query_info(NULL, &info));
    saw("legacy", query_info(CU_STREAM_LEGACY, &info));
    saw("per-thread", query_info(CU_STREAM_PER_THREAD, &info));
    need("no-context", cu->CtxSetCurrent_v1(NULL));
    rule("no-context", query_info(stream, &info), CUDA_SUCCESS);
    saw("no-context-zero", query_info(NULL, &info));
    stream_end(stream);
}

static void third_active(void)
{
    CUstream stream = stream_new();
    CUgraph graph = NULL;
    struct info info;
    struct info again;
    capture_begin(stream);
    rule("code", query_info(stream, &info), CUDA_SUCCESS);
    report_info("empty", &info);
    need("work", add_work(stream));
    rule("with-work", query_info(stream, &again), CUDA_SUCCESS);
    report_info("one", &again);
    rule_fact("same-id", info.id == again.id);
    rule_fact("same-graph", info.graph == again.graph);
    rule("edges-without-dependencies",
         cu->StreamGetCaptureInfo_v3(stream, &info.status, NULL, NULL, NULL, &info.edges, &info.count),
         CUDA_ERROR_INVALID_VALUE);
    rule("no-status", cu->StreamGetCaptureInfo_v3(stream, NULL, &info.id, NULL, NULL, NULL, NULL),
         CUDA_ERROR_INVALID_VALUE);
    rule("dependencies-without-edges",
         cu->StreamGetCaptureInfo_v3(stream, &info.status, NULL, NULL, &info.dependencies, NULL, &info.count),
         CUDA_SUCCESS);
    saw("dependencies-without-count",
        cu->StreamGetCaptureInfo_v3(stream, &info.status, NULL, NULL, &info.dependencies, NULL, NULL));
    saw("count-only", cu->StreamGetCaptureInfo_v3(stream, &info.status, NULL, NULL, NULL, NULL, &info.count));
    saw_text("status", capture_status(stream));
    rule("end", cu->StreamEndCapture_v1(stream, &graph), CUDA_SUCCESS);
    saw_fact("end-gives-that-graph", graph == again.graph);
    need("destroy", cu->GraphDestroy_v1(graph));
    capture_begin(stream);
    need("info", query_info(stream, &info));
    rule_fact("new-id", info.id != again.id);
    (void)capture_end(stream);
    stream_end(stream);
}

static void third_invalidated(void)
{
    CUstream stream = stream_new();
    struct info info;
    capture_begin(stream);
    need("work", add_work(stream));
    (void)cu->StreamQuery_v1(stream);
    saw("code", query_info(stream, &info));
    report_info("invalidated", &info);
    (void)capture_end(stream);
    stream_end(stream);
}

static void second(void)
{
    CUstream stream = stream_new();
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)99;
    cuuint64_t id = UNTOUCHED_ID;
    CUgraph graph = (CUgraph)0x5a5a;
    const CUgraphNode *nodes = (const CUgraphNode *)0x5a5a;
    size_t count = UNTOUCHED_COUNT;
    rule("idle", cu->StreamGetCaptureInfo_v2(stream, &status, &id, &graph, &nodes, &count), CUDA_SUCCESS);
    rule_number("idle-status", (long long)status, 0);
    saw_fact("idle-id-untouched", id == UNTOUCHED_ID);
    saw_fact("idle-graph-untouched", graph == (CUgraph)0x5a5a);
    saw_fact("idle-count-untouched", count == UNTOUCHED_COUNT);
    rule("no-status", cu->StreamGetCaptureInfo_v2(stream, NULL, &id, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    capture_begin(stream);
    need("work", add_work(stream));
    rule("active", cu->StreamGetCaptureInfo_v2(stream, &status, &id, &graph, &nodes, &count), CUDA_SUCCESS);
    rule_number("active-status", (long long)status, 1);
    rule_fact("id-there", id != UNTOUCHED_ID && id != 0);
    rule_fact("graph-there", graph != (CUgraph)0x5a5a && graph != NULL);
    rule_number("count", count == UNTOUCHED_COUNT ? -1 : (long long)count, 1);
    rule("status-only", cu->StreamGetCaptureInfo_v2(stream, &status, NULL, NULL, NULL, NULL), CUDA_SUCCESS);
    saw("dependencies-without-count", cu->StreamGetCaptureInfo_v2(stream, &status, NULL, NULL, &nodes, NULL));
    saw_text("status", capture_status(stream));
    rule("end", capture_end(stream), CUDA_SUCCESS);
    stream_end(stream);
}

static void first(void)
{
    CUstream stream = stream_new();
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)99;
    cuuint64_t id = UNTOUCHED_ID;
    rule("idle", cu->StreamGetCaptureInfo_v1(stream, &status, &id), CUDA_SUCCESS);
    rule_number("idle-status", (long long)status, 0);
    saw_fact("idle-id-untouched", id == UNTOUCHED_ID);
    saw("no-status", cu->StreamGetCaptureInfo_v1(stream, NULL, &id));
    rule("no-id", cu->StreamGetCaptureInfo_v1(stream, &status, NULL), CUDA_SUCCESS);
    stream_end(stream);
}

static void first_active(void)
{
    CUstream stream = stream_new();
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)99;
    cuuint64_t id = UNTOUCHED_ID;
    capture_begin(stream);
    rule("no-id", cu->StreamGetCaptureInfo_v1(stream, &status, NULL), CUDA_SUCCESS);
    rule_number("status", (long long)status, 1);
    rule("code", cu->StreamGetCaptureInfo_v1(stream, &status, &id), CUDA_SUCCESS);
    rule_fact("id-there", id != UNTOUCHED_ID && id != 0);
    rule("end", capture_end(stream), CUDA_SUCCESS);
    stream_end(stream);
}

static void legacy_beside(void)
{
    CUstream stream = stream_blocking();
    struct info info;
    capture_begin(stream);
    rule("v3", query_info(CU_STREAM_LEGACY, &info), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    saw_number("v3-status", (long long)info.status);
    saw("zero", query_info(NULL, &info));
    saw_text("status", capture_status(stream));
    rule("end", capture_end(stream), CUDA_SUCCESS);
    stream_end(stream);
}

static const struct check checks[] = {
    {"info.v3-idle", third_idle, 0, {S(StreamGetCaptureInfo_v3), S(DevicePrimaryCtxRetain_v1)}},
    {"info.v3", third_active, 0, {S(StreamGetCaptureInfo_v3), S(StreamBeginCapture_v2)}},
    {"info.v3-invalidated", third_invalidated, 0, {S(StreamGetCaptureInfo_v3), S(StreamBeginCapture_v2)}},
    {"info.v2", second, 0, {S(StreamGetCaptureInfo_v2), S(StreamBeginCapture_v2)}},
    {"info.v1-idle", first, 0, {S(StreamGetCaptureInfo_v1)}},
    {"info.v1", first_active, 0, {S(StreamGetCaptureInfo_v1), S(StreamBeginCapture_v2)}},
    {"info.legacy-beside", legacy_beside, 0, {S(StreamGetCaptureInfo_v3), S(StreamBeginCapture_v2)}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_info = {"info", checks};
