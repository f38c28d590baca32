/* SPDX-License-Identifier: MIT */
/* The functions of a driver under their exported names, with cushim's types, for programs that are linked to one. */
#ifndef TRACE_FUNCTIONS_H
#define TRACE_FUNCTIONS_H

#define CUSHIM_OWN_TYPES 1
#define EXPORTED_v1(function) cu##function
#define EXPORTED_v2(function) cu##function##_v2
#define EXPORTED_v3(function) cu##function##_v3
#define EXPORTED_v4(function) cu##function##_v4
#define CUSHIM_ENTRY(function, abi, since, params, args) CUresult CUDAAPI EXPORTED_##abi(function) params;
#include "cushim/entry_points.h"

#endif
