/* SPDX-License-Identifier: MIT */
/* Libraries that can be loaded and are not drivers: each has its own reason, and the program continues. */
#include "unit.h"

static void assert_refused(const char *name, enum cushim_reason reason, CUresult code, const char *word)
{
    unit_assert_failed(unit_load_path(unit_fake(name)), reason, code);
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    unit_assert_contains(diagnosis->message, name);
    unit_assert_contains(diagnosis->message, word);
    assert_int_equal(diagnosis->attempt_count, 1);
    assert_int_equal(diagnosis->attempts[0].reason, reason);
    assert_null(diagnosis->path);
    assert_int_equal(diagnosis->cuda_version, 0);
}

UNIT_TEST(test_library_when_it_is_not_a_driver_then_each_has_its_reason)
{
    static const struct {
        const char *name, *word;
    } libraries[] = {
        {"not_library", "does not export the functions of a driver"},
        {"not_no_init", "does not export the functions of a driver"},
        {"not_no_version", "does not export the functions of a driver"},
        {"not_unwritten", "returned code 0 and version 0"},
        {"not_zero", "returned code 0 and version 0"},
        {"not_negative", "returned code 0 and version -12040"},
        {"not_huge", "returned code 0 and version 2147483647"},
        {"not_error", "returned code 999"},
    };
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
        assert_refused(libraries[i].name, CUSHIM_REASON_NOT_A_DRIVER, CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
                       libraries[i].word);
}

UNIT_TEST(test_handle_when_the_library_is_not_a_driver_then_refused_and_not_closed)
{
    int (*const function)(void) = (int (*)(void))unit_function("not_library", "not_a_driver");
    struct cushim_load_options options = {.handle = unit_open("not_library")};
    unit_assert_failed(cushim_load(&options), CUSHIM_REASON_NOT_A_DRIVER, CUDA_ERROR_SHARED_OBJECT_INIT_FAILED);
    unit_assert_contains(cushim_diagnosis_get()->message, "the handle given");
    assert_int_equal(function(), 1);
}

UNIT_TEST(test_load_when_the_load_before_failed_then_loads_a_driver)
{
    assert_refused("not_stub", CUSHIM_REASON_STUB, CUDA_ERROR_STUB_LIBRARY, "stub");
    unit_load_plain("fake_12040");
    assert_int_equal(cushim_driver_version(), 12040);
    assert_int_equal(cushim_table()->Init_v1(0), CUDA_SUCCESS);
}
