/* SPDX-License-Identifier: MIT */
/* The tables, and the one pointer that says which is current. */
#ifndef CUSHIM_TABLE_H
#define CUSHIM_TABLE_H

#include "resolve.h"

/* A table seen as an array: slot n of entry_points.h is slots[n]. */
union table {
    struct cushim_table named;
    cushim_fn slots[CUSHIM_SLOT_COUNT];
};

/* How a slot of the driver table came to be. Small, since a load writes one for every slot. */
struct slot_origin {
    unsigned char state; /* enum cushim_slot_state */
    unsigned char rule;  /* which one of a polyfill's, for cushim_priv_polyfills_via() */
};

extern const struct cushim_table cushim_priv_bootstrap_table; /* bootstrap.c */
extern const struct cushim_table cushim_priv_absent_table;    /* absent.c */
extern const struct cushim_table cushim_priv_missing_table; /* missing.c: what a driver table is before it is filled */

/* The driver table: filled once, before it becomes current, and then never written. Polyfills call its slots. */
extern union table cushim_priv_driver_table;
extern struct slot_origin cushim_priv_driver_origins[CUSHIM_SLOT_COUNT];
extern struct driver cushim_priv_loaded_driver;

/* Fills the driver table from an open driver. */
void cushim_priv_table_fill(const struct driver *driver);

void cushim_priv_table_set_current(const struct cushim_table *table);

/* What a bootstrap slot calls: loads the driver if that has not been tried, and returns the table to use instead. */
const struct cushim_table *cushim_priv_table_load(void);

#endif
