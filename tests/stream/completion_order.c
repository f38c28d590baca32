/* SPDX-License-Identifier: MIT */
/* Notification streams: the callbacks of one stream come in the order of its work, and none waits for other streams. */
#include "completion_callback.h"

enum { MAX_IN_CONTEXT = 16, MORE = MAX_IN_CONTEXT + 4 };

struct turns_taken {
    int next;
    int wrong;
};

struct turn {
    struct turns_taken *taken;
    int number;
};

static void take_turn(CUresult status, void *user)
{
    struct turn *turn = user;
    turn->taken->wrong += status != CUDA_SUCCESS || turn->taken->next != turn->number;
    turn->taken->next++;
}

static void run_until(struct cushim_dispatcher *dispatcher, const struct turns_taken *taken, int count)
{
    size_t called = 1;
    while (taken->next < count && called != 0)
        require("run", cushim_dispatcher_run(dispatcher, soon(), &called));
}

/* Threads set callbacks, each for a stream of its own. */
enum { THREADS = 4, ROUNDS = 40, MANY = 60 };

static void *set_many(void *user)
{
    struct turns_taken *total = user;
    struct cushim_stream *stream = test_stream_new();
    struct cushim_dispatcher *dispatcher = dispatcher_new();
    for (int round = 0; round < ROUNDS; round++) {
        struct gate gate;
        struct turns_taken taken = {0, 0};
        struct turn turns[MANY];
        struct cushim_completion *completions[MANY];
        gate_close(&gate, cushim_stream_handle(stream));
        for (int i = 0; i < MANY; i++) {
            completions[i] = notifying_new(stream);
            turns[i] = (struct turn){&taken, i};
            require("set", cushim_completion_set_callback(completions[i], dispatcher, take_turn, &turns[i], NULL));
        }
        gate_open(&gate);
        run_until(dispatcher, &taken, MANY);
        total->next += taken.next;
        total->wrong += taken.wrong;
        for (int i = 0; i < MANY; i++)
            cushim_completion_destroy(&completions[i]);
    }
    cushim_dispatcher_destroy(&dispatcher);
    test_stream_close(stream);
    return NULL;
}

CHECK(one_thread, "completion_order.one-thread")
{
    struct turns_taken total = {0, 0};
    set_many(&total);
    expect_number("called", total.next, ROUNDS * MANY);
    expect_number("wrong", total.wrong, 0);
}

CHECK(threads, "completion_order.threads")
{
    pthread_t ids[THREADS];
    struct turns_taken totals[THREADS] = {{0, 0}};
    int called = 0;
    int wrong = 0;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&ids[i], NULL, set_many, &totals[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(ids[i], NULL);
        called += totals[i].next;
        wrong += totals[i].wrong;
    }
    expect_number("called", called, THREADS * ROUNDS * MANY);
    expect_number("wrong", wrong, 0);
}

/* The stream waits until the program writes the value. No callback of the driver is needed for that. */
static void wait_for_value(struct cushim_stream *stream, CUdeviceptr address)
{
    require("wait-value", cu->StreamWaitValue32_v2(cushim_stream_handle(stream), address, 1, CU_STREAM_WAIT_VALUE_GEQ));
}

/* Newer work is pending when the older work is done. */
CHECK(newer_work, "completion_order.newer-work", .needs = {S(StreamWaitValue32_v2)})
{
    CUdeviceptr address = 0;
    struct cushim_stream *stream = fixture_stream();
    atomic_uint *values = host_new(2 * sizeof *values, &address);
    if (values == NULL)
        return;
    wait_for_value(stream, address);
    struct cushim_completion *older = notifying_new(stream);
    wait_for_value(stream, address + sizeof *values);
    struct cushim_completion *newer = notifying_new(stream);
    expect("wait-shortly", wait_status(older, cushim_clock_ns() + 2000000), CUDA_ERROR_TIMEOUT);
    atomic_store(&values[0], 1);
    expect("older", wait_status(older, soon()), CUDA_SUCCESS);
    expect("newer-is-pending", poll_status(newer), CUDA_ERROR_NOT_READY);
    atomic_store(&values[1], 1);
    expect("newer", wait_status(newer, soon()), CUDA_SUCCESS);
    cushim_completion_destroy(&older);
    cushim_completion_destroy(&newer);
}

/* The driver refuses the callback behind a wait. Neither another stream nor the next completion suffers. */
CHECK(refused_callback, "completion_order.refused-callback", .needs = {S(StreamWaitValue32_v2)})
{
    CUdeviceptr address = 0;
    struct cushim_completion *completion = NULL;
    struct cushim_stream *blocked = fixture_stream();
    struct cushim_stream *other = fixture_stream();
    atomic_uint *value = host_new(sizeof *value, &address);
    if (value == NULL)
        return;
    wait_for_value(blocked, address);
    watch_begin();
    watch_fail_slot(S(StreamAddCallback_v1), CUDA_ERROR_OUT_OF_MEMORY);
    expect("refused", cushim_completion_create(blocked, CUSHIM_COMPLETION_NOTIFYING, &completion),
           CUDA_ERROR_OUT_OF_MEMORY);
    watch_end();
    expect_true("untouched", completion == NULL);
    completion = notifying_new(blocked);
    struct cushim_completion *of_other = notifying_new(other);
    expect("other", wait_status(of_other, soon()), CUDA_SUCCESS);
    expect("pending", poll_status(completion), CUDA_ERROR_NOT_READY);
    atomic_store(value, 1);
    expect("wait", wait_status(completion, soon()), CUDA_SUCCESS);
    cushim_completion_destroy(&completion);
    cushim_completion_destroy(&of_other);
}

static void pass_gate(CUresult status, void *user)
{
    struct gate *gate = user;
    pthread_mutex_lock(&gate->lock);
    while (!gate->open)
        pthread_cond_wait(&gate->changed, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

/* The work behind a callback is done while the callback runs. */
CHECK(work_behind, "completion_order.work-behind", .needs = {S(CtxGetId_v1)})
{
    /* The callback may use it for a moment after the completion has fired. */
    static struct gate slow = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    struct cushim_stream *stream = fixture_stream();
    unsigned *held = stream_block(stream);
    struct cushim_completion *completion = notifying_new(stream);
    require("set", cushim_completion_set_inline_callback(completion, pass_gate, &slow, NULL));
    stream_unblock(held);
    struct cushim_completion *behind = polled_new(stream);
    expect("behind", wait_status(behind, soon()), CUDA_SUCCESS);
    gate_open(&slow);
    expect("wait", wait_status(completion, soon()), CUDA_SUCCESS);
    cushim_completion_destroy(&completion);
    cushim_completion_destroy(&behind);
}

/* The notification streams of one context do not count in another one. */
static void use_another_context(void)
{
    struct cushim_context *context = NULL;
    struct cushim_stream *stream = NULL;
    int waits = watch_calls_of(S(StreamWaitEvent_v1));
    require("context", cushim_context_create(the_ordinal, 0, &context));
    require("stream", cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream));
    struct cushim_completion *completion = notifying_new(stream);
    require("wait", wait_status(completion, soon()));
    cushim_completion_destroy(&completion);
    expect_number("another-context", watch_calls_of(S(StreamWaitEvent_v1)) - waits, 1);
    test_stream_close(stream);
    require("context-destroy", cushim_context_destroy(&context));
}

/* A stream takes a notification stream with its first notifying completion and keeps it; the callbacks of streams that
 * find none go onto the stream itself. A stream that ends gives its notification stream back. */
CHECK(at_most_sixteen, "completion_order.at-most-sixteen", .flags = CHECK_ALONE, .needs = {S(CtxGetId_v1)})
{
    struct cushim_stream *streams[MORE];
    for (int i = 0; i < MORE; i++)
        streams[i] = test_stream_new();
    watch_begin();
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MORE; i++) {
            struct cushim_completion *completion = notifying_new(streams[i]);
            require("wait", wait_status(completion, soon()));
            cushim_completion_destroy(&completion);
        }
        expect_number(key_of(ordinals[round], "streams", NULL), watch_objects.streams, MAX_IN_CONTEXT);
        expect_number(key_of(ordinals[round], "waits", NULL), watch_calls_of(S(StreamWaitEvent_v1)),
                      (round + 1) * MAX_IN_CONTEXT);
        expect_number(key_of(ordinals[round], "callbacks", NULL), watch_calls_of(S(StreamAddCallback_v1)),
                      (round + 1) * MORE);
    }
    expect_number("events", watch_objects.events, MAX_IN_CONTEXT);
    use_another_context();
    test_stream_close(streams[0]);
    expect_number("given-back", watch_objects.streams, MAX_IN_CONTEXT - 2); /* the stream itself was not counted */
    streams[0] = test_stream_new();
    cushim_completion_destroy(&(struct cushim_completion *){notifying_new(streams[0])});
    expect_number("taken-again", watch_objects.streams, MAX_IN_CONTEXT);
    for (int i = 0; i < MORE; i++)
        test_stream_close(streams[i]);
    expect_number("in-the-end", watch_objects.streams, -MORE);
    expect_number("events-in-the-end", watch_objects.events, 0);
    watch_end();
}

/* Another thread creates a notifying completion of the stream while this one creates the notification stream. */
static struct cushim_stream *raced_stream;
static struct cushim_completion *of_other_thread;
static CUresult(CUDAAPI *real_create)(CUstream *out_stream, unsigned flags, int priority);

static CUresult CUDAAPI create_later(CUstream *out_stream, unsigned flags, int priority)
{
    if (of_other_thread == NULL) {
        ((struct cushim_dispatch_table *)cushim_table())->StreamCreateWithPriority_v1 = real_create;
        of_other_thread = notifying_new(raced_stream);
    }
    return real_create(out_stream, flags, priority);
}

CHECK(first_at_once, "completion_order.first-at-once", .flags = CHECK_ALONE, .needs = {S(CtxGetId_v1)})
{
    struct cushim_dispatch_table *live = (struct cushim_dispatch_table *)cushim_table();
    raced_stream = test_stream_new();
    watch_begin();
    real_create = live->StreamCreateWithPriority_v1;
    live->StreamCreateWithPriority_v1 = create_later;
    struct cushim_completion *completion = notifying_new(raced_stream);
    expect("wait", wait_status(completion, soon()), CUDA_SUCCESS);
    expect("other", wait_status(of_other_thread, soon()), CUDA_SUCCESS);
    expect_number("created", watch_calls_of(S(StreamCreateWithPriority_v1)), 2);
    expect_number("kept", watch_objects.streams, 1);
    watch_end();
    cushim_completion_destroy(&completion);
    cushim_completion_destroy(&of_other_thread);
    test_stream_close(raced_stream);
}

static struct cushim_stream *many_streams[MORE];

static void *create_in_each(void *user)
{
    for (int i = 0; i < MORE; i++) {
        struct cushim_completion *completion = notifying_new(many_streams[i]);
        require("wait", wait_status(completion, soon()));
        cushim_completion_destroy(&completion);
    }
    return NULL;
}

/* Threads create the first completions of the same streams. */
CHECK(first_in_threads, "completion_order.first-in-threads", .flags = CHECK_ALONE, .needs = {S(CtxGetId_v1)})
{
    enum { TIMES = 20 };
    int too_many = 0;
    int left = 0;
    for (int round = 0; round < TIMES; round++) {
        pthread_t ids[THREADS];
        for (int i = 0; i < MORE; i++)
            many_streams[i] = test_stream_new();
        watch_begin();
        for (int i = 0; i < THREADS; i++)
            pthread_create(&ids[i], NULL, create_in_each, NULL);
        for (int i = 0; i < THREADS; i++)
            pthread_join(ids[i], NULL);
        too_many += watch_objects.streams > MAX_IN_CONTEXT;
        for (int i = 0; i < MORE; i++)
            test_stream_close(many_streams[i]);
        left += watch_objects.streams != -MORE;
        watch_end();
    }
    expect_number("too-many", too_many, 0);
    expect_number("left", left, 0);
}
