/* SPDX-License-Identifier: MIT */
/* Features of Windows: handles, spellings of a path, names from the export list, threads, the environment. */
#include "unit.h"

#include <stdlib.h>
#include <windows.h>

#include "copy.h"
#include "mock.h"
#include "os.h"

UNIT_TEST(test_handle_when_given_then_used_and_not_closed)
{
    HMODULE library = LoadLibraryA(unit_fake("fake_11040"));
    assert_non_null(library);
    struct cushim_load_options options = {.handle = library};
    assert_int_equal(cushim_load(&options), CUDA_SUCCESS);
    assert_int_equal(cushim_driver_version(), 11040);
    assert_string_equal(cushim_diagnosis_get()->attempts[0].path, "the handle given");
    unit_reset(NULL);
    assert_non_null(GetProcAddress(library, "cuInit"));
    FreeLibrary(library);
}

/* The same path in capitals and with backslashes and slashes exchanged. */
static void respell(const char *path, char *out_path, size_t size)
{
    snprintf(out_path, size, "%s", path);
    for (char *letter = out_path; *letter != '\0'; letter++) {
        if (*letter == '/')
            *letter = '\\';
        else if (*letter >= 'a' && *letter <= 'z')
            *letter = (char)(*letter - 'a' + 'A');
    }
}

UNIT_TEST(test_second_load_when_the_path_is_spelled_otherwise_then_it_agrees)
{
    char path[1024];
    unit_load_plain("fake_12040");
    respell(unit_fake("fake_12040"), path, sizeof path);
    struct cushim_load_options options = {.path = path};
    assert_int_equal(cushim_load(&options), CUDA_SUCCESS);
    respell(unit_fake("fake_11040"), path, sizeof path);
    assert_int_equal(cushim_load(&options), CUDA_ERROR_NOT_PERMITTED);
    assert_int_equal(cushim_driver_version(), 12040);
}

UNIT_TEST(test_symbol_name_when_the_address_is_a_functions_then_exact)
{
    static const char *const symbols[] = {"cuInit", "cuStreamQuery", "cuStreamQuery_ptsz", "cuStreamGetCaptureInfo_v2",
                                          "cuArray3DCreate_v2"};
    unit_load_plain("fake_12040");
    HMODULE library = GetModuleHandleA("fake_12040.dll");
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        union {
            cushim_fn function;
            uintptr_t number;
        } address = {(cushim_fn)GetProcAddress(library, symbols[i])};
        assert_string_equal(cushim_symbol_name(address.function), symbols[i]);
        address.number++;
        assert_null(cushim_symbol_name(address.function));
    }
    assert_null(cushim_symbol_name(NULL));
}

UNIT_TEST(test_symbol_name_when_the_address_is_elsewhere_then_none)
{
    HMODULE system = GetModuleHandleA("kernel32.dll");
    unit_load_plain("fake_12040");
    assert_null(cushim_symbol_name((cushim_fn)GetProcAddress(system, "GetTickCount")));
    assert_null(cushim_symbol_name((cushim_fn)unit_reset));
    assert_null(cushim_symbol_name(unit_function("fake_11040", "cuInit")));
    union {
        void *object;
        cushim_fn function;
    } heap = {malloc(1)};
    assert_null(cushim_symbol_name(heap.function));
    free(heap.object);
}

UNIT_TEST(test_bare_name_when_it_is_in_the_current_directory_then_it_is_not_found)
{
    char here[1024];
    GetCurrentDirectoryA(sizeof here, here);
    assert_true(SetCurrentDirectoryA(FAKES));
    struct cushim_load_options options = {.path = "fake_12040.dll"};
    CUresult bare = cushim_load(&options);
    options.path = "./fake_12040.dll";
    CUresult relative = cushim_load(&options);
    SetCurrentDirectoryA(here);
    assert_int_equal(bare, CUDA_ERROR_FILE_NOT_FOUND);
    assert_int_equal(relative, CUDA_SUCCESS);
}

UNIT_TEST(test_companion_when_beside_the_driver_and_in_the_current_directory_then_only_system32_counts)
{
    char here[1024], directory[MAX_PATH], library[MAX_PATH + 16], driver[MAX_PATH + 16];
    assert_true(GetCurrentDirectoryA(sizeof here, here) > 0);
    assert_true(GetTempPathA(sizeof directory - 16, directory) > 0);
    strcat(directory, "cushim-nvml");
    CreateDirectoryA(directory, NULL);
    snprintf(library, sizeof library, "%s\\nvml.dll", directory);
    snprintf(driver, sizeof driver, "%s\\driver.dll", directory);
    assert_true(CopyFileA(unit_fake("not_library"), library, FALSE));
    assert_true(CopyFileA(unit_fake("fake_12040"), driver, FALSE));
    assert_true(SetCurrentDirectoryA(directory));
    assert_int_equal(unit_load_path(driver), CUDA_SUCCESS);
    const struct cushim_companion *nvml = cushim_companion_get(CUSHIM_COMPANION_NVML);
    SetCurrentDirectoryA(here);
    assert_string_equal(nvml->library, "nvml.dll");
    assert_int_equal(nvml->reason, CUSHIM_REASON_NOT_FOUND);
    assert_string_equal(nvml->message, "nvml.dll is missing here.");
    assert_string_equal(cushim_companion_get(CUSHIM_COMPANION_NVENC)->library,
                        sizeof(void *) == 8 ? "nvEncodeAPI64.dll" : "nvEncodeAPI.dll");
    unit_reset(NULL);
    DeleteFileA(driver);
    DeleteFileA(library);
    RemoveDirectoryA(directory);
}

UNIT_TEST(test_path_when_it_is_not_the_path_of_a_file_then_reports_the_reason)
{
    const struct {
        const char *path;
        enum cushim_reason reason;
    } cases[] = {
        {FAKES, CUSHIM_REASON_NOT_LOADABLE},
        {FAKES "/nowhere.dll", CUSHIM_REASON_NO_SUCH_FILE},
        {FAKES "/nowhere/nvcuda.dll", CUSHIM_REASON_NO_SUCH_FILE},
        {FAKES "/\xff\xfe.dll", CUSHIM_REASON_NO_SUCH_FILE},
        {"C:nvcuda.dll", CUSHIM_REASON_NO_SUCH_FILE},
        {"a*b?.dll", CUSHIM_REASON_NO_SUCH_FILE},
        {__FILE__ "/x", CUSHIM_REASON_NO_SUCH_FILE},
        {"kernel32.dll", CUSHIM_REASON_NOT_A_DRIVER},
        {"kernel32", CUSHIM_REASON_NOT_A_DRIVER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cushim_load_options options = {.path = cases[i].path};
        unit_reset(NULL);
        assert_int_not_equal(cushim_load(&options), CUDA_SUCCESS);
        if (cushim_diagnosis_get()->reason != cases[i].reason)
            fail_msg("%s: %s", cases[i].path, cushim_diagnosis_get()->message);
    }
}

UNIT_TEST(test_environment_when_a_value_is_not_ascii_then_it_is_utf8)
{
    assert_true(SetEnvironmentVariableW(L"CUSHIM_DRIVER", L"C:\\gr\u00fcn \u732b\\nvcuda.dll"));
    CUresult result = cushim_load(NULL);
    SetEnvironmentVariableW(L"CUSHIM_DRIVER", NULL);
    assert_int_equal(result, CUDA_ERROR_FILE_NOT_FOUND);
    assert_string_equal(cushim_diagnosis_get()->variables[0].value, "C:\\gr\xc3\xbcn \xe7\x8c\xab\\nvcuda.dll");
}

enum { THREADS = 64 };

static DWORD WINAPI call_first(void *start)
{
    WaitForSingleObject(start, INFINITE);
    int version = 0;
    CUresult result = cushim_table()->DriverGetVersion_v1(&version);
    return result == CUDA_SUCCESS ? (DWORD)version : 0;
}

UNIT_TEST(test_first_call_when_64_threads_make_it_then_one_loads)
{
    HANDLE start = CreateEventW(NULL, TRUE, FALSE, NULL);
    HANDLE threads[THREADS];
    unit_set_variable("CUSHIM_DRIVER", unit_fake("fake_12040"));
    for (int i = 0; i < THREADS; i++)
        threads[i] = CreateThread(NULL, 0, call_first, start, 0, NULL);
    SetEvent(start);
    assert_int_equal(WaitForMultipleObjects(THREADS, threads, TRUE, 60000), WAIT_OBJECT_0);
    for (int i = 0; i < THREADS; i++) {
        DWORD version;
        assert_true(GetExitCodeThread(threads[i], &version));
        assert_int_equal(version, 12040);
        CloseHandle(threads[i]);
    }
    CloseHandle(start);
    assert_int_equal(cushim_diagnosis_get()->attempt_count, 1);
}

UNIT_TEST(test_library_when_the_program_frees_it_then_its_table_stays)
{
    HMODULE cushim = LoadLibraryA(CUSHIM_DLL);
    assert_non_null(cushim);
    union {
        FARPROC address;
        CUresult (*load)(const struct cushim_load_options *);
        const struct cushim_dispatch_table *(*table)(void);
    } load = {GetProcAddress(cushim, "cushim_load")}, table = {GetProcAddress(cushim, "cushim_current_legacy_0_2")};
    struct cushim_load_options options = {.path = unit_fake("fake_12040")};
    assert_int_equal(load.load(&options), CUDA_SUCCESS);
    const struct cushim_dispatch_table *kept = table.table();
    FreeLibrary(cushim);
    FreeLibrary(cushim);
    int version = 0;
    assert_int_equal(kept->DriverGetVersion_v1(&version), CUDA_SUCCESS);
    assert_int_equal(version, 12040);
    assert_int_equal(kept->StreamGetDevice_v1(NULL, NULL),
                     CUDA_ERROR_INVALID_VALUE); /* a polyfill, in the DLL itself */
}

/* A DLL with a static copy of cushim that found no driver: its diagnosis remains readable. */
UNIT_TEST(test_copy_when_the_program_frees_it_after_a_failed_load_then_it_stays)
{
    HMODULE copy = LoadLibraryA(COPY_DLL);
    assert_non_null(copy);
    union {
        FARPROC address;
        __typeof__(copy_get) *get;
    } get = {GetProcAddress(copy, "copy_get")};
    assert_non_null(get.get);
    struct cushim_load_options options = {.path = FAKES "/nowhere.dll"};
    assert_int_equal(get.get()->load(&options), CUDA_ERROR_FILE_NOT_FOUND);
    const struct cushim_diagnosis *kept = get.get()->diagnosis();
    FreeLibrary(copy);
    FreeLibrary(copy);
    assert_ptr_equal(GetModuleHandleA(COPY_DLL), copy);
    assert_int_equal(kept->reason, CUSHIM_REASON_NO_SUCH_FILE);
    assert_string_equal(kept->attempts[0].path, options.path);
}

UNIT_TEST(test_system_when_queried_on_windows_then_empty)
{
    static const struct cushim_system nothing;
    static const char *const roots[] = {NULL, "", "/", "C:\\"};
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
        struct cushim_system system;
        memset(&system, 0xff, sizeof system);
        cushim_system_get_info(roots[i], &system);
        assert_int_equal(memcmp(&system, &nothing, sizeof system), 0);
    }
}

static CUresult init_code;

static CUresult CUDAAPI failing_init(unsigned flags)
{
    (void)flags;
    return init_code;
}

/* Neither device files nor trials: only what the code itself says is certain. */
MOCK_TEST(test_start_when_it_fails_on_windows_then_the_code_alone_decides)
{
    static const struct {
        CUresult code;
        enum cushim_reason reason;
    } rows[] = {{CUDA_ERROR_NO_DEVICE, CUSHIM_REASON_NO_DEVICE},
                {CUDA_ERROR_OPERATING_SYSTEM, CUSHIM_REASON_UNKNOWN},
                {CUDA_ERROR_UNKNOWN, CUSHIM_REASON_UNKNOWN},
                {CUDA_ERROR_SYSTEM_NOT_READY, CUSHIM_REASON_NOT_READY}};
    mock_load("fake_12040", (struct cushim_load_options){.max_version = 0})->Init_v1 = failing_init;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        init_code = rows[i].code;
        assert_int_equal(cushim_table()->Init_v1(0), rows[i].code);
        assert_int_equal(cushim_diagnosis_get()->reason, rows[i].reason);
    }
}
