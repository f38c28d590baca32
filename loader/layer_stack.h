/* SPDX-License-Identifier: MIT */
/* The stack of layers, and the tables with layers. */
#ifndef CUSHIM_LOADER_LAYER_STACK_H
#define CUSHIM_LOADER_LAYER_STACK_H

#include "cushim/layer.h"
#include "layer.h"

/* The stack. The caller of each function holds the load lock. */

/* Adds a layer to the top, which is installed with the next tables. `path` is its shared object, which `library` is, or
 * both are NULL. */
bool cush_layer_stack_push(struct cushim_layer *layer, const char *path, void *library, struct layer_failure *failure);

/* Takes back the last push, whose layer is not in any table. Closes its library. */
void cush_layer_stack_pop(void);

/* Makes new tables for the same driver after a change of the stack. Does nothing before the first load. */
bool cush_layer_stack_rebuild(struct layer_failure *failure);

/* Returns whether tables were made. */
bool cush_layer_stack_is_built(void);

/* Sets whether a layer is stopped. Returns false if the stack does not have the layer, or it is so already. */
bool cush_layer_stack_set_stopped(const struct cushim_layer *layer, bool stopped);

/* Describes a layer, counted from the bottom. Returns false if the index is past the last one. */
bool cush_layer_stack_query(size_t index, struct cushim_layer_info *out_info);

/* The tables. */

/*
 * A pair of tables: those below all layers, or those that a layer has replaced slots of. Immutable. A pair that was
 * current is never freed, because a program may keep a table. Nor is one that cushim_layer_next() has returned, because
 * a function of the layer may be reading it.
 */
struct layer_tables {
    struct layer_tables *older;        /* the ones that were kept before */
    const struct layer_tables *bottom; /* the ones below all layers */
    bool has_driver;                   /* otherwise the bottom is the null driver */
    union table of[CUSHIM_DEFAULT_STREAM_COUNT];
};

/* Fills a pair for the bottom from the driver tables or from the null driver. In the former, cuGetProcAddress leads to
 * the top. */
void cush_layer_tables_fill_bottom(struct layer_tables *bottom, bool has_driver);

/* Keeps a pair for the life of the process. The caller holds the load lock. */
void cush_layer_tables_keep(struct layer_tables *tables);

/* Makes lookups lead to a pair; NULL: there are no layers. */
void cush_layer_tables_set_top(const struct layer_tables *top);

/* For tests: frees all pairs. */
void cush_layer_tables_reset(void);

#endif
