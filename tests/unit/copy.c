/* SPDX-License-Identifier: MIT */
/* A plug-in that is linked to the static library: it has its own copy of cushim and exports nothing of it. */
#include "copy.h"

__attribute__((visibility("default"))) const struct copy *copy_get(void)
{
    static const struct copy copy = {
        .load = cushim_load,
        .table = cushim_table,
        .driver_version = cushim_driver_version,
        .diagnosis = cushim_diagnosis_get,
        .layer_add = cushim_layer_add,
        .companion = cushim_companion_get,
    };
    return &copy;
}
