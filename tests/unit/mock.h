/* SPDX-License-Identifier: MIT */
/*
 * A fake driver whose functions are the test's: each notes how it was called. The tests then compare what was noted, so
 * that they see which functions were called, in which order, with which arguments, and that nothing else was.
 */
#ifndef MOCK_H
#define MOCK_H

#include "unit.h"

/* cmocka setup: as unit_reset, with nothing noted and nothing failing. */
int mock_reset(void **state);

#define MOCK_TEST(test) cmocka_unit_test_setup(test, mock_reset)

/* Loads a fake, and returns its hooks, which are as at first. */
struct cushim_dispatch_table *mock_load(const char *name, struct cushim_load_options options);

/* From now on, mock_call() of this function returns this. NULL: none fails. */
void mock_fail(const char *function, CUresult code);

/* Notes "function(arguments) ". Returns CUDA_SUCCESS, or the code that the function is to fail with. */
CUSHIM_PRINTF(2, 3)
CUresult mock_call(const char *function, const char *arguments, ...);

/* Asserts that exactly these calls were noted, and forgets them. */
void mock_assert_calls(const char *calls);

/* Asserts that a call was refused as more than this driver can do, in this function's name, and that none was made. */
void mock_assert_refused(CUresult result, const char *function);

/* Handles are numbers. */
#define HANDLE(type, number) ((type)(uintptr_t)(number))
#define NUMBER(handle) ((unsigned)(uintptr_t)(handle))

#endif
