/* SPDX-License-Identifier: MIT */
/* Layers that a program adds: on which tables and in which order they are called, and how they are stopped. */
#include "layers.h"

LAYERS_TEST(test_layer_when_added_after_the_load_then_called_in_both_tables)
{
    unit_load_plain("fake_12040");
    layers_add(&layer_a);
    layers_assert_passes(cushim_table_legacy(), "a ");
    layers_assert_passes(cushim_table_per_thread(), "a' ");
    layers.calls[0] = '\0';
    assert_int_equal(cushim_table_per_thread()->StreamQuery_v1(NULL), FAKE_CODE(ENTRY_StreamQuery_v1, 1));
    assert_int_equal(layers.installs, 2);
    assert_int_equal(cushim_driver_version(), 12040);
}

LAYERS_TEST(test_layer_when_added_before_the_load_then_nothing_is_loaded_until_a_call)
{
    const struct cushim_dispatch_table *bootstrap = cushim_table_legacy();
    unit_set_variable("CUSHIM_DRIVER", unit_fake("fake_12040"));
    layers_add(&layer_a);
    assert_int_equal(cushim_diagnosis_get()->reason, CUSHIM_REASON_NOT_TRIED);
    assert_ptr_equal(cushim_table_legacy(), bootstrap);
    layers_assert_state(0, "a", CUSHIM_LAYER_WAITING);
    assert_int_equal(layers.installs, 0);

    assert_int_equal(bootstrap->StreamQuery_v1(NULL), FAKE_CODE(ENTRY_StreamQuery_v1, 0));
    assert_string_equal(layers.calls, "a ");
    assert_int_equal(layers.installs, 2);
    layers_assert_state(0, "a", CUSHIM_LAYER_INSTALLED);
    layers_assert_passes(bootstrap, "a "); /* a table that the program kept leads to the current one */
}

LAYERS_TEST(test_layer_when_there_is_no_driver_then_called_and_the_call_returns_no_device)
{
    assert_int_equal(unit_load_path("none"), CUDA_ERROR_FILE_NOT_FOUND);
    layers_add(&layer_a);
    layers_assert_passes(cushim_table_legacy(), "a ");
    layers_assert_passes(cushim_table_per_thread(), "a' ");
    assert_int_equal(cushim_table()->Init_v1(0), CUDA_ERROR_NO_DEVICE);
    unit_reset(NULL);

    layers_add(&layer_a);
    assert_int_equal(unit_load_path("none"), CUDA_ERROR_FILE_NOT_FOUND);
    layers_assert_passes(cushim_table_legacy(), "a ");
    assert_int_equal(cushim_driver_version(), 0);
    assert_int_equal(cushim_diagnosis_get()->reason, CUSHIM_REASON_NOT_WANTED);
}

LAYERS_TEST(test_layers_when_a_later_load_finds_a_driver_then_they_are_on_its_tables)
{
    assert_int_equal(unit_load_path("none"), CUDA_ERROR_FILE_NOT_FOUND);
    layers_add(&layer_a);
    layers_add(&layer_b);
    layers_stop(&layer_a);
    const struct cushim_dispatch_table *absent = cushim_table_legacy();
    assert_int_equal(unit_load_path("none"), CUDA_ERROR_FILE_NOT_FOUND);
    assert_ptr_equal(cushim_table_legacy(), absent); /* a program that tries again each second does not grow */
    assert_int_equal(layers.installs, 4);

    unit_load_plain("fake_12040");
    assert_int_equal(layers.installs, 6);
    layers_assert_passes(cushim_table_legacy(), "b ");
    assert_int_equal(cushim_table()->CtxSynchronize_v1(), FAKE_CODE(ENTRY_CtxSynchronize_v1, 0));
    assert_int_equal(absent->StreamQuery_v1(NULL), FAKE_CODE(ENTRY_StreamQuery_v1, 0)); /* by way of the layer */
    assert_int_equal(absent->CtxSynchronize_v1(), CUDA_ERROR_NO_DEVICE);
}

LAYERS_TEST(test_layers_when_stacked_then_the_newest_is_on_top)
{
    layers_add(&layer_a);
    unit_load_plain("fake_12040");
    layers_add(&layer_b);
    const struct cushim_dispatch_table *kept = cushim_table_legacy();
    layers_add(&layer_c);
    layers_assert_passes(cushim_table_legacy(), "c b a ");
    layers_assert_passes(cushim_table_per_thread(), "c' b' a' ");
    layers_assert_passes(kept, "b a ");
    assert_int_equal(layers.installs, 6);
}

LAYERS_TEST(test_slots_when_the_layer_does_not_replace_them_then_they_are_the_drivers)
{
    cushim_fn before[CUSHIM_DEFAULT_STREAM_COUNT][CUSHIM_SLOT_COUNT];
    unit_load_plain("fake_12040");
    FOR_EACH_KIND(kind)
    memcpy(before[kind], unit_table(kind), sizeof before[kind]);
    layers_add(&layer_a);
    FOR_EACH_KIND(kind)
    FOR_EACH_SLOT(slot)
    {
        struct cushim_slot_info info;
        assert_int_equal(cushim_slot_get_info(slot, kind, &info), CUDA_SUCCESS);
        assert_int_equal(info.is_layered, slot == CUSHIM_SLOT_StreamQuery_v1);
        bool finds = slot == CUSHIM_SLOT_GetProcAddress_v1 || slot == CUSHIM_SLOT_GetProcAddress_v2;
        if (unit_pointer(slot, kind) != before[kind][slot])
            assert_true(info.is_layered || finds);
    }
    assert_int_equal(unit_state(CUSHIM_SLOT_StreamQuery_v1), CUSHIM_STATE_NATIVE);
    layers_stop(&layer_a);
    FOR_EACH_KIND(kind)
    assert_memory_equal(before[kind], unit_table(kind), sizeof before[kind]);
}

LAYERS_TEST(test_layer_when_stopped_then_the_tables_below_are_current)
{
    unit_load_plain("fake_12040");
    const struct cushim_dispatch_table *plain = cushim_table_legacy();
    layers_add(&layer_a);
    const struct cushim_dispatch_table *with_a = cushim_table_legacy();
    layers_add(&layer_b);
    const struct cushim_dispatch_table *with_both = cushim_table_legacy();
    layers_stop(&layer_b);
    assert_ptr_equal(cushim_table_legacy(), with_a);
    layers_assert_passes(with_both, "b a ");
    layers_stop(&layer_a);
    assert_ptr_equal(cushim_table_legacy(), plain);
    layers_assert_passes(plain, "");
    layers_assert_passes(with_both, "b "); /* pointers that were obtained before can be called */
    layers_assert_state(0, "a", CUSHIM_LAYER_STOPPED);
    layers_assert_state(1, "b", CUSHIM_LAYER_STOPPED);
    layers_add(&layer_c);
    layers_assert_passes(cushim_table_legacy(), "c ");
}

LAYERS_TEST(test_layer_when_stopped_in_the_middle_then_the_ones_above_pass_on_to_the_ones_below)
{
    unit_load_plain("fake_12040");
    layers_add(&layer_a);
    layers_add(&layer_b);
    layers_add(&layer_c);
    const struct cushim_dispatch_table *kept = cushim_table_legacy();
    layers_stop(&layer_b);
    assert_int_equal(layers.installs, 6);
    layers_assert_passes(cushim_table_legacy(), "c a ");
    layers_assert_passes(cushim_table_per_thread(), "c' a' ");
    layers_assert_passes(kept, "c a ");
    layers_stop(&layer_a);
    layers_assert_passes(cushim_table_legacy(), "c ");
    layers_assert_passes(kept, "c ");
    layers_assert_passes(cushim_table_per_thread(), "c' ");
}

/* Reports whether a call through the current table passes the layer "synchronize". */
static bool synchronize_passes(void)
{
    layers.calls[0] = '\0';
    cushim_table_legacy()->StreamSynchronize_v1(NULL);
    return strcmp(layers.calls, "synchronize ") == 0;
}

LAYERS_TEST(test_layers_when_they_replace_different_slots_then_each_is_called_until_it_stops)
{
    unit_load_plain("fake_12040");
    layers_add(&layer_a);
    layers_add(&layer_synchronize);
    layers_add(&layer_b);
    layers_assert_passes(cushim_table_legacy(), "b a ");
    assert_true(synchronize_passes());
    layers_stop(&layer_a);
    layers_assert_passes(cushim_table_legacy(), "b ");
    layers_assert_passes(cushim_table_per_thread(), "b' ");
    assert_true(synchronize_passes());
    layers_stop(&layer_b);
    layers_assert_passes(cushim_table_legacy(), "");
    assert_true(synchronize_passes());
    layers_stop(&layer_synchronize);
    assert_false(synchronize_passes());
    assert_int_equal(layers.installs, 6);
}

LAYERS_TEST(test_layer_when_stopped_while_it_waits_then_never_installed)
{
    layers_add(&layer_a);
    layers_add(&layer_b);
    layers_stop(&layer_a);
    layers_assert_state(0, "a", CUSHIM_LAYER_STOPPED);
    unit_load_plain("fake_12040");
    layers_assert_passes(cushim_table_legacy(), "b ");
    assert_int_equal(layers.installs, 2);
}

LAYERS_TEST(test_stop_when_the_layer_is_not_installed_then_not_found)
{
    unit_load_plain("fake_12040");
    layers_add(&layer_a);
    layers_stop(&layer_a);
    struct cushim_layer *const cases[] = {&layer_a, &layer_b, NULL};
    for (size_t i = 0; i < 3; i++)
        layers_assert_refused(cushim_layer_stop(cases[i]), CUDA_ERROR_NOT_FOUND, "cushim_layer_stop", "not installed");
}

static CUresult CUDAAPI mock_callback(CUstream stream, CUstreamCallback callback, void *user_data, unsigned flags)
{
    layers_note("driver", LEGACY);
    callback(stream, CUDA_SUCCESS, user_data);
    return CUDA_SUCCESS;
}

static void CUDA_CB do_nothing(void *user_data)
{
}

static struct cushim_layer host;

static CUresult CUDAAPI host_LaunchHostFunc(CUstream stream, CUhostFn function, void *user_data)
{
    layers_note("function", LEGACY);
    return cushim_layer_next(&host, LEGACY)->LaunchHostFunc_v1(stream, function, user_data);
}

static CUresult CUDAAPI host_StreamAddCallback(CUstream stream, CUstreamCallback callback, void *data, unsigned flags)
{
    layers_note("callback", LEGACY);
    return cushim_layer_next(&host, LEGACY)->StreamAddCallback_v1(stream, callback, data, flags);
}

static CUresult CUDAAPI host_Init(unsigned flags)
{
    layers_note("init", LEGACY);
    return cushim_layer_next(&host, LEGACY)->Init_v1(flags);
}

static CUresult host_install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                             const enum cushim_slot_state *states, enum cushim_default_stream kind, void *user)
{
    table->LaunchHostFunc_v1 = host_LaunchHostFunc;
    table->StreamAddCallback_v1 = host_StreamAddCallback;
    table->Init_v1 = host_Init;
    return CUDA_SUCCESS;
}

static struct cushim_layer host = CUSHIM_LAYER("host functions", host_install, NULL);

LAYERS_TEST(test_polyfill_when_a_layer_replaces_its_slot_then_the_layer_is_called_once)
{
    layers_add(&host);
    mock_load_kind("fake_9010", (struct cushim_load_options){0}, LEGACY)->StreamAddCallback_v1 = mock_callback;
    assert_int_equal(unit_state(CUSHIM_SLOT_LaunchHostFunc_v1), CUSHIM_STATE_POLYFILL);
    assert_int_equal(cushim_table_legacy()->LaunchHostFunc_v1(NULL, do_nothing, NULL), CUDA_SUCCESS);
    assert_string_equal(layers.calls, "function driver ");
}

LAYERS_TEST(test_cushim_init_when_there_is_a_layer_then_the_layer_is_called)
{
    unit_load_plain("fake_12040");
    layers_add(&host);
    assert_int_equal(cushim_init(), CUDA_SUCCESS);
    assert_string_equal(layers.calls, "init ");
}

/* The rows of entry_points.h that need a wrapper for each table. */
static const bool by_kind[CUSHIM_SLOT_COUNT] = {
#define CUSHIM_ENTRY(function, abi, since, params, args) false,
#define CUSHIM_ENTRY_BY_KIND(function, abi, since, params, args) true,
#include "cushim/entry_points.h"
};

LAYERS_TEST(test_rows_when_the_tables_differ_then_entry_points_h_marks_them)
{
    unit_load_plain(FAKE_OF_LIST_VERSION);
    FOR_EACH_SLOT(slot)
    {
        if ((unit_pointer(slot, LEGACY) != unit_pointer(slot, PER_THREAD)) != by_kind[slot])
            fail_msg("%s", cush_symbols_slot_name(slot).text);
    }
}
