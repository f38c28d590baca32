/* SPDX-License-Identifier: MIT */
/* A registered kernel: the same object is its CUfunction and its CUkernel in every module. */
#ifndef SOFT_FUNCTION_H
#define SOFT_FUNCTION_H

#include "soft.h"

#include "softcuda.h"

enum { ARGUMENT_ALIGNMENT_MAX = 16 }; /* of a parameter, in bytes */

struct function {
    struct object object;
    struct function *next;
    char *name;
    softcuda_kernel run;
    size_t count;    /* of parameters */
    size_t *sizes;   /* of each */
    size_t *offsets; /* of each in the buffer that holds them all */
    size_t buffer_size;
};

/* Registers a function under `name` (see softcuda.h), in place of an earlier one. */
CUresult function_register(const char *name, softcuda_kernel run, const size_t *sizes, size_t count);

/* The registered kernel of this name, or NULL. */
struct function *function_named(const char *name);
struct function *function_at(size_t index);

#endif
