/* SPDX-License-Identifier: MIT */
/* The exported functions of our libcuda.so.1. */
#ifndef CUSHIM_EXEC_EXPORTS_H
#define CUSHIM_EXEC_EXPORTS_H

#include <stddef.h>

#include "cushim/lookup.h"

struct exec_export {
    const char *name;
    cushim_fn function;
    enum cushim_default_stream kind;
    enum cushim_slot slot; /* CUSHIM_SLOT_COUNT: it has none */
    size_t row;            /* in the loader's list; ROW_COUNT: it has none */
    cushim_fn *driver_fn;  /* without a slot: where the driver's function is to be stored */
};

/* All names, exported by this library or not. */
extern const struct exec_export exec_exports[];
extern const size_t exec_export_count;

#endif
