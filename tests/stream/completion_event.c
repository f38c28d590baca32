/* SPDX-License-Identifier: MIT */
/* Completions that record an event: what they cost, and that they fire whatever the driver refuses. */
#include <sched.h>

#include "completion.h"

static void wait_and_destroy(struct cushim_stream *stream)
{
    struct cushim_completion *completion = completion_new(stream);
    need("wait", cushim_completion_wait(completion, soon()));
    cushim_completion_destroy(&completion);
}

/* Creating a completion and finding it done: is the stream in a capture, the id of its context, the event; then the id
 * of the context, the event, and the capture mode of the thread twice. */
static void calls(void)
{
    struct cushim_completion *completion = NULL;
    struct cushim_stream *stream = layer_stream();
    wait_and_destroy(stream); /* the event exists */
    watch_begin();
    need("completion", cushim_stream_completion(stream, &completion));
    int made = watch_calls();
    watch_end();
    need("wait", cushim_completion_wait(completion, soon()));
    cushim_completion_destroy(&completion);
    need("again", cushim_stream_completion(stream, &completion));
    need("synchronize", cushim_stream_synchronize(stream));
    watch_begin();
    rule("poll", cushim_completion_poll(completion), CUDA_SUCCESS);
    cushim_completion_destroy(&completion);
    int reaped = watch_calls();
    watch_end();
    rule_number("number", made + reaped, 7);
    layer_stream_end(stream);
}

/* Uses a completion in each way. Returns whether everything went as it should. */
static bool use_in_each_way(struct cushim_stream *stream, struct gate *gate, atomic_int *releases)
{
    cushim_descriptor descriptor;
    struct cushim_completion *completion = NULL;
    bool right = cushim_stream_enqueue(stream, body_does_nothing, releases, count_release, &completion) == CUDA_SUCCESS
                 && cushim_completion_poll(completion) == CUDA_ERROR_NOT_READY
                 && cushim_completion_wait(completion, cushim_time_ns() + 1000000) == CUDA_ERROR_TIMEOUT
                 && cushim_completion_descriptor(completion, &descriptor) == CUDA_SUCCESS;
    gate_open(gate);
    right = right && readable(descriptor) && cushim_completion_wait(completion, soon()) == CUDA_SUCCESS;
    cushim_completion_destroy(&completion);
    return right;
}

/* The second time, nothing is allocated. */
static void no_allocation(void)
{
    struct gate gate;
    atomic_int releases = 0;
    struct cushim_stream *stream = layer_stream();
    gate_close(&gate, cushim_stream_handle(stream));
    rule_fact("first", use_in_each_way(stream, &gate, &releases));
    gate_close(&gate, cushim_stream_handle(stream));
    allocation_fail(0);
    rule_fact("second", use_in_each_way(stream, &gate, &releases));
    rule_fact("none", !allocation_failed());
    rule_number("released", atomic_load(&releases), 2);
    layer_stream_end(stream);
}

static void use_without_budget(struct cushim_stream *stream)
{
    struct gate gate;
    gate_close(&gate, cushim_stream_handle(stream));
    struct cushim_completion *completion = completion_new(stream);
    cushim_set_spin_budget_ns(0);
    watch_begin();
    rule("wait", cushim_completion_wait(completion, cushim_time_ns() + 2000000), CUDA_ERROR_TIMEOUT);
    rule_fact("no-spinning", watch_calls_of(S(EventQuery_v1)) <= 4);
    watch_end();
    cushim_set_spin_budget_ns(50000);
    gate_open(&gate);
    rule("fired", cushim_completion_wait(completion, soon()), CUDA_SUCCESS);
    cushim_completion_destroy(&completion);
}

static void spin_budget(void)
{
    struct cushim_stream *stream = layer_stream();
    use_without_budget(stream);
    layer_stream_end(stream);
}

/* A wait that ends within the spin budget asks for no callback. */
static void short_waits(void)
{
    struct gate gate;
    size_t index;
    struct cushim_stream *stream = layer_stream();
    gate_close(&gate, cushim_stream_handle(stream));
    struct cushim_completion *completion = completion_new(stream);
    cushim_set_spin_budget_ns(UINT64_MAX);
    watch_begin();
    rule("wait", cushim_completion_wait(completion, cushim_time_ns() + 1000000), CUDA_ERROR_TIMEOUT);
    rule("past", cushim_completion_wait(completion, 0), CUDA_ERROR_TIMEOUT);
    rule("any", cushim_completion_wait_any(&completion, 1, 0, &index), CUDA_ERROR_TIMEOUT);
    rule("all", cushim_completion_wait_all(&completion, 1, 0), CUDA_ERROR_TIMEOUT);
    rule_number("callbacks", watch_calls_of(S(StreamAddCallback_v1)), 0);
    watch_end();
    cushim_set_spin_budget_ns(50000);
    gate_open(&gate);
    rule("fired", cushim_completion_wait(completion, soon()), CUDA_SUCCESS);
    cushim_completion_destroy(&completion);
    layer_stream_end(stream);
}

struct use {
    struct cushim_completion *completion;
    struct gate gate;
    atomic_int opened;
    atomic_int releases;
    atomic_int early;
};

static void release_use(void *user)
{
    struct use *use = user;
    if (atomic_load(&use->opened) == 0)
        atomic_fetch_add(&use->early, 1);
    atomic_fetch_add(&use->releases, 1);
}

enum form { POLLED, WAITED, WITH_DESCRIPTOR, WITH_ANY, DETACHED, FORMS };

static const char *const form_names[FORMS] = {"polled", "waited", "descriptor", "any", "detached"};

static void use_pending(struct use *use, enum form form)
{
    cushim_descriptor descriptor;
    size_t index;
    uint64_t deadline = cushim_time_ns() + 100000;
    switch (form) {
    case WAITED:
        (void)cushim_completion_wait(use->completion, deadline);
        break;
    case WITH_DESCRIPTOR:
        (void)cushim_completion_descriptor(use->completion, &descriptor);
        break;
    case WITH_ANY:
        (void)cushim_completion_wait_any(&use->completion, 1, deadline, &index);
        break;
    case DETACHED:
        cushim_completion_detach(&use->completion);
        break;
    default:
        (void)cushim_completion_poll(use->completion);
    }
}

/* Returns whether the `turn`th driver call failed, and checks what happened then. */
static bool use_with_failure(struct cushim_stream *stream, enum form form, int turn, int *wrong)
{
    struct use use = {.completion = NULL};
    gate_close(&use.gate, cushim_stream_handle(stream));
    (void)cushim_completion_poll(NULL); /* an error to find again */
    watch_begin();
    watch_fail(turn, CUDA_ERROR_UNKNOWN);
    CUresult result = cushim_stream_enqueue(stream, body_does_nothing, &use, release_use, &use.completion);
    if (result == CUDA_SUCCESS) {
        *wrong += cushim_last_error()->code != CUDA_ERROR_INVALID_HANDLE;
        (void)cushim_completion_poll(NULL);
        use_pending(&use, form);
        if (form != WAITED && form != WITH_ANY)
            *wrong += cushim_last_error()->code != CUDA_ERROR_INVALID_HANDLE;
    }
    bool failed = watch_failed(NULL);
    watch_end();
    *wrong += result == CUDA_SUCCESS && use.completion != NULL
              && cushim_completion_poll(use.completion) != CUDA_ERROR_NOT_READY;
    atomic_store(&use.opened, 1);
    gate_open(&use.gate);
    if (use.completion != NULL)
        *wrong += cushim_completion_wait(use.completion, soon()) != CUDA_SUCCESS;
    cushim_completion_destroy(&use.completion);
    for (int i = 0; i < 500 && atomic_load(&use.releases) == 0; i++)
        pause_shortly();
    *wrong += atomic_load(&use.releases) != 1 || atomic_load(&use.early) != 0;
    return failed;
}

/* Each driver call fails in turn. The completion fires with success, `release` is called once and not before that, and
 * calls that succeed record no error. */
static void each_call_fails(void)
{
    struct cushim_stream *stream = layer_stream();
    for (int form = 0; form < FORMS; form++) {
        int wrong = 0;
        int turn = 0;
        while (turn < 100 && use_with_failure(stream, (enum form)form, turn, &wrong))
            turn++;
        rule_number(key_of("wrong", form_names[form], NULL), wrong, 0);
        rule_fact(key_of("tried", form_names[form], NULL), turn > 1);
    }
    layer_stream_end(stream);
}

/* An inline callback runs on a thread of the driver, also while the program polls. */
struct inline_call {
    pthread_t thread;
    atomic_int releases;
};

static void take_thread(CUresult status, void *user)
{
    (void)status;
    ((struct inline_call *)user)->thread = pthread_self();
}

static void count_inline_release(void *user)
{
    atomic_fetch_add(&((struct inline_call *)user)->releases, 1);
}

static void inline_while_polled(void)
{
    enum { ROUNDS = 50 };
    int here = 0;
    struct cushim_stream *stream = layer_stream();
    for (int round = 0; round < ROUNDS; round++) {
        struct gate gate;
        struct inline_call call = {.releases = 0};
        gate_close(&gate, cushim_stream_handle(stream));
        struct cushim_completion *completion = completion_new(stream);
        need("set", cushim_completion_set_inline_callback(completion, take_thread, &call, count_inline_release));
        gate_open(&gate);
        while (cushim_completion_poll(completion) == CUDA_ERROR_NOT_READY)
            sched_yield();
        for (int i = 0; i < 500 && atomic_load(&call.releases) == 0; i++)
            pause_shortly();
        here += atomic_load(&call.releases) == 0 || pthread_equal(call.thread, pthread_self());
        cushim_completion_destroy(&completion);
    }
    rule_number("on-this-thread", here, 0);
    layer_stream_end(stream);
}

/* The driver refuses the callbacks of all helper streams, which are closed then. The next completion replaces them,
 * although it reuses an event. */
static void helpers_replaced(void)
{
    enum { HELPERS = 4 };
    struct gate gate;
    int wrong = 0;
    struct cushim_stream *stream = layer_stream();
    struct cushim_completion *completions[HELPERS];
    wait_and_destroy(stream);
    if (!gate_close(&gate, cushim_stream_handle(stream)))
        return;
    for (int i = 0; i < HELPERS; i++)
        completions[i] = completion_new(stream);
    watch_begin();
    for (int i = 0; i < HELPERS; i++) {
        watch_fail_slot(S(StreamAddCallback_v1), CUDA_ERROR_OUT_OF_MEMORY);
        wrong += cushim_completion_wait(completions[i], cushim_time_ns() + 2000000) != CUDA_ERROR_TIMEOUT;
    }
    rule_number("not-pending", wrong, 0);
    rule_number("closed", watch_calls_of(S(StreamDestroy_v2)), HELPERS);
    watch_end();
    gate_open(&gate);
    for (int i = 0; i < HELPERS; i++) {
        wrong += cushim_completion_wait(completions[i], soon()) != CUDA_SUCCESS;
        cushim_completion_destroy(&completions[i]);
    }
    rule_number("not-fired", wrong, 0);
    watch_begin();
    wait_and_destroy(stream);
    rule_number("created", watch_calls_of(S(StreamCreateWithPriority_v1)), HELPERS);
    rule_number("events", watch_calls_of(S(EventCreate_v1)), 0);
    watch_end();
    layer_stream_end(stream);
}

/* More streams than there are helper streams have completions that need a callback, and they are destroyed: nothing
 * waits, no stream is created, and each completion fires. */
static void many_callbacks(void)
{
    enum { MANY = 100, STREAMS = 40 };
    struct gate gates[STREAMS];
    atomic_int releases = 0;
    struct cushim_completion *completions[MANY];
    cushim_descriptor descriptor;
    CUstream handles[STREAMS];
    struct cushim_stream *streams[STREAMS];
    int fired = 0;
    int wrong = 0;
    struct cushim_context *context = context_new();
    for (int i = 0; i < STREAMS; i++) {
        need("create", cu->StreamCreate_v1(&handles[i], CU_STREAM_NON_BLOCKING));
        need("borrow", cushim_stream_borrow(handles[i], context, &streams[i]));
    }
    wait_and_destroy(streams[0]); /* creates the helper streams now: */
    /* While work is pending, driver 580 creates no 36th stream in a context. */
    for (int i = 0; i < STREAMS; i++)
        gate_close(&gates[i], handles[i]);
    for (int i = 0; i < MANY; i++)
        wrong +=
            cushim_stream_enqueue(streams[i % STREAMS], body_does_nothing, &releases, count_release, &completions[i])
            != CUDA_SUCCESS;
    for (int i = 0; i < STREAMS; i++)
        cushim_stream_destroy(&streams[i]);
    watch_begin();
    for (int i = 0; i < MANY; i++) {
        if (i % 2 == 0)
            cushim_completion_detach(&completions[i]);
        else
            wrong += cushim_completion_descriptor(completions[i], &descriptor) != CUDA_SUCCESS;
    }
    rule_number("streams-created", watch_calls_of(S(StreamCreateWithPriority_v1)), 0);
    watch_end();
    rule_number("not-yet", atomic_load(&releases), 0);
    for (int i = 0; i < STREAMS; i++)
        gate_open(&gates[i]);
    for (int i = 1; i < MANY; i += 2) {
        fired += cushim_completion_wait(completions[i], soon()) == CUDA_SUCCESS;
        cushim_completion_destroy(&completions[i]);
    }
    for (int i = 0; i < 500 && atomic_load(&releases) < MANY; i++)
        pause_shortly();
    rule_number("wrong", wrong, 0);
    rule_number("fired", fired, MANY / 2);
    rule_number("released", atomic_load(&releases), MANY);
    for (int i = 0; i < STREAMS; i++)
        need("destroy", cu->StreamDestroy_v2(handles[i]));
    cushim_context_destroy(&context);
}

static int objects_created(void)
{
    return watch_calls_of(S(EventCreate_v1)) + watch_calls_of(S(StreamCreateWithPriority_v1));
}

static CUresult body_counts_objects(struct cushim_stream *stream, void *user)
{
    (void)stream;
    *(int *)user = objects_created();
    return CUDA_SUCCESS;
}

/* Creating can wait for all work of the context, and so for that of the body. */
static void created_before_body(void)
{
    int before = 0;
    struct cushim_stream *stream = NULL;
    struct cushim_completion *completion = NULL;
    struct cushim_context *context = NULL;
    need("context", cushim_context_create(0, 0, &context));
    need("stream", cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream));
    watch_begin();
    done("enqueue", cushim_stream_enqueue(stream, body_counts_objects, &before, NULL, &completion));
    rule_fact("before", before > 0);
    rule_number("afterwards", objects_created() - before, 0);
    watch_end();
    cushim_completion_destroy(&completion);
    cushim_stream_destroy(&stream);
    cushim_context_destroy(&context);
}

static const struct check checks[] = {
    {"completion_event.created-before-body", created_before_body, 0, {S(CtxGetId_v1)}},
    {"completion_event.calls", calls, 0, {S(CtxGetId_v1)}},
    {"completion_event.no-allocation", no_allocation, CHECK_ALONE, {0}},
    {"completion_event.spin-budget", spin_budget, 0, {0}},
    {"completion_event.short-waits", short_waits, 0, {0}},
    {"completion_event.each-call-fails", each_call_fails, 0, {S(CtxGetId_v1)}},
    {"completion_event.inline-while-polled", inline_while_polled, 0, {0}},
    {"completion_event.helpers-replaced", helpers_replaced, 0, {S(CtxGetId_v1)}},
    {"completion_event.many-callbacks", many_callbacks, 0, {0}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_completion_event = {"completion_event", checks};
