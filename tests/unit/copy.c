/* SPDX-License-Identifier: MIT */
/* A plug-in that is linked to the static library: it has its own copy of cushim and exports nothing of it. */
#include "copy.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT CUresult copy_load(const struct cushim_load_options *options)
{
    return cushim_load(options);
}

EXPORT const struct cushim_dispatch_table *copy_table(void)
{
    return cushim_table();
}

EXPORT int copy_driver_version(void)
{
    return cushim_driver_version();
}

EXPORT const struct cushim_diagnosis *copy_diagnosis(void)
{
    return cushim_diagnosis_get();
}

EXPORT CUresult copy_layer_add(struct cushim_layer *layer)
{
    return cushim_layer_add(layer);
}
