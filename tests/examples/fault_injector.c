/* SPDX-License-Identifier: MIT */
/*
 * fault_injector.c - a layer that makes one call of any driver function fail, in any program that uses cushim.
 *
 *     CUSHIM_LAYERS=./fault_injector.so FAULT=MemcpyDtoHAsync_v2 ./optional_gpu
 *
 * FAULT names a slot. Its first call returns CUDA_ERROR_ECC_UNCORRECTABLE and does not reach the driver.
 *
 * With a GPU it prints:
 *
 *     drawn by the CPU: cuMemcpyDtoHAsync_v2 returned CUDA_ERROR_ECC_UNCORRECTABLE: ...
 *     ++++++++++++++++
 *     ++++++    ++++++
 *     +++          +++
 *     +++          +++
 *     ++++++    ++++++
 *     ++++++++++++++++
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cushim/cushim.h"
#include "cushim/abi/egl.h" /* a frame is passed by value */

static struct cushim_layer injector;
static atomic_bool has_failed;

/* A function for each slot, or two where the tables of the default streams differ. */
#define INJECTOR(suffix, kind, function, abi, params, args)                                                            \
    static CUresult CUDAAPI function##_##abi##_##suffix params                                                         \
    {                                                                                                                  \
        return atomic_exchange(&has_failed, true) ? cushim_layer_next(&injector, kind)->function##_##abi args          \
                                                  : CUDA_ERROR_ECC_UNCORRECTABLE;                                      \
    }
#define CUSHIM_ENTRY(function, abi, since, params, args)                                                               \
    INJECTOR(legacy, CUSHIM_DEFAULT_STREAM_LEGACY, function, abi, params, args)
#define CUSHIM_ENTRY_BY_KIND(function, abi, since, params, args)                                                       \
    INJECTOR(legacy, CUSHIM_DEFAULT_STREAM_LEGACY, function, abi, params, args)                                        \
    INJECTOR(per_thread, CUSHIM_DEFAULT_STREAM_PER_THREAD, function, abi, params, args)
#include "cushim/entry_points.h"

/* Replaces one slot. The calls of all others stay as fast as before. */
static CUresult injector_install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                                 const enum cushim_slot_state *states, enum cushim_default_stream kind, void *user)
{
    (void)next, (void)states, (void)user;
    const char *slot = getenv("FAULT");
    if (slot == NULL)
        return CUDA_ERROR_INVALID_VALUE; /* the load then fails, and names this layer */
#define CUSHIM_ENTRY(function, abi, since, params, args)                                                               \
    if (strcmp(slot, #function "_" #abi) == 0) {                                                                       \
        table->function##_##abi = function##_##abi##_legacy;                                                           \
        return CUDA_SUCCESS;                                                                                           \
    }
#define CUSHIM_ENTRY_BY_KIND(function, abi, since, params, args)                                                       \
    if (strcmp(slot, #function "_" #abi) == 0) {                                                                       \
        table->function##_##abi = CUSHIM_LAYER_OF_KIND(function##_##abi, kind);                                        \
        return CUDA_SUCCESS;                                                                                           \
    }
#include "cushim/entry_points.h"
    return CUDA_ERROR_NOT_FOUND;
}

static struct cushim_layer injector = CUSHIM_LAYER("fault injector", injector_install, NULL);
CUSHIM_LAYER_ENTRY(injector)
