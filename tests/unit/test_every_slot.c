/* SPDX-License-Identifier: MIT */
/* Every slot of every kind of table is called with zeros. Each returns what its state promises. */
#include "unit.h"

#include <stdlib.h>

#include "call_slot.h"

static struct cushim_slot_info info_of(enum cushim_slot slot, enum cushim_default_stream kind)
{
    struct cushim_slot_info info;
    assert_int_equal(cushim_slot_get_info(slot, kind, &info), CUDA_SUCCESS);
    return info;
}

static void assert_result(enum cushim_slot slot, CUresult result, CUresult expected)
{
    if (result != expected)
        fail_msg("%s says %d, not %d", cush_symbols_slot_name(slot).text, (int)result, (int)expected);
}

static CUresult null_driver_result(enum cushim_slot slot)
{
    switch (slot) {
    case CUSHIM_SLOT_DriverGetVersion_v1:
    case CUSHIM_SLOT_DeviceGetCount_v1:
    case CUSHIM_SLOT_GetErrorName_v1:
    case CUSHIM_SLOT_GetErrorString_v1:
        return CUDA_ERROR_INVALID_VALUE; /* the output pointer is NULL */
    default:
        return CUDA_ERROR_NO_DEVICE;
    }
}

/* The message of a missing slot names the function, the version that it needs, and the version of the driver or the
 * limit that refuses. */
static const char *later_variant(size_t index)
{
    while (cush_symbols_entry(index).per_thread_ending[0] == '\0')
        index++;
    return cush_symbols_entry(index).symbol;
}

static void assert_detail(enum cushim_slot slot, enum cushim_default_stream kind, int version)
{
    char needs[256];
    char limit[64] = "";
    int own_version = cushim_diagnosis_get()->cuda_version;
    const struct cushim_error *error = cushim_error_last();
    size_t index = cush_symbols_index(slot);
    struct cushim_entry_point entry = cush_symbols_entry(index);
    bool is_elsewhere = cush_symbols_is_elsewhere(index);
    int since = info_of(slot, kind).usable_since;
    bool needs_variant = since <= version && !is_elsewhere; /* else it is missing in both tables */
    int needed = needs_variant ? 7000 : since;
    if (needed <= own_version)
        snprintf(limit, sizeof limit, "the version limit is CUDA %d.%d, and ", version / 1000, version % 1000 / 10);
    snprintf(needs, sizeof needs, "%s needs CUDA %d.%d%s; %sthis driver is CUDA %d.%d.", entry.symbol, needed / 1000,
             needed % 1000 / 10, needs_variant ? " for per-thread default streams" : "", limit, own_version / 1000,
             own_version % 1000 / 10);
    if (needs_variant && cush_symbols_lacks_variant(index))
        snprintf(needs, sizeof needs, "%s (CUDA %d.%d) does not support per-thread default streams; use %s.",
                 entry.symbol, entry.since / 1000, entry.since % 1000 / 10, later_variant(index));
    if (is_elsewhere)
        snprintf(needs, sizeof needs, "Only drivers for Windows have %s.", entry.symbol);
    assert_true(!needs_variant || kind == CUSHIM_DEFAULT_STREAM_PER_THREAD);
    assert_int_equal(error->code, CUDA_ERROR_NOT_SUPPORTED);
    assert_string_equal(error->function, entry.symbol);
    assert_string_equal(error->message, needs);
}

static void assert_answers(const struct cushim_dispatch_table *table, enum cushim_slot slot,
                           enum cushim_default_stream kind, int version)
{
    CUresult result = call_slot(table, slot);
    struct cushim_slot_info info = info_of(slot, kind);
    switch (info.state) {
    case CUSHIM_STATE_NATIVE:
        assert_result(slot, result, unit_native_result(slot, kind));
        break;
    case CUSHIM_STATE_ADAPTED: /* cuInit and cuGetErrorString call the driver */
        assert_result(slot, result,
                      slot == CUSHIM_SLOT_Init_v1 || slot == CUSHIM_SLOT_GetErrorString_v1
                          ? unit_native_result(slot, kind)
                          : CUDA_ERROR_INVALID_VALUE);
        break;
    case CUSHIM_STATE_MISSING:
        assert_result(slot, result, CUDA_ERROR_NOT_SUPPORTED);
        assert_detail(slot, kind, version);
        break;
    case CUSHIM_STATE_POLYFILL:
        assert_true(info.via_count > 0);
        assert_true(result != CUDA_SUCCESS); /* no call succeeds with zeros, and the functions of a fake fail */
        break;
    }
}

UNIT_TEST(test_null_driver_when_each_slot_is_called_then_returns_no_device)
{
    assert_int_equal(unit_load_path("none"), CUDA_ERROR_FILE_NOT_FOUND);
    FOR_EACH_KIND(kind)
    FOR_EACH_SLOT(slot)
    {
        CUresult expected = null_driver_result(slot);
        assert_result(slot, call_slot(unit_table(kind), slot), expected);
        assert_int_equal(info_of(slot, kind).state, CUSHIM_STATE_MISSING);
        if (expected == CUDA_ERROR_NO_DEVICE) {
            assert_int_equal(cushim_error_last()->code, CUDA_ERROR_NO_DEVICE);
            assert_string_equal(cushim_error_last()->function, cush_symbols_entry(cush_symbols_index(slot)).symbol);
            unit_assert_contains(cushim_error_last()->message, cushim_diagnosis_get()->message);
        }
    }
}

UNIT_TEST(test_bootstrap_table_when_each_slot_is_called_first_then_it_loads_the_driver)
{
    FOR_EACH_KIND(kind)
    FOR_EACH_SLOT(slot)
    {
        unit_reset(state);
        unit_set_variable("CUSHIM_DRIVER", unit_fake("fake_12040"));
        const struct cushim_dispatch_table *bootstrap = unit_table(kind);
        CUresult result = call_slot(bootstrap, slot);
        assert_int_equal(cushim_driver_version(), 12040);
        assert_ptr_not_equal(unit_table(kind), bootstrap);
        assert_result(slot, result, call_slot(unit_table(kind), slot));
        assert_answers(bootstrap, slot, kind, 12040); /* a bootstrap table that the program kept still works */
    }
}

UNIT_TEST(test_bootstrap_table_when_each_slot_is_called_first_without_a_driver_then_it_is_absent)
{
    FOR_EACH_KIND(kind)
    FOR_EACH_SLOT(slot)
    {
        unit_reset(state);
        unit_set_variable("CUSHIM_DRIVER", "none");
        assert_result(slot, call_slot(unit_table(kind), slot), null_driver_result(slot));
        assert_int_equal(cushim_diagnosis_get()->reason, CUSHIM_REASON_NOT_WANTED);
    }
}

static void call_each_slot_under_limit(int limit)
{
    unit_reset(NULL);
    unit_load(FAKE_OF_LIST_VERSION, (struct cushim_load_options){.max_version = limit});
    assert_int_equal(cushim_driver_version(), limit);
    FOR_EACH_KIND(kind)
    FOR_EACH_SLOT(slot)
    assert_answers(unit_table(kind), slot, kind, limit);
}

static int compare_versions(const void *one, const void *other)
{
    return *(const int *)one - *(const int *)other;
}

UNIT_TEST(test_driver_table_when_limited_at_each_version_then_each_slot_answers_for_its_state)
{
    int versions[ENTRY_COUNT];
    for (size_t index = 0; index < ENTRY_COUNT; index++)
        versions[index] = cush_symbols_entry(index).since;
    qsort(versions, ENTRY_COUNT, sizeof versions[0], compare_versions);
    for (size_t i = 0; i < ENTRY_COUNT; i++) {
        if (i != 0 && versions[i] == versions[i - 1])
            continue;
        call_each_slot_under_limit(versions[i]);
    }
}

UNIT_TEST(test_driver_table_when_real_versions_are_loaded_then_each_slot_answers_for_its_state)
{
    static const int versions[] = {6050, 9010, 10000, 10010, 11000, 11040, 12020, 12040, CUSHIM_LIST_VERSION};
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        char name[32];
        snprintf(name, sizeof name, "fake_%d", versions[i]);
        unit_reset(NULL);
        unit_load_plain(name);
        FOR_EACH_KIND(kind)
        FOR_EACH_SLOT(slot)
        assert_answers(unit_table(kind), slot, kind, versions[i]);
    }
}

UNIT_TEST(test_driver_table_when_driver_is_newer_than_the_list_then_slots_are_as_in_its_newest_version)
{
    enum cushim_slot_state newest[CUSHIM_DEFAULT_STREAM_COUNT][CUSHIM_SLOT_COUNT];
    unit_load_plain(FAKE_OF_LIST_VERSION);
    FOR_EACH_KIND(kind)
    FOR_EACH_SLOT(slot)
    newest[kind][slot] = info_of(slot, kind).state;
    unit_reset(state);
    unit_load_plain("fake_future");
    FOR_EACH_KIND(kind)
    FOR_EACH_SLOT(slot)
    {
        assert_int_equal(info_of(slot, kind).state, newest[kind][slot]);
        assert_answers(unit_table(kind), slot, kind, FAKE_FUTURE_VERSION);
    }
}
