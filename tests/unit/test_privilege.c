/* SPDX-License-Identifier: MIT */
/* A program with more rights than its user ignores the environment of the user, and reports that. POSIX only. */
#include "unit.h"

#include <grp.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "directory.h"
#include "process.h"

/* Any two users that are not root. */
enum { OWNER = 1, USER = 65534 };

static void become_user(void)
{
    if (setgroups(0, NULL) != 0 || setgid(USER) != 0 || setuid(USER) != 0)
        _exit(PROCESS_CANNOT);
}

/* Runs the program as set-user-ID. Returns false after a unit_skip(). */
static bool run_privileged(const char *argument)
{
    char program[PATH_MAX];
    if (geteuid() != 0) {
        unit_skip("only root can make a program that runs as another user");
        return false;
    }
    snprintf(program, sizeof program, "%s", directory_copy("report", process_report, SIZE_MAX));
    assert_int_equal(chmod(directory_root(), 0777), 0);
    assert_int_equal(chown(program, OWNER, OWNER), 0);
    assert_int_equal(chmod(program, 04755), 0);
    if (!process_run(program, argument, become_user)) {
        unit_skip("this root cannot become another user");
        return false;
    }
    if (process_printed("privileged=0")) {
        unit_skip("programs in /tmp get no rights from their files here (nosuid, or an emulator)");
        return false;
    }
    return true;
}

DIRECTORY_TEST(test_environment_when_set_user_id_then_ignored_and_reported)
{
    unit_set_variable("CUSHIM_DRIVER", directory_driver("driver.so"));
    unit_set_variable("CUSHIM_MAX_VERSION", "nonsense");
    unit_set_variable("CUSHIM_HIDE", "nonsense");
    unit_set_variable("CUSHIM_LAYERS", "nonsense");
    unit_set_variable("CUSHIM_LOG", directory_path("log"));
    unit_set_variable("SNAP_LIBRARY_PATH", "/snap/of/the/user");
    if (!run_privileged(NULL))
        return;
    process_assert_printed("variable=CUSHIM_DRIVER ignored\n");
    process_assert_printed("variable=CUSHIM_MAX_VERSION ignored\n");
    process_assert_printed("variable=CUSHIM_HIDE ignored\n");
    process_assert_printed("variable=CUSHIM_LAYERS ignored\n");
    process_assert_printed("attempt=libcuda.so.1");
    assert_int_equal(access(directory_path("log"), F_OK), -1);
    assert_false(process_printed("attempt=/snap/of/the/user"));
    assert_false(process_printed("reason=bad-option"));
    assert_false(process_printed("reason=bad-layer"));
    assert_false(process_printed("version=12040") && process_printed("path=/tmp"));
}

DIRECTORY_TEST(test_environment_when_the_same_program_has_no_more_rights_then_it_is_followed)
{
    char program[PATH_MAX];
    snprintf(program, sizeof program, "%s", directory_copy("report", process_report, SIZE_MAX));
    unit_set_variable("CUSHIM_DRIVER", directory_driver("driver.so"));
    unit_set_variable("CUSHIM_LOG", directory_path("log"));
    assert_int_equal(chmod(program, 0755), 0);
    assert_true(process_run(program, NULL, NULL));
    process_assert_printed("privileged=0\n");
    process_assert_printed("variable=CUSHIM_DRIVER used\n");
    process_assert_printed("version=12040\n");
    assert_int_equal(access(directory_path("log"), F_OK), 0);
}

/* The driver is open already, so that it is found by its name. */
DIRECTORY_TEST(test_companion_when_set_user_id_then_the_environment_does_not_explain_its_absence)
{
    char driver[PATH_MAX];
    if (HAS_MUSL) {
        unit_skip("musl does not find an open library by its soname");
        return;
    }
    snprintf(driver, sizeof driver, "%s", directory_driver("driver.so"));
    setenv("NVIDIA_DRIVER_CAPABILITIES", "compute", 1);
    if (!run_privileged(driver))
        return;
    if (process_printed("nvml=\n") || process_printed("nvml=/")) {
        unit_skip("this machine has NVML");
        return;
    }
    process_assert_printed("nvml=libnvidia-ml.so.1 is missing here.\n");
    assert_true(process_run(process_report, driver, NULL));
    process_assert_printed(
        "nvml=libnvidia-ml.so.1 is missing in this container: NVIDIA_DRIVER_CAPABILITIES lacks utility");
}
