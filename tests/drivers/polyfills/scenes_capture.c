/* SPDX-License-Identifier: MIT */
/* Scenes: queries of a capture. */
#include "scene.h"

#include <stdio.h>
#include <string.h>

/* The results that are requested in addition to the status. */
enum { ID = 1, GRAPH = 2, NODES = 4, EDGES = 8, COUNT = 16, ALL = 31 };
enum { MOST_IDS = 32 };

static cuuint64_t ids[MOST_IDS];
static int id_count;

static const char *print_id(cuuint64_t id)
{
    if (id == UNTOUCHED)
        return "untouched";
    if (id_count < MOST_IDS)
        ids[id_count++] = id;
    return id != 0 ? "given" : "zero";
}

/* Prints whether all ids that were returned since the last call are the same. */
static void compare_ids(const char *step)
{
    bool same = true;
    for (int i = 1; i < id_count; i++)
        same = same && ids[i] == ids[0];
    STEP(StreamGetCaptureInfo_v3, step, CUDA_SUCCESS, "the ids %s", same ? "agree" : "differ");
    id_count = 0;
}

static void print_nodes(char *text, size_t size, const CUgraphNode *nodes, size_t count)
{
    size_t length = 0;
    if (nodes == NULL || (const void *)nodes == UNTOUCHED_POINTER)
        snprintf(text, size, "%s", nodes == NULL ? "NULL" : "untouched");
    else if (count == UNTOUCHED || count == 0)
        snprintf(text, size, "%s", count == 0 ? "none" : "given");
    else
        for (size_t i = 0; i < count && length < size; i++)
            length += (size_t)snprintf(text + length, size - length, "%s%s", i > 0 ? "+" : "", scene_name_of(nodes[i]));
}

static const char *print_edges(const CUgraphEdgeData *edges, size_t count)
{
    static const CUgraphEdgeData plain;
    if (edges == NULL)
        return "NULL";
    if ((const void *)edges == UNTOUCHED_POINTER)
        return "untouched";
    for (size_t i = 0; i < count && count != UNTOUCHED; i++) {
        if (memcmp(&edges[i], &plain, sizeof plain) != 0)
            return "data";
    }
    return "plain";
}

struct answer {
    CUstreamCaptureStatus status;
    cuuint64_t id;
    CUgraph graph;
    const CUgraphNode *nodes;
    const CUgraphEdgeData *edges;
    size_t count;
};

static const struct answer untouched = {
    (CUstreamCaptureStatus)UNTOUCHED, UNTOUCHED, UNTOUCHED_POINTER, UNTOUCHED_POINTER, UNTOUCHED_POINTER, UNTOUCHED};

static void print_answer(enum cushim_slot slot, const char *step, CUresult result, const struct answer *answer)
{
    char nodes[128];
    print_nodes(nodes, sizeof nodes, answer->nodes, answer->count);
    scene_step(slot, step, result, "status %d, id %s, graph %s, nodes %s, edges %s, count %zu, current %s",
               (int)answer->status, print_id(answer->id), scene_name_of(answer->graph), nodes,
               print_edges(answer->edges, answer->count), answer->count, scene_current());
}

/* Makes the query for `what` with every ABI version that has it. */
static void print_query(const char *where, CUstream stream, int what)
{
    char step[96];
    struct answer answer = untouched;
    CUresult result = TABLE->StreamGetCaptureInfo_v1(stream, &answer.status, (what & ID) != 0 ? &answer.id : NULL);
    snprintf(step, sizeof step, "%s/v1", where);
    print_answer(CUSHIM_SLOT_StreamGetCaptureInfo_v1, step, result, &answer);

    answer = untouched;
    result = TABLE->StreamGetCaptureInfo_v2(
        stream, &answer.status, (what & ID) != 0 ? &answer.id : NULL, (what & GRAPH) != 0 ? &answer.graph : NULL,
        (what & NODES) != 0 ? &answer.nodes : NULL, (what & COUNT) != 0 ? &answer.count : NULL);
    snprintf(step, sizeof step, "%s/v2", where);
    print_answer(CUSHIM_SLOT_StreamGetCaptureInfo_v2, step, result, &answer);

    answer = untouched;
    result = TABLE->StreamGetCaptureInfo_v3(
        stream, &answer.status, (what & ID) != 0 ? &answer.id : NULL, (what & GRAPH) != 0 ? &answer.graph : NULL,
        (what & NODES) != 0 ? &answer.nodes : NULL, (what & EDGES) != 0 ? &answer.edges : NULL,
        (what & COUNT) != 0 ? &answer.count : NULL);
    snprintf(step, sizeof step, "%s/v3", where);
    print_answer(CUSHIM_SLOT_StreamGetCaptureInfo_v3, step, result, &answer);

    answer = untouched;
    result = TABLE->StreamIsCapturing_v1(stream, &answer.status);
    snprintf(step, sizeof step, "%s/is", where);
    STEP(StreamIsCapturing_v1, step, result, "status %d", (int)answer.status);
}

static const struct {
    const char *name;
    int what;
} wishes[] = {
    {"status", 0},
    {"id", ID},
    {"graph", GRAPH},
    {"count", COUNT},
    {"nodes", NODES},
    {"nodes and count", NODES | COUNT},
    {"edges", EDGES},
    {"edges and count", EDGES | COUNT},
    {"all", ALL},
    {"nodes and edges", NODES | EDGES},
    {"all but edges", ALL & ~EDGES},
};
enum { WISH_COUNT = sizeof wishes / sizeof wishes[0] };

static void print_all_queries(const char *where, CUstream stream)
{
    char step[64];
    for (int i = 0; i < WISH_COUNT; i++) {
        snprintf(step, sizeof step, "%s/%s", where, wishes[i].name);
        print_query(step, stream, wishes[i].what);
    }
}

void scene_info_idle(void)
{
    print_all_queries("idle", stage.a);
    print_query("stream 0", NULL, ALL);
    print_query("stream 1", (CUstream)1, ALL);
    print_query("stream 2", (CUstream)2, ALL);
    scene_enter(NULL);
    print_query("no context", stage.a, ALL);
    print_query("no context, stream 0", NULL, ALL);
    print_query("no context, stream 2", (CUstream)2, ALL);
    scene_enter(stage.second);
    print_query("other context", stage.a, ALL);
    id_count = 0;
}

/* Gives the capture of `a` three dependencies, through b and c. */
static void spread_dependencies(CUevent event)
{
    MUST(TABLE->EventRecord_v1(event, stage.a));
    MUST(TABLE->StreamWaitEvent_v1(stage.b, event, 0));
    MUST(TABLE->StreamWaitEvent_v1(stage.c, event, 0));
    scene_add_node(stage.b);
    scene_add_node(stage.c);
    scene_add_node(stage.a);
    print_query("joined stream", stage.b, ALL);
    MUST(TABLE->EventRecord_v1(event, stage.b));
    MUST(TABLE->StreamWaitEvent_v1(stage.a, event, 0));
    MUST(TABLE->EventRecord_v1(event, stage.c));
    MUST(TABLE->StreamWaitEvent_v1(stage.a, event, 0));
}

void scene_info_capture(void)
{
    CUevent event;
    MUST(TABLE->EventCreate_v1(&event, CU_EVENT_DISABLE_TIMING));
    scene_begin(stage.a);
    print_all_queries("empty", stage.a);
    scene_add_node(stage.a);
    print_all_queries("one node", stage.a);
    spread_dependencies(event);
    print_all_queries("three nodes", stage.a);
    scene_enter(NULL);
    print_query("no context", stage.a, ALL);
    scene_enter(stage.second);
    print_query("other context", stage.a, ALL);
    scene_enter(stage.primary);
    print_query("bystander", stage.blocking, ALL);
    compare_ids("ids");
    scene_end(CUSHIM_SLOT_StreamGetCaptureInfo_v3, "end", stage.a);
    print_query("ended", stage.a, ALL);

    MUST(TABLE->StreamBeginCapture_v1((CUstream)2));
    print_query("per-thread stream", (CUstream)2, ALL);
    compare_ids("ids of the per-thread stream");
    scene_end(CUSHIM_SLOT_StreamGetCaptureInfo_v3, "per-thread end", (CUstream)2);
}

/* The legacy stream beside the capture of a stream that it blocks. */
void scene_info_legacy(void)
{
    scene_begin(stage.blocking);
    scene_add_node(stage.blocking);
    print_all_queries("stream 0", NULL);
    print_query("stream 1", (CUstream)1, ALL);
    scene_enter(NULL);
    print_query("no context, stream 0", NULL, ALL);
    scene_enter(stage.primary);
    print_query("the capture", stage.blocking, ID);
    compare_ids("ids");
    scene_end(CUSHIM_SLOT_StreamGetCaptureInfo_v3, "end", stage.blocking);
}

void scene_info_invalid(void)
{
    CUevent event;
    MUST(TABLE->EventCreate_v1(&event, CU_EVENT_DISABLE_TIMING));
    scene_begin(stage.a);
    scene_add_node(stage.a);
    (void)TABLE->StreamSynchronize_v1(stage.a); /* invalidates the capture */
    print_all_queries("invalid", stage.a);
    scene_enter(NULL);
    print_query("no context", stage.a, ALL);
    scene_enter(stage.primary);
    CODE(StreamUpdateCaptureDependencies_v2, "update",
         TABLE->StreamUpdateCaptureDependencies_v2(stage.a, NULL, NULL, 0, 1));
    CODE(StreamBeginCapture_v2, "begin again", TABLE->StreamBeginCapture_v2(stage.a, CU_STREAM_CAPTURE_MODE_RELAXED));
    CODE(EventRecordWithFlags_v1, "record", TABLE->EventRecordWithFlags_v1(event, stage.a, 0));
    CUcontext context = UNTOUCHED_POINTER;
    CUgreenCtx green = UNTOUCHED_POINTER;
    CUresult result = TABLE->StreamGetCtx_v2(stage.a, &context, &green);
    STEP(StreamGetCtx_v2, "context", result, "context %s, green %s", scene_name_of(context), scene_name_of(green));
    compare_ids("ids");
    scene_end(CUSHIM_SLOT_StreamGetCaptureInfo_v3, "end", stage.a);
    print_query("ended", stage.a, ALL);
    id_count = 0;
}
