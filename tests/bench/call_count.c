/* SPDX-License-Identifier: MIT */
/*
 * call_count.c - calls one driver function many times, so that call_count.py can count the instructions.
 *
 *   call_count direct|table|beside COUNT
 *
 * "direct" calls through the procedure linkage table, as a program linked to libcuda.so.1 does. "table" calls
 * cushim_table() each time. The two loops are otherwise equal. "beside" is "table" with a layer on another slot.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cushim/cushim.h"

CUresult CUDAAPI cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *captureStatus);

static int call_direct(long count)
{
    CUstreamCaptureStatus status;
    int failures = 0;
    for (long i = 0; i < count; i++)
        failures |= cuStreamIsCapturing(NULL, &status) != CUDA_SUCCESS;
    return failures;
}

static int call_table(long count)
{
    CUstreamCaptureStatus status;
    int failures = 0;
    for (long i = 0; i < count; i++)
        failures |= cushim_table()->StreamIsCapturing_v1(NULL, &status) != CUDA_SUCCESS;
    return failures;
}

static struct cushim_layer layer;

static CUresult layer_query(enum cushim_default_stream kind, CUstream stream)
{
    return cushim_layer_next(&layer, kind)->StreamQuery_v1(stream);
}
CUSHIM_LAYER_BOTH_KINDS(layer_query, (CUstream stream), stream)

static CUresult layer_install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                              const enum cushim_slot_state *states, enum cushim_default_stream kind, void *user)
{
    (void)next;
    (void)states;
    (void)user;
    table->StreamQuery_v1 = CUSHIM_LAYER_OF_KIND(layer_query, kind);
    return CUDA_SUCCESS;
}

static struct cushim_layer layer = CUSHIM_LAYER("layer", layer_install, NULL);

int main(int argc, char **argv)
{
    if (argc != 3 || cushim_load(NULL) != CUDA_SUCCESS) {
        fprintf(stderr, "call_count: %s\n", argc != 3 ? "direct|table|beside COUNT" : cushim_error_last()->message);
        return 1;
    }
    if (strcmp(argv[1], "beside") == 0 && cushim_layer_add(&layer) != CUDA_SUCCESS) {
        fprintf(stderr, "call_count: %s\n", cushim_error_last()->message);
        return 1;
    }
    long count = strtol(argv[2], NULL, 10);
    return strcmp(argv[1], "direct") == 0 ? call_direct(count) : call_table(count);
}
