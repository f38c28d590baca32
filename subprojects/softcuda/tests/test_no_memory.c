/* SPDX-License-Identifier: MIT */
/* softcuda when one allocation fails, for each: the call says so, and nothing stays in use. */
#include "../../cushim-testing/allocation.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

static struct made {
    CUcontext context;
    CUstream stream;
    CUevent event;
    CUdeviceptr memory, managed, of_pool;
    CUmemoryPool pool;
    CUmodule module;
    CUgraph graph, captured, clone;
    CUgraphExec exec;
    CUuserObject object;
    void *host;
} made;

static int calls;
static char registered[4096];

static void kernel(struct softcuda_launch *launch)
{
}

static void CUDA_CB callback(CUstream stream, CUresult status, void *number)
{
    support_count(number);
}

#define TRY(...)                                                                                                       \
    do {                                                                                                               \
        CUresult result = cu->__VA_ARGS__;                                                                             \
        if (result != CUDA_SUCCESS)                                                                                    \
            return result;                                                                                             \
    } while (0)

static CUresult memory_use(void)
{
    const CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                  .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    char bytes[64] = {0};
    TRY(MemAlloc_v2(&made.memory, sizeof bytes));
    TRY(MemAllocManaged_v1(&made.managed, 64, CU_MEM_ATTACH_GLOBAL));
    TRY(MemAllocHost_v2(&made.host, 64));
    TRY(MemHostRegister_v2(registered, sizeof registered, 0));
    TRY(MemPoolCreate_v1(&made.pool, &props));
    TRY(DeviceSetMemPool_v1(0, made.pool));
    TRY(MemAllocAsync_v1(&made.of_pool, 64, made.stream));
    TRY(MemsetD8Async_v1(made.memory, 1, 64, made.stream));
    TRY(MemcpyHtoDAsync_v2(made.memory, bytes, sizeof bytes, made.stream));
    TRY(MemcpyDtoH_v2(bytes, made.memory, sizeof bytes));
    return CUDA_SUCCESS;
}

static CUresult nodes_add(CUgraph graph)
{
    CUgraphNode node;
    CUfunction function;
    const CUDA_HOST_NODE_PARAMS host = {support_count, &calls};
    TRY(ModuleLoadData_v1(&made.module, "any image"));
    TRY(ModuleGetFunction_v1(&function, made.module, "no_memory"));
    TRY(LaunchKernel_v1(function, 1, 1, 1, 1, 1, 1, 0, made.stream, (void *[]){&calls}, NULL));
    const CUDA_KERNEL_NODE_PARAMS_v2 launch = {function, 1, 1, 1, 1, 1, 1, 0, (void *[]){&calls}, NULL, NULL, NULL};
    const CUDA_MEMSET_NODE_PARAMS set = {.dst = made.memory, .elementSize = 1, .width = 8, .height = 1};
    TRY(GraphAddEmptyNode_v1(&node, graph, NULL, 0));
    TRY(GraphAddHostNode_v1(&node, graph, &node, 1, &host));
    TRY(GraphAddKernelNode_v2(&node, graph, &node, 1, &launch));
    TRY(GraphAddMemsetNode_v1(&node, graph, &node, 1, &set, made.context));
    TRY(GraphMemsetNodeSetParams_v1(node, &set));
    TRY(GraphAddEventRecordNode_v1(&node, graph, &node, 1, made.event));
    TRY(GraphAddChildGraphNode_v1(&node, graph, &node, 1, made.captured));
    return CUDA_SUCCESS;
}

static CUresult everything(void)
{
    CUgraphExecUpdateResultInfo info;
    memset(&made, 0, sizeof made);
    TRY(CtxCreate_v2(&made.context, 0, 0));
    TRY(StreamCreate_v1(&made.stream, CU_STREAM_NON_BLOCKING));
    TRY(EventCreate_v1(&made.event, 0));
    CUresult result = memory_use();
    if (result != CUDA_SUCCESS)
        return result;
    TRY(LaunchHostFunc_v1(made.stream, support_count, &calls));
    TRY(StreamAddCallback_v1(made.stream, callback, &calls, 0));
    TRY(EventRecord_v1(made.event, made.stream));
    TRY(StreamWaitEvent_v1(made.stream, made.event, 0));
    TRY(EventRecord_v1(made.event, CU_STREAM_PER_THREAD)); /* a stream that the context does not outlive */
    TRY(StreamBeginCapture_v2(made.stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    TRY(LaunchHostFunc_v1(made.stream, support_count, &calls));
    TRY(StreamEndCapture_v1(made.stream, &made.captured));
    TRY(GraphCreate_v1(&made.graph, 0));
    TRY(UserObjectCreate_v1(&made.object, &calls, support_count, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    TRY(GraphRetainUserObject_v1(made.graph, made.object, 1, 0));
    result = nodes_add(made.graph);
    if (result != CUDA_SUCCESS)
        return result;
    TRY(GraphClone_v1(&made.clone, made.graph));
    TRY(GraphInstantiate_v2(&made.exec, made.graph, NULL, NULL, 0));
    TRY(GraphExecUpdate_v2(made.exec, made.clone, &info));
    TRY(GraphLaunch_v1(made.exec, made.stream));
    return cu->StreamSynchronize_v1(made.stream);
}

/* What was not made is refused. */
static void destroy(void)
{
    CUgraph graphs[4] = {made.graph, made.captured, made.clone, NULL};
    cu->StreamEndCapture_v1(made.stream, &graphs[3]);
    cu->StreamSynchronize_v1(made.stream);
    for (int i = 0; i < 4; i++)
        cu->GraphDestroy_v1(graphs[i]);
    cu->GraphExecDestroy_v1(made.exec);
    cu->UserObjectRelease_v1(made.object, 1);
    cu->ModuleUnload_v1(made.module);
    cu->MemFree_v2(made.memory);
    cu->MemFree_v2(made.managed);
    cu->MemFree_v2(made.of_pool);
    cu->MemFreeHost_v1(made.host);
    cu->MemHostUnregister_v1(registered);
    cu->MemPoolDestroy_v1(made.pool);
    cu->EventDestroy_v2(made.event);
    cu->StreamDestroy_v2(made.stream);
    cu->CtxDestroy_v2(made.context);
}

/* Threads of the driver release what they have used a little later. */
static bool uses_no_more_than(long before)
{
    for (int i = 0; i < 1000 && allocation_count() > before; i++)
        support_sleep(1);
    return allocation_count() <= before;
}

TEST(test_call_when_an_allocation_fails_then_it_says_so_and_nothing_stays_in_use)
{
    enum { MAX_KEPT = 16 };
    static const size_t sizes[] = {sizeof(int)};
    assert_int_equal(control->register_kernel("no_memory", kernel, sizes, 1), 0);
    for (int i = 0; i < 2; i++) { /* what stays for the life of the process is allocated */
        assert_cu(0, everything());
        destroy();
    }
    support_sleep(20);
    long before = allocation_count(), failures = 0;
    bool has_failed = true;
    for (int number = 0; has_failed; number++) {
        /* What is lost is lost each time. Threads that the driver keeps for later are a few. */
        int growths = -1;
        do {
            before = growths < 0 ? before : allocation_count();
            growths++;
            allocation_fail(number);
            CUresult result = everything();
            has_failed = allocation_failed();
            assert_true(result == CUDA_SUCCESS || result == CUDA_ERROR_OUT_OF_MEMORY);
            failures += growths == 0 && result != CUDA_SUCCESS;
            destroy();
        } while (!uses_no_more_than(before) && growths < MAX_KEPT);
        if (growths == MAX_KEPT)
            fail_msg("allocation %d fails: %ld blocks stay in use", number, allocation_count() - before);
    }
    assert_true(failures > 60);
}
