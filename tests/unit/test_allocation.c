/* SPDX-License-Identifier: MIT */
/* Loads, first calls, cuInit and host functions while allocations fail. */
#include "allocation.h"

#include "companion.h"

static CUresult result;
static struct cushim_load_options options_of_load;

static void load(void)
{
    result = cushim_load(&options_of_load);
}

static void assert_loaded_or_could_not_be_opened(void)
{
    allocation_assert_consistent(result);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_OUT_OF_MEMORY)
        assert_int_equal(result, CUDA_ERROR_SHARED_OBJECT_INIT_FAILED);
    result = cushim_load(&options_of_load);
    assert_int_equal(result, CUDA_SUCCESS);
    allocation_assert_consistent(result);
}

MOCK_TEST(test_load_when_an_allocation_fails_then_reported_and_the_next_load_succeeds)
{
    options_of_load = (struct cushim_load_options){.path = unit_fake("fake_12040")};
    allocation_fail_each(load, assert_loaded_or_could_not_be_opened);
}

static const struct cushim_companion *companion;

static void find_companion(void)
{
    allocation.counts = false;
    cush_companion_reset_for_tests();
    unit_load_plain("fake_12040");
    allocation.counts = true;
    companion = cushim_companion_get(CUSHIM_COMPANION_NVENC);
}

/* It is final, or is searched for again. */
static void assert_companion_is_found_again(void)
{
    const struct cushim_companion *again = cushim_companion_get(CUSHIM_COMPANION_NVENC);
    if (companion->reason == CUSHIM_REASON_UNKNOWN)
        assert_ptr_not_equal(again, companion);
    else
        assert_ptr_equal(again, companion);
    cush_companion_reset_for_tests();
}

MOCK_TEST(test_companion_when_an_allocation_fails_then_reported_and_searched_for_again)
{
    allocation_fail_each(find_companion, assert_companion_is_found_again);
}

static void assert_reason_is_kept(void)
{
    allocation_assert_consistent(result);
    assert_int_equal(cushim_diagnosis_get()->reason, CUSHIM_REASON_NOT_FOUND);
    assert_int_equal(result, CUDA_ERROR_FILE_NOT_FOUND);
}

MOCK_TEST(test_failing_load_when_an_allocation_fails_then_the_reason_is_kept)
{
    options_of_load = (struct cushim_load_options){.root = "/no/such/root"};
    allocation_fail_each(load, assert_reason_is_kept);
}

static void assert_bad_option_is_told(void)
{
    allocation_assert_consistent(result);
    assert_int_equal(result, CUDA_ERROR_INVALID_VALUE);
}

MOCK_TEST(test_bad_option_when_an_allocation_fails_then_still_reported)
{
    options_of_load = (struct cushim_load_options){.hide = "nonsense"};
    allocation_fail_each(load, assert_bad_option_is_told);
}

static void load_again_with_nonsense(void)
{
    allocation.counts = false;
    mock_load("fake_12040", (struct cushim_load_options){0});
    allocation.counts = true;
    result = cushim_load(&options_of_load);
}

/* No options were given, so nothing can have failed or have been recorded. */
static void assert_refused_without_memory(void)
{
    assert_false(allocation.failed);
    assert_int_equal(result, CUDA_ERROR_INVALID_VALUE);
    unit_assert_contains(cushim_error_last()->message, "nonsense");
}

MOCK_TEST(test_second_load_when_it_is_refused_then_it_takes_no_memory)
{
    options_of_load = (struct cushim_load_options){.hide = "nonsense"};
    allocation_fail_each(load_again_with_nonsense, assert_refused_without_memory);
}

static void first_call(void)
{
    allocation.counts = false;
    unit_set_variable("CUSHIM_DRIVER", unit_fake("fake_12040"));
    allocation.counts = true;
    result = cushim_table()->StreamQuery_v1(NULL);
}

static void assert_called_or_absent(void)
{
    if (result != CUDA_ERROR_NO_DEVICE)
        assert_int_equal(result, FAKE_CODE(ENTRY_StreamQuery_v1, 0));
    result = cushim_diagnosis_get()->code;
    allocation_assert_consistent(result);
}

MOCK_TEST(test_first_call_when_an_allocation_fails_then_succeeds_or_returns_no_device)
{
    allocation_fail_each(first_call, assert_called_or_absent);
}

static CUresult CUDAAPI no_device(unsigned flags)
{
    return CUDA_ERROR_NO_DEVICE;
}

static void initialise(void)
{
    allocation.counts = false;
    mock_load("fake_12040", (struct cushim_load_options){0})->Init_v1 = no_device;
    allocation.counts = true;
    result = cushim_init();
}

static void assert_no_device_is_told(void)
{
    assert_int_equal(result, CUDA_ERROR_NO_DEVICE);
    assert_int_equal(cushim_error_last()->code, CUDA_ERROR_NO_DEVICE);
    assert_string_not_equal(cushim_error_last()->message, "");
    assert_int_not_equal(cushim_diagnosis_get()->reason, CUSHIM_REASON_NONE);
    assert_int_equal(cushim_diagnosis_get()->code, CUDA_ERROR_NO_DEVICE);
    assert_string_equal(cushim_diagnosis_get()->path, unit_fake("fake_12040"));
    assert_int_equal(cushim_init(), CUDA_ERROR_NO_DEVICE);
    assert_int_equal(cushim_diagnosis_get()->code, CUDA_ERROR_NO_DEVICE);
    mock_load("fake_12040", (struct cushim_load_options){0});
}

MOCK_TEST(test_init_when_an_allocation_fails_then_returns_its_result)
{
    allocation_fail_each(initialise, assert_no_device_is_told);
}

static CUresult next_code;

static CUresult CUDAAPI give_next_code(unsigned flags)
{
    return next_code;
}

static const struct cushim_diagnosis *initialise_with(CUresult code)
{
    next_code = code;
    result = cushim_init();
    return cushim_diagnosis_get();
}

static const struct cushim_diagnosis *told[5];

/* More failures than there is room for without memory. */
static void initialise_often(void)
{
    allocation.counts = false;
    mock_load("fake_12040", (struct cushim_load_options){0})->Init_v1 = give_next_code;
    allocation.counts = true;
    told[0] = initialise_with(CUDA_ERROR_SYSTEM_NOT_READY);
    told[1] = initialise_with(CUDA_ERROR_DEVICE_UNAVAILABLE);
    told[2] = initialise_with(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
    told[3] = initialise_with(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE);
    told[4] = initialise_with(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
}

static void assert_each_reason_is_told(void)
{
    static const enum cushim_reason reasons[] = {CUSHIM_REASON_NOT_READY, CUSHIM_REASON_IN_USE,
                                                 CUSHIM_REASON_MODULE_MISMATCH, CUSHIM_REASON_MODULE_MISMATCH,
                                                 CUSHIM_REASON_MODULE_MISMATCH};
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        assert_int_equal(told[i]->reason, reasons[i]);
        assert_string_equal(told[i]->reason_name, cushim_reason_name(reasons[i]));
        assert_string_equal(told[i]->message, cushim_reason_message(reasons[i]));
        assert_string_equal(told[i]->advice, cushim_reason_advice(reasons[i]));
    }
}

MOCK_TEST(test_init_when_there_is_no_room_for_more_failures_then_each_reason_is_told)
{
    allocation_fail_each(initialise_often, assert_each_reason_is_told);
}

static int registered;

static CUresult CUDAAPI add_callback(CUstream stream, CUstreamCallback callback, void *user_data, unsigned flags)
{
    registered++;
    callback(stream, CUDA_SUCCESS, user_data);
    return CUDA_SUCCESS;
}

static int called;

static void CUDA_CB host_function(void *user_data)
{
    called++;
}

static void launch(void)
{
    allocation.counts = false;
    mock_load("fake_9010", (struct cushim_load_options){0})->StreamAddCallback_v1 = add_callback;
    registered = called = 0;
    allocation.counts = true;
    result = cushim_table()->LaunchHostFunc_v1(NULL, host_function, NULL);
}

static void assert_launched_or_not_at_all(void)
{
    if (allocation.failed)
        assert_int_equal(result, CUDA_ERROR_OUT_OF_MEMORY);
    else
        assert_int_equal(result, CUDA_SUCCESS);
    assert_int_equal(registered, !allocation.failed);
    assert_int_equal(called, !allocation.failed);
}

MOCK_TEST(test_host_function_when_an_allocation_fails_then_nothing_is_registered)
{
    allocation_fail_each(launch, assert_launched_or_not_at_all);
}
