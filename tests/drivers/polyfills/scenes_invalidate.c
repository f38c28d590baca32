/* SPDX-License-Identifier: MIT */
/* Scenes: beginning, changing and invalidating a capture. */
#include "scene.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* ---- cuStreamBeginCapture_v2 ---- */

static void begin(const char *step, CUstream stream, int mode)
{
    CODE(StreamBeginCapture_v2, step, TABLE->StreamBeginCapture_v2(stream, (CUstreamCaptureMode)mode));
}

static void *end_elsewhere(void *user)
{
    (void)user;
    scene_enter(stage.primary);
    scene_end(CUSHIM_SLOT_StreamBeginCapture_v2, "relaxed/end in another thread", stage.a);
    return NULL;
}

void scene_modes(void)
{
    pthread_t thread;
    begin("relaxed/begin", stage.a, CU_STREAM_CAPTURE_MODE_RELAXED);
    begin("relaxed/begin again", stage.a, CU_STREAM_CAPTURE_MODE_RELAXED);
    CODE(StreamBeginCapture_v2, "relaxed/query of another stream", TABLE->StreamQuery_v1(stage.b));
    CODE(StreamBeginCapture_v2, "relaxed/synchronize another stream", TABLE->StreamSynchronize_v1(stage.b));
    scene_add_node(stage.a);
    if (pthread_create(&thread, NULL, end_elsewhere, NULL) == 0)
        pthread_join(thread, NULL);

    begin("global/begin", stage.a, CU_STREAM_CAPTURE_MODE_GLOBAL);
    scene_end(CUSHIM_SLOT_StreamBeginCapture_v2, "global/end", stage.a);
    begin("thread/begin", stage.a, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    scene_end(CUSHIM_SLOT_StreamBeginCapture_v2, "thread/end", stage.a);
    begin("bad mode", stage.a, 3);
    begin("worse mode", stage.a, -1);
    begin("stream 0", NULL, CU_STREAM_CAPTURE_MODE_RELAXED);
    begin("stream 1", (CUstream)1, CU_STREAM_CAPTURE_MODE_RELAXED);
    begin("stream 2", (CUstream)2, CU_STREAM_CAPTURE_MODE_RELAXED);
    scene_end(CUSHIM_SLOT_StreamBeginCapture_v2, "stream 2 end", (CUstream)2);
    scene_enter(NULL);
    begin("no context", stage.a, CU_STREAM_CAPTURE_MODE_RELAXED);
    scene_end(CUSHIM_SLOT_StreamBeginCapture_v2, "no context end", stage.a);
    begin("no context, stream 0", NULL, CU_STREAM_CAPTURE_MODE_RELAXED);
    begin("no context, stream 2", (CUstream)2, CU_STREAM_CAPTURE_MODE_RELAXED);
}

/* ---- cuStreamUpdateCaptureDependencies_v2 ---- */

enum { MOST_NODES = 64 };
static CUgraph update_graph;

static size_t list_nodes(CUgraphNode *nodes)
{
    size_t count = MOST_NODES;
    MUST(TABLE->GraphGetNodes_v1(update_graph, nodes, &count));
    return count;
}

/* Adds a node to the capture and prints the number of its dependencies. */
static size_t count_dependencies(void)
{
    CUgraphNode before[MOST_NODES];
    CUgraphNode after[MOST_NODES];
    size_t before_count = list_nodes(before);
    scene_add_node(stage.a);
    size_t after_count = list_nodes(after);
    size_t dependencies = UNTOUCHED;
    for (size_t i = 0; i < after_count; i++) {
        size_t j = 0;
        while (j < before_count && before[j] != after[i])
            j++;
        if (j == before_count)
            MUST(TABLE->GraphNodeGetDependencies_v1(after[i], NULL, &dependencies));
    }
    return dependencies;
}

/* Updates the dependencies, then prints those of a new node. */
static void update(const char *step, CUgraphNode *nodes, const CUgraphEdgeData *edges, size_t count, unsigned int flags)
{
    CUresult result = TABLE->StreamUpdateCaptureDependencies_v2(stage.a, nodes, edges, count, flags);
    STEP(StreamUpdateCaptureDependencies_v2, step, result, "the next node depends on %zu", count_dependencies());
}

void scene_update(void)
{
    static const CUgraphEdgeData plain[2];
    CUgraphEdgeData data[2];
    CUgraphNode nodes[2];
    CUgraphNode foreign;
    CUgraph other;
    memset(data, 0, sizeof data);
    MUST(TABLE->GraphCreate_v1(&update_graph, 0));
    MUST(TABLE->GraphCreate_v1(&other, 0));
    for (int i = 0; i < 2; i++)
        MUST(TABLE->GraphAddEmptyNode_v1(&nodes[i], update_graph, NULL, 0));
    MUST(TABLE->GraphAddEmptyNode_v1(&foreign, other, NULL, 0));

    CODE(StreamUpdateCaptureDependencies_v2, "idle",
         TABLE->StreamUpdateCaptureDependencies_v2(stage.a, nodes, NULL, 1, 0));
    CODE(StreamUpdateCaptureDependencies_v2, "idle, nothing",
         TABLE->StreamUpdateCaptureDependencies_v2(stage.a, NULL, NULL, 0, 0));
    CODE(StreamUpdateCaptureDependencies_v2, "stream 0",
         TABLE->StreamUpdateCaptureDependencies_v2(NULL, nodes, NULL, 1, 0));
    MUST(TABLE->StreamBeginCaptureToGraph_v1(stage.a, update_graph, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED));
    scene_add_node(stage.a);
    const unsigned int add = CU_STREAM_ADD_CAPTURE_DEPENDENCIES;
    const unsigned int set = CU_STREAM_SET_CAPTURE_DEPENDENCIES;
    update("add one", nodes, NULL, 1, add);
    update("add two, plain", nodes, plain, 2, add);
    update("set one", nodes, NULL, 1, set);
    update("set two, plain", nodes, plain, 2, set);
    update("set none", NULL, NULL, 0, set);
    update("set none, with arrays", nodes, plain, 0, set);
    update("add none", NULL, NULL, 0, add);
    update("flag unknown", nodes, NULL, 1, 2);
    update("flags all", nodes, NULL, 1, 0xffffffffu);
    update("node of another graph", &foreign, NULL, 1, set);
    nodes[1] = nodes[0];
    update("the same twice", nodes, NULL, 2, set);
    data[1].type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    update("data after a plain one", nodes, data, 2, set);
    update("data beyond the count", nodes, data, 1, set);
    data[0].from_port = 1;
    update("port", nodes, data, 1, set);
    update("port, flag unknown", nodes, data, 1, 2);
    memset(data, 0, sizeof data);
    data[0].reserved[4] = 1;
    update("reserved byte", nodes, data, 1, set);
    update("data, but none", NULL, data, 0, set);
    scene_enter(NULL);
    CODE(StreamUpdateCaptureDependencies_v2, "no context",
         TABLE->StreamUpdateCaptureDependencies_v2(stage.a, nodes, NULL, 1, set));
    scene_enter(stage.primary);
    scene_end(CUSHIM_SLOT_StreamUpdateCaptureDependencies_v2, "end", stage.a);
}

/* ---- What invalidates a capture ---- */

static void CUDA_CB do_nothing(void *user)
{
    (void)user;
}

/* Makes one call in a capture of `a`. Prints its code, and whether the capture is still valid. */
struct call {
    const char *name;
    enum cushim_slot slot;
    CUresult (*make)(CUstream stream);
};

static CUevent event;
static CUevent done;

static CUresult call_device(CUstream stream)
{
    CUdevice device;
    return TABLE->StreamGetDevice_v1(stream, &device);
}

static CUresult call_context(CUstream stream)
{
    CUcontext context;
    CUgreenCtx green;
    return TABLE->StreamGetCtx_v2(stream, &context, &green);
}

static CUresult call_host_function(CUstream stream)
{
    return TABLE->LaunchHostFunc_v1(stream, do_nothing, NULL);
}

static CUresult call_record(CUstream stream)
{
    return TABLE->EventRecordWithFlags_v1(event, stream, 0);
}

static CUresult call_record_external(CUstream stream)
{
    return TABLE->EventRecordWithFlags_v1(event, stream, CU_EVENT_RECORD_EXTERNAL);
}

static CUresult call_elapsed(CUstream stream)
{
    float time;
    (void)stream;
    return TABLE->EventElapsedTime_v2(&time, done, done);
}

static CUresult call_synchronize(CUstream stream)
{
    (void)stream;
    return TABLE->CtxSynchronize_v2(NULL);
}

static CUresult call_synchronize_second(CUstream stream)
{
    (void)stream;
    return TABLE->CtxSynchronize_v2(stage.second);
}

static CUresult call_context_device(CUstream stream)
{
    CUdevice device;
    (void)stream;
    return TABLE->CtxGetDevice_v2(&device, stage.second);
}

static CUresult call_create_context(CUstream stream)
{
    CUcontext context;
    if (stream != stage.a)
        return CUDA_SUCCESS; /* once is sufficient, because it takes long */
    CUresult result = TABLE->CtxCreate_v4(&context, NULL, 0, stage.device);
    if (result == CUDA_SUCCESS)
        MUST(TABLE->CtxPopCurrent_v2(&context));
    return result;
}

static CUresult call_instantiate(CUstream stream)
{
    CUgraph graph;
    CUgraphExec executable;
    (void)stream;
    MUST(TABLE->GraphCreate_v1(&graph, 0));
    return TABLE->GraphInstantiateWithFlags_v1(&executable, graph, 0);
}

static CUresult call_info(CUstream stream)
{
    CUstreamCaptureStatus status;
    return TABLE->StreamGetCaptureInfo_v3(stream, &status, NULL, NULL, NULL, NULL, NULL);
}

static void try_calls(bool global, const char *where, CUstream stream)
{
    static const struct call calls[] = {
        {"device", CUSHIM_SLOT_StreamGetDevice_v1, call_device},
        {"context", CUSHIM_SLOT_StreamGetCtx_v2, call_context},
        {"host function", CUSHIM_SLOT_LaunchHostFunc_v1, call_host_function},
        {"record", CUSHIM_SLOT_EventRecordWithFlags_v1, call_record},
        {"record external", CUSHIM_SLOT_EventRecordWithFlags_v1, call_record_external},
        {"elapsed", CUSHIM_SLOT_EventElapsedTime_v2, call_elapsed},
        {"synchronize", CUSHIM_SLOT_CtxSynchronize_v2, call_synchronize},
        {"synchronize second", CUSHIM_SLOT_CtxSynchronize_v2, call_synchronize_second},
        {"context's device", CUSHIM_SLOT_CtxGetDevice_v2, call_context_device},
        {"create context", CUSHIM_SLOT_CtxCreate_v4, call_create_context},
        {"instantiate", CUSHIM_SLOT_GraphInstantiateWithFlags_v1, call_instantiate},
        {"info", CUSHIM_SLOT_StreamGetCaptureInfo_v3, call_info},
    };
    MUST(TABLE->EventCreate_v1(&event, CU_EVENT_DEFAULT));
    MUST(TABLE->EventCreate_v1(&done, CU_EVENT_DEFAULT));
    MUST(TABLE->EventRecord_v1(done, stage.b));
    MUST(TABLE->StreamSynchronize_v1(stage.b));
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        char step[64];
        CUgraph graph;
        MUST(TABLE->GraphCreate_v1(&graph, 0));
        if (global)
            MUST(TABLE->StreamBeginCaptureToGraph_v1(stage.a, graph, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_GLOBAL));
        else
            scene_begin(stage.a);
        CUresult result = calls[i].make(stream);
        snprintf(step, sizeof step, "%s/%s", where, calls[i].name);
        scene_step(calls[i].slot, step, result, "current %s", scene_current());
        snprintf(step, sizeof step, "%s/%s/end", where, calls[i].name);
        scene_end(calls[i].slot, step, stage.a);
    }
}

void scene_harm(void)
{
    try_calls(false, "the capturing stream", stage.a);
    try_calls(false, "another stream", stage.b);
}

void scene_invalidate_global(void)
{
    try_calls(true, "the capturing stream", stage.a);
    try_calls(true, "another stream", stage.b);
}
