/* SPDX-License-Identifier: MIT */
/* The tables with layers, and how look-ups reach them. */
#ifndef CUSHIM_LAYERED_H
#define CUSHIM_LAYERED_H

#include "driver.h"

/*
 * A pair of tables: those below all layers, or those that a layer has replaced slots of. Immutable, and never freed
 * once current, because a program may keep a table.
 */
struct layered_tables {
    struct layered_tables *older;        /* the ones that became current before */
    const struct layered_tables *bottom; /* the ones below all layers */
    bool has_driver;                     /* otherwise the bottom is the absent table */
    union table of[CUSHIM_DEFAULT_STREAM_COUNT];
};

/* Fills a pair for the bottom from the driver tables or from the absent table. In the former, cuGetProcAddress leads to
 * the top. */
void cush_layered_fill_bottom(struct layered_tables *bottom, bool has_driver);

/* Returns whether a legacy table is that of the driver, with layers or without. */
bool cush_layered_is_of_driver(const struct cushim_dispatch_table *legacy);

/* Returns whether the tables of the driver are the current ones. Inline, since the current tables are not known below
 * bootstrap.c. */
static inline bool cush_layered_has_driver(void)
{
    return cush_layered_is_of_driver(cushim_table_legacy());
}

/* Keeps a pair for the life of the process. The caller holds the load lock. */
void cush_layered_keep(struct layered_tables *tables);

/* Makes look-ups lead to a pair; NULL: there are no layers. */
void cush_layered_set_top(const struct layered_tables *top);

/* Returns what a program gets for a function of the driver table: the slot of the top, or else the function itself. */
cushim_fn cush_layered_function(enum cushim_default_stream kind, cushim_fn fn);

/* Returns whether a layer has replaced a slot. */
bool cush_layered_is_replaced(enum cushim_default_stream kind, enum cushim_slot slot);

/* For tests: frees all pairs. */
void cush_layered_reset(void);

#endif
