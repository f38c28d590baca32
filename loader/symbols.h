/* SPDX-License-Identifier: MIT */
/* The rows of symbols.inc as an array, and which row stands behind each slot. */
#ifndef CUSHIM_SYMBOLS_H
#define CUSHIM_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

#include "cushim/loader.h"

enum symbol_row {
#define CUSHIM_SYMBOL(family, abi, since, symbol, per_thread_symbol) ROW_##family##_##abi,
#include "symbols.inc"
    ROW_COUNT
};

/* The newest CUDA version that the rows know. A driver may be newer. */
#define SYMBOLS_NEWEST_VERSION 13000

/* No CUDA version is older, and none is credible above the second. Per-thread default streams came with the third. */
enum { OLDEST_VERSION = 2000, LARGEST_VERSION = 999990, FIRST_PER_THREAD_VERSION = 7000 };

/* One row; its strings are constants. */
struct cushim_entry_point cushim_priv_symbols_row(size_t row);

/* The row of a slot. */
size_t cushim_priv_symbols_row_of(enum cushim_slot slot);

/* The slot of a row, or CUSHIM_SLOT_COUNT. */
enum cushim_slot cushim_priv_symbols_slot_of(size_t row);

/* The first row of a family ("cuStreamQuery"), or ROW_COUNT. The family's other rows follow it. */
size_t cushim_priv_symbols_find_family(const char *family);

/* Whether two rows, of which the second may be past the end, are of one family. */
bool cushim_priv_symbols_same_family(size_t first, size_t row);

/* A slot's name, "StreamQuery_v1". */
const char *cushim_priv_symbols_slot_name(enum cushim_slot slot);

#endif
