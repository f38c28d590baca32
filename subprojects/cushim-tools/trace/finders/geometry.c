/* SPDX-License-Identifier: MIT */
/*
 * Launches with dimensions that cannot be: an empty grid or block, or more than a limit that the program itself has
 * asked for. The limit of a device is the greatest that the program has got for any device.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "finder.h"
#include "../model/kernels.h"

enum { LIMIT_OF_DEVICE = 1, LIMIT_OF_FUNCTION };

/* An attribute that a call has read or set. */
struct limit {
    struct trace_key key; /* the attribute; and above 8 bits, the function */
    uint64_t value;
    struct trace_moment moment;
    bool is_set;
};

struct geometry {
    struct trace_table limits;
    unsigned char *kinds; /* of the attribute that the function of each slot reads or sets; 0: none */
};

/* A launch that failed. */
struct launch {
    const struct geometry *geometry;
    const struct trace_model *model;
    size_t process;
    uint64_t function, kernel; /* the kernel of which it is the function, or 0 */
    uint32_t dimensions[TRACE_LAUNCH_DIMENSIONS];
    char why[512];
};

static struct trace_key limit_key(size_t process, uint32_t kind, uint64_t function, uint64_t attribute)
{
    return (struct trace_key){function << 8 | (attribute & 0xff), (uint32_t)process, kind};
}

static const struct limit *limit_find(const struct launch *launch, uint32_t kind, uint64_t attribute)
{
    const struct trace_table *limits = &launch->geometry->limits;
    uint64_t function = kind == LIMIT_OF_FUNCTION ? launch->function : 0;
    const struct limit *limit = trace_table_find(limits, limit_key(launch->process, kind, function, attribute));
    if (limit == NULL && kind == LIMIT_OF_FUNCTION && launch->kernel != 0)
        limit = trace_table_find(limits, limit_key(launch->process, kind, launch->kernel, attribute));
    return limit;
}

/* ---- limits ---- */

/* The argument of a call with one of these names, or NULL. */
static const uint64_t *argument_find(const struct trace_slot *slot, const struct trace_call *call, const char *name,
                                     const char *other)
{
    const uint64_t *found = trace_find_field(slot, call, name);
    return found != NULL || other == NULL ? found : trace_find_field(slot, call, other);
}

static unsigned char kind_of(const struct trace_slot *slot)
{
    for (size_t i = 0; i < slot->field_count; i++) {
        if (slot->fields[i].value.number == TRACE_TYPE_CUdevice_attribute)
            return LIMIT_OF_DEVICE;
        if (slot->fields[i].value.number == TRACE_TYPE_CUfunction_attribute)
            return LIMIT_OF_FUNCTION;
    }
    return 0;
}

/* Takes note of an attribute after a success. Returns false if there is not enough memory. */
static bool limit_read(struct geometry *geometry, const struct trace_model *model, const struct trace_call *call)
{
    const struct trace_slot *slot = &model->reader->slots[call->slot];
    uint32_t kind = geometry->kinds[call->slot];
    if (kind == 0)
        return true;
    const uint64_t *attribute = trace_find_field(slot, call, "attrib");
    const uint64_t *read = trace_find_field(slot, call, "pi"), *set = argument_find(slot, call, "value", "val");
    const uint64_t *function = argument_find(slot, call, "hfunc", "kernel");
    if (read != NULL && read + 1 >= call->fields + call->words) /* of a damaged schema */
        return true;
    if (attribute == NULL || (read == NULL && set == NULL) || (kind == LIMIT_OF_FUNCTION && function == NULL))
        return true;
    uint64_t value = (uint32_t)(read != NULL ? read[1] : set[0]);
    struct limit *limit = trace_table_add(
        &geometry->limits, limit_key(call->process, kind, kind == LIMIT_OF_FUNCTION ? *function : 0, *attribute));
    if (limit == NULL)
        return false;
    if (kind == LIMIT_OF_DEVICE && limit->value > value)
        return true;
    limit->value = value;
    limit->moment = trace_moment_of(model, call);
    limit->is_set = read == NULL;
    return true;
}

/* ---- launches ---- */

/* Whether a number is above a limit that is known. If so, writes the sentence: what it is, and what to do. */
static bool is_above(struct launch *launch, const struct limit *limit, uint64_t number, const char *what,
                     const char *unit, const char *advice)
{
    if (limit == NULL || number <= limit->value)
        return false;
    const struct trace_type type = trace_type_get(limit->key.kind == LIMIT_OF_DEVICE ? TRACE_TYPE_CUdevice_attribute
                                                                                     : TRACE_TYPE_CUfunction_attribute);
    const char *name = trace_type_enumerator(&type, limit->key.id & 0xff);
    snprintf(launch->why, sizeof launch->why,
             "%s %" PRIu64 "%s, and the limit is %" PRIu64 " (%s, which %s %s at %.6f s): %s", what, number, unit,
             limit->value, name != NULL ? name : "an attribute",
             launch->model->reader->slots[limit->moment.slot].function, limit->is_set ? "set" : "read",
             (double)limit->moment.begin / 1e9, advice);
    return true;
}

/* An empty grid or block. */
static bool is_empty(struct launch *launch)
{
    for (size_t i = 0; i < 2; i++) {
        const uint32_t *at = launch->dimensions + 3 * i;
        if (at[0] != 0 && at[1] != 0 && at[2] != 0)
            continue;
        snprintf(launch->why, sizeof launch->why, "its %s is empty, %" PRIu32 "x%" PRIu32 "x%" PRIu32 ": %s",
                 i == 0 ? "grid" : "block", at[0], at[1], at[2],
                 i == 0 ? "round up when you divide by the size of a block, and do not launch if there is no work"
                        : "each dimension must be at least 1");
        return true;
    }
    return false;
}

static bool has_many_threads(struct launch *launch)
{
    const uint32_t *block = launch->dimensions + 3;
    uint64_t plane = (uint64_t)block[0] * block[1];
    uint64_t threads = plane > UINT32_MAX ? UINT64_MAX : plane * block[2];
    char what[96];
    snprintf(what, sizeof what, "a block of %" PRIu32 "x%" PRIu32 "x%" PRIu32 " has", block[0], block[1], block[2]);
    static const char advice[] = "use smaller blocks, and more of them";
    return is_above(launch, limit_find(launch, LIMIT_OF_FUNCTION, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), threads,
                    what, " threads", advice)
           || is_above(launch, limit_find(launch, LIMIT_OF_DEVICE, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK), threads,
                       what, " threads", advice);
}

static bool has_long_dimension(struct launch *launch)
{
    static const struct {
        CUdevice_attribute attribute;
        const char *what;
    } rows[] = {
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, "x of its grid is"},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, "y of its grid is"},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, "z of its grid is"},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, "x of its block is"},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, "y of its block is"},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, "z of its block is"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (is_above(launch, limit_find(launch, LIMIT_OF_DEVICE, rows[i].attribute), launch->dimensions[i],
                     rows[i].what, "", "spread the work over the other dimensions, or let a thread do more of it"))
            return true;
    }
    return false;
}

static bool has_much_memory(struct launch *launch)
{
    const struct limit *of_function =
        limit_find(launch, LIMIT_OF_FUNCTION, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    const struct limit *of_device =
        limit_find(launch, LIMIT_OF_DEVICE, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    return is_above(launch, of_function != NULL ? of_function : of_device, launch->dimensions[6], "a block needs",
                    " bytes of dynamic shared memory",
                    "use less, or let cuFuncSetAttribute allow more for this kernel before "
                    "(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, at most "
                    "CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)");
}

/* The kernel of which a function is that for the current context, or 0. */
static uint64_t kernel_of(const struct trace_model *model, size_t process, uint64_t function)
{
    const struct trace_object *object = trace_object_find(model, process, TRACE_ROW_FUNCTION, function);
    return object != NULL && object->parent.kind == TRACE_ROW_KERNEL + 1 ? object->parent.id : 0;
}

/* Returns false if there is not enough memory. */
static bool kinds_find(struct geometry *geometry, const struct trace_reader *reader)
{
    geometry->kinds = calloc(reader->slot_count + 1, 1);
    for (size_t i = 0; geometry->kinds != NULL && i < reader->slot_count; i++)
        geometry->kinds[i] = kind_of(&reader->slots[i]);
    return geometry->kinds != NULL;
}

static bool geometry_read(void *state, const struct trace_model *model, const struct trace_call *call,
                          struct trace_list *list)
{
    struct geometry *geometry = state;
    const struct trace_slot *slot = &model->reader->slots[call->slot];
    struct launch launch = {.geometry = geometry, .model = model, .process = call->process};
    geometry->limits.size = sizeof(struct limit);
    if (geometry->kinds == NULL && !kinds_find(geometry, model->reader))
        return false;
    if (!call->returned)
        return true;
    if (call->result == CUDA_SUCCESS)
        return limit_read(geometry, model, call);
    if ((call->result != CUDA_ERROR_INVALID_VALUE && call->result != CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)
        || !trace_launch_find(slot, call, &launch.function, launch.dimensions))
        return true;
    launch.kernel = kernel_of(model, call->process, launch.function);
    if (!is_empty(&launch) && !has_many_threads(&launch) && !has_long_dimension(&launch) && !has_much_memory(&launch))
        return true;
    struct trace_moment moment = trace_moment_of(model, call);
    const char *name = trace_kernel_name(model, call->process, launch.function);
    return trace_list_add(list, TRACE_FINDING_GEOMETRY, &moment, "%s%s%s returned %s: %s", slot->function,
                          name != NULL ? " of " : "", name != NULL ? name : "", trace_result(call->result).text,
                          launch.why);
}

static void geometry_free(void *state)
{
    struct geometry *geometry = state;
    free(geometry->limits.entries);
    free(geometry->kinds);
}

const struct trace_finder trace_finder_geometry = {sizeof(struct geometry), geometry_read, NULL, geometry_free};
