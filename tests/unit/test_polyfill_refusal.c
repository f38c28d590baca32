/* SPDX-License-Identifier: MIT */
/* Polyfills that refuse what an older driver cannot do: the error names the function that was called. */
#include "mock.h"

#define STREAM HANDLE(CUstream, 7)
#define GRAPH HANDLE(CUgraph, 5)

static size_t dependency_count;

static CUresult CUDAAPI is_capturing(CUstream stream, CUstreamCaptureStatus *status)
{
    *status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI capture_info_v2(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                                        const CUgraphNode **dependencies, size_t *count)
{
    static const CUgraphNode nodes[600];
    *status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    *id = 42;
    *graph = GRAPH;
    *dependencies = nodes;
    *count = dependency_count;
    return CUDA_SUCCESS;
}

static const struct cushim_dispatch_table *load_capture(const char *fake)
{
    struct cushim_dispatch_table *hooks = mock_load(fake, (struct cushim_load_options){0});
    hooks->StreamIsCapturing_v1 = is_capturing;
    hooks->StreamGetCaptureInfo_v2 = capture_info_v2;
    return cushim_table();
}

/* The outputs of a query. Before a call they have the values of `untouched`. */
struct answer {
    CUstreamCaptureStatus status;
    unsigned no_padding; /* results are compared byte by byte */
    cuuint64_t id;
    CUgraph graph;
    const CUgraphNode *dependencies;
    const CUgraphEdgeData *edges;
    size_t count;
};

static const struct answer untouched = {.status = (CUstreamCaptureStatus)77, .id = 77, .count = 77};

static CUresult ask_v2(const struct cushim_dispatch_table *table, struct answer *answer)
{
    *answer = untouched;
    return table->StreamGetCaptureInfo_v2(STREAM, &answer->status, &answer->id, &answer->graph, &answer->dependencies,
                                          &answer->count);
}

static CUresult ask_v3(const struct cushim_dispatch_table *table, struct answer *answer)
{
    *answer = untouched;
    return table->StreamGetCaptureInfo_v3(STREAM, &answer->status, &answer->id, &answer->graph, &answer->dependencies,
                                          &answer->edges, &answer->count);
}

MOCK_TEST(test_capture_info_when_there_are_more_edges_than_we_can_show_then_refused)
{
    const struct cushim_dispatch_table *table = load_capture("fake_12020");
    struct answer answer;
    dependency_count = 512;
    assert_int_equal(ask_v3(table, &answer), CUDA_SUCCESS);
    assert_int_equal(answer.count, 512);
    dependency_count = 513;
    mock_assert_refused(ask_v3(table, &answer), "cuStreamGetCaptureInfo_v3");
    unit_assert_contains(cushim_error_last()->message, "512");
    assert_memory_equal(&answer, &untouched, sizeof untouched);
}

static void CUDA_CB host_function(void *unused)
{
}

/* cuGetProcAddress of such a driver returns the older function for CUDA 13.1, of which the newer one is. */
MOCK_TEST(test_host_function_when_the_driver_declares_it_later_then_the_slot_is_a_polyfill)
{
    unit_load_plain("fake_13010");
    assert_int_equal(unit_state(CUSHIM_SLOT_LaunchHostFunc_v2), CUSHIM_STATE_POLYFILL);
    assert_int_equal(unit_state(CUSHIM_SLOT_MulticastBindMem_v2), CUSHIM_STATE_NATIVE);
}

static CUresult CUDAAPI refuse_flags(CUdevice device, unsigned flags)
{
    return CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE;
}

static CUresult CUDAAPI get_green(CUstream stream, CUgreenCtx *green)
{
    *green = HANDLE(CUgreenCtx, 12);
    return CUDA_SUCCESS;
}

static void load_with_green_contexts(const char *fake)
{
    struct cushim_dispatch_table *hooks = mock_load(fake, (struct cushim_load_options){0});
    hooks->DevicePrimaryCtxSetFlags_v1 = refuse_flags;
    hooks->StreamGetGreenCtx_v1 = get_green;
}

/* Also if another polyfill below it has found the reason. */
MOCK_TEST(test_polyfill_when_it_refuses_then_the_error_names_the_function_that_was_called)
{
    static const CUgraphEdgeData edge = {.type = 1};
    struct answer answer;
    CUcontext context;
    CUgraphExec exec;
    const struct cushim_dispatch_table *table = load_capture("fake_10000");
    mock_assert_refused(table->StreamBeginCapture_v2(STREAM, CU_STREAM_CAPTURE_MODE_GLOBAL), "cuStreamBeginCapture_v2");
    mock_assert_refused(table->StreamBeginCapture_v2(STREAM, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                        "cuStreamBeginCapture_v2");
    mock_assert_refused(table->StreamGetCaptureInfo_v1(STREAM, &answer.status, &answer.id), "cuStreamGetCaptureInfo");
    mock_assert_refused(ask_v2(table, &answer), "cuStreamGetCaptureInfo_v2");
    mock_assert_refused(ask_v3(table, &answer), "cuStreamGetCaptureInfo_v3");

    mock_reset(state);
    load_with_green_contexts("fake_10010");
    mock_assert_refused(cushim_table()->DevicePrimaryCtxSetFlags_v2(2, 4), "cuDevicePrimaryCtxSetFlags_v2");
    mock_assert_refused(cushim_table()->GraphInstantiateWithFlags_v1(&exec, GRAPH, 1), "cuGraphInstantiateWithFlags");
    mock_assert_refused(cushim_table()->EventRecordWithFlags_v1(HANDLE(CUevent, 8), STREAM, 1),
                        "cuEventRecordWithFlags");

    mock_reset(state);
    load_with_green_contexts("fake_12020");
    mock_assert_refused(cushim_table()->StreamUpdateCaptureDependencies_v2(STREAM, NULL, &edge, 1, 0),
                        "cuStreamUpdateCaptureDependencies_v2");

    mock_reset(state);
    load_with_green_contexts("fake_12040");
    mock_assert_refused(cushim_table()->StreamGetCtx_v2(STREAM, &context, NULL), "cuStreamGetCtx_v2");

    mock_reset(state);
    mock_load("fake_12040", (struct cushim_load_options){.hide = "LaunchHostFunc"})->StreamIsCapturing_v1 =
        is_capturing;
    mock_assert_refused(cushim_table()->LaunchHostFunc_v1(STREAM, host_function, NULL), "cuLaunchHostFunc");

    mock_reset(state);
    load_with_green_contexts("fake_13000");
    mock_assert_refused(cushim_table()->LaunchHostFunc_v2(STREAM, host_function, NULL, CU_HOST_TASK_SPINWAIT),
                        "cuLaunchHostFunc_v2");
}
