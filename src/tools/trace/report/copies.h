/* SPDX-License-Identifier: MIT */
/* The structs of 2D and 3D copies. */
#ifndef CUSHIM_TRACE_COPIES_H
#define CUSHIM_TRACE_COPIES_H

#include "../file/reader.h"

struct trace_copy {
    const char *from, *to; /* "host", "device", "array", "unified" */
    uint64_t width, height, depth, bytes;
};

/* Reads a struct from the words of its field. Returns false if the field is of another type. */
bool trace_copy_find(const struct trace_slot_field *field, const uint64_t *words, struct trace_copy *out_copy);

/* Finds the copy that a call asks for. Returns false if it has no such struct. */
bool trace_copy_of(const struct trace_slot *slot, const struct trace_call *call, struct trace_copy *out_copy);

#endif
