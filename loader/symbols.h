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

extern const struct cushim_entry_point symbol_rows[ROW_COUNT];

/* The row of a slot. */
extern const unsigned short slot_rows[CUSHIM_SLOT_COUNT];

/* The slot of a row, or CUSHIM_SLOT_COUNT. */
enum cushim_slot symbols_slot_of(size_t row);

/* The first row of a family ("cuStreamQuery"), or ROW_COUNT. The family's other rows follow it. */
size_t symbols_find_family(const char *family);

/* Whether `row` is one of the rows of the family that starts at `first`. */
bool symbols_same_family(size_t first, size_t row);

/* A slot's name, "StreamQuery_v1". */
const char *symbols_slot_name(enum cushim_slot slot);

#endif
