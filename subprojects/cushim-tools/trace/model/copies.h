/* SPDX-License-Identifier: MIT */
/* From where to where copies are, and their bytes: by the parameters, or by the structs of 2D and 3D copies. */
#ifndef CUSHIM_TRACE_COPIES_H
#define CUSHIM_TRACE_COPIES_H

#include "../file/reader.h"

/* By addresses of which the driver finds out itself where they are: unified. */
enum trace_memory { TRACE_HOST, TRACE_DEVICE, TRACE_ARRAY, TRACE_UNIFIED, TRACE_MEMORIES };
extern const char *const trace_memory_names[TRACE_MEMORIES];

/* Bytes of memory: those from `low` up to `high`, or with a pitch the first `width` ones of each row. */
struct trace_span {
    uint64_t low, high, pitch, width;
};

struct trace_copy {
    enum trace_memory from, to;
    uint64_t width, height, depth, bytes;
    struct trace_span source, target; /* their ends are 0 for arrays, and for more than one slice of a 3D copy */
};

/* The span of rows of a width. */
struct trace_span trace_span_of_rows(uint64_t low, uint64_t pitch, uint64_t width, uint64_t height);

/* Whether two spans certainly have a byte in common. */
bool trace_spans_overlap(const struct trace_span *one, const struct trace_span *other);

/* Reads a struct from the words of its field. Returns false if the field is of another type. */
bool trace_copy_find(const struct trace_slot_field *field, const uint64_t *words, struct trace_copy *out_copy);

/* Whether a function gets its copy as a struct, which is its first parameter. */
bool trace_copy_is_struct(const struct trace_slot *slot);

/* Finds the copy that a call asks for. Returns false if it is another call, or copies several places. */
bool trace_copy_of(const struct trace_slot *slot, const struct trace_call *call, struct trace_copy *out_copy);

#endif
