/* SPDX-License-Identifier: MIT */
/*
 * A fake driver whose functions are defined by the test. Each records its call. The tests compare the record with the
 * expected calls, and so check the functions, their order and arguments, and that nothing else was called.
 */
#ifndef MOCK_H
#define MOCK_H

#include "unit.h"

/* cmocka setup: calls unit_reset, and clears the record and the failure. */
int mock_reset(void **state);

#define MOCK_TEST(name) TEST_WITH(name, mock_reset, NULL)

/* Loads a fake, and returns its hooks in their initial state. The test uses the table of this kind. */
struct cushim_dispatch_table *mock_load_kind(const char *name, struct cushim_load_options options,
                                             enum cushim_default_stream kind);

/* Test files are compiled once for each default stream, and use cushim_table(). */
static inline struct cushim_dispatch_table *mock_load(const char *name, struct cushim_load_options options)
{
    return mock_load_kind(name, options, CUSHIM_DEFAULT_STREAM_AS_COMPILED);
}

/* From now on, mock_call() of this function returns this code. NULL: no function fails. */
void mock_fail(const char *function, CUresult code);

/* Records "function(arguments) ". Returns CUDA_SUCCESS, or the code that the function shall fail with. */
CUSHIM_PRINTF(2, 3)
CUresult mock_call(const char *function, const char *arguments, ...);

/* Asserts that exactly these calls were recorded, each in the form of the table's kind, and clears the record. */
void mock_assert_calls(const char *calls);

/* Asserts that a call was refused as not supported by this driver, in the name of this function and with a message that
 * names the CUDA version that it needs, and that no call was made. */
void mock_assert_refused(CUresult result, const char *function);

/* Handles are numbers. */
#define HANDLE(type, number) ((type)(uintptr_t)(number))
#define NUMBER(handle) ((unsigned)(uintptr_t)(handle))

#endif
