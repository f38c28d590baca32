/* SPDX-License-Identifier: MIT */
#include "hidden_set.h"

#include <string.h>

bool cush_hidden_set_has(const struct hidden_set *hidden, size_t row)
{
    return (hidden->bits[row / 8] >> (row % 8) & 1) != 0;
}

bool cush_hidden_set_is_empty(const struct hidden_set *hidden)
{
    for (size_t i = 0; i < sizeof hidden->bits; i++) {
        if (hidden->bits[i] != 0)
            return false;
    }
    return true;
}

bool cush_hidden_set_add(struct hidden_set *hidden, const char *name, size_t length)
{
    bool known = false;
    for (size_t row = 0; row < ROW_COUNT; row++) {
        const char *function = cush_symbols_row(row).function;
        const char *symbol = cush_symbols_row(row).symbol;
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
            hidden->bits[row / 8] |= (unsigned char)(1u << (row % 8));
            known = true;
        }
    }
    return known;
}
