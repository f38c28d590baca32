/* SPDX-License-Identifier: MIT */
/* The entry points of symbols.inc as an array, that of each slot, and the hidden entry points. */
#ifndef CUSHIM_LOADER_SYMBOLS_H
#define CUSHIM_LOADER_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

#include "cushim/loader.h"

enum symbol_index {
#define CUSHIM_SYMBOL(function, abi, since, symbol, variant, platform) ENTRY_##function##_##abi,
#include "lists/symbols.inc"
    ENTRY_COUNT
};

/* The first and the last string of a record, see symbols.c. */
#define RECORD_START "cushim-record-1 " CUSHIM_VERSION_STRING
#define RECORD_END "cushim-record-end"

/* Whether this copy of cushim is a subset (amalgamate.py --slots), which does not know the others. */
enum { LIST_IS_CUT = ENTRY_COUNT < CUSHIM_LIST_COUNT };

enum {
    OLDEST_VERSION = 2000,          /* of the list */
    LARGEST_VERSION = 999990,       /* a larger version is garbage */
    FIRST_PER_THREAD_VERSION = 7000 /* the first CUDA version with per-thread default streams */
};

/* The entry point with an index; its strings are constants. */
struct cushim_entry_point cush_symbols_entry(size_t index);

/* Its exported name alone. */
const char *cush_symbols_symbol(size_t index);

/* A name of the driver, or that of a slot. */
struct symbol_text {
    char text[CUSHIM_SLOT_NAME_SIZE];
};

/* The exported name of its per-thread variant, "cuStreamQuery_ptsz". */
struct symbol_text cush_symbols_variant(size_t index);

/* The index of the entry point of a slot. */
size_t cush_symbols_index(enum cushim_slot slot);

/* The slot of an entry point, or CUSHIM_SLOT_COUNT. */
enum cushim_slot cush_symbols_slot_of(size_t index);

/* The index of the first entry point of a function ("cuStreamQuery"), or ENTRY_COUNT. Its others follow. */
size_t cush_symbols_find_function(const char *function);

/* The index of the entry point that has this exported name ("cuStreamQuery_ptsz"), or ENTRY_COUNT. */
size_t cush_symbols_find_symbol(const char *symbol);

/* Whether two entry points, of which the second may be past the end, are of one function. */
bool cush_symbols_same_function(size_t first, size_t index);

/* Whether only drivers for another operating system have this entry point. */
bool cush_symbols_is_elsewhere(size_t index);

/* Whether the function has entry points with a per-thread variant. Then those without one are withheld from per-thread
 * callers, see cush_symbols_lacks_variant(). */
bool cush_symbols_has_variant(size_t index);

/*
 * Whether only later entry points of the function have a per-thread variant (cuMemcpy2D: that of 3.2, not that of 2.0).
 * With per-thread default streams this one would work on the wrong stream, and a driver's own cuGetProcAddress
 * withholds it.
 */
bool cush_symbols_lacks_variant(size_t index);

/* A slot's name, "StreamQuery_v1". */
struct symbol_text cush_symbols_slot_name(enum cushim_slot slot);

/* One bit for each entry point, and whether functions that a cut list lacks are hidden, too. */
struct hidden_set {
    unsigned char bits[(ENTRY_COUNT + 7) / 8];
    bool has_others;
};

bool cush_hidden_set_has(const struct hidden_set *hidden, size_t index);
bool cush_hidden_set_is_empty(const struct hidden_set *hidden);

/*
 * Adds the entry points that one name of `length` bytes means. The name of a slot means its entry point, and the name
 * of a function means all entry points of that function. Returns false if no entry point has that name. A cut list
 * cannot know that: then all functions that it lacks are hidden.
 */
bool cush_hidden_set_add(struct hidden_set *hidden, const char *name, size_t length);

#endif
