/* SPDX-License-Identifier: MIT */
/*
 * completion_time.c - times completions against the alternatives of a program without them, in turn. Each line is one
 * pair, in nanoseconds: "name ours bare". completion_time.py runs it and judges the result.
 *
 *   create+reap/event      creating 50 polled completions, polling and destroying them, for one completion; against
 *                          recording 50 events and querying them, which exist before
 *   create/callback        creating 50 notifying completions, for one; against recording an event, a wait in a second
 *                          stream, and a callback there
 *   short/synchronize      from enqueueing a memset of 64 bytes until the waiter is awake, in cushim_completion_wait()
 *                          of a polled completion; against cuStreamSynchronize()
 *   late-D/futex           from the end of GPU work of the duration D until the waiter is awake, in a wait for a polled
 *                          completion; against a status callback that wakes the waiter by a futex
 *   notifying/futex        the same with a notifying completion, after 100 us
 *   descriptor/callback    the same with poll() on its descriptor; against a callback that writes an eventfd
 *   cpu-20ms               the CPU time of a thread in a wait of 20 ms, against the 20 ms
 *   work-behind/alone      one of 200 memsets of 8 MiB with a notifying completion behind each; against the memsets
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
    BEHIND = 40, /* a notification stream holds 56 (completion.h) */
    MICROSECOND = 1000,
    MILLISECOND = 1000000,
    SMALL = 64,
    LARGE = 8 << 20
};

static const struct cushim_dispatch_table *cu; /* a table whose slots are the driver's own functions */
static struct cushim_context *context;
static struct cushim_stream *stream;
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
    (void)of, (void)status, (void)user;
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

static CUevent events[BATCH];

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

static double events_made(void)
{
    double start = now(CLOCK_MONOTONIC);
    for (int i = 0; i < BATCH; i++)
        check(cu->EventRecord_v1(events[i], handle));
    double made = now(CLOCK_MONOTONIC);
    check(cu->StreamSynchronize_v1(handle));
    double done = now(CLOCK_MONOTONIC);
    for (int i = 0; i < BATCH; i++)
        check(cu->EventQuery_v1(events[i]));
    return (now(CLOCK_MONOTONIC) - done + made - start) / BATCH;
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
    check(cu->StreamCreate_v1(&second, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < BATCH; i++)
        check(cu->EventCreate_v1(&events[i], CU_EVENT_DISABLE_TIMING));
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

static void bench_finish(pthread_t opener)
{
    delay = -1;
    sem_post(&opener_wanted);
    pthread_join(opener, NULL);
    check(cushim_stream_close(&stream));
    check(cu->StreamDestroy_v2(second));
    for (int i = 0; i < BATCH; i++)
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
    compare("create/callback", 1000, notifying_made, callbacks_made);
    compare("short/synchronize", 1000, soon_by_wait, soon_by_synchronize);
    compare_after(300 * MICROSECOND, "late-300us/futex", 1000, by_wait, by_futex);
    compare_after(1 * MILLISECOND, "late-1ms/futex", 500, by_wait, by_futex);
    compare_after(20 * MILLISECOND, "late-20ms/futex", 100, by_wait, by_futex);
    compare_after(100 * MICROSECOND, "notifying/futex", 1000, by_notifying_wait, by_futex);
    compare_after(100 * MICROSECOND, "descriptor/callback", 1000, by_descriptor, by_callback);
    compare_after(20 * MILLISECOND, "cpu-20ms", 50, cpu_of_wait, time_of_wait);
    compare_after(0, "work-behind/alone", 50, work_behind, work_alone);
    bench_finish(opener);
    return 0;
}
