/* SPDX-License-Identifier: MIT */
/* The known paths below a root directory of the test, and a driver that appears later. POSIX only. */
#include "unit.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "find_driver.h"
#include "directory.h"

static CUresult load(void)
{
    return cushim_load(&(struct cushim_load_options){.root = directory_machine()});
}

/* The index'th known path, as a name in the directory; NULL after the last. */
static const char *attempt_path(size_t index)
{
    static char path[PATH_MAX];
    return cush_candidates_path(index, "root", path, sizeof path) ? path : NULL;
}

/* The index of the known path with this end. */
static size_t find_path(const char *end)
{
    size_t index = 0;
    while (attempt_path(index) != NULL && strstr(attempt_path(index), end) == NULL)
        index++;
    assert_non_null(attempt_path(index));
    return index;
}

static void tell_kernel_module(const char *version)
{
    char text[256];
    snprintf(text, sizeof text, "NVRM version: NVIDIA UNIX x86_64 Kernel Module  %s  Wed Jul  3 01:20:00 UTC 2026\n",
             version);
    directory_machine_file("proc/driver/nvidia/version", text);
}

static void assert_found_at(const char *path)
{
    assert_int_equal(load(), CUDA_SUCCESS);
    assert_string_equal(cushim_diagnosis_get()->path, path);
    const struct cushim_attempt *last = &cushim_diagnosis_get()->attempts[cushim_diagnosis_get()->attempt_count - 1];
    assert_string_equal(last->path, path);
    assert_string_equal(last->result, "a driver for CUDA 12.4");
    assert_int_equal(last->reason, CUSHIM_REASON_NONE);
    assert_int_equal(cushim_table()->StreamQuery_v1(NULL), FAKE_CODE(ENTRY_StreamQuery_v1, 0));
}

DIRECTORY_TEST(test_search_when_nothing_exists_then_reports_every_path)
{
    unit_assert_failed(load(), CUSHIM_REASON_NOT_FOUND, CUDA_ERROR_FILE_NOT_FOUND);
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    assert_true(diagnosis->attempt_count >= 18);
    for (size_t i = 0; i < diagnosis->attempt_count; i++) {
        assert_int_equal(strncmp(diagnosis->attempts[i].path, directory_machine(), strlen(directory_machine())), 0);
        assert_string_equal(diagnosis->attempts[i].result, "not found");
    }
}

static void make_bus_without_nvidia(void)
{
    directory_machine_file("sys/bus/pci/devices/0000:00:00.0/vendor", "0x8086\n");
    directory_machine_file("sys/bus/pci/devices/0000:01:00.0/vendor", "0x1002\n");
    directory_machine_file("sys/bus/pci/devices/0000:01:00.0/class", "0x030000\n");
}

DIRECTORY_TEST(test_search_when_the_machine_has_nothing_of_nvidia_then_that_is_the_reason)
{
    make_bus_without_nvidia();
    unit_assert_failed(load(), CUSHIM_REASON_NO_NVIDIA, CUDA_ERROR_FILE_NOT_FOUND);
    assert_string_equal(cushim_diagnosis_get()->message, cushim_reason_message(CUSHIM_REASON_NO_NVIDIA));
    assert_string_equal(cushim_diagnosis_get()->attempts[0].result, "not found");
    directory_machine_file("dev/nvidiactl", ""); /* a driver library creates it */
    directory_machine_file("proc/bus/pci/devices", "0000\t80861237\t0\n0100\t1002687f\t0\n");
    assert_int_equal(load(), CUDA_ERROR_FILE_NOT_FOUND);
    assert_int_equal(cushim_diagnosis_get()->reason, CUSHIM_REASON_NO_NVIDIA);
}

/* One file each, beside a bus without NVIDIA. NULL: without that bus. */
static const struct {
    const char *file, *text;
} traces_of_nvidia[] = {
    {NULL, NULL},
    {"sys/bus/pci/devices/0000:02:00.0/vendor", "0x10de\n"},  /* its class is not known */
    {"sys/bus/pci/devices/0000:02:00.0/class", "0x030000\n"}, /* its vendor is not known */
    {"proc/bus/pci/devices", "0000\t80861237\t0\n0200\t10de2684\t0\n"},
    {"proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.03  Wed\n"},
    {"sys/module/nvidia/refcnt", "0\n"},
    {"dev/nvidia3", ""},
    {"dev/nvidia-uvm", ""},
    {"dev/dxg", ""},
    {"proc/version", "Linux version 6.6.87.2-microsoft-standard-WSL2\n"},
    {"proc/cmdline", "panic=1 nr_cpus=4 systemd.unit=kata-containers.target systemd.mask=systemd-networkd.service\n"},
    {"dev/nvmap", ""},
    {"etc/nv_tegra_release", "# R36\n"},
};

static void make_trace(size_t i)
{
    if (traces_of_nvidia[i].file == NULL)
        return;
    make_bus_without_nvidia();
    directory_machine_file(traces_of_nvidia[i].file, traces_of_nvidia[i].text);
}

DIRECTORY_TEST(test_search_when_something_is_of_nvidia_or_the_bus_cannot_be_read_then_the_library_is_missing)
{
    for (size_t i = 0; i < sizeof traces_of_nvidia / sizeof traces_of_nvidia[0]; i++) {
        directory_remove(state);
        directory_create(state);
        make_trace(i);
        assert_int_equal(load(), CUDA_ERROR_FILE_NOT_FOUND);
        if (cushim_diagnosis_get()->reason != CUSHIM_REASON_NOT_FOUND)
            fail_msg("%s: %s", traces_of_nvidia[i].file, cushim_diagnosis_get()->reason_name);
    }
}

DIRECTORY_TEST(test_search_when_the_library_is_empty_then_an_image_is_told_from_an_installation)
{
    directory_write(attempt_path(0), "", 0);
    assert_int_equal(load(), CUDA_ERROR_SHARED_OBJECT_INIT_FAILED);
    assert_int_equal(cushim_diagnosis_get()->reason, CUSHIM_REASON_DAMAGED);
    unit_assert_contains(cushim_diagnosis_get()->advice, "Reinstall");
    directory_machine_file(".dockerenv", "");
    assert_int_equal(load(), CUDA_ERROR_SHARED_OBJECT_INIT_FAILED);
    assert_int_equal(cushim_diagnosis_get()->reason, CUSHIM_REASON_DAMAGED);
    unit_assert_contains(cushim_diagnosis_get()->message, "container runtime");
    unit_assert_contains(cushim_diagnosis_get()->message, directory_machine());
    unit_assert_contains(cushim_diagnosis_get()->advice, "--gpus all");
}

DIRECTORY_TEST(test_search_when_the_library_is_for_another_processor_then_the_message_begins_with_that)
{
    const ElfW(Ehdr) header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32, ELFDATA2LSB},
        .e_machine = EM_SPARCV9,
    };
    directory_write(attempt_path(1), &header, sizeof header);
    assert_int_equal(load(), CUDA_ERROR_SHARED_OBJECT_INIT_FAILED);
    assert_int_equal(cushim_diagnosis_get()->reason, CUSHIM_REASON_NOT_LOADABLE);
    unit_assert_contains(cushim_diagnosis_get()->message, "is built for another processor than this program (/");
}

DIRECTORY_TEST(test_search_when_the_driver_is_in_a_known_path_then_finds_it)
{
    size_t index = 0;
    for (; attempt_path(index) != NULL; index++) {
        if (attempt_path(index)[0] == '\0')
            continue; /* needs the version of the kernel module; see below */
        unit_reset(state);
        const char *path = directory_driver(attempt_path(index));
        assert_found_at(path);
        assert_int_equal(unlink(path), 0);
    }
    assert_true(index >= 18);
}

DIRECTORY_TEST(test_search_when_a_known_path_names_the_kernel_module_then_searches_that_version)
{
    size_t index = 0;
    while (attempt_path(index) != NULL && attempt_path(index)[0] != '\0')
        index++;
    assert_non_null(attempt_path(index));
    tell_kernel_module("580.159.03");
    const char *multiarch = attempt_path(0) + strlen("root/usr/lib/");
    char name[PATH_MAX];
    snprintf(name, sizeof name, "root/usr/lib/%.*s/GL/nvidia-580-159-03/lib/libcuda.so.1", (int)strcspn(multiarch, "/"),
             multiarch);
    assert_found_at(directory_driver(name));
}

DIRECTORY_TEST(test_search_when_a_driver_is_in_the_driver_store_then_finds_it)
{
    directory_write("root/usr/lib/wsl/drivers/iigd_dch.inf_amd64_1/readme", "", 0);
    assert_found_at(directory_driver("root/usr/lib/wsl/drivers/nv_dispi.inf_amd64_2/libcuda.so.1"));
}

DIRECTORY_TEST(test_search_when_a_snap_names_directories_then_they_are_known_paths)
{
    char path[PATH_MAX];
    size_t count = 0;
    while (cush_candidates_path(count, "", path, sizeof path))
        count++;
    unit_set_variable("SNAP_LIBRARY_PATH", "/snap/one::relative:/snap/two");
    static const char *const paths[] = {"/snap/one/libcuda.so.1", "", "", "/snap/two/libcuda.so.1"};
    for (size_t i = 0; i < 4; i++) {
        assert_true(cush_candidates_path(count + i, "", path, sizeof path));
        assert_string_equal(path, paths[i]);
    }
    assert_false(cush_candidates_path(count + 4, "", path, sizeof path));
    assert_false(cush_candidates_path(count, "/root", path, sizeof path));
    unit_set_variable("SNAP_LIBRARY_PATH", NULL);
}

DIRECTORY_TEST(test_search_when_the_stub_comes_first_then_the_driver_behind_it_wins)
{
    const char *stub = directory_copy(attempt_path(0), unit_fake("not_stub"), SIZE_MAX);
    const char *driver = directory_driver(attempt_path(find_path("/usr/lib/wsl/lib/")));
    assert_found_at(driver);
    assert_string_equal(cushim_diagnosis_get()->attempts[0].path, stub);
    assert_int_equal(cushim_diagnosis_get()->attempts[0].reason, CUSHIM_REASON_STUB);
}

DIRECTORY_TEST(test_search_when_broken_files_come_first_then_the_driver_behind_them_wins)
{
    directory_write(attempt_path(find_path("/usr/lib64/l")), "text", 4);
    directory_copy(attempt_path(find_path("/lib64/l")), unit_fake("fake_12040"), 5000);
    directory_copy(attempt_path(find_path("/usr/local/lib/l")), unit_fake("not_no_init"), SIZE_MAX);
    mkdir(directory_path(attempt_path(find_path("/usr/lib/l"))), 0755);
    assert_found_at(directory_driver(attempt_path(find_path("/run/opengl-driver/lib/"))));
    assert_true(cushim_diagnosis_get()->attempt_count >= 5);
}

DIRECTORY_TEST(test_search_when_all_is_broken_then_the_first_thing_found_is_the_reason)
{
    const char *stub = directory_copy(attempt_path(2), unit_fake("not_stub"), SIZE_MAX);
    directory_write(attempt_path(3), "text", 4);
    unit_assert_failed(load(), CUSHIM_REASON_STUB, CUDA_ERROR_STUB_LIBRARY);
    unit_assert_contains(cushim_diagnosis_get()->message, stub);
}

DIRECTORY_TEST(test_search_when_the_root_is_deep_then_path_and_message_are_whole)
{
    char deep[3000] = "root";
    while (strlen(deep) < sizeof deep - 210) {
        size_t length = strlen(deep);
        memset(deep + length, 'd', 200);
        deep[length] = '/';
        deep[length + 200] = '\0';
    }
    char path[PATH_MAX];
    struct cushim_load_options options = {.root = path};
    snprintf(path, sizeof path, "%s/%s", directory_root(), deep);
    unit_assert_failed(cushim_load(&options), CUSHIM_REASON_NOT_FOUND, CUDA_ERROR_FILE_NOT_FOUND);

    char driver[2 * PATH_MAX];
    snprintf(driver, sizeof driver, "%s%s", deep, attempt_path(find_path("/usr/local/nvidia/lib/")) + strlen("root"));
    const char *file = directory_driver(driver);
    assert_int_equal(cushim_load(&options), CUDA_SUCCESS);
    assert_string_equal(cushim_diagnosis_get()->path, file);

    unit_reset(NULL);
    assert_int_equal(unlink(file), 0);
    directory_copy(driver, unit_fake("not_stub"), SIZE_MAX);
    unit_assert_failed(cushim_load(&options), CUSHIM_REASON_STUB, CUDA_ERROR_STUB_LIBRARY);
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    for (size_t i = 0; i < diagnosis->attempt_count; i++) {
        assert_string_not_equal(diagnosis->attempts[i].path, "");
        assert_string_not_equal(diagnosis->attempts[i].result, "");
    }
}

DIRECTORY_TEST(test_root_when_the_driver_is_behind_links_then_they_are_followed_below_the_root)
{
    static const struct {
        const char *link, *target;
    } images[][3] = {
        {{"libcuda.so.1", "/opt/driver/libcuda.so.550"}},
        {{"libcuda.so.1", "//opt/./driver//libcuda.so.550"}},
        {{"libcuda.so.1", "../../../../../../../opt/driver/libcuda.so.550"}},
        {{"libcuda.so.1", "/../../opt/driver/../driver/libcuda.so.550"}},
        {{"libcuda.so.1", "/etc/alternatives/cuda"}, {"/etc/alternatives/cuda", "/opt/driver/libcuda.so.550"}},
        {{"libcuda.so.1", "/run/current/libcuda.so.550"}, {"/run/current", "/store"}, {"/store", "opt/driver"}},
    };
    for (size_t i = 0; i < sizeof images / sizeof images[0]; i++) {
        assert_int_equal(directory_remove(state), 0);
        assert_int_equal(directory_create(state), 0);
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s", directory_driver("root/opt/driver/libcuda.so.550"));
        for (size_t k = 0; k < 3 && images[i][k].link != NULL; k++) {
            char link[PATH_MAX];
            snprintf(link, sizeof link, "root%s", images[i][k].link);
            directory_link(k == 0 ? attempt_path(0) : link, images[i][k].target);
        }
        assert_int_equal(load(), CUDA_SUCCESS);
        assert_string_equal(cushim_diagnosis_get()->path, path);
        assert_string_equal(cushim_diagnosis_get()->attempts[0].path, directory_path(attempt_path(0)));
    }
}

DIRECTORY_TEST(test_root_when_a_directory_is_a_link_then_it_is_followed_below_the_root)
{
    directory_link("root/lib64", "/opt/lib64");
    const char *driver = directory_driver("root/opt/lib64/libcuda.so.1");
    char link[PATH_MAX];
    snprintf(link, sizeof link, "root%.*s", (int)strlen(attempt_path(0) + 4) - (int)strlen("/libcuda.so.1"),
             attempt_path(0) + 4);
    directory_link(link, "/lib64");
    assert_int_equal(load(), CUDA_SUCCESS);
    assert_string_equal(cushim_diagnosis_get()->path, driver);
}

DIRECTORY_TEST(test_root_when_links_lead_out_of_it_then_the_machines_files_are_not_found)
{
    char up[PATH_MAX] = "../../../../../../../../../../../..";
    char directory[PATH_MAX];
    strcat(up, unit_fake("fake_12040"));
    snprintf(directory, sizeof directory, "%s", unit_fake("fake_12040"));
    *strrchr(directory, '/') = '\0';
    directory_link(attempt_path(0), unit_fake("fake_12040"));
    directory_link(attempt_path(1), up);
    directory_link("root/fakes", directory);
    directory_link(attempt_path(2), "/fakes/fake_12040.so");
    directory_link(attempt_path(3), attempt_path(3) + strlen("root")); /* a link to itself */
    unit_assert_failed(load(), CUSHIM_REASON_NOT_FOUND, CUDA_ERROR_FILE_NOT_FOUND);
    for (size_t i = 0; i < cushim_diagnosis_get()->attempt_count; i++)
        assert_string_equal(cushim_diagnosis_get()->attempts[i].result, "not found");
}

DIRECTORY_TEST(test_root_when_links_are_too_many_then_not_found)
{
    char name[64], target[64];
    directory_driver("root/link-40");
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "root/link-%d", i);
        snprintf(target, sizeof target, "/link-%d", i + 1);
        directory_link(name, target);
    }
    directory_link(attempt_path(0), "/link-0"); /* 41 links */
    unit_assert_failed(load(), CUSHIM_REASON_NOT_FOUND, CUDA_ERROR_FILE_NOT_FOUND);
    directory_link(attempt_path(1), "/link-1");
    assert_int_equal(load(), CUDA_SUCCESS);
}

DIRECTORY_TEST(test_load_when_the_driver_appears_after_a_failure_then_the_next_load_has_it)
{
    assert_int_equal(load(), CUDA_ERROR_FILE_NOT_FOUND);
    const struct cushim_diagnosis *failed = cushim_diagnosis_get();
    char message[512];
    snprintf(message, sizeof message, "%s", failed->message);
    assert_int_equal(cushim_table()->StreamQuery_v1(NULL), CUDA_ERROR_NO_DEVICE);

    assert_found_at(directory_driver(attempt_path(3)));
    assert_ptr_not_equal(cushim_diagnosis_get(), failed);
    assert_int_equal(failed->reason, CUSHIM_REASON_NOT_FOUND); /* the old diagnosis may still be read */
    assert_string_equal(failed->message, message);
    assert_int_equal(cushim_load(NULL), CUDA_SUCCESS);
}

DIRECTORY_TEST(test_load_when_the_file_is_replaced_after_a_failure_then_the_next_load_has_the_new_one)
{
    const char *path = directory_copy("driver.so", unit_fake("not_stub"), SIZE_MAX);
    assert_int_equal(unit_load_path(path), CUDA_ERROR_STUB_LIBRARY);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(unit_load_path(directory_driver("driver.so")), CUDA_SUCCESS);
    assert_int_equal(cushim_table()->StreamQuery_v1(NULL), FAKE_CODE(ENTRY_StreamQuery_v1, 0));
}

DIRECTORY_TEST(test_load_when_it_fails_the_same_way_again_then_the_diagnosis_is_the_same)
{
    assert_int_equal(load(), CUDA_ERROR_FILE_NOT_FOUND);
    const struct cushim_diagnosis *first = cushim_diagnosis_get();
    unit_set_variable("CUSHIM_DRIVER", "none");
    assert_int_equal(cushim_load(NULL), CUDA_ERROR_FILE_NOT_FOUND);
    const struct cushim_diagnosis *other = cushim_diagnosis_get();
    assert_ptr_not_equal(first, other);
    for (int i = 0; i < 100; i++) {
        unit_set_variable("CUSHIM_DRIVER", NULL);
        assert_int_equal(load(), CUDA_ERROR_FILE_NOT_FOUND);
        assert_ptr_equal(cushim_diagnosis_get(), first);
        unit_set_variable("CUSHIM_DRIVER", "none");
        assert_int_equal(cushim_load(NULL), CUDA_ERROR_FILE_NOT_FOUND);
        assert_ptr_equal(cushim_diagnosis_get(), other);
    }
}

DIRECTORY_TEST(test_load_when_the_system_knows_no_driver_then_no_message_is_left_for_the_program)
{
    (void)cushim_load(NULL); /* a machine with a driver loads it; then there are no messages either */
    assert_null(dlerror());
}

/* The same sentence, once for a variable that was used and once for one that was not, makes two different diagnoses. */
DIRECTORY_TEST(test_load_when_only_the_use_of_a_variable_differs_then_the_diagnoses_differ)
{
    struct cushim_load_options options = {.root = directory_machine()};
    unit_set_variable("CUSHIM_HIDE", "StreamQuery");
    assert_int_equal(cushim_load(&options), CUDA_ERROR_FILE_NOT_FOUND);
    assert_true(cushim_diagnosis_get()->variables[0].is_used);
    options.hide = "StreamQuery";
    assert_int_equal(cushim_load(&options), CUDA_ERROR_FILE_NOT_FOUND);
    assert_false(cushim_diagnosis_get()->variables[0].is_used);
}
