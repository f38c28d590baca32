/* SPDX-License-Identifier: MIT */
/* A layer with which softcuda has cuMemcpyBatchAsync: its copies are done one after the other. */
#include "cushim/layer.h"

static struct cushim_layer layer;

static CUresult CUDAAPI batching_MemcpyBatchAsync(CUdeviceptr *targets, CUdeviceptr *sources, size_t *sizes,
                                                  size_t count, CUmemcpyAttributes *attributes, size_t *first_of,
                                                  size_t attribute_count, CUstream stream)
{
    CUresult result = CUDA_SUCCESS;
    (void)attributes, (void)first_of, (void)attribute_count;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
        result = cushim_layer_next(&layer, CUSHIM_DEFAULT_STREAM_LEGACY)
                     ->MemcpyAsync_v1(targets[i], sources[i], sizes[i], stream);
    return result;
}

static CUresult install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *before,
                        const enum cushim_slot_state *states, enum cushim_default_stream kind, void *user)
{
    (void)before, (void)states, (void)kind, (void)user;
    table->MemcpyBatchAsync_v2 = batching_MemcpyBatchAsync;
    return CUDA_SUCCESS;
}

static struct cushim_layer layer = CUSHIM_LAYER("batching", install, NULL);
CUSHIM_LAYER_ENTRY(layer)
