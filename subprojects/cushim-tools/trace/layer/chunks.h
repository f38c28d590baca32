/* SPDX-License-Identifier: MIT */
/* The mapped file of a recording, and its chunks: which one a process can fill. Knows neither threads nor records. */
#ifndef CUSHIM_TRACE_CHUNKS_H
#define CUSHIM_TRACE_CHUNKS_H

#include "../file/format.h"

#define LOAD(object) atomic_load_explicit(&(object), memory_order_acquire)
#define STORE(object, value) atomic_store_explicit(&(object), value, memory_order_release)

/* What the first process that makes a call writes into the file, and what each does first. */
struct trace_schema {
    const uint8_t *states; /* of the slots, of the legacy table and then of the per-thread one */
    uint32_t slot_count;

    /* Writes at most `size` bytes of the text that describes the fields of each slot. Returns its length. */
    size_t (*write)(char *text, size_t size);

    /* Called once in a process, before its first call. */
    void (*begin)(void);

    /* Whether a program expects this result of this slot and goes on, so that nobody needs a backtrace. */
    bool (*is_expected)(unsigned slot, unsigned result);
};

/* The mapped file, which a child inherits, and whether it could not be opened. */
extern struct trace_header *_Atomic file_header;
extern atomic_bool file_failed;

/* Notes which file it is. The link is NULL without the command. */
bool file_set_path(const char *path, const char *link);

/* Opens and maps the file. The schema is NULL for ranges before the first call. Returns false after a line on
 * stderr. */
bool file_open(const struct trace_schema *schema);

/* Writes the states and the schema into the open file, if no process has. Returns false after a line on stderr. */
bool file_describe(const struct trace_schema *schema);

/* Takes a chunk for the process with a number in the file. Returns NULL if the file has no more room. */
struct trace_chunk *chunk_take(uint32_t process);

static inline struct trace_chunk *chunk_at(uint64_t index)
{
    return (struct trace_chunk *)(void *)((char *)LOAD(file_header) + TRACE_CHUNKS_AT + index * TRACE_CHUNK_SIZE);
}

static inline struct trace_chunk *chunk_of(const uint64_t *record)
{
    return chunk_at((uint64_t)((const char *)record - (const char *)LOAD(file_header) - TRACE_CHUNKS_AT)
                    / TRACE_CHUNK_SIZE);
}

#endif
