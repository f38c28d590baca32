/* SPDX-License-Identifier: MIT */
/*
 * Contexts that end while completions are pending. If the context ends through cushim, or if a callback of the driver
 * fires the completion, it has the true status. Otherwise it has CUDA_ERROR_CONTEXT_IS_DESTROYED, and no call is made
 * on its event: a driver would crash, as softcuda does, once another context exists. Therefore each test creates one.
 */
#include "completion.h"

/* Whether a completion whose context was destroyed at the driver is fired by a callback. */
static bool has_callback(void)
{
    return cushim_query_slot_state(S(CtxGetId_v1), CUSHIM_DEFAULT_STREAM_LEGACY) == CUSHIM_STATE_MISSING;
}

static CUresult status_of_destroyed_context(void)
{
    return has_callback() ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

static void *open_later(void *user)
{
    for (int i = 0; i < 10; i++)
        pause_shortly();
    gate_open(user);
    return NULL;
}

static CUresult destroy_context(CUcontext context)
{
    return cu->CtxDestroy_v2(context);
}

static CUresult reset_primary(CUcontext context)
{
    (void)context;
    return cu->DevicePrimaryCtxReset_v1(the_device);
}

static CUresult release_primary(CUcontext context)
{
    (void)context;
    return cu->DevicePrimaryCtxRelease_v1(the_device);
}

/* The stream is borrowed, because no call may be made on it once its context is destroyed: the driver crashes. */
static struct cushim_stream *borrowed_stream(void)
{
    CUstream handle = NULL;
    struct cushim_stream *stream = NULL;
    need("create", cu->StreamCreate_v1(&handle, CU_STREAM_NON_BLOCKING));
    need("borrow", cushim_stream_borrow(handle, NULL, &stream));
    return stream;
}

enum { PLAIN, ENQUEUED, POLLED, ENGAGED_BEFORE, DETACHED, LATE, DESTROYED, COMPLETIONS };

static void ignore_status(CUresult status, void *user)
{
    atomic_store((atomic_int *)user, (int)status);
}

/* Ends a context while completions are pending in each way; another thread lets the work finish in the meantime. */
static void end_under(struct cushim_stream *stream, CUresult (*end)(CUcontext), CUcontext context)
{
    struct gate gate;
    pthread_t opener;
    atomic_int releases = 0;
    atomic_int late_status = -1;
    CUcontext other = NULL;
    cushim_descriptor descriptor;
    struct cushim_completion *completions[COMPLETIONS] = {NULL};
    completions[POLLED] = completion_new(stream);
    rule("fired-before", cushim_completion_wait(completions[POLLED], soon()), CUDA_SUCCESS);
    gate_close(&gate, cushim_stream_handle(stream));
    for (int i = 0; i < COMPLETIONS; i++)
        if (i == ENQUEUED || i == DETACHED)
            need("enqueue",
                 cushim_stream_enqueue(stream, body_does_nothing, &releases, count_release, &completions[i]));
        else if (i != POLLED)
            completions[i] = completion_new(stream);
    need("descriptor", cushim_completion_descriptor(completions[ENGAGED_BEFORE], &descriptor));
    if (pthread_create(&opener, NULL, open_later, &gate) != 0)
        return;
    rule("end", end(context), CUDA_SUCCESS);
    pthread_join(opener, NULL);
    need("other", cu->CtxCreate_v2(&other, 0, the_device));
    rule("poll", cushim_completion_poll(completions[PLAIN]), status_of_destroyed_context());
    rule("wait", cushim_completion_wait(completions[ENQUEUED], soon()), status_of_destroyed_context());
    rule_number("released", atomic_load(&releases), 1);
    rule("stays", cushim_completion_poll(completions[POLLED]), CUDA_SUCCESS);
    rule("had-a-descriptor", cushim_completion_wait(completions[ENGAGED_BEFORE], soon()), CUDA_SUCCESS);
    rule_fact("readable", readable(descriptor));
    cushim_completion_detach(&completions[DETACHED]);
    rule_number("released-both", atomic_load(&releases), 2);
    done("callback", cushim_completion_set_inline_callback(completions[LATE], ignore_status, &late_status, NULL));
    rule("late-status", (CUresult)atomic_load(&late_status), status_of_destroyed_context());
    for (int i = 0; i < COMPLETIONS; i++)
        cushim_completion_destroy(&completions[i]);
    /* A reused object has an event of the dead context. */
    struct cushim_context *borrowed = NULL;
    struct cushim_stream *fresh = NULL;
    need("borrow-other", cushim_context_borrow(other, &borrowed));
    need("stream", cushim_stream_create(borrowed, CU_STREAM_NON_BLOCKING, 0, &fresh));
    int fired = 0;
    for (int i = 0; i < COMPLETIONS; i++) {
        completions[i] = completion_new(fresh);
        need("descriptor-again", cushim_completion_descriptor(completions[i], &descriptor));
        fired += cushim_completion_wait(completions[i], soon()) == CUDA_SUCCESS;
    }
    rule_number("fresh", fired, COMPLETIONS);
    for (int i = 0; i < COMPLETIONS; i++)
        cushim_completion_destroy(&completions[i]);
    layer_stream_end(fresh);
    cushim_context_destroy(&borrowed);
    need("other-destroy", cu->CtxDestroy_v2(other));
}

static void destroyed(void)
{
    CUcontext context = NULL;
    need("context", cu->CtxCreate_v2(&context, 0, the_device));
    struct cushim_stream *stream = borrowed_stream();
    end_under(stream, destroy_context, context);
    cushim_stream_destroy(&stream);
}

static void primary_reset(void)
{
    struct cushim_stream *stream = borrowed_stream();
    end_under(stream, reset_primary, NULL);
    cushim_stream_destroy(&stream);
}

static void primary_released(void)
{
    struct cushim_stream *stream = borrowed_stream();
    end_under(stream, release_primary, NULL);
    cushim_stream_destroy(&stream);
}

/* The context ends through cushim: the completions have fired when the call returns, with the status of the work. */
static void ended(void)
{
    enum { MANY = 40 }; /* more than there are helper streams */
    struct gate gate;
    pthread_t opener;
    struct cushim_context *context = NULL;
    struct cushim_stream *stream = NULL;
    struct cushim_completion *completions[MANY];
    CUcontext other = NULL;
    int fired = 0;
    need("context", cushim_context_create(0, 0, &context));
    need("stream", cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream));
    gate_close(&gate, cushim_stream_handle(stream));
    for (int i = 0; i < MANY; i++)
        completions[i] = completion_new(stream);
    done("stream-destroy", cushim_stream_destroy(&stream));
    if (pthread_create(&opener, NULL, open_later, &gate) != 0)
        return;
    done("destroy", cushim_context_destroy(&context));
    pthread_join(opener, NULL);
    need("other", cu->CtxCreate_v2(&other, 0, the_device));
    for (int i = 0; i < MANY; i++) {
        fired += cushim_completion_poll(completions[i]) == CUDA_SUCCESS;
        cushim_completion_destroy(&completions[i]);
    }
    rule_number("fired", fired, MANY);
    need("other-destroy", cu->CtxDestroy_v2(other));
}

/* The work failed, and the completion was not polled. */
static void ended_after_fault(void)
{
    struct cushim_context *context = NULL;
    struct cushim_stream *stream = NULL;
    CUcontext before = NULL;
    CUfunction function = NULL;
    struct gate gate;
    need("context", cushim_context_create(0, 0, &context));
    need("stream", cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream));
    need("enter", cushim_context_enter(context, &before));
    need("kernel", kernel_get("conformance_fault", &function));
    gate_close(&gate, cushim_stream_handle(stream));
    if (!need("fault", kernel_launch(function, cushim_stream_handle(stream), NULL)))
        return;
    struct cushim_completion *completion = completion_new(stream);
    need("leave", cushim_context_leave(before));
    gate_open(&gate);
    saw("synchronize", cushim_stream_synchronize(stream));
    saw("stream-destroy", cushim_stream_destroy(&stream));
    saw("destroy", cushim_context_destroy(&context));
    rule("status", cushim_completion_poll(completion), CUDA_ERROR_ILLEGAL_ADDRESS);
    cushim_completion_destroy(&completion);
}

/* A primary context that others retain lives on, so that its release does not wait. */
static void released_not_last(void)
{
    struct gate gate;
    struct cushim_context *context = NULL;
    struct cushim_stream *stream = borrowed_stream();
    need("context", cushim_context_create_primary(0, &context));
    gate_close(&gate, cushim_stream_handle(stream));
    struct cushim_completion *completion = completion_new(stream);
    done("destroy", cushim_context_destroy(&context));
    rule("pending", cushim_completion_poll(completion), CUDA_ERROR_NOT_READY);
    gate_open(&gate);
    rule("wait", cushim_completion_wait(completion, soon()), CUDA_SUCCESS);
    cushim_completion_destroy(&completion);
    cushim_stream_destroy(&stream);
}

/* Threads poll completions while their contexts end through cushim. A real driver needs long for a context. */
enum { THREADS = 4, ROUNDS = 100, SECONDS = 5 };

struct crew {
    struct cushim_completion *completion;
    atomic_int wrong;
};

static void *poll_until_fired(void *user)
{
    struct crew *crew = user;
    CUresult result;
    while ((result = cushim_completion_poll(crew->completion)) == CUDA_ERROR_NOT_READY)
        ;
    if (result != CUDA_SUCCESS)
        atomic_fetch_add(&crew->wrong, 1);
    return NULL;
}

static void ended_under_threads(void)
{
    struct crew crew = {.completion = NULL};
    uint64_t end = cushim_time_ns() + SECONDS * UINT64_C(1000000000);
    for (int round = 0; round < ROUNDS && cushim_time_ns() < end; round++) {
        pthread_t threads[THREADS];
        struct gate gate;
        struct cushim_context *context = NULL;
        struct cushim_stream *stream = NULL;
        CUcontext other = NULL;
        need("context", cushim_context_create(0, 0, &context));
        need("stream", cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream));
        gate_close(&gate, cushim_stream_handle(stream));
        crew.completion = completion_new(stream);
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, poll_until_fired, &crew);
        gate_open(&gate);
        cushim_stream_destroy(&stream);
        cushim_context_destroy(&context);
        need("other", cu->CtxCreate_v2(&other, 0, the_device));
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        cushim_completion_destroy(&crew.completion);
        need("other-destroy", cu->CtxDestroy_v2(other));
    }
    rule_number("wrong", atomic_load(&crew.wrong), 0);
}

static const struct check checks[] = {
    {"completion_context.destroyed", destroyed, CHECK_ALONE, {0}},
    {"completion_context.primary-reset", primary_reset, CHECK_ALONE, {S(DevicePrimaryCtxReset_v1)}},
    {"completion_context.primary-released", primary_released, CHECK_ALONE, {S(DevicePrimaryCtxRetain_v1)}},
    {"completion_context.ended", ended, CHECK_ALONE, {0}},
    {"completion_context.ended-after-fault", ended_after_fault, CHECK_ALONE, {0}},
    {"completion_context.released-not-last", released_not_last, CHECK_ALONE, {S(DevicePrimaryCtxRetain_v1)}},
    {"completion_context.ended-under-threads", ended_under_threads, CHECK_ALONE, {0}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_completion_context = {"completion_context", checks};
