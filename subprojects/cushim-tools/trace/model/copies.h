/* SPDX-License-Identifier: MIT */
/* From where to where copies are, and their bytes: by the parameters, or by the structs of 2D and 3D copies. */
#ifndef CUSHIM_TRACE_COPIES_H
#define CUSHIM_TRACE_COPIES_H

#include "../file/reader.h"

/* By addresses of which the driver finds out itself where they are: unified. */
enum trace_memory { TRACE_HOST, TRACE_DEVICE, TRACE_ARRAY, TRACE_UNIFIED, TRACE_MEMORIES };
extern const char *const trace_memory_names[TRACE_MEMORIES];

struct trace_copy {
    enum trace_memory from, to;
    uint64_t width, height, depth, bytes;
};

/* Reads a struct from the words of its field. Returns false if the field is of another type. */
bool trace_copy_find(const struct trace_slot_field *field, const uint64_t *words, struct trace_copy *out_copy);

/* Finds the copy that a call asks for. Returns false if it is another call, or copies several places. */
bool trace_copy_of(const struct trace_slot *slot, const struct trace_call *call, struct trace_copy *out_copy);

#endif
