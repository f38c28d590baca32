/* SPDX-License-Identifier: MIT */
/*
 * completion_time.c - times completions against the alternatives of a program without them, in turn. Each line is one
 * pair, in nanoseconds: "name ours bare". completion_time.py runs it and judges the result.
 *
 *   wait/callback        from the end of the GPU work until the waiter is awake, asleep in cushim_completion_wait();
 *                        against a status callback that writes an eventfd, which the waiter reads
 *   descriptor/callback  the same with poll() on the completion's descriptor
 *   wait/synchronize     like wait/callback, against cuStreamSynchronize()
 *   create+reap/callback creating 50 completions, polling them and destroying the fired ones, for one completion;
 *                        against adding 50 callbacks that set a flag, and reading it
 *   create+reap/event    the same against recording 50 events and querying them
 *   wait/futex           like wait/callback, against a status callback that wakes the waiter by a futex
 *   short/synchronize    from enqueueing a memset of 64 bytes until the waiter is awake, in cushim_completion_wait() of
 *                        a completion; against cuStreamSynchronize()
 *   medium/synchronize   the same with 64 MiB
 *   cpu/query            the CPU time that the process spends on a wait of 10 ms, against calling cuStreamQuery() in a
 *                        loop
 *   thousand/callback    a thousand streams, each with a memset and a callback for its end, until one thread has called
 *                        all callbacks; against status callbacks that count, and write an eventfd
 *
 * The end of the GPU work is under control: the stream waits for a value in host memory, which another thread writes
 * once the waiter sleeps. Exit status 77: the machine has no GPU, or its driver cannot wait for values.
 */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cushim/cushim.h"

enum { WARM_UP = 10, BATCH = 50, STREAMS = 1000, SHORTLY = 100000, LONG = 10000000 };

static const struct cushim_dispatch_table *cu; /* a table whose slots are the driver's own functions */
static struct cushim_context *context;
static struct cushim_stream *stream;
static struct cushim_stream *streams[STREAMS];
static struct cushim_dispatcher *dispatcher;
static CUstream handle;
static CUdeviceptr memory;
static int event_fd;

static void check(CUresult result)
{
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "completion_time: error %d: %s\n", (int)result, cushim_last_error()->message);
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

/* Opens the gate with a delay after the request, so that the waiter is asleep by then. */
static void *open_gate(void *unused)
{
    for (unsigned round = 1;; round++) {
        while (sem_wait(&opener_wanted) != 0)
            ;
        if (delay < 0)
            return unused;
        nanosleep(&(struct timespec){.tv_nsec = delay}, NULL);
        opened_at = now(CLOCK_MONOTONIC);
        atomic_store(gate, round);
    }
}

static void close_gate(void)
{
    check(cu->StreamWaitValue32_v2(handle, gate_address, ++rounds, CU_STREAM_WAIT_VALUE_GEQ));
}

static double by_wait(void)
{
    struct cushim_completion *completion;
    close_gate();
    check(cushim_stream_completion(stream, &completion));
    sem_post(&opener_wanted);
    check(cushim_completion_wait(completion, CUSHIM_FOREVER));
    double awake = now(CLOCK_MONOTONIC);
    cushim_completion_destroy(&completion);
    return awake - opened_at;
}

static double by_descriptor(void)
{
    struct cushim_completion *completion;
    struct pollfd watch = {.events = POLLIN};
    close_gate();
    check(cushim_stream_completion(stream, &completion));
    check(cushim_completion_descriptor(completion, &watch.fd));
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

enum { SMALL = 64, MEDIUM = 64 << 20 };

static size_t soon_size = SMALL;

static double soon_by_wait(void)
{
    struct cushim_completion *completion;
    double start = now(CLOCK_MONOTONIC);
    check(cu->MemsetD8Async_v1(memory, 1, soon_size, handle));
    check(cushim_stream_completion(stream, &completion));
    check(cushim_completion_wait(completion, CUSHIM_FOREVER));
    double awake = now(CLOCK_MONOTONIC);
    cushim_completion_destroy(&completion);
    return awake - start;
}

static double soon_by_synchronize(void)
{
    double start = now(CLOCK_MONOTONIC);
    check(cu->MemsetD8Async_v1(memory, 1, soon_size, handle));
    check(cu->StreamSynchronize_v1(handle));
    return now(CLOCK_MONOTONIC) - start;
}

static double by_synchronize(void)
{
    close_gate();
    sem_post(&opener_wanted);
    check(cu->StreamSynchronize_v1(handle));
    return now(CLOCK_MONOTONIC) - opened_at;
}

static double completions_made(void)
{
    struct cushim_completion *completions[BATCH];
    double start = now(CLOCK_MONOTONIC);
    for (int i = 0; i < BATCH; i++)
        check(cushim_stream_completion(stream, &completions[i]));
    double made = now(CLOCK_MONOTONIC);
    check(cu->StreamSynchronize_v1(handle));
    double done = now(CLOCK_MONOTONIC);
    for (int i = 0; i < BATCH; i++) {
        check(cushim_completion_poll(completions[i]));
        cushim_completion_destroy(&completions[i]);
    }
    return (now(CLOCK_MONOTONIC) - done + made - start) / BATCH;
}

static void CUDA_CB set_flag(CUstream of, CUresult status, void *user)
{
    (void)of;
    atomic_store((atomic_int *)user, status == CUDA_SUCCESS ? 1 : -1);
}

static double callbacks_made(void)
{
    atomic_int flags[BATCH];
    double start = now(CLOCK_MONOTONIC);
    for (int i = 0; i < BATCH; i++) {
        atomic_init(&flags[i], 0);
        check(cu->StreamAddCallback_v1(handle, set_flag, &flags[i], 0));
    }
    double made = now(CLOCK_MONOTONIC);
    check(cu->StreamSynchronize_v1(handle));
    double done = now(CLOCK_MONOTONIC);
    for (int i = 0; i < BATCH; i++)
        check(atomic_load(&flags[i]) == 1 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN);
    return (now(CLOCK_MONOTONIC) - done + made - start) / BATCH;
}

static double events_made(void)
{
    static CUevent events[BATCH];
    if (events[0] == NULL)
        for (int i = 0; i < BATCH; i++)
            check(cu->EventCreate_v1(&events[i], CU_EVENT_DISABLE_TIMING));
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
    double start = now(CLOCK_PROCESS_CPUTIME_ID);
    delay = LONG;
    by_wait();
    delay = SHORTLY;
    return now(CLOCK_PROCESS_CPUTIME_ID) - start;
}

static double cpu_of_query(void)
{
    double start = now(CLOCK_PROCESS_CPUTIME_ID);
    CUresult result;
    delay = LONG;
    close_gate();
    sem_post(&opener_wanted);
    do
        result = cu->StreamQuery_v1(handle);
    while (result == CUDA_ERROR_NOT_READY);
    check(result);
    delay = SHORTLY;
    return now(CLOCK_PROCESS_CPUTIME_ID) - start;
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

static double thousand_completions(void)
{
    struct pollfd watch = {.events = POLLIN};
    int count = 0;
    check(cushim_dispatcher_descriptor(dispatcher, &watch.fd));
    double start = now(CLOCK_MONOTONIC);
    for (int i = 0; i < STREAMS; i++) {
        struct cushim_completion *completion;
        work_in(i);
        check(cushim_stream_completion(streams[i], &completion));
        check(cushim_completion_set_callback(completion, dispatcher, count_one, &count, NULL));
        cushim_completion_detach(&completion);
    }
    while (count < STREAMS && poll(&watch, 1, -1) == 1)
        check(cushim_dispatcher_run(dispatcher, NULL));
    return (now(CLOCK_MONOTONIC) - start) / STREAMS;
}

static double thousand_callbacks(void)
{
    atomic_int count = 0;
    double start = now(CLOCK_MONOTONIC);
    for (int i = 0; i < STREAMS; i++) {
        work_in(i);
        check(cu->StreamAddCallback_v1(cushim_stream_handle(streams[i]), write_event, &count, 0));
    }
    while (atomic_load(&count) < STREAMS)
        read_event();
    double end = now(CLOCK_MONOTONIC);
    check(cu->CtxSynchronize_v1()); /* the last callback may not have written yet */
    const uint64_t one = 1;
    if (write(event_fd, &one, sizeof one) == sizeof one)
        read_event();
    return (end - start) / STREAMS;
}

static void compare(const char *name, int pairs, double (*ours)(void), double (*without)(void))
{
    for (int i = -WARM_UP; i < pairs; i++) {
        double first = i % 2 == 0 ? ours() : without();
        double second = i % 2 == 0 ? without() : ours();
        if (i >= 0)
            printf("%s %.1f %.1f\n", name, i % 2 == 0 ? first : second, i % 2 == 0 ? second : first);
    }
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
    check(cushim_dispatcher_create(&dispatcher));
    check(cu->MemAlloc_v2(&memory, MEDIUM));
    check(cu->MemHostAlloc_v1(&host, sizeof *gate, CU_MEMHOSTALLOC_DEVICEMAP));
    check(cu->MemHostGetDevicePointer_v2(&gate_address, host, 0));
    gate = host;
    atomic_init(gate, 0);
    delay = SHORTLY;
    event_fd = eventfd(0, EFD_CLOEXEC);
    sem_init(&opener_wanted, 0, 0);
    handle = cushim_stream_handle(stream);
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
    check(cu->MemFreeHost_v1(gate));
    check(cu->MemFree_v2(memory));
    check(cushim_context_destroy(&context));
    close(event_fd);
}

int main(void)
{
    pthread_t opener;
    if (cushim_init() != CUDA_SUCCESS) {
        fprintf(stderr, "no usable GPU: %s\n", cushim_last_error()->message);
        return 77;
    }
    if (cushim_query_slot_state(CUSHIM_SLOT_StreamWaitValue32_v2, CUSHIM_DEFAULT_STREAM_LEGACY)
        == CUSHIM_STATE_MISSING) {
        fprintf(stderr, "the driver cannot hold a stream back: cuStreamWaitValue32_v2 needs CUDA 11.7\n");
        return 77;
    }
    bench_prepare();
    if (pthread_create(&opener, NULL, open_gate, NULL) != 0)
        return 1;
    compare("wait/callback", 2000, by_wait, by_callback);
    compare("descriptor/callback", 2000, by_descriptor, by_callback);
    compare("wait/synchronize", 1000, by_wait, by_synchronize);
    compare("create+reap/callback", 1000, completions_made, callbacks_made);
    compare("create+reap/event", 1000, completions_made, events_made);
    compare("wait/futex", 1000, by_wait, by_futex);
    compare("short/synchronize", 1000, soon_by_wait, soon_by_synchronize);
    soon_size = MEDIUM;
    compare("medium/synchronize", 1000, soon_by_wait, soon_by_synchronize);
    compare("cpu/query", 50, cpu_of_wait, cpu_of_query);
    compare("thousand/callback", 50, thousand_completions, thousand_callbacks);
    bench_finish(opener);
    return 0;
}
