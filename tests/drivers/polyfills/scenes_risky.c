/* SPDX-License-Identifier: MIT */
/* Calls that may end the process, because an output pointer or a handle is NULL. */
#include "scene.h"

#include <string.h>

static CUgraph new_graph(CUgraphNode *out_node)
{
    CUgraph graph;
    MUST(TABLE->GraphCreate_v1(&graph, 0));
    MUST(TABLE->GraphAddEmptyNode_v1(out_node, graph, NULL, 0));
    return graph;
}

static void risk_contexts(int number)
{
    CUcontext context = UNTOUCHED_POINTER;
    CUctxCreateParams parameters;
    memset(&parameters, 0, sizeof parameters);
    switch (number) {
    case 0:
        CODE(CtxGetDevice_v2, "device NULL", TABLE->CtxGetDevice_v2(NULL, NULL));
        break;
    case 1:
        CODE(CtxGetDevice_v2, "device NULL of another", TABLE->CtxGetDevice_v2(NULL, stage.second));
        break;
    case 2:
        scene_enter(NULL);
        CODE(CtxGetDevice_v2, "device NULL, no context", TABLE->CtxGetDevice_v2(NULL, NULL));
        break;
    case 3:
        CODE(CtxCreate_v3, "NULL", TABLE->CtxCreate_v3(NULL, NULL, 0, 0, stage.device));
        break;
    case 4:
        CODE(CtxCreate_v4, "NULL", TABLE->CtxCreate_v4(NULL, NULL, 0, stage.device));
        break;
    case 5:
        CODE(CtxCreate_v4, "NULL, empty", TABLE->CtxCreate_v4(NULL, &parameters, 0, stage.device));
        break;
    case 6:
        CODE(StreamGetCtx_v2, "both NULL", TABLE->StreamGetCtx_v2(stage.a, NULL, NULL));
        break;
    case 7: {
        CUgreenCtx green = UNTOUCHED_POINTER;
        CUresult result = TABLE->StreamGetCtx_v2(stage.a, NULL, &green);
        STEP(StreamGetCtx_v2, "context NULL", result, "green %s", scene_name_of(green));
        break;
    }
    case 8: {
        CUresult result = TABLE->StreamGetCtx_v2(stage.a, &context, NULL);
        STEP(StreamGetCtx_v2, "green NULL", result, "context %s", scene_name_of(context));
        break;
    }
    case 9:
        CODE(StreamGetDevice_v1, "NULL", TABLE->StreamGetDevice_v1(stage.a, NULL));
        break;
    case 10:
        CODE(StreamGetDevice_v1, "stream 0, NULL", TABLE->StreamGetDevice_v1(NULL, NULL));
        break;
    default:
        break;
    }
}

static void risk_streams(int number)
{
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)UNTOUCHED;
    cuuint64_t id = UNTOUCHED;
    CUevent event;
    float time;
    CUgraphNode node = NULL;
    MUST(TABLE->EventCreate_v1(&event, CU_EVENT_DEFAULT));
    MUST(TABLE->EventRecord_v1(event, stage.a));
    MUST(TABLE->StreamSynchronize_v1(stage.a));
    switch (number) {
    case 0:
        CODE(StreamIsCapturing_v1, "NULL", TABLE->StreamIsCapturing_v1(stage.a, NULL));
        break;
    case 1:
        STEP(StreamGetCaptureInfo_v1, "status NULL", TABLE->StreamGetCaptureInfo_v1(stage.a, NULL, &id), "id %s",
             id == UNTOUCHED ? "untouched" : "given");
        break;
    case 2:
        CODE(StreamGetCaptureInfo_v2, "status NULL",
             TABLE->StreamGetCaptureInfo_v2(stage.a, NULL, &id, NULL, NULL, NULL));
        break;
    case 3:
        CODE(StreamGetCaptureInfo_v3, "status NULL",
             TABLE->StreamGetCaptureInfo_v3(stage.a, NULL, &id, NULL, NULL, NULL, NULL));
        break;
    case 4:
        CODE(StreamGetCaptureInfo_v3, "all NULL",
             TABLE->StreamGetCaptureInfo_v3(stage.a, NULL, NULL, NULL, NULL, NULL, NULL));
        break;
    case 5:
        scene_begin(stage.a);
        CODE(StreamGetCaptureInfo_v3, "status NULL in capture",
             TABLE->StreamGetCaptureInfo_v3(stage.a, NULL, &id, NULL, NULL, NULL, NULL));
        scene_end(CUSHIM_SLOT_StreamGetCaptureInfo_v3, "status NULL in capture, end", stage.a);
        break;
    case 6:
        CODE(EventElapsedTime_v2, "NULL", TABLE->EventElapsedTime_v2(NULL, event, event));
        break;
    case 7:
        CODE(EventElapsedTime_v2, "events NULL", TABLE->EventElapsedTime_v2(&time, NULL, NULL));
        break;
    case 8:
        CODE(EventElapsedTime_v2, "first NULL", TABLE->EventElapsedTime_v2(&time, NULL, event));
        break;
    case 9:
        CODE(LaunchHostFunc_v1, "NULL", TABLE->LaunchHostFunc_v1(stage.a, NULL, NULL));
        break;
    case 10:
        scene_begin(stage.a);
        CODE(StreamUpdateCaptureDependencies_v2, "count without array",
             TABLE->StreamUpdateCaptureDependencies_v2(stage.a, NULL, NULL, 2, 1));
        scene_end(CUSHIM_SLOT_StreamUpdateCaptureDependencies_v2, "count without array, end", stage.a);
        break;
    case 11:
        scene_begin(stage.a);
        CODE(StreamUpdateCaptureDependencies_v2, "node NULL",
             TABLE->StreamUpdateCaptureDependencies_v2(stage.a, &node, NULL, 1, 1));
        scene_end(CUSHIM_SLOT_StreamUpdateCaptureDependencies_v2, "node NULL, end", stage.a);
        break;
    case 12:
        scene_begin(stage.a);
        CODE(StreamIsCapturing_v1, "NULL in capture", TABLE->StreamIsCapturing_v1(stage.a, NULL));
        scene_end(CUSHIM_SLOT_StreamIsCapturing_v1, "NULL in capture, end", stage.a);
        status = CU_STREAM_CAPTURE_STATUS_NONE;
        break;
    default:
        break;
    }
    (void)status;
}

static void risk_graphs(int number)
{
    CUgraphNode node;
    CUgraph graph = new_graph(&node);
    CUgraphExec executable = UNTOUCHED_POINTER;
    CUgraphNode other = NULL;
    CUgraphEdgeData data[1];
    size_t count = 1;
    memset(data, 0, sizeof data);
    switch (number) {
    case 0:
        CODE(GraphInstantiateWithFlags_v1, "NULL", TABLE->GraphInstantiateWithFlags_v1(NULL, graph, 0));
        break;
    case 1:
        CODE(GraphInstantiateWithFlags_v1, "graph NULL", TABLE->GraphInstantiateWithFlags_v1(&executable, NULL, 0));
        break;
    case 2:
        CODE(GraphAddDependencies_v2, "graph NULL", TABLE->GraphAddDependencies_v2(NULL, &node, &node, NULL, 1));
        break;
    case 3:
        CODE(GraphAddDependencies_v2, "arrays NULL", TABLE->GraphAddDependencies_v2(graph, NULL, NULL, NULL, 1));
        break;
    case 4:
        CODE(GraphAddDependencies_v2, "node NULL", TABLE->GraphAddDependencies_v2(graph, &other, &node, NULL, 1));
        break;
    case 5:
        CODE(GraphRemoveDependencies_v2, "graph NULL", TABLE->GraphRemoveDependencies_v2(NULL, &node, &node, NULL, 1));
        break;
    case 6:
        CODE(GraphRemoveDependencies_v2, "arrays NULL", TABLE->GraphRemoveDependencies_v2(graph, NULL, NULL, NULL, 1));
        break;
    case 7:
        CODE(GraphGetEdges_v2, "count NULL", TABLE->GraphGetEdges_v2(graph, NULL, NULL, NULL, NULL));
        break;
    case 8:
        CODE(GraphGetEdges_v2, "count NULL with arrays", TABLE->GraphGetEdges_v2(graph, &node, &node, data, NULL));
        break;
    case 9:
        CODE(GraphGetEdges_v2, "graph NULL", TABLE->GraphGetEdges_v2(NULL, NULL, NULL, NULL, &count));
        break;
    case 10:
        CODE(GraphNodeGetDependencies_v2, "node NULL", TABLE->GraphNodeGetDependencies_v2(NULL, NULL, NULL, &count));
        break;
    case 11:
        CODE(GraphNodeGetDependencies_v2, "count NULL", TABLE->GraphNodeGetDependencies_v2(node, &other, data, NULL));
        break;
    case 12:
        CODE(GraphNodeGetDependentNodes_v2, "node NULL",
             TABLE->GraphNodeGetDependentNodes_v2(NULL, NULL, NULL, &count));
        break;
    case 13:
        CODE(GraphNodeGetDependentNodes_v2, "count NULL",
             TABLE->GraphNodeGetDependentNodes_v2(node, &other, data, NULL));
        break;
    default:
        break;
    }
}

enum { CONTEXTS = 11, STREAMS = 13, GRAPHS = 14 };
const int scene_risky_count = CONTEXTS + STREAMS + GRAPHS;

void scene_risky(int number)
{
    if (number < CONTEXTS)
        risk_contexts(number);
    else if (number < CONTEXTS + STREAMS)
        risk_streams(number - CONTEXTS);
    else
        risk_graphs(number - CONTEXTS - STREAMS);
}
