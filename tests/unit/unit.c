/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <stdlib.h>

#include "load.h"
#include "os.h"

#if defined(_WIN32)
#    define SUFFIX ".dll"
#else
#    define SUFFIX ".so"
#endif

static bool skipped;

void unit_skip(const char *why)
{
    print_message("skipped: %s\n", why);
    skipped = true;
}

bool unit_runs_under_valgrind(void)
{
    const char *preloaded = getenv("LD_PRELOAD");
    return preloaded != NULL && strstr(preloaded, "valgrind") != NULL;
}

int main(void)
{
    if (test_list_run() != 0)
        return 1;
    return skipped ? 77 : 0;
}

void unit_set_variable(const char *name, const char *value)
{
#if defined(_WIN32)
    _putenv_s(name, value != NULL ? value : "");
#else
    if (value != NULL)
        setenv(name, value, 1);
    else
        unsetenv(name);
#endif
}

int unit_reset(void **state)
{
    static const char *const variables[] = {"CUSHIM_DRIVER",   "CUSHIM_MAX_VERSION", "CUSHIM_HIDE",
                                            "CUSHIM_LAYERS",   "CUSHIM_LOG",         "CUDA_VISIBLE_DEVICES",
                                            "LD_LIBRARY_PATH", "CUDA_DEVICE_ORDER",  "CUDA_MPS_PIPE_DIRECTORY"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        unit_set_variable(variables[i], NULL);
    cush_load_reset_for_tests();
    return 0;
}

const char *unit_fake(const char *name)
{
    static char paths[4][1024];
    static unsigned next;
    char *path = paths[next++ % 4];
    char place[sizeof paths[0]];
    snprintf(place, sizeof place, "%s/%s" SUFFIX, FAKES, name);
#if defined(_WIN32) /* in the spelling of the system */
    assert_non_null(_fullpath(path, place, sizeof paths[0]));
#else
    strcpy(path, place);
#endif
    return path;
}

void unit_load(const char *name, struct cushim_load_options options)
{
    options.path = unit_fake(name);
    CUresult result = cushim_load(&options);
    if (result != CUDA_SUCCESS)
        fail_msg("%s: %s", options.path, cushim_diagnosis_get()->message);
}

void unit_load_plain(const char *name)
{
    unit_load(name, (struct cushim_load_options){0});
}

CUresult unit_load_path(const char *path)
{
    return cushim_load(&(struct cushim_load_options){.path = path});
}

void *unit_open(const char *name)
{
    char error[512];
    void *library = NULL;
    if (cush_os_library_open(unit_fake(name), &library, error, sizeof error) != OS_LIBRARY_OPEN)
        fail_msg("%s: %s", unit_fake(name), error);
    return library;
}

cushim_fn unit_function(const char *name, const char *symbol)
{
    cushim_fn function = cush_os_library_symbol(unit_open(name), symbol);
    if (function == NULL)
        fail_msg("%s has no %s", name, symbol);
    return function;
}

void *unit_object(const char *name, const char *symbol)
{
    union {
        cushim_fn function;
        void *object;
    } found = {unit_function(name, symbol)};
    return found.object;
}

enum cushim_slot_state unit_state(enum cushim_slot slot)
{
    struct cushim_slot_info info;
    assert_int_equal(cushim_slot_get_info(slot, CUSHIM_DEFAULT_STREAM_LEGACY, &info), CUDA_SUCCESS);
    return info.state;
}

const struct cushim_dispatch_table *unit_table(enum cushim_default_stream kind)
{
    return kind == CUSHIM_DEFAULT_STREAM_LEGACY ? cushim_table_legacy() : cushim_table_per_thread();
}

cushim_fn unit_pointer(enum cushim_slot slot, enum cushim_default_stream kind)
{
    cushim_fn pointers[CUSHIM_SLOT_COUNT];
    memcpy(pointers, unit_table(kind), sizeof pointers);
    return pointers[slot];
}

CUresult unit_call(cushim_fn fn)
{
    union {
        cushim_fn fn;
        CUresult(CUDAAPI *call)(void);
    } function = {fn};
    return function.call();
}

CUresult unit_native_result(enum cushim_slot slot, enum cushim_default_stream kind)
{
    switch (slot) {
    case CUSHIM_SLOT_Init_v1:
        return CUDA_SUCCESS;
    case CUSHIM_SLOT_DriverGetVersion_v1:
    case CUSHIM_SLOT_GetProcAddress_v1:
    case CUSHIM_SLOT_GetProcAddress_v2:
        return CUDA_ERROR_INVALID_VALUE;
    default:
        break;
    }
    size_t index = cush_symbols_index(slot);
    return FAKE_CODE(index, kind == CUSHIM_DEFAULT_STREAM_PER_THREAD
                                && cush_symbols_entry(index).per_thread_ending[0] != '\0');
}

CUresult unit_lookup_kind(const char *function, int version, enum cushim_default_stream kind)
{
    cushim_fn fn = NULL;
    CUresult result = cushim_lookup(function, version, kind, &fn);
    assert_int_equal(result == CUDA_SUCCESS, fn != NULL);
    if (result == CUDA_SUCCESS)
        return unit_call(fn);
    assert_int_equal(cushim_error_last()->code, result);
    assert_string_equal(cushim_error_last()->function, "cushim_lookup");
    assert_string_not_equal(cushim_error_last()->message, "");
    return result;
}

CUresult unit_lookup(const char *function, int version)
{
    return unit_lookup_kind(function, version, CUSHIM_DEFAULT_STREAM_LEGACY);
}

void unit_assert_contains(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("\"%s\" does not contain \"%s\"", text, part);
}

void unit_assert_failed(CUresult result, enum cushim_reason reason, CUresult code)
{
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    int version = -1;
    int count = -1;
    assert_int_equal(result, code);
    assert_int_equal(diagnosis->reason, reason);
    assert_int_equal(diagnosis->code, code);
    assert_string_not_equal(diagnosis->message, "");
    assert_string_not_equal(diagnosis->advice, "");
    assert_int_equal(cushim_error_last()->code, code);
    assert_string_equal(cushim_error_last()->function, "cushim_load");
    assert_string_equal(cushim_error_last()->message, diagnosis->message);
    assert_int_equal(cushim_driver_version(), 0);
    assert_int_equal(cushim_table()->Init_v1(0), CUDA_ERROR_NO_DEVICE);
    assert_int_equal(cushim_table()->DriverGetVersion_v1(&version), CUDA_SUCCESS);
    assert_int_equal(version, 0);
    assert_int_equal(cushim_table()->DeviceGetCount_v1(&count), CUDA_SUCCESS);
    assert_int_equal(count, 0);
}
