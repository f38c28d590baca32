/* SPDX-License-Identifier: MIT */
/* softcuda on a system without free threads. The pthread_create() of this program replaces that of the C library. */
#define _GNU_SOURCE
#include "support.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

static int threads_denied; /* atomic */

__attribute__((visibility("default"))) int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                                                          void *(*body)(void *), void *argument)
{
    union {
        void *object;
        __typeof__(pthread_create) *function;
    } real = {dlsym(RTLD_NEXT, "pthread_create")};
    if (__atomic_load_n(&threads_denied, __ATOMIC_SEQ_CST))
        return EAGAIN;
    return real.function(thread, attributes, body, argument);
}

static void deny_threads(bool denied)
{
    __atomic_store_n(&threads_denied, denied, __ATOMIC_SEQ_CST);
}

static void CUDA_CB count_callback(CUstream stream, CUresult status, void *number)
{
    (void)stream, (void)status;
    support_count(number);
}

static void CUDA_CB gate_callback(CUstream stream, CUresult status, void *gate)
{
    (void)stream, (void)status;
    support_gate(gate);
}

/* Streams at a gate, which occupy every worker. */
enum { MAX_BUSY = 64 };
struct busy {
    struct gate gate;
    CUstream streams[MAX_BUSY];
    size_t count;
};

/* Denies threads and occupies the idle workers, until a stream is refused one. */
static void begin_without_threads(struct busy *busy)
{
    CUresult result = CUDA_SUCCESS;
    *busy = (struct busy){.count = 0};
    deny_threads(true);
    while (result == CUDA_SUCCESS && busy->count < MAX_BUSY) {
        CUstream stream = support_stream(CU_STREAM_NON_BLOCKING);
        result = cu->StreamAddCallback_v1(stream, gate_callback, &busy->gate, 0);
        busy->streams[busy->count++] = stream;
    }
    assert_cu(CUDA_ERROR_OUT_OF_MEMORY, result);
    assert_cu(CUDA_SUCCESS, cu->StreamQuery_v1(busy->streams[busy->count - 1]));
}

static void end_without_threads(struct busy *busy)
{
    support_open(&busy->gate);
    deny_threads(false);
    for (size_t i = 0; i < busy->count; i++) {
        assert_cu(CUDA_SUCCESS, cu->StreamSynchronize_v1(busy->streams[i]));
        assert_cu(CUDA_SUCCESS, cu->StreamDestroy_v2(busy->streams[i]));
    }
}

TEST(test_submission_when_there_are_no_threads_then_it_is_refused_and_nothing_is_done)
{
    int calls = 0;
    unsigned char byte = 7, read_back = 0;
    CUdeviceptr memory;
    struct busy busy;
    CUstream stream = support_stream(CU_STREAM_NON_BLOCKING);
    assert_cu(CUDA_SUCCESS, cu->MemAlloc_v2(&memory, 1));
    assert_cu(CUDA_SUCCESS, cu->MemcpyHtoD_v2(memory, &byte, 1));
    begin_without_threads(&busy);
    assert_cu(CUDA_ERROR_OUT_OF_MEMORY, cu->StreamAddCallback_v1(stream, count_callback, &calls, 0));
    assert_cu(CUDA_ERROR_OUT_OF_MEMORY, cu->MemsetD8Async_v1(memory, 9, 1, stream));
    assert_cu(CUDA_ERROR_OUT_OF_MEMORY, cu->MemcpyDtoHAsync_v2(&read_back, memory, 1, stream));
    if (support_has(10000))
        assert_cu(CUDA_ERROR_OUT_OF_MEMORY, cu->LaunchHostFunc_v1(stream, support_count, &calls));
    assert_cu(CUDA_SUCCESS, cu->StreamQuery_v1(stream));
    assert_cu(CUDA_SUCCESS, cu->StreamSynchronize_v1(stream));
    end_without_threads(&busy);

    assert_cu(CUDA_SUCCESS, cu->MemcpyDtoH_v2(&read_back, memory, 1));
    assert_int_equal(read_back, byte);
    assert_int_equal(support_number(&calls), 0);
    assert_cu(CUDA_SUCCESS, cu->StreamAddCallback_v1(stream, count_callback, &calls, 0));
    assert_cu(CUDA_SUCCESS, cu->StreamDestroy_v2(stream));
    assert_cu(CUDA_SUCCESS, cu->CtxSynchronize_v1());
    assert_int_equal(support_number(&calls), 1);
    assert_cu(CUDA_SUCCESS, cu->MemFree_v2(memory));
}

/* A synchronous copy waits for the work that it submits. */
TEST(test_copy_when_there_are_no_threads_then_it_is_refused)
{
    unsigned char byte = 7, read_back = 0;
    CUdeviceptr memory;
    struct busy busy;
    assert_cu(CUDA_SUCCESS, cu->MemAlloc_v2(&memory, 1));
    assert_cu(CUDA_SUCCESS, cu->MemcpyHtoD_v2(memory, &byte, 1));
    begin_without_threads(&busy);
    assert_cu(CUDA_ERROR_OUT_OF_MEMORY, cu->MemcpyDtoH_v2(&read_back, memory, 1));
    assert_int_equal(read_back, 0);
    end_without_threads(&busy);
    assert_cu(CUDA_SUCCESS, cu->MemcpyDtoH_v2(&read_back, memory, 1));
    assert_int_equal(read_back, byte);
    assert_cu(CUDA_SUCCESS, cu->MemFree_v2(memory));
}

/* A stream that waits for another one needs a thread later, when no call could report the failure. */
TEST(test_work_when_accepted_before_the_threads_run_out_then_it_is_done)
{
    int calls = 0;
    struct gate gate = {0};
    struct busy busy;
    CUstream first = support_stream(CU_STREAM_NON_BLOCKING), second = support_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = support_event(CU_EVENT_DISABLE_TIMING);
    assert_cu(CUDA_SUCCESS, cu->StreamAddCallback_v1(first, gate_callback, &gate, 0));
    assert_cu(CUDA_SUCCESS, cu->EventRecord_v1(event, first));
    assert_cu(CUDA_SUCCESS, cu->StreamWaitEvent_v1(second, event, 0));
    assert_cu(CUDA_SUCCESS, cu->StreamAddCallback_v1(second, count_callback, &calls, 0));
    begin_without_threads(&busy);
    assert_cu(CUDA_SUCCESS, cu->StreamAddCallback_v1(first, count_callback, &calls, 0));
    assert_cu(CUDA_SUCCESS, cu->StreamAddCallback_v1(second, count_callback, &calls, 0));
    support_open(&gate);
    assert_cu(CUDA_SUCCESS, cu->StreamSynchronize_v1(first));
    assert_cu(CUDA_SUCCESS, cu->StreamSynchronize_v1(second));
    assert_int_equal(support_number(&calls), 3);
    end_without_threads(&busy);
    assert_cu(CUDA_SUCCESS, cu->EventDestroy_v2(event));
    assert_cu(CUDA_SUCCESS, cu->StreamDestroy_v2(first));
    assert_cu(CUDA_SUCCESS, cu->StreamDestroy_v2(second));
}

/* The first node needs no thread, but must not be executed alone. */
TEST(test_launch_when_there_are_no_threads_then_no_node_is_executed)
{
    int calls = 0;
    CUgraph graph;
    CUgraphNode record, host;
    struct busy busy;
    if (!support_has(11010))
        skip();
    CUstream stream = support_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = support_event(0), start = support_event(0);
    float milliseconds;
    CUDA_HOST_NODE_PARAMS params = {support_count, &calls};
    assert_cu(CUDA_SUCCESS, cu->GraphCreate_v1(&graph, 0));
    assert_cu(CUDA_SUCCESS, cu->GraphAddEventRecordNode_v1(&record, graph, NULL, 0, event));
    assert_cu(CUDA_SUCCESS, cu->GraphAddHostNode_v1(&host, graph, &record, 1, &params));
    CUgraphExec exec = support_instantiate(graph);
    assert_cu(CUDA_SUCCESS, cu->EventRecord_v1(start, stream));
    begin_without_threads(&busy);
    assert_cu(CUDA_ERROR_OUT_OF_MEMORY, cu->GraphLaunch_v1(exec, stream));
    assert_cu(CUDA_ERROR_INVALID_HANDLE, cu->EventElapsedTime_v1(&milliseconds, start, event)); /* not recorded */
    end_without_threads(&busy);

    assert_cu(CUDA_SUCCESS, cu->GraphLaunch_v1(exec, stream));
    assert_cu(CUDA_SUCCESS, cu->StreamSynchronize_v1(stream));
    assert_int_equal(support_number(&calls), 1);
    assert_cu(CUDA_SUCCESS, cu->EventElapsedTime_v1(&milliseconds, start, event));
    assert_cu(CUDA_SUCCESS, cu->GraphExecDestroy_v1(exec));
    assert_cu(CUDA_SUCCESS, cu->GraphDestroy_v1(graph));
    assert_cu(CUDA_SUCCESS, cu->EventDestroy_v2(event));
    assert_cu(CUDA_SUCCESS, cu->EventDestroy_v2(start));
    assert_cu(CUDA_SUCCESS, cu->StreamDestroy_v2(stream));
}

/* Dropping a user object cannot fail: its destructor waits for a worker. */
TEST(test_user_object_when_there_are_no_threads_then_it_is_destroyed_later)
{
    int calls = 0;
    CUuserObject object;
    struct busy busy;
    if (!support_has(11030))
        skip();
    assert_cu(CUDA_SUCCESS,
              cu->UserObjectCreate_v1(&object, &calls, support_count, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    begin_without_threads(&busy);
    assert_cu(CUDA_SUCCESS, cu->UserObjectRelease_v1(object, 1));
    end_without_threads(&busy);
    CUstream stream = support_stream(CU_STREAM_NON_BLOCKING); /* starts a worker if none exists */
    assert_cu(CUDA_SUCCESS, cu->StreamAddCallback_v1(stream, count_callback, &(int){0}, 0));
    assert_cu(CUDA_SUCCESS, cu->StreamSynchronize_v1(stream));
    while (support_number(&calls) == 0)
        support_sleep(1);
    assert_int_equal(support_number(&calls), 1);
    assert_cu(CUDA_SUCCESS, cu->StreamDestroy_v2(stream));
}
