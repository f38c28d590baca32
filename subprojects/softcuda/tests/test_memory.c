/* SPDX-License-Identifier: MIT */
/* Memory, beyond the checks of the conformance suite: each byte of copies and memsets, counts, pools. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

TEST(test_alloc_when_it_succeeds_then_counted_and_else_the_result_untouched)
{
    CUdeviceptr memory = 7;
    size_t before, after, total;
    assert_cu(2, cu->MemAlloc_v2(&memory, (size_t)(UINT64_C(1) << (sizeof(size_t) == 8 ? 50 : 31))));
    assert_true(memory == 7);
    assert_cu(0, cu->MemGetInfo_v2(&before, &total));
    assert_cu(0, cu->MemAlloc_v2(&memory, 1 << 20));
    assert_cu(0, cu->MemGetInfo_v2(&after, &total));
    assert_true(before - after == 1 << 20);
    assert_cu(0, cu->MemFree_v2(memory));
}

/* A frame of 30 x 4 bytes, as in a video program. */
TEST(test_copy_2d_when_pitched_then_padding_is_kept)
{
    enum { WIDTH = 30, HEIGHT = 4, PITCH = 40 };
    unsigned char frame[PITCH * HEIGHT], back[PITCH * HEIGHT];
    CUdeviceptr memory;
    size_t pitch = 0;
    assert_cu(0, cu->MemAllocPitch_v2(&memory, &pitch, WIDTH, HEIGHT, 4));
    assert_true(pitch >= WIDTH && pitch % 512 == 0);
    for (int i = 0; i < PITCH * HEIGHT; i++)
        frame[i] = (unsigned char)i;
    assert_cu(0, cu->MemsetD8_v2(memory, 0xee, pitch * HEIGHT));
    CUDA_MEMCPY2D copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = frame;
    copy.srcPitch = PITCH;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = memory;
    copy.dstPitch = pitch;
    copy.WidthInBytes = WIDTH;
    copy.Height = HEIGHT;
    assert_cu(0, cu->Memcpy2D_v2(&copy));
    unsigned char *all = malloc(pitch * HEIGHT);
    assert_cu(0, cu->MemcpyDtoH_v2(all, memory, pitch * HEIGHT));
    for (size_t y = 0; y < HEIGHT; y++)
        for (size_t x = 0; x < pitch; x++)
            assert_int_equal(all[y * pitch + x], x < WIDTH ? frame[y * PITCH + x] : 0xee);
    free(all);

    /* And back, into rows with other padding. */
    memset(back, 0x55, sizeof back);
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = memory;
    copy.srcPitch = pitch;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = back;
    copy.dstPitch = PITCH;
    copy.dstXInBytes = 5;
    copy.WidthInBytes = WIDTH;
    copy.Height = HEIGHT;
    assert_cu(0, cu->Memcpy2DUnaligned_v2(&copy));
    for (size_t y = 0; y < HEIGHT; y++)
        for (size_t x = 0; x < PITCH; x++)
            assert_int_equal(back[y * PITCH + x], x >= 5 && x < 5 + WIDTH ? frame[y * PITCH + x - 5] : 0x55);
    copy.Height = HEIGHT + 1;
    assert_cu(1, cu->Memcpy2D_v2(&copy));
    copy.Height = 3;
    copy.srcPitch = SIZE_MAX / 2 + 1; /* two of them are 0 */
    assert_cu(1, cu->Memcpy2D_v2(&copy));
    assert_cu(0, cu->MemFree_v2(memory));
}

TEST(test_memset_2d_when_elements_are_wide_then_only_they_change)
{
    CUdeviceptr memory;
    unsigned back[3 * 8];
    cu->MemAlloc_v2(&memory, sizeof back);
    assert_cu(0, cu->MemsetD32_v2(memory, 0x01020304, 3 * 8));
    assert_cu(0, cu->MemsetD2D32_v2(memory, 32, 0xaabbccdd, 5, 3));
    assert_cu(0, cu->MemcpyDtoH_v2(back, memory, sizeof back));
    for (int i = 0; i < 3 * 8; i++)
        assert_true(back[i] == (i % 8 < 5 ? 0xaabbccdd : 0x01020304));
    assert_cu(0, cu->MemFree_v2(memory));
}

TEST(test_alloc_async_when_freed_then_frees_when_the_stream_reaches_it)
{
    struct gate gate = {0, 0};
    CUdeviceptr memory;
    CUstream stream = support_stream(0);
    char bytes[64];
    if (cushim_driver_version() < 11020)
        skip();
    assert_cu(0, cu->MemAllocAsync_v1(&memory, 64, stream));
    cu->LaunchHostFunc_v1(stream, support_gate, &gate);
    assert_cu(0, cu->MemsetD8Async_v1(memory, 3, 64, stream));
    assert_cu(0, cu->MemFreeAsync_v1(memory, stream)); /* the memset before it is still pending */
    assert_cu(1, cu->MemFreeAsync_v1(memory, stream));
    assert_cu(1, cu->MemcpyDtoH_v2(bytes, memory, 64));
    support_open(&gate);
    assert_cu(0, cu->StreamSynchronize_v1(stream));
}

TEST(test_free_async_when_not_memory_of_the_device_then_refused_and_kept)
{
    CUdeviceptr managed, memory;
    void *host;
    if (!support_has(11020))
        skip();
    CUstream stream = support_stream(0);
    assert_cu(0, cu->MemAllocHost_v2(&host, 64));
    assert_cu(1, cu->MemFreeAsync_v1((CUdeviceptr)(uintptr_t)host, stream));
    assert_cu(0, cu->MemFreeHost_v1(host));
    assert_cu(0, cu->MemAllocManaged_v1(&managed, 64, CU_MEM_ATTACH_GLOBAL));
    assert_cu(801, cu->MemFreeAsync_v1(managed, stream));
    assert_cu(0, cu->MemFree_v2(managed));
    assert_cu(0, cu->MemAlloc_v2(&memory, 64));
    assert_cu(1, cu->MemFreeAsync_v1(memory + 1, stream));
    assert_cu(0, cu->MemFreeAsync_v1(memory, stream));
    assert_cu(1, cu->MemFree_v2(memory));
}

static cuuint64_t used(CUmemoryPool pool)
{
    cuuint64_t bytes = 1;
    assert_cu(0, cu->MemPoolGetAttribute_v1(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &bytes));
    return bytes;
}

static CUmemoryPool pool_new_limited(size_t limit)
{
    CUmemoryPool pool = NULL;
    CUmemPoolProps properties;
    memset(&properties, 0, sizeof properties);
    /* The member maxSize. Toolkits older than 12.2 lack it. */
    memcpy((char *)&properties + offsetof(CUmemPoolProps, win32SecurityAttributes) + sizeof(void *), &limit,
           sizeof limit);
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    assert_cu(0, cu->MemPoolCreate_v1(&pool, &properties));
    return pool;
}

static CUmemoryPool pool_new(void)
{
    return pool_new_limited(0);
}

TEST(test_pool_when_memory_is_taken_then_counted_until_it_is_free)
{
    struct gate gate = {0, 0};
    CUdeviceptr memory;
    CUmemoryPool pool, current, normal;
    cuuint64_t high = 0;
    if (!support_has(11030))
        skip();
    CUstream stream = support_stream(1);
    assert_cu(0, cu->DeviceGetDefaultMemPool_v1(&normal, 0));
    pool = pool_new();
    assert_cu(0, cu->DeviceSetMemPool_v1(0, pool));
    assert_cu(0, cu->DeviceGetMemPool_v1(&current, 0));
    assert_ptr_equal(current, pool);
    cu->LaunchHostFunc_v1(stream, support_gate, &gate);
    assert_cu(0, cu->MemAllocAsync_v1(&memory, 1000, stream));
    assert_int_equal(used(pool), 1000);
    assert_cu(0, cu->MemFreeAsync_v1(memory, stream));
    assert_int_equal(used(pool), 1000); /* the stream has not reached it yet */
    support_open(&gate);
    assert_cu(0, cu->StreamSynchronize_v1(stream));
    assert_int_equal(used(pool), 0);
    assert_cu(0, cu->MemPoolGetAttribute_v1(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &high));
    assert_int_equal(high, 1000);
    assert_cu(1, cu->MemPoolSetAttribute_v1(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &high)); /* it can only be reset */
    high = 0;
    assert_cu(0, cu->MemPoolSetAttribute_v1(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &high));
    high = 1;
    assert_cu(0, cu->MemPoolGetAttribute_v1(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &high));
    assert_int_equal(high, 0);
    assert_cu(1, cu->MemPoolSetAttribute_v1(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &high));
    assert_cu(0, cu->MemPoolTrimTo_v1(pool, 0));
    assert_cu(0, cu->MemPoolDestroy_v1(pool));
    assert_cu(0, cu->DeviceGetMemPool_v1(&current, 0));
    assert_ptr_equal(current, normal);
    assert_cu(1, cu->MemPoolDestroy_v1(normal));
    assert_cu(1, cu->MemPoolDestroy_v1(pool));
}

TEST(test_pool_when_destroyed_then_its_memory_stays)
{
    CUdeviceptr memory;
    unsigned char back = 0;
    if (!support_has(11030))
        skip();
    CUstream stream = support_stream(1);
    CUmemoryPool pool = pool_new();
    assert_cu(0, cu->MemAllocFromPoolAsync_v1(&memory, 64, pool, stream));
    assert_cu(0, cu->MemPoolDestroy_v1(pool));
    assert_cu(1, cu->MemAllocFromPoolAsync_v1(&memory, 64, pool, stream));
    assert_cu(0, cu->MemsetD8Async_v1(memory, 3, 64, stream));
    assert_cu(0, cu->MemcpyDtoHAsync_v2(&back, memory, 1, stream));
    assert_cu(0, cu->MemFreeAsync_v1(memory, stream));
    assert_cu(0, cu->StreamSynchronize_v1(stream));
    assert_int_equal(back, 3);
}

TEST(test_pool_when_full_then_memory_whose_free_is_pending_is_used_again_unless_forbidden)
{
    struct gate gate = {0, 0};
    CUdeviceptr memory, again, base;
    size_t size = 0;
    int permitted = 0;
    if (!support_has(12020))
        skip();
    CUstream stream = support_stream(1), other = support_stream(1);
    CUmemoryPool pool = pool_new_limited(4096);
    assert_cu(0, cu->MemAllocFromPoolAsync_v1(&memory, 4096, pool, stream));
    assert_cu(2, cu->MemAllocFromPoolAsync_v1(&again, 1, pool, other));
    cu->LaunchHostFunc_v1(stream, support_gate, &gate);
    assert_cu(0, cu->MemFreeAsync_v1(memory, stream));
    assert_cu(0, cu->MemPoolSetAttribute_v1(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, &permitted));
    assert_cu(2, cu->MemAllocFromPoolAsync_v1(&again, 1000, pool, other));
    permitted = 1;
    assert_cu(0, cu->MemPoolSetAttribute_v1(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, &permitted));
    assert_cu(0, cu->MemAllocFromPoolAsync_v1(&again, 1000, pool, other));
    assert_true(again == memory);
    assert_int_equal(used(pool), 1000);
    assert_cu(0, cu->MemGetAddressRange_v2(&base, &size, again));
    assert_int_equal(size, 1000);
    assert_cu(2, cu->MemAllocFromPoolAsync_v1(&memory, 4096, pool, other)); /* it is used once */
    assert_cu(600, cu->StreamQuery_v1(other));
    support_open(&gate);
    assert_cu(0, cu->StreamSynchronize_v1(other));
    assert_cu(0, cu->MemFreeAsync_v1(again, other));
    assert_cu(0, cu->StreamSynchronize_v1(other));
    assert_int_equal(used(pool), 0);
    assert_cu(0, cu->MemPoolDestroy_v1(pool));
}

TEST(test_free_when_memory_of_a_pool_then_kept_for_pending_work_without_a_wait)
{
    struct gate gate = {0, 0};
    CUdeviceptr memory;
    unsigned char back = 0;
    if (!support_has(11020))
        skip();
    CUstream stream = support_stream(1);
    CUmemoryPool pool = pool_new();
    assert_cu(0, cu->MemAllocFromPoolAsync_v1(&memory, 64, pool, stream));
    cu->LaunchHostFunc_v1(stream, support_gate, &gate);
    void *host;
    assert_cu(0, cu->MemAllocHost_v2(&host, 64));
    assert_cu(0, cu->MemsetD8Async_v1(memory, 5, 64, stream));
    assert_cu(0, cu->MemcpyDtoHAsync_v2(host, memory, 64, stream));
    assert_cu(0, cu->MemFree_v2(memory));
    assert_cu(1, cu->MemFree_v2(memory));
    assert_cu(600, cu->StreamQuery_v1(stream));
    assert_int_equal(used(pool), 64);
    support_open(&gate);
    assert_cu(0, cu->StreamSynchronize_v1(stream));
    memcpy(&back, host, 1);
    assert_int_equal(back, 5);
    assert_int_equal(used(pool), 0);
    assert_cu(0, cu->MemFreeHost_v1(host));
    assert_cu(0, cu->MemPoolDestroy_v1(pool));
}

TEST(test_pool_when_found_by_its_location_then_access_is_reported)
{
    CUmemoryPool pool, same;
    CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    CUmemAccessDesc access = {.location = location, .flags = CU_MEM_ACCESS_FLAGS_PROT_NONE};
    if (!support_has(11020))
        skip();
    assert_cu(0, cu->DeviceGetMemPool_v1(&pool, 0));
    assert_cu(0, cu->MemPoolGetAccess_v1(&flags, pool, &location));
    assert_int_equal(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    assert_cu(1, cu->MemPoolSetAccess_v1(pool, &access, 1)); /* the pool's own device */
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    assert_cu(0, cu->MemPoolSetAccess_v1(pool, &access, 1));
    access.location.id = 99;
    assert_cu(1, cu->MemPoolSetAccess_v1(pool, &access, 1));
    if (support_has(13000)) {
        assert_cu(0, cu->MemGetMemPool_v1(&same, &location, CU_MEM_ALLOCATION_TYPE_PINNED));
        assert_ptr_equal(same, pool);
        assert_cu(0, cu->MemSetMemPool_v1(&location, CU_MEM_ALLOCATION_TYPE_PINNED, pool));
        assert_cu(0, cu->MemGetDefaultMemPool_v1(&same, &location, CU_MEM_ALLOCATION_TYPE_PINNED));
        assert_cu(1, cu->MemGetMemPool_v1(&same, &location, CU_MEM_ALLOCATION_TYPE_INVALID));
    }
}

TEST(test_pointer_when_queried_then_reports_its_attributes)
{
    CUdeviceptr memory;
    void *host;
    unsigned type = 0, managed = 9;
    int ordinal = 9;
    cu->MemAlloc_v2(&memory, 100);
    cu->MemAllocHost_v2(&host, 100);
    assert_cu(0, cu->PointerGetAttribute_v1(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)host));
    assert_int_equal(type, CU_MEMORYTYPE_HOST);
    assert_cu(0, cu->PointerGetAttribute_v1(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, memory + 3));
    assert_cu(0, cu->PointerGetAttribute_v1(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory));
    assert_int_equal(managed, 0);
    assert_int_equal(ordinal, 0);
    if (support_has(11030)) {
        unsigned access = 9, capable = 9;
        unsigned long long handle_types = 9;
        CUmemoryPool pool = (CUmemoryPool)(uintptr_t)8;
        assert_cu(0, cu->PointerGetAttribute_v1(&access, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, memory));
        assert_int_equal(access, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
        assert_cu(0, cu->PointerGetAttribute_v1(&capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, memory));
        assert_int_equal(capable, 0);
        assert_cu(0, cu->PointerGetAttribute_v1(&handle_types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, memory));
        assert_true(handle_types == 0);
        assert_cu(0, cu->PointerGetAttribute_v1(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, memory));
        assert_null(pool);
    }
    assert_cu(0, cu->MemFreeHost_v1(host));
    assert_cu(0, cu->MemFree_v2(memory));
}

TEST(test_memory_when_no_context_is_current_then_can_be_freed)
{
    CUdeviceptr memory;
    void *host;
    assert_cu(0, cu->MemAlloc_v2(&memory, 64));
    assert_cu(0, cu->MemAllocHost_v2(&host, 64));
    assert_cu(0, cu->CtxSetCurrent_v1(NULL));
    assert_cu(0, cu->MemFree_v2(memory));
    assert_cu(1, cu->MemFree_v2(memory));
    assert_cu(0, cu->MemFreeHost_v1(host));
    assert_cu(201, cu->MemFree_v2(0));
}

TEST(test_registration_when_ended_inside_it_then_refused)
{
    static char host[8192];
    assert_cu(0, cu->MemHostRegister_v2(host, 4096, 0));
    assert_cu(1, cu->MemHostUnregister_v1(host + 100));
    assert_cu(713, cu->MemHostUnregister_v1(host + 5000));
    assert_cu(0, cu->MemHostUnregister_v1(host));
}

TEST(test_registration_when_it_touches_another_then_accepted_and_when_it_overlaps_refused)
{
    static char host[3 * 4096];
    assert_cu(0, cu->MemHostRegister_v2(host + 4096, 4096, 0));
    assert_cu(712, cu->MemHostRegister_v2(host, 4097, 0));
    assert_cu(0, cu->MemHostRegister_v2(host, 4096, 0));
    assert_cu(0, cu->MemHostRegister_v2(host + 8192, 4096, 0));
    for (int i = 0; i < 3; i++)
        assert_cu(0, cu->MemHostUnregister_v1(host + i * 4096));
}

TEST(test_pool_when_of_another_device_then_refused)
{
    CUmemoryPool pool, current;
    if (!support_has(11030))
        skip();
    assert_cu(0, cu->DeviceGetDefaultMemPool_v1(&pool, 1));
    assert_cu(1, cu->DeviceSetMemPool_v1(0, pool));
    assert_cu(0, cu->DeviceSetMemPool_v1(1, pool));
    assert_cu(0, cu->DeviceGetMemPool_v1(&current, 0));
    assert_ptr_not_equal(current, pool);
}
