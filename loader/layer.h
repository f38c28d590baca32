/* SPDX-License-Identifier: MIT */
/* Layers: the stack of them, the tables with layers, and how lookups reach those. */
#ifndef CUSHIM_LOADER_LAYER_H
#define CUSHIM_LOADER_LAYER_H

#include "cushim/loader.h"
#include "driver.h"

/* Adds the layers of a list of shared objects, separated as in CUSHIM_LAYERS, as cushim_layer_add() does: all of them
 * or, after a failure, none. */
CUresult cush_layer_add_objects(const char *list);

/* The stack of layers. The caller of each function holds the load lock. */

/* Why a layer is refused: a code and a sentence. */
struct layer_failure {
    CUresult code;
    char message[1024];
};

/* Adds a layer to the top, which is installed with the next tables. `path` is its shared object, which `library` is, or
 * both are NULL. */
bool cush_layer_stack_push(struct cushim_layer *layer, const char *path, void *library, struct layer_failure *failure);

/* Takes back the last push, whose layer is not in any table. Closes its library. */
void cush_layer_stack_pop(void);

/* Makes tables with all layers, from the driver's tables or from the null driver. A failure changes nothing. */
bool cush_layer_stack_build(bool has_driver, struct layer_failure *failure);

/* Makes new tables for the same driver after a change of the stack. Does nothing before the first load. */
bool cush_layer_stack_rebuild(struct layer_failure *failure);

/* Returns whether tables were made, and the top of them, which is to become current. */
bool cush_layer_stack_is_built(void);
const struct cushim_dispatch_table *cush_layer_stack_top(enum cushim_default_stream kind);

/* Sets whether a layer is stopped. Returns false if the stack does not have the layer, or it is so already. */
bool cush_layer_stack_set_stopped(const struct cushim_layer *layer, bool stopped);

/* Describes a layer, counted from the bottom. Returns false if the index is past the last one. */
bool cush_layer_stack_query(size_t index, struct cushim_layer_info *out_info);

/* For tests: forgets all layers. */
void cush_layer_stack_reset(void);

/* Opens the shared objects of a list and pushes their layers: all of them or, after a failure, none. */
bool cush_layer_stack_push_objects(const char *list, size_t *out_count, struct layer_failure *failure);

/* The tables. */

/*
 * A pair of tables: those below all layers, or those that a layer has replaced slots of. Immutable, and never freed
 * once current, because a program may keep a table.
 */
struct layer_tables {
    struct layer_tables *older;        /* the ones that became current before */
    const struct layer_tables *bottom; /* the ones below all layers */
    bool has_driver;                   /* otherwise the bottom is the null driver */
    union table of[CUSHIM_DEFAULT_STREAM_COUNT];
};

/* Fills a pair for the bottom from the driver tables or from the null driver. In the former, cuGetProcAddress leads to
 * the top. */
void cush_layer_tables_fill_bottom(struct layer_tables *bottom, bool has_driver);

/* Returns whether a legacy table is that of the driver, with layers or without. */
bool cush_layer_tables_are_of_driver(const struct cushim_dispatch_table *legacy);

/* Keeps a pair for the life of the process. The caller holds the load lock. */
void cush_layer_tables_keep(struct layer_tables *tables);

/* Makes lookups lead to a pair; NULL: there are no layers. */
void cush_layer_tables_set_top(const struct layer_tables *top);

/* Returns what a program gets for a function of the driver table: the slot of the top, or else the function itself. */
cushim_fn cush_layer_tables_function(enum cushim_default_stream kind, cushim_fn fn);

/* Returns whether a layer has replaced a slot. */
bool cush_layer_tables_is_replaced(enum cushim_default_stream kind, enum cushim_slot slot);

/* For tests: frees all pairs. */
void cush_layer_tables_reset(void);

#endif
