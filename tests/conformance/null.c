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

static void call(CUresult (*function)(void), bool captured)
{
    stream = stream_new();
    if (cushim_slot_get_state(S(GraphCreate_v1), cu_kind) != CUSHIM_STATE_MISSING) {
        graph = graph_new();
        require("node", cu->GraphAddEmptyNode_v1(&node, graph, NULL, 0));
    }
    contexts_new(contexts);
    if (captured)
        capture_begin(stream);
    expect("code", function(), CUDA_ERROR_INVALID_VALUE);
    expect_true("untouched", id == 0 && count == 1 && no_node == NULL);
    if (captured)
        expect("end", capture_end(stream), CUDA_SUCCESS);
}

#define CALL(name, slot, arguments, captured)                                                                          \
    static CUresult make_##name(void)                                                                                  \
    {                                                                                                                  \
        return cu->slot arguments;                                                                                     \
    }                                                                                                                  \
    CHECK(call_##name, "null." #name, .needs = {S(slot), captured ? S(StreamBeginCapture_v2) : S(slot)})               \
    {                                                                                                                  \
        call(make_##name, captured);                                                                                   \
    }
#include "null_calls.inc"
