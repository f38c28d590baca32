/* SPDX-License-Identifier: MIT */
#include "test_list.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_TESTS = 64 };

static struct CMUnitTest tests[MAX_TESTS];
static int lines[MAX_TESTS];
static size_t test_count;

/* MinGW calls constructors in reverse, so the lines decide. */
void test_list_add(struct CMUnitTest test, int line)
{
    size_t at = test_count++;
    if (at == MAX_TESTS) {
        fprintf(stderr, "test_list.c: more than %d tests\n", MAX_TESTS);
        abort();
    }
    for (; at > 0 && lines[at - 1] > line; at--) {
        tests[at] = tests[at - 1];
        lines[at] = lines[at - 1];
    }
    tests[at] = test;
    lines[at] = line;
}

int test_list_run(void)
{
    return _cmocka_run_group_tests("tests", tests, test_count, NULL, NULL);
}
