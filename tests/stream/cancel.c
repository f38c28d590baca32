/* SPDX-License-Identifier: MIT */
/*
 * cancel - threads are cancelled in functions of completion.h. These are not cancellation points: the call goes on,
 * no lock stays locked, and no object is lost. Exit status: 0, or 1 if a check failed.
 */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "cushim/cushim.h"

#define CHECK(what)                                                                                                    \
    if (!(what)) {                                                                                                     \
        fprintf(stderr, "line %d: %s\n", __LINE__, #what);                                                             \
        return 1;                                                                                                      \
    }

enum { MILLISECOND = 1000000 };

static struct cushim_stream *stream;
static atomic_bool gate_is_open;
static int called;

static void CUDA_CB gate(CUstream handle, CUresult status, void *user)
{
    (void)handle, (void)status, (void)user;
    while (!atomic_load(&gate_is_open))
        usleep(500);
}

static void count_call(CUresult status, void *user)
{
    (void)status, (void)user;
    called++;
}

static CUresult wait_status(struct cushim_completion *completion, uint64_t deadline)
{
    CUresult status = CUDA_SUCCESS;
    CUresult result = cushim_completion_wait(completion, deadline, &status);
    return result != CUDA_SUCCESS ? result : status;
}

/* The result of the wait, plus one. */
static void *wait_forever(void *completion)
{
    return (void *)((uintptr_t)wait_status(completion, CUSHIM_FOREVER) + 1);
}

/* The result of a run of a dispatcher, plus one. */
static void *run_forever(void *dispatcher)
{
    return (void *)((uintptr_t)cushim_dispatcher_run(dispatcher, CUSHIM_FOREVER, NULL) + 1);
}

static int cancel_while_waiting(unsigned flags)
{
    struct cushim_completion *completion = NULL;
    pthread_t cancelled, other;
    void *first = NULL, *second = NULL;
    atomic_store(&gate_is_open, false);
    CHECK(cushim_table()->StreamAddCallback_v1(cushim_stream_handle(stream), gate, NULL, 0) == CUDA_SUCCESS);
    CHECK(cushim_completion_create(stream, flags, &completion) == CUDA_SUCCESS);
    CHECK(pthread_create(&cancelled, NULL, wait_forever, completion) == 0);
    usleep(20000); /* until the thread waits; a request that comes earlier stays pending */
    CHECK(pthread_cancel(cancelled) == 0);
    usleep(20000);
    CHECK(wait_status(completion, cushim_clock_ns() + 10 * MILLISECOND) == CUDA_ERROR_TIMEOUT);
    CHECK(pthread_create(&other, NULL, wait_forever, completion) == 0);
    atomic_store(&gate_is_open, true);
    CHECK(pthread_join(other, &second) == 0 && second == (void *)((uintptr_t)CUDA_SUCCESS + 1));
    CHECK(pthread_join(cancelled, &first) == 0 && first == second);
    cushim_completion_destroy(&completion);
    return 0;
}

static int cancel_while_running(void)
{
    struct cushim_completion *completion = NULL;
    struct cushim_dispatcher *dispatcher = NULL;
    pthread_t cancelled;
    void *result = NULL;
    CHECK(cushim_dispatcher_create(&dispatcher) == CUDA_SUCCESS);
    CHECK(pthread_create(&cancelled, NULL, run_forever, dispatcher) == 0);
    usleep(20000);
    CHECK(pthread_cancel(cancelled) == 0);
    CHECK(cushim_completion_create(stream, CUSHIM_COMPLETION_NOTIFYING, &completion) == CUDA_SUCCESS);
    CHECK(cushim_completion_set_callback(completion, dispatcher, count_call, NULL, NULL) == CUDA_SUCCESS);
    CHECK(pthread_join(cancelled, &result) == 0 && result == (void *)((uintptr_t)CUDA_SUCCESS + 1));
    CHECK(called == 1);
    called = 0;
    cushim_completion_destroy(&completion);
    cushim_dispatcher_destroy(&dispatcher);
    return 0;
}

/* All calls are made, and then the thread ends because it is cancelled. */
static bool all_right;

/* The variables are static, because AddressSanitizer does not notice that the stack of a cancelled thread ends. */
static void *use_when_cancelled(void *completion_of_caller)
{
    static struct cushim_completion *completion;
    static struct cushim_dispatcher *dispatcher;
    static cushim_descriptor descriptor;
    static size_t count;
    completion = completion_of_caller;
    pthread_cancel(pthread_self());
    bool right = wait_status(completion, CUSHIM_FOREVER) == CUDA_SUCCESS
                 && cushim_completion_get_descriptor(completion, &descriptor) == CUDA_SUCCESS
                 && cushim_dispatcher_create(&dispatcher) == CUDA_SUCCESS
                 && cushim_completion_set_callback(completion, dispatcher, count_call, NULL, NULL) == CUDA_SUCCESS
                 && cushim_dispatcher_run(dispatcher, 0, &count) == CUDA_SUCCESS && count == 1;
    cushim_completion_destroy(&completion);
    cushim_dispatcher_destroy(&dispatcher);
    all_right = right;
    pthread_testcancel();
    return NULL;
}

static int cancel_before_all(void)
{
    struct cushim_completion *completion = NULL;
    pthread_t cancelled;
    void *result = NULL;
    CHECK(cushim_completion_create(stream, CUSHIM_COMPLETION_NOTIFYING, &completion) == CUDA_SUCCESS);
    CHECK(pthread_create(&cancelled, NULL, use_when_cancelled, completion) == 0);
    CHECK(pthread_join(cancelled, &result) == 0 && result == PTHREAD_CANCELED);
    CHECK(all_right && called == 1);
    return 0;
}

int main(void)
{
    struct cushim_context *context = NULL;
    alarm(20); /* a lock that was lost would block here for ever */
    CHECK(cushim_context_create(0, 0, &context) == CUDA_SUCCESS);
    CHECK(cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream) == CUDA_SUCCESS);
    int failed = cancel_while_waiting(0) || cancel_while_waiting(CUSHIM_COMPLETION_NOTIFYING) || cancel_while_running()
                 || cancel_before_all();
    cushim_stream_destroy(&stream);
    cushim_context_destroy(&context);
    return failed;
}
