/* SPDX-License-Identifier: MIT */
/* Calls that no other test makes: their results, and the arguments that they refuse. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include <stdlib.h>
#include <string.h>

#define IS(code, ...) assert_cu(code, cu->__VA_ARGS__)
#define NOWHERE ((void *)(uintptr_t)8)

TEST(test_device_when_it_is_asked_for_then_answers_or_refuses)
{
    CUdevice device = 9;
    int number = 9, other = 9;
    unsigned flags = 9;
    size_t size = 0;
    char bus[16] = "", name[32];
    CUuuid uuid[2];
    CUmemoryPool pool = NULL;
    IS(1, DeviceGetCount_v1(NULL));
    IS(1, DeviceGet_v1(NULL, 0));
    IS(1, DeviceGetName_v1(name, 0, 0));
    IS(1, DeviceTotalMem_v2(NULL, 0));
    IS(1, DeviceComputeCapability_v1(&number, NULL, 0));
    IS(1, DeviceGetPCIBusId_v1(bus, 0, 0));
    IS(1, DeviceGetAttribute_v1(&number, (CUdevice_attribute)0, 0));
    IS(1, DeviceGetAttribute_v1(&number, (CUdevice_attribute)148, 0));
    IS(1, DeviceCanAccessPeer_v1(NULL, 0, 0));
    IS(1, DevicePrimaryCtxGetState_v1(0, NULL, &number));
    IS(1, DevicePrimaryCtxGetState_v1(0, &flags, NULL));
    for (int wrong = -1; wrong < 2; wrong += 2) { /* there is one device */
        IS(101, DeviceGet_v1(&device, wrong));
        IS(101, DeviceTotalMem_v2(&size, wrong));
        IS(101, DeviceComputeCapability_v1(&number, &other, wrong));
        IS(101, DeviceGetUuid_v2(&uuid[0], wrong));
        IS(101, DeviceGetAttribute_v1(&number, CU_DEVICE_ATTRIBUTE_WARP_SIZE, wrong));
        IS(101, DeviceCanAccessPeer_v1(&number, 0, wrong));
        IS(101, DeviceCanAccessPeer_v1(&number, wrong, 0));
        IS(101, DevicePrimaryCtxReset_v2(wrong));
        IS(101, DevicePrimaryCtxGetState_v1(wrong, &flags, &number));
        IS(101, DevicePrimaryCtxSetFlags_v2(wrong, 0));
        IS(101, DeviceGetMemPool_v1(&pool, wrong));
        IS(101, DeviceSetMemPool_v1(wrong, pool));
    }
    assert_true(number == 9 && other == 9 && flags == 9 && device == 9 && size == 0 && pool == NULL);
    IS(0, DeviceTotalMem_v2(&size, 0));
    IS(0, DeviceCanAccessPeer_v1(&number, 0, 0));
    IS(0, DeviceGetUuid_v1(&uuid[0], 0));
    IS(0, DeviceGetUuid_v2(&uuid[1], 0));
    assert_true(size > 0 && number == 0 && memcmp(&uuid[0], &uuid[1], sizeof uuid[0]) == 0);
    IS(0, DevicePrimaryCtxGetState_v1(0, &flags, &number));
    assert_true(flags == 0 && number == 1);
    IS(0, DeviceGetPCIBusId_v1(bus, 16, 0));
    IS(1, DeviceGetByPCIBusId_v1(NULL, bus));
    IS(1, DeviceGetByPCIBusId_v1(&device, NULL));
    IS(101, DeviceGetByPCIBusId_v1(&device, "0000:77:00.0"));
    assert_int_equal(device, 9);
    IS(0, DeviceGetByPCIBusId_v1(&device, bus));
    assert_int_equal(device, 0);
    device = 9;
    IS(0, DeviceGetByPCIBusId_v1(&device, bus + 5)); /* without the domain */
    assert_int_equal(device, 0);
    setenv("CUDA_VISIBLE_DEVICES", "", 1); /* devices are counted once */
    IS(0, Init_v1(0));
    unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST(test_context_when_it_is_asked_for_then_answers_or_refuses)
{
    unsigned flags = 0, version = 0;
    unsigned long long id = 0;
    size_t limit = 0;
    CUdevice device = 9;
    CUfunc_cache cache;
    CUexecAffinityParam affinity = {.type = CU_EXEC_AFFINITY_TYPE_SM_COUNT};
    CUctxCreateParams params = {.cigParams = NOWHERE};
    CUcontext made = NULL;
    IS(1, CtxCreate_v2(&made, 3, 0));
    IS(1, CtxCreate_v2(&made, 0x200, 0));
    IS(1, CtxCreate_v3(&made, NULL, 1, 0, 0));
    IS(224, CtxCreate_v3(&made, &affinity, 1, 0, 0));
    IS(801, CtxCreate_v4(&made, &params, 0, 0));
    IS(201, CtxDestroy_v2(context)); /* a primary context */
    IS(1, CtxSetFlags_v1(0x200));
    IS(1, CtxGetId_v1(context, NULL));
    IS(1, CtxGetLimit_v1(NULL, CU_LIMIT_STACK_SIZE));
    IS(215, CtxGetLimit_v1(&limit, CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH));
    IS(1, CtxGetLimit_v1(&limit, (CUlimit)11));
    IS(215, CtxSetLimit_v1(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 1));
    IS(1, CtxSetLimit_v1((CUlimit)11, 1));
    IS(1, CtxSetCacheConfig_v1((CUfunc_cache)(CU_FUNC_CACHE_PREFER_EQUAL + 1)));
    IS(1, CtxEnablePeerAccess_v1(context, 1));
    IS(201, CtxEnablePeerAccess_v1(NOWHERE, 0));
    IS(101, CtxEnablePeerAccess_v1(context, 0));
    IS(0, CtxSetLimit_v1(CU_LIMIT_MALLOC_HEAP_SIZE, 5));
    IS(0, CtxGetLimit_v1(&limit, CU_LIMIT_MALLOC_HEAP_SIZE));
    IS(0, CtxSetCacheConfig_v1(CU_FUNC_CACHE_PREFER_EQUAL));
    IS(0, CtxGetCacheConfig_v1(&cache));
    IS(0, CtxSetFlags_v1(CU_CTX_SCHED_YIELD));
    IS(0, CtxGetFlags_v1(&flags));
    IS(0, CtxGetApiVersion_v1(context, &version));
    IS(0, CtxGetId_v1(context, &id));
    assert_true(limit == 5 && cache == CU_FUNC_CACHE_PREFER_EQUAL && flags == CU_CTX_SCHED_YIELD && version == 3020);
    IS(0, ProfilerStart_v1());
    IS(0, ProfilerStop_v1());
    IS(0, CtxPopCurrent_v2(NULL));
    IS(201, CtxPopCurrent_v2(NULL));
    IS(201, CtxGetStreamPriorityRange_v1(NULL, NULL));
    IS(201, CtxGetLimit_v1(&limit, CU_LIMIT_STACK_SIZE));
    IS(201, MemGetAddressRange_v2(NULL, NULL, 8));
    IS(201, MemGetInfo_v2(&limit, &limit));
    IS(0, CtxPushCurrent_v2(context));
    IS(0, DevicePrimaryCtxReset_v2(0));
    IS(709, CtxSetCurrent_v1(context));
    IS(0, CtxGetDevice_v2(&device, context)); /* a context that is lost still has its device */
    assert_int_equal(device, 0);
}

TEST(test_pointer_when_it_has_attributes_then_answers_or_refuses)
{
    enum { COUNT = 8 };
    CUpointer_attribute names[COUNT] = {CU_POINTER_ATTRIBUTE_CONTEXT,          CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                        CU_POINTER_ATTRIBUTE_HOST_POINTER,     CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                        CU_POINTER_ATTRIBUTE_SYNC_MEMOPS,      CU_POINTER_ATTRIBUTE_RANGE_SIZE,
                                        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_MAPPED};
    unsigned long long values[COUNT], ids[2];
    void *data[COUNT], *host;
    unsigned on = 1;
    CUdeviceptr memory, managed, base;
    size_t size;
    for (int i = 0; i < COUNT; i++)
        data[i] = &values[i];
    IS(0, MemAlloc_v2(&memory, 64));
    IS(0, MemAllocManaged_v1(&managed, 64, CU_MEM_ATTACH_GLOBAL));
    IS(0, MemAllocHost_v2(&host, 64));
    memset(values, 0, sizeof values);
    IS(0, PointerSetAttribute_v1(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, managed));
    IS(0, PointerGetAttributes_v1(COUNT, names, data, managed + 1));
    assert_true(values[0] == (uintptr_t)context && values[1] == CU_MEMORYTYPE_DEVICE && values[2] == managed + 1);
    assert_true(values[3] == 0 && values[4] == 1 && values[5] == 64 && values[6] == managed && values[7] == 1);
    IS(0, PointerGetAttributes_v1(COUNT, names, data, memory));
    assert_true(values[2] == 0 && values[4] == 0 && values[6] == memory); /* it has no pointer of the host */
    memset(values, 7, sizeof values);
    values[3] = values[1] = values[4] = values[7] = 9;
    IS(0, PointerGetAttributes_v1(COUNT, names, data, 8));
    assert_true(values[0] == 0 && values[1] == 0 && values[2] == 0 && (int)values[3] == CU_DEVICE_INVALID);
    assert_true(values[4] == 0 && values[5] == 0 && values[6] == 0 && values[7] == 0);
    IS(0, PointerGetAttribute_v1(&ids[0], CU_POINTER_ATTRIBUTE_BUFFER_ID, memory));
    IS(0, PointerGetAttribute_v1(&ids[1], CU_POINTER_ATTRIBUTE_BUFFER_ID, managed));
    assert_true(ids[0] != ids[1]);
    IS(1, PointerGetAttributes_v1(0, names, data, memory));
    IS(1, PointerGetAttributes_v1(1, names, (void *[]){NULL}, memory));
    names[0] = CU_POINTER_ATTRIBUTE_P2P_TOKENS;
    IS(801, PointerGetAttributes_v1(1, names, data, memory));
    IS(1, PointerGetAttribute_v1(values, CU_POINTER_ATTRIBUTE_HOST_POINTER, memory));
    IS(1, PointerGetAttribute_v1(values, (CUpointer_attribute)22, memory));
    IS(1, PointerGetAttribute_v1(values, CU_POINTER_ATTRIBUTE_CONTEXT, 8));
    IS(1, PointerSetAttribute_v1(&on, CU_POINTER_ATTRIBUTE_MAPPED, memory));
    IS(1, PointerSetAttribute_v1(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, 8));
    IS(0, MemGetAddressRange_v2(&base, &size, memory + 63));
    assert_true(base == memory && size == 64);
    IS(500, MemGetAddressRange_v2(&base, &size, 8));
    IS(0, MemHostGetDevicePointer_v2(&base, host, 0));
    IS(1, MemHostGetDevicePointer_v2(&base, host, 1));
    IS(1, MemHostGetDevicePointer_v2(&base, NOWHERE, 0));
    IS(1, MemHostGetDevicePointer_v2(&base, (void *)(uintptr_t)memory, 0));
    IS(1, MemHostGetFlags_v1(&on, NOWHERE));
    IS(1, MemHostGetFlags_v1(&on, (void *)(uintptr_t)memory));
    IS(1, MemAllocPitch_v2(&memory, &size, 0, 4, 4));
    IS(1, MemAllocPitch_v2(&memory, &size, 4, 4, 2));
    IS(1, MemAllocPitch_v2(&memory, &size, 512, SIZE_MAX / 512 + 1, 4));
    IS(1, MemAllocManaged_v1(&managed, 64, 3));
    IS(1, MemHostAlloc_v1(&host, 64, 8));
    IS(1, MemHostRegister_v2(values, 0, 0));
    IS(1, MemHostRegister_v2(values, 8, 0x10));
    IS(801, MemHostRegister_v2(values, 8, CU_MEMHOSTREGISTER_IOMEMORY));
    IS(1, MemHostRegister_v2(host, 8, 0));
    IS(712, MemHostRegister_v2((void *)(uintptr_t)memory, 8, 0));
    IS(1, MemGetInfo_v2(&size, NULL));
    IS(0, MemFreeHost_v1(host));
    IS(0, MemFree_v2(managed));
    IS(0, MemFree_v2(memory));
}

TEST(test_managed_memory_when_advice_is_given_then_the_location_must_exist)
{
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
                  away = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1};
    CUmemLocation host = {.type = CU_MEM_LOCATION_TYPE_HOST, .id = 0},
                  none = {.type = CU_MEM_LOCATION_TYPE_INVALID, .id = 0};
    CUdeviceptr memory, plain;
    IS(0, MemAlloc_v2(&plain, 64));
    IS(0, MemAllocManaged_v1(&memory, 64, CU_MEM_ATTACH_GLOBAL));
    IS(0, MemPrefetchAsync_v2(memory, 64, here, 0, NULL));
    IS(0, MemPrefetchAsync_v2(memory, 64, host, 0, NULL));
    IS(101, MemPrefetchAsync_v2(memory, 64, away, 0, NULL));
    IS(101, MemPrefetchAsync_v1(memory, 64, 99, NULL));
    IS(0, MemPrefetchAsync_v1(memory, 64, CU_DEVICE_CPU, NULL));
    IS(1, MemPrefetchAsync_v2(memory, 64, here, 1, NULL));
    IS(1, MemPrefetchAsync_v2(memory, 64, none, 0, NULL));
    IS(1, MemPrefetchAsync_v2(memory, 0, here, 0, NULL));
    IS(1, MemPrefetchAsync_v2(memory + 1, 64, here, 0, NULL));
    IS(1, MemPrefetchAsync_v2(plain, 64, here, 0, NULL));
    IS(0, MemAdvise_v2(memory, 64, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    IS(0, MemAdvise_v2(memory, 64, CU_MEM_ADVISE_UNSET_ACCESSED_BY, host));
    IS(101, MemAdvise_v2(memory, 64, CU_MEM_ADVISE_SET_READ_MOSTLY, away));
    IS(1, MemAdvise_v2(memory, 64, (CUmem_advise)0, here));
    IS(1, MemAdvise_v2(memory, 64, (CUmem_advise)7, here));
    IS(1, MemAdvise_v2(memory, 0, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    IS(1, MemAdvise_v2(memory + 1, 64, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    IS(1, MemAdvise_v2(plain, 64, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    IS(0, MemFree_v2(memory));
    IS(0, MemFree_v2(plain));
}

TEST(test_pool_when_its_attributes_are_set_then_are_returned_or_refused)
{
    const CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                  .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    CUmemLocation none = {.type = CU_MEM_LOCATION_TYPE_INVALID, .id = 0};
    CUmemoryPool pool = NULL, found = NULL;
    int number, off = 0;
    cuuint64_t bytes = 77;
    IS(1, MemPoolCreate_v1(NULL, &props));
    IS(1, MemPoolCreate_v1(&pool, NULL));
    IS(0, MemPoolCreate_v1(&pool, &props));
    for (int which = 1; which <= 3; which++) {
        IS(0, MemPoolGetAttribute_v1(pool, (CUmemPool_attribute)which, &number));
        assert_int_equal(number, 1);
        IS(0, MemPoolSetAttribute_v1(pool, (CUmemPool_attribute)which, &off));
        IS(0, MemPoolGetAttribute_v1(pool, (CUmemPool_attribute)which, &number));
        assert_int_equal(number, 0);
    }
    IS(0, MemPoolSetAttribute_v1(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &bytes));
    bytes = 0;
    IS(0, MemPoolGetAttribute_v1(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &bytes));
    assert_int_equal(bytes, 77);
    IS(1, MemPoolGetAttribute_v1(pool, (CUmemPool_attribute)9, &bytes));
    IS(1, MemPoolGetAttribute_v1(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, NULL));
    IS(1, MemPoolTrimTo_v1(NOWHERE, 0));
    IS(1, MemPoolSetAccess_v1(pool, NULL, 1));
    IS(1, MemGetMemPool_v1(&found, &none, CU_MEM_ALLOCATION_TYPE_PINNED));
    IS(1, DeviceSetMemPool_v1(0, NOWHERE));
    IS(0, MemPoolDestroy_v1(pool));
}

TEST(test_green_context_when_it_is_asked_for_then_answers_or_refuses)
{
    CUdevResource all, got;
    CUdevResourceDesc description = NULL;
    CUgreenCtx green = NULL;
    unsigned long long id = 0, of_context = 0;
    CUcontext made = NULL;
    IS(0, CtxGetDevResource_v1(context, &all, CU_DEV_RESOURCE_TYPE_SM));
    IS(201, CtxGetDevResource_v1(NOWHERE, &got, CU_DEV_RESOURCE_TYPE_SM));
    IS(1, CtxGetDevResource_v1(context, NULL, CU_DEV_RESOURCE_TYPE_SM));
    IS(0, DevResourceGenerateDesc_v1(&description, &all, 1));
    IS(101, GreenCtxCreate_v1(&green, description, 1, CU_GREEN_CTX_DEFAULT_STREAM));
    IS(0, GreenCtxCreate_v1(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    IS(0, GreenCtxGetDevResource_v1(green, &got, CU_DEV_RESOURCE_TYPE_SM));
    assert_true(all.sm.smCount > 0 && got.sm.smCount == all.sm.smCount);
    IS(201, GreenCtxGetDevResource_v1(NOWHERE, &got, CU_DEV_RESOURCE_TYPE_SM));
    IS(1, CtxFromGreenCtx_v1(NULL, green));
    IS(201, CtxFromGreenCtx_v1(&made, NOWHERE));
    IS(0, CtxFromGreenCtx_v1(&made, green));
    IS(0, CtxGetDevResource_v1(made, &got, CU_DEV_RESOURCE_TYPE_SM));
    IS(1, GreenCtxGetId_v1(green, NULL));
    IS(201, GreenCtxGetId_v1(NOWHERE, &id));
    IS(0, GreenCtxGetId_v1(green, &id));
    IS(0, CtxGetId_v1(made, &of_context));
    assert_true(id == of_context && got.sm.smCount == all.sm.smCount);
    IS(0, GreenCtxDestroy_v1(green));
}

/* Each element size with rows, in a stream: only the bytes of the rows change. */
TEST(test_set_and_copy_when_in_rows_then_only_those_change)
{
    static const unsigned char sets[][8] = {
        {1, 1, 0, 0, 1, 1, 0, 0}, {2, 2, 0, 0, 2, 2, 0, 0}, {3, 0, 0, 0, 3, 0, 0, 0}};
    unsigned char back[8];
    CUdeviceptr memory, other;
    CUgraph graph = NULL;
    CUstream stream = support_stream(0);
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = back};
    IS(0, MemAlloc_v2(&memory, 8));
    IS(0, MemAlloc_v2(&other, 8));
    for (int i = 0; i < 4; i++) {
        IS(0, MemsetD8_v2(memory, 0, 8));
        if (i == 0)
            IS(0, MemsetD2D8Async_v1(memory, 4, 1, 2, 2, stream));
        else if (i == 1)
            IS(0, MemsetD2D16Async_v1(memory, 4, 0x0202, 1, 2, stream));
        else if (i == 2)
            IS(0, MemsetD2D32Async_v1(memory, 4, 3, 1, 2, stream));
        else
            IS(0, MemsetD2D16_v2(memory, 4, 0x0202, 1, 2));
        IS(0, StreamSynchronize_v1(stream));
        IS(0, MemcpyDtoH_v2(back, memory, 8));
        assert_memory_equal(back, sets[i == 3 ? 1 : i], 8);
    }
    IS(0, MemsetD16Async_v1(memory, 0x0404, 2, stream));
    IS(0, MemsetD32Async_v1(memory + 4, 0x05050505, 1, stream));
    IS(0, MemcpyPeerAsync_v1(other, context, memory, context, 8, stream));
    IS(0, StreamSynchronize_v1(stream));
    IS(201, MemcpyPeer_v1(other, NOWHERE, memory, context, 8));
    IS(201, MemcpyPeerAsync_v1(other, context, memory, NOWHERE, 8, stream));
    copy.srcDevice = other;
    copy.WidthInBytes = copy.Height = copy.Depth = 2;
    memset(back, 0, sizeof back);
    IS(0, Memcpy3DAsync_v2(&copy, stream));
    IS(0, StreamSynchronize_v1(stream));
    assert_true(back[0] == 4 && back[3] == 4 && back[4] == 5 && back[7] == 5);
    IS(0, MemsetD8_v2(memory, 6, 8));
    IS(0, MemcpyPeer_v1(other, context, memory, context, 4));
    IS(0, Memcpy3D_v2(&copy));
    assert_true(back[3] == 6 && back[4] == 5);
    IS(0, StreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    back[4] = 0;
    IS(906, Memcpy3D_v2(&copy)); /* it would wait for the stream */
    assert_int_equal(back[4], 0);
    IS(901, StreamEndCapture_v1(stream, &graph));
    copy.WidthInBytes = 3; /* 12 bytes of 8 */
    IS(1, Memcpy3D_v2(&copy));
    copy.srcPitch = 2;
    IS(1, Memcpy3D_v2(&copy));
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    IS(801, Memcpy3D_v2(&copy));
    copy.srcMemoryType = (CUmemorytype)0;
    IS(1, Memcpy3D_v2(&copy));
    copy.srcLOD = 1;
    IS(1, Memcpy3D_v2(&copy));
    IS(1, MemsetD16_v2(memory + 1, 0, 1));
    IS(1, MemsetD8_v2(memory, 0, 9));
    IS(1, MemsetD2D8_v2(memory, 1, 0, 2, 2));
    IS(1, MemsetD2D8_v2(memory, 7, 0, 2, 2));
    IS(0, MemFree_v2(memory));
    IS(0, MemFree_v2(other));
}

static void nothing(struct softcuda_launch *launch)
{
}

TEST(test_module_when_it_is_asked_for_then_answers_or_refuses)
{
    static const size_t sizes[] = {1, 8};
    const char *name = NULL;
    int number = 9;
    size_t offset = 9, size = 9;
    CUmodule module = NULL;
    CUlibrary library = NULL;
    CUfunction function = NULL;
    CUkernel kernel = NULL;
    CUlaunchConfig config = {
        .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1};
    void *none[] = {&number, &size}, *missing[] = {&number, NULL};
    assert_int_equal(control->register_kernel("empty", nothing, NULL, 0), 0);
    assert_int_equal(control->register_kernel("two", nothing, sizes, 2), 0);
    assert_int_equal(control->register_kernel("", nothing, NULL, 0), 1);
    assert_int_equal(control->register_kernel("two", nothing, NULL, 2), 1);
    assert_int_equal(control->register_kernel("two", nothing, (size_t[]){0}, 1), 1);
    assert_int_equal(control->register_kernel("two", nothing, (size_t[]){32765}, 1), 1);
    assert_int_equal(control->register_kernel("large", nothing, (size_t[]){32764}, 1), 0);
    IS(1, ModuleLoadDataEx_v1(&module, "image", 1, NULL, NULL));
    IS(1, ModuleLoadFatBinary_v1(&module, NULL));
    IS(0, ModuleLoadFatBinary_v1(&module, "image"));
    IS(0, ModuleUnload_v1(module));
    IS(0, ModuleLoadDataEx_v1(&module, "image", 0, NULL, NULL));
    IS(400, ModuleGetFunction_v1(&function, NOWHERE, "two"));
    IS(0, ModuleGetFunction_v1(&function, module, "two"));
    IS(1, LibraryLoadData_v1(&library, NULL, NULL, NULL, 0, NULL, NULL, 0));
    IS(0, LibraryLoadData_v1(&library, "image", NULL, NULL, 0, NULL, NULL, 0));
    IS(0, LibraryGetKernel_v1(&kernel, library, "empty"));
    IS(400, LibraryGetModule_v1(&module, NOWHERE));
    IS(0, LibraryGetModule_v1(&module, library));
    assert_true((void *)module == (void *)library);
    IS(400, KernelGetFunction_v1(&function, NOWHERE));
    IS(400, FuncGetAttribute_v1(&number, CU_FUNC_ATTRIBUTE_NUM_REGS, NOWHERE));
    IS(1, FuncGetAttribute_v1(&number, (CUfunction_attribute)18, function));
    IS(0, FuncGetAttribute_v1(&number, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
    assert_int_equal(number, 1024);
    IS(0, FuncGetAttribute_v1(&number, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function));
    assert_int_equal(number, 48 << 10);
    IS(0, FuncGetAttribute_v1(&number, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
    assert_int_equal(number, 0);
    IS(400, FuncSetCacheConfig_v1(NOWHERE, CU_FUNC_CACHE_PREFER_NONE));
    IS(0, FuncSetCacheConfig_v1(function, CU_FUNC_CACHE_PREFER_EQUAL));
    IS(1, FuncSetCacheConfig_v1(function, (CUfunc_cache)(CU_FUNC_CACHE_PREFER_EQUAL + 1)));
    IS(400, OccupancyMaxActiveBlocksPerMultiprocessor_v1(&number, NOWHERE, 64, 0));
    IS(1, OccupancyMaxActiveBlocksPerMultiprocessor_v1(&number, function, 0, 0));
    IS(1, OccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v1(&number, function, 64, 0, 2));
    IS(0, OccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v1(&number, function, 1024, 48 << 10, 1));
    assert_int_equal(number, 2);
    IS(0, OccupancyMaxActiveBlocksPerMultiprocessor_v1(&number, function, 1025, 0));
    assert_int_equal(number, 0);
    IS(0, OccupancyMaxActiveBlocksPerMultiprocessor_v1(&number, function, 64, (48 << 10) + 1));
    assert_int_equal(number, 0);
    IS(400, FuncGetName_v1(&name, NOWHERE));
    IS(0, KernelGetName_v1(&name, kernel));
    assert_string_equal(name, "empty");
    IS(400, FuncGetParamInfo_v1(NOWHERE, 0, &offset, &size));
    IS(1, FuncGetParamInfo_v1(function, 2, &offset, &size));
    IS(0, FuncGetParamInfo_v1(function, 1, &offset, NULL));
    IS(0, FuncGetParamInfo_v1(function, 1, &offset, &size));
    assert_true(offset == 8 && size == 8);
    IS(1, KernelGetParamInfo_v1(kernel, 0, &offset, &size));
    IS(1, LaunchKernelEx_v1(NULL, function, NULL, NULL));
    IS(1, LaunchKernelEx_v1(&config, function, NULL, NULL)); /* it has parameters */
    IS(1, LaunchKernelEx_v1(&config, function, missing, NULL));
    IS(1, LaunchKernelEx_v1(&config, function, NULL, (void *[]){(void *)3, NULL, NULL}));
    IS(1, LaunchKernelEx_v1(&config, function, NULL, (void *[]){(void *)2, &size, NULL}));
    IS(0, LaunchKernelEx_v1(&config, function, none, NULL));
    IS(1, LaunchCooperativeKernel_v1(function, 1, 1, 1, 32, 32, 2, 0, NULL, none));
    IS(0, LaunchCooperativeKernel_v1(function, 1, 1, 1, 32, 32, 1, 0, NULL, none));
    IS(0, StreamSynchronize_v1(NULL));
    IS(0, LibraryUnload_v1(library));
}
