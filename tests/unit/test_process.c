/* SPDX-License-Identifier: MIT */
/* The results of the system's own search: by name, a library that is already open, a stub, or nothing. POSIX only. */
#include "unit.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "directory.h"
#include "process.h"

static void assert_printed(const char *name, const char *value)
{
    char line[2 * PATH_MAX];
    snprintf(line, sizeof line, "%s=%s", name, value);
    process_assert_printed(line);
}

/* The fake answered: the loaded driver is the one at `path`. */
static void assert_loaded(const char *path)
{
    char code[32];
    snprintf(code, sizeof code, "%d\n", (int)FAKE_CODE(ENTRY_StreamQuery_v1, 0));
    process_assert_printed("result=0\n");
    process_assert_printed("reason=none\n");
    assert_printed("path", path);
    assert_printed("query", code);
}

/* The stub was found by name and passed over. After it, the machine's own driver may be found, or nothing. */
static void assert_stub_passed_over(void)
{
    process_assert_printed("attempt=libcuda.so.1: the CUDA Toolkit's stub " STUB "/libcuda.so.1, passed over");
    if (process_printed("path=/"))
        return;
    process_assert_printed("reason=stub\n");
    process_assert_printed("result=34\n");
    process_assert_printed("query=100\n");
}

DIRECTORY_TEST(test_process_when_the_driver_is_on_the_library_path_then_it_is_found_by_name)
{
    const char *driver = directory_link("libcuda.so.1", unit_fake("fake_12040"));
    unit_set_variable("LD_LIBRARY_PATH", directory_root());
    process_run(process_report, NULL, NULL);
    assert_loaded(driver);
    process_assert_printed("attempt=libcuda.so.1: a driver for CUDA 12.4");
}

DIRECTORY_TEST(test_process_when_a_bare_name_is_given_then_searches_for_it)
{
    const char *driver = directory_link("libother.so", unit_fake("fake_12040"));
    unit_set_variable("LD_LIBRARY_PATH", directory_root());
    unit_set_variable("CUSHIM_DRIVER", "libother.so");
    process_run(process_report, NULL, NULL);
    assert_loaded(driver);
    process_assert_printed("variable=CUSHIM_DRIVER used");
}

DIRECTORY_TEST(test_process_when_a_driver_is_open_already_then_that_one_is_taken)
{
    const char *open = directory_link("somewhere/driver.so", unit_fake("fake_12040"));
    const char *named = directory_link("libcuda.so.1", unit_fake("fake_11040"));
    unit_set_variable("LD_LIBRARY_PATH", directory_root());
    process_run(process_report, open, NULL);
    assert_loaded(HAS_MUSL ? named : open);
    process_assert_printed(HAS_MUSL ? "version=11040\n" : "version=12040\n");
}

DIRECTORY_TEST(test_process_when_the_stub_is_on_the_library_path_then_it_is_passed_over)
{
    unit_set_variable("LD_LIBRARY_PATH", STUB);
    process_run(process_report, NULL, NULL);
    assert_stub_passed_over();
}

DIRECTORY_TEST(test_process_when_the_stub_is_open_already_then_it_is_passed_over)
{
    process_run(process_report, STUB "/libcuda.so.1", NULL);
    if (HAS_MUSL)
        process_assert_printed("attempt=libcuda.so.1: not found\n");
    else
        assert_stub_passed_over();
}

DIRECTORY_TEST(test_process_when_linked_to_the_stub_then_it_is_passed_over)
{
    unit_set_variable("LD_LIBRARY_PATH", STUB);
    process_run(process_report_linked, NULL, NULL);
    process_assert_printed("linked=1\n");
    assert_stub_passed_over();
}

DIRECTORY_TEST(test_process_when_linked_to_the_stub_then_a_full_path_loads_the_driver_beside_it)
{
    unit_set_variable("LD_LIBRARY_PATH", STUB);
    unit_set_variable("CUSHIM_DRIVER", unit_fake("fake_12040"));
    process_run(process_report_linked, NULL, NULL);
    process_assert_printed("linked=1\n");
    assert_loaded(unit_fake("fake_12040"));
}

/* A corrupt file on the system's search path. */

/* The outcome of the system's search. The message of musl does not name a file that is not a library. */
static void assert_message(const char *message)
{
    char text[PATH_MAX + 64];
    snprintf(text, sizeof text, "libcuda.so.1: %s", message);
    assert_printed("attempt", text);
}

DIRECTORY_TEST(test_process_when_the_library_path_leads_to_a_corrupt_file_then_reports_the_loaders_message)
{
    char first[PATH_MAX];
    snprintf(first, sizeof first, "%s", directory_write("libcuda.so.1", "text", 4));
    unit_set_variable("LD_LIBRARY_PATH", directory_root());
    process_run(process_report, NULL, NULL);
    assert_message(HAS_MUSL ? "Exec format error" : first);
    unlink(first);
    directory_link("libcuda.so.1", unit_fake("not_complete"));
    process_run(process_report, NULL, NULL);
    assert_message("libcushim_no_such_dependency.so.1");
}

/* The system's cache, like a run path, leads to files that only the dynamic loader's message names. */
static const char *copy_of_report(void)
{
    const char *program = directory_copy("report", process_report_origin, SIZE_MAX);
    assert_int_equal(chmod(program, 0755), 0);
    return program;
}

DIRECTORY_TEST(test_process_when_the_file_found_lacks_a_library_then_that_one_is_named)
{
    directory_link("libcuda.so.1", unit_fake("not_complete"));
    process_run(copy_of_report(), NULL, NULL);
    assert_message("libcushim_no_such_dependency.so.1");
}

DIRECTORY_TEST(test_process_when_the_file_found_is_broken_then_a_log_callback_changes_nothing)
{
    static const char *const arguments[] = {NULL, "log"};
    char broken[PATH_MAX];
    snprintf(broken, sizeof broken, "%s", directory_write("libcuda.so.1", "text", 4));
    const char *program = copy_of_report();
    for (size_t i = 0; i < sizeof arguments / sizeof arguments[0]; i++) {
        process_run(program, arguments[i], NULL);
        assert_message(HAS_MUSL ? "Exec format error" : broken);
        process_assert_printed("result=303\n");
        process_assert_printed("reason=not-loadable\n");
    }
}
