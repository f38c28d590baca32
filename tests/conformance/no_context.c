/* SPDX-License-Identifier: MIT */
/* Calls of a thread without a current context. Except for a few calls, a stream, an event or a graph is sufficient. */
#include "fixture.h"

static CUstream stream;
static CUstream other;

static atomic_int calls; /* counted by count_callback(); nobody reads it */

static void use_streams(void *user)
{
    CUstreamCaptureStatus status;
    CUlaunchAttributeValue value;
    unsigned flags;
    int priority;
    expect("query", cu->StreamQuery_v1(stream), CUDA_SUCCESS);
    expect("synchronize", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    expect("flags", cu->StreamGetFlags_v1(stream, &flags), CUDA_SUCCESS);
    expect("priority", cu->StreamGetPriority_v1(stream, &priority), CUDA_SUCCESS);
    expect("callback", cu->StreamAddCallback_v1(stream, count_callback, &calls, 0), CUDA_SUCCESS);
    require("synchronize-callback", cu->StreamSynchronize_v1(stream));
    if (require_slot("is-capturing", S(StreamIsCapturing_v1)))
        expect("is-capturing", cu->StreamIsCapturing_v1(stream, &status), CUDA_SUCCESS);
    if (require_slot("host-function", S(LaunchHostFunc_v1)))
        expect("host-function", add_work(stream), CUDA_SUCCESS);
    if (require_slot("get-attribute", S(StreamGetAttribute_v1)))
        expect("get-attribute",
               cu->StreamGetAttribute_v1(stream, (CUstreamAttrID)CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value),
               CUDA_SUCCESS);
    if (require_slot("copy-attributes", S(StreamCopyAttributes_v1)))
        expect("copy-attributes", cu->StreamCopyAttributes_v1(other, stream), CUDA_SUCCESS);
    expect("legacy-query", cu->StreamQuery_v1(NULL), CUDA_ERROR_INVALID_CONTEXT);
    expect("legacy-flags", cu->StreamGetFlags_v1(NULL, &flags), CUDA_ERROR_INVALID_CONTEXT);
    expect("legacy-callback", cu->StreamAddCallback_v1(NULL, count_callback, &calls, 0), CUDA_ERROR_INVALID_CONTEXT);
}

CHECK(streams, "no_context.stream")
{
    stream = stream_new();
    other = stream_new();
    on_bare_thread(use_streams, NULL);
}

static CUevent events[2];

static void use_events(void *user)
{
    CUevent fresh = NULL;
    float milliseconds;
    expect("create", cu->EventCreate_v1(&fresh, 0), CUDA_ERROR_INVALID_CONTEXT);
    expect("record", cu->EventRecord_v1(events[0], stream), CUDA_SUCCESS);
    expect("record-again", cu->EventRecord_v1(events[1], stream), CUDA_SUCCESS);
    expect("query-later", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    expect("query", cu->EventQuery_v1(events[0]), CUDA_SUCCESS);
    expect("synchronize", cu->EventSynchronize_v1(events[1]), CUDA_SUCCESS);
    expect("elapsed", cu->EventElapsedTime_v1(&milliseconds, events[0], events[1]), CUDA_SUCCESS);
    expect("wait", cu->StreamWaitEvent_v1(stream, events[0], 0), CUDA_SUCCESS);
    expect("destroy", cu->EventDestroy_v2(disown(events[0])), CUDA_SUCCESS);
    expect("destroy-other", cu->EventDestroy_v2(disown(events[1])), CUDA_SUCCESS);
}

CHECK(all_events, "no_context.event")
{
    stream = stream_new();
    for (int i = 0; i < 2; i++)
        events[i] = event_timed();
    on_bare_thread(use_events, NULL);
}

static CUgraph graph;
static CUgraphExec executable;

static void capture(void *user)
{
    expect("begin", cu->StreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
    expect("host-function", add_work(stream), CUDA_SUCCESS);
    expect("end", cu->StreamEndCapture_v1(stream, &graph), CUDA_SUCCESS);
    expect("instantiate", cu->GraphInstantiateWithFlags_v1(&executable, graph, 0), CUDA_ERROR_INVALID_CONTEXT);
}

static void launch(void *user)
{
    if (require_slot("upload", S(GraphUpload_v1)))
        expect("upload", cu->GraphUpload_v1(executable, stream), CUDA_SUCCESS);
    expect("launch", cu->GraphLaunch_v1(executable, stream), CUDA_SUCCESS);
    require("synchronize", cu->StreamSynchronize_v1(stream));
    expect("executable-destroy", cu->GraphExecDestroy_v1(executable), CUDA_SUCCESS);
    expect("graph-destroy", cu->GraphDestroy_v1(graph), CUDA_SUCCESS);
}

CHECK(graphs, "no_context.graph", .needs = {S(GraphInstantiateWithFlags_v1)})
{
    stream = stream_new();
    on_bare_thread(capture, NULL);
    expect("instantiate-with-context", cu->GraphInstantiateWithFlags_v1(&executable, graph, 0), CUDA_SUCCESS);
    on_bare_thread(launch, NULL);
}
