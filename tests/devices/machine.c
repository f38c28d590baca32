/* SPDX-License-Identifier: MIT */
#include "machine.h"

#include <stdarg.h>
#include <stdlib.h>

static void put_link(const char *path, const char *to)
{
    char name[256];
    snprintf(name, sizeof name, "root%s", path);
    directory_link(name, to);
}

void put(const char *text, const char *format, ...)
{
    char path[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path, sizeof path, format, arguments);
    va_end(arguments);
    directory_machine_file(path + 1, text);
}

void put_gpu(const char *address, const char *uuid, int minor, struct part part)
{
    char text[512], path[128];
    const char *kernel_driver = part.kernel_driver != NULL ? part.kernel_driver : "nvidia";
    snprintf(text, sizeof text, "%s\n", part.device != NULL ? part.device : "0x2335");
    put("0x10de\n", BUS "/%s/vendor", address);
    put("0x030200\n", BUS "/%s/class", address);
    put(text, BUS "/%s/device", address);
    put(part.is_asleep ? "suspended\n" : "active\n", BUS "/%s/power/runtime_status", address);
    snprintf(path, sizeof path, BUS "/%s/driver", address);
    snprintf(text, sizeof text, "../../../bus/pci/drivers/%s", kernel_driver);
    if (kernel_driver[0] != '-')
        put_link(path, text);
    if (part.is_of_bus_only)
        return;
    snprintf(text, sizeof text,
             "Model: \t\t %s\nIRQ:   \t\t 41\nGPU UUID: \t %s\nVideo BIOS: \t 96.00.a5.00.1a\nBus Type: \t PCIe\n"
             "Bus Location: \t %s\nDevice Minor: \t %d\nGPU Excluded:\t %s\n",
             part.name != NULL ? part.name : "NVIDIA H200", uuid, address, minor, part.is_excluded ? "Yes" : "No");
    put(text, "/proc/driver/nvidia/gpus/%s/information", address);
    put("NVRM version: x\n", "/proc/driver/nvidia/version");
    put("", "/dev/nvidiactl");
    if (!part.lacks_node)
        put("", "/dev/nvidia%d", minor);
}

void put_two(void)
{
    put_gpu("0000:00:06.0", A, 0, USUAL);
    put_gpu("0000:00:07.0", B, 1, USUAL);
}

struct cushim_gpu gpus[GPU_MAX];
struct cushim_gpus all;

void find_with(struct cushim_gpu_options options)
{
    options.root = directory_machine();
    memset(gpus, 255, sizeof gpus);
    memset(&all, 255, sizeof all);
    assert_int_equal(cushim_gpu_find(&options, gpus, GPU_MAX, &all), CUDA_SUCCESS);
    assert_in_range(all.count, 0, GPU_MAX);
    assert_non_null(all.advice);
    int visible = 0;
    for (int i = 0; i < all.count; i++) {
        visible += gpus[i].ordinal >= 0;
        assert_true(gpus[i].ordinal < 0 || gpus[i].hider == CUSHIM_GPU_HIDER_NONE);
        assert_true(gpus[i].ordinal != CUSHIM_GPU_HIDDEN || gpus[i].hider != CUSHIM_GPU_HIDER_NONE);
    }
    assert_true(visible == 0 || visible == all.visible_count);
    if (all.code == CUDA_ERROR_UNKNOWN)
        assert_string_not_equal(all.advice, "");
}

void find(void)
{
    find_with((struct cushim_gpu_options){.nvml = CUSHIM_GPU_NVML_NEVER});
}

void assert_shown(const char *first, const char *second)
{
    const char *const uuids[] = {first, second};
    int count = first == NULL ? 0 : second == NULL ? 1 : 2;
    if (all.code != CUDA_SUCCESS || all.visible_count != count)
        fail_msg("code %d, %d GPUs: %s", (int)all.code, all.visible_count, all.message);
    for (int i = 0; i < all.count; i++) {
        if (gpus[i].ordinal >= 0)
            assert_string_equal(gpus[i].uuid, uuids[gpus[i].ordinal]);
    }
}

void assert_none(CUresult code, const char *part)
{
    assert_int_equal(all.code, code);
    assert_int_equal(all.visible_count, 0);
    unit_assert_contains(all.message, part);
    for (int i = 0; i < all.count; i++)
        assert_int_equal(gpus[i].ordinal, CUSHIM_GPU_HIDDEN);
}

void assert_not_known(const char *part)
{
    unit_assert_contains(all.message, part);
    assert_int_equal(all.code, CUDA_ERROR_UNKNOWN);
    assert_int_equal(all.visible_count, CUSHIM_GPU_NOT_KNOWN);
    for (int i = 0; i < all.count; i++)
        assert_true(gpus[i].ordinal < 0);
}

int gpu_reset(void **state)
{
    cush_companion_reset_for_tests();
    unsetenv("FAKE_GPUS");
    unsetenv("FAKE_NVML");
    unsetenv("FAKE_DENIED");
    return directory_create(state);
}

int gpu_end(void **state)
{
    cush_companion_reset_for_tests();
    return directory_remove(state);
}
