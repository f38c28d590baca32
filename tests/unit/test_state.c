/* SPDX-License-Identifier: MIT */
/* The state of each slot on drivers of many versions, compared with the driver's exports. */
#include "unit.h"

#include "os_library.h"

static const int versions[] = {6050, 9010, 10000, 10010, 11000, 11040, 12020, 12040, 13000, CUSHIM_LIST_VERSION};
enum { VERSION_COUNT = sizeof versions / sizeof versions[0] };

static const char *name_of(int version)
{
    static char name[32];
    snprintf(name, sizeof name, "fake_%d", version);
    return name;
}

static struct cushim_slot_info info_of(enum cushim_slot slot, enum cushim_default_stream kind)
{
    struct cushim_slot_info info;
    assert_int_equal(cushim_query_slot(slot, kind, &info), CUDA_SUCCESS);
    return info;
}

/* Native: the slot points at the driver's export with the name that belongs to the slot. */
static void assert_native_as_exported(int version, enum cushim_default_stream kind)
{
    void *library = unit_open(name_of(version));
    bool per_thread = kind == CUSHIM_DEFAULT_STREAM_PER_THREAD;
    FOR_EACH_SLOT(slot)
    {
        struct cushim_slot_info info = info_of(slot, kind);
        struct cushim_entry_point row = cush_symbols_row(cush_symbols_row_of(slot));
        bool has_form = per_thread && row.per_thread_symbol[0] != '\0';
        const char *symbol = has_form ? row.per_thread_symbol : row.symbol;
        cushim_fn exported = cush_os_library_symbol(library, symbol);
        if (info.state == CUSHIM_STATE_ADAPTED) {
            assert_true(per_thread && exported != NULL);
            assert_null(info.symbol);
        } else if (info.state == CUSHIM_STATE_NATIVE) {
            assert_true(exported == unit_pointer(slot, kind));
            assert_string_equal(info.symbol, symbol);
            assert_string_equal(cushim_symbol_name(unit_pointer(slot, kind)), symbol);
        } else {
            assert_true(exported == NULL || (per_thread && cush_symbols_lacks_form(cush_symbols_row_of(slot))));
            assert_null(info.symbol);
            assert_true(exported != NULL || info.since > version || (has_form && version < 7000)
                        || cush_symbols_is_elsewhere(cush_symbols_row_of(slot)));
        }
    }
}

static void test_native_when_loaded_then_each_table_is_exactly_what_is_exported_in_its_form(void **state)
{
    for (size_t i = 0; i < VERSION_COUNT; i++) {
        unit_reset(state);
        unit_load_plain(name_of(versions[i]));
        FOR_EACH_KIND(kind)
        assert_native_as_exported(versions[i], kind);
    }
}

static void test_slot_when_only_drivers_for_windows_have_it_then_it_is_missing_elsewhere(void **state)
{
    bool is_elsewhere = cush_symbols_is_elsewhere(ROW_D3D11GetDevice_v1);
    const char *name = "fake_12040";
    unit_reset(state);
    unsigned(*counts)[2] = unit_object(name, "fake_calls");
    memset(counts, 0, sizeof *counts * ROW_COUNT);
    unit_load_plain(name);
    assert_int_equal(counts[ROW_GetProcAddress_v2][0], 0); /* it has nothing else to look for */
    FOR_EACH_KIND(kind)
    {
        CUresult result = unit_table(kind)->D3D11GetDevice_v1(NULL, NULL);
        assert_int_equal(info_of(CUSHIM_SLOT_D3D11GetDevice_v1, kind).state,
                         is_elsewhere ? CUSHIM_STATE_MISSING : CUSHIM_STATE_NATIVE);
        assert_int_equal(result, is_elsewhere ? CUDA_ERROR_NOT_SUPPORTED : FAKE_CODE(ROW_D3D11GetDevice_v1, 0));
        if (is_elsewhere)
            assert_string_equal(cushim_last_error()->message, "Only drivers for Windows have cuD3D11GetDevice.");
    }
}

static void assert_polyfill(enum cushim_slot slot, enum cushim_default_stream kind)
{
    struct cushim_slot_info info = info_of(slot, kind);
    assert_int_equal(info.via_count != 0, info.state == CUSHIM_STATE_POLYFILL);
    for (size_t i = 0; i < info.via_count; i++) {
        assert_int_not_equal(info.via[i], slot);
        assert_int_not_equal(info_of(info.via[i], kind).state, CUSHIM_STATE_MISSING);
    }
}

static void test_polyfill_when_it_exists_then_all_slots_it_calls_can_be_called(void **state)
{
    for (size_t i = 0; i < VERSION_COUNT; i++) {
        unit_reset(state);
        unit_load_plain(name_of(versions[i]));
        FOR_EACH_KIND(kind)
        FOR_EACH_SLOT(slot)
        assert_polyfill(slot, kind);
    }
}

/* The expected states on some drivers. N: native, P: polyfill, -: missing; one letter for each of `versions`. */
static void assert_states_of_kind(enum cushim_slot slot, enum cushim_default_stream kind, const char *states)
{
    for (size_t i = 0; i < VERSION_COUNT; i++) {
        unit_reset(NULL);
        unit_load_plain(name_of(versions[i]));
        struct cushim_slot_info info = info_of(slot, kind);
        char letter = "-NPA"[info.state];
        if (letter != states[i])
            fail_msg("%s on CUDA %d is %c, not %c", info.name, versions[i], letter, states[i]);
    }
}

static void assert_states(enum cushim_slot slot, const char *states)
{
    assert_states_of_kind(slot, CUSHIM_DEFAULT_STREAM_LEGACY, states);
}

static void test_states_when_a_newer_entry_point_means_the_same_then_it_is_polyfilled(void **state)
{
    (void)
        state; /*                                            6.5 9.1 10.0 10.1 11.0 11.4 12.2 12.4 13.0 and the list */
    assert_states(CUSHIM_SLOT_LaunchHostFunc_v1, /*               */ "PPNNNNNNNN");
    assert_states(CUSHIM_SLOT_StreamIsCapturing_v1, /*            */ "PPNNNNNNNN");
    assert_states(CUSHIM_SLOT_StreamBeginCapture_v2, /*           */ "--PNNNNNNN");
    assert_states(CUSHIM_SLOT_StreamGetCaptureInfo_v1, /*         */ "PPPNNNNNNN");
    assert_states(CUSHIM_SLOT_StreamGetCaptureInfo_v2, /*         */ "PPPPPNNNNN");
    assert_states(CUSHIM_SLOT_StreamGetCaptureInfo_v3, /*         */ "PPPPPPPNNN");
    assert_states(CUSHIM_SLOT_StreamUpdateCaptureDependencies_v2, "-----PPNNN");
    assert_states(CUSHIM_SLOT_StreamGetDevice_v1, /*              */ "--PPPPPPNN");
    assert_states(CUSHIM_SLOT_StreamGetCtx_v2, /*                 */ "--PPPPPPNN");
    assert_states(CUSHIM_SLOT_EventRecordWithFlags_v1, /*         */ "PPPPPNNNNN");
    assert_states(CUSHIM_SLOT_CtxGetDevice_v2, /*                 */ "PPPPPPPPNN");
    assert_states(CUSHIM_SLOT_CtxSynchronize_v2, /*               */ "PPPPPPPPNN");
    assert_states(CUSHIM_SLOT_CtxCreate_v4, /*                    */ "PPPPPPPPNN");
    assert_states(CUSHIM_SLOT_GraphInstantiateWithFlags_v1, /*    */ "--PPPNNNNN");
}

static void test_states_when_nothing_older_means_the_same_then_it_is_missing(void **state)
{
    (void)
        state; /*                                            6.5 9.1 10.0 10.1 11.0 11.4 12.2 12.4 13.0 and the list */
    assert_states(CUSHIM_SLOT_StreamGetId_v1, /*                  */ "------NNNN");
    assert_states(CUSHIM_SLOT_StreamBeginCaptureToGraph_v1, /*    */ "-------NNN");
    assert_states(CUSHIM_SLOT_StreamGetAttribute_v1, /*           */ "----NNNNNN");
    assert_states(CUSHIM_SLOT_StreamSetAttribute_v1, /*           */ "----NNNNNN");
    assert_states(CUSHIM_SLOT_StreamWaitValue32_v1, /*            */ "-NNNNNNNNN");
    assert_states(CUSHIM_SLOT_StreamEndCapture_v1, /*             */ "--NNNNNNNN");
    assert_states(CUSHIM_SLOT_StreamUpdateCaptureDependencies_v1, "-----NNNNN");
    assert_states(CUSHIM_SLOT_ThreadExchangeStreamCaptureMode_v1, "---NNNNNNN");
}

/* What depends on the default stream needs CUDA 7.0 there, with the polyfills that stand on it. */
static void test_states_when_per_thread_then_what_needs_a_form_is_missing_before_7_0(void **state)
{
    const enum cushim_default_stream kind = CUSHIM_DEFAULT_STREAM_PER_THREAD;
    (void)state; /*                                                  6.5 9.1 10.0 10.1 11.0 11.4 12.2 12.4 13.0 */
    assert_states_of_kind(CUSHIM_SLOT_StreamQuery_v1, kind, /*          */ "-NNNNNNNNN");
    assert_states_of_kind(CUSHIM_SLOT_MemcpyHtoD_v2, kind, /*           */ "-NNNNNNNNN");
    assert_states_of_kind(CUSHIM_SLOT_LaunchHostFunc_v1, kind, /*       */ "-PNNNNNNNN");
    assert_states_of_kind(CUSHIM_SLOT_StreamIsCapturing_v1, kind, /*    */ "-PNNNNNNNN");
    assert_states_of_kind(CUSHIM_SLOT_StreamGetCaptureInfo_v3, kind, /* */ "-PPPPPPNNN");
    assert_states_of_kind(CUSHIM_SLOT_EventRecordWithFlags_v1, kind, /* */ "-PPPPNNNNN");
    assert_states_of_kind(CUSHIM_SLOT_CtxGetDevice_v2, kind, /*         */ "PPPPPPPPNN");
    assert_states_of_kind(CUSHIM_SLOT_CtxSynchronize_v1, kind, /*       */ "NNNNNNNNNN");
    assert_states_of_kind(CUSHIM_SLOT_GetProcAddress_v1, kind, /*       */ "-----AAAAA");
    assert_states_of_kind(CUSHIM_SLOT_GetProcAddress_v2, kind, /*       */ "------AAAA");
    assert_states_of_kind(CUSHIM_SLOT_DriverGetVersion_v1, kind, /*     */ "NNNNNNNNNN");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(test_native_when_loaded_then_each_table_is_exactly_what_is_exported_in_its_form),
        UNIT_TEST(test_slot_when_only_drivers_for_windows_have_it_then_it_is_missing_elsewhere),
        UNIT_TEST(test_polyfill_when_it_exists_then_all_slots_it_calls_can_be_called),
        UNIT_TEST(test_states_when_a_newer_entry_point_means_the_same_then_it_is_polyfilled),
        UNIT_TEST(test_states_when_per_thread_then_what_needs_a_form_is_missing_before_7_0),
        UNIT_TEST(test_states_when_nothing_older_means_the_same_then_it_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
