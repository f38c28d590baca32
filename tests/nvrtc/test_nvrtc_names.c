/* SPDX-License-Identifier: MIT */
/* The names of files in the wheels of PyPI, by their lists: for Linux, which are the same on x86-64 and arm64, and for
 * Windows. The files are empty, because nothing is opened. */
#include "unit.h"

#include <stdlib.h>

#include "directory.h"
#include "nvrtc_list.h"

/* A wheel, what is in it, and the version that its names show. */
static const struct wheel {
    const char *name;
    bool is_windows;
    int version;
    const char *files[4];
} wheels[] = {
    {"cu11 11.8.89 manylinux x86_64 and aarch64",
     false,
     11080,
     {"nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.11.8", "nvidia/cuda_nvrtc/lib/libnvrtc.so.11.2"}},
    {"cu12 12.9.86 manylinux x86_64 and aarch64",
     false,
     12090,
     {"nvidia/cuda_nvrtc/lib/libnvrtc-builtins.alt.so.12.9", "nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.12.9",
      "nvidia/cuda_nvrtc/lib/libnvrtc.alt.so.12", "nvidia/cuda_nvrtc/lib/libnvrtc.so.12"}},
    {"13.5.37 manylinux x86_64 and aarch64",
     false,
     13050,
     {"nvidia/cu13/lib/libnvrtc-builtins.so.13.5", "nvidia/cu13/lib/libnvrtc.so.13"}},
    {"torch of CUDA 11",
     false,
     11070,
     {"torch/lib/libnvrtc-672ee683.so.11.2", "torch/lib/libnvrtc-builtins-2dc4bf68.so.11.7"}},
    {"cu11 11.8.89 win_amd64",
     true,
     11080,
     {"nvidia/cuda_nvrtc/bin/nvrtc-builtins64_118.dll", "nvidia/cuda_nvrtc/bin/nvrtc64_112_0.dll"}},
    {"cu12 12.9.86 win_amd64",
     true,
     12090,
     {"nvidia/cuda_nvrtc/bin/nvrtc-builtins64_129.dll", "nvidia/cuda_nvrtc/bin/nvrtc64_120_0.alt.dll",
      "nvidia/cuda_nvrtc/bin/nvrtc64_120_0.dll"}},
    {"13.5.37 win_amd64",
     true,
     13050,
     {"nvidia/cu13/bin/x86_64/nvrtc-builtins64_135.dll", "nvidia/cu13/bin/x86_64/nvrtc64_130_0.dll"}},
};

static struct nvrtc_list *read_list(bool is_windows)
{
    struct nvrtc_list *list = calloc(1, sizeof *list);
    assert_non_null(list);
    list->layout = is_windows ? &cush_nvrtc_layout_windows : &cush_nvrtc_layout_linux;
    list->root = directory_machine();
    cush_nvrtc_list_read(list);
    return list;
}

/* Asserts that the list has this one copy. */
static void assert_one(bool is_windows, enum nvrtc_place place, int version, const char *file)
{
    struct nvrtc_list *list = read_list(is_windows);
    if (list->count != 1 || list->copies[0].version != version || list->copies[0].place != place)
        fail_msg("%s: %d copies, the first of version %d in %s", file, list->count, list->copies[0].version,
                 cush_nvrtc_place_names[list->copies[0].place]);
    unit_assert_contains(list->copies[0].path, file);
    free(list);
}

static void put_files(const struct wheel *wheel, const char *directory)
{
    char name[512];
    for (size_t i = 0; i < sizeof wheel->files / sizeof wheel->files[0] && wheel->files[i] != NULL; i++) {
        snprintf(name, sizeof name, "%s/%s", directory, wheel->files[i]);
        directory_machine_file(name, "");
    }
}

static void forget_variables(void)
{
    static const char *const names[] = {"VIRTUAL_ENV", "CONDA_PREFIX", "CUDA_PATH", "CUDA_HOME", "ProgramFiles"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unsetenv(names[i]);
}

/* The last name of the library in a wheel. */
static const char *library_of(const struct wheel *wheel)
{
    const char *found = "";
    for (size_t i = 0; i < sizeof wheel->files / sizeof wheel->files[0] && wheel->files[i] != NULL; i++)
        found = strstr(wheel->files[i], "builtins") == NULL ? wheel->files[i] : found;
    return found;
}

DIRECTORY_TEST(test_wheel_when_in_a_virtual_environment_then_its_names_show_the_version)
{
    forget_variables();
    for (size_t i = 0; i < sizeof wheels / sizeof wheels[0]; i++) {
        char environment[64], packages[96];
        snprintf(environment, sizeof environment, "/venv%zu", i);
        snprintf(packages, sizeof packages, "%s/%s", environment + 1,
                 wheels[i].is_windows ? "Lib/site-packages" : "lib/python3.12/site-packages");
        put_files(&wheels[i], packages);
        setenv("VIRTUAL_ENV", environment, 1);
        assert_one(wheels[i].is_windows, NVRTC_VIRTUAL_ENV, wheels[i].version, library_of(&wheels[i]));
    }
    unsetenv("VIRTUAL_ENV");
}

DIRECTORY_TEST(test_toolkit_when_for_windows_then_is_found_by_its_variables)
{
    static const struct wheel toolkit = {
        "CUDA 13.0", true, 13000, {"bin/x64/nvrtc-builtins64_130.dll", "bin/x64/nvrtc64_130_0.dll"}};
    static const struct wheel conda = {
        "conda", true, 12040, {"Library/bin/nvrtc-builtins64_124.dll", "Library/bin/nvrtc64_120_0.dll"}};
    forget_variables();
    put_files(&toolkit, "Program Files/NVIDIA GPU Computing Toolkit/CUDA/v13.0");
    setenv("ProgramFiles", "/Program Files", 1);
    assert_one(true, NVRTC_TOOLKIT, 13000, "v13.0/bin/x64/nvrtc64_130_0.dll");
    setenv("CUDA_PATH", "/Program Files/NVIDIA GPU Computing Toolkit/CUDA/v13.0", 1);
    assert_one(true, NVRTC_CUDA_PATH, 13000, "nvrtc64_130_0.dll"); /* once */
    forget_variables();
    put_files(&conda, "conda");
    setenv("CONDA_PREFIX", "/conda", 1);
    assert_one(true, NVRTC_CONDA, 12040, "Library/bin/nvrtc64_120_0.dll");
    forget_variables();
}

DIRECTORY_TEST(test_toolkit_when_for_arm64_then_is_found)
{
    static const char *const directories[] = {"usr/local/cuda-12.9/targets/sbsa-linux/lib",
                                              "usr/local/cuda/targets/aarch64-linux/lib", "usr/lib/aarch64-linux-gnu"};
    forget_variables();
    for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s/libnvrtc.so.12.9.86", directories[i]);
        directory_machine_file(name, "");
        struct nvrtc_list *list = read_list(false);
        assert_int_equal(list->count, i + 1);
        for (size_t j = 0; j <= i; j++)
            assert_int_equal(list->copies[j].version, 12090);
        free(list);
    }
}

DIRECTORY_TEST(test_name_when_not_that_of_a_library_then_is_passed_over)
{
    static const char *const names[] = {
        "libnvrtc.so",        "libnvrtc_static.a",         "libnvrtcx.so.12",
        "libnvrtc.so.x",      "libnvrtc.so.-12",           "libnvrtc.so.99999999999999999999",
        "libnvrtc.alt.so.12", "libnvrtc-builtins.so.12.9", "nvrtc64_120_0.dll"};
    static const char *const of_windows[] = {"nvrtc64_.dll", "nvrtc64_x.dll", "nvrtc64_120_0.lib",
                                             "nvrtc64_99999999999999999999.dll"};
    char name[128];
    forget_variables();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(name, sizeof name, "cuda/lib64/%s", names[i]);
        directory_machine_file(name, "");
    }
    for (size_t i = 0; i < sizeof of_windows / sizeof of_windows[0]; i++) {
        snprintf(name, sizeof name, "windows/bin/%s", of_windows[i]);
        directory_machine_file(name, "");
    }
    for (int is_windows = 0; is_windows < 2; is_windows++) {
        setenv("CUDA_PATH", is_windows ? "/windows" : "/cuda", 1);
        struct nvrtc_list *list = read_list(is_windows);
        for (int i = 0; i < list->count; i++)
            print_message("%s %d\n", list->copies[i].path, list->copies[i].version);
        assert_int_equal(list->count, 0);
        free(list);
    }
    unsetenv("CUDA_PATH");
}

DIRECTORY_TEST(test_list_when_full_or_a_path_is_long_then_ends_there)
{
    char name[2048], value[1100];
    forget_variables();
    for (int i = 0; i < NVRTC_MAX_COPIES + 8; i++) {
        snprintf(name, sizeof name, "cuda/lib64/libnvrtc.so.12.%d.1", i);
        directory_machine_file(name, "");
    }
    setenv("CUDA_PATH", "/cuda", 1);
    struct nvrtc_list *list = read_list(false);
    assert_int_equal(list->count, NVRTC_MAX_COPIES);
    free(list);
    memset(value, 'x', sizeof value - 1);
    value[0] = '/';
    for (size_t length = NVRTC_PATH_SIZE - 16; length < NVRTC_PATH_SIZE + 16; length++) {
        value[length] = '\0';
        setenv("CUDA_PATH", value, 1);
        list = read_list(false);
        assert_int_equal(list->count, 0);
        free(list);
        value[length] = 'x';
    }
    unsetenv("CUDA_PATH");
}
