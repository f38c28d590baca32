/* SPDX-License-Identifier: MIT */
/* A layer that makes thousands of calls within a call, by the names that the driver exports. */
#include <dlfcn.h>
#include <string.h>

#include "cushim/layer.h"

static CUresult CUDAAPI nested_StreamQuery(CUstream stream)
{
    int version;
    CUresult (*get)(int *);
    void *symbol = dlsym(RTLD_DEFAULT, "cuDriverGetVersion");
    (void)stream;
    memcpy(&get, &symbol, sizeof get);
    for (int i = 0; i < 5000; i++)
        get(&version);
    return CUDA_ERROR_NOT_READY;
}

static CUresult install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                        const enum cushim_slot_state *states, enum cushim_default_stream kind, void *user)
{
    (void)next, (void)states, (void)kind, (void)user;
    table->StreamQuery_v1 = nested_StreamQuery;
    return CUDA_SUCCESS;
}

static struct cushim_layer layer = CUSHIM_LAYER("nested", install, NULL);
CUSHIM_LAYER_ENTRY(layer)
