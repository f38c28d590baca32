/* SPDX-License-Identifier: MIT */
/*
 * The shared library with a program that is linked to it, also as position-dependent code, which contains a copy of the
 * pointer to the current table. The library has no hook for tests, so each test is a process of its own. POSIX only.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cushim/cushim.h"
#include "fake.h"

#define DRIVER FAKES "/fake_12040.so"
#define QUERY FAKE_CODE(ROW_StreamQuery_v1, 0)

/* Runs a check in a child that has not loaded a driver yet, with this environment. */
static void assert_in_child(const char *driver, bool (*holds)(void))
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        setenv("CUSHIM_DRIVER", driver, 1);
        _exit(holds() ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* The library reports the version of its own current table; the program calls through its copy of the pointer. */
static bool load_is_seen_by_both(void)
{
    const struct cushim_dispatch_table *before = cushim_table();
    return cushim_load(NULL) == CUDA_SUCCESS && cushim_driver_version() == 12040 && cushim_table() != before
           && cushim_table()->StreamQuery_v1(NULL) == QUERY;
}

static void test_table_when_the_library_loads_then_the_program_sees_the_same(void **state)
{
    (void)state;
    assert_in_child(DRIVER, load_is_seen_by_both);
}

static bool first_call_is_seen_by_both(void)
{
    const struct cushim_dispatch_table *before = cushim_table();
    return cushim_driver_version() == 0 && before->StreamQuery_v1(NULL) == QUERY && cushim_table() != before
           && cushim_driver_version() == 12040 && before->StreamQuery_v1(NULL) == QUERY;
}

static void test_table_when_a_first_call_loads_then_the_program_sees_the_same(void **state)
{
    (void)state;
    assert_in_child(DRIVER, first_call_is_seen_by_both);
}

static bool absence_is_seen_by_both(void)
{
    const struct cushim_dispatch_table *before = cushim_table();
    return cushim_load(NULL) == CUDA_ERROR_FILE_NOT_FOUND && cushim_table() != before
           && cushim_table()->StreamQuery_v1(NULL) == CUDA_ERROR_NO_DEVICE;
}

static void test_table_when_no_driver_exists_then_library_and_program_see_the_same(void **state)
{
    (void)state;
    assert_in_child("none", absence_is_seen_by_both);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_when_the_library_loads_then_the_program_sees_the_same),
        cmocka_unit_test(test_table_when_a_first_call_loads_then_the_program_sees_the_same),
        cmocka_unit_test(test_table_when_no_driver_exists_then_library_and_program_see_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
