/* SPDX-License-Identifier: MIT */
/*
 * What the library promises about functions and release functions. Records are never used again, so a call that comes
 * twice or late is seen and hits nothing.
 */
#if !defined(_POSIX_C_SOURCE)
#    define _POSIX_C_SOURCE 200809L
#endif
#include "trace.h"

#include <time.h>

enum { PROMISES = 1 << 15 };

static struct promise promises[PROMISES];
static atomic_uint count;

static unsigned promise_count(void)
{
    unsigned now = atomic_load(&count);
    return now < PROMISES ? now : PROMISES;
}

struct promise *promise_new(enum action action, int most)
{
    unsigned number = atomic_fetch_add(&count, 1);
    if (number >= PROMISES)
        return NULL;
    struct promise *promise = &promises[number];
    promise->action = action;
    promise->most = most;
    promise->seed = choose_seed();
    promise->name = operation_name();
    promise->thread = me->number;
    promise->operation = me->operation;
    return promise;
}

static void sleep_for(unsigned microseconds)
{
    if (microseconds != 0)
        nanosleep(&(struct timespec){0, (long)microseconds * 1000}, NULL);
}

static _Noreturn void fail_promise(const struct promise *promise, const char *what)
{
    fail("the function of %s, operation %u of thread %u, %s", promise->name, promise->operation, promise->thread, what);
}

static void count_call(struct promise *promise)
{
    int calls = atomic_fetch_add(&promise->calls, 1) + 1;
    if (atomic_load(&promise->releases) != 0)
        fail_promise(promise, "was called after its release");
    if (promise->covers_call)
        promise_check_covered(promise, "was called before the work was done");
    if (promise->most != 0 && calls > promise->most)
        fail_promise(promise, "was called more than once");
}

void CUDA_CB promise_host(void *user)
{
    count_call(user);
}

static void check_status(const struct promise *promise, CUresult status)
{
    if (status != CUDA_SUCCESS && !atomic_load(&broken))
        fail_promise(promise, "got the status of a failure");
}

void CUDA_CB promise_callback(CUstream stream, CUresult status, void *user)
{
    (void)stream;
    count_call(user);
    check_status(user, status);
}

void promise_function(CUresult status, void *user)
{
    struct promise *promise = user;
    count_call(promise);
    check_status(promise, status);
    if (promise->action == DO_DESTROY || promise->action == DO_DETACH) {
        struct cushim_completion *own = atomic_exchange(&promise->own, NULL);
        if (promise->action == DO_DESTROY)
            cushim_completion_destroy(&own);
        else
            cushim_completion_detach(&own);
    }
    if (promise->action == DO_OPERATIONS && me != NULL && !atomic_load(&promise->quiet))
        operations_nest(promise->seed, 3);
}

void promise_release(void *user)
{
    struct promise *promise = user;
    if (atomic_fetch_add(&promise->releases, 1) != 0)
        fail_promise(promise, "was released twice");
    if (!promise->covers_call)
        promise_check_covered(promise, "was released before the work was done");
    if (promise->action == DO_OPERATIONS_IN_RELEASE && me != NULL && me->observing != 0
        && !atomic_load(&promise->quiet))
        operations_nest(promise->seed, 2);
}

static void CUDA_CB finish_marker(void *user)
{
    struct marker *marker = user;
    sleep_for(marker->slow);
    atomic_store(&marker->done, 1);
}

void promise_cover(struct promise *promise, struct cushim_stream *stream)
{
    if (promise->marker_count == MARKERS || !is_idle(stream))
        return;
    struct marker *marker = &promise->markers[promise->marker_count];
    marker->slow = one_in(4) ? 50 + choose(400) : 0;
    if (cushim_stream_launch_host(stream, finish_marker, marker, NULL) == CUDA_SUCCESS) {
        atomic_store(&marker->enqueued, true);
        promise->marker_count++;
    }
}

void promise_check_covered(const struct promise *promise, const char *what)
{
    struct promise *asked = (struct promise *)promise;
    for (unsigned i = 0; i < MARKERS; i++)
        if (atomic_load(&asked->markers[i].enqueued) && atomic_load(&asked->markers[i].done) == 0
            && !atomic_load(&broken))
            fail_promise(promise, what);
}

void promises_take_back(void)
{
    for (unsigned i = 0; i < promise_count(); i++) {
        struct cushim_completion *own = atomic_exchange(&promises[i].own, NULL);
        cushim_completion_detach(&own);
    }
}

static bool is_kept(struct promise *promise)
{
    return !atomic_load(&promise->given) || !promise->has_release || atomic_load(&promise->releases) != 0;
}

static struct promise *find_open(void)
{
    for (unsigned i = 0; i < promise_count(); i++)
        if (!is_kept(&promises[i]))
            return &promises[i];
    return NULL;
}

void promises_check(void)
{
    uint64_t end = cushim_time_ns() + PATIENCE;
    struct promise *open;
    while ((open = find_open()) != NULL && cushim_time_ns() < end)
        sleep_for(500);
    if (open != NULL)
        fail_promise(open, "was never released");
    for (unsigned i = 0; i < promise_count(); i++)
        if (atomic_load(&promises[i].must_call) && atomic_load(&promises[i].calls) == 0 && !atomic_load(&broken))
            fail_promise(&promises[i], "was never called");
    trace->promises = promise_count();
}
