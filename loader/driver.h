/* SPDX-License-Identifier: MIT */
/* The loaded driver and its table. */
#ifndef CUSHIM_LOADER_DRIVER_H
#define CUSHIM_LOADER_DRIVER_H

#include "hidden_set.h"

/* An open driver and what may be seen of it. */
struct driver {
    void *library;
    int own_version; /* what it reports */
    int version;     /* the smaller of that and the version limit */
    bool limited;    /* version < own_version */
    bool per_thread;
    struct hidden_set hidden;
    struct {
        CUresult(CUDAAPI *v1)(const char *, void **, int, cuuint64_t);
        CUresult(CUDAAPI *v2)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
        int is_honest; /* 0: not yet tried; 1: yes; -1: no */
    } proc_address;
};

/* A table seen as an array: slot n of entry_points.h is slots[n]. */
union table {
    struct cushim_dispatch_table named;
    cushim_fn slots[CUSHIM_SLOT_COUNT];
};

/* How a slot of the driver table came to be. Small, since a load writes one for every slot. */
struct slot_origin {
    unsigned char state; /* enum cushim_slot_state */
    unsigned char rule;  /* which one of a polyfill's, for cush_polyfills_via() */
};

/* All three are filled once, before the driver table becomes current, and then never written. Polyfills call its
 * slots. */
extern union table cush_driver_table;
extern struct slot_origin cush_driver_origins[CUSHIM_SLOT_COUNT];
extern struct driver cush_loaded_driver;

#endif
