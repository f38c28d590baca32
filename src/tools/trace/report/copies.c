/* SPDX-License-Identifier: MIT */
#include "copies.h"

#include <string.h>

#include "cushim/abi/cuda_abi.h"

static const char *memory_name(CUmemorytype type)
{
    return type == CU_MEMORYTYPE_HOST     ? "host"
           : type == CU_MEMORYTYPE_DEVICE ? "device"
           : type == CU_MEMORYTYPE_ARRAY  ? "array"
                                          : "unified";
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
            memory_name(flat.srcMemoryType), memory_name(flat.dstMemoryType), flat.WidthInBytes, flat.Height, 1, 0};
    } else {
        memcpy(&deep, words, sizeof deep);
        *out_copy = (struct trace_copy){memory_name(deep.srcMemoryType),
                                        memory_name(deep.dstMemoryType),
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
    const uint64_t *at = trace_find_field(slot, call, "pCopy");
    return at != NULL && at[0] != 0 && strcmp(slot->fields[0].name, "pCopy") == 0
           && trace_copy_find(&slot->fields[0], at + 1, out_copy);
}
