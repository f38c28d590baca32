/* SPDX-License-Identifier: MIT */
/* The search for companions: which file is opened, and the sentence if none is. Needs glibc. */
#include "unit.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "companion.h"
#include "crowd.h"
#include "cushim/companion.h"
#include "directory.h"

#define NVCUVID CUSHIM_COMPANION_NVCUVID
#define NVENC CUSHIM_COMPANION_NVENC
#define NVML CUSHIM_COMPANION_NVML

static const char *const fakes[] = {"companion_nvcuvid", "companion_nvenc", "companion_nvml"};
static const char *const names[] = {"libnvcuvid.so.", "libnvidia-encode.so.", "libnvidia-ml.so."};

static int companion_create(void **state)
{
    cush_companion_reset_for_tests();
    unsetenv("NVIDIA_DRIVER_CAPABILITIES");
    return directory_create(state);
}

static int companion_remove(void **state)
{
    cush_companion_reset_for_tests();
    return directory_remove(state);
}

#define COMPANION_TEST(name) TEST_WITH(name, companion_create, companion_remove)

/* All tests are below a root directory, unless they need a plain name: so the machine's own driver is not found. */
static const char *put(enum cushim_companion_id id, const char *directory, const char *version)
{
    char name[256];
    snprintf(name, sizeof name, "root/%s/%s%s", directory, names[id], version);
    return directory_copy(name, unit_fake(fakes[id]), SIZE_MAX);
}

static void put_all(const char *directory, const char *version)
{
    for (int id = 0; id < CUSHIM_COMPANION_COUNT; id++)
        put((enum cushim_companion_id)id, directory, version);
}

static void put_link(const char *path, const char *to)
{
    char name[256];
    snprintf(name, sizeof name, "root/%s", path);
    directory_link(name, to);
}

/* A driver of this version in /usr/lib64, with its link. */
static void put_driver(const char *version)
{
    char name[256];
    snprintf(name, sizeof name, "root/usr/lib64/libcuda.so.%s", version);
    directory_driver(name);
    snprintf(name, sizeof name, "libcuda.so.%s", version);
    put_link("usr/lib64/libcuda.so.1", name);
}

static void load_below_root(void)
{
    struct cushim_load_options options = {.root = directory_machine()};
    assert_int_equal(cushim_load(&options), CUDA_SUCCESS);
}

static void assert_open(enum cushim_companion_id id, const char *path, const char *version)
{
    char whole[PATH_MAX];
    snprintf(whole, sizeof whole, "%s/%s", directory_machine(), path);
    const struct cushim_companion *companion = cushim_companion_get(id);
    assert_string_equal(companion->message, "");
    assert_string_equal(companion->path, whole);
    assert_string_equal(companion->version, version);
    assert_int_equal(companion->reason, CUSHIM_REASON_NONE);
    assert_non_null(companion->handle);
    assert_string_equal(companion->advice, "");
}

static void assert_closed(enum cushim_companion_id id, enum cushim_reason reason, const char *part)
{
    const struct cushim_companion *companion = cushim_companion_get(id);
    unit_assert_contains(companion->message, part);
    assert_int_equal(companion->reason, reason);
    assert_null(companion->handle);
    assert_string_not_equal(companion->advice, "");
    assert_string_equal(companion->path, "");
    assert_null(cushim_companion_symbol(id, "NvEncodeAPICreateInstance"));
    assert_int_not_equal(cushim_error_last()->code, CUDA_SUCCESS);
    unit_assert_contains(cushim_error_last()->message, part);
}

COMPANION_TEST(test_search_when_beside_the_driver_then_the_file_of_its_version)
{
    put_driver("550.163.01");
    put_all("usr/lib64", "550.163.01");
    put_all("usr/lib64", "535.261.03");
    for (int id = 0; id < CUSHIM_COMPANION_COUNT; id++) {
        char link[64], to[64];
        snprintf(link, sizeof link, "usr/lib64/%s1", names[id]);
        snprintf(to, sizeof to, "%s535.261.03", names[id]);
        put_link(link, to);
    }
    load_below_root();
    assert_open(NVENC, "usr/lib64/libnvidia-encode.so.550.163.01", "550.163.01");
    assert_open(NVCUVID, "usr/lib64/libnvcuvid.so.550.163.01", "550.163.01");
    assert_open(NVML, "usr/lib64/libnvidia-ml.so.550.163.01", "550.163.01");
    assert_ptr_equal(cushim_companion_get(NVENC), cushim_companion_get(NVENC));
    unsigned api = 0;
    cushim_fn fn = cushim_companion_symbol(NVENC, "NvEncodeAPIGetMaxSupportedVersion");
    assert_non_null(fn);
    assert_int_equal(((int (*)(unsigned *))fn)(&api), 0);
    assert_int_equal(api, 0xc2);
    assert_null(cushim_companion_symbol(NVENC, "NvEncodeNothing"));
    assert_int_equal(cushim_error_last()->code, CUDA_ERROR_NOT_FOUND);
    assert_string_equal(cushim_error_last()->message,
                        "libnvidia-encode.so.1 of driver 550.163.01 lacks NvEncodeNothing.");
}

COMPANION_TEST(test_search_when_the_driver_is_a_link_then_beside_the_file_that_it_leads_to)
{
    directory_driver("root/opt/nvidia/libcuda.so.550.163.01");
    put_all("opt/nvidia", "1");
    put_link("usr/lib64/libcuda.so.1", "/opt/nvidia/libcuda.so.550.163.01");
    load_below_root();
    assert_open(NVENC, "opt/nvidia/libnvidia-encode.so.1", "");
}

COMPANION_TEST(test_search_when_not_beside_the_driver_then_in_a_known_path_below_the_root)
{
    put_driver("550.163.01");
    put_all("usr/lib/wsl/lib", "1");
    load_below_root();
    assert_open(NVML, "usr/lib/wsl/lib/libnvidia-ml.so.1", "");
}

COMPANION_TEST(test_search_when_jetson_then_its_library_has_no_driver_version)
{
    directory_driver("root/usr/lib/libcuda.so.1.1");
    put_link("usr/lib/libcuda.so.1", "libcuda.so.1.1");
    put_all("usr/lib", "1");
    put_all("usr/lib", "540.4.0");
    load_below_root();
    assert_open(NVENC, "usr/lib/libnvidia-encode.so.1", "");
}

COMPANION_TEST(test_search_when_only_another_version_exists_then_opened_and_named)
{
    put_driver("550.163.01");
    put(NVML, "usr/lib64", "535.261.03");
    put_link("usr/lib64/libnvidia-ml.so.1", "libnvidia-ml.so.535.261.03");
    load_below_root();
    const struct cushim_companion *nvml = cushim_companion_get(NVML);
    assert_int_equal(nvml->reason, CUSHIM_REASON_NONE);
    assert_non_null(nvml->handle);
    assert_string_equal(nvml->version, "535.261.03");
    unit_assert_contains(nvml->message, "is of driver 535.261.03, but the loaded driver is of 550.163.01, so NVML can");
    assert_string_not_equal(nvml->advice, "");
}

/* As with a package of "CUDA compatibility". */
COMPANION_TEST(test_search_when_the_version_is_that_of_the_kernel_module_then_no_message)
{
    put_driver("560.35.03");
    put(NVML, "usr/lib64", "535.261.03");
    put_link("usr/lib64/libnvidia-ml.so.1", "libnvidia-ml.so.535.261.03");
    directory_machine_file("sys/module/nvidia/version", "535.261.03\n");
    load_below_root();
    assert_open(NVML, "usr/lib64/libnvidia-ml.so.535.261.03", "535.261.03");
}

COMPANION_TEST(test_search_when_a_stub_is_first_then_passed_over)
{
    put_driver("550.163.01");
    put(NVML, "opt/stubs", "550.163.01");
    put_link("usr/lib64/libnvidia-ml.so.1", "/opt/stubs/libnvidia-ml.so.550.163.01");
    load_below_root();
    assert_closed(NVML, CUSHIM_REASON_STUB, "libnvidia-ml.so.550.163.01 is the stub of a Toolkit");
    cush_companion_reset_for_tests();
    put(NVML, "usr/lib/wsl/lib", "1");
    assert_open(NVML, "usr/lib/wsl/lib/libnvidia-ml.so.1", "");
}

COMPANION_TEST(test_search_when_the_file_is_of_the_other_word_size_then_its_error)
{
    put_driver("550.163.01");
    const char *path = put(NVENC, "usr/lib64", "1");
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, 4, SEEK_SET), 0); /* EI_CLASS */
    fputc(sizeof(void *) == 8 ? 1 : 2, file);
    fclose(file);
    load_below_root();
    assert_closed(NVENC, CUSHIM_REASON_NOT_LOADABLE, "libnvidia-encode.so.1: ");
    unit_assert_contains(cushim_companion_get(NVENC)->message, "ELF");
}

COMPANION_TEST(test_search_when_the_file_is_another_library_then_refused)
{
    put_driver("550.163.01");
    directory_copy("root/usr/lib64/libnvidia-ml.so.1", unit_fake("companion_nvcuvid"), SIZE_MAX);
    load_below_root();
    assert_closed(NVML, CUSHIM_REASON_NOT_A_DRIVER, "libnvidia-ml.so.1 does not export nvmlInit_v2");
}

COMPANION_TEST(test_search_when_nvcuvid_is_absent_then_nvenc_names_what_it_needs)
{
    put_driver("550.163.01");
    put(NVENC, "usr/lib64", "550.163.01");
    load_below_root();
    assert_closed(NVENC, CUSHIM_REASON_NEEDS_LIBRARY, "libnvcuvid.so.1");
    assert_closed(NVCUVID, CUSHIM_REASON_NOT_FOUND, "libnvcuvid.so.1 is missing below the root directory.");
}

/* ---- Without a root directory ---- */

static void assert_missing(const char *capabilities, const char *part)
{
    cush_companion_reset_for_tests();
    if (capabilities != NULL)
        setenv("NVIDIA_DRIVER_CAPABILITIES", capabilities, 1);
    assert_closed(NVENC, CUSHIM_REASON_NOT_FOUND, part);
}

COMPANION_TEST(test_absence_when_capabilities_lack_video_then_named)
{
    assert_int_equal(unit_load_path(directory_driver("libcuda.so.550.163.01")), CUDA_SUCCESS);
    if (cushim_companion_get(NVENC)->reason != CUSHIM_REASON_NOT_FOUND) {
        unit_skip("this machine has NVENC");
        return;
    }
    assert_missing("compute,utility", "libnvidia-encode.so.1 is missing in this container: NVIDIA_DRIVER_CAPABILITIES "
                                      "lacks video.");
    assert_missing("compute,video", "libnvidia-encode.so.1 is missing here.");
    assert_missing("all", "libnvidia-encode.so.1 is missing here.");
}

COMPANION_TEST(test_search_when_a_copy_is_open_then_it_is_used)
{
    char other[PATH_MAX];
    snprintf(other, sizeof other, "%s", put(NVML, "elsewhere", "535.261.03"));
    put_driver("550.163.01");
    put_all("usr/lib64", "550.163.01");
    void *library = dlopen(other, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    load_below_root();
    assert_ptr_equal(cushim_companion_get(NVML)->handle, library);
    assert_string_equal(cushim_companion_get(NVML)->path, other);
    unit_assert_contains(cushim_companion_get(NVML)->message, "but the loaded driver is of 550.163.01");
    dlclose(library);
}

#if !defined(SANITIZED) /* the sanitizers replace dlopen(), too */
/* These two are called in place of the C library's. */

static bool is_privileged;
static int names_opened; /* without a directory */

unsigned long getauxval(unsigned long type)
{
    unsigned long (*real)(unsigned long);
    *(void **)&real = dlsym(RTLD_NEXT, "getauxval");
    return type == AT_SECURE && is_privileged ? 1 : real(type);
}

void *dlopen(const char *file, int flags)
{
    void *(*real)(const char *, int);
    *(void **)&real = dlsym(RTLD_NEXT, "dlopen");
    names_opened += file != NULL && strchr(file, '/') == NULL && (flags & RTLD_NOLOAD) == 0;
    return real(file, flags);
}

COMPANION_TEST(test_search_when_the_process_has_more_rights_than_its_user_then_no_plain_name_is_opened)
{
    char driver[PATH_MAX];
    snprintf(driver, sizeof driver, "%s", directory_driver("driver.so"));
    for (int privileged = 0; privileged < 2; privileged++) {
        cush_companion_reset_for_tests();
        is_privileged = privileged != 0;
        assert_int_equal(unit_load_path(driver), CUDA_SUCCESS);
        names_opened = 0;
        (void)cushim_companion_get(NVML);
        is_privileged = false;
        assert_int_equal(names_opened, privileged ? 0 : 1);
    }
}
#endif

/* ---- Without a driver, and results that are not final ---- */

COMPANION_TEST(test_companion_when_no_driver_is_loaded_then_not_searched_for_until_one_is)
{
    put_driver("550.163.01");
    put_all("usr/lib64", "550.163.01");
    assert_int_equal(unit_load_path("none"), CUDA_ERROR_FILE_NOT_FOUND);
    for (int id = 0; id < CUSHIM_COMPANION_COUNT; id++)
        assert_closed((enum cushim_companion_id)id, CUSHIM_REASON_NOT_FOUND, "no NVIDIA driver is loaded");
    load_below_root();
    assert_open(NVML, "usr/lib64/libnvidia-ml.so.550.163.01", "550.163.01");
}

COMPANION_TEST(test_companion_when_the_variable_is_none_then_the_first_call_opens_nothing)
{
    unit_set_variable("CUSHIM_DRIVER", "none");
    assert_closed(NVML, CUSHIM_REASON_NOT_FOUND, "no NVIDIA driver is loaded");
    assert_int_equal(cushim_diagnosis_get()->reason, CUSHIM_REASON_NOT_WANTED);
}

COMPANION_TEST(test_companion_when_the_number_is_unknown_then_not_open)
{
    assert_closed(CUSHIM_COMPANION_COUNT, CUSHIM_REASON_NOT_FOUND, "No companion");
    assert_closed((enum cushim_companion_id) - 1, CUSHIM_REASON_NOT_FOUND, "No companion");
}

/* ---- Threads, fork(), and the constructor of a companion ---- */

static void (*in_constructor)(void);

/* The fakes call it. */
__attribute__((visibility("default"))) void fake_driver_constructed(void)
{
    if (in_constructor != NULL)
        in_constructor();
}

static int constructed;

static void count_construction(void)
{
    __atomic_fetch_add(&constructed, 1, __ATOMIC_RELAXED);
}

enum { THREADS = 32 };
static const struct cushim_companion *found[THREADS];

static void get_nvml(int index)
{
    found[index] = cushim_companion_get(index % 2 != 0 ? NVML : NVENC);
    if (found[index]->handle == NULL || cushim_companion_symbol(NVCUVID, "cuvidCreateDecoder") == NULL)
        found[index] = NULL;
}

COMPANION_TEST(test_search_when_threads_begin_at_once_then_each_library_is_opened_once)
{
    put_driver("550.163.01");
    put_all("usr/lib64", "550.163.01");
    load_below_root();
    constructed = 0;
    in_constructor = count_construction;
    crowd_run(THREADS, get_nvml);
    in_constructor = NULL;
    assert_int_equal(constructed, CUSHIM_COMPANION_COUNT);
    for (int i = 0; i < THREADS; i++)
        assert_ptr_equal(found[i], cushim_companion_get(i % 2 != 0 ? NVML : NVENC));
}

static const struct cushim_companion *from_constructor;

static void get_in_constructor(void)
{
    from_constructor = cushim_companion_get(NVENC);
}

COMPANION_TEST(test_search_when_a_library_asks_while_it_is_opened_then_no_deadlock)
{
    put_driver("550.163.01");
    put_all("usr/lib64", "550.163.01");
    load_below_root();
    in_constructor = get_in_constructor;
    assert_non_null(cushim_companion_get(NVML)->handle);
    in_constructor = NULL;
    unit_assert_contains(from_constructor->message, "while this thread is opening");
    assert_non_null(cushim_companion_get(NVENC)->handle);
}

static bool all_are_found(void)
{
    return cushim_companion_get(NVENC)->handle != NULL && cushim_companion_get(NVML)->handle != NULL;
}

static void *get_on_a_thread(void *unused)
{
    get_nvml(1);
    return unused;
}

COMPANION_TEST(test_fork_when_during_a_search_then_the_child_has_the_companions)
{
    put_driver("550.163.01");
    put_all("usr/lib64", "550.163.01");
    load_below_root();
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, get_on_a_thread, NULL), 0);
    child_check(NULL, all_are_found);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(all_are_found());
}
