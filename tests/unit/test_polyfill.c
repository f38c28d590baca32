/* SPDX-License-Identifier: MIT */
/*
 * Polyfills where the conformance suite cannot look: when the driver fails in the middle, and between two older
 * functions that do the same. What a polyfill answers, on each driver that needs it, is compared with the answers of a
 * GPU in tests/conformance.
 */
#include "mock.h"

#define STREAM HANDLE(CUstream, 7)
#define CONTEXT HANDLE(CUcontext, 11)
#define GRAPH HANDLE(CUgraph, 5)
#define NODE HANDLE(CUgraphNode, 6)

/* ---- The rules: the slots that a polyfill calls, on both sides of each version that a rule names. Above it, a driver
 * with hidden functions must not answer as one that could not have them ---- */

MOCK_TEST(test_polyfill_when_a_rule_applies_then_its_slots_are_called)
{
    static const struct {
        const char *fake, *hide, *slot, *via; /* "": the slot is missing */
    } rows[] = {
        {"fake_9010", NULL, "LaunchHostFunc_v1", "StreamAddCallback_v1"},
        {"fake_10000", "LaunchHostFunc", "LaunchHostFunc_v1", "StreamAddCallback_v1 StreamIsCapturing_v1"},
        {"fake_10000", "LaunchHostFunc,StreamIsCapturing", "LaunchHostFunc_v1", ""},
        {"fake_10000", NULL, "LaunchHostFunc_v2", "LaunchHostFunc_v1"},
        {"fake_11000", NULL, "EventRecordWithFlags_v1", "EventRecord_v1"},
        {"fake_12040", NULL, "EventElapsedTime_v2", "EventElapsedTime_v1"},
        {"fake_9010", NULL, "StreamIsCapturing_v1", "StreamGetPriority_v1"},
        {"fake_10000", "StreamIsCapturing", "StreamIsCapturing_v1", ""},
        {"fake_10000", NULL, "StreamBeginCapture_v2", "StreamBeginCapture_v1"},
        {"fake_9010", NULL, "StreamGetCaptureInfo_v1", "StreamIsCapturing_v1"},
        {"fake_10010", NULL, "StreamGetCaptureInfo_v2", "StreamGetCaptureInfo_v1"},
        {"fake_12020", NULL, "StreamGetCaptureInfo_v3", "StreamGetCaptureInfo_v2"},
        {"fake_12040", "StreamIsCapturing", "StreamIsCapturing_v1", ""},
        {"fake_12040", "StreamIsCapturing,StreamGetCaptureInfo", "StreamGetCaptureInfo_v3", ""},
        {"fake_12020", NULL, "StreamUpdateCaptureDependencies_v2", "StreamUpdateCaptureDependencies_v1"},
        {"fake_12040", NULL, "CtxSynchronize_v2", "CtxSynchronize_v1 CtxPushCurrent_v2 CtxPopCurrent_v2"},
        {"fake_11000", NULL, "CtxCreate_v3", "CtxCreate_v2"},
        {"fake_11040", NULL, "CtxCreate_v4", "CtxCreate_v3"},
        {"fake_12020", NULL, "StreamGetCtx_v2", "StreamGetCtx_v1"},
        {"fake_12040", NULL, "StreamGetCtx_v2", "StreamGetCtx_v1 StreamGetGreenCtx_v1"},
        {"fake_12040", "StreamGetGreenCtx", "StreamGetCtx_v2", ""},
        {"fake_10010", NULL, "DevicePrimaryCtxRelease_v2", "DevicePrimaryCtxRelease_v1"},
        {"fake_10010", NULL, "GraphInstantiateWithFlags_v1", "GraphInstantiate_v1"},
        {"fake_11000", NULL, "GraphInstantiateWithFlags_v1", "GraphInstantiate_v2"},
        {"fake_12040", "FuncGetParamCount", "FuncGetParamCount_v1", "FuncGetParamInfo_v1 FuncGetName_v1"},
        {"fake_12040", "FuncGetParamCount,FuncGetName", "FuncGetParamCount_v1", ""},
        {"fake_12040", "KernelGetParamCount", "KernelGetParamCount_v1", "KernelGetParamInfo_v1 KernelGetName_v1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct cushim_slot_info info, via;
        enum cushim_slot slot;
        char text[256] = "";
        mock_reset(state);
        mock_load(rows[i].fake, (struct cushim_load_options){.hide = rows[i].hide});
        assert_int_equal(cushim_slot_find(rows[i].slot, &slot), CUDA_SUCCESS);
        assert_int_equal(cushim_slot_get_info(slot, CUSHIM_DEFAULT_STREAM_AS_COMPILED, &info), CUDA_SUCCESS);
        for (size_t j = 0; j < info.via_count; j++) {
            cushim_slot_get_info(info.via[j], CUSHIM_DEFAULT_STREAM_AS_COMPILED, &via);
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", j > 0 ? " " : "", via.name);
        }
        assert_string_equal(text, rows[i].via);
        assert_int_equal(info.state, text[0] != '\0' ? CUSHIM_STATE_POLYFILL : CUSHIM_STATE_MISSING);
    }
}

/* ---- Contexts: each polyfill that changes the current context restores it, on every path ---- */

/* The number of pushed contexts minus the number of popped ones. */
static int depth;

static CUresult CUDAAPI push(CUcontext context)
{
    CUresult result = mock_call("Push", "%u", NUMBER(context));
    depth += result == CUDA_SUCCESS;
    return result;
}

static CUresult CUDAAPI pop(CUcontext *context)
{
    depth--;
    *context = CONTEXT;
    return mock_call("Pop", " ");
}

static CUresult CUDAAPI get_device(CUdevice *device)
{
    CUresult result = mock_call("GetDevice", " ");
    if (result == CUDA_SUCCESS)
        *device = 3;
    return result;
}

static CUresult CUDAAPI synchronize(void)
{
    return mock_call("Synchronize", " ");
}

static CUresult CUDAAPI stream_context(CUstream stream, CUcontext *context)
{
    CUresult result = mock_call("GetCtx", "%u", NUMBER(stream));
    if (result == CUDA_SUCCESS)
        *context = CONTEXT;
    return result;
}

static CUresult CUDAAPI green_context(CUstream stream, CUgreenCtx *green)
{
    CUresult result = mock_call("GetGreenCtx", "%u", NUMBER(stream));
    if (result == CUDA_SUCCESS)
        *green = NULL;
    return result;
}

static CUresult CUDAAPI create_v2(CUcontext *context, unsigned flags, CUdevice device)
{
    *context = CONTEXT;
    return mock_call("Create_v2", "%u, %d", flags, device);
}

static CUresult CUDAAPI create_v3(CUcontext *context, CUexecAffinityParam *params, int count, unsigned flags,
                                  CUdevice device)
{
    *context = CONTEXT;
    return mock_call("Create_v3", "%u, %d, %u, %d", NUMBER(params), count, flags, device);
}

static const struct cushim_dispatch_table *load_contexts(const char *fake)
{
    struct cushim_dispatch_table *hooks = mock_load(fake, (struct cushim_load_options){0});
    hooks->CtxPushCurrent_v2 = push;
    hooks->CtxPopCurrent_v2 = pop;
    hooks->CtxGetDevice_v1 = get_device;
    hooks->CtxSynchronize_v1 = synchronize;
    hooks->StreamGetCtx_v1 = stream_context;
    hooks->StreamGetGreenCtx_v1 = green_context;
    hooks->CtxCreate_v2 = create_v2;
    hooks->CtxCreate_v3 = create_v3;
    depth = 0;
    return cushim_table();
}

MOCK_TEST(test_context_device_when_a_step_fails_then_returns_the_error_and_pops_the_context)
{
    static const char *const steps[] = {"Push", "GetDevice", "Synchronize", "Pop"};
    const struct cushim_dispatch_table *table = load_contexts("fake_12040");
    for (size_t i = 0; i < 4; i++) {
        CUdevice device = -1;
        mock_fail(steps[i], CUDA_ERROR_INVALID_CONTEXT);
        CUresult got = table->CtxGetDevice_v2(&device, CONTEXT);
        assert_int_equal(got, strcmp(steps[i], "Synchronize") == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT);
        assert_int_equal(device, got == CUDA_SUCCESS ? 3 : -1);
        got = table->CtxSynchronize_v2(CONTEXT);
        assert_int_equal(got, strcmp(steps[i], "GetDevice") == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT);
        assert_int_equal(depth, 0);
    }
}

MOCK_TEST(test_stream_device_when_a_step_fails_then_returns_the_error_and_pops_the_context)
{
    static const char *const steps[] = {"GetCtx", "Push", "GetDevice", "Pop"};
    static const char *const calls[] = {"GetCtx(7) ", "GetCtx(7) Push(11) ", "GetCtx(7) Push(11) GetDevice( ) Pop( ) ",
                                        "GetCtx(7) Push(11) GetDevice( ) Pop( ) "};
    const struct cushim_dispatch_table *table = load_contexts("fake_12040");
    for (size_t i = 0; i < 4; i++) {
        CUdevice device = -1;
        mock_fail(steps[i], CUDA_ERROR_INVALID_HANDLE);
        assert_int_equal(table->StreamGetDevice_v1(STREAM, &device), CUDA_ERROR_INVALID_HANDLE);
        mock_assert_calls(calls[i]);
        assert_int_equal(device, -1);
        assert_int_equal(depth, 0);
    }
}

MOCK_TEST(test_stream_context_when_a_question_fails_then_results_are_untouched)
{
    static const char *const questions[] = {"GetGreenCtx", "GetCtx"};
    const struct cushim_dispatch_table *table = load_contexts("fake_12040");
    for (size_t i = 0; i < 2; i++) {
        CUcontext context = HANDLE(CUcontext, 1);
        CUgreenCtx green = HANDLE(CUgreenCtx, 2);
        mock_fail(questions[i], CUDA_ERROR_INVALID_HANDLE);
        assert_int_equal(table->StreamGetCtx_v2(STREAM, &context, &green), CUDA_ERROR_INVALID_HANDLE);
        assert_int_equal(NUMBER(context), 1);
        assert_int_equal(NUMBER(green), 2);
    }
    mock_reset(state); /* a driver without green contexts is not asked for one */
    CUcontext context = NULL;
    CUgreenCtx green = HANDLE(CUgreenCtx, 2);
    assert_int_equal(load_contexts("fake_12020")->StreamGetCtx_v2(STREAM, &context, &green), CUDA_SUCCESS);
    mock_assert_calls("GetCtx(7) ");
    assert_ptr_equal(context, CONTEXT);
    assert_null(green);
}

MOCK_TEST(test_context_create_when_parameters_are_given_then_passes_them_on_or_refuses)
{
    CUcontext context = NULL;
    CUexecAffinityParam affinity;
    CUctxCreateParams params;
    memset(&affinity, 0, sizeof affinity);
    memset(&params, 0, sizeof params);
    params.execAffinityParams = &affinity;
    params.numExecAffinityParams = 1;

    const struct cushim_dispatch_table *table = load_contexts("fake_12040");
    char calls[64];
    snprintf(calls, sizeof calls, "Create_v3(%u, 1, 8, 2) ", NUMBER(&affinity));
    assert_int_equal(table->CtxCreate_v4(&context, &params, 8, 2), CUDA_SUCCESS);
    mock_assert_calls(calls);
    params.cigParams = HANDLE(CUctxCigParam *, 1);
    context = NULL;
    mock_assert_refused(table->CtxCreate_v4(&context, &params, 8, 2), "cuCtxCreate_v4");
    assert_null(context);

    mock_reset(state);
    table = load_contexts("fake_11000");
    params.cigParams = NULL;
    mock_assert_refused(table->CtxCreate_v3(&context, &affinity, 1, 8, 2), "cuCtxCreate_v3");
    mock_assert_refused(table->CtxCreate_v4(&context, &params, 8, 2), "cuCtxCreate_v4");
    assert_null(context);
    params.numExecAffinityParams = -1; /* counts as none */
    assert_int_equal(table->CtxCreate_v3(&context, &affinity, -1, 8, 2), CUDA_SUCCESS);
    assert_int_equal(table->CtxCreate_v4(&context, &params, 8, 2), CUDA_SUCCESS);
    mock_assert_calls("Create_v2(8, 2) Create_v2(8, 2) ");
}

/* ---- Graphs ---- */

static CUresult instantiate(const char *version, CUgraphExec *exec, CUgraph graph, const void *node, const char *log,
                            size_t size)
{
    CUresult result = mock_call(version, "%u, %u, %u, %u", NUMBER(graph), NUMBER(node), NUMBER(log), (unsigned)size);
    if (result == CUDA_SUCCESS)
        *exec = HANDLE(CUgraphExec, 9);
    return result;
}

static CUresult CUDAAPI instantiate_v1(CUgraphExec *exec, CUgraph graph, CUgraphNode *node, char *log, size_t size)
{
    return instantiate("Instantiate_v1", exec, graph, node, log, size);
}

static CUresult CUDAAPI instantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *node, char *log, size_t size)
{
    return instantiate("Instantiate_v2", exec, graph, node, log, size);
}

static CUresult CUDAAPI add_dependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count)
{
    return mock_call("Add", "%u, %u, %u, %u", NUMBER(graph), NUMBER(from), NUMBER(to), (unsigned)count);
}

static CUresult CUDAAPI remove_dependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count)
{
    return mock_call("Remove", "%u, %u, %u, %u", NUMBER(graph), NUMBER(from), NUMBER(to), (unsigned)count);
}

enum { EDGE_COUNT = 2 };

static CUresult answer_query(const char *function, size_t *count)
{
    if (count == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = mock_call(function, " ");
    if (result == CUDA_SUCCESS)
        *count = EDGE_COUNT;
    return result;
}

static CUresult CUDAAPI get_edges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count)
{
    return answer_query("GetEdges", count);
}

static CUresult CUDAAPI get_dependencies(CUgraphNode node, CUgraphNode *nodes, size_t *count)
{
    return answer_query("GetDependencies", count);
}

static CUresult CUDAAPI get_dependents(CUgraphNode node, CUgraphNode *nodes, size_t *count)
{
    return answer_query("GetDependents", count);
}

static const struct cushim_dispatch_table *load_graphs(const char *fake)
{
    struct cushim_dispatch_table *hooks = mock_load(fake, (struct cushim_load_options){0});
    hooks->GraphInstantiate_v1 = instantiate_v1;
    hooks->GraphInstantiate_v2 = instantiate_v2;
    hooks->GraphAddDependencies_v1 = add_dependencies;
    hooks->GraphRemoveDependencies_v1 = remove_dependencies;
    hooks->GraphGetEdges_v1 = get_edges;
    hooks->GraphNodeGetDependencies_v1 = get_dependencies;
    hooks->GraphNodeGetDependentNodes_v1 = get_dependents;
    return cushim_table();
}

MOCK_TEST(test_instantiate_when_flags_are_zero_then_calls_the_newest_older_version)
{
    CUgraphExec exec = NULL;
    assert_int_equal(load_graphs("fake_10010")->GraphInstantiateWithFlags_v1(&exec, GRAPH, 0), CUDA_SUCCESS);
    mock_assert_calls("Instantiate_v1(5, 0, 0, 0) ");
    assert_int_equal(NUMBER(exec), 9);
    mock_reset(state);
    assert_int_equal(load_graphs("fake_11000")->GraphInstantiateWithFlags_v1(&exec, GRAPH, 0), CUDA_SUCCESS);
    mock_assert_calls("Instantiate_v2(5, 0, 0, 0) ");
    exec = NULL;
    mock_fail("Instantiate_v2", CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cushim_table()->GraphInstantiateWithFlags_v1(&exec, GRAPH, 0), CUDA_ERROR_INVALID_VALUE);
    assert_null(exec);
}

MOCK_TEST(test_dependencies_when_any_byte_of_an_edge_is_not_plain_then_only_adding_is_refused)
{
    const struct cushim_dispatch_table *table = load_graphs("fake_12020");
    for (size_t i = 0; i < 3 * sizeof(CUgraphEdgeData); i++) {
        CUgraphEdgeData edges[3];
        memset(edges, 0, sizeof edges);
        ((unsigned char *)edges)[i] = 255;
        mock_assert_refused(table->GraphAddDependencies_v2(GRAPH, NULL, NULL, edges, 3), "cuGraphAddDependencies_v2");
        assert_int_equal(table->GraphRemoveDependencies_v2(GRAPH, NULL, NULL, edges, 3), CUDA_SUCCESS);
        mock_assert_calls("Remove(5, 0, 0, 3) ");
    }
}

typedef CUresult query(const struct cushim_dispatch_table *table, CUgraphNode *nodes, CUgraphEdgeData *edges,
                       size_t *count);

static CUresult ask_edges(const struct cushim_dispatch_table *table, CUgraphNode *nodes, CUgraphEdgeData *edges,
                          size_t *count)
{
    return table->GraphGetEdges_v2(GRAPH, nodes, nodes, edges, count);
}

static CUresult ask_dependencies(const struct cushim_dispatch_table *table, CUgraphNode *nodes, CUgraphEdgeData *edges,
                                 size_t *count)
{
    return table->GraphNodeGetDependencies_v2(NODE, nodes, edges, count);
}

static CUresult ask_dependents(const struct cushim_dispatch_table *table, CUgraphNode *nodes, CUgraphEdgeData *edges,
                               size_t *count)
{
    return table->GraphNodeGetDependentNodes_v2(NODE, nodes, edges, count);
}

static query *const queries[] = {ask_edges, ask_dependencies, ask_dependents};
static const char *const names[] = {"GetEdges", "GetDependencies", "GetDependents"};

MOCK_TEST(test_graph_query_when_edge_data_is_requested_then_edges_are_plain)
{
    static const CUgraphEdgeData plain[EDGE_COUNT];
    const struct cushim_dispatch_table *table = load_graphs("fake_12020");
    for (size_t i = 0; i < 3; i++) {
        CUgraphNode nodes[8] = {0};
        CUgraphEdgeData edges[8];
        size_t count = 8;
        memset(edges, 255, sizeof edges);
        assert_int_equal(queries[i](table, nodes, edges, &count), CUDA_SUCCESS);
        assert_int_equal(count, EDGE_COUNT);
        assert_memory_equal(edges, plain, sizeof plain);
        assert_int_equal(queries[i](table, nodes, NULL, &count), CUDA_SUCCESS);
    }
}

MOCK_TEST(test_graph_query_when_it_fails_then_edges_are_untouched)
{
    const struct cushim_dispatch_table *table = load_graphs("fake_12020");
    for (size_t i = 0; i < 3; i++) {
        CUgraphNode nodes[8];
        CUgraphEdgeData edge;
        size_t count = 1;
        memset(&edge, 255, sizeof edge);
        mock_fail(names[i], CUDA_ERROR_INVALID_HANDLE);
        assert_int_equal(queries[i](table, nodes, &edge, &count), CUDA_ERROR_INVALID_HANDLE);
        assert_int_equal(queries[i](table, nodes, &edge, NULL), CUDA_ERROR_INVALID_VALUE);
        assert_int_equal(edge.type, 255);
        assert_int_equal(count, 1);
    }
}

/* ---- Host functions ---- */

static CUresult CUDAAPI add_callback(CUstream stream, CUstreamCallback callback, void *user_data, unsigned flags)
{
    return mock_call("AddCallback", "%u, %u", NUMBER(stream), flags);
}

static void CUDA_CB host_function(void *unused)
{
}

MOCK_TEST(test_host_function_when_registration_fails_then_the_code_is_passed_on)
{
    mock_load("fake_9010", (struct cushim_load_options){0})->StreamAddCallback_v1 = add_callback;
    mock_fail("AddCallback", CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cushim_table()->LaunchHostFunc_v1(STREAM, host_function, NULL), CUDA_ERROR_INVALID_HANDLE);
    mock_assert_calls("AddCallback(7, 0) ");
}
