/* SPDX-License-Identifier: MIT */
/* The exported functions, as data. Also the only file that depends on the compiler. */
#ifndef SOFT_EXPORTS_H
#define SOFT_EXPORTS_H

#include "soft.h"

#if defined(_WIN32)
#    define SOFT_PUBLIC
#    define SOFT_NAMED(symbol) /* the .def file names it */
#else
#    define SOFT_PUBLIC __attribute__((visibility("default")))
#    define SOFT_NAMED(symbol) __asm__(symbol) __attribute__((visibility("default")))
#endif

typedef void (*export_fn)(void);

/* One entry point, for cuGetProcAddress. */
struct export_row {
    const char *driver_function; /* "cuStreamQuery" */
    int since;
    const char *symbol;
    export_fn function;
    const char *per_thread_symbol; /* NULL if it has none */
    export_fn per_thread_function;
};

/* Rows of one driver function are adjacent, oldest first. */
extern const struct export_row export_rows[];
extern const size_t export_row_count;

/* A permanent copy of the name, if it is that of an exported function of this version or another; else NULL. */
const char *exports_find(const char *symbol);

#endif
