/* SPDX-License-Identifier: MIT */
/*
 * race_search THREADS OPERATIONS SEED - threads use the objects of the stream layer at the same time: shared streams, a
 * shared dispatcher and completions that go from one thread to another, in a random order.
 *
 * It is for ThreadSanitizer and AddressSanitizer, which find what goes wrong: races, uses of a freed object, leaks. The
 * program itself checks that each function was called and its user data destroyed as often as promised, that a failure
 * writes no result, and that nothing hangs. The driver is that of CUSHIM_DRIVER.
 *
 * Exit status: 0; 1 if an expectation was not met; 77 if there is no device.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cushim/cushim.h"

enum { SKIPPED = 77, STREAMS = 4, EVENTS = 3, COMPLETIONS = 8, EXCHANGED = 8, SHARED = 2, KINDS = 2 };

/* A wait that takes longer counts as lost, in nanoseconds. */
#define PATIENCE UINT64_C(60000000000)

/* Functions that were accepted, called and destroyed: 0, those that are called exactly once; 1, those of dispatchers,
 * which are not called if their completion is destroyed before. */
static atomic_uint accepted[KINDS], called[KINDS], destroyed[KINDS];

struct thread {
    pthread_t id;
    unsigned number;
    uint64_t random;
    struct cushim_stream *streams[STREAMS];
    struct cushim_event *events[EVENTS];
    struct cushim_completion *completions[COMPLETIONS];
    struct cushim_graph_exec *exec;
};

static struct cushim_context *context;
static struct cushim_stream *shared[SHARED];
static struct cushim_dispatcher *dispatcher;
static struct cushim_completion *_Atomic exchanged[EXCHANGED];
static unsigned thread_count, operation_count;
static uint64_t first_seed;

static CUSHIM_PRINTF(1, 2) _Noreturn void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "race_search %u %u %llu: ", thread_count, operation_count, (unsigned long long)first_seed);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, ": %s\n", cushim_error_last()->message);
    va_end(arguments);
    exit(1);
}

/* `place` is the variable for the result, which is read after the call. */
static void check(CUresult result, const void *place, const char *call)
{
    const void *object;
    memcpy(&object, place, sizeof object);
    if ((result == CUDA_SUCCESS) != (object != NULL))
        fail("%s returned %d and wrote %s", call, (int)result, object != NULL ? "a result" : "none");
}

/* The generator xorshift64. */
static unsigned choose(struct thread *me, unsigned count)
{
    me->random ^= me->random << 13;
    me->random ^= me->random >> 7;
    me->random ^= me->random << 17;
    return (unsigned)((me->random >> 32) % count);
}

static struct cushim_stream *pick(struct thread *me)
{
    unsigned number = choose(me, STREAMS + SHARED);
    return number < STREAMS ? me->streams[number] : shared[number - STREAMS];
}

static void count_call(void *kind)
{
    atomic_fetch_add(&called[(uintptr_t)kind], 1);
}

static void CUDA_CB host_function(void *kind)
{
    count_call(kind);
}

static void CUDA_CB callback(CUstream stream, CUresult status, void *kind)
{
    (void)stream, (void)status;
    count_call(kind);
}

static void fired(CUresult status, void *kind)
{
    (void)status;
    count_call(kind);
}

static void destroy_user(void *kind)
{
    atomic_fetch_add(&destroyed[(uintptr_t)kind], 1);
}

/* A refused function is not called, and its user data is destroyed. */
static void given(CUresult result, uintptr_t kind)
{
    atomic_fetch_add(&accepted[kind], result == CUDA_SUCCESS);
    if (result != CUDA_SUCCESS)
        atomic_fetch_sub(&destroyed[kind], 1);
}

static void add_work(struct thread *me)
{
    struct cushim_stream *stream = pick(me);
    given(choose(me, 2) == 0 ? cushim_stream_launch_host(stream, host_function, NULL, destroy_user)
                             : cushim_stream_add_callback(stream, callback, NULL, destroy_user),
          0);
}

static CUresult enqueue_body(struct cushim_stream *stream, void *user)
{
    given(cushim_stream_launch_host(stream, host_function, NULL, destroy_user), 0);
    return user == NULL ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

static void add_body(struct thread *me)
{
    int fails;
    struct cushim_completion *completion = NULL;
    struct cushim_completion **place = &me->completions[choose(me, COMPLETIONS)];
    CUresult result =
        cushim_stream_enqueue(pick(me), enqueue_body, choose(me, 4) == 0 ? &fails : NULL, NULL, &completion);
    check(result, &completion, "cushim_stream_enqueue");
    cushim_completion_detach(place);
    *place = completion;
}

static void use_stream(struct thread *me)
{
    struct cushim_stream **stream = &me->streams[choose(me, STREAMS)];
    CUstream handle = NULL;
    switch (choose(me, 4)) {
    case 0:
        (void)(choose(me, 2) == 0 ? cushim_stream_close(stream) : cushim_stream_destroy(stream));
        check(cushim_stream_create(context, choose(me, 2) * CU_STREAM_NON_BLOCKING, 0, stream), stream,
              "cushim_stream_create");
        break;
    case 1: /* the driver's stream leaves its object and comes into another one */
        if (cushim_stream_release(stream, &handle) == CUDA_SUCCESS)
            check(cushim_stream_adopt(handle, context, stream), stream, "cushim_stream_adopt");
        break;
    case 2:
        (void)cushim_stream_wait_for(*stream, pick(me));
        break;
    default:
        (void)cushim_stream_query(pick(me));
    }
}

static void use_event(struct thread *me)
{
    struct cushim_event **event = &me->events[choose(me, EVENTS)];
    switch (choose(me, 4)) {
    case 0:
        (void)cushim_event_record(*event, pick(me), 0);
        break;
    case 1:
        (void)cushim_stream_wait_event(pick(me), *event, 0);
        break;
    case 2:
        (void)cushim_event_query(*event);
        break;
    default:
        (void)cushim_event_destroy(event);
        check(cushim_event_create(context, CU_EVENT_DISABLE_TIMING, event), event, "cushim_event_create");
    }
}

static void create_completion(struct thread *me)
{
    struct cushim_completion **place = &me->completions[choose(me, COMPLETIONS)];
    struct cushim_completion *completion = NULL;
    unsigned flags = choose(me, 3) == 0 ? 0 : CUSHIM_COMPLETION_NOTIFYING;
    CUresult result = cushim_completion_create(pick(me), flags, &completion);
    check(result, &completion, "cushim_completion_create");
    if (completion != NULL && flags != 0 && choose(me, 2) == 0) {
        uintptr_t kind = choose(me, 2);
        given(kind == 0 ? cushim_completion_set_inline_callback(completion, fired, NULL, destroy_user)
                        : cushim_completion_set_callback(completion, dispatcher, fired, (void *)kind, destroy_user),
              kind);
        if (kind == 0) { /* it is called unless its completion is destroyed before: detached, it is */
            cushim_completion_detach(&completion);
            return;
        }
    }
    cushim_completion_destroy(place);
    *place = completion;
}

static void use_completion(struct thread *me)
{
    unsigned index = choose(me, COMPLETIONS);
    struct cushim_completion **one = &me->completions[index];
    uint64_t soon = cushim_clock_ns() + choose(me, 100) * UINT64_C(1000);
    CUresult status;
    if (choose(me, 2) == 0) /* to whichever thread comes next */
        *one = atomic_exchange(&exchanged[choose(me, EXCHANGED)], *one);
    else if (choose(me, 3) == 0)
        (void)cushim_completion_wait_any(me->completions, COMPLETIONS, soon, NULL);
    else if (choose(me, 2) == 0 && *one != NULL)
        (void)cushim_completion_wait(*one, soon, &status);
    else if (*one != NULL)
        (void)cushim_completion_poll(*one, &status);
    else
        (void)cushim_dispatcher_run(dispatcher, soon, NULL);
}

/* Nodes, and a fork into a stream of this thread; one capture in three is invalidated. */
static void capture(struct thread *me)
{
    struct cushim_stream *stream = me->streams[0], *other = me->streams[1];
    struct cushim_capture *open = NULL;
    struct cushim_graph *graph = NULL;
    CUstreamCaptureMode mode = thread_count == 1 ? CU_STREAM_CAPTURE_MODE_GLOBAL : CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    if (cushim_capture_begin(stream, mode, &open) != CUDA_SUCCESS)
        return;
    for (unsigned i = choose(me, 4); i != 0; i--)
        (void)cushim_stream_launch_host(stream, host_function, (void *)(uintptr_t)1, NULL);
    if (choose(me, 2) == 0 && cushim_stream_wait_for(other, stream) == CUDA_SUCCESS)
        (void)cushim_stream_wait_for(stream, other);
    if (choose(me, 3) == 0)
        (void)cushim_stream_query(stream);
    check(cushim_capture_end(&open, &graph), &graph, "cushim_capture_end");
    if (graph != NULL) {
        (void)cushim_graph_exec_destroy(&me->exec);
        check(cushim_graph_instantiate(graph, context, 0, &me->exec), &me->exec, "cushim_graph_instantiate");
    }
    (void)cushim_graph_destroy(&graph);
}

static void launch(struct thread *me)
{
    if (me->exec != NULL)
        (void)cushim_graph_exec_launch(me->exec, pick(me));
}

static void *run(void *user)
{
    struct thread *me = user;
    static void (*const operations[])(struct thread *) = {
        add_work,          add_body,       use_stream,     use_event, create_completion,
        create_completion, use_completion, use_completion, capture,   launch};
    for (unsigned i = 0; i < STREAMS; i++)
        check(cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &me->streams[i]), &me->streams[i],
              "cushim_stream_create");
    for (unsigned i = 0; i < EVENTS; i++)
        check(cushim_event_create(context, CU_EVENT_DISABLE_TIMING, &me->events[i]), &me->events[i],
              "cushim_event_create");
    for (unsigned i = 0; i < operation_count; i++)
        operations[choose(me, sizeof operations / sizeof operations[0])](me);
    for (unsigned i = 0; i < COMPLETIONS; i++) {
        if (me->completions[i] != NULL
            && cushim_completion_wait(me->completions[i], cushim_clock_ns() + PATIENCE, NULL) == CUDA_ERROR_TIMEOUT)
            fail("a completion did not fire");
        cushim_completion_destroy(&me->completions[i]);
    }
    for (unsigned i = 0; i < STREAMS; i++)
        (void)cushim_stream_close(&me->streams[i]);
    for (unsigned i = 0; i < EVENTS; i++)
        (void)cushim_event_destroy(&me->events[i]);
    (void)cushim_graph_exec_destroy(&me->exec);
    return NULL;
}

static void finish(void)
{
    uint64_t end = cushim_clock_ns() + PATIENCE;
    for (unsigned i = 0; i < EXCHANGED; i++) {
        struct cushim_completion *left = atomic_load(&exchanged[i]);
        cushim_completion_destroy(&left);
    }
    for (unsigned i = 0; i < SHARED; i++)
        if (cushim_stream_close(&shared[i]) != CUDA_SUCCESS)
            fail("a shared stream was not closed");
    (void)cushim_dispatcher_run(dispatcher, 0, NULL);
    cushim_dispatcher_destroy(&dispatcher);
    while ((destroyed[0] != accepted[0] || destroyed[1] != accepted[1]) && cushim_clock_ns() < end)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    if (called[0] != accepted[0] || destroyed[0] != accepted[0] || destroyed[1] != accepted[1])
        fail("of %u and %u functions, %u and %u were called, and %u and %u destroyed", accepted[0], accepted[1],
             called[0], called[1], destroyed[0], destroyed[1]);
    (void)cushim_context_destroy(&context);
}

int main(int count, char **arguments)
{
    enum { MAX_THREADS = 64 };
    static struct thread threads[MAX_THREADS];
    thread_count = count == 4 ? (unsigned)strtoul(arguments[1], NULL, 10) : 0;
    if (thread_count < 1 || thread_count > MAX_THREADS) {
        fprintf(stderr, "usage: race_search THREADS OPERATIONS SEED\n");
        return 2;
    }
    operation_count = (unsigned)strtoul(arguments[2], NULL, 10);
    first_seed = strtoull(arguments[3], NULL, 10);
    if (cushim_init() != CUDA_SUCCESS) {
        printf("skipped: %s\n", cushim_error_last()->message);
        return SKIPPED;
    }
    if (cushim_context_create(0, 0, &context) != CUDA_SUCCESS || cushim_dispatcher_create(&dispatcher) != CUDA_SUCCESS)
        fail("no context or no dispatcher");
    for (unsigned i = 0; i < SHARED; i++)
        if (cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &shared[i]) != CUDA_SUCCESS)
            fail("no stream");
    for (unsigned i = 0; i < thread_count; i++) {
        threads[i].random = (first_seed * 1000003 + i) | 1;
        if (pthread_create(&threads[i].id, NULL, run, &threads[i]) != 0)
            fail("no thread");
    }
    for (unsigned i = 0; i < thread_count; i++)
        pthread_join(threads[i].id, NULL);
    finish();
    printf("%u functions, %u of dispatchers\n", accepted[0], accepted[1]);
    return 0;
}
