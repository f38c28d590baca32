/* SPDX-License-Identifier: MIT */
/* Queries about slots and rows, the requirements of a program, the last error, and the version of the library. */
#include "unit.h"

#include <limits.h>

UNIT_TEST(test_slot_find_when_the_name_is_a_slots_then_it_is_found)
{
    FOR_EACH_SLOT(slot)
    {
        struct cushim_slot_info info;
        enum cushim_slot found;
        char name[128];
        unit_set_variable("CUSHIM_DRIVER", "none");
        assert_int_equal(cushim_slot_get_info(slot, CUSHIM_DEFAULT_STREAM_LEGACY, &info), CUDA_SUCCESS);
        assert_int_equal(cushim_slot_find(info.name, &found), CUDA_SUCCESS);
        assert_int_equal(found, slot);
        snprintf(name, sizeof name, "cu%s", info.name);
        assert_int_equal(cushim_slot_find(name, &found), CUDA_SUCCESS);
        assert_int_equal(found, slot);
        assert_int_equal(cushim_slot_find(cush_symbols_entry(cush_symbols_index(slot)).symbol, &found), CUDA_SUCCESS);
        assert_int_equal(found, slot);
    }
}

UNIT_TEST(test_slot_find_when_the_name_is_unknown_then_not_found_and_writes_nothing)
{
    static const char *const names[] = {"",    "cu",           "cuNoSuchThing",      "StreamQuery_v2", "streamquery_v1",
                                        "_v1", "StreamQuery_", "cuStreamQuery_ptsz", "cuCtxCreate_v9"};
    enum cushim_slot slot = CUSHIM_SLOT_COUNT;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_int_equal(cushim_slot_find(names[i], &slot), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(cushim_slot_find(NULL, &slot), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(slot, CUSHIM_SLOT_COUNT);
    assert_int_equal(cushim_slot_find("StreamQuery_v1", NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cushim_diagnosis_get()->reason, CUSHIM_REASON_NOT_TRIED);
}

UNIT_TEST(test_slot_info_when_the_slot_is_none_then_refused)
{
    static const int slots[] = {-1, INT_MIN, CUSHIM_SLOT_COUNT, INT_MAX};
    struct cushim_slot_info info = {.name = "untouched"};
    for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++)
        assert_int_equal(cushim_slot_get_info((enum cushim_slot)slots[i], CUSHIM_DEFAULT_STREAM_LEGACY, &info),
                         CUDA_ERROR_INVALID_VALUE);
    assert_string_equal(info.name, "untouched");
    assert_int_equal(cushim_slot_get_info(CUSHIM_SLOT_Init_v1, CUSHIM_DEFAULT_STREAM_COUNT, &info),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cushim_slot_get_state(CUSHIM_SLOT_Init_v1, CUSHIM_DEFAULT_STREAM_COUNT), CUSHIM_STATE_MISSING);
    assert_int_equal(cushim_slot_get_info(CUSHIM_SLOT_Init_v1, CUSHIM_DEFAULT_STREAM_LEGACY, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    assert_string_equal(cushim_error_last()->function, "cushim_slot_get_info");
}

UNIT_TEST(test_slot_info_when_nothing_was_loaded_then_it_loads)
{
    unit_set_variable("CUSHIM_DRIVER", unit_fake("fake_12040"));
    assert_int_equal(unit_state(CUSHIM_SLOT_StreamQuery_v1), CUSHIM_STATE_NATIVE);
}

UNIT_TEST(test_entry_point_when_iterated_then_returns_all_rows)
{
    struct cushim_entry_point entry;
    size_t count = 0;
    for (; cushim_entry_point_get_info(count, &entry) == CUDA_SUCCESS; count++) {
        assert_int_equal(strncmp(entry.symbol, entry.function, strlen(entry.function)), 0);
        assert_in_range(entry.since, 2000, CUSHIM_LIST_VERSION);
        assert_non_null(entry.per_thread_ending);
    }
    assert_int_equal(count, ENTRY_COUNT);
    assert_int_equal(cushim_entry_point_get_info(ENTRY_COUNT, &entry), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(cushim_entry_point_get_info(SIZE_MAX, &entry), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(cushim_entry_point_get_info(0, NULL), CUDA_ERROR_INVALID_VALUE);
}

UNIT_TEST(test_require_when_all_can_be_called_then_success)
{
    static const char *const names[] = {"StreamQuery_v1", "cuStreamQuery", "cuStreamGetCaptureInfo_v3", "CtxCreate_v4"};
    const char *unmet = "untouched";
    unit_load_plain("fake_11040");
    assert_int_equal(cushim_require(names, 4, CUSHIM_DEFAULT_STREAM_LEGACY, &unmet), CUDA_SUCCESS);
    assert_int_equal(cushim_require(names, 4, CUSHIM_DEFAULT_STREAM_LEGACY, NULL), CUDA_SUCCESS);
    assert_int_equal(cushim_require(NULL, 0, CUSHIM_DEFAULT_STREAM_LEGACY, &unmet), CUDA_SUCCESS);
    assert_string_equal(unmet, "untouched");
}

UNIT_TEST(test_require_when_one_is_missing_then_the_first_is_named)
{
    static const char *const names[] = {"StreamQuery_v1", "StreamGetId_v1", "StreamBeginCaptureToGraph_v1"};
    const char *unmet = NULL;
    unit_load_plain("fake_11040");
    assert_int_equal(cushim_require(names, 3, CUSHIM_DEFAULT_STREAM_LEGACY, &unmet), CUDA_ERROR_NOT_SUPPORTED);
    assert_ptr_equal(unmet, names[1]);
    assert_string_equal(cushim_error_last()->message, "cuStreamGetId needs CUDA 12.0; this driver is CUDA 11.4.");
    assert_int_equal(cushim_require(names, 3, CUSHIM_DEFAULT_STREAM_LEGACY, NULL), CUDA_ERROR_NOT_SUPPORTED);
}

UNIT_TEST(test_require_when_a_polyfill_is_missing_then_the_version_with_which_it_works_is_named)
{
    static const struct {
        const char *driver;
        struct cushim_load_options options;
        enum cushim_default_stream kind;
        const char *name, *message;
    } rows[] = {
        {"fake_9010",
         {.path = NULL},
         CUSHIM_DEFAULT_STREAM_LEGACY,
         "StreamGetDevice_v1",
         "cuStreamGetDevice needs CUDA 9.2; this driver is CUDA 9.1."},
        {"fake_10000",
         {.max_version = 9010},
         CUSHIM_DEFAULT_STREAM_LEGACY,
         "StreamGetDevice_v1",
         "cuStreamGetDevice needs CUDA 9.2; the version limit is CUDA 9.1, and this driver is CUDA 10.0."},
        {"fake_10000",
         {.hide = "StreamGetCtx_v1"},
         CUSHIM_DEFAULT_STREAM_LEGACY,
         "StreamGetDevice_v1",
         "cuStreamGetDevice needs CUDA 12.8; this driver is CUDA 10.0."},
        {"fake_6050",
         {.path = NULL},
         CUSHIM_DEFAULT_STREAM_PER_THREAD,
         "EventRecordWithFlags_v1",
         "cuEventRecordWithFlags needs CUDA 7.0 for per-thread default streams; this driver is CUDA 6.5."},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unit_reset(state);
        unit_load(rows[i].driver, rows[i].options);
        assert_int_equal(cushim_require(&rows[i].name, 1, rows[i].kind, NULL), CUDA_ERROR_NOT_SUPPORTED);
        assert_string_equal(cushim_error_last()->message, rows[i].message);
    }
}

UNIT_TEST(test_require_when_a_name_is_not_a_slot_then_message_names_it)
{
    static const char *const names[] = {"StreamQuery_v1", "nonsense", "StreamGetId_v1"};
    const char *unmet = NULL;
    unit_load_plain("fake_11040");
    assert_int_equal(cushim_require(names, 3, CUSHIM_DEFAULT_STREAM_LEGACY, &unmet), CUDA_ERROR_NOT_FOUND);
    assert_ptr_equal(unmet, names[1]);
    assert_string_equal(cushim_error_last()->function, "cushim_require");
    unit_assert_contains(cushim_error_last()->message, "\"nonsense\"");
}

UNIT_TEST(test_require_when_no_driver_exists_then_not_met)
{
    static const char *const names[] = {"StreamQuery_v1"};
    const char *unmet = NULL;
    unit_set_variable("CUSHIM_DRIVER", "none");
    assert_int_equal(cushim_require(names, 1, CUSHIM_DEFAULT_STREAM_LEGACY, &unmet), CUDA_ERROR_NO_DEVICE);
    assert_ptr_equal(unmet, names[0]);
}

UNIT_TEST(test_require_when_arguments_are_bad_then_refused)
{
    static const char *const names[] = {"StreamQuery_v1", NULL};
    unit_load_plain("fake_11040");
    assert_int_equal(cushim_require(NULL, 1, CUSHIM_DEFAULT_STREAM_LEGACY, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cushim_require(names, 2, CUSHIM_DEFAULT_STREAM_LEGACY, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cushim_require(NULL, 0, CUSHIM_DEFAULT_STREAM_COUNT, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cushim_error_last()->code, CUDA_ERROR_INVALID_VALUE);
}

UNIT_TEST(test_last_error_when_a_call_succeeds_then_it_stays)
{
    unit_load_plain("fake_11040");
    assert_int_equal(cushim_table()->StreamGetId_v1(NULL, NULL), CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(cushim_table()->Init_v1(0), CUDA_SUCCESS);
    assert_int_equal(cushim_table()->StreamQuery_v1(NULL), FAKE_CODE(ENTRY_StreamQuery_v1, 0));
    assert_int_equal(cushim_load(NULL), CUDA_SUCCESS);
    assert_int_equal(cushim_error_last()->code, CUDA_ERROR_NOT_SUPPORTED);
    assert_string_equal(cushim_error_last()->function, "cuStreamGetId");
}

UNIT_TEST(test_last_error_when_the_driver_lacks_it_despite_its_version_then_message_says_so)
{
    *(enum fake_fault *)unit_object("fake_asked_12040", "fake_fault") = FAKE_ERROR;
    unit_load_plain("fake_asked_12040");
    assert_int_equal(cushim_table()->StreamQuery_v1(NULL), CUDA_ERROR_NOT_SUPPORTED);
    assert_string_equal(cushim_error_last()->message,
                        "This driver (CUDA 12.4) lacks cuStreamQuery, which was added in CUDA 2.0.");
}

static void assert_refusal(struct cushim_load_options options, const char *message)
{
    unit_reset(NULL);
    unit_load("fake_12040", options);
    assert_int_equal(cushim_table()->StreamGetId_v1(NULL, NULL), CUDA_ERROR_NOT_SUPPORTED);
    assert_string_equal(cushim_error_last()->message, message);
}

UNIT_TEST(test_last_error_when_a_limit_or_hidden_functions_refuse_then_message_says_so)
{
    assert_refusal((struct cushim_load_options){.max_version = 11040},
                   "cuStreamGetId needs CUDA 12.0; the version limit is CUDA 11.4, and this driver is CUDA 12.4.");
    assert_refusal((struct cushim_load_options){.hide = "StreamGetId"},
                   "cuStreamGetId is hidden by CUSHIM_HIDE or the option hide.");
}

/* An equal code of the same function is another failure once the driver itself answers. */
UNIT_TEST(test_last_error_when_the_driver_fails_as_the_null_driver_did_then_the_message_is_the_drivers)
{
    CUdevice device;
    unit_set_variable("CUSHIM_DRIVER", "none");
    assert_int_equal(cushim_load(NULL), CUDA_ERROR_FILE_NOT_FOUND);
    assert_int_equal(cushim_error_set_driver(cushim_table()->DeviceGet_v1(&device, 0), CUSHIM_SLOT_DeviceGet_v1),
                     CUDA_ERROR_NO_DEVICE);
    unit_assert_contains(cushim_error_last()->message, "No CUDA driver is loaded");
    unit_load_plain("fake_12040");
    assert_int_equal(cushim_error_set_driver(CUDA_ERROR_NO_DEVICE, CUSHIM_SLOT_DeviceGet_v1), CUDA_ERROR_NO_DEVICE);
    assert_int_equal(cushim_error_last()->code, CUDA_ERROR_NO_DEVICE);
    assert_string_equal(cushim_error_last()->function, "cuDeviceGet");
    assert_null(strstr(cushim_error_last()->message, "No CUDA driver is loaded"));
}

UNIT_TEST(test_set_error_when_the_strings_change_later_then_the_error_stays)
{
    char function[100], message[1000];
    snprintf(function, sizeof function, "my_function");
    snprintf(message, sizeof message, "It is 100 %% full.");
    assert_int_equal(cushim_error_set(CUDA_ERROR_OUT_OF_MEMORY, function, message), CUDA_ERROR_OUT_OF_MEMORY);
    memset(function, 'x', sizeof function - 1);
    memset(message, 'y', sizeof message - 1);
    function[sizeof function - 1] = message[sizeof message - 1] = '\0';
    assert_int_equal(cushim_error_last()->code, CUDA_ERROR_OUT_OF_MEMORY);
    assert_string_equal(cushim_error_last()->function, "my_function");
    assert_string_equal(cushim_error_last()->message, "It is 100 % full.");
    cushim_error_set(CUDA_ERROR_UNKNOWN, function, message);
    assert_int_equal(strlen(cushim_error_last()->function), 63);
    assert_int_equal(strlen(cushim_error_last()->message), 511);
    cushim_error_set(CUDA_ERROR_UNKNOWN, NULL, NULL);
    assert_string_equal(cushim_error_last()->function, "");
    unit_assert_contains(cushim_error_last()->message, "CUDA_ERROR_UNKNOWN");
}

UNIT_TEST(test_call_when_it_fails_then_its_error_is_recorded)
{
    unit_load_plain("fake_12040");
    assert_int_equal(CUSHIM_CALL(StreamQuery_v1, NULL), unit_native_result(CUSHIM_SLOT_StreamQuery_v1, 0));
    assert_string_equal(cushim_error_last()->function, "cuStreamQuery");
    assert_int_equal(CUSHIM_CALL(CtxSynchronize_v1, ), unit_native_result(CUSHIM_SLOT_CtxSynchronize_v1, 0));
    assert_string_equal(cushim_error_last()->function, "cuCtxSynchronize");
    assert_int_equal(CUSHIM_CALL_IN(cushim_table_per_thread(), StreamQuery_v1, NULL),
                     unit_native_result(CUSHIM_SLOT_StreamQuery_v1, CUSHIM_DEFAULT_STREAM_PER_THREAD));
}

UNIT_TEST(test_last_error_when_a_missing_slot_is_reported_again_then_its_message_stays)
{
    unit_load_plain("fake_11040");
    for (int i = 0; i < 2; i++)
        cushim_error_set_driver(cushim_table()->StreamGetId_v1(NULL, NULL), CUSHIM_SLOT_StreamGetId_v1);
    assert_string_equal(cushim_error_last()->message, "cuStreamGetId needs CUDA 12.0; this driver is CUDA 11.4.");
}

static void assert_error_message(int code, const char *name, const char *sentence)
{
    const char *text = NULL;
    assert_int_equal(cushim_table()->GetErrorName_v1((CUresult)code, &text), CUDA_SUCCESS);
    assert_string_equal(text, name);
    assert_int_equal(cushim_table()->GetErrorString_v1((CUresult)code, &text), CUDA_SUCCESS);
    assert_string_equal(text, sentence);
    assert_string_not_equal(text, "");
}

UNIT_TEST(test_null_driver_error_names_when_queried_then_all_codes_have_one)
{
    unit_set_variable("CUSHIM_DRIVER", "none");
    (void)cushim_load(NULL);
#define CUSHIM_ERROR(name, value, sentence)                                                                            \
    assert_error_message(value, #name, (value) == 100 ? cushim_diagnosis_get()->message : sentence);
#include "lists/errors.inc"
}

UNIT_TEST(test_null_driver_error_string_when_the_code_is_that_of_the_slots_then_is_the_diagnosis)
{
    const char *text = NULL;
    unit_set_variable("CUSHIM_DRIVER", unit_fake("not_stub"));
    CUresult code = cushim_table()->Init_v1(0);
    assert_int_equal(cushim_table()->GetErrorString_v1(code, &text), CUDA_SUCCESS);
    assert_ptr_equal(text, cushim_diagnosis_get()->message);
    unit_assert_contains(text, "stub");
    /* The text stays after a later load. */
    unit_load_plain("fake_12040");
    unit_assert_contains(text, "stub");
}

UNIT_TEST(test_null_driver_error_names_when_the_code_is_unknown_then_null)
{
    static const int codes[] = {-1, 99999, INT_MAX, INT_MIN};
    unit_set_variable("CUSHIM_DRIVER", "none");
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        const char *name = "untouched";
        const char *text = "untouched";
        assert_int_equal(cushim_table()->GetErrorName_v1((CUresult)codes[i], &name), CUDA_ERROR_INVALID_VALUE);
        assert_int_equal(cushim_table()->GetErrorString_v1((CUresult)codes[i], &text), CUDA_ERROR_INVALID_VALUE);
        assert_null(name);
        assert_null(text);
    }
}

#define ASSERT_RESERVED_IS_ZERO(object)                                                                                \
    for (size_t i = 0; i < sizeof(object).reserved / sizeof(object).reserved[0]; i++)                                  \
    assert_null((object).reserved[i])

UNIT_TEST(test_structs_when_filled_in_then_reserved_members_are_zero)
{
    struct {
        struct cushim_slot_info info;
        struct cushim_entry_point entry;
        struct cushim_lookup_answer answer;
        struct cushim_system system;
    } filled;
    memset(&filled, 0xff, sizeof filled);
    unit_set_variable("CUSHIM_MAX_VERSION", "11.2");
    unit_load("fake_12040", (struct cushim_load_options){0});
    assert_int_equal(cushim_slot_get_info(CUSHIM_SLOT_StreamQuery_v1, CUSHIM_DEFAULT_STREAM_AS_COMPILED, &filled.info),
                     CUDA_SUCCESS);
    assert_int_equal(cushim_entry_point_get_info(0, &filled.entry), CUDA_SUCCESS);
    assert_int_equal(cushim_lookup_explain("cuStreamQuery", 11020, CUSHIM_DEFAULT_STREAM_AS_COMPILED, &filled.answer),
                     CUDA_SUCCESS);
    cushim_system_get_info(NULL, &filled.system);
    ASSERT_RESERVED_IS_ZERO(filled.info);
    ASSERT_RESERVED_IS_ZERO(filled.entry);
    ASSERT_RESERVED_IS_ZERO(filled.answer);
    ASSERT_RESERVED_IS_ZERO(filled.system);

    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    assert_int_equal(diagnosis->attempt_count, 1);
    assert_int_equal(diagnosis->variable_count, 1);
    ASSERT_RESERVED_IS_ZERO(*diagnosis);
    ASSERT_RESERVED_IS_ZERO(diagnosis->attempts[0]);
    ASSERT_RESERVED_IS_ZERO(diagnosis->variables[0]);
    ASSERT_RESERVED_IS_ZERO(*cushim_error_last());
    unit_set_variable("CUSHIM_MAX_VERSION", NULL);
}

UNIT_TEST(test_version_when_written_as_text_then_has_the_numbers_of_the_library)
{
    char text[32];
    int version = cushim_version();
    snprintf(text, sizeof text, "%d.%d.%d", version / 10000, version / 100 % 100, version % 100);
    assert_string_equal(CUSHIM_VERSION_STRING, text);
    assert_int_equal(version, CUSHIM_VERSION);
}

static void assert_described(int code, const char *words)
{
    assert_string_equal(cushim_error_string((CUresult)code), words);
}

UNIT_TEST(test_describe_when_nothing_was_loaded_then_each_code_has_a_message_and_nothing_is_loaded)
{
#define CUSHIM_ERROR(name, value, sentence) assert_described(value, #name ": " sentence);
#include "lists/errors.inc"
    unit_assert_contains(cushim_error_string((CUresult)99999), "neither");
    assert_int_equal(cushim_diagnosis_get()->reason, CUSHIM_REASON_NOT_TRIED);
}

UNIT_TEST(test_reason_when_asked_for_then_has_a_message_and_an_unknown_one_that_of_unknown)
{
    static const int unknown[] = {CUSHIM_REASON_COUNT, -1, INT_MAX};
    static const char *const names[] = {
#define CUSHIM_REASON(id, name, code, message, advice) name,
#include "cushim/reasons.h"
    };
    for (int i = 0; i < CUSHIM_REASON_COUNT; i++) {
        assert_string_equal(cushim_reason_name((enum cushim_reason)i), names[i]);
        assert_non_null(cushim_reason_message((enum cushim_reason)i));
        assert_non_null(cushim_reason_advice((enum cushim_reason)i));
    }
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        assert_string_equal(cushim_reason_name((enum cushim_reason)unknown[i]), names[CUSHIM_REASON_UNKNOWN]);
}

UNIT_TEST(test_special_stream_when_the_driver_has_none_then_refused_with_the_version)
{
    struct cushim_stream *stream = NULL;
    unit_load_plain("fake_6050");
    assert_int_equal(cushim_stream_borrow(CU_STREAM_PER_THREAD, NULL, &stream), CUDA_ERROR_NOT_SUPPORTED);
    unit_assert_contains(cushim_error_last()->message, "7.0");
    assert_null(stream);
}

enum { NEW_ERROR = 4711 };

static CUresult CUDAAPI error_string_of_a_newer_driver(CUresult error, const char **out_text)
{
    *out_text = (int)error == NEW_ERROR ? "the words of the driver" : NULL;
    return *out_text != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

UNIT_TEST(test_describe_when_a_driver_is_loaded_then_it_is_asked_for_unknown_codes_alone)
{
    struct cushim_dispatch_table *hooks = unit_object("fake_12040", "fake_hooks");
    unit_load_plain("fake_12040");
    hooks->GetErrorString_v1 = error_string_of_a_newer_driver;
    assert_described(CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE: there is no CUDA device that this process can use");
    assert_described(NEW_ERROR, "the words of the driver");
    unit_assert_contains(cushim_error_string((CUresult)99999), "neither");
}
