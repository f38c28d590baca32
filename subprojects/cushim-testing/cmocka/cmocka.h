/* SPDX-License-Identifier: MIT */
/*
 * The part of cmocka that the unit tests use, for Windows and cross builds, where no package of cmocka exists. (Meson's
 * fallback would download its source, which a build without a network cannot do.) The output and the exit
 * status of a test program are those of cmocka.
 */
#ifndef CUSHIM_TEST_CMOCKA_H
#define CUSHIM_TEST_CMOCKA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*test)(void **state);
    int (*setup)(void **state);
    int (*teardown)(void **state);
};

#define cmocka_unit_test(test)                                                                                         \
    {                                                                                                                  \
#        test, test, NULL, NULL                                                                                        \
    }
#define cmocka_unit_test_setup_teardown(test, setup, teardown)                                                         \
    {                                                                                                                  \
#        test, test, setup, teardown                                                                                   \
    }
#define cmocka_run_group_tests(tests, setup, teardown) cmocka_run(tests, sizeof(tests) / sizeof *(tests))
#define _cmocka_run_group_tests(name, tests, count, setup, teardown) cmocka_run(tests, count)

/* Returns the number of failed tests. */
int cmocka_run(const struct CMUnitTest *tests, size_t count);

/* These end the test. */
__attribute__((noreturn)) void cmocka_skip(void);
__attribute__((noreturn, format(gnu_printf, 3, 4))) void cmocka_fail(const char *file, int line, const char *format,
                                                                     ...);
void cmocka_numbers(long long left, long long right, bool equal, const char *file, int line);
void cmocka_texts(const char *left, const char *right, bool equal, const char *file, int line);

#define CMOCKA_HERE __FILE__, __LINE__
#define CMOCKA_HOLDS(condition, text) ((condition) ? (void)0 : cmocka_fail(CMOCKA_HERE, "%s", text))

#define skip() cmocka_skip()
#define fail() cmocka_fail(CMOCKA_HERE, "fail()")
#define fail_msg(...) cmocka_fail(CMOCKA_HERE, __VA_ARGS__)
#define print_message(...) printf(__VA_ARGS__)

#define assert_true(value) CMOCKA_HOLDS(value, #value)
#define assert_false(value) CMOCKA_HOLDS(!(value), "!(" #value ")")
#define assert_null(pointer) CMOCKA_HOLDS((pointer) == NULL, #pointer " == NULL")
#define assert_non_null(pointer) CMOCKA_HOLDS((pointer) != NULL, #pointer " != NULL")
#define assert_ptr_equal(left, right) CMOCKA_HOLDS((uintptr_t)(left) == (uintptr_t)(right), #left " == " #right)
#define assert_ptr_not_equal(left, right) CMOCKA_HOLDS((uintptr_t)(left) != (uintptr_t)(right), #left " != " #right)
#define assert_memory_equal(left, right, size)                                                                         \
    CMOCKA_HOLDS(memcmp(left, right, size) == 0, #left " is the same as " #right)
#define assert_in_range(value, least, most)                                                                            \
    CMOCKA_HOLDS((value) >= (least) && (value) <= (most), #least " <= " #value " <= " #most)
#define assert_int_equal(left, right) cmocka_numbers((long long)(left), (long long)(right), true, CMOCKA_HERE)
#define assert_int_not_equal(left, right) cmocka_numbers((long long)(left), (long long)(right), false, CMOCKA_HERE)
#define assert_string_equal(left, right) cmocka_texts(left, right, true, CMOCKA_HERE)
#define assert_string_not_equal(left, right) cmocka_texts(left, right, false, CMOCKA_HERE)

#endif
