/* SPDX-License-Identifier: MIT */
/* What the kernel of a launch gets. */
#ifndef CUSHIM_TRACE_ARGUMENTS_H
#define CUSHIM_TRACE_ARGUMENTS_H

#include <stddef.h>
#include <stdint.h>

struct cushim_dispatch_table;

struct arguments_launch {
    uint64_t function;
    void *const *parameters; /* pointers to the arguments; or NULL */
    void *const *extra;      /* a list with a buffer; or NULL */
};

/* Writes the arguments of a launch: for each its size and its bytes, in words. Asks the driver for the sizes, once for
 * each function. Returns the number of words; 0: the kernel has none, or they are not known. */
size_t arguments_read(const struct cushim_dispatch_table *next, const struct arguments_launch *launch, uint64_t *words,
                      size_t room);

/* Functions end: their handles can mean others later. */
void arguments_forget(void);

#endif
