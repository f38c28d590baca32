/* SPDX-License-Identifier: MIT */
/* cushim_lookup() and cushim_symbol_name(): the results of cuGetProcAddress, on every driver. */
#include "unit.h"

#include <stdlib.h>

/* tests/drivers compares every entry point at every version with a driver. This driver has the newest ones. */
UNIT_TEST(test_lookup_when_each_entry_point_is_looked_up_at_its_version_then_it_is_found)
{
    unit_load_plain(FAKE_OF_LIST_VERSION);
    for (size_t index = 0; index < ENTRY_COUNT; index++) {
        struct cushim_entry_point entry = cush_symbols_entry(index);
        bool needs_arguments = index == ENTRY_Init_v1 || index == ENTRY_DriverGetVersion_v1
                               || index == ENTRY_GetProcAddress_v1
                               || index == ENTRY_GetProcAddress_v2; /* without arguments they crash */
        if (!needs_arguments)
            assert_int_equal(unit_lookup(entry.function, entry.since),
                             cush_symbols_is_elsewhere(index) ? CUDA_ERROR_NOT_FOUND : (CUresult)FAKE_CODE(index, 0));
    }
}

UNIT_TEST(test_lookup_when_arguments_are_bad_then_refused_and_nothing_is_written)
{
    static const int versions[] = {-1, 0, 1, 1999, 12041, 12050, 2147483647};
    cushim_fn untouched = (cushim_fn)abort;
    cushim_fn fn = untouched;
    unit_load_plain("fake_12040");
    assert_int_equal(cushim_lookup(NULL, 12040, CUSHIM_DEFAULT_STREAM_LEGACY, &fn), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cushim_lookup("cuInit", 12040, CUSHIM_DEFAULT_STREAM_COUNT, &fn), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cushim_lookup("cuInit", 12040, CUSHIM_DEFAULT_STREAM_LEGACY, NULL), CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++)
        assert_int_equal(cushim_lookup("cuStreamQuery", versions[i], CUSHIM_DEFAULT_STREAM_LEGACY, &fn),
                         CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cushim_lookup("cuNoSuchThing", 12040, CUSHIM_DEFAULT_STREAM_LEGACY, &fn), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(cushim_lookup("cuStreamGetId", 11000, CUSHIM_DEFAULT_STREAM_LEGACY, &fn), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(cushim_lookup("", 12040, CUSHIM_DEFAULT_STREAM_LEGACY, &fn), CUDA_ERROR_NOT_FOUND);
    assert_true(fn == untouched);
}

UNIT_TEST(test_lookup_when_no_driver_exists_then_returns_no_device)
{
    unit_set_variable("CUSHIM_DRIVER", "none");
    assert_int_equal(unit_lookup("cuStreamQuery", 12040), CUDA_ERROR_NO_DEVICE);
}

UNIT_TEST(test_lookup_when_nothing_was_loaded_then_it_loads)
{
    unit_set_variable("CUSHIM_DRIVER", unit_fake("fake_12040"));
    assert_int_equal(unit_lookup("cuStreamQuery", 12040), FAKE_CODE(ENTRY_StreamQuery_v1, 0));
}

UNIT_TEST(test_lookup_when_a_suffixed_symbol_is_given_then_not_found)
{
    static const char *const drivers[] = {"fake_9010", "fake_11040", "fake_12040"};
    static const char *const symbols[] = {"cuStreamDestroy_v2", "cuStreamQuery_ptsz", "cuCtxCreate_v2", "StreamQuery"};
    for (size_t i = 0; i < sizeof drivers / sizeof drivers[0]; i++) {
        unit_reset(state);
        unit_load_plain(drivers[i]);
        for (size_t j = 0; j < sizeof symbols / sizeof symbols[0]; j++)
            assert_int_equal(unit_lookup(symbols[j], 9010), CUDA_ERROR_NOT_FOUND);
    }
}

/* dlsym() also searches the libraries that a library needs, libc among them. */
UNIT_TEST(test_lookup_when_the_name_is_another_librarys_then_not_found)
{
    static const char *const drivers[] = {"fake_9010", "fake_12040"};
    static const char *const names[] = {"malloc", "free", "strcmp"};
    for (size_t i = 0; i < sizeof drivers / sizeof drivers[0]; i++) {
        unit_reset(state);
        unit_load_plain(drivers[i]);
        for (size_t j = 0; j < sizeof names / sizeof names[0]; j++) {
            cushim_fn fn = NULL;
            assert_int_equal(cushim_lookup(names[j], 9010, CUSHIM_DEFAULT_STREAM_LEGACY, &fn), CUDA_ERROR_NOT_FOUND);
            assert_null(fn);
        }
    }
}

UNIT_TEST(test_lookup_when_nothing_is_found_then_the_answer_is_exact)
{
    static const struct {
        const char *driver, *hide;
        int limit;
        const char *name;
        int version;
        enum cushim_lookup_status status;
        int since;
        const char *function;
        CUresult code;
        const char *part, *other_part, *third_part; /* of the sentence */
    } scenarios[] = {
        {"fake_12040", NULL, 0, "cuNoSuchThing", 12040, CUSHIM_LOOKUP_UNKNOWN, 0, NULL, CUDA_ERROR_NOT_FOUND,
         "cuNoSuchThing", "12.4", "Neither"},
        {"fake_9010", NULL, 0, "cuNoSuchThing", 9000, CUSHIM_LOOKUP_UNKNOWN, 0, NULL, CUDA_ERROR_NOT_FOUND,
         "cuNoSuchThing", "9.1", "Neither"},
        {"fake_12040", NULL, 0, "cuStreamDestroy_v2", 12040, CUSHIM_LOOKUP_SUFFIXED, 4000, "cuStreamDestroy",
         CUDA_ERROR_NOT_FOUND, "cuStreamDestroy_v2 ", "look up cuStreamDestroy with", "4.0"},
        {"fake_9010", NULL, 0, "cuStreamQuery_ptsz", 9010, CUSHIM_LOOKUP_SUFFIXED, 2000, "cuStreamQuery",
         CUDA_ERROR_NOT_FOUND, "cuStreamQuery_ptsz ", "look up cuStreamQuery with", "2.0"},
        {"fake_12040", NULL, 0, "cuStreamGetId", 11040, CUSHIM_LOOKUP_TOO_NEW, 12000, "cuStreamGetId",
         CUDA_ERROR_NOT_FOUND, "cuStreamGetId", "added in CUDA 12.0", "CUDA 11.4 was requested"},
        {"fake_12040", "cuStreamGetId", 0, "cuStreamGetId", 12040, CUSHIM_LOOKUP_HIDDEN, 12000, "cuStreamGetId",
         CUDA_ERROR_NOT_FOUND, "cuStreamGetId", "hidden", "added in CUDA 12.0"},
        {"fake_12040", NULL, 11040, "cuStreamGetId", 12000, CUSHIM_LOOKUP_LIMITED, 12000, "cuStreamGetId",
         CUDA_ERROR_INVALID_VALUE, "the version limit is CUDA 11.4", "this driver is CUDA 12.4", "added in CUDA 12.0"},
        {"fake_11040", NULL, 11000, "cuStreamGetId", 12000, CUSHIM_LOOKUP_DRIVER_TOO_OLD, 12000, "cuStreamGetId",
         CUDA_ERROR_INVALID_VALUE, "CUDA 12.0 was requested", "this driver is CUDA 11.4", "added in CUDA 12.0"},
        {"fake_12040", NULL, 0, "cuStreamQuery", 1999, CUSHIM_LOOKUP_BAD_VERSION, 2000, "cuStreamQuery",
         CUDA_ERROR_INVALID_VALUE, "12030", "12.3", "version"},
    };
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        struct cushim_lookup_answer answer = {.fn = (cushim_fn)abort};
        unit_reset(state);
        unit_load(scenarios[i].driver,
                  (struct cushim_load_options){.hide = scenarios[i].hide, .max_version = scenarios[i].limit});
        assert_int_equal(
            cushim_lookup_explain(scenarios[i].name, scenarios[i].version, CUSHIM_DEFAULT_STREAM_LEGACY, &answer),
            CUDA_SUCCESS);
        assert_int_equal(answer.status, scenarios[i].status);
        assert_int_equal(answer.since, scenarios[i].since);
        assert_true(answer.fn == NULL);
        if (scenarios[i].function != NULL)
            assert_string_equal(answer.function, scenarios[i].function);
        else
            assert_null(answer.function);
        assert_int_equal(unit_lookup(scenarios[i].name, scenarios[i].version), scenarios[i].code);
        unit_assert_contains(cushim_error_last()->message, scenarios[i].part);
        unit_assert_contains(cushim_error_last()->message, scenarios[i].other_part);
        unit_assert_contains(cushim_error_last()->message, scenarios[i].third_part);
    }
}

/* Of cuMemcpy2D, the entry point of CUDA 2.0 has no per-thread variant, and that of 3.2 has one, from CUDA 7.0 on. */
UNIT_TEST(test_lookup_when_the_old_version_has_no_per_thread_form_then_the_function_is_too_new)
{
    struct cushim_lookup_answer answer;
    unit_load_plain("fake_12040");
    assert_int_equal(cushim_lookup_explain("cuMemcpy2D", 2000, CUSHIM_DEFAULT_STREAM_PER_THREAD, &answer),
                     CUDA_SUCCESS);
    assert_int_equal(answer.status, CUSHIM_LOOKUP_TOO_NEW);
    assert_int_equal(unit_lookup_kind("cuMemcpy2D", 2000, CUSHIM_DEFAULT_STREAM_PER_THREAD), CUDA_ERROR_NOT_FOUND);
    unit_assert_contains(cushim_error_last()->message,
                         "cuMemcpy2D for per-thread default streams was added in CUDA 7.0");
    assert_int_equal(unit_lookup("cuMemcpy2D", 2000), FAKE_CODE(ENTRY_Memcpy2D_v1, 0));
    assert_int_equal(unit_lookup_kind("cuMemcpy2D", 7000, CUSHIM_DEFAULT_STREAM_PER_THREAD),
                     FAKE_CODE(ENTRY_Memcpy2D_v2, 1));
}

UNIT_TEST(test_lookup_explain_when_found_or_no_driver_exists_then_status_says_so)
{
    struct cushim_lookup_answer answer;
    unit_load_plain("fake_12040");
    assert_int_equal(cushim_lookup_explain("cuStreamGetId", 12040, CUSHIM_DEFAULT_STREAM_LEGACY, &answer),
                     CUDA_SUCCESS);
    assert_int_equal(answer.status, CUSHIM_LOOKUP_FOUND);
    assert_int_equal(answer.since, 12000);
    assert_int_equal(unit_call(answer.fn), FAKE_CODE(ENTRY_StreamGetId_v1, 0));
    assert_int_equal(cushim_lookup_explain(NULL, 12040, CUSHIM_DEFAULT_STREAM_LEGACY, &answer),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cushim_lookup_explain("cuStreamGetId", 12040, CUSHIM_DEFAULT_STREAM_LEGACY, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    unit_reset(state);
    unit_set_variable("CUSHIM_DRIVER", "none");
    assert_int_equal(cushim_lookup_explain("cuStreamGetId", 12040, CUSHIM_DEFAULT_STREAM_LEGACY, &answer),
                     CUDA_SUCCESS);
    assert_int_equal(answer.status, CUSHIM_LOOKUP_NO_DRIVER);
    assert_int_equal(answer.since, 12000);
    assert_null(answer.fn);
}

UNIT_TEST(test_lookup_when_the_driver_is_newer_than_the_lists_then_queries_the_driver)
{
    unit_load_plain("fake_future");
    assert_int_equal(cushim_driver_version(), FAKE_FUTURE_VERSION);
    assert_int_equal(unit_lookup(FAKE_FUTURE_FUNCTION, FAKE_FUTURE_VERSION), FAKE_FUTURE_CODE);
    assert_int_equal(unit_lookup(FAKE_FUTURE_FUNCTION, CUSHIM_LIST_VERSION), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(unit_lookup(FAKE_FUTURE_ABI_FUNCTION, FAKE_FUTURE_VERSION), FAKE_FUTURE_ABI_CODE(0));
    assert_int_equal(unit_lookup(FAKE_FUTURE_ABI_FUNCTION, CUSHIM_LIST_VERSION), FAKE_CODE(ENTRY_StreamQuery_v1, 0));
    assert_int_equal(unit_lookup("cuStreamGetId", FAKE_FUTURE_VERSION), FAKE_CODE(ENTRY_StreamGetId_v1, 0));
    assert_int_equal(cushim_table()->StreamQuery_v1(NULL), FAKE_CODE(ENTRY_StreamQuery_v1, 0));
}

UNIT_TEST(test_lookup_when_a_newer_driver_is_per_thread_then_returns_its_new_forms)
{
    const enum cushim_default_stream kind = CUSHIM_DEFAULT_STREAM_PER_THREAD;
    unit_load_plain("fake_future");
    assert_int_equal(unit_lookup_kind(FAKE_FUTURE_ABI_FUNCTION, FAKE_FUTURE_VERSION, kind), FAKE_FUTURE_ABI_CODE(1));
    assert_int_equal(unit_lookup_kind(FAKE_FUTURE_ABI_FUNCTION, CUSHIM_LIST_VERSION, kind),
                     FAKE_CODE(ENTRY_StreamQuery_v1, 1));
}

UNIT_TEST(test_lookup_when_a_newer_driver_is_limited_then_the_new_is_hidden)
{
    unit_load("fake_future", (struct cushim_load_options){.max_version = CUSHIM_LIST_VERSION});
    assert_int_equal(unit_lookup(FAKE_FUTURE_FUNCTION, CUSHIM_LIST_VERSION), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(unit_lookup(FAKE_FUTURE_FUNCTION, FAKE_FUTURE_VERSION), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(unit_lookup(FAKE_FUTURE_ABI_FUNCTION, CUSHIM_LIST_VERSION), FAKE_CODE(ENTRY_StreamQuery_v1, 0));
}

/* Before cuGetProcAddress, a driver does not tell from which version on it has what no list names. */
UNIT_TEST(test_lookup_when_an_old_driver_is_limited_then_its_unlisted_exports_are_hidden)
{
    cushim_fn fn = NULL;
    unit_load_plain("fake_10000");
    assert_int_equal(cushim_lookup("fake_hooks", 10000, CUSHIM_DEFAULT_STREAM_LEGACY, &fn), CUDA_SUCCESS);
    unit_reset(state);
    unit_load("fake_10000", (struct cushim_load_options){.max_version = 9010});
    assert_int_equal(cushim_lookup("fake_hooks", 9010, CUSHIM_DEFAULT_STREAM_LEGACY, &fn), CUDA_ERROR_NOT_FOUND);
}

UNIT_TEST(test_lookup_when_the_list_errs_about_what_was_never_compared_then_the_driver_is_still_asked)
{
    *(enum fake_fault *)unit_object("fake_future", "fake_fault") = FAKE_LATER;
    unit_load_plain("fake_future");
    assert_int_equal(unit_lookup(FAKE_FUTURE_ABI_FUNCTION, FAKE_FUTURE_VERSION), FAKE_FUTURE_ABI_CODE(0));
    *(enum fake_fault *)unit_object("fake_future", "fake_fault") = FAKE_CORRECT;
}

UNIT_TEST(test_symbol_name_when_it_is_the_drivers_then_its_exact_name)
{
    cushim_fn fn = NULL;
    unit_load_plain("fake_12040");
    assert_int_equal(cushim_lookup("cuStreamGetCaptureInfo", 12030, CUSHIM_DEFAULT_STREAM_LEGACY, &fn), CUDA_SUCCESS);
    assert_string_equal(cushim_symbol_name(fn), "cuStreamGetCaptureInfo_v3");
}

UNIT_TEST(test_symbol_name_when_it_is_not_the_drivers_then_null)
{
    assert_null(cushim_symbol_name((cushim_fn)abort)); /* before any load */
    unit_load_plain("fake_12040");
    assert_null(cushim_symbol_name(NULL));
    assert_null(cushim_symbol_name((cushim_fn)abort));
    assert_null(cushim_symbol_name((cushim_fn)malloc));
    assert_null(cushim_symbol_name((cushim_fn)test_symbol_name_when_it_is_not_the_drivers_then_null));
    assert_null(
        cushim_symbol_name(unit_pointer(CUSHIM_SLOT_CtxCreate_v4, CUSHIM_DEFAULT_STREAM_LEGACY))); /* a polyfill */
}

UNIT_TEST(test_symbol_name_when_the_address_is_inside_a_function_then_null)
{
    union {
        cushim_fn fn;
        uintptr_t address;
    } inside;
    unit_load_plain("fake_12040");
    inside.fn = unit_pointer(CUSHIM_SLOT_StreamQuery_v1, CUSHIM_DEFAULT_STREAM_LEGACY);
    inside.address += 1;
    assert_null(cushim_symbol_name(inside.fn));
}

UNIT_TEST(test_symbol_when_listed_then_the_function_of_its_slot)
{
    static const struct {
        const char *symbol;
        enum cushim_slot slot;
        enum cushim_default_stream kind;
    } cases[] = {
        {"cuMemAlloc", CUSHIM_SLOT_MemAlloc_v1, CUSHIM_DEFAULT_STREAM_LEGACY},
        {"cuMemAlloc_v2", CUSHIM_SLOT_MemAlloc_v2, CUSHIM_DEFAULT_STREAM_LEGACY},
        {"cuStreamQuery", CUSHIM_SLOT_StreamQuery_v1, CUSHIM_DEFAULT_STREAM_LEGACY},
        {"cuStreamQuery_ptsz", CUSHIM_SLOT_StreamQuery_v1, CUSHIM_DEFAULT_STREAM_PER_THREAD},
        {"cuMemcpy2D_v2_ptds", CUSHIM_SLOT_Memcpy2D_v2, CUSHIM_DEFAULT_STREAM_PER_THREAD},
        {"cuStreamGetCaptureInfo_v3", CUSHIM_SLOT_StreamGetCaptureInfo_v3, CUSHIM_DEFAULT_STREAM_LEGACY},
        {"cuStreamGetCaptureInfo_v3_ptsz", CUSHIM_SLOT_StreamGetCaptureInfo_v3, CUSHIM_DEFAULT_STREAM_PER_THREAD},
        {"cuGetProcAddress", CUSHIM_SLOT_GetProcAddress_v1, CUSHIM_DEFAULT_STREAM_LEGACY},
    };
    static const struct cushim_load_options loads[] = {{0}, {.max_version = 12020}, {.hide = "cuStreamGetId"}};
    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++) {
        unit_reset(state);
        unit_load("fake_12040", loads[i]);
        for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
            assert_true(cushim_symbol(cases[k].symbol) == unit_pointer(cases[k].slot, cases[k].kind));
    }
}

UNIT_TEST(test_symbol_when_the_slot_is_missing_then_null_and_the_reason)
{
    unit_load("fake_12040", (struct cushim_load_options){.max_version = 11020, .hide = "StreamQuery"});
    assert_true(cushim_symbol("cuStreamGetId") == NULL);
    unit_assert_contains(cushim_error_last()->message, "needs CUDA 12.0");
    assert_true(cushim_symbol("cuStreamQuery") == NULL);
    unit_assert_contains(cushim_error_last()->message, "hidden");
    assert_true(cushim_symbol("cuMemcpy2D") != NULL);
    assert_true(cushim_symbol("cuStreamGetCaptureInfo_v2") != NULL); /* a polyfill */
    assert_true(cushim_symbol("cuNoSuchThing") == NULL);
    assert_int_equal(cushim_error_last()->code, CUDA_ERROR_NOT_FOUND);
    char long_name[200] = "";
    memset(long_name, 'c', sizeof long_name - 1);
    assert_true(cushim_symbol(long_name) == NULL);
    assert_true(cushim_symbol("") == NULL);
    assert_true(cushim_symbol(NULL) == NULL);
    assert_int_equal(cushim_error_last()->code, CUDA_ERROR_INVALID_VALUE);
}

UNIT_TEST(test_symbol_when_not_listed_then_the_driver_is_asked_unless_hidden_or_limited)
{
    const char *newer = FAKE_FUTURE_ABI_FUNCTION "_v2";
    unit_load_plain("fake_future");
    assert_int_equal(unit_call(cushim_symbol(FAKE_FUTURE_FUNCTION)), FAKE_FUTURE_CODE);
    assert_int_equal(unit_call(cushim_symbol(newer)), FAKE_FUTURE_ABI_CODE(0));
    assert_true(cushim_symbol("malloc") == NULL);
    unit_reset(NULL);
    unit_load("fake_future", (struct cushim_load_options){.hide = FAKE_FUTURE_ABI_FUNCTION});
    assert_true(cushim_symbol(FAKE_FUTURE_FUNCTION) != NULL);
    assert_true(cushim_symbol(newer) == NULL);
    unit_reset(NULL);
    unit_load("fake_future", (struct cushim_load_options){.max_version = 12040});
    assert_true(cushim_symbol(FAKE_FUTURE_FUNCTION) == NULL);
}

UNIT_TEST(test_symbol_when_no_driver_exists_then_the_function_of_the_null_driver)
{
    unit_set_variable("CUSHIM_DRIVER", "none");
    cushim_fn query = cushim_symbol("cuStreamQuery_ptsz");
    assert_int_equal(cushim_diagnosis_get()->reason, CUSHIM_REASON_NOT_WANTED);
    assert_true(query == unit_pointer(CUSHIM_SLOT_StreamQuery_v1, CUSHIM_DEFAULT_STREAM_PER_THREAD));
    assert_int_equal(unit_call(query), CUDA_ERROR_NO_DEVICE);
    assert_true(cushim_symbol("cuNoSuchThing") == NULL);
}

/* Names of functions that succeed in the null driver. */
static bool is_answered_without_a_driver(const char *symbol)
{
    return strcmp(symbol, "cuDriverGetVersion") == 0 || strcmp(symbol, "cuDeviceGetCount") == 0
           || strcmp(symbol, "cuGetErrorName") == 0 || strcmp(symbol, "cuGetErrorString") == 0;
}

UNIT_TEST(test_symbol_if_available_when_no_driver_exists_then_null_unless_the_call_succeeds)
{
    struct cushim_entry_point entry;
    unit_set_variable("CUSHIM_DRIVER", "none");
    for (size_t i = 0; cushim_entry_point_get_info(i, &entry) == CUDA_SUCCESS; i++) {
        cushim_fn fn = cushim_symbol(entry.symbol);
        if (is_answered_without_a_driver(entry.symbol)) {
            assert_true(cushim_symbol_if_available(entry.symbol) == fn);
            continue;
        }
        assert_int_equal(unit_call(fn), CUDA_ERROR_NO_DEVICE);
        assert_true(cushim_symbol_if_available(entry.symbol) == NULL);
        assert_string_equal(cushim_error_last()->function, entry.symbol);
        unit_assert_contains(cushim_error_last()->message, "No CUDA driver is loaded");
        char variant[CUSHIM_SLOT_NAME_SIZE];
        snprintf(variant, sizeof variant, "%s%s", entry.symbol, entry.per_thread_ending);
        assert_true(cushim_symbol_if_available(variant) == NULL);
    }
    assert_true(cushim_symbol_if_available("cuNoSuchThing") == NULL);
    assert_int_equal(cushim_error_last()->code, CUDA_ERROR_NOT_FOUND);
    assert_true(cushim_symbol_if_available(NULL) == NULL);
    assert_string_equal(cushim_error_last()->function, "cushim_symbol_if_available");
}

UNIT_TEST(test_symbol_if_available_when_a_driver_is_loaded_then_as_symbol)
{
    static const char *const drivers[] = {"fake_6050", "fake_11040", "fake_13000"};
    struct cushim_entry_point entry;
    for (size_t k = 0; k < sizeof drivers / sizeof drivers[0]; k++) {
        size_t missing = 0;
        unit_reset(state);
        unit_load_plain(drivers[k]);
        for (size_t i = 0; cushim_entry_point_get_info(i, &entry) == CUDA_SUCCESS; i++) {
            cushim_fn fn = cushim_symbol_if_available(entry.symbol);
            missing += fn == NULL;
            assert_true(fn == cushim_symbol(entry.symbol));
        }
        assert_true(missing > 0 && missing < 500);
    }
}

/* The exported name of the newest ABI version of a function up to a CUDA version. */
static const char *newest_symbol(const char *function, int version)
{
    struct cushim_entry_point entry;
    const char *symbol = NULL;
    int newest = 0;
    for (size_t i = 0; cushim_entry_point_get_info(i, &entry) == CUDA_SUCCESS; i++) {
        if (strcmp(entry.function, function) == 0 && entry.since <= version && entry.since >= newest) {
            newest = entry.since;
            symbol = entry.symbol;
        }
    }
    return symbol;
}

UNIT_TEST(test_function_if_available_when_asked_for_a_version_then_its_newest_abi_or_a_polyfill)
{
    static const char *const drivers[] = {"none", "fake_6050", "fake_11040", "fake_13000"};
    static const int versions[] = {6050, 11030, 13050};
    struct cushim_entry_point entry;
    for (size_t k = 0; k < sizeof drivers / sizeof drivers[0]; k++) {
        unit_reset(state);
        if (k == 0)
            unit_set_variable("CUSHIM_DRIVER", "none");
        else
            unit_load_plain(drivers[k]);
        for (size_t i = 0; cushim_entry_point_get_info(i, &entry) == CUDA_SUCCESS; i++) {
            for (size_t j = 0; j < sizeof versions / sizeof versions[0]; j++) {
                const char *symbol = newest_symbol(entry.function, versions[j]);
                cushim_fn fn = cushim_function_if_available(entry.function, versions[j], CUSHIM_DEFAULT_STREAM_LEGACY);
                assert_true(fn == (symbol != NULL ? cushim_symbol_if_available(symbol) : NULL));
            }
        }
    }
}

UNIT_TEST(test_function_if_available_when_the_driver_is_older_then_the_polyfill_of_the_kind)
{
    unit_load_plain("fake_9010");
    cushim_fn legacy = cushim_function_if_available("cuLaunchHostFunc", 12000, CUSHIM_DEFAULT_STREAM_LEGACY);
    cushim_fn per_thread = cushim_function_if_available("cuLaunchHostFunc", 12000, CUSHIM_DEFAULT_STREAM_PER_THREAD);
    assert_true(legacy == cushim_symbol("cuLaunchHostFunc") && legacy != NULL);
    assert_true(per_thread == cushim_symbol("cuLaunchHostFunc_ptsz") && per_thread != legacy);
    assert_true(cushim_function_if_available("cuStreamGetId", 12000, CUSHIM_DEFAULT_STREAM_LEGACY) == NULL);
    unit_assert_contains(cushim_error_last()->message, "cuStreamGetId needs CUDA 12.0");
    assert_true(cushim_function_if_available("cuNoSuchThing", 12000, CUSHIM_DEFAULT_STREAM_LEGACY) == NULL);
    assert_true(cushim_function_if_available(NULL, 12000, CUSHIM_DEFAULT_STREAM_LEGACY) == NULL);
    assert_true(cushim_function_if_available("cuInit", 12000, CUSHIM_DEFAULT_STREAM_COUNT) == NULL);
    assert_int_equal(cushim_error_last()->code, CUDA_ERROR_INVALID_VALUE);
}

UNIT_TEST(test_table_get_when_called_then_the_current_table_of_the_kind)
{
    unit_load_plain("fake_12040");
    assert_ptr_equal(cushim_table_get(CUSHIM_DEFAULT_STREAM_LEGACY), cushim_table_legacy());
    assert_ptr_equal(cushim_table_get(CUSHIM_DEFAULT_STREAM_PER_THREAD), cushim_table_per_thread());
    assert_null(cushim_table_get(CUSHIM_DEFAULT_STREAM_COUNT));
}
