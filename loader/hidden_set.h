/* SPDX-License-Identifier: MIT */
/* The set of entry points that are hidden. */
#ifndef CUSHIM_LOADER_HIDDEN_SET_H
#define CUSHIM_LOADER_HIDDEN_SET_H

#include "symbols.h"

/* One bit for each row of symbols.inc. */
struct hidden_set {
    unsigned char bits[(ROW_COUNT + 7) / 8];
};

bool cush_hidden_set_has(const struct hidden_set *hidden, size_t row);
bool cush_hidden_set_is_empty(const struct hidden_set *hidden);

/*
 * Adds the entry points that one name of `length` bytes means. The name of a slot means its entry point, and the name
 * of a function means all entry points of that function. Returns false if no entry point has that name.
 */
bool cush_hidden_set_add(struct hidden_set *hidden, const char *name, size_t length);

#endif
