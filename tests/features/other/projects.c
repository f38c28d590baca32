/* SPDX-License-Identifier: MIT */
/*
 * What three projects ask a driver before they use virtual memory, beside the one call of cushim that answers it. Each
 * function asks the questions of the project in our own words; its source is in features.h.
 */
#include "cushim/cushim.h"

#include <stdio.h>

/* llama.cpp: whether a device has virtual memory, and in which sizes. */
static bool llama_has_virtual_memory(CUdevice device, size_t *granularity)
{
    int supported = 0;
    CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED};
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device;
    *granularity = 0;
    if (cushim_table()->DeviceGetAttribute_v1(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                                              device)
            != CUDA_SUCCESS
        || !supported)
        return false;
    return cushim_table()->MemGetAllocationGranularity_v1(granularity, &properties,
                                                          CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
           == CUDA_SUCCESS;
}

/* NCCL: the driver is for CUDA 12.0 or newer, has cuMemCreate, and the device has virtual memory. */
static bool nccl_has_cumem(CUdevice device)
{
    int version = 0, supported = 0;
    if (cushim_table()->DriverGetVersion_v1(&version) != CUDA_SUCCESS || version < 12000
        || cushim_symbol("cuMemCreate") == NULL)
        return false;
    return cushim_table()->DeviceGetAttribute_v1(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                                                 device)
               == CUDA_SUCCESS
           && supported;
}

/* PyTorch: the functions exist, and memory that can be shared by a descriptor can be created. It finds out by doing. */
static bool pytorch_has_segments(CUdevice device)
{
    int rdma = 0;
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED};
    if (cushim_symbol("cuMemCreate") == NULL || cushim_symbol("cuMemMap") == NULL)
        return false;
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device;
    (void)cushim_table()->DeviceGetAttribute_v1(&rdma, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED,
                                                device);
    properties.allocFlags.gpuDirectRDMACapable = rdma != 0;
    if (cushim_table()->MemCreate_v1(&handle, 2 << 20, &properties, 0) != CUDA_SUCCESS)
        return false;
    return cushim_table()->MemRelease_v1(handle) == CUDA_SUCCESS;
}

static int compare(const char *project, bool theirs, enum cushim_feature feature, CUdevice device)
{
    struct cushim_feature_info info;
    if (cushim_feature_get_info(feature, device, &info) != CUDA_SUCCESS)
        return 1;
    printf("%-10s %-24s %-3s %s\n", project, info.name, theirs ? "yes" : "no", info.usable ? "yes" : info.message);
    return theirs != info.usable;
}

int main(void)
{
    CUdevice device;
    CUcontext context;
    size_t granularity = 0;
    struct cushim_feature_info info;
    if (cushim_init() != CUDA_SUCCESS || cushim_table()->DeviceGet_v1(&device, 0) != CUDA_SUCCESS) {
        puts("skipped: there is no GPU");
        return 77;
    }
    /* PyTorch's question needs a context, cushim's does not. */
    if (cushim_table()->CtxCreate_v2(&context, 0, device) != CUDA_SUCCESS)
        return 1;
    int differing =
        compare("llama.cpp", llama_has_virtual_memory(device, &granularity), CUSHIM_FEATURE_VIRTUAL_MEMORY, device);
    differing += compare("NCCL", nccl_has_cumem(device), CUSHIM_FEATURE_VIRTUAL_MEMORY_VISIBLE, device);
    differing += compare("PyTorch", pytorch_has_segments(device), CUSHIM_FEATURE_EXPANDABLE_SEGMENTS, device);
    if (cushim_feature_get_info(CUSHIM_FEATURE_VIRTUAL_MEMORY, device, &info) != CUDA_SUCCESS)
        return 1;
    for (size_t i = 0; i < info.value_count; i++) {
        if (info.values[i].id == CUSHIM_ASKED_RECOMMENDED_GRANULARITY)
            differing += (size_t)info.values[i].value != granularity;
    }
    printf("%d answers differ\n", differing);
    return differing != 0;
}
