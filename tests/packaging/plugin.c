/* SPDX-License-Identifier: MIT */
/* A plug-in with its own copy of cushim. It exports its own function and nothing else. */
#include "cushim/cushim.h"

__attribute__((visibility("default"))) int plugin_has_driver(void);

int plugin_has_driver(void)
{
    return cushim_load(NULL) == CUDA_SUCCESS;
}
