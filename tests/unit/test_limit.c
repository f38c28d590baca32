/* SPDX-License-Identifier: MIT */
/* Version limit, hidden functions and minimum version: the table, lookups, the driver's own lookup and the reported
 * version obey them. */
#include "os.h"
#include "unit.h"

static void load_limited(const char *name, int limit)
{
    unit_load(name, (struct cushim_load_options){.max_version = limit});
}

static void load_hidden(const char *name, const char *hide)
{
    unit_load(name, (struct cushim_load_options){.hide = hide});
}

/* The result of the slots of cuGetProcAddress: the code of the function that was found, or the error. Both versions
 * agree. */
static CUresult look_up_slot(const char *function, int version)
{
    const struct cushim_dispatch_table *table = cushim_table_legacy();
    union {
        void *object;
        cushim_fn fn;
    } found = {NULL};
    union {
        void *object;
        cushim_fn fn;
    } newer = {&found};
    CUdriverProcAddressQueryResult status = (CUdriverProcAddressQueryResult)4711;
    CUresult result = table->GetProcAddress_v1(function, &found.object, version, 0);
    if (cushim_driver_version() < 12000)
        return result != CUDA_SUCCESS ? result : unit_call(found.fn);
    CUresult newer_result = table->GetProcAddress_v2(function, &newer.object, version, 0, &status);
    if (result == CUDA_ERROR_NOT_FOUND) {
        assert_int_equal(newer_result, CUDA_SUCCESS);
        assert_null(found.object);
        assert_null(newer.object);
        assert_int_not_equal(status, CU_GET_PROC_ADDRESS_SUCCESS);
        return result;
    }
    assert_int_equal(newer_result, result);
    if (result != CUDA_SUCCESS)
        return result;
    assert_ptr_equal(found.object, newer.object);
    assert_int_equal(status, CU_GET_PROC_ADDRESS_SUCCESS);
    return unit_call(found.fn);
}

UNIT_TEST(test_limit_when_below_the_driver_then_the_version_is_the_limit)
{
    int version = 0;
    load_limited("fake_13000", 11020);
    assert_int_equal(cushim_driver_version(), 11020);
    assert_int_equal(cushim_table()->DriverGetVersion_v1(&version), CUDA_SUCCESS);
    assert_int_equal(version, 11020);
    assert_int_equal(unit_state(CUSHIM_SLOT_DriverGetVersion_v1), CUSHIM_STATE_ADAPTED);
    assert_int_equal(cushim_diagnosis_get()->cuda_version, 13000);
    assert_int_equal(cushim_table()->DriverGetVersion_v1(NULL), CUDA_ERROR_INVALID_VALUE);
}

UNIT_TEST(test_limit_when_not_below_the_driver_then_it_changes_nothing)
{
    static const int limits[] = {12040, 12050, 13000, 999990};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        int version = 0;
        unit_reset(state);
        load_limited("fake_12040", limits[i]);
        assert_int_equal(cushim_driver_version(), 12040);
        assert_int_equal(cushim_table()->DriverGetVersion_v1(&version), CUDA_SUCCESS);
        assert_int_equal(version, 12040);
        assert_int_equal(unit_state(CUSHIM_SLOT_DriverGetVersion_v1), CUSHIM_STATE_NATIVE);
        assert_int_equal(unit_state(CUSHIM_SLOT_GetProcAddress_v2), CUSHIM_STATE_NATIVE);
    }
}

/* The rules themselves are in test_polyfill.c. */
UNIT_TEST(test_limit_when_below_the_version_of_a_rule_then_the_polyfill_calls_what_the_older_rule_has)
{
    struct cushim_slot_info info;
    load_limited("fake_12040", 12030);
    assert_int_equal(cushim_slot_get_info(CUSHIM_SLOT_StreamGetCtx_v2, CUSHIM_DEFAULT_STREAM_LEGACY, &info),
                     CUDA_SUCCESS);
    assert_int_equal(info.state, CUSHIM_STATE_POLYFILL);
    assert_int_equal(info.via_count, 1);
    assert_int_equal(info.via[0], CUSHIM_SLOT_StreamGetCtx_v1);
}

UNIT_TEST(test_limited_lookup_when_arguments_are_bad_then_refused)
{
    const struct cushim_dispatch_table *table;
    CUdriverProcAddressQueryResult status;
    void *found = &status;
    load_limited("fake_13000", 12020);
    table = cushim_table();
    assert_int_equal(table->GetProcAddress_v1(NULL, &found, 12020, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(table->GetProcAddress_v1("cuInit", NULL, 12020, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(table->GetProcAddress_v1("cuInit", &found, 12020, 4), CUDA_ERROR_INVALID_VALUE);
    assert_ptr_equal(found, &status);
    assert_int_equal(table->GetProcAddress_v2("cuInit", &found, 12020, 0, NULL), CUDA_SUCCESS);
}

UNIT_TEST(test_limited_lookup_when_not_found_then_the_status_tells_why)
{
    CUdriverProcAddressQueryResult status;
    void *found = &status;
    load_limited("fake_13000", 12020);
    assert_int_equal(cushim_table()->GetProcAddress_v2("cuNoSuchThing", &found, 12020, 0, &status), CUDA_SUCCESS);
    assert_null(found);
    assert_int_equal(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    assert_int_equal(cushim_table()->GetProcAddress_v2("cuStreamGetId", &found, 11000, 0, &status), CUDA_SUCCESS);
    assert_null(found);
    assert_int_equal(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    /* A driver for CUDA 12.2 has never heard of a function of CUDA 12.8. */
    assert_int_equal(cushim_table()->GetProcAddress_v2("cuStreamGetDevice", &found, 12020, 0, &status), CUDA_SUCCESS);
    assert_null(found);
    assert_int_equal(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    found = &status;
    assert_int_equal(cushim_table()->GetProcAddress_v1("cuStreamGetId", &found, 11000, 0), CUDA_ERROR_NOT_FOUND);
    assert_ptr_equal(found, &status);
}

/* As observed with drivers 470, 535, 550 and 555, which answer, and with 580, which refuses. */
UNIT_TEST(test_limited_lookup_when_the_version_is_above_the_drivers_then_as_a_driver_of_that_version)
{
    static const struct {
        int limit, version;
        CUresult result;
    } cases[] = {
        {11040, 11050, FAKE_CODE(ENTRY_StreamGetCaptureInfo_v2, 0)},
        {12020, 12030, FAKE_CODE(ENTRY_StreamGetCaptureInfo_v2, 0)},
        {12020, 999990, FAKE_CODE(ENTRY_StreamGetCaptureInfo_v2, 0)},
        {12040, 13000, FAKE_CODE(ENTRY_StreamGetCaptureInfo_v3, 0)},
        {13000, 13010, CUDA_ERROR_INVALID_VALUE},
        {12020, -1, FAKE_CODE(ENTRY_StreamGetCaptureInfo_v2, 0)},
        {13000, -1, FAKE_CODE(ENTRY_StreamGetCaptureInfo_v3, 0)},
        {13000, 0, CUDA_ERROR_NOT_FOUND},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        unit_reset(state);
        load_limited(FAKE_OF_LIST_VERSION, cases[i].limit);
        assert_int_equal(look_up_slot("cuStreamGetCaptureInfo", cases[i].version), cases[i].result);
    }
}

static void assert_needs_7_0(const char *also)
{
    const char *name = "StreamQuery_v1";
    const enum cushim_default_stream kind = CUSHIM_DEFAULT_STREAM_PER_THREAD;
    assert_int_equal(cushim_table_legacy()->StreamQuery_v1(NULL), FAKE_CODE(ENTRY_StreamQuery_v1, 0));
    assert_int_equal(cushim_table_per_thread()->StreamQuery_v1(NULL), CUDA_ERROR_NOT_SUPPORTED);
    unit_assert_contains(cushim_error_last()->message, "needs CUDA 7.0 for per-thread default streams");
    unit_assert_contains(cushim_error_last()->message, also);
    assert_int_equal(cushim_require(&name, 1, kind, NULL), CUDA_ERROR_NOT_SUPPORTED);
    unit_assert_contains(cushim_error_last()->message, "needs CUDA 7.0 for per-thread default streams");
    assert_int_equal(cushim_require(&name, 1, CUSHIM_DEFAULT_STREAM_LEGACY, NULL), CUDA_SUCCESS);
    assert_int_equal(unit_lookup_kind("cuStreamQuery", 6050, kind), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(unit_lookup_kind("cuCtxSynchronize", 6050, kind), FAKE_CODE(ENTRY_CtxSynchronize_v1, 0));
    assert_int_equal(unit_lookup("cuStreamQuery", 6050), FAKE_CODE(ENTRY_StreamQuery_v1, 0));
}

UNIT_TEST(test_per_thread_when_a_version_before_7_0_is_requested_then_forms_are_too_new)
{
    const enum cushim_default_stream kind = CUSHIM_DEFAULT_STREAM_PER_THREAD;
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    struct cushim_lookup_answer answer;
    void *found = state;
    unit_load_plain("fake_12040");
    assert_int_equal(unit_lookup_kind("cuStreamQuery", 6050, kind), CUDA_ERROR_NOT_FOUND);
    unit_assert_contains(cushim_error_last()->message, "CUDA 7.0");
    assert_int_equal(cushim_lookup_explain("cuStreamQuery", 6050, kind, &answer), CUDA_SUCCESS);
    assert_int_equal(answer.status, CUSHIM_LOOKUP_TOO_NEW);
    assert_int_equal(unit_lookup_kind("cuStreamQuery", 7000, kind), FAKE_CODE(ENTRY_StreamQuery_v1, 1));
    assert_int_equal(unit_lookup_kind("cuCtxSynchronize", 6050, kind), FAKE_CODE(ENTRY_CtxSynchronize_v1, 0));
    assert_int_equal(cushim_table_per_thread()->GetProcAddress_v2("cuStreamQuery", &found, 6050, 0, &status),
                     CUDA_SUCCESS);
    assert_null(found);
    assert_int_equal(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
}

UNIT_TEST(test_per_thread_when_the_driver_is_older_than_7_0_then_what_needs_it_is_missing)
{
    unit_load_plain("fake_6050");
    assert_needs_7_0("this driver is CUDA 6.5");
    unit_reset(state);
    load_limited("fake_12040", 6050);
    assert_needs_7_0("the version limit is CUDA 6.5");
}

static void assert_hidden(const char *hide, enum cushim_slot_state instead)
{
    unit_reset(NULL);
    load_hidden("fake_12040", hide);
    assert_int_equal(unit_state(CUSHIM_SLOT_StreamGetCaptureInfo_v3), instead);
    assert_int_equal(unit_lookup("cuStreamGetCaptureInfo", 12030), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(look_up_slot("cuStreamGetCaptureInfo", 12030), CUDA_ERROR_NOT_FOUND);
}

UNIT_TEST(test_hide_when_a_slot_is_named_then_that_version_alone_is_hidden)
{
    static const char *const hides[] = {"StreamGetCaptureInfo_v3", "cuStreamGetCaptureInfo_v3",
                                        " ,StreamGetCaptureInfo_v3, ", "StreamGetId_v1,cuStreamGetCaptureInfo_v3"};
    for (size_t i = 0; i < sizeof hides / sizeof hides[0]; i++) {
        assert_hidden(hides[i], CUSHIM_STATE_POLYFILL);
        assert_int_equal(unit_state(CUSHIM_SLOT_StreamGetCaptureInfo_v2), CUSHIM_STATE_NATIVE);
        assert_int_equal(unit_lookup("cuStreamGetCaptureInfo", 12020), FAKE_CODE(ENTRY_StreamGetCaptureInfo_v2, 0));
        assert_int_equal(look_up_slot("cuStreamGetCaptureInfo", 12020), FAKE_CODE(ENTRY_StreamGetCaptureInfo_v2, 0));
    }
}

UNIT_TEST(test_hide_when_a_function_is_named_then_all_its_versions_are_hidden)
{
    static const char *const hides[] = {"StreamUpdateCaptureDependencies", "cuStreamUpdateCaptureDependencies"};
    for (size_t i = 0; i < 2; i++) {
        unit_reset(NULL);
        load_hidden("fake_12040", hides[i]);
        assert_int_equal(unit_state(CUSHIM_SLOT_StreamUpdateCaptureDependencies_v1), CUSHIM_STATE_MISSING);
        assert_int_equal(unit_state(CUSHIM_SLOT_StreamUpdateCaptureDependencies_v2), CUSHIM_STATE_MISSING);
        assert_int_equal(unit_lookup("cuStreamUpdateCaptureDependencies", 11030), CUDA_ERROR_NOT_FOUND);
        assert_int_equal(look_up_slot("cuStreamUpdateCaptureDependencies", 12040), CUDA_ERROR_NOT_FOUND);
    }
}

UNIT_TEST(test_hide_when_the_oldest_version_is_named_then_the_newer_ones_stay)
{
    static const char *const hides[] = {"StreamUpdateCaptureDependencies_v1", "cuStreamUpdateCaptureDependencies_v1"};
    for (size_t i = 0; i < 2; i++) {
        unit_reset(NULL);
        load_hidden("fake_12040", hides[i]);
        assert_int_equal(unit_state(CUSHIM_SLOT_StreamUpdateCaptureDependencies_v1), CUSHIM_STATE_MISSING);
        assert_int_equal(unit_state(CUSHIM_SLOT_StreamUpdateCaptureDependencies_v2), CUSHIM_STATE_NATIVE);
        assert_int_equal(unit_lookup("cuStreamUpdateCaptureDependencies", 12020), CUDA_ERROR_NOT_FOUND);
    }
}

UNIT_TEST(test_hide_when_the_version_and_the_lookup_are_hidden_then_the_rest_still_works)
{
    int version = -1;
    load_hidden("fake_12040", "DriverGetVersion,GetProcAddress,Init");
    assert_int_equal(cushim_driver_version(), 12040);
    assert_int_equal(cushim_table()->DriverGetVersion_v1(&version), CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(unit_state(CUSHIM_SLOT_GetProcAddress_v1), CUSHIM_STATE_MISSING);
    assert_int_equal(unit_state(CUSHIM_SLOT_GetProcAddress_v2), CUSHIM_STATE_MISSING);
    assert_int_equal(cushim_init(), CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(unit_lookup("cuGetProcAddress", 12000), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(unit_lookup("cuStreamQuery", 12000), FAKE_CODE(ENTRY_StreamQuery_v1, 0));
}

UNIT_TEST(test_hide_when_the_driver_has_a_newer_version_than_known_then_the_function_hides_it_too)
{
    load_hidden("fake_future", FAKE_FUTURE_ABI_FUNCTION);
    assert_int_equal(unit_lookup(FAKE_FUTURE_ABI_FUNCTION, FAKE_FUTURE_VERSION), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(look_up_slot(FAKE_FUTURE_ABI_FUNCTION, FAKE_FUTURE_VERSION), CUDA_ERROR_NOT_FOUND);
}

UNIT_TEST(test_min_version_when_met_then_loaded)
{
    unit_load("fake_12040", (struct cushim_load_options){.min_version = 12040});
    assert_int_equal(cushim_driver_version(), 12040);
}

UNIT_TEST(test_min_version_when_the_driver_is_older_then_message_names_both_versions)
{
    struct cushim_load_options options = {.path = unit_fake("fake_11040"), .min_version = 12030};
    unit_assert_failed(cushim_load(&options), CUSHIM_REASON_TOO_OLD, CUDA_ERROR_NOT_SUPPORTED);
    unit_assert_contains(cushim_diagnosis_get()->message, "CUDA 12.3");
    unit_assert_contains(cushim_diagnosis_get()->message, "CUDA 11.4");
    assert_int_equal(cushim_diagnosis_get()->cuda_version, 11040);
    assert_string_equal(cushim_diagnosis_get()->path, unit_fake("fake_11040"));
}

/* No other test here has this fake open: if the load closed it, the call crashes. */
UNIT_TEST(test_min_version_when_the_library_given_is_older_then_it_stays_open)
{
    struct cushim_load_options options = {.handle = unit_open("fake_9010"), .min_version = 12030};
    union {
        cushim_fn symbol;
        CUresult(CUDAAPI *get_version)(int *);
    } function = {cush_os_library_symbol(options.handle, "cuDriverGetVersion")};
    int version = 0;
    unit_assert_failed(cushim_load(&options), CUSHIM_REASON_TOO_OLD, CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(function.get_version(&version), CUDA_SUCCESS);
    assert_int_equal(version, 9010);
}

UNIT_TEST(test_min_version_when_the_limit_is_lower_then_message_names_the_limit)
{
    struct cushim_load_options options = {.path = unit_fake("fake_13000"), .max_version = 11040, .min_version = 12030};
    unit_assert_failed(cushim_load(&options), CUSHIM_REASON_TOO_OLD, CUDA_ERROR_NOT_SUPPORTED);
    unit_assert_contains(cushim_diagnosis_get()->message, "limited to CUDA 11.4");
    unit_assert_contains(cushim_diagnosis_get()->advice, "Remove the version limit");
}
