/* SPDX-License-Identifier: MIT */
/*
 * What is expected of functions and destroy functions. Records are never used again, so that a call that comes twice or
 * late is noticed.
 */
#if !defined(_POSIX_C_SOURCE)
#    define _POSIX_C_SOURCE 200809L
#endif
#include "trace.h"

#include <time.h>

enum { EXPECTATIONS = 1 << 15 };

static struct expectation expectations[EXPECTATIONS];
static atomic_uint count;

static unsigned expectation_count(void)
{
    unsigned now = atomic_load(&count);
    return now < EXPECTATIONS ? now : EXPECTATIONS;
}

struct expectation *expectation_new(enum action action, int most)
{
    unsigned number = atomic_fetch_add(&count, 1);
    if (number >= EXPECTATIONS)
        return NULL;
    struct expectation *expectation = &expectations[number];
    expectation->action = action;
    expectation->most = most;
    expectation->seed = choose_seed();
    expectation->name = operation_name();
    expectation->thread = objects->number;
    expectation->operation = objects->operation;
    return expectation;
}

static void sleep_for(unsigned microseconds)
{
    if (microseconds != 0)
        nanosleep(&(struct timespec){0, (long)microseconds * 1000}, NULL);
}

static _Noreturn void fail_expectation(const struct expectation *expectation, const char *what)
{
    fail("the function of %s, operation %u of thread %u, %s", expectation->name, expectation->operation,
         expectation->thread, what);
}

static void count_call(struct expectation *expectation)
{
    int calls = atomic_fetch_add(&expectation->calls, 1) + 1;
    if (atomic_load(&expectation->releases) != 0)
        fail_expectation(expectation, "was called after its release");
    if (expectation->covers_call)
        expectation_check_covered(expectation, "was called before the work was done");
    if (expectation->most != 0 && calls > expectation->most)
        fail_expectation(expectation, "was called more than once");
}

void CUDA_CB expected_host_function(void *user)
{
    count_call(user);
}

static void check_status(const struct expectation *expectation, CUresult status)
{
    if (status != CUDA_SUCCESS && !atomic_load(&broken))
        fail_expectation(expectation, "got the status of a failure");
}

void CUDA_CB expected_callback(CUstream stream, CUresult status, void *user)
{
    (void)stream;
    count_call(user);
    check_status(user, status);
}

void expected_function(CUresult status, void *user)
{
    struct expectation *expectation = user;
    count_call(expectation);
    check_status(expectation, status);
    if (expectation->action == DO_DESTROY || expectation->action == DO_DETACH) {
        struct cushim_completion *own = atomic_exchange(&expectation->own, NULL);
        if (expectation->action == DO_DESTROY)
            cushim_completion_destroy(&own);
        else
            cushim_completion_detach(&own);
    }
    if (expectation->action == DO_OPERATIONS && objects != NULL && !atomic_load(&expectation->quiet))
        operations_nest(expectation->seed, 3);
}

void expected_release(void *user)
{
    struct expectation *expectation = user;
    if (atomic_fetch_add(&expectation->releases, 1) != 0)
        fail_expectation(expectation, "was released twice");
    if (!expectation->covers_call)
        expectation_check_covered(expectation, "was released before the work was done");
    if (expectation->action == DO_OPERATIONS_IN_RELEASE && objects != NULL && objects->observing != 0
        && !atomic_load(&expectation->quiet))
        operations_nest(expectation->seed, 2);
}

static void CUDA_CB finish_marker(void *user)
{
    struct marker *marker = user;
    sleep_for(marker->slow);
    atomic_store(&marker->done, 1);
}

void expectation_cover(struct expectation *expectation, struct cushim_stream *stream)
{
    if (expectation->marker_count == MARKERS || !is_idle(stream))
        return;
    struct marker *marker = &expectation->markers[expectation->marker_count];
    marker->slow = one_in(4) ? 50 + choose(400) : 0;
    if (cushim_stream_launch_host(stream, finish_marker, marker, NULL) == CUDA_SUCCESS) {
        atomic_store(&marker->enqueued, true);
        expectation->marker_count++;
    }
}

void expectation_check_covered(const struct expectation *expectation, const char *what)
{
    struct expectation *asked = (struct expectation *)expectation;
    for (unsigned i = 0; i < MARKERS; i++)
        if (atomic_load(&asked->markers[i].enqueued) && atomic_load(&asked->markers[i].done) == 0
            && !atomic_load(&broken))
            fail_expectation(expectation, what);
}

void expectations_detach(void)
{
    for (unsigned i = 0; i < expectation_count(); i++) {
        struct cushim_completion *own = atomic_exchange(&expectations[i].own, NULL);
        cushim_completion_detach(&own);
    }
}

static bool is_met(struct expectation *expectation)
{
    return !atomic_load(&expectation->given) || !expectation->has_release || atomic_load(&expectation->releases) != 0;
}

static struct expectation *find_open(void)
{
    for (unsigned i = 0; i < expectation_count(); i++)
        if (!is_met(&expectations[i]))
            return &expectations[i];
    return NULL;
}

void expectations_check(void)
{
    uint64_t end = cushim_clock_ns() + PATIENCE;
    struct expectation *open;
    while ((open = find_open()) != NULL && cushim_clock_ns() < end)
        sleep_for(500);
    if (open != NULL)
        fail_expectation(open, "was never released");
    for (unsigned i = 0; i < expectation_count(); i++)
        if (atomic_load(&expectations[i].must_call) && atomic_load(&expectations[i].calls) == 0
            && !atomic_load(&broken))
            fail_expectation(&expectations[i], "was never called");
    trace->expectations = expectation_count();
}
