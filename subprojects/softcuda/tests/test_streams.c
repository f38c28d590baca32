/* SPDX-License-Identifier: MIT */
/* Streams and events beyond the checks of the conformance suite: calls that crash a real driver, and tests that take
 * long. */
#include "support.h"

#include <sys/wait.h>
#include <unistd.h>

static void CUDA_CB wait_at_gate(CUstream stream, CUresult status, void *data)
{
    (void)stream, (void)status;
    support_gate(data);
}

TEST(test_stream_and_event_when_destroyed_then_their_handles_are_refused)
{
    CUstream stream = support_stream(0);
    CUevent event = support_event(0);
    assert_cu(0, cu->EventRecord_v1(event, stream));
    assert_cu(0, cu->EventDestroy_v2(event));
    assert_cu(400, cu->EventQuery_v1(event));
    assert_cu(0, cu->StreamDestroy_v2(stream));
    assert_cu(400, cu->StreamQuery_v1(stream));
    assert_cu(400, cu->StreamDestroy_v2(stream));
}

TEST(test_events_when_recorded_around_work_then_elapsed_is_its_time)
{
    struct gate gate = {0, 0};
    float milliseconds = 0;
    CUstream stream = support_stream(0);
    CUevent start = support_event(0), end = support_event(0);
    cu->EventRecord_v1(start, stream);
    cu->StreamAddCallback_v1(stream, wait_at_gate, &gate, 0);
    cu->EventRecord_v1(end, stream);
    support_reached(&gate);
    support_sleep(20);
    support_open(&gate);
    assert_cu(0, cu->EventSynchronize_v1(end));
    assert_cu(0, cu->EventElapsedTime_v1(&milliseconds, start, end));
    assert_true(milliseconds >= 20 && milliseconds < 60000);
}

static void CUDA_CB synchronize_own_stream(CUstream stream, CUresult status, void *result)
{
    *(CUresult *)result = cu->StreamSynchronize_v1(stream);
}

TEST(test_callback_when_it_synchronizes_its_own_stream_then_returns_immediately)
{
    CUresult result = CUDA_ERROR_UNKNOWN;
    CUstream stream = support_stream(0);
    assert_cu(0, cu->StreamAddCallback_v1(stream, synchronize_own_stream, &result, 0));
    assert_cu(0, cu->StreamSynchronize_v1(stream));
    assert_cu(0, result);
}

static void own_stream(void *result)
{
    static struct gate gate; /* the callback may read it once more after the end of this thread */
    cu->StreamAddCallback_v1(CU_STREAM_PER_THREAD, wait_at_gate, &gate, 0);
    support_reached(&gate);
    *(CUresult *)result = cu->StreamQuery_v1(CU_STREAM_PER_THREAD);
    support_open(&gate);
}

TEST(test_per_thread_stream_when_that_of_another_thread_is_busy_then_idle)
{
    struct gate gate = {0, 0};
    CUresult other = CUDA_ERROR_UNKNOWN;
    cu->StreamAddCallback_v1(CU_STREAM_PER_THREAD, wait_at_gate, &gate, 0);
    support_on_thread(own_stream, &other); /* the thread ends with pending work in its stream */
    assert_cu(600, other);
    support_open(&gate);
    assert_cu(0, cu->StreamSynchronize_v1(CU_STREAM_PER_THREAD));
    assert_cu(0, cu->CtxSynchronize_v1());
}

/* The conformance suite asks the child of a fork for the rest. */
TEST(test_callback_when_added_in_the_child_of_a_fork_then_refused)
{
    struct gate gate = {.open = 1};
    int status = -1;
    CUstream stream = support_stream(0);
    pid_t child = fork();
    if (child == 0)
        _exit(cu->StreamAddCallback_v1(stream, wait_at_gate, &gate, 0) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_cu(0, cu->StreamAddCallback_v1(stream, wait_at_gate, &gate, 0));
    assert_cu(0, cu->StreamSynchronize_v1(stream));
    assert_cu(0, cu->StreamDestroy_v2(stream));
}

TEST(test_context_when_reset_then_its_events_say_so)
{
    if (cushim_driver_version() < 7000)
        skip();
    CUevent event = support_event(0);
    cu->EventRecord_v1(event, NULL);
    assert_cu(0, cu->DevicePrimaryCtxReset_v1(0));
    assert_cu(709, cu->EventQuery_v1(event));
}
