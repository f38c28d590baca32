/* SPDX-License-Identifier: MIT */
/* One program with translation units for both default streams, in C and in C++ without optimisation: each uses the
 * table of its own kind. */
#include "unit.h"

#include "kind_unit.h"

static const struct kind_unit *const units[] = {&kind_c_legacy, &kind_c_per_thread, &kind_cpp_legacy,
                                                &kind_cpp_per_thread};

enum { UNIT_COUNT = sizeof units / sizeof units[0] };

static void assert_own_table(const struct kind_unit *unit)
{
    CUresult expected = FAKE_CODE(ENTRY_StreamQuery_v1, unit->kind == CUSHIM_DEFAULT_STREAM_PER_THREAD);
    assert_int_equal(unit->query(NULL), expected);
    assert_int_equal(unit->query_by_name(NULL), expected);
    assert_ptr_equal(unit->table(), unit_table(unit->kind));
}

UNIT_TEST(test_units_when_compiled_then_there_are_two_of_each_kind)
{
    assert_int_equal(kind_c_legacy.kind, CUSHIM_DEFAULT_STREAM_LEGACY);
    assert_int_equal(kind_cpp_legacy.kind, CUSHIM_DEFAULT_STREAM_LEGACY);
    assert_int_equal(kind_c_per_thread.kind, CUSHIM_DEFAULT_STREAM_PER_THREAD);
    assert_int_equal(kind_cpp_per_thread.kind, CUSHIM_DEFAULT_STREAM_PER_THREAD);
}

UNIT_TEST(test_units_when_the_driver_is_loaded_then_each_calls_the_form_of_its_kind)
{
    unit_load_plain("fake_12040");
    for (int i = 0; i < UNIT_COUNT; i++)
        assert_own_table(units[i]);
}

UNIT_TEST(test_unit_when_its_first_call_loads_then_every_unit_has_its_own_table)
{
    for (int first = 0; first < UNIT_COUNT; first++) {
        unit_reset(state);
        unit_set_variable("CUSHIM_DRIVER", unit_fake("fake_12040"));
        assert_int_equal(cushim_driver_version(), 0);
        assert_ptr_equal(units[first]->table(), unit_table(units[first]->kind));
        assert_own_table(units[first]);
        for (int i = 0; i < UNIT_COUNT; i++)
            assert_own_table(units[i]);
    }
}

UNIT_TEST(test_units_when_the_driver_lacks_per_thread_forms_then_those_of_the_legacy_kind_work)
{
    unit_load_plain("fake_6050");
    for (int i = 0; i < UNIT_COUNT; i++) {
        bool per_thread = units[i]->kind == CUSHIM_DEFAULT_STREAM_PER_THREAD;
        CUresult expected = per_thread ? CUDA_ERROR_NOT_SUPPORTED : FAKE_CODE(ENTRY_StreamQuery_v1, 0);
        assert_int_equal(units[i]->query(NULL), expected);
        assert_int_equal(units[i]->query_by_name(NULL), expected);
    }
}
