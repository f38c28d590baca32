/* SPDX-License-Identifier: MIT */
/*
 * The only file that knows how a kernel gets onto a driver: as PTX text, which NVIDIA's driver compiles, or as a
 * function that is registered with softcuda under the same name.
 */
#ifndef CONFORMANCE_KERNELS_H
#define CONFORMANCE_KERNELS_H

#include "fixture.h"

/*
 * conformance_nothing()                       returns immediately
 * conformance_store(address, value)           writes a 32-bit value
 * conformance_wait(address)                   returns when the 32-bit value there is not 0
 * conformance_fault()                         writes to address 16, which is not mapped
 * conformance_trap()                          executes a trap instruction
 */
CUresult kernel_get(const char *name, CUfunction *out_function);
/* Returns the function, or reports a failure and returns NULL. The driver may wait for all pending work. */
CUfunction kernel_new(const char *name);

/* Loads a module of its own, which the caller unloads. */
CUresult kernel_module(CUmodule *out_module);

/* Loads a library with the same kernels, which the caller unloads. */
CUresult kernel_library(CUlibrary *out_library);

/* Launches one thread of the kernel. */
CUresult kernel_launch(CUfunction function, CUstream stream, void **parameters);

#endif
