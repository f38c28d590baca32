/* SPDX-License-Identifier: MIT */
/*
 * Allocations that fail, one at a time, and then each together with all later ones: nothing crashes, nothing leaks
 * (checked by the sanitizer), the reported results are true, and everything works when memory is available again. Where
 * a program can replace malloc(), these are the allocations of the whole process, the dynamic loader included;
 * elsewhere only those of cushim.
 */
#ifndef ALLOCATION_H
#define ALLOCATION_H

#include "mock.h"

extern struct allocation {
    bool counts;    /* whether allocations can fail now: a scenario clears it for its preparations */
    bool only_one;  /* or all later ones, too */
    long countdown; /* to the allocation that fails */
    bool failed;    /* whether any allocation failed */
} allocation;

/* Runs a scenario with its first allocation failing, then its second, and so on until no allocation is left to fail.
 * Each time, calls `after`, which checks the outcome. */
void allocation_fail_each(void (*scene)(void), void (*after)(void));

/* Asserts that the table is complete and agrees with the result of a load of fake_12040. */
void allocation_assert_consistent(CUresult result);

#endif
