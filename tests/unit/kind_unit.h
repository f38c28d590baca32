/* SPDX-License-Identifier: MIT */
/* A translation unit that uses the table of its own kind. kind_unit.c is compiled for each default stream, as C and as
 * C++. */
#ifndef KIND_UNIT_H
#define KIND_UNIT_H

#include "cushim/cushim.h"

#ifdef __cplusplus
extern "C" {
#endif

struct kind_unit {
    enum cushim_default_stream kind; /* CUSHIM_DEFAULT_STREAM_AS_COMPILED */
    const struct cushim_dispatch_table *(*table)(void);
    CUresult (*query)(CUstream stream);         /* through the table */
    CUresult (*query_by_name)(CUstream stream); /* as in code written for <cuda.h> */
};

/* The objects of the units. A plug-in exports its own. */
extern const struct kind_unit kind_c_legacy, kind_c_per_thread, kind_cpp_legacy, kind_cpp_per_thread;

#ifdef __cplusplus
}
#endif

#endif
