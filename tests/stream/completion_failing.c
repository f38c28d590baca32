/* SPDX-License-Identifier: MIT */
/* Completions fire whatever the driver refuses. */
#include "completion.h"

struct use {
    struct cushim_completion *completion;
    atomic_int work_is_done;
    atomic_int releases;
    atomic_int early;
};

static void release_use(void *user)
{
    struct use *use = user;
    if (atomic_load(&use->work_is_done) == 0)
        atomic_fetch_add(&use->early, 1);
    atomic_fetch_add(&use->releases, 1);
}

static void CUDA_CB use_work(CUstream stream, CUresult status, void *user)
{
    pause_shortly();
    atomic_store(&((struct use *)user)->work_is_done, 1);
}

static CUresult use_enqueue_work(struct cushim_stream *stream, void *user)
{
    return cu->StreamAddCallback_v1(cushim_stream_handle(stream), use_work, user, 0);
}

enum form { CREATED_POLLED, CREATED_NOTIFYING, ENQUEUED, DETACHED, FORMS };

static const char *const form_names[FORMS] = {"polled", "notifying", "enqueued", "detached"};

static CUresult use_create(struct cushim_stream *stream, enum form form, struct use *use)
{
    if (form >= ENQUEUED)
        return cushim_stream_enqueue(stream, use_enqueue_work, use, release_use, &use->completion);
    require("work", use_enqueue_work(stream, use));
    return cushim_completion_create(stream, kind_flags[form], &use->completion);
}

/* Returns whether driver call `number` failed, and checks what happened then. */
static bool use_with_failure(enum form form, int number, int *wrong)
{
    struct use use = {.completion = NULL};
    enum cushim_slot slot = CUSHIM_SLOT_COUNT;
    long blocks = allocation_count();
    struct cushim_stream *stream = test_stream_new(); /* has not chosen a notification stream */
    (void)cushim_completion_poll(NULL, NULL);         /* an error to find again */
    watch_begin();
    watch_fail(number, CUDA_ERROR_UNKNOWN);
    CUresult result = use_create(stream, form, &use);
    *wrong += (result == CUDA_SUCCESS) != (use.completion != NULL);
    *wrong += result == CUDA_SUCCESS && cushim_error_last()->code != CUDA_ERROR_INVALID_HANDLE;
    if (use.completion != NULL && form != DETACHED)
        *wrong += wait_status(use.completion, soon()) != CUDA_SUCCESS || atomic_load(&use.work_is_done) == 0;
    cushim_completion_destroy(&use.completion);
    bool failed = watch_failed(&slot);
    *wrong += result != CUDA_SUCCESS && !failed;
    test_stream_close(stream);
    /* An event is forgotten if the driver does not say whether its context exists. */
    *wrong += watch_objects.events != 0 && slot != S(CtxGetId_v1);
    watch_end();
    for (int i = 0; i < 500 && (atomic_load(&use.releases) != (form >= ENQUEUED) || allocation_count() > blocks); i++)
        pause_shortly();
    *wrong += allocation_count() > blocks;
    *wrong += atomic_load(&use.releases) != (form >= ENQUEUED) || atomic_load(&use.early) != 0;
    return failed;
}

/* Each driver call fails in turn. A creation may be refused; otherwise the completion fires with success. `release` is
 * called once, and not before the work is done. Calls that succeed record no error, and nothing is left. */
CHECK(each_call_fails, "completion_failing.each-call-fails")
{
    for (int form = 0; form < FORMS; form++) {
        int wrong = 0;
        int number = 0;
        while (number < 100 && use_with_failure((enum form)form, number, &wrong))
            number++;
        expect_number(key_of("wrong", form_names[form], NULL), wrong, 0);
        expect_true(key_of("tried", form_names[form], NULL), number > 1);
    }
}

/* An error of a query that the driver does not repeat is not the status of the work. */
CHECK(query_fails_once, "completion_failing.query-fails-once", .needs = {S(CtxGetId_v1)})
{
    static const enum cushim_slot slots[] = {S(EventQuery_v1), S(CtxGetId_v1), S(ThreadExchangeStreamCaptureMode_v1)};
    struct cushim_stream *stream = fixture_stream();
    struct gate *gate = gate_new(cushim_stream_handle(stream));
    struct cushim_completion *completion = polled_new(stream);
    for (int i = 0; i < 3; i++) {
        watch_begin();
        watch_fail_slot(slots[i], CUDA_ERROR_UNKNOWN);
        expect(key_of(ordinals[i], "pending", NULL), poll_status(completion), CUDA_ERROR_NOT_READY);
        expect_true(key_of(ordinals[i], "failed", NULL), watch_failed(NULL));
        watch_end();
    }
    gate_open(gate);
    expect("fired", wait_status(completion, soon()), CUDA_SUCCESS);
    cushim_completion_destroy(&completion);
}
