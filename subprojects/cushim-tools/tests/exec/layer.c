/* SPDX-License-Identifier: MIT */
/* A layer that shows how often it is installed: each time, the driver's version is one minor version higher. */
#include "cushim/layer.h"

static struct cushim_layer layer;

static CUresult CUDAAPI newer_DriverGetVersion(int *version)
{
    CUresult result = cushim_layer_next(&layer, CUSHIM_DEFAULT_STREAM_LEGACY)->DriverGetVersion_v1(version);
    if (result == CUDA_SUCCESS)
        *version += 10;
    return result;
}

static CUresult install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                        const enum cushim_slot_state *states, enum cushim_default_stream kind, void *user)
{
    (void)next;
    (void)states;
    (void)kind;
    (void)user;
    table->DriverGetVersion_v1 = newer_DriverGetVersion;
    return CUDA_SUCCESS;
}

static struct cushim_layer layer = CUSHIM_LAYER("newer", install, NULL);
CUSHIM_LAYER_ENTRY(layer)
