/* SPDX-License-Identifier: MIT */
/*
 * The kernels whose functions this process has got. The first time, the driver loads the code of a kernel into the
 * current context and waits, perhaps for ever. Libraries of CUDA get some functions again before each launch: that
 * takes a microsecond, and the place of the call would take ten times as long.
 */
#ifndef CUSHIM_TRACE_LOADED_H
#define CUSHIM_TRACE_LOADED_H

#include <stdbool.h>
#include <stdint.h>

struct cushim_dispatch_table;

/* Returns a number that stands for a kernel in the current context, for which it asks the driver; 0: not known. */
uint64_t loaded_key(const struct cushim_dispatch_table *next, uint64_t kernel);

bool loaded_has(uint64_t key);
void loaded_add(uint64_t key);

/* Functions end: their handles can mean others later. */
void loaded_forget(void);

#endif
