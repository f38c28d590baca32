/* SPDX-License-Identifier: MIT */
/* Uses of the features of memory. */
#include "use.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

CUresult use_compare(CUdeviceptr address, size_t size)
{
    unsigned char bytes[64];
    TRY(cu->MemcpyDtoH_v2(bytes, address + size - sizeof bytes, sizeof bytes));
    for (size_t i = 0; i < sizeof bytes; i++) {
        if (bytes[i] != USE_BYTE)
            return USE_WRONG;
    }
    return CUDA_SUCCESS;
}

CUresult use_fill(CUdeviceptr address, size_t size)
{
    TRY(cu->MemsetD8Async_v1(address, USE_BYTE, size, use_stream));
    TRY(cu->StreamSynchronize_v1(use_stream));
    return use_compare(address, size);
}

CUresult use_expect(CUdeviceptr address, unsigned value)
{
    unsigned found = 0;
    TRY(cu->StreamSynchronize_v1(use_stream));
    TRY(cu->MemcpyDtoH_v2(&found, address, sizeof found));
    return found == value ? CUDA_SUCCESS : USE_WRONG;
}

CUresult use_UNIFIED_ADDRESSING(void)
{
    void *host = NULL;
    CUdeviceptr address = 0;
    CUmemorytype type = (CUmemorytype)0;
    TRY(cu->MemHostAlloc_v1(&host, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    TRY(cu->MemHostGetDevicePointer_v2(&address, host, 0));
    TRY(cu->PointerGetAttribute_v1(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
    return address == (CUdeviceptr)(size_t)host && type == CU_MEMORYTYPE_HOST ? CUDA_SUCCESS : USE_WRONG;
}

CUresult use_STREAM_ORDERED_ALLOCATION(void)
{
    CUdeviceptr address = 0;
    TRY(cu->MemAllocAsync_v1(&address, USE_SIZE, use_stream));
    TRY(use_fill(address, USE_SIZE));
    TRY(cu->MemFreeAsync_v1(address, use_stream));
    return cu->StreamSynchronize_v1(use_stream);
}

CUresult use_pool(CUmemAllocationHandleType type, CUmemoryPool *out_pool)
{
    CUmemPoolProps properties;
    memset(&properties, 0, sizeof properties);
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.handleTypes = type;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = use_device;
    return cu->MemPoolCreate_v1(out_pool, &properties);
}

CUresult use_MEMORY_POOLS(void)
{
    CUmemoryPool pool;
    CUdeviceptr address = 0;
    TRY(use_pool(CU_MEM_HANDLE_TYPE_NONE, &pool));
    TRY(cu->MemAllocFromPoolAsync_v1(&address, USE_SIZE, pool, use_stream));
    return use_fill(address, USE_SIZE);
}

CUresult use_POOL_DESCRIPTORS(void)
{
    CUmemoryPool pool, imported;
    CUdeviceptr address = 0;
    int descriptor = -1;
    TRY(use_pool(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, &pool));
    TRY(cu->MemAllocFromPoolAsync_v1(&address, USE_SIZE, pool, use_stream));
    TRY(use_fill(address, USE_SIZE));
    TRY(cu->MemPoolExportToShareableHandle_v1(&descriptor, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    return cu->MemPoolImportFromShareableHandle_v1(&imported, (void *)(size_t)descriptor,
                                                   CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
}

CUresult use_POOL_FABRIC_HANDLES(void)
{
    CUmemoryPool pool;
    CUmemFabricHandle handle;
    TRY(use_pool(CU_MEM_HANDLE_TYPE_FABRIC, &pool));
    return cu->MemPoolExportToShareableHandle_v1(&handle, pool, CU_MEM_HANDLE_TYPE_FABRIC, 0);
}

static CUmemAllocationProp virtual_properties(CUmemAllocationHandleType type, unsigned char rdma)
{
    CUmemAllocationProp properties;
    memset(&properties, 0, sizeof properties);
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.requestedHandleTypes = type;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = use_device;
    properties.allocFlags.gpuDirectRDMACapable = rdma;
    return properties;
}

/* The granularity that the feature reports. */
static CUresult virtual_size(size_t *out_size)
{
    struct cushim_feature_info info;
    *out_size = USE_SIZE;
    TRY(cushim_feature_get_info(CUSHIM_FEATURE_VIRTUAL_MEMORY, use_device, &info));
    for (size_t i = 0; i < info.value_count; i++) {
        if (info.values[i].id == CUSHIM_PROPERTY_GRANULARITY)
            *out_size = (size_t)info.values[i].value;
    }
    return CUDA_SUCCESS;
}

CUresult use_map(CUmemGenericAllocationHandle handle, CUdeviceptr *out_address, size_t *out_size)
{
    CUmemAccessDesc access;
    TRY(virtual_size(out_size));
    TRY(cu->MemAddressReserve_v1(out_address, *out_size, 0, 0, 0));
    TRY(cu->MemMap_v1(*out_address, *out_size, 0, handle, 0));
    memset(&access, 0, sizeof access);
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location.id = use_device;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return cu->MemSetAccess_v1(*out_address, *out_size, &access, 1);
}

CUresult use_virtual(CUmemAllocationHandleType type, unsigned char rdma, CUmemGenericAllocationHandle *out_handle)
{
    CUmemAllocationProp properties = virtual_properties(type, rdma);
    CUdeviceptr address = 0;
    size_t size = 0;
    TRY(virtual_size(&size));
    TRY(cu->MemCreate_v1(out_handle, size, &properties, 0));
    TRY(use_map(*out_handle, &address, &size));
    TRY(use_fill(address, size));
    return cu->MemUnmap_v1(address, size);
}

CUresult use_VIRTUAL_MEMORY(void)
{
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = use_device}};
    struct cushim_feature_info info;
    size_t granularity = 0;
    TRY(cushim_feature_get_info(CUSHIM_FEATURE_VIRTUAL_MEMORY, use_device, &info));
    TRY(cu->MemGetAllocationGranularity_v1(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    for (size_t i = 0; i < info.value_count; i++)
        if (info.values[i].id == CUSHIM_PROPERTY_RECOMMENDED_GRANULARITY && (size_t)info.values[i].value != granularity)
            return USE_WRONG;
    return use_virtual(CU_MEM_HANDLE_TYPE_NONE, 0, &handle);
}

CUresult use_VIRTUAL_MEMORY_VISIBLE(void)
{
    return use_VIRTUAL_MEMORY();
}

CUresult use_MEMORY_DESCRIPTORS(void)
{
    CUmemGenericAllocationHandle handle, imported;
    int descriptor = -1;
    TRY(use_virtual(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0, &handle));
    TRY(cu->MemExportToShareableHandle_v1(&descriptor, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    return cu->MemImportFromShareableHandle_v1(&imported, (void *)(size_t)descriptor,
                                               CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
}

CUresult use_MEMORY_WIN32_HANDLES(void)
{
    CUmemGenericAllocationHandle handle;
    void *exported = NULL;
    TRY(use_virtual(CU_MEM_HANDLE_TYPE_WIN32, 0, &handle));
    return cu->MemExportToShareableHandle_v1(&exported, handle, CU_MEM_HANDLE_TYPE_WIN32, 0);
}

CUresult use_MEMORY_FABRIC_HANDLES(void)
{
    CUmemGenericAllocationHandle handle;
    CUmemFabricHandle exported;
    TRY(use_virtual(CU_MEM_HANDLE_TYPE_FABRIC, 0, &handle));
    return cu->MemExportToShareableHandle_v1(&exported, handle, CU_MEM_HANDLE_TYPE_FABRIC, 0);
}

CUresult use_EXPANDABLE_SEGMENTS(void)
{
    int rdma = 0;
    CUmemGenericAllocationHandle handle;
    (void)cu->DeviceGetAttribute_v1(&rdma, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED, use_device);
    return use_virtual(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, rdma != 0, &handle);
}

CUresult use_GPU_DIRECT_RDMA_VIRTUAL(void)
{
    CUmemGenericAllocationHandle handle;
    return use_virtual(CU_MEM_HANDLE_TYPE_NONE, 1, &handle);
}

CUresult use_MULTICAST(void)
{
    CUmulticastObjectProp properties;
    CUmemGenericAllocationHandle object, memory;
    size_t size = 0;
    memset(&properties, 0, sizeof properties);
    properties.numDevices = (unsigned)use_device_count;
    properties.size = USE_SIZE;
    properties.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    TRY(cu->MulticastGetGranularity_v1(&size, &properties, CU_MULTICAST_GRANULARITY_MINIMUM));
    properties.size = size;
    TRY(cu->MulticastCreate_v1(&object, &properties));
    for (int i = 0; i < use_device_count; i++)
        TRY(cu->MulticastAddDevice_v1(object, i));
    CUmemAllocationProp own = virtual_properties(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    TRY(cu->MemCreate_v1(&memory, size, &own, 0));
    return cu->MulticastBindMem_v1(object, 0, memory, 0, size, 0);
}

CUresult use_PEER_ACCESS(void)
{
    for (int i = 0; i < use_device_count; i++) {
        int can_access = 0;
        CUcontext peer;
        if (i == use_device)
            continue;
        TRY(cu->DeviceCanAccessPeer_v1(&can_access, use_device, i));
        if (!can_access)
            continue;
        CUdeviceptr address = 0;
        TRY(cu->DevicePrimaryCtxRetain_v1(&peer, i));
        TRY(cu->CtxSetCurrent_v1(peer));
        TRY(cu->MemAlloc_v2(&address, USE_SIZE));
        TRY(cu->CtxSetCurrent_v1(use_context));
        TRY(cu->CtxEnablePeerAccess_v1(peer, 0));
        return use_fill(address, USE_SIZE);
    }
    return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
}

CUresult use_IPC_EVENTS(void)
{
    CUevent event;
    CUipcEventHandle handle;
    TRY(cu->EventCreate_v1(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    return cu->IpcGetEventHandle_v1(&handle, event);
}

CUresult use_IPC_MEMORY(void)
{
    CUdeviceptr address = 0;
    CUipcMemHandle handle;
    TRY(cu->MemAlloc_v2(&address, USE_SIZE));
    return cu->IpcGetMemHandle_v1(&handle, address);
}

CUresult use_GPU_DIRECT_RDMA(void)
{
    return cu->FlushGPUDirectRDMAWrites_v1(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                                           CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER);
}

CUresult use_DMA_BUF(void)
{
    CUdeviceptr address = 0;
    int descriptor = -1;
    TRY(cu->MemAlloc_v2(&address, USE_SIZE));
    TRY(cu->MemGetHandleForAddressRange_v1(&descriptor, address, USE_SIZE, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
    return descriptor >= 0 ? CUDA_SUCCESS : USE_WRONG;
}

/* The host reads what the device has written. */
static CUresult managed_use(CUdeviceptr address)
{
    const unsigned char *host = (const unsigned char *)(size_t)address;
    TRY(cu->MemsetD8Async_v1(address, USE_BYTE, USE_SIZE, use_stream));
    TRY(cu->StreamSynchronize_v1(use_stream));
    return host[0] == USE_BYTE && host[USE_SIZE - 1] == USE_BYTE ? CUDA_SUCCESS : USE_WRONG;
}

CUresult use_MANAGED_MEMORY(void)
{
    CUdeviceptr address = 0;
    TRY(cu->MemAllocManaged_v1(&address, USE_SIZE, CU_MEM_ATTACH_GLOBAL));
    return managed_use(address);
}

CUresult use_CONCURRENT_MANAGED_MEMORY(void)
{
    CUdeviceptr address = 0;
    TRY(cu->MemAllocManaged_v1(&address, USE_SIZE, CU_MEM_ATTACH_GLOBAL));
    TRY(cu->MemPrefetchAsync_v1(address, USE_SIZE, use_device, use_stream));
    return managed_use(address);
}

CUresult use_PAGEABLE_ACCESS(void)
{
    unsigned *host = malloc(sizeof *host);
    CUfunction function;
    unsigned value = 7;
    if (host == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *host = 0;
    TRY(use_load_kernel(&function));
    void *parameters[] = {&host, &value};
    TRY(cu->LaunchKernel_v1(function, 1, 1, 1, 1, 1, 1, 0, use_stream, parameters, NULL));
    TRY(cu->StreamSynchronize_v1(use_stream));
    return *(volatile unsigned *)host == value ? CUDA_SUCCESS : USE_WRONG;
}

static CUresult registration_use(void *host)
{
    CUdeviceptr address = 0;
    TRY(cu->MemHostGetDevicePointer_v2(&address, host, 0));
    return use_fill(address, 4096);
}

CUresult use_HOST_REGISTRATION(void)
{
    void *host = aligned_alloc(65536, 65536);
    if (host == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    TRY(cu->MemHostRegister_v2(host, 65536, CU_MEMHOSTREGISTER_DEVICEMAP));
    return registration_use(host);
}

CUresult use_READ_ONLY_HOST_REGISTRATION(void)
{
    unsigned char byte = 0xff;
    CUdeviceptr address = 0;
    void *host = mmap(NULL, 65536, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (host == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    TRY(cu->MemHostRegister_v2(host, 65536, CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_READ_ONLY));
    TRY(cu->MemHostGetDevicePointer_v2(&address, host, 0));
    TRY(cu->MemcpyDtoH_v2(&byte, address, 1));
    return byte == 0 ? CUDA_SUCCESS : USE_WRONG;
}

CUresult use_BATCHED_COPIES(void)
{
    CUdeviceptr sources[2], targets[2];
    size_t sizes[2] = {4096, 4096}, first[1] = {0}, failed = 0;
    CUmemcpyAttributes attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    for (int i = 0; i < 2; i++) {
        TRY(cu->MemAlloc_v2(&sources[i], 4096));
        TRY(cu->MemAlloc_v2(&targets[i], 4096));
        TRY(cu->MemsetD32Async_v1(sources[i], 7 + (unsigned)i, 1024, use_stream));
    }
    TRY(cu->MemcpyBatchAsync_v1(targets, sources, sizes, 2, &attributes, first, 1, &failed, use_stream));
    TRY(use_expect(targets[0], 7));
    return use_expect(targets[1], 8);
}
