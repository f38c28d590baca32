/* SPDX-License-Identifier: MIT */
/* Calls of a thread without a current context. Except for a few calls, a stream, an event or a graph is sufficient. */
#include "fixture.h"

static CUstream stream;
static CUstream other;

static atomic_int calls; /* counted by count_callback(); nobody reads it */

static void use_streams(void *user)
{
    (void)user;
    CUstreamCaptureStatus status;
    CUlaunchAttributeValue value;
    unsigned flags;
    int priority;
    rule("query", cu->StreamQuery_v1(stream), CUDA_SUCCESS);
    rule("synchronize", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    rule("flags", cu->StreamGetFlags_v1(stream, &flags), CUDA_SUCCESS);
    rule("priority", cu->StreamGetPriority_v1(stream, &priority), CUDA_SUCCESS);
    rule("callback", cu->StreamAddCallback_v1(stream, count_callback, &calls, 0), CUDA_SUCCESS);
    need("synchronize-callback", cu->StreamSynchronize_v1(stream));
    if (have("is-capturing", S(StreamIsCapturing_v1)))
        rule("is-capturing", cu->StreamIsCapturing_v1(stream, &status), CUDA_SUCCESS);
    if (have("host-function", S(LaunchHostFunc_v1)))
        rule("host-function", add_work(stream), CUDA_SUCCESS);
    if (have("get-attribute", S(StreamGetAttribute_v1)))
        rule("get-attribute",
             cu->StreamGetAttribute_v1(stream, (CUstreamAttrID)CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value),
             CUDA_SUCCESS);
    if (have("copy-attributes", S(StreamCopyAttributes_v1)))
        rule("copy-attributes", cu->StreamCopyAttributes_v1(other, stream), CUDA_SUCCESS);
    rule("legacy-query", cu->StreamQuery_v1(NULL), CUDA_ERROR_INVALID_CONTEXT);
    rule("legacy-flags", cu->StreamGetFlags_v1(NULL, &flags), CUDA_ERROR_INVALID_CONTEXT);
    rule("legacy-callback", cu->StreamAddCallback_v1(NULL, count_callback, &calls, 0), CUDA_ERROR_INVALID_CONTEXT);
}

static void streams(void)
{
    stream = stream_new();
    other = stream_new();
    on_bare_thread(use_streams, NULL);
    stream_end(stream);
    stream_end(other);
}

static CUevent events[2];

static void use_events(void *user)
{
    (void)user;
    CUevent fresh = NULL;
    float milliseconds;
    rule("create", cu->EventCreate_v1(&fresh, 0), CUDA_ERROR_INVALID_CONTEXT);
    rule("record", cu->EventRecord_v1(events[0], stream), CUDA_SUCCESS);
    rule("record-again", cu->EventRecord_v1(events[1], stream), CUDA_SUCCESS);
    rule("query-later", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    rule("query", cu->EventQuery_v1(events[0]), CUDA_SUCCESS);
    rule("synchronize", cu->EventSynchronize_v1(events[1]), CUDA_SUCCESS);
    rule("elapsed", cu->EventElapsedTime_v1(&milliseconds, events[0], events[1]), CUDA_SUCCESS);
    rule("wait", cu->StreamWaitEvent_v1(stream, events[0], 0), CUDA_SUCCESS);
    rule("destroy", cu->EventDestroy_v2(events[0]), CUDA_SUCCESS);
    rule("destroy-other", cu->EventDestroy_v2(events[1]), CUDA_SUCCESS);
}

static void all_events(void)
{
    stream = stream_new();
    for (int i = 0; i < 2; i++)
        need("event", cu->EventCreate_v1(&events[i], 0));
    on_bare_thread(use_events, NULL);
    stream_end(stream);
}

static CUgraph graph;
static CUgraphExec executable;

static void capture(void *user)
{
    (void)user;
    rule("begin", cu->StreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
    rule("host-function", add_work(stream), CUDA_SUCCESS);
    rule("end", cu->StreamEndCapture_v1(stream, &graph), CUDA_SUCCESS);
    rule("instantiate", cu->GraphInstantiateWithFlags_v1(&executable, graph, 0), CUDA_ERROR_INVALID_CONTEXT);
}

static void launch(void *user)
{
    (void)user;
    if (have("upload", S(GraphUpload_v1)))
        rule("upload", cu->GraphUpload_v1(executable, stream), CUDA_SUCCESS);
    rule("launch", cu->GraphLaunch_v1(executable, stream), CUDA_SUCCESS);
    need("synchronize", cu->StreamSynchronize_v1(stream));
    rule("executable-destroy", cu->GraphExecDestroy_v1(executable), CUDA_SUCCESS);
    rule("graph-destroy", cu->GraphDestroy_v1(graph), CUDA_SUCCESS);
}

static void graphs(void)
{
    stream = stream_new();
    on_bare_thread(capture, NULL);
    rule("instantiate-with-context", cu->GraphInstantiateWithFlags_v1(&executable, graph, 0), CUDA_SUCCESS);
    on_bare_thread(launch, NULL);
    stream_end(stream);
}

static const struct check checks[] = {
    {"no_context.stream", streams, 0, {0}},
    {"no_context.event", all_events, 0, {0}},
    {"no_context.graph", graphs, 0, {S(GraphInstantiateWithFlags_v1)}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_no_context = {"no_context", checks};
