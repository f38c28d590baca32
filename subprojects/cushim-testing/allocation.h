/* SPDX-License-Identifier: MIT */
/* Allocations that fail, and the blocks in use: of the program and the libraries that are linked into it, or of the
 * whole process (allocation.c). */
#ifndef TESTS_ALLOCATION_H
#define TESTS_ALLOCATION_H

#include <stdbool.h>

/* Makes one allocation of this thread fail: the next one if `number` is 0, the one after that if it is 1, and so on. */
void allocation_fail(int number);
/* Returns whether that allocation has failed, and cancels the failure if not. */
bool allocation_failed(void);
/* Returns the number of blocks in use. */
long allocation_count(void);

#endif
