/* SPDX-License-Identifier: MIT */
/* cmocka, and the tests of a program, each listed where it is written. */
#ifndef TEST_LIST_H
#define TEST_LIST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Begins a test: TEST_WITH(test_name, setup, teardown) { ... } */
#define TEST_WITH(name, setup, teardown)                                                                               \
    static void name(void **state);                                                                                    \
    __attribute__((constructor)) static void name##_add(void)                                                          \
    {                                                                                                                  \
        test_list_add((struct CMUnitTest)cmocka_unit_test_setup_teardown(name, setup, teardown), __LINE__);            \
    }                                                                                                                  \
    static void name(void **state)
void test_list_add(struct CMUnitTest test, int line);

/* Runs the tests in the order of the file. Returns how many failed. */
int test_list_run(void);

#endif
