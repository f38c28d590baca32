/* SPDX-License-Identifier: MIT */
/* Several copies of cushim in one process: one in this program, and one in each of two plug-ins. POSIX only. */
#include "unit.h"

#include <dlfcn.h>
#include <unistd.h>

#include "child.h"
#include "copy.h"
#include "directory.h"

static struct copy open_copy(const char *path, int how)
{
    void *library = dlopen(path, RTLD_NOW | how);
    __typeof__(copy_get) *get = NULL;
    if (library != NULL)
        *(void **)&get = dlsym(library, "copy_get");
    if (get == NULL)
        fail_msg("%s", dlerror());
    struct copy opened = *get();
    opened.library = library;
    return opened;
}

/* A plug-in for one test only, because one that has loaded a driver stays. Valid until the fourth path after this
 * one. */
static const char *new_copy(const char *name)
{
    return directory_copy(name, PROGRAMS "/copy.so", SIZE_MAX);
}

static bool is_mapped(const struct copy *copy)
{
    Dl_info info;
    return dladdr(*(void *const *)&copy->load, &info) != 0;
}

static void assert_independent(int how)
{
    struct copy one = open_copy(new_copy("one.so"), how);
    struct copy two = open_copy(new_copy("two.so"), how);
    struct cushim_load_options limited = {.path = unit_fake("fake_12040"), .max_version = 11020};
    struct cushim_load_options other = {.path = unit_fake("fake_12040"), .hide = "StreamGetCtx"};
    assert_int_equal(one.load(&limited), CUDA_SUCCESS);
    assert_int_equal(two.diagnosis()->reason, CUSHIM_REASON_NOT_TRIED);
    assert_int_equal(two.load(&other), CUDA_SUCCESS);
    assert_int_equal(cushim_diagnosis_get()->reason, CUSHIM_REASON_NOT_TRIED);
    unit_load_plain("fake_11040");

    assert_ptr_not_equal(one.table(), two.table());
    assert_ptr_not_equal(one.table(), cushim_table());
    assert_int_equal(one.driver_version(), 11020);
    assert_int_equal(two.driver_version(), 12040);
    assert_int_equal(cushim_driver_version(), 11040);
    assert_int_equal(one.table()->StreamQuery_v1(NULL), FAKE_CODE(ENTRY_StreamQuery_v1, 0));
    assert_int_equal(two.table()->StreamQuery_v1(NULL), FAKE_CODE(ENTRY_StreamQuery_v1, 0));
    assert_int_equal(one.table()->StreamGetId_v1(NULL, NULL), CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(two.table()->StreamGetId_v1(NULL, NULL), FAKE_CODE(ENTRY_StreamGetId_v1, 0));
    assert_int_equal(dlclose(one.library), 0);
    assert_int_equal(two.table()->StreamQuery_v1(NULL), FAKE_CODE(ENTRY_StreamQuery_v1, 0));
    assert_int_equal(dlclose(two.library), 0);
    assert_int_equal(cushim_table()->StreamQuery_v1(NULL), FAKE_CODE(ENTRY_StreamQuery_v1, 0));
}

DIRECTORY_TEST(test_copies_when_opened_locally_then_each_has_a_driver_of_its_own)
{
    assert_independent(RTLD_LOCAL);
}

DIRECTORY_TEST(test_copies_when_opened_globally_then_each_has_a_driver_of_its_own)
{
    assert_independent(RTLD_GLOBAL);
}

DIRECTORY_TEST(test_copies_when_linked_statically_then_nothing_of_cushim_is_shown)
{
    struct copy one = open_copy(new_copy("one.so"), RTLD_LOCAL);
    assert_null(dlsym(one.library, "cushim_load"));
    assert_null(dlsym(one.library, "cushim_current_legacy_0_2"));
    assert_null(dlsym(one.library, "cushim_diagnosis_get"));
    assert_int_equal(dlclose(one.library), 0);
}

static CUresult install_nothing(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                                const enum cushim_slot_state *states, enum cushim_default_stream kind, void *user)
{
    return CUDA_SUCCESS;
}

DIRECTORY_TEST(test_layer_when_another_copy_has_installed_it_then_refused)
{
    static struct cushim_layer layer = CUSHIM_LAYER("shared", install_nothing, NULL);
    static struct cushim_layer other = CUSHIM_LAYER("shared", install_nothing, NULL);
    struct copy one = open_copy(new_copy("one.so"), RTLD_LOCAL);
    struct copy two = open_copy(new_copy("two.so"), RTLD_LOCAL);
    assert_int_equal(one.layer_add(&layer), CUDA_SUCCESS);
    assert_int_equal(two.layer_add(&layer), CUDA_ERROR_ALREADY_ACQUIRED);
    assert_int_equal(cushim_layer_add(&layer), CUDA_ERROR_ALREADY_ACQUIRED);
    unit_assert_contains(cushim_error_last()->message, "another copy");
    assert_int_equal(two.layer_add(&other), CUDA_SUCCESS); /* the calls of one copy do not pass the other */
    assert_int_equal(dlclose(one.library), 0);
    assert_true(is_mapped(&one)); /* the layer refers to the copy */
}

/* The object of CUSHIM_LAYERS has one subset, whose functions pass on to the tables of one copy. */
DIRECTORY_TEST(test_second_copy_when_the_first_one_has_the_layers_then_its_load_fails)
{
    struct copy one = open_copy(new_copy("one.so"), RTLD_LOCAL);
    struct copy two = open_copy(new_copy("two.so"), RTLD_LOCAL);
    struct cushim_load_options options = {.path = unit_fake("fake_12040")};
    unit_set_variable("CUSHIM_LAYERS", OBJECTS "/layer_first.so");
    assert_int_equal(one.load(&options), CUDA_SUCCESS);
    assert_int_equal(two.load(&options), CUDA_ERROR_ALREADY_ACQUIRED);
    assert_int_equal(two.diagnosis()->reason, CUSHIM_REASON_BAD_LAYER);
    assert_int_equal(two.table()->StreamQuery_v1(NULL), CUDA_ERROR_NO_DEVICE);
    assert_int_equal(one.table()->StreamQuery_v1(NULL), FAKE_CODE(ENTRY_StreamQuery_v1, 0));
}

DIRECTORY_TEST(test_copy_when_closed_after_a_load_then_it_stays_with_its_driver)
{
    const char *path = new_copy("one.so");
    struct copy one = open_copy(path, RTLD_LOCAL);
    const struct cushim_dispatch_table *bootstrap = one.table();
    struct cushim_load_options options = {.path = unit_fake("fake_12040")};
    assert_int_equal(one.load(&options), CUDA_SUCCESS);
    const struct cushim_diagnosis *diagnosis = one.diagnosis();
    assert_int_equal(dlclose(one.library), 0);

    assert_true(is_mapped(&one));
    assert_int_equal(bootstrap->StreamQuery_v1(NULL), FAKE_CODE(ENTRY_StreamQuery_v1, 0));
    assert_int_equal(diagnosis->reason, CUSHIM_REASON_NONE);
    assert_string_equal(diagnosis->path, options.path);
    struct copy again = open_copy(path, RTLD_LOCAL);
    assert_ptr_equal(again.library, one.library);
    assert_int_equal(again.driver_version(), 12040);
    assert_ptr_equal(again.diagnosis(), diagnosis);
    assert_int_equal(dlclose(again.library), 0);
}

DIRECTORY_TEST(test_copy_when_closed_after_it_found_a_companion_then_the_companion_stays_open)
{
    const char *path = new_copy("one.so");
    struct copy one = open_copy(path, RTLD_LOCAL);
    struct cushim_load_options options = {.path = directory_driver("libcuda.so.1")};
    directory_copy("libnvidia-ml.so.1", unit_fake("companion_nvml"), SIZE_MAX);
    assert_int_equal(one.load(&options), CUDA_SUCCESS);
    const struct cushim_companion *nvml = one.companion(CUSHIM_COMPANION_NVML);
    assert_int_equal(dlclose(one.library), 0);
    assert_non_null(dlsym(nvml->handle, "nvmlInit_v2"));
    assert_non_null(strstr(nvml->path, "/libnvidia-ml.so.1"));
    struct copy again = open_copy(path, RTLD_LOCAL);
    assert_ptr_equal(again.companion(CUSHIM_COMPANION_NVML), nvml);
    assert_int_equal(dlclose(again.library), 0);
}

DIRECTORY_TEST(test_copy_when_closed_after_a_failed_load_then_its_diagnosis_can_be_read)
{
    struct copy one = open_copy(new_copy("one.so"), RTLD_LOCAL);
    struct cushim_load_options options = {.path = "/nonexistent/libcuda.so.1"};
    assert_int_equal(one.load(&options), CUDA_ERROR_FILE_NOT_FOUND);
    const struct cushim_diagnosis *diagnosis = one.diagnosis();
    assert_int_equal(dlclose(one.library), 0);
    assert_true(is_mapped(&one));
    assert_int_equal(diagnosis->reason, CUSHIM_REASON_NO_SUCH_FILE);
    assert_string_equal(diagnosis->attempts[0].path, options.path);
}

DIRECTORY_TEST(test_copy_when_closed_before_any_load_then_it_is_unmapped)
{
    struct copy one = open_copy(new_copy("one.so"), RTLD_LOCAL);
    assert_int_equal(one.diagnosis()->reason, CUSHIM_REASON_NOT_TRIED);
    assert_int_equal(dlclose(one.library), 0);
    assert_true(is_mapped(&one) == HAS_MUSL);
}

/* The path by which the copy was opened does not exist any more when the copy loads the driver. */
DIRECTORY_TEST(test_copy_when_its_file_is_gone_before_the_load_then_it_stays_all_the_same)
{
    const char *path = new_copy("one.so");
    struct cushim_load_options options = {.path = unit_fake("fake_12040")};
    assert_int_equal(chdir(directory_root()), 0);
    struct copy one = open_copy("./one.so", RTLD_LOCAL);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(one.load(&options), CUDA_SUCCESS);
    assert_int_equal(dlclose(one.library), 0);
    assert_true(is_mapped(&one));
    assert_int_equal(one.driver_version(), 12040);
}

static bool is_made(void)
{
    return true;
}

/* The copy has fork handlers, which must remain valid. */
DIRECTORY_TEST(test_fork_when_a_copy_was_closed_then_the_child_is_made)
{
    struct copy one = open_copy(new_copy("one.so"), RTLD_LOCAL);
    struct cushim_load_options options = {.path = unit_fake("fake_12040")};
    assert_int_equal(one.load(&options), CUDA_SUCCESS);
    assert_int_equal(dlclose(one.library), 0);
    child_check(NULL, is_made);
}
