/* SPDX-License-Identifier: MIT */
/* Layers, for the other parts of the loader. loader/amalgamation/layer_none.c has these functions for a subset without
 * layers. */
#ifndef CUSHIM_LOADER_LAYER_H
#define CUSHIM_LOADER_LAYER_H

#include "driver.h"

/* Adds the layers of a list of shared objects, separated as in CUSHIM_LAYERS, as cushim_layer_add() does: all of them
 * or, after a failure, none. */
CUresult cush_layer_add_objects(const char *list);

/* Why a layer is refused: a code and a sentence. */
struct layer_failure {
    CUresult code;
    char message[1024];
};

/* The caller of the following functions, up to cush_layer_stack_reset(), holds the load lock. */

/* Opens the shared objects of a list and pushes their layers: all of them or, after a failure, none. */
CUSHIM_COLD bool cush_layer_stack_push_objects(const char *list, size_t *out_count, struct layer_failure *failure);

/* Makes tables with all layers, from the driver's tables or from the null driver. A failure changes nothing. */
bool cush_layer_stack_build(bool has_driver, struct layer_failure *failure);

/* Returns the top of these tables, which is to become current. */
const struct cushim_dispatch_table *cush_layer_stack_top(enum cushim_default_stream kind);

/* For tests: forgets all layers. */
void cush_layer_stack_reset(void);

/* Returns whether a legacy table is that of the driver, with layers or without. */
bool cush_layer_tables_are_of_driver(const struct cushim_dispatch_table *legacy);

/* Returns what a program gets for a function of the driver table: the slot of the top, or else the function itself. */
cushim_fn cush_layer_tables_function(enum cushim_default_stream kind, cushim_fn fn);

/* Returns whether a layer has replaced a slot. */
bool cush_layer_tables_is_replaced(enum cushim_default_stream kind, enum cushim_slot slot);

#endif
