/* SPDX-License-Identifier: MIT */
/*
 * The shared library with a program that is linked to it, also as position-dependent code, which contains a copy of the
 * pointer to the current table. The library has no hook for tests, so each test is a process of its own. POSIX only.
 */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__linux__)
#    include <sched.h>
#    include <sys/mount.h>
#    include <sys/wait.h>
#endif

#include "child.h"
#include "cushim/cushim.h"
#include "cushim/gpu.h"
#include "fake.h"
#include "kind_unit.h"
#include "test_list.h"

#define DRIVER FAKES "/fake_12040.so"
#define QUERY FAKE_CODE(ENTRY_StreamQuery_v1, 0)

/* Runs a check in a child that has not loaded a driver yet, with this environment. */
static void assert_in_child(const char *driver, bool (*holds)(void))
{
    setenv("CUSHIM_DRIVER", driver, 1);
    child_check(NULL, holds);
}

/* The library reports the version of its own current table; the program calls through its copy of the pointer. */
static bool load_is_seen_by_both(void)
{
    const struct cushim_dispatch_table *before = cushim_table();
    return cushim_load(NULL) == CUDA_SUCCESS && cushim_driver_version() == 12040 && cushim_table() != before
           && cushim_table()->StreamQuery_v1(NULL) == QUERY;
}

TEST_WITH(test_table_when_the_library_loads_then_the_program_sees_the_same, NULL, NULL)
{
    assert_in_child(DRIVER, load_is_seen_by_both);
}

static bool first_call_is_seen_by_both(void)
{
    const struct cushim_dispatch_table *before = cushim_table();
    return cushim_driver_version() == 0 && before->StreamQuery_v1(NULL) == QUERY && cushim_table() != before
           && cushim_driver_version() == 12040 && before->StreamQuery_v1(NULL) == QUERY;
}

TEST_WITH(test_table_when_a_first_call_loads_then_the_program_sees_the_same, NULL, NULL)
{
    assert_in_child(DRIVER, first_call_is_seen_by_both);
}

static bool absence_is_seen_by_both(void)
{
    const struct cushim_dispatch_table *before = cushim_table();
    return cushim_load(NULL) == CUDA_ERROR_FILE_NOT_FOUND && cushim_table() != before
           && cushim_table()->StreamQuery_v1(NULL) == CUDA_ERROR_NO_DEVICE;
}

TEST_WITH(test_table_when_no_driver_exists_then_library_and_program_see_the_same, NULL, NULL)
{
    assert_in_child("none", absence_is_seen_by_both);
}

static const struct kind_unit *open_unit(const char *path, const char *name)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    return library != NULL ? dlsym(library, name) : NULL;
}

static bool has_own_table(const struct kind_unit *unit)
{
    bool per_thread = unit->kind == CUSHIM_DEFAULT_STREAM_PER_THREAD;
    CUresult expected = FAKE_CODE(ENTRY_StreamQuery_v1, per_thread);
    return unit->query(NULL) == expected && unit->query_by_name(NULL) == expected
           && unit->table() == (per_thread ? cushim_table_per_thread() : cushim_table_legacy());
}

/* The first calls are those of the library for per-thread default streams. */
static bool libraries_have_their_own_tables(void)
{
    const struct kind_unit *legacy = open_unit(KIND_LIBRARIES "/kind_legacy.so", "kind_c_legacy");
    const struct kind_unit *per_thread = open_unit(KIND_LIBRARIES "/kind_per_thread.so", "kind_c_per_thread");
    return legacy != NULL && legacy->kind == CUSHIM_DEFAULT_STREAM_LEGACY && per_thread != NULL
           && per_thread->kind == CUSHIM_DEFAULT_STREAM_PER_THREAD && cushim_driver_version() == 0
           && has_own_table(per_thread) && has_own_table(legacy) && has_own_table(per_thread)
           && cushim_table()->StreamQuery_v1(NULL) == QUERY;
}

TEST_WITH(test_libraries_when_of_both_kinds_then_each_calls_the_form_of_its_kind, NULL, NULL)
{
    assert_in_child(DRIVER, libraries_have_their_own_tables);
}

static bool global_scope_has_driver(void)
{
    return dlsym(RTLD_DEFAULT, "cuStreamQuery") != NULL;
}

static bool driver_becomes_global(void)
{
    const struct cushim_load_options options = {.has_global_symbols = true};
    return !global_scope_has_driver() && cushim_load(&options) == CUDA_SUCCESS && global_scope_has_driver();
}

TEST_WITH(test_global_symbols_when_set_then_the_driver_is_in_the_global_scope, NULL, NULL)
{
    assert_in_child(DRIVER, driver_becomes_global);
}

static bool loaded_driver_becomes_global(void)
{
    return cushim_load(NULL) == CUDA_SUCCESS && driver_becomes_global();
}

TEST_WITH(test_global_symbols_when_set_in_a_later_load_then_the_driver_joins_the_global_scope, NULL, NULL)
{
    assert_in_child(DRIVER, loaded_driver_becomes_global);
}

static bool refused_load_changes_nothing(void)
{
    const struct cushim_load_options options = {.max_version = 11020, .has_global_symbols = true};
    return cushim_load(NULL) == CUDA_SUCCESS && cushim_load(&options) == CUDA_ERROR_NOT_PERMITTED
           && !global_scope_has_driver();
}

TEST_WITH(test_global_symbols_when_the_load_is_refused_then_the_driver_stays_local, NULL, NULL)
{
    assert_in_child(DRIVER, refused_load_changes_nothing);
}

#if defined(__linux__)
/* In a child of fork(). QEMU's emulation of a process does not show the flags of the kernel. */
static bool fork_is_shown(void)
{
    enum { FORK_WITHOUT_EXEC = 0x40 };
    unsigned flags = 0;
    FILE *file = fopen("/proc/self/stat", "r");
    bool is_read = file != NULL && fscanf(file, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %u", &flags) == 1;
    return is_read && fclose(file) == 0 && (flags & FORK_WITHOUT_EXEC) != 0;
}

/* In its own /dev, which has a driver, too. */
static bool make_devices(void)
{
    int user = geteuid() != 0 ? CLONE_NEWUSER : 0;
    return fork_is_shown() && unshare(CLONE_NEWNS | user) == 0 && mount("none", "/", "", MS_REC | MS_PRIVATE, NULL) == 0
           && mount("none", "/dev", "tmpfs", 0, NULL) == 0 && symlink(DRIVER, "/dev/libcuda.so.1") == 0
           && close(open("/dev/nvidia-uvm", O_RDWR | O_CREAT, 0666)) == 0;
}

static CUresult CUDAAPI get_count(int *count)
{
    return CUDA_ERROR_NOT_INITIALIZED;
}

/* A daemon, which is itself a child of fork(), asks before another part of it starts CUDA. */
static bool child_of_daemon_is_forked(void)
{
    int status = -1;
    void *library = dlopen("/dev/libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return false;
    ((struct cushim_dispatch_table *)dlsym(library, "fake_hooks"))->DeviceGetCount_v1 = get_count;
    if (cushim_is_started() != CUSHIM_START_NO || open("/dev/nvidia-uvm", O_RDWR) < 0)
        return false;
    pid_t child = fork();
    if (child == 0)
        _exit(cushim_is_started() == CUSHIM_START_FORKED ? 0 : 1);
    return waitpid(child, &status, 0) == child && status == 0;
}

TEST_WITH(test_started_when_a_daemon_asked_before_the_start_and_nothing_is_loaded_then_its_child_is_forked, NULL, NULL)
{
    if (!child_check(make_devices, child_of_daemon_is_forked))
        skip();
}
#endif

int main(void)
{
    return test_list_run();
}
