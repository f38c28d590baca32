/* SPDX-License-Identifier: MIT */
#include "loaded.h"

#include <stdatomic.h>
#include <stddef.h>

#include "cushim/abi/cuda_abi.h"
#include "cushim/dispatch_table.h"

enum { KEYS = 1024 };

/* At the place that its key leads to, a kernel replaces another one. */
static _Atomic uint64_t keys[KEYS];
static _Atomic uint64_t loaded_generation = 1;

static uint64_t mix(uint64_t key, uint64_t value)
{
    key = (key ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return key ^ key >> 32;
}

uint64_t loaded_key(const struct cushim_dispatch_table *next, uint64_t kernel)
{
    CUcontext context = NULL;
    if (next->CtxGetCurrent_v1(&context) != CUDA_SUCCESS || context == NULL)
        return 0;
    return mix(mix(mix(0, kernel), (uint64_t)(uintptr_t)context), atomic_load(&loaded_generation));
}

bool loaded_has(uint64_t key)
{
    return key != 0 && atomic_load_explicit(&keys[key % KEYS], memory_order_relaxed) == key;
}

void loaded_add(uint64_t key)
{
    if (key != 0)
        atomic_store_explicit(&keys[key % KEYS], key, memory_order_relaxed);
}

void loaded_forget(void)
{
    atomic_fetch_add(&loaded_generation, 1);
}
