/* SPDX-License-Identifier: MIT */
/* Layers are added, stopped and installed by a load while allocations fail. */
#include "allocation.h"

static CUresult result;
static struct cushim_load_options options;

static int passed;

static struct cushim_layer lower, upper;

static CUresult CUDAAPI lower_query(CUstream stream)
{
    passed++;
    return cushim_layer_next(&lower, CUSHIM_DEFAULT_STREAM_LEGACY)->StreamQuery_v1(stream);
}

static CUresult CUDAAPI upper_query(CUstream stream)
{
    passed += 10;
    return cushim_layer_next(&upper, CUSHIM_DEFAULT_STREAM_LEGACY)->StreamQuery_v1(stream);
}

static CUresult layer_install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                              const enum cushim_slot_state *states, enum cushim_default_stream kind, void *user)
{
    if (kind == CUSHIM_DEFAULT_STREAM_LEGACY)
        table->StreamQuery_v1 = user == NULL ? lower_query : upper_query;
    return CUDA_SUCCESS;
}

static struct cushim_layer lower = CUSHIM_LAYER("lower", layer_install, NULL);
static struct cushim_layer upper = CUSHIM_LAYER("upper", layer_install, &upper);

static void assert_passed(int expected)
{
    passed = 0;
    assert_int_equal(cushim_table_legacy()->StreamQuery_v1(NULL), FAKE_CODE(ENTRY_StreamQuery_v1, 0));
    assert_int_equal(passed, expected);
}

static void add_layer(void)
{
    allocation.counts = false;
    unit_load_plain("fake_12040");
    assert_int_equal(cushim_layer_add(&lower), CUDA_SUCCESS);
    allocation.counts = true;
    result = cushim_layer_add(&upper);
}

static void assert_added_or_as_before(void)
{
    assert_int_equal(result, allocation.failed ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS);
    assert_passed(allocation.failed ? 1 : 11);
    if (allocation.failed)
        assert_int_equal(cushim_layer_add(&upper), CUDA_SUCCESS);
    assert_passed(11);
}

MOCK_TEST(test_layer_when_an_allocation_fails_then_added_or_nothing_is_changed)
{
    allocation_fail_each(add_layer, assert_added_or_as_before);
}

static void stop_lower_layer(void)
{
    allocation.counts = false;
    unit_load_plain("fake_12040");
    assert_int_equal(cushim_layer_add(&lower), CUDA_SUCCESS);
    assert_int_equal(cushim_layer_add(&upper), CUDA_SUCCESS);
    allocation.counts = true;
    result = cushim_layer_stop(&lower);
}

static void assert_stopped_or_as_before(void)
{
    assert_int_equal(result, allocation.failed ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS);
    assert_passed(allocation.failed ? 11 : 10);
    if (allocation.failed)
        assert_int_equal(cushim_layer_stop(&lower), CUDA_SUCCESS);
    assert_passed(10);
}

MOCK_TEST(test_layer_when_an_allocation_fails_then_stopped_or_nothing_is_changed)
{
    allocation_fail_each(stop_lower_layer, assert_stopped_or_as_before);
}

static void load_with_layers(void)
{
    allocation.counts = false;
    assert_int_equal(cushim_layer_add(&lower), CUDA_SUCCESS);
    assert_int_equal(cushim_layer_add(&upper), CUDA_SUCCESS);
    options = (struct cushim_load_options){.path = unit_fake("fake_12040")};
    allocation.counts = true;
    result = cushim_load(&options);
}

static void assert_loaded_with_both_layers_or_not_at_all(void)
{
    allocation_assert_consistent(result);
    if (result != CUDA_SUCCESS)
        assert_true(allocation.failed);
    assert_int_equal(cushim_load(&options), CUDA_SUCCESS);
    assert_passed(11);
}

MOCK_TEST(test_load_when_an_allocation_fails_then_all_layers_or_no_driver)
{
    allocation_fail_each(load_with_layers, assert_loaded_with_both_layers_or_not_at_all);
}
