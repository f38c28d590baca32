/* SPDX-License-Identifier: MIT */
/* Layers in shared objects. */
#ifndef CUSHIM_LAYER_OBJECT_H
#define CUSHIM_LAYER_OBJECT_H

#include "layer_stack.h"

/* Opens a shared object and adds its layer to the stack. The caller holds the load lock. */
bool cush_layer_object_push(const char *path, struct layer_failure *failure);

/* The same for a list of paths, separated as in CUSHIM_LAYERS: all of them or, after a failure, none. */
bool cush_layer_objects_push(const char *list, struct layer_failure *failure);

#endif
