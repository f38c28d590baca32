/* SPDX-License-Identifier: MIT */
/* Layers in shared objects, for the parts of cushim that add them by path. */
#ifndef CUSHIM_LOADER_LAYER_H
#define CUSHIM_LOADER_LAYER_H

#include "cushim/loader.h"

/* Opens a shared object and adds its layer, as cushim_layer_add() does. The variable CUSHIM_LAYERS is not read. */
CUresult cush_layer_add_object(const char *path);

#endif
