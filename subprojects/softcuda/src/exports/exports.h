/* SPDX-License-Identifier: MIT */
/* The exported functions, as data. */
#ifndef SOFT_EXPORTS_H
#define SOFT_EXPORTS_H

#include "soft.h"

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

#endif
