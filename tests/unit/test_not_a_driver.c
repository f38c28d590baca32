/* SPDX-License-Identifier: MIT */
/* Libraries that can be loaded and are no driver: each is told apart, and the program runs on. */
#include "unit.h"

static void assert_refused(const char *name, enum cushim_reason reason, CUresult code, const char *word)
{
    struct cushim_load_options options = {.path = unit_fake(name)};
    unit_assert_failed(cushim_load(&options), reason, code);
    const struct cushim_diagnosis *diagnosis = cushim_get_diagnosis();
    unit_assert_contains(diagnosis->message, name);
    unit_assert_contains(diagnosis->message, word);
    assert_int_equal(diagnosis->attempt_count, 1);
    assert_int_equal(diagnosis->attempts[0].reason, reason);
    assert_null(diagnosis->path);
    assert_int_equal(diagnosis->cuda_version, 0);
}

static void assert_no_driver(const char *name, const char *word)
{
    assert_refused(name, CUSHIM_REASON_NOT_A_DRIVER, CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, word);
}

static void test_library_when_it_has_nothing_of_a_driver_then_it_is_none(void **state)
{
    (void)state;
    assert_no_driver("not_library", "does not export the functions of a driver");
}

static void test_library_when_it_lacks_the_start_then_it_is_no_driver(void **state)
{
    (void)state;
    assert_no_driver("not_no_init", "does not export the functions of a driver");
}

static void test_library_when_it_lacks_the_version_then_it_is_no_driver(void **state)
{
    (void)state;
    assert_no_driver("not_no_version", "does not export the functions of a driver");
}

static void test_stub_when_it_says_so_then_it_is_named_as_the_stub(void **state)
{
    (void)state;
    assert_refused("not_stub", CUSHIM_REASON_STUB, CUDA_ERROR_STUB_LIBRARY, "stub");
}

static void test_stub_when_the_version_is_not_written_then_it_is_no_driver(void **state)
{
    (void)state;
    assert_no_driver("not_unwritten", "returned code 0 and version 0");
}

static void test_stub_when_the_version_is_zero_then_it_is_no_driver(void **state)
{
    (void)state;
    assert_no_driver("not_zero", "returned code 0 and version 0");
}

static void test_stub_when_the_version_is_nonsense_then_it_is_no_driver(void **state)
{
    (void)state;
    assert_no_driver("not_negative", "returned code 0 and version -12040");
    assert_no_driver("not_huge", "returned code 0 and version 2147483647");
}

static void test_library_when_the_version_call_fails_then_the_code_is_told(void **state)
{
    (void)state;
    assert_no_driver("not_error", "returned code 999");
}

static void test_handle_when_the_library_is_no_driver_then_it_is_refused_and_stays_open(void **state)
{
    (void)state;
    int (*const function)(void) = (int (*)(void))unit_function("not_library", "not_a_driver");
    struct cushim_load_options options = {.handle = unit_open("not_library")};
    unit_assert_failed(cushim_load(&options), CUSHIM_REASON_NOT_A_DRIVER, CUDA_ERROR_SHARED_OBJECT_INIT_FAILED);
    unit_assert_contains(cushim_get_diagnosis()->message, "the handle given");
    assert_int_equal(function(), 1);
}

static void test_load_when_no_driver_was_given_before_then_a_real_one_is_loaded(void **state)
{
    (void)state;
    assert_refused("not_stub", CUSHIM_REASON_STUB, CUDA_ERROR_STUB_LIBRARY, "stub");
    unit_load_plain("fake_12040");
    assert_int_equal(cushim_driver_version(), 12040);
    assert_int_equal(cushim_table()->Init_v1(0), CUDA_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(test_library_when_it_has_nothing_of_a_driver_then_it_is_none),
        UNIT_TEST(test_library_when_it_lacks_the_start_then_it_is_no_driver),
        UNIT_TEST(test_library_when_it_lacks_the_version_then_it_is_no_driver),
        UNIT_TEST(test_stub_when_it_says_so_then_it_is_named_as_the_stub),
        UNIT_TEST(test_stub_when_the_version_is_not_written_then_it_is_no_driver),
        UNIT_TEST(test_stub_when_the_version_is_zero_then_it_is_no_driver),
        UNIT_TEST(test_stub_when_the_version_is_nonsense_then_it_is_no_driver),
        UNIT_TEST(test_library_when_the_version_call_fails_then_the_code_is_told),
        UNIT_TEST(test_handle_when_the_library_is_no_driver_then_it_is_refused_and_stays_open),
        UNIT_TEST(test_load_when_no_driver_was_given_before_then_a_real_one_is_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
