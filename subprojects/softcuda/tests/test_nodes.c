/* SPDX-License-Identifier: MIT */
/* Nodes of each kind: their parameters are read, and changed in a graph and in an executable; launches use them. */
#include "support.h"

#include <string.h>

#define IS(code, ...) assert_cu(code, cu->__VA_ARGS__)

static CUgraph graph;
static CUgraphNode other; /* of no kind that is asked for */

static int setup(void **state)
{
    support_setup(state);
    IS(0, GraphCreate_v1(&graph, 0));
    IS(0, GraphAddEmptyNode_v1(&other, graph, NULL, 0));
    return 0;
}

static int teardown(void **state)
{
    IS(0, GraphDestroy_v1(graph));
    return support_teardown(state);
}

static void launch(CUgraphExec exec)
{
    IS(0, GraphLaunch_v1(exec, NULL));
    IS(0, StreamSynchronize_v1(NULL));
}

static void launch_graph(void)
{
    CUgraphExec exec = support_instantiate(graph);
    launch(exec);
    IS(0, GraphExecDestroy_v1(exec));
}

static unsigned launched[3]; /* the grid, the block and the shared memory of the latest launch, as one number each */

static void note(struct softcuda_launch *of)
{
    launched[0] = of->grid[0] * 100 + of->grid[1] * 10 + of->grid[2];
    launched[1] = of->block[0] * 100 + of->block[1] * 10 + of->block[2];
    launched[2] = (unsigned)of->shared_bytes;
}

static CUfunction note_function(void)
{
    CUmodule module;
    CUfunction function = NULL;
    assert_int_equal(control->register_kernel("note", note, NULL, 0), 0);
    IS(0, ModuleLoadData_v1(&module, "any image"));
    IS(0, ModuleGetFunction_v1(&function, module, "note"));
    return function;
}

TEST_WITH(test_kernel_node_when_its_params_are_set_then_are_returned_and_used, setup, teardown)
{
    CUDA_KERNEL_NODE_PARAMS_v2 got, params = {note_function(), 1, 2, 3, 4, 5, 6, 7, NULL, NULL, NULL, NULL};
    CUDA_KERNEL_NODE_PARAMS_v1 older, wrong = {.gridDimX = 1};
    CUgraphNode node;
    IS(1, GraphAddKernelNode_v1(&node, graph, NULL, 0, NULL));
    IS(400, GraphAddKernelNode_v1(&node, graph, NULL, 0, &wrong));
    IS(0, GraphAddKernelNode_v2(&node, graph, NULL, 0, &params));
    IS(1, GraphKernelNodeGetParams_v2(node, NULL));
    IS(1, GraphKernelNodeGetParams_v1(node, NULL));
    IS(0, GraphKernelNodeGetParams_v2(node, &got));
    assert_true(got.func == params.func && got.gridDimX == 1);
    IS(0, GraphKernelNodeGetParams_v1(node, &older));
    assert_true(older.func == params.func && older.gridDimX == 1 && older.gridDimY == 2 && older.gridDimZ == 3);
    assert_true(older.blockDimX == 4 && older.blockDimY == 5 && older.blockDimZ == 6 && older.sharedMemBytes == 7);
    CUgraphExec exec = support_instantiate(graph);
    launch(exec);
    assert_true(launched[0] == 123 && launched[1] == 456 && launched[2] == 7);
    params.gridDimX = older.gridDimX = 9;
    IS(1, GraphExecKernelNodeSetParams_v1(exec, node, NULL));
    IS(1, GraphExecKernelNodeSetParams_v2(exec, other, &params));
    IS(0, GraphExecKernelNodeSetParams_v1(exec, node, &older));
    launch(exec);
    assert_int_equal(launched[0], 923);
    IS(1, GraphKernelNodeSetParams_v1(node, NULL));
    older.gridDimX = 8;
    IS(0, GraphKernelNodeSetParams_v1(node, &older));
    launch_graph();
    assert_int_equal(launched[0], 823);
    params.blockDimX = 1024; /* a block of more than 1024 threads */
    IS(1, GraphKernelNodeSetParams_v2(node, &params));
    params.blockDimX = 0;
    IS(1, GraphKernelNodeSetParams_v2(node, &params));
    IS(0, GraphExecDestroy_v1(exec));
}

TEST_WITH(test_host_node_when_its_params_are_set_then_are_returned_and_used, setup, teardown)
{
    int calls[3] = {0, 0, 0};
    CUDA_HOST_NODE_PARAMS got, params = {support_count, &calls[1]};
    CUgraphNode node = support_host_node(graph, NULL, 0, support_count, &calls[0]);
    CUgraphExec exec = support_instantiate(graph);
    IS(1, GraphAddHostNode_v1(&node, graph, NULL, 0, NULL));
    IS(1, GraphHostNodeGetParams_v1(node, NULL));
    IS(0, GraphHostNodeGetParams_v1(node, &got));
    assert_true(got.fn == support_count && got.userData == &calls[0]);
    IS(1, GraphHostNodeSetParams_v1(node, NULL));
    IS(0, GraphHostNodeSetParams_v1(node, &params));
    launch_graph();
    assert_true(calls[0] == 0 && calls[1] == 1);
    params.userData = &calls[2];
    IS(1, GraphExecHostNodeSetParams_v1(exec, node, NULL));
    IS(0, GraphExecHostNodeSetParams_v1(exec, node, &params));
    launch(exec);
    assert_true(calls[0] == 0 && calls[1] == 1 && calls[2] == 1);
    IS(0, GraphExecDestroy_v1(exec));
}

TEST_WITH(test_node_when_its_params_of_any_kind_are_set_then_launches_use_them, setup, teardown)
{
    int calls[2] = {0, 0};
    CUgraphNode node = support_host_node(graph, NULL, 0, support_count, &calls[0]);
    CUgraphExec exec = support_instantiate(graph);
    CUgraphNodeParams params;
    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_HOST;
    params.host.fn = support_count;
    params.host.userData = &calls[1];
    IS(0, GraphExecNodeSetParams_v1(exec, node, &params));
    launch(exec);
    assert_true(calls[0] == 0 && calls[1] == 1);
    launch_graph();
    assert_true(calls[0] == 1 && calls[1] == 1);
    IS(0, GraphNodeSetParams_v1(node, &params));
    launch_graph();
    assert_true(calls[0] == 1 && calls[1] == 2);
    params.type = CU_GRAPH_NODE_TYPE_EMPTY; /* not the kind of the node */
    IS(1, GraphNodeSetParams_v1(node, &params));
    IS(0, GraphExecDestroy_v1(exec));
}

TEST_WITH(test_copy_and_set_when_their_params_are_set_then_are_returned_and_used, setup, teardown)
{
    unsigned char back[2] = {0, 0};
    CUdeviceptr memory;
    CUgraphNode set, copy;
    CUcontext gone = (CUcontext)(uintptr_t)8;
    IS(0, MemAlloc_v2(&memory, 2));
    CUDA_MEMSET_NODE_PARAMS fill = {.dst = memory, .value = 7, .elementSize = 1, .width = 2, .height = 1}, fill_got;
    CUDA_MEMCPY3D move = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = memory, .dstHost = back}, move_got;
    move.dstMemoryType = CU_MEMORYTYPE_HOST;
    move.WidthInBytes = move.Height = move.Depth = 1;
    IS(201, GraphAddMemsetNode_v1(&set, graph, NULL, 0, &fill, gone));
    IS(201, GraphAddMemcpyNode_v1(&copy, graph, NULL, 0, &move, gone));
    IS(0, GraphAddMemsetNode_v1(&set, graph, NULL, 0, &fill, context));
    IS(0, GraphAddMemcpyNode_v1(&copy, graph, &set, 1, &move, context));
    IS(1, GraphMemsetNodeGetParams_v1(set, NULL));
    IS(0, GraphMemsetNodeGetParams_v1(set, &fill_got));
    IS(1, GraphMemcpyNodeGetParams_v1(copy, NULL));
    IS(0, GraphMemcpyNodeGetParams_v1(copy, &move_got));
    assert_true(fill_got.dst == memory && fill_got.value == 7 && move_got.dstHost == back);
    CUgraphExec exec = support_instantiate(graph);
    fill.value = 9;
    move.dstHost = &back[1];
    IS(0, GraphMemsetNodeSetParams_v1(set, &fill));
    IS(0, GraphMemcpyNodeSetParams_v1(copy, &move));
    launch(exec);
    assert_true(back[0] == 7 && back[1] == 0);
    launch_graph();
    assert_true(back[0] == 7 && back[1] == 9);
    IS(201, GraphExecMemcpyNodeSetParams_v1(exec, copy, &move, gone));
    IS(201, GraphExecMemsetNodeSetParams_v1(exec, set, &fill, gone));
    IS(0, GraphExecMemcpyNodeSetParams_v1(exec, copy, &move, context));
    launch(exec);
    assert_true(back[0] == 7 && back[1] == 7);
    fill.value = 3;
    IS(0, GraphExecMemsetNodeSetParams_v1(exec, set, &fill, context));
    launch(exec);
    assert_true(back[0] == 7 && back[1] == 3);
    IS(0, GraphExecDestroy_v1(exec));
    IS(0, MemFree_v2(memory));
}

TEST_WITH(test_event_node_when_its_event_is_set_then_is_returned_and_used, setup, teardown)
{
    struct gate gate = {0, 0};
    CUgraphNode record, wait;
    CUstream busy = support_stream(1);
    CUevent got = NULL, events[3] = {support_event(0), support_event(0), support_event(0)};
    IS(400, GraphAddEventRecordNode_v1(&record, graph, NULL, 0, NULL));
    IS(0, GraphAddEventWaitNode_v1(&wait, graph, NULL, 0, events[0]));
    IS(0, GraphAddEventRecordNode_v1(&record, graph, &wait, 1, events[1]));
    IS(1, GraphEventRecordNodeGetEvent_v1(record, NULL));
    IS(0, GraphEventRecordNodeGetEvent_v1(record, &got));
    assert_ptr_equal(got, events[1]);
    IS(0, GraphEventWaitNodeGetEvent_v1(wait, &got));
    assert_ptr_equal(got, events[0]);
    CUgraphExec exec = support_instantiate(graph);
    IS(0, GraphEventRecordNodeSetEvent_v1(record, events[2]));
    IS(0, GraphEventRecordNodeGetEvent_v1(record, &got));
    assert_ptr_equal(got, events[2]);
    IS(0, GraphEventWaitNodeSetEvent_v1(wait, events[1]));
    IS(0, GraphEventWaitNodeGetEvent_v1(wait, &got));
    assert_ptr_equal(got, events[1]);
    IS(0, GraphExecEventRecordNodeSetEvent_v1(exec, record, events[2]));
    IS(0, GraphExecEventWaitNodeSetEvent_v1(exec, wait, events[1]));
    IS(0, LaunchHostFunc_v1(busy, support_gate, &gate));
    IS(0, EventRecord_v1(events[1], busy));
    IS(0, GraphLaunch_v1(exec, NULL));
    IS(600, EventQuery_v1(events[2]));
    support_open(&gate);
    IS(0, EventSynchronize_v1(events[2]));
    IS(0, GraphExecDestroy_v1(exec));
}

/* Each kind in one chain, by the call that adds any kind. */
TEST_WITH(test_node_when_added_by_its_type_then_is_launched, setup, teardown)
{
    int calls = 0;
    unsigned words[2] = {0, 0};
    CUdeviceptr memory;
    CUgraph child;
    CUstreamBatchMemOpParams write;
    CUevent event = support_event(0);
    CUgraphNodeParams params[9];
    CUgraphNode node = NULL;
    IS(0, MemAlloc_v2(&memory, 8));
    IS(0, GraphCreate_v1(&child, 0));
    support_host_node(child, NULL, 0, support_count, &calls);
    memset(params, 0, sizeof params);
    memset(&write, 0, sizeof write);
    params[0].type = CU_GRAPH_NODE_TYPE_EMPTY;
    params[1].type = CU_GRAPH_NODE_TYPE_MEMSET;
    memcpy(&params[1].memset, &(CUDA_MEMSET_NODE_PARAMS){memory, 0, 7, 4, 1, 1}, sizeof(CUDA_MEMSET_NODE_PARAMS));
    params[2].type = 12; /* a batch of operations on memory */
    write.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    write.writeValue.address = memory + 4;
    write.writeValue.value = 5;
    params[2].memOp.count = 1;
    params[2].memOp.paramArray = &write;
    params[3].type = CU_GRAPH_NODE_TYPE_MEMCPY;
    params[3].memcpy.copyParams = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = memory};
    params[3].memcpy.copyParams.dstMemoryType = CU_MEMORYTYPE_HOST;
    params[3].memcpy.copyParams.dstHost = words;
    params[3].memcpy.copyParams.WidthInBytes = sizeof words;
    params[3].memcpy.copyParams.Height = params[3].memcpy.copyParams.Depth = 1;
    params[4].type = CU_GRAPH_NODE_TYPE_HOST;
    params[4].host.fn = support_count;
    params[4].host.userData = &calls;
    params[5].type = CU_GRAPH_NODE_TYPE_GRAPH;
    params[5].graph.graph = child;
    params[6].type = CU_GRAPH_NODE_TYPE_KERNEL;
    params[6].kernel.func = note_function();
    params[6].kernel.gridDimX = params[6].kernel.gridDimY = params[6].kernel.gridDimZ = 3;
    params[6].kernel.blockDimX = params[6].kernel.blockDimY = params[6].kernel.blockDimZ = 1;
    params[7].type = CU_GRAPH_NODE_TYPE_WAIT_EVENT;
    params[8].type = CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    params[7].eventWait.event = params[8].eventRecord.event = event;
    for (int i = 0; i < 9; i++) {
        CUgraphNodeType type;
        IS(0, GraphAddNode_v2(&node, graph, i == 0 ? NULL : &node, NULL, i > 0, &params[i]));
        IS(0, GraphNodeGetType_v1(node, &type));
        assert_int_equal(type, params[i].type);
    }
    launch_graph();
    assert_true(words[0] == 7 && words[1] == 5 && calls == 2 && launched[0] == 333);
    IS(1, GraphAddNode_v1(&node, graph, NULL, 0, NULL));
    for (int type = 8; type < 15; type++) {
        params[0].type = (CUgraphNodeType)type;
        if (type != 12)
            IS(type == 14 ? 1 : 801, GraphAddNode_v2(&node, graph, NULL, NULL, 0, &params[0]));
    }
    IS(0, GraphDestroy_v1(child));
    IS(0, MemFree_v2(memory));
}

TEST_WITH(test_executable_when_instantiated_then_reports_its_flags, setup, teardown)
{
    char log[4] = "log";
    cuuint64_t flags = 9;
    CUgraphExec exec;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {.flags = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH};
    IS(0, GraphInstantiateWithParams_v1(&exec, graph, &params));
    assert_int_equal(params.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
    IS(1, GraphExecGetFlags_v1(exec, NULL));
    IS(1, GraphExecGetFlags_v1(NULL, &flags));
    IS(0, GraphExecGetFlags_v1(exec, &flags));
    assert_int_equal(flags, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    IS(0, GraphExecDestroy_v1(exec));
    IS(1, GraphInstantiateWithParams_v1(&exec, graph, NULL));
    IS(1, GraphInstantiateWithParams_v1(&exec, NULL, &params));
    assert_int_equal(params.result_out, CUDA_GRAPH_INSTANTIATE_ERROR);
    params.flags = 16;
    IS(1, GraphInstantiateWithParams_v1(&exec, graph, &params));
    params.flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
    IS(801, GraphInstantiateWithParams_v1(&exec, graph, &params));
    IS(0, GraphInstantiate_v2(&exec, graph, &other, log, sizeof log));
    assert_true(other == NULL && log[0] == '\0');
    IS(0, GraphExecDestroy_v1(exec));
    log[0] = 'l';
    IS(1, GraphInstantiate_v2(NULL, graph, NULL, log, 0));
    assert_int_equal(log[0], 'l'); /* a log of no bytes */
}
