/* SPDX-License-Identifier: MIT */
/*
 * A stub on the search path in front of a driver, on a machine that has the driver in a known path. A child builds such
 * a machine, with its own /run. Linux only.
 */
#include "unit.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process.h"

/* the path of the driver on NixOS */
#define PLACE "/run/opengl-driver/lib"
#define DRIVER PLACE "/libcuda.so.1"

static void put_driver_in_its_place(void)
{
    int user = geteuid() != 0 ? CLONE_NEWUSER : 0;
    bool done = unshare(CLONE_NEWNS | user) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0
                && mount("none", "/run", "tmpfs", 0, NULL) == 0 && mkdir("/run/opengl-driver", 0755) == 0
                && mkdir(PLACE, 0755) == 0 && symlink(unit_fake("fake_12040"), DRIVER) == 0;
    if (!done)
        _exit(PROCESS_CANNOT);
}

static void assert_driver_wins(const char *program)
{
    unit_set_variable("LD_LIBRARY_PATH", STUB);
    if (!process_run(program, NULL, put_driver_in_its_place)) {
        unit_skip("this machine gives a process no file system of its own");
        return;
    }
    process_assert_printed("attempt=libcuda.so.1: the CUDA Toolkit's stub " STUB "/libcuda.so.1, passed over");
    process_assert_printed("result=0\n");
    /* The machine's own driver precedes it, if it has one. */
    if (process_printed("attempt=" DRIVER))
        process_assert_printed("path=" DRIVER "\n");
}

UNIT_TEST(test_stub_when_first_on_the_library_path_then_loads_the_driver_in_a_known_path)
{
    assert_driver_wins(process_report);
}

UNIT_TEST(test_stub_when_linked_to_the_program_then_loads_the_driver_in_a_known_path)
{
    assert_driver_wins(process_report_linked);
    if (process_printed("result"))
        process_assert_printed("linked=1\n");
}
