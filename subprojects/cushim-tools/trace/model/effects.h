/* SPDX-License-Identifier: MIT */
/* What functions do to objects, by the table in objects.inc. */
#ifndef CUSHIM_TRACE_EFFECTS_H
#define CUSHIM_TRACE_EFFECTS_H

#include "../file/reader.h"

enum { NAMED = 1, IN_CONTEXT = 2, KEPT = 4 };

extern const struct trace_object_row {
    enum trace_type_number type;
    const char *word;
    unsigned flags;
    const char *creators, *destroyers;
} trace_object_rows[];

enum trace_row {
#define TRACE_OBJECT(row, type, word, flags, creators, destroyers) TRACE_ROW_##row,
#include "objects.inc"
    TRACE_OBJECT_ROWS
};

/* Whether the handles of a row have the type CUdeviceptr. */
static inline bool trace_row_is_address(enum trace_row row)
{
    return row == TRACE_ROW_DEVICE_MEMORY || row == TRACE_ROW_ADDRESS_RANGE;
}

/* A parameter that is an object. */
struct trace_object_field {
    enum { USE, SEEN, CREATE, CREATE_COUNTED, CREATE_ONCE, DESTROY } what;
    enum trace_row row;
    int index;
    bool is_behind; /* the word before is a pointer to it */
};

/* What a function does to the current context of its thread, or to a primary context. */
enum trace_context_effect {
    NO_CONTEXT,
    SET_CONTEXT, /* replaces the current one, and pops it if it is NULL */
    SEE_CONTEXT, /* returns the current one */
    PUSH_CONTEXT,
    POP_CONTEXT,
    DESTROY_CONTEXT,
    RETAIN_PRIMARY,
    RELEASE_PRIMARY,
    RESET_PRIMARY
};

/* What a function does to objects. */
struct trace_object_effect {
    bool is_known;
    enum trace_context_effect context;
    size_t count;
    struct trace_object_field fields[TRACE_MAX_FIELDS];
    int size;      /* the index of its only size, such as that of an allocation or a copy; or of a pitch; -1: none */
    int rows;      /* the index of the number of rows with that pitch; -1: none */
    unsigned unit; /* of the size, in bytes */
};

/* Finds what a function does. Begin with a zeroed struct. */
void trace_effect_find(const struct trace_slot *slot, struct trace_object_effect *effect);

/* The size that a call has; of a pitched allocation, after it succeeded. 0: none. */
uint64_t trace_effect_bytes(const struct trace_object_effect *effect, const struct trace_call *call);

#endif
