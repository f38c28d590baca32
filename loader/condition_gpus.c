/* SPDX-License-Identifier: MIT */
#include "condition_facts.h"

bool cush_condition_has_gpus(void)
{
    return true;
}

struct condition_gpu cush_condition_gpu(CUdevice device)
{
    const struct cushim_dispatch_table *cuda = cushim_table_legacy();
    struct condition_gpu gpu = {0};
    int major = 0, minor = 0;
    size_t memory = 0;
    /* The attributes came with CUDA 5.0. Before, there was a function. */
    bool has_capability =
        (cuda->DeviceGetAttribute_v1(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) == CUDA_SUCCESS
         && cuda->DeviceGetAttribute_v1(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device) == CUDA_SUCCESS)
        || cuda->DeviceComputeCapability_v1(&major, &minor, device) == CUDA_SUCCESS;
    gpu.capability = has_capability ? major * 1000 + minor * 10 : 0;
    if (cuda->DeviceTotalMem_v2(&memory, device) == CUDA_SUCCESS)
        gpu.memory = memory;
    return gpu;
}

CUresult cush_condition_gpus(struct condition_facts *facts)
{
    const struct cushim_dispatch_table *cuda = cushim_table_legacy();
    int count = 0;
    CUresult result = cuda->DeviceGetCount_v1(&count);
    facts->gpus_why = result == CUDA_ERROR_NOT_INITIALIZED ? "before cuInit, a driver does not report them"
                                                           : "the driver does not report them";
    if (result != CUDA_SUCCESS)
        return result;
    facts->gpu_count = count < CONDITION_GPUS ? count : CONDITION_GPUS;
    for (int i = 0; i < facts->gpu_count; i++) {
        CUdevice device;
        bool is_known = cuda->DeviceGet_v1(&device, i) == CUDA_SUCCESS;
        facts->gpus[i] = is_known ? cush_condition_gpu(device) : (struct condition_gpu){0};
    }
    return CUDA_SUCCESS;
}
