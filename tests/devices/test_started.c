/* SPDX-License-Identifier: MIT */
/* cushim_is_started(), with drivers that answer as drivers 340 to 580 do. POSIX only. */
#include "unit.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>
#if defined(__linux__)
#    include <linux/seccomp.h>
#    include <sys/prctl.h>
#    include <sys/syscall.h>
#endif

#include "child.h"
#include "cushim/gpu.h"
#include "directory.h"

static CUresult answer; /* of cuDeviceGetCount */

static CUresult CUDAAPI get_count(int *count)
{
    return answer;
}

static void hook(struct cushim_dispatch_table *hooks)
{
    hooks->DeviceGetCount_v1 = get_count;
}

/* Opens a driver without cushim, under the name of a driver. */
static void *open_driver(const char *name)
{
    void *library = dlopen(directory_driver(name), RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    hook(dlsym(library, "fake_hooks"));
    return library;
}

DIRECTORY_TEST(test_started_when_no_driver_is_open_then_no)
{
    assert_int_equal(cushim_is_started(), CUSHIM_START_NO);
    assert_int_equal(cushim_diagnosis_get()->reason, CUSHIM_REASON_NOT_TRIED);
}

static bool is_forked(void)
{
    answer = CUDA_ERROR_NOT_INITIALIZED; /* what a driver answers there */
    return cushim_is_started() == CUSHIM_START_FORKED;
}

static bool is_not_forked(void)
{
    answer = CUDA_ERROR_NOT_INITIALIZED;
    return cushim_is_started() == CUSHIM_START_NO;
}

/* Nothing was loaded before this test, so cushim knows no root directory. */
DIRECTORY_TEST(test_started_when_in_a_child_without_a_load_then_no)
{
    void *library = open_driver("libcuda.so.1");
    child_check(NULL, is_not_forked);
    dlclose(library);
}

DIRECTORY_TEST(test_started_when_another_part_has_the_driver_open_then_its_answer)
{
    static const struct {
        CUresult code;
        enum cushim_start_state state;
    } answers[] = {{CUDA_ERROR_NOT_INITIALIZED, CUSHIM_START_NO},
                   {CUDA_SUCCESS, CUSHIM_START_YES},
                   {CUDA_ERROR_DEINITIALIZED, CUSHIM_START_ENDED},
                   {CUDA_ERROR_STUB_LIBRARY, CUSHIM_START_NO}};
    void *library = open_driver("libcuda.so.580.159.04");
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        answer = answers[i].code;
        assert_int_equal(cushim_is_started(), answers[i].state);
    }
    assert_int_equal(cushim_diagnosis_get()->reason, CUSHIM_REASON_NOT_TRIED);
    dlclose(library);
}

/* As under `cushim exec`, whose driver hands on to another one. */
DIRECTORY_TEST(test_started_when_several_drivers_are_open_then_one_that_is_started_counts)
{
    void *first = open_driver("one/libcuda.so.1"), *second = open_driver("other/libcuda.so.580");
    struct cushim_dispatch_table *hooks = dlsym(first, "fake_hooks");
    hooks->DeviceGetCount_v1 = NULL; /* it returns another code */
    answer = CUDA_SUCCESS;
    assert_int_equal(cushim_is_started(), CUSHIM_START_YES);
    dlclose(second);
    dlclose(first);
}

DIRECTORY_TEST(test_started_when_cushim_loaded_a_driver_of_any_name_then_its_answer)
{
    unit_load_plain("fake_12040");
    hook(unit_object("fake_12040", "fake_hooks"));
    answer = CUDA_ERROR_NOT_INITIALIZED;
    assert_int_equal(cushim_is_started(), CUSHIM_START_NO);
    answer = CUDA_SUCCESS;
    assert_int_equal(cushim_is_started(), CUSHIM_START_YES);
}

DIRECTORY_TEST(test_started_when_cushim_started_it_before_a_fork_then_forked)
{
    unit_load_plain("fake_12040");
    hook(unit_object("fake_12040", "fake_hooks"));
    child_check(NULL, is_not_forked);
    assert_int_equal(cushim_init(), CUDA_SUCCESS);
    child_check(NULL, is_forked);
}

DIRECTORY_TEST(test_started_when_another_part_started_it_before_a_fork_then_forked)
{
    directory_machine_file("dev/nvidia-uvm", "");
    struct cushim_load_options options = {.root = directory_machine()};
    directory_driver("root/usr/lib64/libcuda.so.1");
    assert_int_equal(cushim_load(&options), CUDA_SUCCESS);
    void *library = dlopen(cushim_diagnosis_get()->path, RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(library);
    hook(dlsym(library, "fake_hooks"));
    child_check(NULL, is_not_forked);
    int file = open(directory_path("root/dev/nvidia-uvm"), O_RDWR);
    assert_true(file >= 0);
    assert_true(is_not_forked()); /* in this process, it is what a failed start has left */
    child_check(NULL, is_forked);
    close(file);
    dlclose(library);
}

#if defined(__GLIBC__) && !defined(SANITIZED) && defined(SECCOMP_MODE_STRICT)
/* Any system call but read, write and exit ends the process. */
static bool forbid_system_calls(void)
{
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0;
}

static bool answers_without_a_system_call(void)
{
    bool holds = cushim_is_started() == (answer == CUDA_SUCCESS ? CUSHIM_START_YES : CUSHIM_START_NO);
    syscall(SYS_exit, holds ? 0 : 1);
    return false;
}

DIRECTORY_TEST(test_started_when_no_driver_is_open_or_one_is_started_then_makes_no_system_call)
{
    answer = CUDA_ERROR_NOT_INITIALIZED;
    if (!child_check(forbid_system_calls, answers_without_a_system_call)) {
        unit_skip("seccomp is not available");
        return;
    }
    void *library = open_driver("libcuda.so.1");
    answer = CUDA_SUCCESS;
    child_check(forbid_system_calls, answers_without_a_system_call);
    dlclose(library);
    unit_load_plain("fake_12040");
    hook(unit_object("fake_12040", "fake_hooks"));
    child_check(forbid_system_calls, answers_without_a_system_call);
}
#endif
