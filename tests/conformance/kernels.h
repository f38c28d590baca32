/* SPDX-License-Identifier: MIT */
/*
 * The only place that knows how kernels get onto a driver: PTX text for NVIDIA's, compiled by the driver itself. A
 * software driver has functions registered under the same names to stand for them.
 */
#ifndef CONFORMANCE_KERNELS_H
#define CONFORMANCE_KERNELS_H

#include "fixture.h"

/*
 * conformance_nothing()                       ends at once
 * conformance_store(address, value)           writes a 32-bit value
 * conformance_wait(address)                   ends when the 32-bit value there is not 0
 * conformance_fault()                         writes to address 16, which nobody has
 * conformance_trap()                          stops with a trap
 */
CUresult kernel_get(const char *name, CUfunction *out_function);

/* A module of its own, which the caller unloads. */
CUresult kernel_module(CUmodule *out_module);

/* One thread of it. */
CUresult kernel_launch(CUfunction function, CUstream stream, void **parameters);

#endif
