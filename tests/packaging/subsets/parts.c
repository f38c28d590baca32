/* SPDX-License-Identifier: MIT */
/*
 * One part of a program whose parts each contain their own copy of cushim: two subsets and the whole library.
 * PART is the name of the part. Its copy has a version limit of its own and a layer of its own.
 */
#include <stdatomic.h>

#include "cushim.h"
#include "parts.h"

#define CONCATENATE_AGAIN(a, b) a##b
#define CONCATENATE(a, b) CONCATENATE_AGAIN(a, b)
#define OF_PART(name) CONCATENATE(PART, name)
#define TEXT_AGAIN(name) #name
#define TEXT(name) TEXT_AGAIN(name)

static struct cushim_layer layer;
static atomic_int calls;

static CUresult CUDAAPI count_DeviceGetCount_v1(int *count)
{
    calls++;
    return cushim_layer_next(&layer, CUSHIM_DEFAULT_STREAM_LEGACY)->DeviceGetCount_v1(count);
}

static CUresult install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                        const enum cushim_slot_state *states, enum cushim_default_stream kind, void *user)
{
    (void)next, (void)states, (void)kind, (void)user;
    table->DeviceGetCount_v1 = count_DeviceGetCount_v1;
    return CUDA_SUCCESS;
}

static struct cushim_layer layer = CUSHIM_LAYER(TEXT(PART), install, NULL);

static void part_load(int limit)
{
    const struct cushim_load_options options = {.max_version = limit};
    (void)cushim_load(&options);
}

static CUresult part_add_layer(void)
{
    return cushim_layer_add(&layer);
}

static CUresult part_count_devices(int *out_count)
{
    return cushim_table_legacy()->DeviceGetCount_v1(out_count);
}

static int part_calls(void)
{
    return calls;
}

static const void *part_table(void)
{
    return cushim_table_legacy();
}

static CUresult part_fail(const char **out_message)
{
    cushim_fn fn;
    CUresult result = cushim_lookup("cuNoSuchFunction" TEXT(PART), 11000, CUSHIM_DEFAULT_STREAM_LEGACY, &fn);
    *out_message = cushim_error_last()->message;
    return result;
}

const struct part OF_PART(_part) = {
    .load = part_load,
    .version = cushim_driver_version,
    .add_layer = part_add_layer,
    .init = cushim_init,
    .count_devices = part_count_devices,
    .calls = part_calls,
    .table = part_table,
    .fail = part_fail,
    .slots = CUSHIM_SLOT_COUNT,
};
