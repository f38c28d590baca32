/* SPDX-License-Identifier: MIT */
/* Hundreds of look-ups in one open library. posix/ and windows/ implement it. */
#ifndef CUSHIM_OS_SYMBOLS_H
#define CUSHIM_OS_SYMBOLS_H

#include "os_library.h"

/* A library, and its own table of symbols where that may be read: `table` is NULL where it may not. */
struct os_symbols {
    void *library;
    const char *base;
    const void *table;
    const char *names;
    const void *versions; /* or NULL */
    const void *hash;
};

void cush_os_symbols_open(struct os_symbols *symbols, void *library);

/* What cush_os_library_symbol() answers. */
cushim_fn cush_os_symbols_find(const struct os_symbols *symbols, const char *name);

#endif
