/* SPDX-License-Identifier: MIT */
/* A set of entry points, those that are hidden. */
#ifndef CUSHIM_LOADER_HIDDEN_SET_H
#define CUSHIM_LOADER_HIDDEN_SET_H

#include "symbols.h"

/* One bit for each row. */
struct hidden_set {
    unsigned char bits[(ROW_COUNT + 7) / 8];
};

bool cush_hidden_set_has(const struct hidden_set *hidden, size_t row);
bool cush_hidden_set_is_empty(const struct hidden_set *hidden);

/*
 * Adds what one name of `length` bytes means: the name of a slot its entry point, that of a function all of its entry
 * points. Returns false if no entry point has that name.
 */
bool cush_hidden_set_add(struct hidden_set *hidden, const char *name, size_t length);

#endif
