/* SPDX-License-Identifier: MIT */
/* Files that are given as a driver and are not: each has its own reason, and the program continues. POSIX only. */
#include "unit.h"

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "child.h"
#include "directory.h"

/* Older headers lack these names of Linux 6.3. */
#if !defined(PR_SET_MDWE)
#    define PR_SET_MDWE 65
#    define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

/* The start of the dynamic loader's message for a file that is not a library, or not one for this processor. */
static const char *loader_message(const char *of_glibc)
{
    return HAS_MUSL ? "Exec format error" : of_glibc;
}

static void assert_refused(const char *path, enum cushim_reason reason, CUresult code, const char *word)
{
    unit_assert_failed(unit_load_path(path), reason, code);
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    unit_assert_contains(diagnosis->message, path);
    unit_assert_contains(diagnosis->message, word);
    assert_int_equal(diagnosis->attempt_count, 1);
    assert_string_equal(diagnosis->attempts[0].path, path);
    assert_int_equal(diagnosis->attempts[0].reason,
                     reason == CUSHIM_REASON_NO_SUCH_FILE ? CUSHIM_REASON_NOT_FOUND : reason);
    unit_assert_contains(diagnosis->attempts[0].result, word);
    /* The user named the file: it need not belong to NVIDIA's driver. */
    assert_null(strstr(diagnosis->message, "NVIDIA"));
    assert_null(strstr(diagnosis->advice, "Reinstall"));
}

static void assert_unloadable(const char *path, const char *word)
{
    assert_refused(path, CUSHIM_REASON_NOT_LOADABLE, CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, word);
}

DIRECTORY_TEST(test_path_when_it_does_not_exist_then_no_such_file)
{
    assert_refused(directory_path("libcuda.so.1"), CUSHIM_REASON_NO_SUCH_FILE, CUDA_ERROR_FILE_NOT_FOUND, "not found");
    assert_refused(directory_path("directory/libcuda.so.1"), CUSHIM_REASON_NO_SUCH_FILE, CUDA_ERROR_FILE_NOT_FOUND,
                   "not found");
    assert_refused("libcushim-no-such-driver.so.1", CUSHIM_REASON_NO_SUCH_FILE, CUDA_ERROR_FILE_NOT_FOUND, "not found");
}

DIRECTORY_TEST(test_path_when_it_is_a_dangling_link_then_no_such_file)
{
    assert_refused(directory_link("dangling.so", "/no/such/file"), CUSHIM_REASON_NO_SUCH_FILE,
                   CUDA_ERROR_FILE_NOT_FOUND, "not found");
    assert_refused(directory_link("circle.so", "circle.so"), CUSHIM_REASON_NO_SUCH_FILE, CUDA_ERROR_FILE_NOT_FOUND,
                   "not found");
}

/* dlopen() replaces these names in a path, and so opens another file. */
DIRECTORY_TEST(test_path_when_the_dynamic_loader_would_change_it_then_refused)
{
    static const char *const names[] = {"$LIB/libcuda.so.1", "${LIB}/libcuda.so.1", "a$PLATFORM/libcuda.so.1",
                                        "$ORIGIN/libcuda.so.1"};
    static const char *const others[] = {"lib/x86_64-linux-gnu/libcuda.so.1", "lib64/libcuda.so.1", "lib/libcuda.so.1"};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        directory_copy(others[i], unit_fake("fake_11040"), SIZE_MAX);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s", directory_driver(names[i]));
        assert_unloadable(path, "the dynamic loader would replace $");
    }
    static const char *const kept[] = {"$LIBRARY/libcuda.so.1", "$HOME/libcuda.so.1", "${LIB/libcuda.so.1"};
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        unit_reset(state);
        assert_int_equal(unit_load_path(directory_driver(kept[i])), CUDA_SUCCESS);
        assert_int_equal(cushim_driver_version(), 12040);
    }
}

DIRECTORY_TEST(test_root_when_the_dynamic_loader_would_change_a_path_below_it_then_not_left)
{
    char root[PATH_MAX];
    snprintf(root, sizeof root, "%s", directory_driver("$LIB/usr/lib64/libcuda.so.1"));
    *strstr(root, "/usr/lib64") = '\0';
    directory_copy("lib/x86_64-linux-gnu/usr/lib64/libcuda.so.1", unit_fake("fake_11040"), SIZE_MAX);
    directory_copy("lib64/usr/lib64/libcuda.so.1", unit_fake("fake_11040"), SIZE_MAX);
    struct cushim_load_options options = {.root = root};
    unit_assert_failed(cushim_load(&options), CUSHIM_REASON_NOT_LOADABLE, CUDA_ERROR_SHARED_OBJECT_INIT_FAILED);
    unit_assert_contains(cushim_diagnosis_get()->message, "replace $LIB");
}

DIRECTORY_TEST(test_layer_when_the_dynamic_loader_would_change_its_path_then_refused)
{
    unit_set_variable("CUSHIM_LAYERS", directory_copy("$LIB/layer.so", OBJECTS "/layer_first.so", SIZE_MAX));
    unit_assert_failed(unit_load_path(unit_fake("fake_12040")), CUSHIM_REASON_BAD_LAYER,
                       CUDA_ERROR_SHARED_OBJECT_INIT_FAILED);
    unit_assert_contains(cushim_diagnosis_get()->message, "replace $LIB");
}

DIRECTORY_TEST(test_path_when_it_goes_through_a_file_then_it_is_named_as_absent)
{
    char below[PATH_MAX];
    snprintf(below, sizeof below, "%s/libcuda.so.1", directory_write("file", "", 0));
    assert_refused(below, CUSHIM_REASON_NO_SUCH_FILE, CUDA_ERROR_FILE_NOT_FOUND, "not found");
}

DIRECTORY_TEST(test_path_when_named_or_found_then_the_advice_differs)
{
    struct cushim_load_options options = {.root = directory_root()};
    const char *path = directory_write("usr/lib64/libcuda.so.1", "text", 4);
    assert_unloadable(path, loader_message("too short"));
    unit_assert_contains(cushim_diagnosis_get()->advice, "Correct CUSHIM_DRIVER");
    unit_assert_failed(cushim_load(&options), CUSHIM_REASON_NOT_LOADABLE, CUDA_ERROR_SHARED_OBJECT_INIT_FAILED);
    unit_assert_contains(cushim_diagnosis_get()->advice, "Reinstall NVIDIA's driver");
}

DIRECTORY_TEST(test_path_when_it_is_a_directory_then_not_loadable)
{
    char directory[PATH_MAX];
    snprintf(directory, sizeof directory, "%s", directory_path("libcuda.so.1"));
    assert_int_equal(mkdir(directory, 0755), 0);
    assert_unloadable(directory, "directory");
}

DIRECTORY_TEST(test_path_when_it_is_a_fifo_then_not_loadable_without_waiting)
{
    const char *path = directory_path("libcuda.so.1");
    assert_int_equal(mkfifo(path, 0644), 0);
    assert_refused(path, CUSHIM_REASON_DAMAGED, CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, "not a regular file");
}

DIRECTORY_TEST(test_path_when_it_is_a_text_file_then_not_loadable)
{
    char text[4096];
    memset(text, 'x', sizeof text);
    assert_unloadable(directory_write("text.so", text, sizeof text), loader_message("ELF"));
    assert_unloadable(directory_write("short.so", "x", 1), loader_message("too short"));
    assert_refused(directory_write("empty.so", "", 0), CUSHIM_REASON_DAMAGED, CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
                   "the file is empty");
}

DIRECTORY_TEST(test_path_when_a_library_is_cut_short_then_it_is_unloadable)
{
    /* In the header, in the program headers, and where glibc would map data beyond the end of the file. */
    static const size_t lengths[] = {4, 20, 63, 64, 100, 400, 4096, 20000, 100000};
    enum {
        HEADER = sizeof(void *) == 8 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)
    }; /* less is not known as a library */
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        assert_refused(directory_copy("cut.so", unit_fake("fake_12040"), lengths[i]),
                       lengths[i] < HEADER ? CUSHIM_REASON_NOT_LOADABLE : CUSHIM_REASON_DAMAGED,
                       CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, "");
}

DIRECTORY_TEST(test_path_when_the_library_is_for_another_processor_then_it_is_unloadable)
{
    const bool is_64 = sizeof(void *) == 8;
    ElfW(Ehdr) header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, is_64 ? ELFCLASS64 : ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = EM_SPARCV9,
        .e_version = EV_CURRENT,
        .e_ehsize = sizeof header,
        .e_phentsize = sizeof(ElfW(Phdr)),
    };
    char file[4096] = "";
    memcpy(file, &header, sizeof header);
    assert_unloadable(directory_write("sparc.so", file, sizeof file), "another processor");
    header.e_ident[EI_CLASS] = is_64 ? ELFCLASS32 : ELFCLASS64;
    memcpy(file, &header, sizeof header);
    assert_unloadable(directory_write("class.so", file, sizeof file),
                      loader_message(is_64 ? "ELFCLASS32" : "ELFCLASS64"));
}

DIRECTORY_TEST(test_path_when_the_library_needs_an_absent_one_then_that_one_is_named)
{
    assert_refused(unit_fake("not_complete"), HAS_MUSL ? CUSHIM_REASON_OTHER_LIBC : CUSHIM_REASON_NEEDS_LIBRARY,
                   CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, "libcushim_no_such_dependency");
}

/* As in a program of Nix, conda or an older distribution. */
DIRECTORY_TEST(test_path_when_the_library_needs_a_newer_libc_then_reports_that)
{
    assert_refused(unit_fake("not_this_libc"), CUSHIM_REASON_OTHER_LIBC, CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
                   HAS_MUSL ? "future_function" : "GLIBC_2.99");
}

static const char *refused_path;

static bool is_reported_as_unreadable(void)
{
    return unit_load_path(refused_path) == CUDA_ERROR_SHARED_OBJECT_INIT_FAILED
           && cushim_diagnosis_get()->reason == CUSHIM_REASON_UNREADABLE
           && strstr(cushim_diagnosis_get()->message, refused_path) != NULL
           && strstr(cushim_diagnosis_get()->message, "not permitted") != NULL
           && cushim_table()->Init_v1(0) == CUDA_ERROR_NO_DEVICE;
}

DIRECTORY_TEST(test_path_when_it_is_unreadable_then_reports_that)
{
    refused_path = directory_driver("libcuda.so.1");
    assert_int_equal(chmod(refused_path, 0), 0);
    if (!child_check(child_give_up_rights, is_reported_as_unreadable))
        unit_skip("root may read everything, and cannot become another user here");
}

/* Writes a copy of a driver that asks for an executable stack, as the real driver 340 does. */
static const char *write_driver_with_executable_stack(void)
{
    const char *path = directory_driver("stack.so");
    ElfW(Ehdr) header;
    ElfW(Phdr) segment;
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fread(&header, sizeof header, 1, file), 1);
    for (unsigned i = 0; i < header.e_phnum; i++) {
        long offset = (long)(header.e_phoff + i * sizeof segment);
        assert_int_equal(fseek(file, offset, SEEK_SET), 0);
        assert_int_equal(fread(&segment, sizeof segment, 1, file), 1);
        if (segment.p_type == PT_GNU_STACK) {
            segment.p_flags |= PF_X;
            assert_int_equal(fseek(file, offset, SEEK_SET), 0);
            assert_int_equal(fwrite(&segment, sizeof segment, 1, file), 1);
        }
    }
    assert_int_equal(fclose(file), 0);
    return path;
}

/* glibc 2.41 refuses such a library. With an older one, the kernel refuses the stack. musl never makes one. */
static bool refuse_executable_stack(void)
{
    return HAS_MUSL || prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0L, 0L, 0L) == 0
           || unit_load_path(refused_path) != CUDA_SUCCESS;
}

static bool is_reported_as_executable_stack(void)
{
    CUresult result = unit_load_path(refused_path);
    if (HAS_MUSL)
        return result == CUDA_SUCCESS;
    return result == CUDA_ERROR_SHARED_OBJECT_INIT_FAILED
           && cushim_diagnosis_get()->reason == CUSHIM_REASON_EXECUTABLE_STACK
           && strstr(cushim_diagnosis_get()->advice, "GLIBC_TUNABLES") != NULL;
}

DIRECTORY_TEST(test_path_when_the_library_needs_an_executable_stack_then_reports_that)
{
    if (unit_runs_under_valgrind()) {
        unit_skip("valgrind crashes where memory cannot become executable");
        return;
    }
    refused_path = write_driver_with_executable_stack();
    if (!child_check(refuse_executable_stack, is_reported_as_executable_stack))
        unit_skip("this C library and this kernel grant an executable stack");
}
