/* SPDX-License-Identifier: MIT */
/* The text in the file that describes the fields of each slot. */
#ifndef CUSHIM_TRACE_SCHEMA_H
#define CUSHIM_TRACE_SCHEMA_H

#include <stddef.h>

#include "../file/numbers.h"

/* A line for each slot, "cuStreamCreate v1|o8 CUstream *phStream|v4 unsigned int Flags": the function, its ABI version,
 * and the fields. Writes at most `size` bytes. Returns the length. */
size_t schema_write(char *text, size_t size);

enum trace_function schema_function(unsigned slot);

#endif
