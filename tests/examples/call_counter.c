/* SPDX-License-Identifier: MIT */
/*
 * call_counter.c - a layer that a program adds to itself: it counts the calls of every driver function.
 *
 * With a GPU it prints:
 *
 *     cuCtxCreate       1
 *     cuCtxDestroy      1
 *     cuCtxSynchronize  1
 *     cuInit            1
 *     cuMemAlloc        1
 *     cuMemFree         1
 *     cuMemsetD8Async   100
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "cushim/cushim.h"
#include "cushim/abi/egl.h" /* a frame is passed by value */

static struct cushim_layer counter;
static atomic_ulong counts[CUSHIM_SLOT_COUNT];

/* A function for each slot, or two where the tables of the default streams differ. */
#define COUNTER(suffix, kind, function, abi, params, args)                                                             \
    static CUresult CUDAAPI count_##function##_##abi##_##suffix params                                                 \
    {                                                                                                                  \
        atomic_fetch_add_explicit(&counts[CUSHIM_SLOT_##function##_##abi], 1, memory_order_relaxed);                   \
        return cushim_layer_next(&counter, kind)->function##_##abi args;                                               \
    }
#define CUSHIM_ENTRY(function, abi, since, params, args)                                                               \
    COUNTER(legacy, CUSHIM_DEFAULT_STREAM_LEGACY, function, abi, params, args)
#define CUSHIM_ENTRY_BY_KIND(function, abi, since, params, args)                                                       \
    COUNTER(legacy, CUSHIM_DEFAULT_STREAM_LEGACY, function, abi, params, args)                                         \
    COUNTER(per_thread, CUSHIM_DEFAULT_STREAM_PER_THREAD, function, abi, params, args)
#include "cushim/entry_points.h"

static CUresult counter_install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                                const enum cushim_slot_state *states, enum cushim_default_stream kind, void *user)
{
    (void)next, (void)states, (void)user;
#define CUSHIM_ENTRY(function, abi, since, params, args) table->function##_##abi = count_##function##_##abi##_legacy;
#define CUSHIM_ENTRY_BY_KIND(function, abi, since, params, args)                                                       \
    table->function##_##abi = CUSHIM_LAYER_OF_KIND(count_##function##_##abi, kind);
#include "cushim/entry_points.h"
    return CUDA_SUCCESS;
}

static struct cushim_layer counter = CUSHIM_LAYER("call counter", counter_install, NULL);

static void print_counts(void)
{
    for (int slot = 0; slot < CUSHIM_SLOT_COUNT; slot++) {
        struct cushim_slot_info info;
        if (counts[slot] != 0 && cushim_slot_get_info(slot, CUSHIM_DEFAULT_STREAM_AS_COMPILED, &info) == CUDA_SUCCESS)
            printf("%-17s %lu\n", info.function, (unsigned long)counts[slot]);
    }
}

static void check(CUresult result)
{
    if (result == CUDA_SUCCESS)
        return;
    printf("error %d: %s\n", (int)result, cushim_error_last()->message);
    exit(EXIT_FAILURE);
}

int main(void)
{
    CUcontext context;
    CUdeviceptr memory;
    check(cushim_layer_add(&counter)); /* before the load, which then installs it */
    if (cushim_init() != CUDA_SUCCESS) {
        printf("No usable GPU: %s\n", cushim_diagnosis_get()->message);
        return EXIT_SUCCESS;
    }
    check(CUSHIM_CALL(CtxCreate_v2, &context, 0, 0));
    check(CUSHIM_CALL(MemAlloc_v2, &memory, 1024));
    for (int i = 0; i < 100; i++)
        check(CUSHIM_CALL(MemsetD8Async_v1, memory, 0, 1024, NULL));
    check(CUSHIM_CALL(CtxSynchronize_v1, ));
    check(CUSHIM_CALL(MemFree_v2, memory));
    check(CUSHIM_CALL(CtxDestroy_v2, context));
    check(cushim_layer_stop(&counter));
    print_counts();
    return EXIT_SUCCESS;
}
