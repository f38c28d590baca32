/* SPDX-License-Identifier: MIT */
/* cushim_gpu_find() and NVML. Needs glibc: musl never closes a library, so only one fake could be open. */
#include "machine.h"

#include <stdlib.h>

#include "child.h"
#include "os.h"

#define ONE_OF_NVML "0000:00:07 2335 " B " 90 1 0 NVIDIA H200"
#define TWO_OF_NVML "0000:00:06 2335 " A " 90 0 0 NVIDIA H200;" ONE_OF_NVML

static void put_nvml(const char *fake, const char *directory)
{
    char name[256], from[1024];
    snprintf(name, sizeof name, "root%s/libnvidia-ml.so.1", directory);
    snprintf(from, sizeof from, "%s/%s.so", DEVICES, fake);
    directory_copy(name, from, SIZE_MAX);
    setenv("FAKE_GPUS", TWO_OF_NVML, 1);
}

static void find_by_nvml(enum cushim_gpu_nvml nvml)
{
    find_with((struct cushim_gpu_options){.nvml = nvml});
}

static bool nvml_is_open(void)
{
    void *library = cush_os_library_open_again("libnvidia-ml.so", 0);
    if (library != NULL)
        cush_os_library_close(library);
    return library != NULL;
}

GPU_TEST(test_nvml_when_files_show_all_then_asked_only_on_request)
{
    put_two();
    put_nvml("fake_nvml", "/usr/lib64");
    find_by_nvml(CUSHIM_GPU_NVML_IF_NEEDED);
    assert_shown(A, B);
    assert_false(nvml_is_open());
    assert_int_equal(gpus[0].mig, CUSHIM_GPU_MIG_NOT_KNOWN);
    find_by_nvml(CUSHIM_GPU_NVML_ALWAYS);
    assert_shown(A, B);
    assert_true(nvml_is_open());
    assert_int_equal(gpus[0].mig, CUSHIM_GPU_MIG_OFF);
    setenv("FAKE_GPUS", "0000:00:06 2335 " A " 90 0 1 NVIDIA H200;" ONE_OF_NVML, 1);
    find_by_nvml(CUSHIM_GPU_NVML_ALWAYS);
    assert_not_known("MIG");
}

GPU_TEST(test_nvml_when_a_uuid_is_missing_then_asked)
{
    put_gpu("0000:00:06.0", UNUSED_UUID, 0, USUAL);
    put_gpu("0000:00:07.0", UNUSED_UUID, 1, USUAL);
    put_nvml("fake_nvml", "/usr/lib/wsl/lib");
    unit_set_variable("CUDA_VISIBLE_DEVICES", B);
    setenv("FAKE_NVML", "9", 1); /* it refuses */
    find_by_nvml(CUSHIM_GPU_NVML_IF_NEEDED);
    assert_not_known("first use");
    unsetenv("FAKE_NVML");
    find_by_nvml(CUSHIM_GPU_NVML_IF_NEEDED);
    assert_shown(B, NULL);
}

GPU_TEST(test_nvml_when_a_node_is_missing_outside_of_a_container_then_asked)
{
    put_gpu("0000:00:06.0", A, 0, (struct part){.lacks_node = true});
    put_gpu("0000:00:07.0", B, 1, USUAL);
    put_nvml("fake_nvml", "/usr/lib64");
    setenv("FAKE_DENIED", "0", 1);
    find_by_nvml(CUSHIM_GPU_NVML_IF_NEEDED);
    assert_shown(B, NULL);
    assert_int_equal(gpus[0].hider, CUSHIM_GPU_HIDER_NODE);
    unsetenv("FAKE_DENIED");
    find_by_nvml(CUSHIM_GPU_NVML_IF_NEEDED);
    assert_shown(A, B);
    cush_companion_reset_for_tests();
    put("", "/.dockerenv");
    find_by_nvml(CUSHIM_GPU_NVML_IF_NEEDED);
    assert_shown(B, NULL);
    assert_false(nvml_is_open());
}

GPU_TEST(test_nvml_when_it_shows_fewer_gpus_then_the_others_are_hidden)
{
    put_two();
    put_nvml("fake_nvml", "/usr/lib64");
    setenv("FAKE_GPUS", ONE_OF_NVML, 1);
    find_by_nvml(CUSHIM_GPU_NVML_ALWAYS);
    assert_shown(B, NULL);
    assert_int_equal(gpus[0].hider, CUSHIM_GPU_HIDER_NVML);
    assert_int_equal(gpus[1].nvml_index, 0);
}

GPU_TEST(test_nvml_when_the_driver_is_340_then_the_capability_is_that_of_the_id)
{
    put_gpu("0000:01:00.0", A, 0, (struct part){.device = "0x0fc6"});
    put_nvml("fake_nvml_old", "/usr/lib64");
    setenv("FAKE_GPUS", "0000:01:00 0fc6 " A " 30 0 0 GeForce GTX 650", 1);
    find_by_nvml(CUSHIM_GPU_NVML_ALWAYS);
    assert_shown(A, NULL);
    assert_int_equal(gpus[0].capability, 3000);
    assert_string_equal(gpus[0].name, "GeForce GTX 650");
}

GPU_TEST(test_nvml_when_a_gpu_is_newer_than_the_list_then_asked)
{
    put_gpu("0000:01:00.0", A, 0, (struct part){.device = "0xfff0"});
    put_nvml("fake_nvml", "/usr/lib64");
    setenv("FAKE_GPUS", "0000:01:00 fff0 " A " 130 0 0 NVIDIA X", 1);
    find_by_nvml(CUSHIM_GPU_NVML_IF_NEEDED);
    assert_int_equal(gpus[0].capability, 13000);
}

GPU_TEST(test_nvml_when_the_list_of_the_kernel_is_hidden_then_nvml_has_it)
{
    put("", "/sys/module/nvidia/x");
    put_nvml("fake_nvml", "/usr/lib64");
    find_by_nvml(CUSHIM_GPU_NVML_IF_NEEDED);
    assert_shown(A, B);
}

GPU_TEST(test_nvml_when_on_wsl_then_lists_the_gpus_of_which_cuda_is_not_known)
{
    put("", "/dev/dxg");
    put_nvml("fake_nvml", "/usr/lib/wsl/lib");
    find_by_nvml(CUSHIM_GPU_NVML_IF_NEEDED);
    assert_not_known("Windows Subsystem");
    assert_int_equal(all.count, 2);
    assert_string_equal(gpus[1].uuid, B);
    assert_int_equal(gpus[1].ordinal, CUSHIM_GPU_NOT_KNOWN);
}

/* It would load the module, or wake the GPU. */
GPU_TEST(test_nvml_when_no_module_is_loaded_or_a_gpu_sleeps_then_not_asked)
{
    put_gpu("0000:01:00.0", A, 0, (struct part){.is_of_bus_only = true, .kernel_driver = "-"});
    put_nvml("fake_nvml", "/usr/lib64");
    find_by_nvml(CUSHIM_GPU_NVML_ALWAYS);
    assert_not_known("may load it");
    put_gpu("0000:00:06.0", A, 0, (struct part){.is_asleep = true});
    find_by_nvml(CUSHIM_GPU_NVML_ALWAYS);
    assert_false(nvml_is_open());
    find_with((struct cushim_gpu_options){.nvml = CUSHIM_GPU_NVML_ALWAYS, .is_wake_allowed = true});
    assert_true(nvml_is_open());
}

static bool child_does_not_ask(void)
{
    struct cushim_gpu_options options = {.root = directory_machine()};
    setenv("FAKE_GPUS", "", 1);
    return cushim_gpu_find(&options, gpus, GPU_MAX, &all) == CUDA_SUCCESS && all.count == 1
           && gpus[0].hider == CUSHIM_GPU_HIDER_NONE && gpus[0].uuid[0] == '\0';
}

static bool child_asks(void)
{
    struct cushim_gpu_options options = {.root = directory_machine()};
    return cushim_gpu_find(&options, gpus, GPU_MAX, &all) == CUDA_SUCCESS && gpus[0].uuid[0] != '\0';
}

static bool child_asks_on_request(void)
{
    struct cushim_gpu_options options = {.root = directory_machine(), .nvml = CUSHIM_GPU_NVML_ALWAYS};
    return cushim_gpu_find(&options, gpus, GPU_MAX, &all) == CUDA_SUCCESS && gpus[0].uuid[0] != '\0';
}

GPU_TEST(test_nvml_when_the_parent_had_it_open_then_a_child_asks_only_on_request)
{
    put_gpu("0000:00:06.0", UNUSED_UUID, 0, USUAL);
    put_nvml("fake_nvml", "/usr/lib64");
    setenv("FAKE_GPUS", "0000:00:06 2335 " A " 90 0 0 NVIDIA H200", 1);
    child_check(NULL, child_asks); /* the parent does not have it open */
    find_by_nvml(CUSHIM_GPU_NVML_IF_NEEDED);
    assert_shown(A, NULL);
    child_check(NULL, child_does_not_ask);
    child_check(NULL, child_asks_on_request);
}

/* The companion is that of the driver, if one is loaded later. */
GPU_TEST(test_nvml_when_a_driver_is_loaded_afterwards_then_the_companion_is_the_open_copy)
{
    put_gpu("0000:00:06.0", UNUSED_UUID, 0, USUAL);
    put_nvml("fake_nvml", "/usr/lib64");
    find_by_nvml(CUSHIM_GPU_NVML_IF_NEEDED);
    assert_true(nvml_is_open());
    assert_int_equal(unit_load_path(unit_fake("fake_12040")), CUDA_SUCCESS);
    assert_non_null(cushim_companion_get(CUSHIM_COMPANION_NVML)->handle);
    find_by_nvml(CUSHIM_GPU_NVML_ALWAYS);
    assert_string_equal(gpus[0].uuid, A);
}
