/* SPDX-License-Identifier: MIT */
/* Initialisation, version, error names, devices. */
#include "calls.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool initialised;

bool soft_initialised(void)
{
    return initialised;
}

/* Runs at exit, before the destructors of the program and after its handlers of atexit() that are newer. Not under the
 * lock, which a thread that no longer runs can hold. */
static atomic_bool is_ended;

bool soft_is_ended(void)
{
    return is_ended;
}

static void driver_end(void)
{
    is_ended = true;
}

CUresult soft_Init_v1(unsigned int Flags)
{
    if (queue_is_forked())
        return CUDA_ERROR_NOT_INITIALIZED;
    if (Flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (initialised)
        return CUDA_SUCCESS;
    if (settings_are_refused()) {
        thread_explain("A setting of softcuda is wrong: see the standard error stream");
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult result = devices_find();
    if (result != CUDA_SUCCESS)
        return result;
    queue_start();
    initialised = true;
    (void)atexit(driver_end); /* if the system refuses, calls succeed until the process ends */
    return CUDA_SUCCESS;
}

CUresult soft_DriverGetVersion_v1(int *driverVersion)
{
    if (driverVersion == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *driverVersion = soft_version;
    return CUDA_SUCCESS;
}

CUresult soft_GetErrorName_v1(CUresult error, const char **pStr)
{
    return result_name(error, pStr);
}

CUresult soft_GetErrorString_v1(CUresult error, const char **pStr)
{
    return result_sentence(error, pStr);
}

/* What differs between the GPUs. Sizes are in bytes. */
struct gpu {
    int version; /* of the oldest driver that has this GPU here */
    int compute_capability;
    int multiprocessors;
    int l2_cache;
    int shared_per_multiprocessor;
    int shared_per_block_optin;
    int shared_per_block_reserved;
};

/* A GPU that drivers of that age know. */
static const struct gpu *device_gpu(void)
{
    static const struct gpu gpus[] = {
        {11080, 90, 132, 60 << 20, 228 << 10, 227 << 10, 1 << 10}, /* H200 */
        {10000, 70, 80, 6 << 20, 96 << 10, 96 << 10, 0},           /* V100 */
        {9000, 61, 20, 2 << 20, 96 << 10, 48 << 10, 0},            /* GTX 1080 */
        {0, 50, 5, 2 << 20, 64 << 10, 48 << 10, 0},                /* GTX 750 Ti */
    };
    const struct gpu *gpu = gpus;
    while (gpu->version > soft_version)
        gpu++;
    return gpu;
}

CUresult soft_DeviceGetCount_v1(int *count)
{
    if (queue_is_forked())
        return CUDA_ERROR_NOT_INITIALIZED;
    if (count == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *count = device_count();
    return CUDA_SUCCESS;
}

CUresult soft_DeviceGet_v1(CUdevice *device, int ordinal)
{
    if (device == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device_exists(ordinal))
        return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult soft_DeviceGetName_v1(char *name, int len, CUdevice dev)
{
    if (name == NULL || len <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device_exists(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    snprintf(name, (size_t)len, "softcuda %s", soft_driver);
    return CUDA_SUCCESS;
}

CUresult soft_DeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
    if (bytes == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device_exists(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    *bytes = device_memory();
    return CUDA_SUCCESS;
}

CUresult soft_DeviceComputeCapability_v1(int *major, int *minor, CUdevice dev)
{
    if (major == NULL || minor == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device_exists(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    *major = deny_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device_gpu()->compute_capability / 10);
    *minor = device_gpu()->compute_capability % 10;
    return CUDA_SUCCESS;
}

CUresult soft_DeviceGetUuid_v1(CUuuid *uuid, CUdevice dev)
{
    if (uuid == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device_exists(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    device_uuid(device_in_machine(dev), uuid->bytes);
    return CUDA_SUCCESS;
}

CUresult soft_DeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)
{
    return soft_DeviceGetUuid_v1(uuid, dev);
}

CUresult soft_DeviceGetPCIBusId_v1(char *pciBusId, int len, CUdevice dev)
{
    if (pciBusId == NULL || len <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device_exists(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    snprintf(pciBusId, (size_t)len, "0000:%02X:00.0", (unsigned)device_in_machine(dev) + 1);
    return CUDA_SUCCESS;
}

CUresult soft_DeviceGetByPCIBusId_v1(CUdevice *dev, const char *pciBusId)
{
    if (dev == NULL || pciBusId == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    for (CUdevice device = 0; device < device_count(); device++) {
        char own[24];
        soft_DeviceGetPCIBusId_v1(own, (int)sizeof own, device);
        /* The domain may be omitted. */
        if (strcmp(own, pciBusId) == 0 || strcmp(own + 5, pciBusId) == 0) {
            *dev = device;
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_DEVICE;
}

CUresult soft_DeviceCanAccessPeer_v1(int *canAccessPeer, CUdevice dev, CUdevice peerDev)
{
    if (canAccessPeer == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device_exists(dev) || !device_exists(peerDev))
        return CUDA_ERROR_INVALID_DEVICE;
    *canAccessPeer = dev != peerDev && !deny_peers();
    return CUDA_SUCCESS;
}

/* The attributes that programs use and that all GPUs and devices have in common. All others are 0: not supported. */
static const struct {
    CUdevice_attribute attribute;
    int value;
} attributes[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, MAX_THREADS},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 0x7fffffff},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 48 << 10},
    {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 64 << 10},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {CU_DEVICE_ATTRIBUTE_MAX_PITCH, 0x7fffffff},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1000000},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
    {CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 1000000},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 64},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 2},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, 32},
    {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
    {CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR, 1},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
    {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
};

/* 0 for the other attributes. */
static int attribute_of_gpu(CUdevice_attribute attribute)
{
    const struct gpu *gpu = device_gpu();
    switch ((int)attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        return gpu->compute_capability / 10;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        return gpu->compute_capability % 10;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        return gpu->multiprocessors;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
        return gpu->l2_cache;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
        return gpu->shared_per_multiprocessor;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        return gpu->shared_per_block_optin;
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
        return gpu->shared_per_block_reserved;
    default:
        return 0;
    }
}

CUresult soft_DeviceGetAttribute_v1(int *pi, CUdevice_attribute attrib, CUdevice dev)
{
    enum { LAST_KNOWN = 147 };
    if (pi == NULL || (int)attrib < 1 || (int)attrib > LAST_KNOWN)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device_exists(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    *pi = attribute_of_gpu(attrib);
    if ((int)attrib >= 92 && (int)attrib <= 94) /* each ability of the first version of the value operations */
        *pi = device_has_value_ops();
    if (attrib == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)
        *pi = device_in_machine(dev) + 1;
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++)
        if (attributes[i].attribute == attrib)
            *pi = attributes[i].value;
    *pi = deny_attribute(attrib, *pi);
    return CUDA_SUCCESS;
}
