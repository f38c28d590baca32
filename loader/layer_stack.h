/* SPDX-License-Identifier: MIT */
/* The layers of this copy of cushim, and the tables made of them. The caller of each function holds the load lock. */
#ifndef CUSHIM_LAYER_STACK_H
#define CUSHIM_LAYER_STACK_H

#include "cushim/loader.h"

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

/* Makes tables with all layers, from the driver's tables or from the absent one. A failure changes
 * nothing. */
bool cush_layer_stack_build(bool has_driver, struct layer_failure *failure);

/* Makes new tables for the same driver after a change of the stack. Before the first tables, nothing is to be made. */
bool cush_layer_stack_rebuild(struct layer_failure *failure);

/* Returns whether tables were made, and the top of them, which is to become current. */
bool cush_layer_stack_is_built(void);
const struct cushim_dispatch_table *cush_layer_stack_top(enum cushim_default_stream kind);

/* Sets whether a layer is stopped. Returns false if the stack does not have the layer, or it is so already. */
bool cush_layer_stack_set_stopped(const struct cushim_layer *layer, bool stopped);

/* Describes a layer, counted from the bottom. Returns false if there are not so many. */
bool cush_layer_stack_query(size_t index, struct cushim_layer_info *out_info);

/* For tests: forgets all layers. */
void cush_layer_stack_reset(void);

#endif
