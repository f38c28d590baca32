/* SPDX-License-Identifier: MIT */
/* A layer with which the first free of memory returns when another thread has got the address again, and used it. */
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

#include "cushim/layer.h"

static struct cushim_layer layer;

enum { ALLOCATED = 1, FREED, GIVEN, USED };

static _Atomic int state; /* of the first memory */
static uintptr_t kept;

static const struct cushim_dispatch_table *below(void)
{
    return cushim_layer_next(&layer, CUSHIM_DEFAULT_STREAM_LEGACY);
}

static void await(int wanted)
{
    while (state < wanted)
        sched_yield();
}

/* Returns whether the driver allocates: the second allocation gets the memory that is being freed. */
static bool allocates(uintptr_t *address)
{
    if (state == 0)
        state = ALLOCATED;
    else if (state < GIVEN) {
        await(FREED);
        *address = kept;
        state = GIVEN;
        return false;
    }
    return true;
}

static bool frees(uintptr_t address)
{
    if (state != ALLOCATED)
        return true;
    kept = address;
    state = FREED;
    await(USED);
    return false;
}

static CUresult use(CUresult result)
{
    if (state == GIVEN)
        state = USED;
    return result;
}

static CUresult CUDAAPI reusing_MemAllocAsync(CUdeviceptr *out, size_t size, CUstream stream)
{
    uintptr_t address;
    if (allocates(&address))
        return below()->MemAllocAsync_v1(out, size, stream);
    *out = address;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI reusing_MemHostAlloc(void **out, size_t size, unsigned flags)
{
    uintptr_t address;
    if (allocates(&address))
        return below()->MemHostAlloc_v1(out, size, flags);
    *out = (void *)address;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI reusing_MemFreeAsync(CUdeviceptr memory, CUstream stream)
{
    return frees((uintptr_t)memory) ? below()->MemFreeAsync_v1(memory, stream) : CUDA_SUCCESS;
}

static CUresult CUDAAPI reusing_MemFreeHost(void *memory)
{
    return frees((uintptr_t)memory) ? below()->MemFreeHost_v1(memory) : CUDA_SUCCESS;
}

static CUresult CUDAAPI reusing_MemsetD8Async(CUdeviceptr to, unsigned char value, size_t size, CUstream stream)
{
    return use(below()->MemsetD8Async_v1(to, value, size, stream));
}

static CUresult CUDAAPI reusing_MemcpyDtoHAsync(void *to, CUdeviceptr from, size_t size, CUstream stream)
{
    return use(below()->MemcpyDtoHAsync_v2(to, from, size, stream));
}

static CUresult install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *before,
                        const enum cushim_slot_state *states, enum cushim_default_stream kind, void *user)
{
    (void)before, (void)states, (void)kind, (void)user;
    table->MemAllocAsync_v1 = reusing_MemAllocAsync;
    table->MemHostAlloc_v1 = reusing_MemHostAlloc;
    table->MemFreeAsync_v1 = reusing_MemFreeAsync;
    table->MemFreeHost_v1 = reusing_MemFreeHost;
    table->MemsetD8Async_v1 = reusing_MemsetD8Async;
    table->MemcpyDtoHAsync_v2 = reusing_MemcpyDtoHAsync;
    return CUDA_SUCCESS;
}

static struct cushim_layer layer = CUSHIM_LAYER("reusing", install, NULL);
CUSHIM_LAYER_ENTRY(layer)
