/* SPDX-License-Identifier: MIT */
/* A plug-in that was written for -lcuda. It exports its own function and nothing else. */
#define CUSHIM_OWN_TYPES 1
#include "cushim/abi/cuda_abi.h"

CUresult CUDAAPI cuInit(unsigned Flags);

#if defined(_WIN32)
#    define PLUGIN_EXPORT __declspec(dllexport)
#else
#    define PLUGIN_EXPORT __attribute__((visibility("default")))
#endif
PLUGIN_EXPORT int plugin_init(void);

int plugin_init(void)
{
    return (int)cuInit(0);
}
