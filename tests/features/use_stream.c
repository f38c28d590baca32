/* SPDX-License-Identifier: MIT */
/* Uses of the features of streams and graphs. */
#include "use.h"

#include <string.h>

CUresult use_PER_THREAD_STREAMS(void)
{
    CUdeviceptr address = 0;
    TRY(cu->MemAlloc_v2(&address, USE_SIZE));
    TRY(cushim_table_per_thread()->MemsetD32Async_v1(address, 7, 1, NULL));
    TRY(cushim_table_per_thread()->StreamSynchronize_v1(NULL));
    return use_expect(address, 7);
}

CUresult use_STREAM_PRIORITIES(void)
{
    int least = 0, greatest = 0, priority = 0;
    CUstream stream;
    TRY(cu->CtxGetStreamPriorityRange_v1(&least, &greatest));
    TRY(cu->StreamCreateWithPriority_v1(&stream, CU_STREAM_NON_BLOCKING, greatest));
    TRY(cu->StreamGetPriority_v1(stream, &priority));
    return priority == greatest && greatest < least ? CUDA_SUCCESS : USE_WRONG;
}

CUresult use_STREAM_MEMORY_OPERATIONS(void)
{
    CUdeviceptr address = 0;
    TRY(cu->MemAlloc_v2(&address, 64));
    TRY(cu->StreamWriteValue32_v2(use_stream, address, 7, 0));
    TRY(cu->StreamWaitValue32_v2(use_stream, address, 7, CU_STREAM_WAIT_VALUE_EQ));
    return use_expect(address, 7);
}

CUresult use_STREAM_MEMORY_OPERATIONS_64(void)
{
    CUdeviceptr address = 0;
    TRY(cu->MemAlloc_v2(&address, 64));
    TRY(cu->StreamWriteValue64_v2(use_stream, address, 7, 0));
    TRY(cu->StreamWaitValue64_v2(use_stream, address, 7, CU_STREAM_WAIT_VALUE_EQ));
    return use_expect(address, 7);
}

CUresult use_STREAM_MEMORY_OPERATIONS_V1(void)
{
    CUdeviceptr address = 0;
    TRY(cu->MemAlloc_v2(&address, 64));
    TRY(cu->StreamWriteValue32_v1(use_stream, address, 7, 0));
    TRY(cu->StreamWaitValue32_v1(use_stream, address, 7, CU_STREAM_WAIT_VALUE_EQ));
    return use_expect(address, 7);
}

CUresult use_STREAM_FLUSH(void)
{
    CUstreamBatchMemOpParams operation;
    memset(&operation, 0, sizeof operation);
    operation.flushRemoteWrites.operation = CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
    TRY(cu->StreamBatchMemOp_v2(use_stream, 1, &operation, 0));
    return cu->StreamSynchronize_v1(use_stream);
}

/* A graph that sets 32 bits. */
static CUresult graph_capture(CUdeviceptr address, unsigned value, CUgraph *out_graph)
{
    TRY(cu->StreamBeginCapture_v1(use_stream));
    TRY(cu->MemsetD32Async_v1(address, value, 1, use_stream));
    return cu->StreamEndCapture_v1(use_stream, out_graph);
}

static CUresult graph_run(CUgraph graph, CUdeviceptr address, unsigned value)
{
    CUgraphExec executable;
    TRY(cu->GraphInstantiateWithFlags_v1(&executable, graph, 0));
    TRY(cu->GraphLaunch_v1(executable, use_stream));
    return use_expect(address, value);
}

CUresult use_GRAPHS(void)
{
    CUdeviceptr address = 0;
    CUgraph graph;
    TRY(cu->MemAlloc_v2(&address, 64));
    TRY(graph_capture(address, 7, &graph));
    return graph_run(graph, address, 7);
}

CUresult use_GRAPH_UPDATE(void)
{
    CUdeviceptr address = 0;
    CUgraph first, second;
    CUgraphExec executable;
    CUgraphNode node;
    CUgraphExecUpdateResult outcome;
    TRY(cu->MemAlloc_v2(&address, 64));
    TRY(graph_capture(address, 7, &first));
    TRY(graph_capture(address, 8, &second));
    TRY(cu->GraphInstantiateWithFlags_v1(&executable, first, 0));
    TRY(cu->GraphExecUpdate_v1(executable, second, &node, &outcome));
    TRY(cu->GraphLaunch_v1(executable, use_stream));
    return use_expect(address, 8);
}

CUresult use_GRAPH_MEMORY_NODES(void)
{
    CUgraph graph;
    CUgraphNode allocation, set, release;
    CUgraphExec executable;
    CUDA_MEM_ALLOC_NODE_PARAMS allocated;
    CUDA_MEMSET_NODE_PARAMS filled;
    memset(&allocated, 0, sizeof allocated);
    allocated.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    allocated.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    allocated.poolProps.location.id = use_device;
    allocated.bytesize = USE_SIZE;
    TRY(cu->GraphCreate_v1(&graph, 0));
    TRY(cu->GraphAddMemAllocNode_v1(&allocation, graph, NULL, 0, &allocated));
    memset(&filled, 0, sizeof filled);
    filled.dst = allocated.dptr;
    filled.value = 7;
    filled.elementSize = 4;
    filled.width = 16;
    filled.height = 1;
    TRY(cu->GraphAddMemsetNode_v1(&set, graph, &allocation, 1, &filled, use_context));
    TRY(cu->GraphAddMemFreeNode_v1(&release, graph, &set, 1, allocated.dptr));
    TRY(cu->GraphInstantiateWithFlags_v1(&executable, graph, 0));
    TRY(cu->GraphLaunch_v1(executable, use_stream));
    return cu->StreamSynchronize_v1(use_stream);
}

/* The kernel that would launch the graph needs NVIDIA's device library. The driver accepts the graph for it. */
CUresult use_GRAPH_DEVICE_LAUNCH(void)
{
    CUdeviceptr address = 0;
    CUgraph graph;
    CUgraphExec executable;
    CUDA_GRAPH_INSTANTIATE_PARAMS parameters;
    CUfunction function;
    unsigned value = 7;
    TRY(cu->MemAlloc_v2(&address, 64));
    TRY(use_load_kernel(&function));
    void *arguments[] = {&address, &value};
    TRY(cu->StreamBeginCapture_v1(use_stream));
    TRY(cu->LaunchKernel_v1(function, 1, 1, 1, 1, 1, 1, 0, use_stream, arguments, NULL));
    TRY(cu->StreamEndCapture_v1(use_stream, &graph));
    memset(&parameters, 0, sizeof parameters);
    parameters.flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
    parameters.hUploadStream = use_stream;
    TRY(cu->GraphInstantiateWithParams_v1(&executable, graph, &parameters));
    TRY(cu->GraphLaunch_v1(executable, use_stream));
    return use_expect(address, 7);
}

CUresult use_GRAPH_CONDITIONAL_NODES(void)
{
    CUdeviceptr address = 0;
    CUgraph graph;
    CUgraphNode node, set;
    CUgraphConditionalHandle handle;
    CUgraphNodeParams parameters;
    CUDA_MEMSET_NODE_PARAMS filled;
    TRY(cu->MemAlloc_v2(&address, 64));
    TRY(cu->GraphCreate_v1(&graph, 0));
    TRY(cu->GraphConditionalHandleCreate_v1(&handle, graph, use_context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
    memset(&parameters, 0, sizeof parameters);
    parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    parameters.conditional.handle = handle;
    parameters.conditional.type = CU_GRAPH_COND_TYPE_IF;
    parameters.conditional.size = 1;
    parameters.conditional.ctx = use_context;
    TRY(cu->GraphAddNode_v2(&node, graph, NULL, NULL, 0, &parameters));
    memset(&filled, 0, sizeof filled);
    filled.dst = address;
    filled.value = 7;
    filled.elementSize = 4;
    filled.width = 1;
    filled.height = 1;
    TRY(cu->GraphAddMemsetNode_v1(&set, parameters.conditional.phGraph_out[0], NULL, 0, &filled, use_context));
    return graph_run(graph, address, 7);
}

CUresult use_CAPTURE_TO_GRAPH(void)
{
    CUdeviceptr address = 0;
    CUgraph graph, ended;
    TRY(cu->MemAlloc_v2(&address, 64));
    TRY(cu->GraphCreate_v1(&graph, 0));
    TRY(cu->StreamBeginCaptureToGraph_v1(use_stream, graph, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_GLOBAL));
    TRY(cu->MemsetD32Async_v1(address, 7, 1, use_stream));
    TRY(cu->StreamEndCapture_v1(use_stream, &ended));
    return graph_run(graph, address, 7);
}
