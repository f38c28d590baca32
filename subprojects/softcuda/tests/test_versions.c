/* SPDX-License-Identifier: MIT */
/* What softcuda refuses below a CUDA version although it has the function. This program runs on the versions on both
 * sides of each limit; the others, on the oldest and the newest version that they can use. */
#include "support.h"

#include <string.h>

static CUresult create_context_that_synchronizes_copies(void)
{
    CUcontext created;
    CUresult result = cu->CtxCreate_v2(&created, CU_CTX_SYNC_MEMOPS, 0);
    return result == CUDA_SUCCESS ? cu->CtxDestroy_v2(created) : result;
}

static CUresult instantiate_with_priorities(void)
{
    CUgraph graph;
    CUgraphExec exec;
    assert_cu(0, cu->GraphCreate_v1(&graph, 0));
    CUresult result = cu->GraphInstantiateWithFlags_v1(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
    assert_cu(0, cu->GraphDestroy_v1(graph));
    return result == CUDA_SUCCESS ? cu->GraphExecDestroy_v1(exec) : result;
}

/* SOFTCUDA_VALUE_OPS=1 */
static CUresult batch_with_barrier(void)
{
    CUstreamBatchMemOpParams item;
    memset(&item, 0, sizeof item);
    item.memoryBarrier.operation = CU_STREAM_MEM_OP_BARRIER;
    return cu->StreamBatchMemOp_v1(support_stream(0), 1, &item, 0);
}

/* The values are valid, as they are those of the stream. */
static CUresult set_attribute(CUlaunchAttributeID attribute)
{
    CUlaunchAttributeValue value;
    CUstream stream = support_stream(0);
    memset(&value, 0, sizeof value);
    CUresult got = cu->StreamGetAttribute_v1(stream, attribute, &value);
    CUresult set = cu->StreamSetAttribute_v1(stream, attribute, &value);
    assert_cu(got, set);
    return set;
}

static CUresult set_priority(void)
{
    return set_attribute(CU_LAUNCH_ATTRIBUTE_PRIORITY);
}

static CUresult set_domain_map(void)
{
    return set_attribute(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP);
}

static CUresult set_domain(void)
{
    return set_attribute(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN);
}

TEST(test_value_when_newer_than_the_driver_then_refused)
{
    static const struct {
        int function_since, since;
        CUresult (*call)(void);
    } rows[] = {
        {3020, 12010, create_context_that_synchronizes_copies},
        {11040, 11070, instantiate_with_priorities},
        {8000, 11070, batch_with_barrier},
        {11000, 12000, set_priority},
        {11000, 12000, set_domain_map},
        {11000, 12000, set_domain},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (support_has(rows[i].function_since))
            assert_cu(support_has(rows[i].since) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE, rows[i].call());
}

TEST(test_device_when_the_driver_has_a_version_then_a_gpu_that_it_knows)
{
    static const struct {
        int since, major, minor;
    } gpus[] = {{11080, 9, 0}, {10000, 7, 0}, {9000, 6, 1}, {0, 5, 0}};
    size_t i = 0;
    int major, minor;
    while (!support_has(gpus[i].since))
        i++;
    assert_cu(0, cu->DeviceComputeCapability_v1(&major, &minor, 0));
    assert_int_equal(major, gpus[i].major);
    assert_int_equal(minor, gpus[i].minor);
}
