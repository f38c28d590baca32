/* SPDX-License-Identifier: MIT */
/* How long a wait spins and sleeps, and when it ends. */
#if !defined(_WIN32)
#    define _POSIX_C_SOURCE 200809L
#    include <pthread.h>
#    include <signal.h>
#    include <time.h>
#endif

#include "completion.h"

enum { ATTEMPTS = 20 }; /* on a busy machine, a thread can stand still for a while */

/* Waits in vain with a spin budget. Returns how often the event was queried; -1 if the wait was not in vain. */
static int queries_in(struct cushim_completion *completion, uint64_t budget, uint64_t nanoseconds)
{
    uint64_t before = cushim_completion_set_spin_ns(budget);
    watch_begin();
    CUresult result = wait_status(completion, cushim_clock_ns() + nanoseconds);
    int queries = result == CUDA_ERROR_TIMEOUT ? watch_calls_of(S(EventQuery_v1)) : -1;
    watch_end();
    cushim_completion_set_spin_ns(before);
    return queries;
}

/*
 * Without a budget, a wait of 10 ms has at most 240 sleeps, most of them of about 100 us. A wait of 100 ms has at most
 * 150 more, because sleeps grow to a 64th of the time waited. The system can make sleeps longer, not shorter. Windows
 * has no sleeps below a millisecond: in the first 64 ms, the thread yields between queries, as often as it runs.
 */
CHECK(sleeping, "completion_wait.sleeping", .needs = {S(CtxGetId_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    struct gate *gate = gate_new(cushim_stream_handle(stream));
    struct cushim_completion *completion = polled_new(stream);
    expect_number("budget", (long long)cushim_completion_set_spin_ns(60000), 50000);
    expect_number("budget-was-set", (long long)cushim_completion_set_spin_ns(50000), 60000);
    int spinning = 0;
    for (int attempt = 0; attempt < ATTEMPTS && spinning <= 450; attempt++)
        spinning = queries_in(completion, UINT64_MAX, 100 * MILLISECOND);
    int sleeping = queries_in(completion, 0, 10 * MILLISECOND);
    int longer = queries_in(completion, 0, 100 * MILLISECOND);
#if defined(_WIN32)
    expect_true("yields", sleeping > 0);
#else
    expect_true("sleeps", sleeping <= 250);
    expect_true("sleeps-longer-later", longer <= 400);
#endif
    expect_true("wakes", longer >= 4);
    expect_true("spins", spinning > 450);
    gate_open(gate);
    wait_and_destroy(completion);
}

/* The sleeps end at the deadline and not later, whatever the budget. */
CHECK(deadline, "completion_wait.deadline")
{
    enum { ROUNDS = 20 };
    int late = 0;
    int early = 0;
    struct cushim_stream *stream = fixture_stream();
    struct gate *gate = gate_new(cushim_stream_handle(stream));
    for (int kind = 0; kind < KINDS; kind++) {
        struct cushim_completion *completion = completion_new(stream, kind_flags[kind]);
        for (int i = 0; i < ROUNDS; i++) {
            uint64_t end = cushim_clock_ns() + (unsigned)i * MILLISECOND / 4;
            early += wait_status(completion, end) != CUDA_ERROR_TIMEOUT || cushim_clock_ns() < end;
            late += cushim_clock_ns() > end + 100 * UINT64_C(1000000); /* on a busy machine, any sleep can take long */
        }
        cushim_completion_destroy(&completion);
    }
    expect_number("early", early, 0);
    expect_true("in-time", late < ROUNDS);
    gate_open(gate);
}

#if !defined(_WIN32)
static atomic_int signals;

static void count_signal(int number)
{
    atomic_fetch_add(&signals, 1);
}

struct interruption {
    pthread_t thread;
    atomic_bool ended;
};

static void *interrupt_often(void *user)
{
    struct interruption *interruption = user;
    const struct timespec pause = {.tv_nsec = 20000};
    while (!atomic_load(&interruption->ended)) {
        nanosleep(&pause, NULL);
        pthread_kill(interruption->thread, SIGUSR1);
    }
    return NULL;
}

/* The thread that waits gets a signal about every 100 us: the wait goes on, and does not query more often for it. On a
 * busy machine, a wait without a signal is made again. */
CHECK(interrupted, "completion_wait.interrupted", .flags = CHECK_ALONE, .needs = {S(CtxGetId_v1)})
{
    struct gate gate;
    pthread_t thread;
    int queries = 0;
    int early = 0;
    int before;
    const struct sigaction counting = {.sa_handler = count_signal};
    struct interruption interruption = {.thread = pthread_self()};
    struct cushim_stream *stream = test_stream_new();
    gate_close(&gate, cushim_stream_handle(stream));
    struct cushim_completion *completions[KINDS] = {polled_new(stream), notifying_new(stream)};
    sigaction(SIGUSR1, &counting, NULL);
    require("thread", pthread_create(&thread, NULL, interrupt_often, &interruption) == 0 ? CUDA_SUCCESS
                                                                                         : CUDA_ERROR_OPERATING_SYSTEM);
    int attempt = 0;
    do {
        before = atomic_load(&signals);
        queries = queries_in(completions[POLLED], 0, 100 * MILLISECOND);
    } while (atomic_load(&signals) == before && ++attempt < ATTEMPTS);
    expect_true("polled-signals", atomic_load(&signals) > before);
    attempt = 0;
    do {
        before = atomic_load(&signals);
        uint64_t end = cushim_clock_ns() + 20 * MILLISECOND;
        early += wait_status(completions[NOTIFYING], end) != CUDA_ERROR_TIMEOUT || cushim_clock_ns() < end;
    } while (atomic_load(&signals) == before && ++attempt < ATTEMPTS);
    expect_true("notifying-signals", atomic_load(&signals) > before);
    expect_number("before-the-deadline", early, 0);
    atomic_store(&interruption.ended, true);
    pthread_join(thread, NULL);
    expect_true("queries", queries > 0 && queries <= 400);
    gate_open(&gate);
    for (int kind = 0; kind < KINDS; kind++)
        wait_and_destroy(completions[kind]);
    test_stream_close(stream);
}
#endif
