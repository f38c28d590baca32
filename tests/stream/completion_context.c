/* SPDX-License-Identifier: MIT */
/*
 * Contexts that end while completions are pending. A callback of the driver fires a notifying completion with the true
 * status. A polled completion has CUDA_ERROR_CONTEXT_IS_DESTROYED, and no call is made on its event: a driver would
 * crash, as softcuda does, once another context exists. Therefore each test creates one.
 */
#include "completion.h"

/* The status of a polled completion whose context is gone. */
static CUresult status_of_ended_context(void)
{
    bool only_callbacks = cushim_slot_get_state(S(CtxGetId_v1), CUSHIM_DEFAULT_STREAM_LEGACY) == CUSHIM_STATE_MISSING;
    return only_callbacks ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
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
    return cu->DevicePrimaryCtxReset_v1(the_device);
}

static CUresult release_primary(CUcontext context)
{
    return cu->DevicePrimaryCtxRelease_v1(the_device);
}

/* The stream is borrowed, because no call may be made on it once its context is destroyed: the driver crashes. */
static struct cushim_stream *borrowed_stream(void)
{
    CUstream handle = NULL;
    struct cushim_stream *stream = NULL;
    require("create", cu->StreamCreate_v1(&handle, CU_STREAM_NON_BLOCKING));
    require("borrow", cushim_stream_borrow(handle, NULL, &stream));
    return stream;
}

enum { PLAIN, WAITED, FIRED, DETACHED, CALLED_BACK, ENQUEUED, COMPLETIONS };

static void keep_status(CUresult status, void *user)
{
    atomic_store((atomic_int *)user, (int)status);
}

/* Completions in a new context, whose ids and handles come again. */
static void use_another(CUcontext context)
{
    struct cushim_context *borrowed = NULL;
    struct cushim_stream *stream = NULL;
    require("borrow-other", cushim_context_borrow(context, &borrowed));
    require("stream", cushim_stream_create(borrowed, CU_STREAM_NON_BLOCKING, 0, &stream));
    for (int kind = 0; kind < KINDS; kind++) {
        struct cushim_completion *completion = completion_new(stream, kind_flags[kind]);
        expect(key_of("fresh", kind_names[kind], NULL), wait_status(completion, soon()), CUDA_SUCCESS);
        cushim_completion_destroy(&completion);
    }
    test_stream_close(stream);
    cushim_context_destroy(&borrowed);
}

/* Ends a context while completions are pending in each way; another thread lets the work finish in the meantime. */
static void end_under(struct cushim_stream *stream, CUresult (*end)(CUcontext), CUcontext context)
{
    pthread_t opener;
    atomic_int releases = 0;
    atomic_int called = -1;
    CUcontext other = NULL;
    cushim_descriptor descriptor;
    struct cushim_completion *completions[COMPLETIONS] = {NULL};
    completions[FIRED] = polled_new(stream);
    expect("fired-before", wait_status(completions[FIRED], soon()), CUDA_SUCCESS);
    struct gate *gate = gate_new(cushim_stream_handle(stream));
    completions[PLAIN] = polled_new(stream);
    completions[WAITED] = polled_new(stream);
    completions[CALLED_BACK] = notifying_new(stream);
    for (int i = 0; i < COMPLETIONS; i++)
        if (i == ENQUEUED || i == DETACHED)
            require("enqueue",
                    cushim_stream_enqueue(stream, body_does_nothing, &releases, count_release, &completions[i]));
    require("descriptor", cushim_completion_get_descriptor(completions[CALLED_BACK], &descriptor));
    expect_success("callback",
                   cushim_completion_set_inline_callback(completions[CALLED_BACK], keep_status, &called, NULL));
    if (pthread_create(&opener, NULL, open_later, gate) != 0)
        return;
    expect("end", end(context), CUDA_SUCCESS);
    pthread_join(opener, NULL);
    require("other", cu->CtxCreate_v2(&other, 0, the_device));
    expect("poll", poll_status(completions[PLAIN]), status_of_ended_context());
    expect("wait", wait_status(completions[WAITED], soon()), status_of_ended_context());
    expect("stays", poll_status(completions[FIRED]), CUDA_SUCCESS);
    expect("called-back", poll_status(completions[CALLED_BACK]), CUDA_SUCCESS);
    expect("called-with", (CUresult)atomic_load(&called), CUDA_SUCCESS);
    expect_true("readable", readable(descriptor));
    expect("enqueued", poll_status(completions[ENQUEUED]), CUDA_SUCCESS);
    expect_number("released", atomic_load(&releases), 1);
    cushim_completion_detach(&completions[DETACHED]);
    expect_number("released-both", atomic_load(&releases), 2);
    for (int i = 0; i < COMPLETIONS; i++)
        cushim_completion_destroy(&completions[i]);
    use_another(other);
    /* The stream object still has a notification stream of the dead context. */
    watch_begin();
    cushim_stream_destroy(&stream);
    expect_number("streams-destroyed", watch_calls_of(S(StreamDestroy_v2)), 0);
    watch_end();
    require("other-destroy", cu->CtxDestroy_v2(other));
}

CHECK(destroyed, "completion_context.destroyed", .flags = CHECK_ALONE)
{
    CUcontext context = NULL;
    require("context", cu->CtxCreate_v2(&context, 0, the_device));
    struct cushim_stream *stream = borrowed_stream();
    end_under(stream, destroy_context, context);
}

CHECK(primary_reset, "completion_context.primary-reset", .flags = CHECK_ALONE, .needs = {S(DevicePrimaryCtxReset_v1)})
{
    struct cushim_stream *stream = borrowed_stream();
    end_under(stream, reset_primary, NULL);
}

CHECK(primary_released, "completion_context.primary-released", .flags = CHECK_ALONE,
      .needs = {S(DevicePrimaryCtxRetain_v1)})
{
    struct cushim_stream *stream = borrowed_stream();
    end_under(stream, release_primary, NULL);
}

/* The context ends through cushim. */
CHECK(ended, "completion_context.ended", .flags = CHECK_ALONE)
{
    enum { MANY = 40 };
    struct gate gate;
    pthread_t opener;
    struct cushim_context *context = NULL;
    struct cushim_stream *stream = NULL;
    struct cushim_completion *completions[MANY];
    CUcontext other = NULL;
    int right = 0;
    require("context", cushim_context_create(the_ordinal, 0, &context));
    require("stream", cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream));
    gate_close(&gate, cushim_stream_handle(stream));
    for (int i = 0; i < MANY; i++)
        completions[i] = completion_new(stream, kind_flags[i % KINDS]);
    expect_success("stream-destroy", cushim_stream_destroy(&stream));
    if (pthread_create(&opener, NULL, open_later, &gate) != 0)
        return;
    expect_success("destroy", cushim_context_destroy(&context));
    pthread_join(opener, NULL);
    require("other", cu->CtxCreate_v2(&other, 0, the_device));
    for (int i = 0; i < MANY; i++) {
        right += poll_status(completions[i]) == (i % KINDS == POLLED ? status_of_ended_context() : CUDA_SUCCESS);
        cushim_completion_destroy(&completions[i]);
    }
    expect_number("right", right, MANY);
    require("other-destroy", cu->CtxDestroy_v2(other));
}

/* The work failed, and no completion was polled. */
CHECK(ended_after_fault, "completion_context.ended-after-fault", .flags = CHECK_ALONE)
{
    struct cushim_context *context = NULL;
    struct cushim_stream *stream = NULL;
    CUcontext before = NULL;
    CUfunction function = NULL;
    struct gate gate;
    require("context", cushim_context_create(the_ordinal, 0, &context));
    require("stream", cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream));
    require("enter", cushim_context_enter(context, &before));
    require("kernel", kernel_get("conformance_fault", &function));
    gate_close(&gate, cushim_stream_handle(stream));
    if (!require("fault", kernel_launch(function, cushim_stream_handle(stream), NULL)))
        return;
    struct cushim_completion *completions[KINDS] = {polled_new(stream), notifying_new(stream)};
    require("leave", cushim_context_leave(before));
    gate_open(&gate);
    observe("synchronize", cushim_stream_synchronize(stream));
    observe("stream-destroy", cushim_stream_destroy(&stream));
    observe("destroy", cushim_context_destroy(&context));
    expect("notifying", wait_status(completions[NOTIFYING], soon()), CUDA_ERROR_ILLEGAL_ADDRESS);
    expect("polled", poll_status(completions[POLLED]),
           status_of_ended_context() == CUDA_SUCCESS ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_ERROR_CONTEXT_IS_DESTROYED);
    for (int kind = 0; kind < KINDS; kind++)
        cushim_completion_destroy(&completions[kind]);
}

/* A primary context that others retain lives on, so that its release does not wait. */
CHECK(released_not_last, "completion_context.released-not-last", .flags = CHECK_ALONE,
      .needs = {S(DevicePrimaryCtxRetain_v1)})
{
    struct gate gate;
    struct cushim_context *context = NULL;
    struct cushim_stream *stream = borrowed_stream();
    require("context", cushim_context_create_primary(the_ordinal, &context));
    gate_close(&gate, cushim_stream_handle(stream));
    struct cushim_completion *completions[KINDS] = {polled_new(stream), notifying_new(stream)};
    expect_success("destroy", cushim_context_destroy(&context));
    for (int kind = 0; kind < KINDS; kind++)
        expect(key_of(kind_names[kind], "pending", NULL), poll_status(completions[kind]), CUDA_ERROR_NOT_READY);
    gate_open(&gate);
    for (int kind = 0; kind < KINDS; kind++) {
        expect(key_of(kind_names[kind], "wait", NULL), wait_status(completions[kind], soon()), CUDA_SUCCESS);
        cushim_completion_destroy(&completions[kind]);
    }
    cushim_stream_destroy(&stream);
}

/* A stream that has had completions refuses more, without any other call than one for the id of its context. */
CHECK(refused, "completion_context.refused", .flags = CHECK_ALONE, .needs = {S(CtxGetId_v1)})
{
    atomic_int releases = 0;
    CUcontext context = NULL;
    CUcontext other = NULL;
    struct cushim_completion *completion = NULL;
    require("context", cu->CtxCreate_v2(&context, 0, the_device));
    struct cushim_stream *stream = borrowed_stream();
    completion = polled_new(stream);
    expect("first", wait_status(completion, soon()), CUDA_SUCCESS);
    cushim_completion_destroy(&completion);
    require("end", cu->CtxDestroy_v2(context));
    require("other", cu->CtxCreate_v2(&other, 0, the_device));
    watch_begin();
    for (int kind = 0; kind < KINDS; kind++)
        expect_error(key_of("create", kind_names[kind], NULL),
                     cushim_completion_create(stream, kind_flags[kind], &completion), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    expect_error("enqueue", cushim_stream_enqueue(stream, body_does_nothing, &releases, count_release, &completion),
                 CUDA_ERROR_CONTEXT_IS_DESTROYED);
    expect_number("other-calls", watch_calls() - watch_calls_of(S(CtxGetId_v1)), 0);
    watch_end();
    expect_number("released", atomic_load(&releases), 1);
    expect_true("no-completion", completion == NULL);
    cushim_stream_destroy(&stream);
    require("other-end", cu->CtxDestroy_v2(other));
}
