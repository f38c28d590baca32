/* SPDX-License-Identifier: MIT */
#include "symbols.h"

#include <string.h>

const struct cushim_entry_point symbol_rows[ROW_COUNT] = {
#define CUSHIM_SYMBOL(family, abi, since, symbol, per_thread_symbol) {"cu" #family, since, symbol, per_thread_symbol},
#include "symbols.inc"
};

const unsigned short slot_rows[CUSHIM_SLOT_COUNT] = {
#define CUSHIM_ENTRY(family, abi, since, params, args) ROW_##family##_##abi,
#include "cushim/entry_points.h"
};

/* The two lists say the same of each slot. */
enum {
#define CUSHIM_SYMBOL(family, abi, since, symbol, per_thread_symbol) SINCE_##family##_##abi = since,
#include "symbols.inc"
};
#define CUSHIM_ENTRY(family, abi, since, params, args)                                                                 \
    _Static_assert(SINCE_##family##_##abi == since, "entry_points.h and symbols.inc differ: " #family);
#include "cushim/entry_points.h"

enum cushim_slot symbols_slot_of(size_t row)
{
    int slot = 0;
    while (slot < CUSHIM_SLOT_COUNT && slot_rows[slot] != row)
        slot++;
    return (enum cushim_slot)slot;
}

size_t symbols_find_family(const char *family)
{
    size_t row = 0;
    while (row < ROW_COUNT && strcmp(symbol_rows[row].family, family) != 0)
        row++;
    return row;
}

bool symbols_same_family(size_t first, size_t row)
{
    return row < ROW_COUNT && strcmp(symbol_rows[first].family, symbol_rows[row].family) == 0;
}

const char *symbols_slot_name(enum cushim_slot slot)
{
    static const char *const names[CUSHIM_SLOT_COUNT] = {
#define CUSHIM_ENTRY(family, abi, since, params, args) #family "_" #abi,
#include "cushim/entry_points.h"
    };
    return names[slot];
}

CUresult cushim_entry_point(size_t index, struct cushim_entry_point *ret_entry)
{
    if (ret_entry == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (index >= ROW_COUNT)
        return CUDA_ERROR_NOT_FOUND;
    *ret_entry = symbol_rows[index];
    return CUDA_SUCCESS;
}

CUresult cushim_slot_find(const char *name, enum cushim_slot *ret_slot)
{
    if (name == NULL || ret_slot == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const char *bare = strncmp(name, "cu", 2) == 0 ? name + 2 : name;
    for (int slot = 0; slot < CUSHIM_SLOT_COUNT; slot++) {
        const char *slot_name = symbols_slot_name((enum cushim_slot)slot);
        /* "cuStreamQuery" is the exported name of StreamQuery_v1. */
        if (strcmp(slot_name, bare) == 0 || strcmp(symbol_rows[slot_rows[slot]].symbol + 2, bare) == 0) {
            *ret_slot = (enum cushim_slot)slot;
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_NOT_FOUND;
}
