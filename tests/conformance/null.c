/* SPDX-License-Identifier: MIT */
/* Calls without an output pointer, a handle or an array that they need. Such a call can crash in the driver. */
#include "fixture.h"

/* The arguments of these calls. */
static CUcontext contexts[CONTEXT_COUNT];
static CUstream stream;

static CUgraph graph;
static CUgraphNode node;
static CUgraphNode no_node;

static CUctxCreateParams parameters;
static CUgraphEdgeData data;
static cuuint64_t id;
static size_t count = 1;

static bool open_objects(void)
{
    stream = stream_new();
    if (have("graph", S(GraphCreate_v1))) {
        need("graph", cu->GraphCreate_v1(&graph, 0));
        need("node", cu->GraphAddEmptyNode_v1(&node, graph, NULL, 0));
    }
    return contexts_new(contexts);
}

static void close_objects(void)
{
    stream_end(stream);
    if (graph != NULL)
        need("destroy", cu->GraphDestroy_v1(graph));
    graph = NULL;
    need("context-destroy", cu->CtxDestroy_v2(contexts[CONTEXT_SECOND]));
}

static void call(CUresult (*function)(void), bool captured)
{
    if (!open_objects())
        return;
    if (captured)
        capture_begin(stream);
    saw("code", function());
    saw_fact("untouched", id == 0 && count == 1 && no_node == NULL);
    if (captured)
        rule("end", capture_end(stream), CUDA_SUCCESS);
    close_objects();
}

#define CALL(name, slot, arguments, captured)                                                                          \
    static CUresult make_##name(void)                                                                                  \
    {                                                                                                                  \
        return cu->slot arguments;                                                                                     \
    }                                                                                                                  \
    static void call_##name(void)                                                                                      \
    {                                                                                                                  \
        call(make_##name, captured);                                                                                   \
    }
#include "null_calls.inc"

#define CALL(name, slot, arguments, captured)                                                                          \
    {"null." #name, call_##name, 0, {S(slot), captured ? S(StreamBeginCapture_v2) : S(slot)}},
static const struct check checks[] = {
#include "null_calls.inc"
    {NULL, NULL, 0, {0}},
};

const struct subject subject_null = {"null", checks};
