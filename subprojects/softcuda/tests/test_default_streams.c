/* SPDX-License-Identifier: MIT */
/* Stream 0 in both tables, native and through polyfills: the thread's own default stream in one, the legacy stream in
 * the other. */
#include "support.h"

static const struct cushim_dispatch_table *table_of(enum cushim_default_stream kind)
{
    return kind == CUSHIM_DEFAULT_STREAM_LEGACY ? cushim_table_legacy() : cushim_table_per_thread();
}

/* The results of another thread while the default stream of the first thread is at a gate. The legacy stream waits for
 * that stream; the default stream of the other thread does not. */
struct other_thread {
    const struct cushim_dispatch_table *table;
    CUevent event;
    CUresult launched, recorded, queried;
    int number; /* of calls of the host function */
};

static void other_thread_use_stream_0(void *argument)
{
    struct other_thread *other = argument;
    other->launched = other->table->LaunchHostFunc_v1(NULL, support_count, &other->number);
    other->recorded = other->table->EventRecordWithFlags_v1(other->event, NULL, 0);
    if (other->table == cushim_table_per_thread())
        (void)other->table->StreamSynchronize_v1(NULL);
    other->queried = cu->EventQuery_v1(other->event);
}

static void check_beside_gate(enum cushim_default_stream kind, CUresult expected)
{
    struct gate gate = {0, 0};
    struct other_thread other = {.table = table_of(kind), .event = support_event(0)};
    assert_cu(0, cushim_table_per_thread()->LaunchHostFunc_v1(NULL, support_gate, &gate));
    support_reached(&gate);
    assert_cu(600, cushim_table_per_thread()->StreamQuery_v1(NULL));
    assert_cu(600, cu->StreamQuery_v1(CU_STREAM_PER_THREAD));
    assert_cu(600, cu->StreamQuery_v1(CU_STREAM_LEGACY));
    support_on_thread(other_thread_use_stream_0, &other);
    int number_beside_gate = support_number(&other.number);
    support_open(&gate);
    assert_cu(0, cushim_table_legacy()->StreamSynchronize_v1(NULL));

    assert_cu(0, other.launched);
    assert_cu(0, other.recorded);
    assert_cu(expected, other.queried);
    assert_int_equal(number_beside_gate, expected == CUDA_SUCCESS);
    assert_int_equal(support_number(&other.number), 1);
    assert_cu(0, cu->EventDestroy_v2(other.event));
}

TEST(test_stream_0_when_another_thread_waits_then_only_the_legacy_one_waits_with_it)
{
    if (!support_has(7000))
        skip();
    check_beside_gate(CUSHIM_DEFAULT_STREAM_PER_THREAD, CUDA_SUCCESS);
    check_beside_gate(CUSHIM_DEFAULT_STREAM_LEGACY, CUDA_ERROR_NOT_READY);
}

static CUresult synchronize(void *stream)
{
    return cu->StreamSynchronize_v1(stream);
}

TEST(test_legacy_stream_when_synchronised_then_waits_for_blocking_streams_alone)
{
    assert_true(support_waits_beside(CU_STREAM_DEFAULT, synchronize, CU_STREAM_LEGACY));
    assert_true(support_returns_beside(CU_STREAM_NON_BLOCKING, synchronize, CU_STREAM_LEGACY));
    assert_true(support_returns_beside(CU_STREAM_DEFAULT, synchronize, CU_STREAM_PER_THREAD));
}

static void begin_capture(void *unused)
{
    assert_cu(0, cu->StreamBeginCapture_v2(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_GLOBAL));
}

TEST(test_thread_when_it_ends_with_an_open_capture_then_the_capture_is_gone)
{
    CUdeviceptr memory;
    if (!support_has(10010))
        skip();
    support_on_thread(begin_capture, NULL);
    assert_cu(0, cu->MemAlloc_v2(&memory, 64));
    assert_cu(0, cu->CtxSynchronize_v1());
    assert_cu(0, cu->MemFree_v2(memory));
}

static void assert_capturing(const struct cushim_dispatch_table *table, CUresult expected)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    assert_cu(expected, table->StreamGetCaptureInfo_v3(NULL, &status, NULL, NULL, NULL, NULL, NULL));
    if (expected == CUDA_SUCCESS)
        assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
}

TEST(test_stream_0_when_captured_then_it_is_that_of_the_thread)
{
    const struct cushim_dispatch_table *per_thread = cushim_table_per_thread();
    CUgraph graph = NULL;
    if (!support_has(10000))
        skip();
    assert_cu(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
              cushim_table_legacy()->StreamBeginCapture_v2(NULL, CU_STREAM_CAPTURE_MODE_RELAXED));
    assert_cu(0, per_thread->StreamBeginCapture_v2(NULL, CU_STREAM_CAPTURE_MODE_RELAXED));
    assert_capturing(per_thread, CUDA_SUCCESS);
    assert_capturing(cushim_table_legacy(), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    assert_cu(0, per_thread->StreamEndCapture_v1(NULL, &graph));
    assert_cu(0, cu->GraphDestroy_v1(graph));
}

TEST(test_stream_0_when_the_driver_is_older_than_7_0_then_only_the_legacy_one_can_be_used)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    int number = 0;
    if (support_has(7000))
        skip();
    assert_cu(0, cushim_table_legacy()->LaunchHostFunc_v1(NULL, support_count, &number));
    assert_cu(0, cushim_table_legacy()->StreamIsCapturing_v1(NULL, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
    assert_cu(0, cushim_table_legacy()->StreamSynchronize_v1(NULL));
    assert_int_equal(support_number(&number), 1);

    const struct cushim_dispatch_table *per_thread = cushim_table_per_thread();
    assert_cu(CUDA_ERROR_NOT_SUPPORTED, per_thread->LaunchHostFunc_v1(NULL, support_count, &number));
    assert_cu(CUDA_ERROR_NOT_SUPPORTED, per_thread->StreamIsCapturing_v1(NULL, &status));
    assert_cu(CUDA_ERROR_NOT_SUPPORTED, per_thread->StreamSynchronize_v1(NULL));
    assert_int_equal(support_number(&number), 1);
}
