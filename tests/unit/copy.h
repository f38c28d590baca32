/* SPDX-License-Identifier: MIT */
/* The exports of copy.c. */
#ifndef COPY_H
#define COPY_H

#include "cushim/cushim.h"

CUresult copy_load(const struct cushim_load_options *options);
const struct cushim_dispatch_table *copy_table(void);
int copy_driver_version(void);
const struct cushim_diagnosis *copy_diagnosis(void);
CUresult copy_layer_add(struct cushim_layer *layer);

#endif
