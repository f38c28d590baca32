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

bool trace_copy_find(const struct trace_slot_field *field, const uint64_t *words, struct trace_copy *out_copy)
{
    CUDA_MEMCPY2D flat;
    CUDA_MEMCPY3D deep;
    bool is_flat = strcmp(field->type, "const CUDA_MEMCPY2D *") == 0 && field->size == sizeof flat;
    /* That of copies between contexts has these in place of reserved members. */
    bool is_deep =
        (strcmp(field->type, "const CUDA_MEMCPY3D *") == 0 || strcmp(field->type, "const CUDA_MEMCPY3D_PEER *") == 0)
        && field->size == sizeof deep;
    if (field->kind != TRACE_IN || (!is_flat && !is_deep))
        return false;
    if (is_flat) {
        memcpy(&flat, words, sizeof flat);
        *out_copy = (struct trace_copy){
            memory_of(flat.srcMemoryType), memory_of(flat.dstMemoryType), flat.WidthInBytes, flat.Height, 1, 0};
    } else {
        memcpy(&deep, words, sizeof deep);
        *out_copy = (struct trace_copy){memory_of(deep.srcMemoryType),
                                        memory_of(deep.dstMemoryType),
                                        deep.WidthInBytes,
                                        deep.Height,
                                        deep.Depth,
                                        0};
    }
    out_copy->bytes = out_copy->width * out_copy->height * out_copy->depth;
    return true;
}

bool trace_copy_of(const struct trace_slot *slot, const struct trace_call *call, struct trace_copy *out_copy)
{
    static const char *const ends[2][TRACE_MEMORIES] = {{"srcHost", "srcDevice", "srcArray", "src"},
                                                        {"dstHost", "dstDevice", "dstArray", "dst"}};
    enum trace_memory memories[2] = {TRACE_MEMORIES, TRACE_MEMORIES};
    if (!text_starts_with(slot->function, "cuMemcpy") || slot->field_count == 0)
        return false;
    if (strcmp(slot->fields[0].name, "pCopy") == 0)
        return call->words > 0 && call->fields[0] != 0 && trace_copy_find(&slot->fields[0], call->fields + 1, out_copy);
    const uint64_t *bytes = trace_find_field(slot, call, "ByteCount");
    if (bytes == NULL)
        bytes = trace_find_field(slot, call, "size"); /* of cuMemcpyWithAttributesAsync */
    for (size_t end = 0; end < 2; end++) {
        for (int memory = 0; memory < TRACE_MEMORIES; memory++) {
            if (trace_find_field(slot, call, ends[end][memory]) != NULL)
                memories[end] = (enum trace_memory)memory;
        }
    }
    if (bytes == NULL || memories[0] == TRACE_MEMORIES || memories[1] == TRACE_MEMORIES)
        return false;
    *out_copy = (struct trace_copy){memories[0], memories[1], *bytes, 1, 1, *bytes};
    return true;
}
