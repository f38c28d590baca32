/* SPDX-License-Identifier: MIT */
/* The order of the callbacks for one stream, and that none waits for newer work. */
#include "completion.h"

/* The stream waits until the program writes the value. No callback of the driver is needed for that. */
static void wait_for_value(struct cushim_stream *stream, CUdeviceptr address)
{
    need("wait-value", cu->StreamWaitValue32_v2(cushim_stream_handle(stream), address, 1, CU_STREAM_WAIT_VALUE_GEQ));
}

/* Newer work gets its callback first. It is pending when the older work is done. */
static void newer_work_first(void)
{
    CUdeviceptr address = 0;
    cushim_descriptor descriptor;
    struct cushim_stream *stream = layer_stream();
    atomic_uint *values = host_new(2 * sizeof *values, &address);
    if (values == NULL)
        return;
    wait_for_value(stream, address);
    struct cushim_completion *older = completion_new(stream);
    wait_for_value(stream, address + sizeof *values);
    struct cushim_completion *newer = completion_new(stream);
    need("descriptor", cushim_completion_descriptor(newer, &descriptor));
    rule("wait-shortly", cushim_completion_wait(older, cushim_time_ns() + 2000000), CUDA_ERROR_TIMEOUT);
    atomic_store(&values[0], 1);
    rule("older", cushim_completion_wait(older, soon()), CUDA_SUCCESS);
    rule("newer-is-pending", cushim_completion_poll(newer), CUDA_ERROR_NOT_READY);
    atomic_store(&values[1], 1);
    rule("newer", cushim_completion_wait(newer, soon()), CUDA_SUCCESS);
    cushim_completion_destroy(&older);
    cushim_completion_destroy(&newer);
    layer_stream_end(stream);
    host_free(values);
}

/* The driver refuses the callback behind a wait. Callbacks for another stream do not wait for that work. */
static void refused_callback(void)
{
    enum { COUNT = 2 };
    CUdeviceptr address = 0;
    cushim_descriptor descriptor;
    struct cushim_stream *streams[COUNT];
    struct cushim_completion *completions[COUNT];
    atomic_uint *values = host_new(COUNT * sizeof *values, &address);
    if (values == NULL)
        return;
    for (unsigned i = 0; i < COUNT; i++) {
        streams[i] = layer_stream();
        wait_for_value(streams[i], address + i * sizeof *values);
        completions[i] = completion_new(streams[i]);
    }
    watch_begin();
    watch_fail_slot(S(StreamAddCallback_v1), CUDA_ERROR_OUT_OF_MEMORY);
    need("descriptor", cushim_completion_descriptor(completions[0], &descriptor));
    watch_end();
    need("other-descriptor", cushim_completion_descriptor(completions[1], &descriptor));
    atomic_store(&values[1], 1);
    rule("other", cushim_completion_wait(completions[1], soon()), CUDA_SUCCESS);
    atomic_store(&values[0], 1);
    rule("wait", cushim_completion_wait(completions[0], soon()), CUDA_SUCCESS);
    for (int i = 0; i < COUNT; i++) {
        cushim_completion_destroy(&completions[i]);
        layer_stream_end(streams[i]);
    }
    host_free(values);
}

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
    for (int i = 0; i < 500 && taken->next < count; i++) {
        need("run", cushim_dispatcher_run(dispatcher, NULL));
        if (taken->next < count)
            pause_shortly();
    }
}

static void pass_gate(CUresult status, void *user)
{
    struct gate *gate = user;
    (void)status;
    pthread_mutex_lock(&gate->lock);
    while (!gate->open)
        pthread_cond_wait(&gate->changed, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

/* The work of the second callback is done when it is set, and the first callback is still due. */
static void done_behind_due(void)
{
    struct gate gate;
    struct gate slow = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    struct turns_taken taken = {0, 0};
    struct turn first = {&taken, 0};
    struct turn second = {&taken, 1};
    struct cushim_dispatcher *dispatcher = NULL;
    struct cushim_completion *completions[3];
    struct cushim_stream *stream = layer_stream();
    need("dispatcher", cushim_dispatcher_create(&dispatcher));
    gate_close(&gate, cushim_stream_handle(stream));
    for (int i = 0; i < 3; i++)
        completions[i] = completion_new(stream);
    need("inline", cushim_completion_set_inline_callback(completions[0], pass_gate, &slow, NULL));
    need("first", cushim_completion_set_callback(completions[1], dispatcher, take_turn, &first, NULL));
    gate_open(&gate);
    need("wait", cushim_completion_wait(completions[0], soon()));
    pause_shortly();
    need("second", cushim_completion_set_callback(completions[2], dispatcher, take_turn, &second, NULL));
    need("run", cushim_dispatcher_run(dispatcher, NULL));
    gate_open(&slow);
    run_until(dispatcher, &taken, 2);
    rule_number("called", taken.next, 2);
    rule_number("wrong", taken.wrong, 0);
    for (int i = 0; i < 3; i++)
        cushim_completion_destroy(&completions[i]);
    cushim_dispatcher_destroy(&dispatcher);
    layer_stream_end(stream);
}

/* The first callback for a stream finds no free helper stream, the second one does. */
static void on_stream(void)
{
    enum { HELPERS = 4 };
    unsigned *held[HELPERS];
    struct cushim_stream *streams[HELPERS];
    struct cushim_completion *completions[HELPERS];
    struct cushim_completion *of_stream[2];
    struct cushim_dispatcher *dispatcher = NULL;
    struct turns_taken others = {0, 0};
    struct turns_taken taken = {0, 0};
    struct turn of_helper[HELPERS];
    struct turn turns[2] = {{&taken, 0}, {&taken, 1}};
    struct cushim_stream *stream = layer_stream();
    need("dispatcher", cushim_dispatcher_create(&dispatcher));
    for (int i = 0; i < HELPERS; i++) {
        streams[i] = layer_stream();
        held[i] = stream_block(streams[i]);
        completions[i] = completion_new(streams[i]);
        of_helper[i] = (struct turn){&others, i};
        need("set", cushim_completion_set_callback(completions[i], dispatcher, take_turn, &of_helper[i], NULL));
    }
    unsigned *before = stream_block(stream);
    for (int i = 0; i < 2; i++)
        of_stream[i] = completion_new(stream);
    unsigned *behind = stream_block(stream);
    need("set", cushim_completion_set_callback(of_stream[0], dispatcher, take_turn, &turns[0], NULL));
    for (int i = 0; i < HELPERS; i++)
        stream_unblock(held[i]);
    run_until(dispatcher, &others, HELPERS);
    need("set", cushim_completion_set_callback(of_stream[1], dispatcher, take_turn, &turns[1], NULL));
    stream_unblock(before);
    pause_shortly();
    need("run", cushim_dispatcher_run(dispatcher, NULL));
    stream_unblock(behind);
    run_until(dispatcher, &taken, 2);
    rule_number("called", others.next + taken.next, HELPERS + 2);
    rule_number("wrong", taken.wrong, 0);
    for (int i = 0; i < HELPERS; i++) {
        cushim_completion_destroy(&completions[i]);
        layer_stream_end(streams[i]);
        host_free(held[i]);
    }
    for (int i = 0; i < 2; i++)
        cushim_completion_destroy(&of_stream[i]);
    layer_stream_end(stream);
    host_free(before);
    host_free(behind);
    cushim_dispatcher_destroy(&dispatcher);
}

/* Threads set callbacks, each for a stream of its own. */
enum { THREADS = 4, ROUNDS = 40, MANY = 60 };

static void *set_many(void *user)
{
    struct turns_taken *total = user;
    struct cushim_dispatcher *dispatcher = NULL;
    struct cushim_stream *stream = layer_stream();
    need("dispatcher", cushim_dispatcher_create(&dispatcher));
    for (int round = 0; round < ROUNDS; round++) {
        struct gate gate;
        struct turns_taken taken = {0, 0};
        struct turn turns[MANY];
        struct cushim_completion *completions[MANY];
        gate_close(&gate, cushim_stream_handle(stream));
        for (int i = 0; i < MANY; i++) {
            completions[i] = completion_new(stream);
            turns[i] = (struct turn){&taken, i};
            need("set", cushim_completion_set_callback(completions[i], dispatcher, take_turn, &turns[i], NULL));
        }
        gate_open(&gate);
        run_until(dispatcher, &taken, MANY);
        total->next += taken.next;
        total->wrong += taken.wrong;
        for (int i = 0; i < MANY; i++)
            cushim_completion_destroy(&completions[i]);
    }
    cushim_dispatcher_destroy(&dispatcher);
    layer_stream_end(stream);
    return NULL;
}

static void one_thread(void)
{
    struct turns_taken total = {0, 0};
    set_many(&total);
    rule_number("called", total.next, ROUNDS * MANY);
    rule_number("wrong", total.wrong, 0);
}

static void threads(void)
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
    rule_number("called", called, THREADS * ROUNDS * MANY);
    rule_number("wrong", wrong, 0);
}

static const struct check checks[] = {
    {"completion_order.newer-work-first", newer_work_first, 0, {S(StreamWaitValue32_v2)}},
    {"completion_order.refused-callback", refused_callback, 0, {S(StreamWaitValue32_v2)}},
    {"completion_order.done-behind-due", done_behind_due, 0, {0}},
    {"completion_order.on-stream", on_stream, 0, {0}},
    {"completion_order.one-thread", one_thread, 0, {0}},
    {"completion_order.threads", threads, 0, {0}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_completion_order = {"completion_order", checks};
