/* SPDX-License-Identifier: MIT */
/* Order within a stream and between streams, callbacks, events; every rule is of FACTS or the driver's manual. */
#include "support.h"

#include <string.h>

static bool has_host_functions(void)
{
    return cushim_driver_version() >= 10000;
}

struct call {
    int calls;
    CUresult status;
    CUstream stream;
};

static void CUDA_CB note(CUstream stream, CUresult status, void *data)
{
    struct call *call = data;
    call->status = status;
    call->stream = stream;
    __atomic_add_fetch(&call->calls, 1, __ATOMIC_SEQ_CST);
}

static void CUDA_CB hold(CUstream stream, CUresult status, void *data)
{
    (void)stream, (void)status;
    support_gate(data);
}

static void test_stream_when_created_then_has_its_flags_and_a_clamped_priority(void **state)
{
    (void)state;
    CUstream stream;
    unsigned flags = 9;
    int priority = 9;
    assert_cu(0, cu->StreamCreateWithPriority_v1(&stream, CU_STREAM_NON_BLOCKING, -99));
    assert_cu(0, cu->StreamGetFlags_v1(stream, &flags));
    assert_cu(0, cu->StreamGetPriority_v1(stream, &priority));
    assert_int_equal(flags, CU_STREAM_NON_BLOCKING);
    assert_int_equal(priority, -5);
    assert_cu(0, cu->StreamDestroy_v2(stream));
    assert_cu(1, cu->StreamCreate_v1(&stream, 2));
    assert_cu(1, cu->StreamCreate_v1(NULL, 0));
}

static void test_stream_when_destroyed_then_its_handle_is_none(void **state)
{
    (void)state;
    CUstream stream = support_stream(0);
    assert_cu(0, cu->StreamDestroy_v2(stream));
    assert_cu(400, cu->StreamQuery_v1(stream));
    assert_cu(400, cu->StreamDestroy_v2(stream));
    assert_cu(400, cu->StreamDestroy_v2(NULL));
    assert_cu(400, cu->StreamDestroy_v2(CU_STREAM_LEGACY));
    assert_cu(400, cu->StreamDestroy_v2(CU_STREAM_PER_THREAD));
}

static void test_stream_when_work_is_pending_then_not_ready_and_synchronize_waits(void **state)
{
    (void)state;
    struct gate gate = {0, 0};
    struct call call = {0, CUDA_ERROR_UNKNOWN, NULL};
    CUstream stream = support_stream(0);
    assert_cu(0, cu->StreamAddCallback_v1(stream, hold, &gate, 0));
    assert_cu(0, cu->StreamAddCallback_v1(stream, note, &call, 0));
    support_reached(&gate);
    assert_cu(600, cu->StreamQuery_v1(stream));
    assert_int_equal(support_number(&call.calls), 0);
    support_open(&gate);
    assert_cu(0, cu->StreamSynchronize_v1(stream));
    assert_cu(0, cu->StreamQuery_v1(stream));
    assert_int_equal(support_number(&call.calls), 1);
    assert_cu(0, call.status);
    assert_ptr_equal(call.stream, stream);
    assert_cu(0, cu->StreamDestroy_v2(stream));
}

static void test_stream_when_destroyed_with_work_then_the_work_is_done(void **state)
{
    (void)state;
    struct gate gate = {0, 0};
    struct call call = {0, CUDA_ERROR_UNKNOWN, NULL};
    CUstream stream = support_stream(0);
    cu->StreamAddCallback_v1(stream, hold, &gate, 0);
    cu->StreamAddCallback_v1(stream, note, &call, 0);
    assert_cu(0, cu->StreamDestroy_v2(stream));
    support_open(&gate);
    assert_cu(0, cu->CtxSynchronize_v1());
    assert_int_equal(support_number(&call.calls), 1);
    assert_cu(0, call.status);
}

static void test_legacy_stream_when_a_blocking_one_is_busy_then_waits_for_it(void **state)
{
    (void)state;
    struct gate gate = {0, 0};
    struct call legacy = {0, CUDA_ERROR_UNKNOWN, NULL}, after = legacy, free = legacy;
    CUstream blocking = support_stream(0), other = support_stream(0), apart = support_stream(CU_STREAM_NON_BLOCKING);
    cu->StreamAddCallback_v1(blocking, hold, &gate, 0);
    cu->StreamAddCallback_v1(CU_STREAM_LEGACY, note, &legacy, 0);
    cu->StreamAddCallback_v1(other, note, &after, 0); /* behind the legacy one, and so behind the first */
    cu->StreamAddCallback_v1(apart, note, &free, 0);
    support_reached(&gate);
    assert_cu(0, cu->StreamSynchronize_v1(apart));
    assert_int_equal(support_number(&free.calls), 1);
    assert_cu(600, cu->StreamQuery_v1(CU_STREAM_LEGACY));
    assert_cu(600, cu->StreamQuery_v1(other));
    assert_int_equal(support_number(&legacy.calls) + support_number(&after.calls), 0);
    support_open(&gate);
    assert_cu(0, cu->StreamSynchronize_v1(other));
    assert_int_equal(support_number(&legacy.calls) + support_number(&after.calls), 2);
}

static void test_event_when_waited_for_in_another_stream_then_orders_the_two(void **state)
{
    (void)state;
    struct gate gate = {0, 0};
    struct call call = {0, CUDA_ERROR_UNKNOWN, NULL};
    CUstream first = support_stream(1), second = support_stream(1);
    CUevent event = support_event(0), unrecorded = support_event(0);
    cu->StreamAddCallback_v1(first, hold, &gate, 0);
    assert_cu(0, cu->EventRecord_v1(event, first));
    assert_cu(0, cu->StreamWaitEvent_v1(second, event, 0));
    assert_cu(0, cu->StreamWaitEvent_v1(second, unrecorded, 0));
    assert_cu(0, cu->EventDestroy_v2(event)); /* the wait stands */
    cu->StreamAddCallback_v1(second, note, &call, 0);
    support_reached(&gate);
    assert_cu(600, cu->StreamQuery_v1(second));
    support_open(&gate);
    assert_cu(0, cu->StreamSynchronize_v1(second));
    assert_int_equal(support_number(&call.calls), 1);
    assert_cu(400, cu->EventQuery_v1(event));
    assert_cu(400, cu->StreamWaitEvent_v1(second, NULL, 0));
    assert_cu(1, cu->StreamWaitEvent_v1(second, unrecorded, 9));
    assert_cu(401, cu->StreamWaitEvent_v1(second, unrecorded, 1));
}

static void test_events_when_recorded_around_work_then_elapsed_is_its_time(void **state)
{
    (void)state;
    struct gate gate = {0, 0};
    float milliseconds = 0;
    CUstream stream = support_stream(0);
    CUevent start = support_event(0), end = support_event(0), untimed = support_event(CU_EVENT_DISABLE_TIMING);
    assert_cu(400, cu->EventElapsedTime_v1(&milliseconds, start, end));
    cu->EventRecord_v1(start, stream);
    cu->StreamAddCallback_v1(stream, hold, &gate, 0);
    cu->EventRecord_v1(end, stream);
    cu->EventRecord_v1(untimed, stream);
    support_reached(&gate);
    assert_cu(600, cu->EventQuery_v1(end));
    assert_cu(600, cu->EventElapsedTime_v1(&milliseconds, start, end));
    support_sleep(20);
    support_open(&gate);
    assert_cu(0, cu->EventSynchronize_v1(end));
    assert_cu(0, cu->EventElapsedTime_v1(&milliseconds, start, end));
    assert_true(milliseconds >= 20 && milliseconds < 60000);
    assert_cu(400, cu->EventElapsedTime_v1(&milliseconds, start, untimed));
}

static CUresult inside_query, inside_synchronize;

static void CUDA_CB ask_own_stream(CUstream stream, CUresult status, void *data)
{
    (void)status, (void)data;
    inside_query = cu->StreamQuery_v1(stream);
    inside_synchronize = cu->StreamSynchronize_v1(stream);
}

static void test_callback_when_it_asks_its_own_stream_then_that_is_idle(void **state)
{
    (void)state;
    CUstream stream = support_stream(0);
    inside_query = inside_synchronize = CUDA_ERROR_UNKNOWN;
    cu->StreamAddCallback_v1(stream, ask_own_stream, NULL, 0);
    assert_cu(0, cu->StreamSynchronize_v1(stream));
    assert_cu(0, inside_query);
    assert_cu(0, inside_synchronize);
    assert_cu(1, cu->StreamAddCallback_v1(stream, NULL, NULL, 0));
    assert_cu(1, cu->StreamAddCallback_v1(stream, note, NULL, 1));
}

static void own_stream(void *result)
{
    static struct gate gate; /* the callback may look at it once more when this thread has ended */
    cu->StreamAddCallback_v1(CU_STREAM_PER_THREAD, hold, &gate, 0);
    support_reached(&gate);
    *(CUresult *)result = cu->StreamQuery_v1(CU_STREAM_PER_THREAD);
    support_open(&gate);
}

static void test_per_thread_stream_when_that_of_another_thread_is_busy_then_idle(void **state)
{
    (void)state;
    struct gate gate = {0, 0};
    CUresult other = CUDA_ERROR_UNKNOWN;
    cu->StreamAddCallback_v1(CU_STREAM_PER_THREAD, hold, &gate, 0);
    support_on_thread(own_stream, &other); /* which ends with work in its stream */
    assert_cu(600, other);
    support_open(&gate);
    assert_cu(0, cu->StreamSynchronize_v1(CU_STREAM_PER_THREAD));
    assert_cu(0, cu->CtxSynchronize_v1());
}

static void test_context_when_reset_then_its_streams_and_events_say_so(void **state)
{
    (void)state;
    if (cushim_driver_version() < 7000)
        skip();
    CUstream stream = support_stream(0);
    CUevent event = support_event(0);
    cu->EventRecord_v1(event, stream);
    assert_cu(0, cu->DevicePrimaryCtxReset_v1(0));
    assert_cu(709, cu->StreamQuery_v1(stream));
    assert_cu(709, cu->StreamDestroy_v2(stream));
    assert_cu(709, cu->EventQuery_v1(event));
    assert_cu(709, cu->StreamCreate_v1(&stream, 0));
}

static void test_no_context_when_a_created_stream_is_used_then_it_works(void **state)
{
    (void)state;
    struct call call = {0, CUDA_ERROR_UNKNOWN, NULL};
    CUstream stream = support_stream(0), none;
    cu->CtxSetCurrent_v1(NULL);
    assert_cu(0, cu->StreamAddCallback_v1(stream, note, &call, 0));
    assert_cu(0, cu->StreamSynchronize_v1(stream));
    assert_cu(201, cu->StreamQuery_v1(NULL));
    assert_cu(201, cu->StreamCreate_v1(&none, 0));
    assert_cu(0, cu->StreamDestroy_v2(stream));
    assert_int_equal(support_number(&call.calls), 1);
}

static void test_host_function_when_launched_then_runs_in_order(void **state)
{
    (void)state;
    int number = 0;
    CUstream stream = support_stream(0);
    if (!has_host_functions())
        skip();
    for (int i = 0; i < 100; i++)
        assert_cu(0, cu->LaunchHostFunc_v1(stream, support_count, &number));
    assert_cu(0, cu->StreamSynchronize_v1(stream));
    assert_int_equal(support_number(&number), 100);
    assert_cu(1, cu->LaunchHostFunc_v1(stream, NULL, NULL));
}

int main(int argc, char **argv)
{
    support_load(argc, argv);
    const struct CMUnitTest tests[] = {
        TEST(test_stream_when_created_then_has_its_flags_and_a_clamped_priority),
        TEST(test_stream_when_destroyed_then_its_handle_is_none),
        TEST(test_stream_when_work_is_pending_then_not_ready_and_synchronize_waits),
        TEST(test_stream_when_destroyed_with_work_then_the_work_is_done),
        TEST(test_legacy_stream_when_a_blocking_one_is_busy_then_waits_for_it),
        TEST(test_event_when_waited_for_in_another_stream_then_orders_the_two),
        TEST(test_events_when_recorded_around_work_then_elapsed_is_its_time),
        TEST(test_callback_when_it_asks_its_own_stream_then_that_is_idle),
        TEST(test_per_thread_stream_when_that_of_another_thread_is_busy_then_idle),
        TEST(test_context_when_reset_then_its_streams_and_events_say_so),
        TEST(test_no_context_when_a_created_stream_is_used_then_it_works),
        TEST(test_host_function_when_launched_then_runs_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
