/* SPDX-License-Identifier: MIT */
#include "symbols.h"

#include <stdint.h>
#include <string.h>

/* What the program cannot do without: amalgamate.py --require defines it, one CUSHIM_NEED_TEXT for each condition. */
#if !defined(CUSHIM_NEEDS)
#    define CUSHIM_NEEDS ""
#endif

/*
 * The names stand in one block, and the entries hold offsets into it: pointers would need a relocation for each entry
 * in every process, used or not. Each function's oldest symbol is its own name. The names of slots and of per-thread
 * variants are made of these when somebody asks.
 *
 * The block is also a record, by which `cushim audit` knows what a program looks up through cushim: all names between
 * its start and its end, each of which may be missing. Nothing else in the library has the name of a function of the
 * driver as text, or audit would take it for one that the program looks up.
 */
static const struct names {
    char start[sizeof RECORD_START];
    char extent[2]; /* 's': a subset; 'w': whole; 'c': the companions, in companion.c */
    char needs[sizeof CUSHIM_NEEDS];
#define CUSHIM_SYMBOL(function, abi, since, symbol, variant, platform) char symbol_##function##_##abi[sizeof symbol];
#include "lists/symbols.inc"
    char end[sizeof RECORD_END];
} names = {
    RECORD_START,
    {LIST_IS_CUT ? 's' : 'w', '\0'},
    CUSHIM_NEEDS,
#define CUSHIM_SYMBOL(function, abi, since, symbol, variant, platform) symbol,
#include "lists/symbols.inc"
    RECORD_END,
};

_Static_assert(sizeof names <= UINT16_MAX, "an offset has 16 bits");

#define CUSHIM_SYMBOL(function, abi, since, symbol, variant, platform)                                                 \
    _Static_assert(sizeof symbol "_ptsz" <= CUSHIM_SLOT_NAME_SIZE, "struct symbol_text has room for each name");
#include "lists/symbols.inc"

/* Of exported names. */
enum { VARIANT_none, VARIANT_ptsz, VARIANT_ptds };
static const char variant_endings[][sizeof "_ptsz"] = {"", "_ptsz", "_ptds"};

/* A driver for Windows can have the functions for EGL and VDPAU. */
#define IS_ELSEWHERE_all false
#define IS_ELSEWHERE_linux false
#if defined(_WIN32)
#    define IS_ELSEWHERE_windows false
#else
#    define IS_ELSEWHERE_windows true
#endif

static const struct entry {
    uint16_t symbol, since;
    uint8_t above; /* so many rows above this one stands the oldest of its function */
    uint8_t variant : 2;
    bool is_elsewhere : 1;
} entries[ENTRY_COUNT] = {
#define CUSHIM_SYMBOL(function, abi, since, symbol, variant, platform)                                                 \
    {offsetof(struct names, symbol_##function##_##abi), since, ENTRY_##function##_##abi - ENTRY_##function##_v1,       \
     VARIANT_##variant, IS_ELSEWHERE_##platform},
#include "lists/symbols.inc"
};

static const uint16_t slot_indices[CUSHIM_SLOT_COUNT] = {
#define CUSHIM_ENTRY(function, abi, since, params, args) ENTRY_##function##_##abi,
#include "cushim/entry_points.h"
};

const char *cush_symbols_symbol(size_t index)
{
    return (const char *)&names + entries[index].symbol;
}

static const char *variant_ending(size_t index)
{
    return variant_endings[entries[index].variant];
}

static struct symbol_text name_with_ending(const char *begin, const char *ending)
{
    struct symbol_text name;
    size_t length = strlen(begin);
    memcpy(name.text, begin, length);
    strcpy(name.text + length, ending);
    return name;
}

struct symbol_text cush_symbols_variant(size_t index)
{
    return name_with_ending(cush_symbols_symbol(index), variant_ending(index));
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
                                       .per_thread_ending = variant_ending(index)};
}

size_t cush_symbols_index(enum cushim_slot slot)
{
    return slot_indices[slot];
}

enum cushim_slot cush_symbols_slot_of(size_t index)
{
    int slot = 0;
    while (slot < CUSHIM_SLOT_COUNT && slot_indices[slot] != index)
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

static bool symbol_is_named(size_t index, const char *name)
{
    size_t length = strlen(cush_symbols_symbol(index));
    if (strncmp(name, cush_symbols_symbol(index), length) != 0)
        return false;
    return name[length] == '\0' || strcmp(name + length, variant_ending(index)) == 0;
}

size_t cush_symbols_find_symbol(const char *symbol)
{
    size_t index = 0;
    while (index < ENTRY_COUNT && !symbol_is_named(index, symbol))
        index++;
    return index;
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
    return entries[index].variant != VARIANT_none || cush_symbols_lacks_variant(index);
}

bool cush_symbols_lacks_variant(size_t index)
{
    if (entries[index].variant != VARIANT_none)
        return false;
    for (size_t later = index + 1; cush_symbols_same_function(index, later); later++) {
        if (entries[later].variant != VARIANT_none)
            return true;
    }
    return false;
}

/* The oldest symbol has no suffix. */
struct symbol_text cush_symbols_slot_name(enum cushim_slot slot)
{
    size_t index = slot_indices[slot];
    return name_with_ending(cush_symbols_symbol(index) + strlen("cu"), entries[index].above == 0 ? "_v1" : "");
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
