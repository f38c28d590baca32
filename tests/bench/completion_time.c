/* SPDX-License-Identifier: MIT */
/*
 * completion_time.c - times completions against the alternatives of a program without them, in turn. Each line is one
 * pair, in nanoseconds: "name ours bare". completion_time.py runs it and judges the result.
 *
 *   create+reap/event      creating 50 polled completions, polling and destroying them, for one completion; against
 *                          recording 50 events and querying them, which exist before
 *   create+reap/new-event  the same against creating, recording, querying and destroying 50 events
 *   create/callback        creating 50 notifying completions, for one; against recording an event, a wait in a second
 *                          stream, and a callback there
 *   short/synchronize      from enqueueing a memset of 64 bytes until the waiter is awake, in cushim_completion_wait()
 *                          of a polled completion; against cuStreamSynchronize()
 *   late-D/futex           from the end of GPU work of the duration D until the waiter is awake, in a wait for a polled
 *                          completion; against a status callback that wakes the waiter by a futex
 *   notifying/futex        the same with a notifying completion, after 100 us
 *   descriptor/callback    the same with poll() on its descriptor; against a callback that writes an eventfd
 *   cpu-20ms               the CPU time of a thread in a wait of 20 ms, against the 20 ms
 *   cpu-100-threads        the CPU time of 100 threads that wait for a second together, against that second
 *   work-behind/alone      one of 200 memsets of 8 MiB with a notifying completion behind each; against the memsets
 *   N-streams/callback     N busy streams, each with a memset and a callback for its end, until one thread has called
 *                          all callbacks; for one stream; against status callbacks that count, and write an eventfd
 *   pass/query             a look at one of 400 pending completions in cushim_completion_wait_any(); against a query of
 *                          an event
 *
 * The end of the GPU work is under control: the stream waits for a value in host memory, which another thread writes.
 * Exit status 77: the machine has no GPU, or its driver cannot wait for values.
 */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cushim/cushim.h"

enum {
    WARM_UP = 10,
    BATCH = 50,
    STREAMS = 1000,
    THREADS = 100,
    PENDING = 400, /* a stream takes about a thousand commands before it blocks the caller */
    BEHIND = 40,   /* a notification stream holds 56 (completion.h) */
    MICROSECOND = 1000,
    MILLISECOND = 1000000,
    SMALL = 64,
    LARGE = 8 << 20
};

static const struct cushim_dispatch_table *cu; /* a table whose slots are the driver's own functions */
static struct cushim_context *context;
static struct cushim_stream *stream;
static struct cushim_stream *streams[STREAMS];
static int busy; /* streams */
static struct cushim_dispatcher *dispatcher;
static CUstream handle, second;
static CUdeviceptr memory;
static int event_fd;

static void check(CUresult result)
{
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "completion_time: error %d: %s\n", (int)result, cushim_error_last()->message);
    exit(1);
}

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void CUDA_CB write_event(CUstream of, CUresult status, void *user)
{
    const uint64_t one = 1;
    (void)of, (void)status;
    if (user != NULL)
        atomic_fetch_add((atomic_int *)user, 1);
    if (write(event_fd, &one, sizeof one) != sizeof one)
        abort();
}

static void read_event(void)
{
    uint64_t count;
    if (read(event_fd, &count, sizeof count) != sizeof count)
        abort();
}

static atomic_uint *gate; /* in host memory that the GPU reads */
static CUdeviceptr gate_address;
static unsigned rounds;
static long delay;
static sem_t opener_wanted;
static double opened_at;

/* Opens the gate with a delay after the request. Sleeping is not exact enough for its end. */
static void *open_gate(void *unused)
{
    const long margin = 200 * MICROSECOND;
    for (unsigned round = 1;; round++) {
        while (sem_wait(&opener_wanted) != 0)
            ;
        if (delay < 0)
            return unused;
        double end = now(CLOCK_MONOTONIC) + (double)delay;
        if (delay > margin)
            nanosleep(&(struct timespec){(delay - margin) / 1000000000, (delay - margin) % 1000000000}, NULL);
        while ((opened_at = now(CLOCK_MONOTONIC)) < end)
            ;
        atomic_store(gate, round);
    }
}

static void close_gate(void)
{
    check(cu->StreamWaitValue32_v2(handle, gate_address, ++rounds, CU_STREAM_WAIT_VALUE_GEQ));
}

static struct cushim_completion *new_completion(struct cushim_stream *of, unsigned flags)
{
    struct cushim_completion *completion = NULL;
    check(cushim_completion_create(of, flags, &completion));
    return completion;
}

static void wait_for(struct cushim_completion *completion)
{
    CUresult status = CUDA_ERROR_UNKNOWN;
    check(cushim_completion_wait(completion, CUSHIM_FOREVER, &status));
    check(status);
}

static double wait_for_gate(unsigned flags)
{
    close_gate();
    struct cushim_completion *completion = new_completion(stream, flags);
    sem_post(&opener_wanted);
    wait_for(completion);
    double awake = now(CLOCK_MONOTONIC);
    cushim_completion_destroy(&completion);
    return awake - opened_at;
}

static double by_wait(void)
{
    return wait_for_gate(0);
}

static double by_notifying_wait(void)
{
    return wait_for_gate(CUSHIM_COMPLETION_NOTIFYING);
}

static double by_descriptor(void)
{
    struct pollfd watch = {.events = POLLIN};
    close_gate();
    struct cushim_completion *completion = new_completion(stream, CUSHIM_COMPLETION_NOTIFYING);
    check(cushim_completion_get_descriptor(completion, &watch.fd));
    sem_post(&opener_wanted);
    while (poll(&watch, 1, -1) != 1)
        ;
    double awake = now(CLOCK_MONOTONIC);
    cushim_completion_destroy(&completion);
    return awake - opened_at;
}

static double by_callback(void)
{
    close_gate();
    check(cu->StreamAddCallback_v1(handle, write_event, NULL, 0));
    sem_post(&opener_wanted);
    read_event();
    return now(CLOCK_MONOTONIC) - opened_at;
}

static atomic_uint futex_word;

static void CUDA_CB wake_futex(CUstream of, CUresult status, void *user)
{
    (void)of, (void)status, (void)user;
    atomic_store(&futex_word, 1);
    syscall(SYS_futex, &futex_word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static double by_futex(void)
{
    atomic_store(&futex_word, 0);
    close_gate();
    check(cu->StreamAddCallback_v1(handle, wake_futex, NULL, 0));
    sem_post(&opener_wanted);
    while (atomic_load(&futex_word) == 0)
        syscall(SYS_futex, &futex_word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    return now(CLOCK_MONOTONIC) - opened_at;
}

static double soon_by_wait(void)
{
    double start = now(CLOCK_MONOTONIC);
    check(cu->MemsetD8Async_v1(memory, 1, SMALL, handle));
    struct cushim_completion *completion = new_completion(stream, 0);
    wait_for(completion);
    double awake = now(CLOCK_MONOTONIC);
    cushim_completion_destroy(&completion);
    return awake - start;
}

static double soon_by_synchronize(void)
{
    double start = now(CLOCK_MONOTONIC);
    check(cu->MemsetD8Async_v1(memory, 1, SMALL, handle));
    check(cu->StreamSynchronize_v1(handle));
    return now(CLOCK_MONOTONIC) - start;
}

static double polled_made(void)
{
    struct cushim_completion *completions[BATCH];
    double start = now(CLOCK_MONOTONIC);
    for (int i = 0; i < BATCH; i++)
        check(cushim_completion_create(stream, 0, &completions[i]));
    double made = now(CLOCK_MONOTONIC);
    check(cu->StreamSynchronize_v1(handle));
    double done = now(CLOCK_MONOTONIC);
    for (int i = 0; i < BATCH; i++) {
        check(cushim_completion_poll(completions[i], NULL));
        cushim_completion_destroy(&completions[i]);
    }
    return (now(CLOCK_MONOTONIC) - done + made - start) / BATCH;
}

static double notifying_made(void)
{
    struct cushim_completion *completions[BATCH];
    double start = now(CLOCK_MONOTONIC);
    for (int i = 0; i < BATCH; i++)
        check(cushim_completion_create(stream, CUSHIM_COMPLETION_NOTIFYING, &completions[i]));
    double made = now(CLOCK_MONOTONIC);
    for (int i = 0; i < BATCH; i++) {
        wait_for(completions[i]);
        cushim_completion_destroy(&completions[i]);
    }
    return (made - start) / BATCH;
}

static void CUDA_CB set_flag(CUstream of, CUresult status, void *user)
{
    (void)of;
    atomic_store((atomic_int *)user, status == CUDA_SUCCESS ? 1 : -1);
}

static CUevent events[PENDING], new_events[BATCH];

static double callbacks_made(void)
{
    atomic_int flags[BATCH];
    double start = now(CLOCK_MONOTONIC);
    for (int i = 0; i < BATCH; i++) {
        atomic_init(&flags[i], 0);
        check(cu->EventRecord_v1(events[i], handle));
        check(cu->StreamWaitEvent_v1(second, events[i], 0));
        check(cu->StreamAddCallback_v1(second, set_flag, &flags[i], 0));
    }
    double made = now(CLOCK_MONOTONIC);
    check(cu->StreamSynchronize_v1(second));
    for (int i = 0; i < BATCH; i++)
        check(atomic_load(&flags[i]) == 1 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN);
    return (made - start) / BATCH;
}

static double events_recorded(bool each_is_new)
{
    double start = now(CLOCK_MONOTONIC);
    for (int i = 0; i < BATCH; i++) {
        if (each_is_new)
            check(cu->EventCreate_v1(&new_events[i], CU_EVENT_DISABLE_TIMING));
        check(cu->EventRecord_v1(each_is_new ? new_events[i] : events[i], handle));
    }
    double made = now(CLOCK_MONOTONIC);
    check(cu->StreamSynchronize_v1(handle));
    double done = now(CLOCK_MONOTONIC);
    for (int i = 0; i < BATCH; i++) {
        check(cu->EventQuery_v1(each_is_new ? new_events[i] : events[i]));
        if (each_is_new)
            check(cu->EventDestroy_v2(new_events[i]));
    }
    return (now(CLOCK_MONOTONIC) - done + made - start) / BATCH;
}

static double events_made(void)
{
    return events_recorded(false);
}

static double new_events_made(void)
{
    return events_recorded(true);
}

static double cpu_of_wait(void)
{
    close_gate();
    struct cushim_completion *completion = new_completion(stream, 0);
    double start = now(CLOCK_THREAD_CPUTIME_ID);
    sem_post(&opener_wanted);
    wait_for(completion);
    double end = now(CLOCK_THREAD_CPUTIME_ID);
    cushim_completion_destroy(&completion);
    return end - start;
}

static double time_of_wait(void)
{
    return (double)delay;
}

static void *wait_in_thread(void *completion)
{
    wait_for(completion);
    return NULL;
}

static double cpu_of_threads(void)
{
    struct cushim_completion *completions[THREADS];
    pthread_t threads[THREADS];
    close_gate();
    for (int i = 0; i < THREADS; i++)
        completions[i] = new_completion(stream, 0);
    double start = now(CLOCK_PROCESS_CPUTIME_ID);
    sem_post(&opener_wanted);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, wait_in_thread, completions[i]) != 0)
            abort();
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    double end = now(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < THREADS; i++)
        cushim_completion_destroy(&completions[i]);
    return end - start;
}

/* Everything is enqueued before the gate opens, so that only the work is timed. */
static double work_with(bool completions)
{
    struct cushim_completion *behind[BEHIND] = {NULL};
    close_gate();
    for (int i = 0; i < BEHIND; i++) {
        check(cu->MemsetD8Async_v1(memory, 1, LARGE, handle));
        if (completions)
            behind[i] = new_completion(stream, CUSHIM_COMPLETION_NOTIFYING);
    }
    sem_post(&opener_wanted);
    check(cu->StreamSynchronize_v1(handle));
    double end = now(CLOCK_MONOTONIC);
    for (int i = 0; i < BEHIND && completions; i++) {
        wait_for(behind[i]);
        cushim_completion_destroy(&behind[i]);
    }
    return (end - opened_at) / BEHIND;
}

static double work_behind(void)
{
    return work_with(true);
}

static double work_alone(void)
{
    return work_with(false);
}

static struct cushim_completion *pending[PENDING];

static double pass_over_completions(void)
{
    size_t index;
    double start = now(CLOCK_MONOTONIC);
    if (cushim_completion_wait_any(pending, PENDING, 0, &index) != CUDA_ERROR_TIMEOUT)
        abort();
    return (now(CLOCK_MONOTONIC) - start) / PENDING;
}

static double pass_over_events(void)
{
    double start = now(CLOCK_MONOTONIC);
    for (int i = 0; i < PENDING; i++)
        if (cu->EventQuery_v1(events[i]) != CUDA_ERROR_NOT_READY)
            abort();
    return (now(CLOCK_MONOTONIC) - start) / PENDING;
}

static void work_in(int number)
{
    check(cu->MemsetD32Async_v1(memory, 1, 1, cushim_stream_handle(streams[number])));
}

static void count_one(CUresult status, void *user)
{
    check(status);
    ++*(int *)user;
}

static double completions_of_streams(void)
{
    int count = 0;
    double start = now(CLOCK_MONOTONIC);
    for (int i = 0; i < busy; i++) {
        work_in(i);
        struct cushim_completion *completion = new_completion(streams[i], CUSHIM_COMPLETION_NOTIFYING);
        check(cushim_completion_set_callback(completion, dispatcher, count_one, &count, NULL));
        cushim_completion_detach(&completion);
    }
    while (count < busy)
        check(cushim_dispatcher_run(dispatcher, CUSHIM_FOREVER, NULL));
    return (now(CLOCK_MONOTONIC) - start) / busy;
}

static double callbacks_of_streams(void)
{
    atomic_int count = 0;
    double start = now(CLOCK_MONOTONIC);
    for (int i = 0; i < busy; i++) {
        work_in(i);
        check(cu->StreamAddCallback_v1(cushim_stream_handle(streams[i]), write_event, &count, 0));
    }
    while (atomic_load(&count) < busy)
        read_event();
    double end = now(CLOCK_MONOTONIC);
    check(cu->CtxSynchronize_v1()); /* the last callback may not have written yet */
    const uint64_t one = 1;
    if (write(event_fd, &one, sizeof one) == sizeof one)
        read_event();
    return (end - start) / busy;
}

static void compare(const char *name, int pairs, double (*ours)(void), double (*without)(void))
{
    for (int i = pairs < WARM_UP ? 0 : -WARM_UP; i < pairs; i++) {
        double first = i % 2 == 0 ? ours() : without();
        double second = i % 2 == 0 ? without() : ours();
        if (i >= 0)
            printf("%s %.1f %.1f\n", name, i % 2 == 0 ? first : second, i % 2 == 0 ? second : first);
    }
}

static void compare_after(long work, const char *name, int pairs, double (*ours)(void), double (*without)(void))
{
    delay = work;
    compare(name, pairs, ours, without);
}

static void bench_prepare(void)
{
    void *host;
    cu = cushim_table();
    check(cushim_context_create_primary(0, &context));
    check(cu->CtxSetCurrent_v1(cushim_context_handle(context)));
    check(cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream));
    for (int i = 0; i < STREAMS; i++)
        check(cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &streams[i]));
    check(cu->StreamCreate_v1(&second, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < PENDING; i++)
        check(cu->EventCreate_v1(&events[i], CU_EVENT_DISABLE_TIMING));
    check(cushim_dispatcher_create(&dispatcher));
    check(cu->MemAlloc_v2(&memory, LARGE));
    check(cu->MemHostAlloc_v1(&host, sizeof *gate, CU_MEMHOSTALLOC_DEVICEMAP));
    check(cu->MemHostGetDevicePointer_v2(&gate_address, host, 0));
    gate = host;
    atomic_init(gate, 0);
    delay = 0;
    event_fd = eventfd(0, EFD_CLOEXEC);
    sem_init(&opener_wanted, 0, 0);
    handle = cushim_stream_handle(stream);
}

/* Passes over pending completions, for which the gate stays closed. */
static void bench_pending(void)
{
    delay = 0;
    close_gate();
    for (int i = 0; i < PENDING; i++) {
        pending[i] = new_completion(stream, 0);
        check(cu->EventRecord_v1(events[i], handle));
    }
    compare("pass/query", 200, pass_over_completions, pass_over_events);
    sem_post(&opener_wanted);
    for (int i = 0; i < PENDING; i++) {
        wait_for(pending[i]);
        cushim_completion_destroy(&pending[i]);
    }
}

static void bench_finish(pthread_t opener)
{
    delay = -1;
    sem_post(&opener_wanted);
    pthread_join(opener, NULL);
    cushim_dispatcher_destroy(&dispatcher);
    for (int i = 0; i < STREAMS; i++)
        check(cushim_stream_close(&streams[i]));
    check(cushim_stream_close(&stream));
    check(cu->StreamDestroy_v2(second));
    for (int i = 0; i < PENDING; i++)
        check(cu->EventDestroy_v2(events[i]));
    check(cu->MemFreeHost_v1(gate));
    check(cu->MemFree_v2(memory));
    check(cushim_context_destroy(&context));
    close(event_fd);
}

int main(void)
{
    pthread_t opener;
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    if (cushim_init() != CUDA_SUCCESS) {
        fprintf(stderr, "no usable GPU: %s\n", cushim_error_last()->message);
        return 77;
    }
    if (cushim_slot_get_state(CUSHIM_SLOT_StreamWaitValue32_v2, CUSHIM_DEFAULT_STREAM_LEGACY) == CUSHIM_STATE_MISSING) {
        fprintf(stderr, "the driver cannot hold a stream back: cuStreamWaitValue32_v2 needs CUDA 11.7\n");
        return 77;
    }
    bench_prepare();
    if (pthread_create(&opener, NULL, open_gate, NULL) != 0)
        return 1;
    compare("create+reap/event", 1000, polled_made, events_made);
    compare("create+reap/new-event", 1000, polled_made, new_events_made);
    compare("create/callback", 1000, notifying_made, callbacks_made);
    compare("short/synchronize", 1000, soon_by_wait, soon_by_synchronize);
    compare_after(40 * MICROSECOND, "late-40us/futex", 1000, by_wait, by_futex);
    compare_after(300 * MICROSECOND, "late-300us/futex", 1000, by_wait, by_futex);
    compare_after(1 * MILLISECOND, "late-1ms/futex", 500, by_wait, by_futex);
    compare_after(20 * MILLISECOND, "late-20ms/futex", 100, by_wait, by_futex);
    compare_after(100 * MICROSECOND, "notifying/futex", 1000, by_notifying_wait, by_futex);
    compare_after(100 * MICROSECOND, "descriptor/callback", 1000, by_descriptor, by_callback);
    compare_after(20 * MILLISECOND, "cpu-20ms", 50, cpu_of_wait, time_of_wait);
    compare_after(1000 * MILLISECOND, "cpu-100-threads", 3, cpu_of_threads, time_of_wait);
    compare_after(0, "work-behind/alone", 50, work_behind, work_alone);
    bench_pending();
    for (busy = 16; busy <= STREAMS; busy = busy == 16 ? 64 : busy == 64 ? STREAMS : STREAMS + 1) {
        char name[32];
        snprintf(name, sizeof name, "%d-streams/callback", busy);
        compare(name, busy < STREAMS ? 30 : 3, completions_of_streams, callbacks_of_streams);
    }
    bench_finish(opener);
    return 0;
}
