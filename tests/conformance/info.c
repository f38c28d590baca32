/* SPDX-License-Identifier: MIT */
/* cuStreamGetCaptureInfo, all three versions, and cuStreamIsCapturing. The answer of a query is a few letters. */
#include <stdio.h>
#include <string.h>

#include "fixture.h"

enum { MAX_TEXT = 300 };

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

static const struct info untouched = {(CUstreamCaptureStatus)99, UNTOUCHED_ID,     UNTOUCHED_HANDLE,
                                      UNTOUCHED_HANDLE,          UNTOUCHED_HANDLE, UNTOUCHED_COUNT};

/* The results that are requested in addition to the status. */
enum { ID = 1, GRAPH = 2, COUNT = 4, NODES = 8, EDGES = 16, ALL = 31 };

/* The id and the graph of the capture that is queried, from the first query that reports them. */
static cuuint64_t known_id;
static CUgraph known_graph;

/* Version 0 is cuStreamIsCapturing. */
static CUresult query_version(int version, CUstream stream, int requested, struct info *info)
{
    cuuint64_t *id = (requested & ID) != 0 ? &info->id : NULL;
    CUgraph *graph = (requested & GRAPH) != 0 ? &info->graph : NULL;
    size_t *count = (requested & COUNT) != 0 ? &info->count : NULL;
    const CUgraphNode **nodes = (requested & NODES) != 0 ? &info->dependencies : NULL;
    const CUgraphEdgeData **edges = (requested & EDGES) != 0 ? &info->edges : NULL;
    *info = untouched;
    if (version == 0)
        return cu->StreamIsCapturing_v1(stream, &info->status);
    if (version == 1)
        return cu->StreamGetCaptureInfo_v1(stream, &info->status, id);
    if (version == 2)
        return cu->StreamGetCaptureInfo_v2(stream, &info->status, id, graph, nodes, count);
    return cu->StreamGetCaptureInfo_v3(stream, &info->status, id, graph, nodes, edges, count);
}

static bool edges_are_plain(const struct info *info)
{
    static const CUgraphEdgeData plain;
    for (size_t i = 0; info->edges != NULL && info->count != UNTOUCHED_COUNT && i < info->count; i++) {
        if (memcmp(&info->edges[i], &plain, sizeof plain) != 0)
            return false;
    }
    return true;
}

/* Adds the answer of one query, such as "0:1ig2ne": the code, the status ("-" if it was not written), and each other
 * result that was written: i for the id, g for the graph, the count, n for the nodes, e for the edges. I and G mean
 * another id or graph than that of the first query, E means edges with data, n0 and e0 mean NULL. */
static void add_answer(char *text, int version, CUstream stream, int requested)
{
    struct info info;
    size_t length = strlen(text);
    CUresult result = query_version(version, stream, requested, &info);
    if (known_id == 0 && info.id != UNTOUCHED_ID)
        known_id = info.id;
    if (known_graph == NULL && info.graph != untouched.graph)
        known_graph = info.graph;
    length += (size_t)snprintf(text + length, MAX_TEXT - length, "%s%d:%c%s%s", length > 0 ? " " : "", (int)result,
                               info.status == untouched.status ? '-' : '0' + (int)info.status,
                               info.id == UNTOUCHED_ID ? ""
                               : info.id == known_id   ? "i"
                                                       : "I",
                               info.graph == untouched.graph ? ""
                               : info.graph == known_graph   ? "g"
                                                             : "G");
    if (info.count != UNTOUCHED_COUNT)
        length += (size_t)snprintf(text + length, MAX_TEXT - length, "%d", (int)info.count);
    if (info.dependencies != untouched.dependencies)
        length += (size_t)snprintf(text + length, MAX_TEXT - length, "%s", info.dependencies != NULL ? "n" : "n0");
    if (info.edges != untouched.edges)
        snprintf(text + length, MAX_TEXT - length, "%s",
                 info.edges == NULL       ? "e0"
                 : edges_are_plain(&info) ? "e"
                                          : "E");
}

/* Whether every query left the current context as it was. */
static bool current_stays;

/* Reports the answers of all versions to a query for all results. */
static void observe_info(const char *key, CUstream stream)
{
    char text[MAX_TEXT] = "";
    CUcontext before = NULL;
    CUcontext after = NULL;
    require("current", cu->CtxGetCurrent_v1(&before));
    for (int version = 0; version <= 3; version++)
        add_answer(text, version, stream, ALL);
    observe_text(key, text);
    require("current", cu->CtxGetCurrent_v1(&after));
    current_stays &= before == after;
}

/* Reports the answers of all versions to queries for all results and for some of them. */
static void observe_partial_info(const char *key, CUstream stream)
{
    static const int parts[] = {
        0, ID, GRAPH, COUNT, NODES, NODES | COUNT, EDGES, EDGES | COUNT, NODES | EDGES, ALL & ~EDGES};
    static const char *const names[] = {"v1", "v2", "v3"};
    observe_info(key_of(key, "all", NULL), stream);
    for (int version = 1; version <= 3; version++) {
        char text[MAX_TEXT] = "";
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
            add_answer(text, version, stream, parts[i]);
        observe_text(key_of(key, names[version - 1], NULL), text);
    }
}

static void begin(CUstream stream)
{
    known_id = 0;
    known_graph = NULL;
    capture_begin(stream);
}

CHECK(idle, "info.idle", .needs = {S(StreamGetCaptureInfo_v3), S(DevicePrimaryCtxRetain_v1)})
{
    current_stays = true;
    static const char *const names[] = {"created", "blocking", "zero", "legacy", "per-thread"};
    CUstream streams[] = {stream_new(), stream_blocking(), NULL, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD};
    CUcontext contexts[CONTEXT_COUNT];
    contexts_new(contexts);
    observe_partial_info("parts", streams[0]);
    for (int i = 0; i < 5 * CONTEXT_COUNT; i++) {
        require("set", cu->CtxSetCurrent_v1(contexts[i / 5]));
        observe_info(key_of(context_names[i / 5], names[i % 5], NULL), streams[i % 5]);
    }
    expect_true("current-stays", current_stays);
}

/* Makes `to` depend on the work of `from`. */
static void join(CUstream from, CUstream to, CUevent event)
{
    require("record", cu->EventRecord_v1(event, from));
    require("wait", cu->StreamWaitEvent_v1(to, event, 0));
}

CHECK(active, "info.active", .needs = {S(StreamGetCaptureInfo_v3), S(StreamBeginCapture_v2)})
{
    current_stays = true;
    CUevent event = event_new();
    CUstream streams[] = {stream_new(), stream_new(), stream_new()};
    CUstream bystander = stream_blocking();
    CUgraph graph = NULL;
    CUcontext contexts[CONTEXT_COUNT];
    contexts_new(contexts);
    begin(streams[0]);
    observe_partial_info("empty", streams[0]);
    require("work", add_work(streams[0]));
    observe_partial_info("one", streams[0]);
    for (int i = 1; i < 3; i++)
        join(streams[0], streams[i], event);
    for (int i = 0; i < 3; i++)
        require("work", add_work(streams[i]));
    observe_info("joined", streams[1]);
    for (int i = 1; i < 3; i++)
        join(streams[i], streams[0], event);
    observe_partial_info("three", streams[0]);
    for (int i = 0; i < CONTEXT_COUNT; i += 2) {
        require("set", cu->CtxSetCurrent_v1(contexts[i]));
        observe_info(key_of("current", context_names[i], NULL), streams[0]);
    }
    require("set", cu->CtxSetCurrent_v1(the_context));
    observe_info("bystander", bystander);
    expect("end", cu->StreamEndCapture_v1(streams[0], &graph), CUDA_SUCCESS);
    expect_true("end-gives-that-graph", graph == known_graph);
    require("graph-destroy", cu->GraphDestroy_v1(graph));
    observe_info("ended", streams[0]);
    cuuint64_t first_id = known_id;
    begin(CU_STREAM_PER_THREAD);
    observe_info("per-thread", CU_STREAM_PER_THREAD);
    expect_true("new-id", known_id != first_id);
    expect("per-thread-end", capture_end(CU_STREAM_PER_THREAD), CUDA_SUCCESS);
    expect_true("current-stays", current_stays);
}

/* Stream 0 beside the capture of a stream that it blocks. */
CHECK(legacy_beside, "info.legacy", .needs = {S(StreamGetCaptureInfo_v3), S(StreamBeginCapture_v2)})
{
    current_stays = true;
    CUstream stream = stream_blocking();
    begin(stream);
    require("work", add_work(stream));
    observe_partial_info("zero", NULL);
    observe_info("legacy", CU_STREAM_LEGACY);
    require("no-context", cu->CtxSetCurrent_v1(NULL));
    observe_info("no-context", NULL);
    require("current", cu->CtxSetCurrent_v1(the_context));
    observe_info("the-capture", stream);
    expect("end", capture_end(stream), CUDA_SUCCESS);
    expect_true("current-stays", current_stays);
}

CHECK(invalidated, "info.invalidated", .needs = {S(StreamGetCaptureInfo_v3), S(StreamBeginCapture_v2)})
{
    current_stays = true;
    CUevent event = event_new();
    CUstream stream = stream_capturing();
    require("work", add_work(stream));
    (void)cu->StreamQuery_v1(stream);
    observe_partial_info("parts", stream);
    require("no-context", cu->CtxSetCurrent_v1(NULL));
    observe_info("no-context", stream);
    require("current", cu->CtxSetCurrent_v1(the_context));
    expect("begin", cu->StreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_ERROR_ILLEGAL_STATE);
    if (require_slot("record", S(EventRecordWithFlags_v1)))
        expect("record", cu->EventRecordWithFlags_v1(event, stream, 0), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    if (require_slot("context", S(StreamGetCtx_v2))) {
        CUcontext context = UNTOUCHED_HANDLE;
        CUgreenCtx green = UNTOUCHED_HANDLE;
        CUresult result = cu->StreamGetCtx_v2(stream, &context, &green);
        observe_format("context", "%d %s %s", (int)result, context_word(context),
                       green == UNTOUCHED_HANDLE ? "untouched" : "written");
    }
    expect("end", capture_end(stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    observe_info("ended", stream);
    expect_true("current-stays", current_stays);
}
