/* SPDX-License-Identifier: MIT */
#include "symbols.h"

#include <stdint.h>
#include <string.h>

/* What the program cannot do without: amalgamate.py --require defines it, one CUSHIM_NEED_TEXT for each condition. */
#if !defined(CUSHIM_NEEDS)
#    define CUSHIM_NEEDS ""
#endif

/*
 * The names stand in one block, and the entries hold offsets into it: pointers would need three relocations for each
 * entry in every process, used or not. Each function's oldest symbol is its own name.
 *
 * The block is also a record, by which `cushim audit` knows what a program looks up through cushim: all names between
 * its start and its end, each of which may be missing. Nothing else in the library has the name of a function of the
 * driver as text, or audit would take it for one that the program looks up.
 */
static const struct names {
    char start[sizeof RECORD_START];
    char extent[2]; /* 's': a subset; 'w': whole; 'c': the companions, in companion.c */
    char needs[sizeof CUSHIM_NEEDS];
#define CUSHIM_SYMBOL(function, abi, since, symbol, per_thread_symbol, platform)                                       \
    char symbol_##function##_##abi[sizeof symbol];                                                                     \
    char per_thread_##function##_##abi[sizeof per_thread_symbol];
#include "lists/symbols.inc"
#define CUSHIM_ENTRY(function, abi, since, params, args) char slot_##function##_##abi[sizeof #function "_" #abi];
#include "cushim/entry_points.h"
    char end[sizeof RECORD_END];
} names = {
    RECORD_START,
    {LIST_IS_CUT ? 's' : 'w', '\0'},
    CUSHIM_NEEDS,
#define CUSHIM_SYMBOL(function, abi, since, symbol, per_thread_symbol, platform) symbol, per_thread_symbol,
#include "lists/symbols.inc"
#define CUSHIM_ENTRY(function, abi, since, params, args) #function "_" #abi,
#include "cushim/entry_points.h"
    RECORD_END,
};

_Static_assert(sizeof names <= UINT16_MAX, "an offset has 16 bits");

/* A driver for Windows can have the functions for EGL and VDPAU. */
#define IS_ELSEWHERE_all false
#define IS_ELSEWHERE_linux false
#if defined(_WIN32)
#    define IS_ELSEWHERE_windows false
#else
#    define IS_ELSEWHERE_windows true
#endif

static const struct entry {
    uint16_t symbol, per_thread_symbol, since;
    uint8_t above; /* so many rows above this one stands the oldest of its function */
    bool is_elsewhere;
} entries[ENTRY_COUNT] = {
#define CUSHIM_SYMBOL(function, abi, since, symbol, per_thread_symbol, platform)                                       \
    {offsetof(struct names, symbol_##function##_##abi), offsetof(struct names, per_thread_##function##_##abi), since,  \
     ENTRY_##function##_##abi - ENTRY_##function##_v1, IS_ELSEWHERE_##platform},
#include "lists/symbols.inc"
};

static const struct slot {
    uint16_t index, name;
} slots[CUSHIM_SLOT_COUNT] = {
#define CUSHIM_ENTRY(function, abi, since, params, args)                                                               \
    {ENTRY_##function##_##abi, offsetof(struct names, slot_##function##_##abi)},
#include "cushim/entry_points.h"
};

static const char *name_at(size_t offset)
{
    return (const char *)&names + offset;
}

const char *cush_symbols_symbol(size_t index)
{
    return name_at(entries[index].symbol);
}

static const char *function_at(size_t index)
{
    return cush_symbols_symbol(index - entries[index].above);
}

struct cushim_entry_point cush_symbols_entry(size_t index)
{
    return (struct cushim_entry_point){.function = function_at(index),
                                       .since = entries[index].since,
                                       .symbol = cush_symbols_symbol(index),
                                       .per_thread_symbol = name_at(entries[index].per_thread_symbol)};
}

size_t cush_symbols_index(enum cushim_slot slot)
{
    return slots[slot].index;
}

enum cushim_slot cush_symbols_slot_of(size_t index)
{
    int slot = 0;
    while (slot < CUSHIM_SLOT_COUNT && slots[slot].index != index)
        slot++;
    return (enum cushim_slot)slot;
}

size_t cush_symbols_find_function(const char *function)
{
    size_t index = 0;
    while (index < ENTRY_COUNT && strcmp(function_at(index), function) != 0)
        index++;
    return index;
}

size_t cush_symbols_find_symbol(const char *symbol)
{
    size_t index = 0;
    while (index < ENTRY_COUNT && strcmp(cush_symbols_symbol(index), symbol) != 0
           && strcmp(name_at(entries[index].per_thread_symbol), symbol) != 0)
        index++;
    return symbol[0] != '\0' ? index : ENTRY_COUNT;
}

bool cush_symbols_same_function(size_t first, size_t index)
{
    return index < ENTRY_COUNT && first - entries[first].above == index - entries[index].above;
}

bool cush_symbols_is_elsewhere(size_t index)
{
    return entries[index].is_elsewhere;
}

bool cush_symbols_has_variant(size_t index)
{
    return *name_at(entries[index].per_thread_symbol) != '\0' || cush_symbols_lacks_variant(index);
}

bool cush_symbols_lacks_variant(size_t index)
{
    if (*name_at(entries[index].per_thread_symbol) != '\0')
        return false;
    for (size_t later = index + 1; cush_symbols_same_function(index, later); later++) {
        if (*name_at(entries[later].per_thread_symbol) != '\0')
            return true;
    }
    return false;
}

const char *cush_symbols_slot_name(enum cushim_slot slot)
{
    return name_at(slots[slot].name);
}

bool cush_hidden_set_has(const struct hidden_set *hidden, size_t index)
{
    return (hidden->bits[index / 8] >> (index % 8) & 1) != 0;
}

bool cush_hidden_set_is_empty(const struct hidden_set *hidden)
{
    for (size_t i = 0; i < sizeof hidden->bits; i++) {
        if (hidden->bits[i] != 0)
            return false;
    }
    return !hidden->has_others;
}

bool cush_hidden_set_add(struct hidden_set *hidden, const char *name, size_t length)
{
    bool known = false;
    for (size_t index = 0; index < ENTRY_COUNT; index++) {
        const char *function = function_at(index);
        const char *symbol = cush_symbols_symbol(index);
        if (length < 2 || strncmp(name, "cu", 2) != 0) {
            function += 2;
            symbol += 2;
        }
        size_t function_length = strlen(function);
        bool is_function = length == function_length && strncmp(name, function, length) == 0;
        bool is_symbol = length == strlen(symbol) && strncmp(name, symbol, length) == 0;
        bool is_first = strcmp(function, symbol) == 0 && length == function_length + 3
                        && strncmp(name, function, function_length) == 0
                        && strncmp(name + function_length, "_v1", 3) == 0;
        if (is_function || is_symbol || is_first) {
            hidden->bits[index / 8] |= (unsigned char)(1u << (index % 8));
            known = true;
        }
    }
    hidden->has_others |= LIST_IS_CUT && !known;
    return LIST_IS_CUT || known;
}
