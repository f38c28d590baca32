/* SPDX-License-Identifier: MIT */
/* A layer on every slot of both tables: each call passes it once, in the form of its table, with the same result. */
#include "unit.h"

#include "call_slot.h"
#include "cushim/abi/egl.h" /* a frame is passed by value */

static unsigned counts[CUSHIM_DEFAULT_STREAM_COUNT][CUSHIM_SLOT_COUNT];
static struct cushim_layer counter;

#define COUNT(name, kind, function, abi, params, args)                                                                 \
    static CUresult CUDAAPI name##_##function##_##abi params                                                           \
    {                                                                                                                  \
        counts[kind][CUSHIM_SLOT_##function##_##abi]++;                                                                \
        return cushim_layer_next(&counter, kind)->function##_##abi args;                                               \
    }
#define CUSHIM_ENTRY(function, abi, since, params, args)                                                               \
    COUNT(legacy, CUSHIM_DEFAULT_STREAM_LEGACY, function, abi, params, args)
#define CUSHIM_ENTRY_BY_KIND(function, abi, since, params, args)                                                       \
    COUNT(legacy, CUSHIM_DEFAULT_STREAM_LEGACY, function, abi, params, args)                                           \
    COUNT(per_thread, CUSHIM_DEFAULT_STREAM_PER_THREAD, function, abi, params, args)
#include "cushim/entry_points.h"

static const struct cushim_dispatch_table wrappers[CUSHIM_DEFAULT_STREAM_COUNT] = {
    [CUSHIM_DEFAULT_STREAM_LEGACY] =
        {
#define CUSHIM_ENTRY(function, abi, since, params, args) legacy_##function##_##abi,
#include "cushim/entry_points.h"
        },
    [CUSHIM_DEFAULT_STREAM_PER_THREAD] =
        {
#define CUSHIM_ENTRY(function, abi, since, params, args) legacy_##function##_##abi,
#define CUSHIM_ENTRY_BY_KIND(function, abi, since, params, args) per_thread_##function##_##abi,
#include "cushim/entry_points.h"
        },
};

static CUresult counter_install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                                const enum cushim_slot_state *states, enum cushim_default_stream kind, void *user)
{
    *table = wrappers[kind];
    return CUDA_SUCCESS;
}

static struct cushim_layer counter = CUSHIM_LAYER("counter", counter_install, NULL);

static const bool by_kind[CUSHIM_SLOT_COUNT] = {
#define CUSHIM_ENTRY(function, abi, since, params, args) false,
#define CUSHIM_ENTRY_BY_KIND(function, abi, since, params, args) true,
#include "cushim/entry_points.h"
};

static unsigned count_of(enum cushim_slot slot)
{
    return counts[CUSHIM_DEFAULT_STREAM_LEGACY][slot] + counts[CUSHIM_DEFAULT_STREAM_PER_THREAD][slot];
}

static void assert_counted_once(enum cushim_slot slot, enum cushim_default_stream kind)
{
    if (count_of(slot) != 1 || counts[by_kind[slot] ? kind : CUSHIM_DEFAULT_STREAM_LEGACY][slot] != 1)
        fail_msg("%s was counted %u times", cush_symbols_slot_name(slot).text, count_of(slot));
    FOR_EACH_SLOT(other)
    {
        if (other != slot && count_of(other) != 0)
            fail_msg("a call of %s was counted for %s", cush_symbols_slot_name(slot).text,
                     cush_symbols_slot_name(other).text);
    }
}

/* The tables are current, without layers. */
static void assert_counts_each_slot(void)
{
    CUresult expected[CUSHIM_DEFAULT_STREAM_COUNT][CUSHIM_SLOT_COUNT];
    enum cushim_slot_state states[CUSHIM_DEFAULT_STREAM_COUNT][CUSHIM_SLOT_COUNT];
    FOR_EACH_KIND(kind)
    FOR_EACH_SLOT(slot)
    {
        expected[kind][slot] = call_slot(unit_table(kind), slot);
        states[kind][slot] = cushim_slot_get_state(slot, kind);
    }
    assert_int_equal(cushim_layer_add(&counter), CUDA_SUCCESS);
    FOR_EACH_KIND(kind)
    FOR_EACH_SLOT(slot)
    {
        struct cushim_slot_info info;
        memset(counts, 0, sizeof counts);
        assert_int_equal(call_slot(unit_table(kind), slot), expected[kind][slot]);
        assert_counted_once(slot, kind);
        assert_int_equal(cushim_slot_get_info(slot, kind, &info), CUDA_SUCCESS);
        assert_true(info.is_layered);
        assert_int_equal(info.state, states[kind][slot]);
    }
}

UNIT_TEST(test_driver_table_when_a_layer_is_on_every_slot_then_each_call_passes_it_once)
{
    static const struct cushim_load_options options[] = {
        {.max_version = 0}, {.max_version = 11020}, {.max_version = 6050}, {.hide = "cuStreamGetCaptureInfo"}};
    static const char *const names[] = {"fake_6050", "fake_11040", FAKE_OF_LIST_VERSION, "fake_asked_12040"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        for (size_t k = 0; k < sizeof options / sizeof options[0]; k++) {
            unit_reset(state);
            unit_load(names[i], options[k]);
            assert_counts_each_slot();
        }
    }
}

UNIT_TEST(test_null_driver_when_a_layer_is_on_every_slot_then_each_call_passes_it_once)
{
    assert_int_equal(unit_load_path("none"), CUDA_ERROR_FILE_NOT_FOUND);
    assert_counts_each_slot();
}

UNIT_TEST(test_bootstrap_table_when_a_layer_waits_then_the_first_call_passes_it_once)
{
    FOR_EACH_KIND(kind)
    for (int slot = 0; slot < CUSHIM_SLOT_COUNT; slot += 7) {
        unit_reset(state);
        unit_set_variable("CUSHIM_DRIVER", unit_fake("fake_12040"));
        assert_int_equal(cushim_layer_add(&counter), CUDA_SUCCESS);
        memset(counts, 0, sizeof counts);
        (void)call_slot(unit_table(kind), (enum cushim_slot)slot);
        assert_counted_once((enum cushim_slot)slot, kind);
    }
}
