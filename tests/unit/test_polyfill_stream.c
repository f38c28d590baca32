/* SPDX-License-Identifier: MIT */
/* Polyfills of host functions, events and the context of a stream: they make the right older call with the right
 * arguments. */
#include "mock.h"

#include <limits.h>
#include <stdlib.h>

#define STREAM HANDLE(CUstream, 7)
#define EVENT HANDLE(CUevent, 8)

static struct {
    CUstreamCallback callback;
    void *user_data;
} registered;

static CUresult CUDAAPI add_callback(CUstream stream, CUstreamCallback callback, void *user_data, unsigned flags)
{
    CUresult result = mock_call("AddCallback", "%u, %u", NUMBER(stream), flags);
    registered.callback = callback;
    registered.user_data = user_data;
    return result;
}

static void CUDA_CB host_function(void *user_data)
{
    (void)mock_call("host", "%u", NUMBER(user_data));
}

static const struct cushim_dispatch_table *load_before_10(void)
{
    struct cushim_dispatch_table *hooks = mock_load("fake_9010", (struct cushim_load_options){0});
    hooks->StreamAddCallback_v1 = add_callback;
    assert_int_equal(unit_state(CUSHIM_SLOT_LaunchHostFunc_v1), CUSHIM_STATE_POLYFILL);
    return cushim_table();
}

MOCK_TEST(test_host_function_when_the_stream_comes_to_it_then_it_is_called_once)
{
    const struct cushim_dispatch_table *table = load_before_10();
    assert_int_equal(table->LaunchHostFunc_v1(STREAM, host_function, HANDLE(void *, 99)), CUDA_SUCCESS);
    mock_assert_calls("AddCallback(7, 0) ");
    registered.callback(STREAM, CUDA_SUCCESS, registered.user_data); /* the sanitizer finds a leak or a second free */
    mock_assert_calls("host(99) ");
}

MOCK_TEST(test_host_function_when_the_work_before_it_failed_then_it_is_not_called)
{
    const struct cushim_dispatch_table *table = load_before_10();
    assert_int_equal(table->LaunchHostFunc_v1(STREAM, host_function, NULL), CUDA_SUCCESS);
    mock_assert_calls("AddCallback(7, 0) ");
    registered.callback(STREAM, CUDA_ERROR_ILLEGAL_ADDRESS, registered.user_data);
    mock_assert_calls("");
}

MOCK_TEST(test_host_function_when_registration_fails_then_the_code_is_passed_on)
{
    const struct cushim_dispatch_table *table = load_before_10();
    mock_fail("AddCallback", CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(table->LaunchHostFunc_v1(STREAM, host_function, NULL), CUDA_ERROR_INVALID_HANDLE);
    mock_assert_calls("AddCallback(7, 0) ");
}

MOCK_TEST(test_host_function_when_null_then_refused)
{
    const struct cushim_dispatch_table *table = load_before_10();
    assert_int_equal(table->LaunchHostFunc_v1(STREAM, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    mock_assert_calls("");
}

static CUstreamCaptureStatus capture_status;

static CUresult CUDAAPI is_capturing(CUstream stream, CUstreamCaptureStatus *status)
{
    *status = capture_status;
    return mock_call("IsCapturing", "%u", NUMBER(stream));
}

MOCK_TEST(test_host_function_when_a_driver_with_hidden_functions_is_capturing_then_the_capture_is_left_alone)
{
    struct cushim_dispatch_table *hooks =
        mock_load("fake_12040", (struct cushim_load_options){.hide = "LaunchHostFunc"});
    hooks->StreamAddCallback_v1 = add_callback;
    hooks->StreamIsCapturing_v1 = is_capturing;
    const struct cushim_dispatch_table *table = cushim_table();
    capture_status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    assert_int_equal(table->LaunchHostFunc_v1(STREAM, host_function, NULL), CUDA_ERROR_NOT_SUPPORTED);
    mock_assert_calls("IsCapturing(7) ");
    capture_status = CU_STREAM_CAPTURE_STATUS_NONE;
    mock_fail("IsCapturing", CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    assert_int_equal(table->LaunchHostFunc_v1(STREAM, host_function, NULL), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    mock_assert_calls("IsCapturing(7) ");
    mock_fail(NULL, CUDA_SUCCESS);
    assert_int_equal(table->LaunchHostFunc_v1(STREAM, host_function, HANDLE(void *, 5)), CUDA_SUCCESS);
    mock_assert_calls("IsCapturing(7) AddCallback(7, 0) ");
    registered.callback(STREAM, CUDA_SUCCESS, registered.user_data);
    mock_assert_calls("host(5) ");
}

static CUresult CUDAAPI launch_host_function(CUstream stream, CUhostFn function, void *user_data)
{
    return mock_call("LaunchHostFunc", "%u, %d, %u", NUMBER(stream), function == host_function, NUMBER(user_data));
}

static const struct cushim_dispatch_table *load_before_13_2(void)
{
    struct cushim_dispatch_table *hooks = mock_load("fake_13000", (struct cushim_load_options){0});
    hooks->LaunchHostFunc_v1 = launch_host_function;
    assert_int_equal(unit_state(CUSHIM_SLOT_LaunchHostFunc_v2), CUSHIM_STATE_POLYFILL);
    return cushim_table();
}

/* cuGetProcAddress of such a driver returns the older function for CUDA 13.1, of which the newer one is. */
MOCK_TEST(test_host_function_when_the_driver_declares_it_later_then_the_slot_is_a_polyfill)
{
    unit_load_plain("fake_13010");
    assert_int_equal(unit_state(CUSHIM_SLOT_LaunchHostFunc_v2), CUSHIM_STATE_POLYFILL);
    assert_int_equal(unit_state(CUSHIM_SLOT_MulticastBindMem_v2), CUSHIM_STATE_NATIVE);
}

MOCK_TEST(test_host_function_when_its_thread_shall_block_then_the_older_one_is_called)
{
    const struct cushim_dispatch_table *table = load_before_13_2();
    assert_int_equal(table->LaunchHostFunc_v2(STREAM, host_function, HANDLE(void *, 99), CU_HOST_TASK_BLOCKING),
                     CUDA_SUCCESS);
    mock_assert_calls("LaunchHostFunc(7, 1, 99) ");
    mock_fail("LaunchHostFunc", CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(table->LaunchHostFunc_v2(NULL, host_function, NULL, CU_HOST_TASK_BLOCKING),
                     CUDA_ERROR_INVALID_HANDLE);
    mock_assert_calls("LaunchHostFunc(0, 1, 0) ");
}

MOCK_TEST(test_host_function_when_its_thread_shall_spin_then_refused)
{
    const struct cushim_dispatch_table *table = load_before_13_2();
    static const unsigned modes[] = {CU_HOST_TASK_SPINWAIT, 2, UINT_MAX};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        mock_assert_refused(table->LaunchHostFunc_v2(STREAM, host_function, NULL, modes[i]), "cuLaunchHostFunc_v2");
}

/* A driver before 10.0 has callbacks. */
MOCK_TEST(test_host_function_when_the_older_one_is_a_polyfill_too_then_it_is_called_once)
{
    const struct cushim_dispatch_table *table = load_before_10();
    assert_int_equal(table->LaunchHostFunc_v2(STREAM, host_function, HANDLE(void *, 99), CU_HOST_TASK_BLOCKING),
                     CUDA_SUCCESS);
    mock_assert_calls("AddCallback(7, 0) ");
    registered.callback(STREAM, CUDA_SUCCESS, registered.user_data);
    mock_assert_calls("host(99) ");
}

static CUresult CUDAAPI event_record(CUevent event, CUstream stream)
{
    return mock_call("EventRecord", "%u, %u", NUMBER(event), NUMBER(stream));
}

MOCK_TEST(test_event_record_when_flags_are_zero_then_calls_the_older_function)
{
    struct cushim_dispatch_table *hooks = mock_load("fake_11000", (struct cushim_load_options){0});
    hooks->EventRecord_v1 = event_record;
    assert_int_equal(cushim_table()->EventRecordWithFlags_v1(EVENT, STREAM, 0), CUDA_SUCCESS);
    mock_assert_calls("EventRecord(8, 7) ");
    mock_fail("EventRecord", CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    assert_int_equal(cushim_table()->EventRecordWithFlags_v1(EVENT, NULL, 0), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    mock_assert_calls("EventRecord(8, 0) ");
}

MOCK_TEST(test_event_record_when_flags_are_given_then_refused)
{
    struct cushim_dispatch_table *hooks = mock_load("fake_11000", (struct cushim_load_options){0});
    const struct cushim_dispatch_table *table = cushim_table();
    hooks->EventRecord_v1 = event_record;
    mock_assert_refused(table->EventRecordWithFlags_v1(EVENT, STREAM, CU_EVENT_RECORD_EXTERNAL),
                        "cuEventRecordWithFlags");
    assert_int_equal(table->EventRecordWithFlags_v1(EVENT, STREAM, 2), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(table->EventRecordWithFlags_v1(EVENT, STREAM, ~0u), CUDA_ERROR_INVALID_VALUE);
    mock_assert_calls("");
}

static CUresult CUDAAPI elapsed_time(float *milliseconds, CUevent start, CUevent end)
{
    CUresult result = mock_call("ElapsedTime", "%u, %u", NUMBER(start), NUMBER(end));
    if (result == CUDA_SUCCESS)
        *milliseconds = 1.5f;
    return result;
}

MOCK_TEST(test_elapsed_time_when_called_then_the_older_one_is)
{
    float milliseconds = 0;
    struct cushim_dispatch_table *hooks = mock_load("fake_12040", (struct cushim_load_options){0});
    hooks->EventElapsedTime_v1 = elapsed_time;
    assert_int_equal(cushim_table()->EventElapsedTime_v2(&milliseconds, EVENT, HANDLE(CUevent, 9)), CUDA_SUCCESS);
    mock_assert_calls("ElapsedTime(8, 9) ");
    assert_true(milliseconds == 1.5f);
    mock_fail("ElapsedTime", CUDA_ERROR_NOT_READY);
    assert_int_equal(cushim_table()->EventElapsedTime_v2(&milliseconds, EVENT, EVENT), CUDA_ERROR_NOT_READY);
}

static CUgreenCtx green_of_stream;

static CUresult CUDAAPI get_green(CUstream stream, CUgreenCtx *green)
{
    CUresult result = mock_call("GetGreenCtx", "%u", NUMBER(stream));
    if (result == CUDA_SUCCESS)
        *green = green_of_stream;
    return result;
}

static CUresult CUDAAPI get_context(CUstream stream, CUcontext *context)
{
    CUresult result = mock_call("GetCtx", "%u", NUMBER(stream));
    if (result == CUDA_SUCCESS)
        *context = HANDLE(CUcontext, 11);
    return result;
}

static struct cushim_dispatch_table *load_with_contexts(const char *fake)
{
    struct cushim_dispatch_table *hooks = mock_load(fake, (struct cushim_load_options){0});
    hooks->StreamGetGreenCtx_v1 = get_green;
    hooks->StreamGetCtx_v1 = get_context;
    green_of_stream = NULL;
    assert_int_equal(unit_state(CUSHIM_SLOT_StreamGetCtx_v2), CUSHIM_STATE_POLYFILL);
    return hooks;
}

MOCK_TEST(test_stream_context_when_driver_lacks_green_contexts_then_queries_only_the_context)
{
    CUcontext context = NULL;
    CUgreenCtx green = HANDLE(CUgreenCtx, 1);
    load_with_contexts("fake_12020");
    assert_int_equal(cushim_table()->StreamGetCtx_v2(STREAM, &context, &green), CUDA_SUCCESS);
    mock_assert_calls("GetCtx(7) ");
    assert_int_equal(NUMBER(context), 11);
    assert_null(green);
}

MOCK_TEST(test_stream_context_when_the_stream_is_not_green_then_writes_both_results)
{
    CUcontext context = NULL;
    CUgreenCtx green = HANDLE(CUgreenCtx, 1);
    load_with_contexts("fake_12040");
    assert_int_equal(cushim_table()->StreamGetCtx_v2(STREAM, &context, &green), CUDA_SUCCESS);
    mock_assert_calls("GetGreenCtx(7) GetCtx(7) ");
    assert_int_equal(NUMBER(context), 11);
    assert_null(green);
    assert_int_equal(cushim_table()->StreamGetCtx_v2(STREAM, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
}

MOCK_TEST(test_stream_context_when_the_stream_is_green_then_the_primary_one_is_not_made_up)
{
    CUcontext context = HANDLE(CUcontext, 1);
    CUgreenCtx green = NULL;
    load_with_contexts("fake_12040");
    green_of_stream = HANDLE(CUgreenCtx, 12);
    assert_int_equal(cushim_table()->StreamGetCtx_v2(STREAM, &context, &green), CUDA_ERROR_NOT_SUPPORTED);
    mock_assert_calls("GetGreenCtx(7) ");
    assert_int_equal(NUMBER(context), 1);
    assert_null(green);
    assert_int_equal(cushim_table()->StreamGetCtx_v2(STREAM, NULL, &green), CUDA_SUCCESS);
    assert_int_equal(NUMBER(green), 12);
}

MOCK_TEST(test_stream_context_when_a_question_fails_then_results_are_untouched)
{
    static const char *const questions[] = {"GetGreenCtx", "GetCtx"};
    load_with_contexts("fake_12040");
    for (size_t i = 0; i < 2; i++) {
        CUcontext context = HANDLE(CUcontext, 1);
        CUgreenCtx green = HANDLE(CUgreenCtx, 2);
        mock_fail(questions[i], CUDA_ERROR_INVALID_HANDLE);
        assert_int_equal(cushim_table()->StreamGetCtx_v2(STREAM, &context, &green), CUDA_ERROR_INVALID_HANDLE);
        assert_int_equal(NUMBER(context), 1);
        assert_int_equal(NUMBER(green), 2);
    }
}
