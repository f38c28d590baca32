/* SPDX-License-Identifier: MIT */
/*
 * memory_limit.c - a layer that limits the GPU memory of any program that uses cushim.
 *
 *     cc -shared -fPIC memory_limit.c -o memory_limit.so
 *     CUSHIM_LAYERS=./memory_limit.so MEMORY_LIMIT=64 ./optional_gpu
 *
 * It counts what cuMemAlloc gives; the other functions that allocate are limited in the same way. The example
 * optional_gpu needs 96 bytes, so this limit makes it draw with the CPU.
 *
 * With a GPU it prints:
 *
 *     drawn by the CPU: cuMemAlloc_v2 returned CUDA_ERROR_OUT_OF_MEMORY: ...
 *     ++++++++++++++++
 *     ++++++    ++++++
 *     +++          +++
 *     +++          +++
 *     ++++++    ++++++
 *     ++++++++++++++++
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "cushim/cushim.h"

static struct cushim_layer limit;
static size_t most;
static atomic_size_t used;

#define NEXT cushim_layer_next(&limit, CUSHIM_DEFAULT_STREAM_LEGACY) /* the same functions for both default streams */

static CUresult CUDAAPI limit_MemAlloc(CUdeviceptr *memory, size_t size)
{
    bool fits = atomic_fetch_add(&used, size) + size <= most;
    CUresult result = fits ? NEXT->MemAlloc_v2(memory, size) : CUDA_ERROR_OUT_OF_MEMORY;
    if (result != CUDA_SUCCESS)
        atomic_fetch_sub(&used, size);
    return result;
}

static CUresult CUDAAPI limit_MemFree(CUdeviceptr memory)
{
    size_t size = 0;
    CUresult known = NEXT->MemGetAddressRange_v2(NULL, &size, memory);
    CUresult result = NEXT->MemFree_v2(memory);
    if (known == CUDA_SUCCESS && result == CUDA_SUCCESS)
        atomic_fetch_sub(&used, size);
    return result;
}

static CUresult limit_install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                              const enum cushim_slot_state *states, enum cushim_default_stream kind, void *user)
{
    (void)next, (void)states, (void)kind, (void)user;
    const char *setting = getenv("MEMORY_LIMIT");
    most = setting != NULL ? strtoull(setting, NULL, 10) : 0;
    table->MemAlloc_v2 = limit_MemAlloc;
    table->MemFree_v2 = limit_MemFree;
    return setting != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; /* the load then fails, and names this layer */
}

static struct cushim_layer limit = CUSHIM_LAYER("memory limit", limit_install, NULL);
CUSHIM_LAYER_ENTRY(limit)
