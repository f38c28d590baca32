/* SPDX-License-Identifier: MIT */
/* The tables, and the one pointer that says which is current. */
#ifndef CUSHIM_TABLE_H
#define CUSHIM_TABLE_H

#include "resolve.h"

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

extern const struct cushim_dispatch_table cush_bootstrap_table; /* bootstrap.c */
extern const struct cushim_dispatch_table cush_absent_table;    /* absent.c */
extern const struct cushim_dispatch_table
    cush_missing_table; /* missing.c: what a driver table is before it is filled */

/* The driver table: filled once, before it becomes current, and then never written. Polyfills call its slots. */
extern union table cush_driver_table;
extern struct slot_origin cush_driver_origins[CUSHIM_SLOT_COUNT];
extern struct driver cush_loaded_driver;

/* Fills the driver table from an open driver. */
void cush_table_fill(const struct driver *driver);

void cush_table_set_current(const struct cushim_dispatch_table *table);

/* What a bootstrap slot calls: loads the driver if that has not been tried, and returns the table to use instead. */
const struct cushim_dispatch_table *cush_table_load(void);

#endif
