/* SPDX-License-Identifier: MIT */
#include "copies.h"

#include <string.h>

#include "cushim/abi/cuda_abi.h"
#include "text.h"

const char *const trace_memory_names[TRACE_MEMORIES] = {"host", "device", "array", "unified"};

static enum trace_memory memory_of(CUmemorytype type)
{
    return type == CU_MEMORYTYPE_HOST     ? TRACE_HOST
           : type == CU_MEMORYTYPE_DEVICE ? TRACE_DEVICE
           : type == CU_MEMORYTYPE_ARRAY  ? TRACE_ARRAY
                                          : TRACE_UNIFIED;
}

/* The memory at one end of a 2D copy, or of a slice of a 3D copy. */
struct end {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    size_t pitch, x, y;
};

static struct trace_span end_span(const struct end *end, const struct trace_copy *copy)
{
    uint64_t base = end->type == CU_MEMORYTYPE_HOST    ? (uint64_t)(uintptr_t)end->host
                    : end->type == CU_MEMORYTYPE_ARRAY ? 0
                                                       : (uint64_t)end->device;
    return base != 0 && copy->depth == 1
               ? trace_span_of_rows(base + end->y * end->pitch + end->x, end->pitch, copy->width, copy->height)
               : (struct trace_span){.high = 0};
}

static struct trace_copy copy_make(const struct end ends[2], uint64_t width, uint64_t height, uint64_t depth)
{
    struct trace_copy copy = {.from = memory_of(ends[0].type),
                              .to = memory_of(ends[1].type),
                              .width = width,
                              .height = height,
                              .depth = depth,
                              .bytes = width * height * depth};
    copy.source = end_span(&ends[0], &copy);
    copy.target = end_span(&ends[1], &copy);
    return copy;
}

/* The type of copies between contexts has members in place of reserved ones of the other one. */
static bool type_is_deep(enum trace_type_number type)
{
    return type == TRACE_TYPE_CUDA_MEMCPY3D || type == TRACE_TYPE_CUDA_MEMCPY3D_PEER;
}

bool trace_copy_is_struct(const struct trace_slot *slot)
{
    enum trace_type_number type = slot->field_count > 0 ? slot->fields[0].value.number : TRACE_TYPE_UNKNOWN;
    return type == TRACE_TYPE_CUDA_MEMCPY2D || type_is_deep(type);
}

bool trace_copy_find(const struct trace_slot_field *field, const uint64_t *words, struct trace_copy *out_copy)
{
    CUDA_MEMCPY2D flat;
    CUDA_MEMCPY3D deep;
    bool is_flat = field->value.number == TRACE_TYPE_CUDA_MEMCPY2D && field->size == sizeof flat;
    bool is_deep = type_is_deep(field->value.number) && field->size == sizeof deep;
    if (field->kind != TRACE_IN || (!is_flat && !is_deep))
        return false;
    if (is_flat) {
        memcpy(&flat, words, sizeof flat);
        const struct end ends[2] = {
            {flat.srcMemoryType, flat.srcHost, flat.srcDevice, flat.srcPitch, flat.srcXInBytes, flat.srcY},
            {flat.dstMemoryType, flat.dstHost, flat.dstDevice, flat.dstPitch, flat.dstXInBytes, flat.dstY}};
        *out_copy = copy_make(ends, flat.WidthInBytes, flat.Height, 1);
    } else {
        memcpy(&deep, words, sizeof deep);
        const struct end ends[2] = {{deep.srcMemoryType, deep.srcHost, deep.srcDevice, deep.srcPitch, deep.srcXInBytes,
                                     deep.srcY + deep.srcZ * deep.srcHeight},
                                    {deep.dstMemoryType, deep.dstHost, deep.dstDevice, deep.dstPitch, deep.dstXInBytes,
                                     deep.dstY + deep.dstZ * deep.dstHeight}};
        *out_copy = copy_make(ends, deep.WidthInBytes, deep.Height, deep.Depth);
    }
    return true;
}

/* The memory that a parameter "srcHost" or "dstHost" names, by what follows "src" or "dst"; TRACE_MEMORIES: none. */
static enum trace_memory parameter_memory(const char *name)
{
    static const char *const names[TRACE_MEMORIES] = {"Host", "Device", "Array", ""};
    int memory = 0;
    while (memory < TRACE_MEMORIES && strcmp(name, names[memory]) != 0)
        memory++;
    return (enum trace_memory)memory;
}

bool trace_copy_of(const struct trace_slot *slot, const struct trace_call *call, struct trace_copy *out_copy)
{
    const uint64_t *at = call->fields, *end = call->fields + call->words, *bytes = NULL, *addresses[2] = {NULL, NULL};
    enum trace_memory memories[2] = {TRACE_MEMORIES, TRACE_MEMORIES};
    size_t words = 1;
    if (!text_starts_with(slot->function, "cuMemcpy"))
        return false;
    if (trace_copy_is_struct(slot))
        return call->words > 0 && call->fields[0] != 0 && trace_copy_find(&slot->fields[0], call->fields + 1, out_copy);
    for (size_t i = 0; i < slot->field_count && words != 0; i++, at += words) {
        const char *name = slot->fields[i].name;
        words = trace_field_words(&slot->fields[i], at, (size_t)(end - at));
        bool is_source = text_starts_with(name, "src"), is_end = is_source || text_starts_with(name, "dst");
        enum trace_memory memory = words != 0 && is_end ? parameter_memory(name + 3) : TRACE_MEMORIES;
        if (memory != TRACE_MEMORIES) {
            memories[is_source ? 0 : 1] = memory;
            addresses[is_source ? 0 : 1] = memory != TRACE_ARRAY ? at : NULL;
        } else if (words != 0 && (strcmp(name, "ByteCount") == 0 || strcmp(name, "size") == 0)) {
            bytes = at;
        }
    }
    if (bytes == NULL || memories[0] == TRACE_MEMORIES || memories[1] == TRACE_MEMORIES)
        return false;
    *out_copy = (struct trace_copy){memories[0], memories[1], *bytes, 1, 1, *bytes, {.high = 0}, {.high = 0}};
    if (addresses[0] != NULL)
        out_copy->source = trace_span_of_rows(*addresses[0], 0, *bytes, 1);
    if (addresses[1] != NULL)
        out_copy->target = trace_span_of_rows(*addresses[1], 0, *bytes, 1);
    return true;
}

struct trace_span trace_span_of_rows(uint64_t low, uint64_t pitch, uint64_t width, uint64_t height)
{
    bool is_flat = height <= 1 || pitch == width;
    uint64_t rows = height > 0 ? height - 1 : 0;
    return (struct trace_span){
        .low = low, .high = low + rows * pitch + width, .pitch = is_flat ? 0 : pitch, .width = width};
}

/* Both have rows of one pitch: the later one begins in a row of the earlier one, or between two of its rows. */
static bool rows_overlap(const struct trace_span *one, const struct trace_span *other)
{
    const struct trace_span *first = one->low <= other->low ? one : other, *last = first == one ? other : one;
    uint64_t row = (last->low - first->low) / first->pitch, column = (last->low - first->low) % first->pitch;
    uint64_t rows = (first->high - first->low + first->pitch - 1) / first->pitch;
    return (column < first->width && row < rows) || (column + last->width > first->pitch && row + 1 < rows);
}

bool trace_spans_overlap(const struct trace_span *one, const struct trace_span *other)
{
    if (one->low >= other->high || other->low >= one->high)
        return false;
    if (one->pitch == 0 && other->pitch == 0)
        return true;
    if (one->pitch != 0 && other->pitch != 0)
        return one->pitch == other->pitch && rows_overlap(one, other); /* of two pitches, it is not certain */
    const struct trace_span *rows = one->pitch != 0 ? one : other, *flat = rows == one ? other : one;
    uint64_t row = flat->low > rows->low ? (flat->low - rows->low) / rows->pitch : 0;
    for (uint64_t at = rows->low + row * rows->pitch, tries = 0; tries < 2; tries++, at += rows->pitch) {
        if (at < flat->high && at < rows->high && flat->low < at + rows->width)
            return true;
    }
    return false;
}
