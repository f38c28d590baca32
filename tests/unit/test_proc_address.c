/* SPDX-License-Identifier: MIT */
/* Drivers that export almost nothing, so that cuGetProcAddress must be used, and each way in which its results may be
 * wrong. */
#include "unit.h"

#include "call_slot.h"

/* The only exports of such a driver. */
static bool is_exported(enum cushim_slot slot)
{
    return slot == CUSHIM_SLOT_Init_v1 || slot == CUSHIM_SLOT_DriverGetVersion_v1
           || slot == CUSHIM_SLOT_GetProcAddress_v1 || slot == CUSHIM_SLOT_GetProcAddress_v2;
}

static void load_faulty(int version, enum fake_fault fault)
{
    char name[32];
    snprintf(name, sizeof name, "fake_asked_%d", version);
    unit_reset(NULL);
    *(enum fake_fault *)unit_object(name, "fake_fault") = fault;
    unit_load_plain(name);
}

/* With `found`, every entry point of the version is native; without, only the exported ones. No slot points at another
 * function. */
static void assert_slots(int version, enum cushim_default_stream kind, bool found)
{
    bool per_thread = kind == CUSHIM_DEFAULT_STREAM_PER_THREAD;
    FOR_EACH_SLOT(slot)
    {
        struct cushim_slot_info info;
        assert_int_equal(cushim_slot_get_info(slot, kind, &info), CUDA_SUCCESS);
        bool lacks_variant = per_thread && cush_symbols_lacks_variant(cush_symbols_index(slot));
        bool is_elsewhere = cush_symbols_is_elsewhere(cush_symbols_index(slot));
        bool native = info.since <= version && (found || is_exported(slot)) && !lacks_variant && !is_elsewhere;
        bool adapted =
            native && per_thread && (slot == CUSHIM_SLOT_GetProcAddress_v1 || slot == CUSHIM_SLOT_GetProcAddress_v2);
        bool passes = slot == CUSHIM_SLOT_Init_v1 || slot == CUSHIM_SLOT_GetErrorString_v1; /* adapted, too */
        if (adapted) {
            assert_int_equal(info.state, CUSHIM_STATE_ADAPTED);
        } else if (native) {
            if (info.state != (passes ? CUSHIM_STATE_ADAPTED : CUSHIM_STATE_NATIVE)
                || call_slot(unit_table(kind), slot) != unit_native_result(slot, kind))
                fail_msg("%s is in state %d", info.name, (int)info.state);
        } else {
            assert_true(info.state == CUSHIM_STATE_MISSING || info.state == CUSHIM_STATE_POLYFILL);
        }
    }
}

/* Every entry point, looked up at its own version: if found, it is exactly that function. */
static void assert_lookups(int version, enum cushim_default_stream kind, bool found)
{
    bool per_thread = kind == CUSHIM_DEFAULT_STREAM_PER_THREAD;
    for (size_t index = 0; index < ENTRY_COUNT; index++) {
        struct cushim_entry_point entry = cush_symbols_entry(index);
        enum cushim_slot slot = cush_symbols_slot_of(index);
        cushim_fn fn = NULL;
        CUresult result = cushim_lookup(entry.function, entry.since, kind, &fn);
        if (slot != CUSHIM_SLOT_COUNT && is_exported(slot))
            continue; /* the other tests call these with arguments */
        if (entry.since > version) {
            assert_int_equal(result, CUDA_ERROR_INVALID_VALUE);
        } else if (result == CUDA_SUCCESS) {
            assert_true(found);
            assert_int_equal(unit_call(fn), FAKE_CODE(index, per_thread && entry.per_thread_ending[0] != '\0'));
        } else {
            assert_int_equal(result, CUDA_ERROR_NOT_FOUND);
            /* Some older ABIs have no per-thread variant. */
            assert_true(!found || per_thread || cush_symbols_is_elsewhere(index));
            assert_null(fn);
        }
    }
}

static void assert_fault(enum fake_fault fault, bool found)
{
    static const int versions[] = {11040, 12040}; /* with the older cuGetProcAddress only, and with both */
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        load_faulty(versions[i], fault);
        FOR_EACH_KIND(kind)
        {
            assert_slots(versions[i], kind, found);
            assert_lookups(versions[i], kind, found);
        }
    }
}

UNIT_TEST(test_proc_address_when_it_can_be_trusted_then_everything_is_found)
{
    assert_fault(FAKE_CORRECT, true);
    assert_fault(FAKE_SAYS_FOUND, true); /* success with NULL for what it lacks */
    assert_fault(FAKE_NO_STATUS, true);
}

UNIT_TEST(test_proc_address_when_it_cannot_be_trusted_then_it_is_not_believed)
{
    assert_fault(FAKE_NEWEST, false); /* whatever the version */
    assert_fault(FAKE_SAME, false);   /* one function for all */
    assert_fault(FAKE_ERROR, false);  /* an error with a pointer */
    assert_fault(FAKE_LEGACY, false); /* for both forms */
    assert_fault(FAKE_STATUS_IGNORED, false);
}

UNIT_TEST(test_load_when_the_driver_lacks_only_what_windows_has_then_it_is_not_asked)
{
    const char *name = "fake_12040";
    unit_reset(state);
    unsigned(*counts)[2] = unit_object(name, "fake_calls");
    memset(counts, 0, sizeof *counts * ENTRY_COUNT);
    unit_load_plain(name);
    assert_int_equal(counts[ENTRY_GetProcAddress_v2][0], 0);
}

UNIT_TEST(test_lookup_when_the_function_is_unknown_then_does_not_query_an_untrusted_driver)
{
    cushim_fn fn = NULL;
    load_faulty(12040, FAKE_SAME);
    assert_int_equal(cushim_lookup("cuNoSuchThing", 12040, CUSHIM_DEFAULT_STREAM_LEGACY, &fn), CUDA_ERROR_NOT_FOUND);
    assert_null(fn);
}
