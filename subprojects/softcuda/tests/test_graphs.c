/* SPDX-License-Identifier: MIT */
/* Graphs and captures beyond the checks of the conformance suite: order, edges, child graphs. test_nodes.c has the
 * kinds of nodes. */
#include "support.h"

#include <string.h>

static int order[8], filled;

static void CUDA_CB append(void *value)
{
    order[__atomic_fetch_add(&filled, 1, __ATOMIC_SEQ_CST)] = (int)(uintptr_t)value;
}

TEST(test_graph_when_edges_go_back_then_they_decide_the_order)
{
    CUgraph graph;
    CUgraphNode nodes[3], roots[3];
    size_t count = 3;
    CUstream stream = support_stream(0);
    filled = 0;
    cu->GraphCreate_v1(&graph, 0);
    for (int i = 0; i < 3; i++)
        nodes[i] = support_host_node(graph, NULL, 0, append, (void *)(uintptr_t)i);
    assert_cu(0, cu->GraphAddDependencies_v1(graph, (CUgraphNode[]){nodes[2], nodes[1]},
                                             (CUgraphNode[]){nodes[1], nodes[0]}, 2));
    assert_cu(0, cu->GraphGetRootNodes_v1(graph, roots, &count));
    assert_true(count == 1 && roots[0] == nodes[2]);
    CUgraphExec exec = support_instantiate(graph);
    assert_cu(0, cu->GraphLaunch_v1(exec, stream));
    assert_cu(0, cu->StreamSynchronize_v1(stream));
    assert_true(filled == 3 && order[0] == 2 && order[1] == 1 && order[2] == 0);
    assert_cu(0, cu->GraphExecDestroy_v1(exec));
    assert_cu(0, cu->GraphDestroy_v1(graph));
}

/* Both have three nodes, and one of them has one dependency. */
TEST(test_executable_when_updated_to_other_edges_then_refused)
{
    CUgraph graphs[2];
    CUgraphExecUpdateResultInfo info;
    for (int i = 0; i < 2; i++) {
        cu->GraphCreate_v1(&graphs[i], 0);
        CUgraphNode roots[2] = {support_host_node(graphs[i], NULL, 0, append, NULL),
                                support_host_node(graphs[i], NULL, 0, append, NULL)};
        support_host_node(graphs[i], &roots[i], 1, append, NULL);
    }
    CUgraphExec exec = support_instantiate(graphs[0]);
    if (support_has(12000)) {
        assert_cu(0, cu->GraphExecUpdate_v2(exec, graphs[0], &info));
        assert_cu(910, cu->GraphExecUpdate_v2(exec, graphs[1], &info));
        assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    }
    assert_cu(0, cu->GraphExecDestroy_v1(exec));
    for (int i = 0; i < 2; i++)
        assert_cu(0, cu->GraphDestroy_v1(graphs[i]));
}

TEST(test_executable_when_launched_in_two_streams_then_never_at_once)
{
    struct gate gate = {0, 0};
    int number = 0;
    CUgraph graph;
    CUstream first = support_stream(1), second = support_stream(1);
    cu->GraphCreate_v1(&graph, 0);
    support_host_node(graph, NULL, 0, support_gate, &gate);
    CUgraphExec exec = support_instantiate(graph);
    cu->GraphLaunch_v1(exec, first);
    cu->GraphLaunch_v1(exec, second);
    cu->LaunchHostFunc_v1(second, support_count, &number);
    support_reached(&gate);
    assert_cu(600, cu->StreamQuery_v1(second));
    support_open(&gate);
    assert_cu(0, cu->StreamSynchronize_v1(second));
    assert_int_equal(support_number(&number), 1);
    assert_cu(0, cu->GraphExecDestroy_v1(exec));
    assert_cu(0, cu->GraphDestroy_v1(graph));
}

TEST(test_child_graph_when_launched_then_runs_in_order)
{
    CUgraph graph, child;
    CUgraphNode node, inside;
    CUstream stream = support_stream(0);
    filled = 0;
    cu->GraphCreate_v1(&graph, 0);
    cu->GraphCreate_v1(&child, 0);
    inside = support_host_node(child, NULL, 0, append, (void *)(uintptr_t)1);
    support_host_node(child, &inside, 1, append, (void *)(uintptr_t)2);
    CUgraphNode first = support_host_node(graph, NULL, 0, append, (void *)(uintptr_t)0);
    assert_cu(0, cu->GraphAddChildGraphNode_v1(&node, graph, &first, 1, child));
    support_host_node(graph, &node, 1, append, (void *)(uintptr_t)3);
    assert_cu(0, cu->GraphDestroy_v1(child)); /* the node has a copy */
    CUgraphExec exec = support_instantiate(graph);
    cu->GraphLaunch_v1(exec, stream);
    assert_cu(0, cu->StreamSynchronize_v1(stream));
    assert_int_equal(filled, 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(order[i], i);
    assert_cu(0, cu->GraphExecDestroy_v1(exec));
    assert_cu(0, cu->GraphDestroy_v1(graph));
}

TEST(test_child_graph_when_changed_later_then_executables_keep_their_copy)
{
    int number = 0;
    size_t count = 1;
    CUgraph graph, child, inside;
    CUgraphNode node, host;
    CUstream stream = support_stream(0);
    assert_cu(0, cu->GraphCreate_v1(&graph, 0));
    assert_cu(0, cu->GraphCreate_v1(&child, 0));
    support_host_node(child, NULL, 0, support_count, &number);
    assert_cu(0, cu->GraphAddChildGraphNode_v1(&node, graph, NULL, 0, child));
    CUgraphExec exec = support_instantiate(graph);
    assert_cu(0, cu->GraphChildGraphNodeGetGraph_v1(node, &inside));
    assert_cu(1, cu->GraphDestroy_v1(inside)); /* it belongs to the node */
    assert_cu(0, cu->GraphGetNodes_v1(inside, &host, &count));
    assert_cu(0, cu->GraphDestroyNode_v1(host));
    assert_cu(0, cu->GraphLaunch_v1(exec, stream));
    assert_cu(0, cu->StreamSynchronize_v1(stream));
    assert_int_equal(support_number(&number), 1);
    assert_cu(0, cu->GraphExecDestroy_v1(exec));
    assert_cu(0, cu->GraphDestroy_v1(child));
    assert_cu(0, cu->GraphDestroy_v1(graph));
}

TEST(test_graph_when_it_allocates_then_its_other_nodes_use_that_memory)
{
    char back[64] = {0};
    CUgraph graph;
    CUgraphNode alloc, set, copy, release;
    CUDA_MEMSET_NODE_PARAMS fill = {.value = 7, .elementSize = 1, .width = sizeof back, .height = 1};
    CUDA_MEMCPY3D move = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = back,
                          .WidthInBytes = sizeof back,
                          .Height = 1,
                          .Depth = 1};
    CUDA_MEM_ALLOC_NODE_PARAMS params, same;
    CUdeviceptr freed = 0, foreign;
    if (!support_has(11040))
        skip();
    CUstream stream = support_stream(0);
    memset(&params, 0, sizeof params);
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    cu->GraphCreate_v1(&graph, 0);
    assert_cu(1, cu->GraphAddMemAllocNode_v1(&alloc, graph, NULL, 0, &params)); /* no size */
    params.bytesize = sizeof back;
    assert_cu(1, cu->GraphAddMemAllocNode_v1(&alloc, NULL, NULL, 0, &params));
    assert_true(params.dptr == 0);
    assert_cu(0, cu->GraphAddMemAllocNode_v1(&alloc, graph, NULL, 0, &params));
    assert_cu(0, cu->GraphMemAllocNodeGetParams_v1(alloc, &same));
    assert_true(same.dptr == params.dptr && same.bytesize == sizeof back);
    fill.dst = move.srcDevice = params.dptr;
    assert_cu(0, cu->GraphAddMemsetNode_v1(&set, graph, &alloc, 1, &fill, context));
    assert_cu(0, cu->GraphAddMemcpyNode_v1(&copy, graph, &set, 1, &move, context));
    assert_cu(1, cu->GraphAddMemFreeNode_v1(&release, graph, &copy, 1, params.dptr + 1));
    assert_cu(0, cu->MemAlloc_v2(&foreign, 64));
    assert_cu(1, cu->GraphAddMemFreeNode_v1(&release, graph, &copy, 1, foreign));
    assert_cu(0, cu->MemFree_v2(foreign));
    assert_cu(0, cu->MemAllocAsync_v1(&foreign, 64, stream));
    assert_cu(1, cu->GraphAddMemFreeNode_v1(&release, graph, &copy, 1, foreign));
    assert_cu(0, cu->MemFreeAsync_v1(foreign, stream));
    assert_cu(0, cu->GraphAddMemFreeNode_v1(&release, graph, &copy, 1, params.dptr));
    assert_cu(0, cu->GraphMemFreeNodeGetParams_v1(release, &freed));
    assert_true(freed == params.dptr);
    CUgraphExec exec = support_instantiate(graph);
    for (int i = 0; i < 2; i++) {
        memset(back, 0, sizeof back);
        assert_cu(0, cu->GraphLaunch_v1(exec, stream));
        assert_cu(0, cu->StreamSynchronize_v1(stream));
        assert_true(back[0] == 7 && back[63] == 7);
    }
    assert_cu(0, cu->GraphExecDestroy_v1(exec));
    assert_cu(0, cu->GraphDestroy_v1(graph));
}

/* A graph that was captured: it allocates memory and sets it, and frees it if `frees`. */
static CUgraph capture_allocation(CUstream stream, CUdeviceptr *out_memory, bool frees)
{
    CUgraph graph = NULL;
    assert_cu(0, cu->StreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_cu(0, cu->MemAllocAsync_v1(out_memory, 1024, stream));
    assert_cu(0, cu->MemsetD8Async_v1(*out_memory, 7, 1024, stream));
    if (frees)
        assert_cu(0, cu->MemFreeAsync_v1(*out_memory, stream));
    assert_cu(0, cu->StreamEndCapture_v1(stream, &graph));
    return graph;
}

/* As observed on an H200 with driver 580, as in the tests below. */
TEST(test_memory_of_a_graph_when_not_launched_then_only_its_nodes_know_it)
{
    CUdeviceptr memory = 0;
    unsigned char value = 0;
    unsigned kind = 0;
    if (!support_has(11040))
        skip();
    CUstream stream = support_stream(CU_STREAM_NON_BLOCKING);
    CUgraph graph = capture_allocation(stream, &memory, false);
    assert_cu(1, cu->PointerGetAttribute_v1(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
    assert_cu(500, cu->MemGetAddressRange_v2(NULL, NULL, memory));
    assert_cu(1, cu->MemFree_v2(memory));
    assert_cu(1, cu->MemFreeAsync_v1(memory, stream));
    assert_cu(1, cu->MemcpyDtoH_v2(&value, memory, 1));
    assert_cu(1, cu->MemcpyHtoD_v2(memory, &value, 1));
    assert_cu(1, cu->MemsetD8_v2(memory, 1, 64));
    CUgraphExec exec = support_instantiate(graph);
    assert_cu(1, cu->MemFree_v2(memory));
    assert_cu(0, cu->GraphExecDestroy_v1(exec));
    assert_cu(0, cu->GraphDestroy_v1(graph));
    assert_cu(500, cu->MemGetAddressRange_v2(NULL, NULL, memory)); /* the address went with its nodes */
}

TEST(test_graph_when_its_memory_is_allocated_then_a_launch_is_refused)
{
    CUdeviceptr memory = 0;
    if (!support_has(11040))
        skip();
    CUstream stream = support_stream(CU_STREAM_NON_BLOCKING);
    CUgraph graph = capture_allocation(stream, &memory, false);
    CUgraphExec exec = support_instantiate(graph);
    for (int i = 0; i < 3; i++) {
        unsigned char value = 0;
        assert_cu(0, cu->GraphLaunch_v1(exec, stream));
        assert_cu(1, cu->GraphLaunch_v1(exec, stream));
        assert_cu(0, cu->StreamSynchronize_v1(stream));
        assert_cu(1, cu->GraphLaunch_v1(exec, stream));
        assert_cu(0, cu->MemcpyDtoH_v2(&value, memory, 1));
        assert_int_equal(value, 7);
        if (i == 2) { /* the memory outlives its nodes */
            assert_cu(0, cu->GraphExecDestroy_v1(exec));
            assert_cu(0, cu->GraphDestroy_v1(graph));
        }
        assert_cu(0, i == 1 ? cu->MemFreeAsync_v1(memory, stream) : cu->MemFree_v2(memory));
        assert_cu(1, cu->MemFree_v2(memory));
    }
    assert_cu(500, cu->MemGetAddressRange_v2(NULL, NULL, memory));
}

TEST(test_graph_when_it_or_its_next_launch_frees_its_memory_then_it_can_be_launched_again)
{
    CUdeviceptr memory = 0;
    if (!support_has(11040))
        skip();
    CUstream stream = support_stream(CU_STREAM_NON_BLOCKING);
    for (int frees = 0; frees < 2; frees++) {
        CUgraph graph = capture_allocation(stream, &memory, frees);
        CUgraphExec exec = NULL;
        assert_cu(0, cu->GraphInstantiateWithFlags_v1(&exec, graph,
                                                      frees ? 0 : CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
        for (int i = 0; i < 3; i++)
            assert_cu(0, cu->GraphLaunch_v1(exec, stream));
        assert_cu(0, cu->StreamSynchronize_v1(stream));
        assert_cu(frees, cu->MemFree_v2(memory));
        assert_cu(0, cu->GraphExecDestroy_v1(exec));
        assert_cu(0, cu->GraphDestroy_v1(graph));
    }
}

TEST(test_graph_when_it_allocates_then_it_has_one_executable_and_no_copies)
{
    CUdeviceptr memory = 0;
    CUgraph clone, outer;
    CUgraphNode node, again;
    CUgraphExec second;
    size_t count = 1;
    if (!support_has(11040))
        skip();
    CUstream stream = support_stream(CU_STREAM_NON_BLOCKING);
    CUgraph graph = capture_allocation(stream, &memory, true);
    CUgraphExec exec = support_instantiate(graph);
    assert_cu(801, cu->GraphInstantiateWithFlags_v1(&second, graph, 0));
    assert_cu(801, cu->GraphClone_v1(&clone, graph));
    assert_cu(0, cu->GraphCreate_v1(&outer, 0));
    assert_cu(801, cu->GraphAddChildGraphNode_v1(&node, outer, NULL, 0, graph));
    assert_cu(1, cu->GraphAddMemFreeNode_v1(&again, graph, NULL, 0, memory));
    assert_cu(0, cu->GraphGetNodes_v1(graph, &node, &count));
    assert_cu(801, cu->GraphDestroyNode_v1(node));
    assert_cu(0, cu->GraphExecDestroy_v1(exec));
    exec = support_instantiate(graph);
    assert_cu(0, cu->GraphDestroy_v1(graph));
    assert_cu(0, cu->GraphExecDestroy_v1(exec));
    assert_cu(0, cu->GraphDestroy_v1(outer));
}

TEST(test_graph_when_another_one_frees_its_memory_then_they_are_launched_in_turn)
{
    CUdeviceptr memory = 0;
    CUgraph other;
    CUgraphNode node, again;
    if (!support_has(11040))
        skip();
    CUstream stream = support_stream(CU_STREAM_NON_BLOCKING);
    CUgraph graph = capture_allocation(stream, &memory, false);
    assert_cu(0, cu->GraphCreate_v1(&other, 0));
    assert_cu(0, cu->GraphAddMemFreeNode_v1(&node, other, NULL, 0, memory));
    assert_cu(1, cu->GraphAddMemFreeNode_v1(&again, other, &node, 1, memory));
    CUgraphExec allocates = support_instantiate(graph), frees = support_instantiate(other);
    assert_cu(1, cu->GraphLaunch_v1(frees, stream));
    for (int i = 0; i < 2; i++) {
        assert_cu(0, cu->GraphLaunch_v1(allocates, stream));
        assert_cu(0, cu->GraphLaunch_v1(frees, stream));
        assert_cu(1, cu->GraphLaunch_v1(frees, stream));
    }
    assert_cu(0, cu->StreamSynchronize_v1(stream));
    assert_cu(0, cu->GraphExecDestroy_v1(allocates));
    assert_cu(0, cu->GraphExecDestroy_v1(frees));
    assert_cu(0, cu->GraphDestroy_v1(graph));
    assert_cu(0, cu->GraphDestroy_v1(other));
}

/* A child graph is shared by the copies of its graph until the program obtains it. */
TEST(test_child_graph_when_obtained_from_a_graph_and_its_clone_then_a_change_of_one_is_not_one_of_the_other)
{
    size_t count = 0;
    CUgraph graph, child, clone, of_graph, of_clone;
    CUgraphNode node, copy, inside, found;
    assert_cu(0, cu->GraphCreate_v1(&graph, 0));
    assert_cu(0, cu->GraphCreate_v1(&child, 0));
    support_host_node(child, NULL, 0, support_count, &count);
    assert_cu(0, cu->GraphAddChildGraphNode_v1(&node, graph, NULL, 0, child));
    assert_cu(0, cu->GraphClone_v1(&clone, graph));
    assert_cu(0, cu->GraphNodeFindInClone_v1(&copy, node, clone));
    assert_cu(0, cu->GraphChildGraphNodeGetGraph_v1(node, &of_graph));
    assert_cu(0, cu->GraphChildGraphNodeGetGraph_v1(copy, &of_clone));
    assert_ptr_not_equal(of_graph, of_clone);
    count = 1;
    assert_cu(0, cu->GraphGetNodes_v1(of_graph, &inside, &count));
    assert_cu(0, cu->GraphNodeFindInClone_v1(&found, inside, of_clone));
    assert_ptr_not_equal(found, inside);
    assert_cu(0, cu->GraphDestroyNode_v1(inside));
    assert_cu(0, cu->GraphGetNodes_v1(of_clone, NULL, &count));
    assert_int_equal(count, 1);
    assert_cu(0, cu->GraphChildGraphNodeGetGraph_v1(node, &of_clone));
    assert_ptr_equal(of_graph, of_clone);
    assert_cu(0, cu->GraphDestroy_v1(clone));
    assert_cu(0, cu->GraphDestroy_v1(child));
    assert_cu(0, cu->GraphDestroy_v1(graph));
}

static void nothing(struct softcuda_launch *launch)
{
}

/* Each kind of edge from a kernel and from a host function, as driver 580 answered on an H200. */
TEST(test_edge_when_it_has_ports_then_only_a_kernel_has_them)
{
    static const struct {
        unsigned char type, from_port, to_port;
        CUresult from_kernel;
    } rows[] = {
        {CU_GRAPH_DEPENDENCY_TYPE_DEFAULT, 0, 0, 0},      {CU_GRAPH_DEPENDENCY_TYPE_DEFAULT, 0, 1, 1},
        {CU_GRAPH_DEPENDENCY_TYPE_DEFAULT, 1, 0, 1},      {CU_GRAPH_DEPENDENCY_TYPE_DEFAULT, 2, 0, 0},
        {CU_GRAPH_DEPENDENCY_TYPE_DEFAULT, 2, 1, 1},      {CU_GRAPH_DEPENDENCY_TYPE_DEFAULT, 3, 0, 1},
        {CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC, 0, 0, 1}, {CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC, 1, 0, 0},
        {CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC, 1, 1, 1}, {CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC, 2, 0, 0},
        {CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC, 3, 0, 1}, {2, 1, 0, 1},
    };
    CUmodule module;
    CUDA_KERNEL_NODE_PARAMS params = {.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1};
    int calls = 0;
    if (!support_has(12030))
        skip();
    params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    assert_int_equal(control->register_kernel("nothing", nothing, NULL, 0), 0);
    assert_cu(0, cu->ModuleLoadData_v1(&module, "any image"));
    assert_cu(0, cu->ModuleGetFunction_v1(&params.func, module, "nothing"));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CUgraphEdgeData edge = {.type = rows[i].type, .from_port = rows[i].from_port, .to_port = rows[i].to_port};
        CUgraph graph;
        CUgraphNode from, to;
        cu->GraphCreate_v1(&graph, 0);
        assert_cu(0, cu->GraphAddKernelNode_v2(&from, graph, NULL, 0, &params));
        assert_cu(0, cu->GraphAddKernelNode_v2(&to, graph, NULL, 0, &params));
        assert_cu(rows[i].from_kernel, cu->GraphAddDependencies_v2(graph, &from, &to, &edge, 1));
        from = support_host_node(graph, NULL, 0, support_count, &calls);
        assert_cu(i == 0 ? 0 : 1, cu->GraphAddDependencies_v2(graph, &from, &to, &edge, 1));
        assert_cu(0, cu->GraphDestroy_v1(graph));
    }
}

TEST(test_capture_info_when_work_is_plain_then_its_edges_have_no_type)
{
    CUstreamCaptureStatus status;
    CUgraph graph = NULL;
    const CUgraphNode *nodes = NULL;
    const CUgraphEdgeData *edges = NULL;
    size_t count = 0;
    int number = 0;
    if (!support_has(12030))
        skip();
    CUstream stream = support_stream(0);
    assert_cu(0, cu->StreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    assert_cu(0, cu->LaunchHostFunc_v1(stream, support_count, &number));
    assert_cu(0, cu->StreamGetCaptureInfo_v3(stream, &status, NULL, NULL, &nodes, &edges, &count));
    assert_int_equal(count, 1);
    assert_int_equal(edges[0].type, 0);
    assert_cu(0, cu->StreamEndCapture_v1(stream, &graph));
    assert_cu(0, cu->GraphDestroy_v1(graph));
}

TEST(test_capturing_stream_when_destroyed_then_its_side_streams_do_not_capture)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    int number = 0;
    if (!support_has(10010))
        skip();
    CUstream stream = support_stream(0), side = support_stream(0);
    CUevent fork = support_event(CU_EVENT_DISABLE_TIMING);
    assert_cu(0, cu->StreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_cu(0, cu->EventRecord_v1(fork, stream));
    assert_cu(0, cu->StreamWaitEvent_v1(side, fork, 0));
    assert_cu(0, cu->LaunchHostFunc_v1(side, support_count, &number));
    assert_cu(0, cu->StreamDestroy_v2(stream));
    assert_cu(0, cu->StreamIsCapturing_v1(side, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
    assert_cu(0, cu->StreamSynchronize_v1(side));
}
