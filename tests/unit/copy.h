/* SPDX-License-Identifier: MIT */
/* The export of copy.c, a plug-in with a copy of cushim of its own: the functions of that copy. */
#ifndef COPY_H
#define COPY_H

#include "cushim/cushim.h"

struct copy {
    CUresult (*load)(const struct cushim_load_options *options);
    const struct cushim_dispatch_table *(*table)(void);
    int (*driver_version)(void);
    const struct cushim_diagnosis *(*diagnosis)(void);
    CUresult (*layer_add)(struct cushim_layer *layer);
    const struct cushim_companion *(*companion)(enum cushim_companion_id id);
    void *library; /* for the program that has opened it */
};

/* A function: AddressSanitizer refuses an object that several libraries of a process define. */
const struct copy *copy_get(void);

#endif
