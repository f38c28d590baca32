/* SPDX-License-Identifier: MIT */
/* Layers that are added and stopped while other threads call. To be run under ThreadSanitizer, too. POSIX only. */
#include "unit.h"

#include <stdatomic.h>

#include "crowd.h"

enum { CALLERS = 6, LAYERS = 4, MIN_CALLS = 2000 };

static _Thread_local unsigned passed; /* a bit for each layer that a call has passed */

#define MARKING_LAYER(number)                                                                                          \
    static struct cushim_layer layer_##number;                                                                         \
    static CUresult query_##number(enum cushim_default_stream kind, CUstream stream)                                   \
    {                                                                                                                  \
        if ((passed & 1u << number) != 0)                                                                              \
            return CUDA_ERROR_ASSERT;                                                                                  \
        passed |= 1u << number;                                                                                        \
        return cushim_layer_next(&layer_##number, kind)->StreamQuery_v1(stream);                                       \
    }                                                                                                                  \
    CUSHIM_LAYER_BOTH_KINDS(query_##number, (CUstream stream), stream)                                                 \
    static CUresult install_##number(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,    \
                                     const enum cushim_slot_state *states, enum cushim_default_stream kind,            \
                                     void *user)                                                                       \
    {                                                                                                                  \
        (void)next;                                                                                                    \
        (void)states;                                                                                                  \
        (void)user;                                                                                                    \
        table->StreamQuery_v1 = CUSHIM_LAYER_OF_KIND(query_##number, kind);                                            \
        return CUDA_SUCCESS;                                                                                           \
    }                                                                                                                  \
    static struct cushim_layer layer_##number = CUSHIM_LAYER("layer " #number, install_##number, NULL);
MARKING_LAYER(0)
MARKING_LAYER(1)
MARKING_LAYER(2)
MARKING_LAYER(3)

static struct cushim_layer *const layers[LAYERS] = {&layer_0, &layer_1, &layer_2, &layer_3};

static atomic_int changed; /* the layers that were added, and stopped again if they shall be */
static atomic_int failures;

static void call_once(enum cushim_default_stream kind)
{
    cushim_fn fn = NULL;
    passed = 0;
    if (unit_table(kind)->StreamQuery_v1(NULL) != FAKE_CODE(ENTRY_StreamQuery_v1, kind))
        failures++;
    passed = 0;
    if (cushim_lookup("cuStreamQuery", 12040, kind, &fn) != CUDA_SUCCESS || fn == NULL)
        failures++;
    if (unit_table(kind)->CtxSynchronize_v1() != FAKE_CODE(ENTRY_CtxSynchronize_v1, 0))
        failures++;
}

/* Adds a layer. Those with an odd number are stopped again. */
static void change(int number)
{
    struct cushim_layer_info info;
    if (cushim_layer_add(layers[number]) != CUDA_SUCCESS)
        failures++;
    if (cushim_layer_get_info(0, &info) != CUDA_SUCCESS)
        failures++;
    if (number % 2 != 0 && cushim_layer_stop(layers[number]) != CUDA_SUCCESS)
        failures++;
    changed++;
}

static void change_or_call(int index)
{
    if (index < LAYERS)
        change(index);
    for (int i = 0; index >= LAYERS && (i < MIN_CALLS || changed < LAYERS); i++)
        call_once(i % 2 != 0 ? CUSHIM_DEFAULT_STREAM_PER_THREAD : CUSHIM_DEFAULT_STREAM_LEGACY);
}

static void run_threads(void)
{
    changed = 0;
    failures = 0;
    crowd_run(LAYERS + CALLERS, change_or_call);
    assert_int_equal(failures, 0);
    FOR_EACH_KIND(kind)
    {
        passed = 0;
        assert_int_equal(unit_table(kind)->StreamQuery_v1(NULL), FAKE_CODE(ENTRY_StreamQuery_v1, kind));
        assert_int_equal(passed, 1u << 0 | 1u << 2);
    }
}

UNIT_TEST(test_layers_when_added_while_other_threads_call_then_each_call_passes_each_at_most_once)
{
    unit_load_plain("fake_12040");
    run_threads();
}

UNIT_TEST(test_layers_when_added_during_the_first_load_then_all_are_installed)
{
    unit_set_variable("CUSHIM_DRIVER", unit_fake("fake_12040"));
    run_threads();
}

static atomic_int added;

static void add_first(int index)
{
    added += cushim_layer_add(layers[0]) == CUDA_SUCCESS;
}

UNIT_TEST(test_layer_when_added_by_several_threads_then_once)
{
    unit_load_plain("fake_12040");
    added = 0;
    crowd_run(CALLERS, add_first);
    assert_int_equal(added, 1);
}
