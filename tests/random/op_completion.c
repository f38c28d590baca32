/* SPDX-License-Identifier: MIT */
/* Completions, dispatchers, and work with a body. */
#include <pthread.h>

#include "random.h"

enum { EXCHANGED = 8 };

static struct cushim_dispatcher *shared[SHARED];
static struct held exchanged[EXCHANGED];

static void keep(struct cushim_completion *completion, const struct stream *stream, bool notifying)
{
    struct held *held = FIND(me->completions, false);
    if (held == NULL)
        cushim_completion_detach(&completion);
    else if (completion != NULL)
        *held = (struct held){
            completion, &me->lines, *clock_of(stream), notifying, !notifying && stream->context == OWN, NULL};
}

void op_completion_create(void)
{
    struct stream *stream = pick();
    struct cushim_completion *completion = NULL;
    bool notifying = !one_in(3);
    if (stream == NULL)
        return;
    note("a %s completion of line %u", notifying ? "notifying" : "polled", stream->line);
    made(cushim_completion_create(stream->stream, notifying ? CUSHIM_COMPLETION_NOTIFYING : 0, &completion),
         &completion);
    keep(completion, stream, notifying);
}

static _Thread_local struct body {
    struct stream *stream;
    CUresult result;
    bool ends, ran;
} body;

static CUresult run_body(struct cushim_stream *stream, void *user)
{
    struct marker *marker = user;
    (void)stream;
    body.ran = true;
    for (unsigned i = choose(3); i != 0; i--)
        work_add(body.stream, NULL);
    marker->before = *clock_of(body.stream);
    if (body.ends)
        stream_close(body.stream, false);
    return body.result;
}

/* A body that returns an error has enqueued work nevertheless, and its user data waits for that. */
void op_enqueue(void)
{
    struct stream *stream = pick();
    struct marker *marker = marker_new(&me->lines, BODY, operation);
    struct cushim_completion *completion = NULL;
    bool wanted = !one_in(4);
    if (stream == NULL || marker == NULL)
        return;
    bool is_shared = stream->line >= LINES - SHARED;
    body = (struct body){stream, one_in(8) ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS,
                         one_in(8) && !is_shared && stream->context != OWN, false};
    struct stream before = *stream;
    void (*release)(void *) = marker_choose_release(marker);
    note("enqueue in line %u%s%s", stream->line, body.ends ? ", and destroy it" : "", body.result != 0 ? ", fail" : "");
    CUresult result = cushim_stream_enqueue(stream->stream, run_body, marker, release, wanted ? &completion : NULL);
    marker_given(marker, body.ran ? CUDA_SUCCESS : result);
    check((wanted && result == CUDA_SUCCESS) == (completion != NULL),
          "a result was not written, or in spite of a failure");
    check(result == body.result || may_fail(), "the result is not that of the body");
    keep(completion, &before, true);
}

/* Both polled and waited: the status is that of the work, all of which is done. */
static void observed(const struct held *held, CUresult status)
{
    if (status == CUDA_SUCCESS)
        clock_check(held->lines, &held->before, "a completion fired");
    check(status == CUDA_SUCCESS || atomic_load(&broken)
              || (held->may_end && status == CUDA_ERROR_CONTEXT_IS_DESTROYED),
          "a completion has the status of a failure");
}

void op_observe(void)
{
    struct held *held = FIND(me->completions, true);
    CUresult status = (CUresult)77;
    if (held == NULL)
        return;
    unsigned way = choose(3);
    note("%s a completion", way == 0 ? "poll" : "wait for");
    CUresult result =
        way == 0 ? cushim_completion_poll(held->completion, &status)
                 : cushim_completion_wait(held->completion,
                                          way == 1 ? CUSHIM_FOREVER : cushim_clock_ns() + choose(200) * UINT64_C(1000),
                                          &status);
    check((result == CUDA_SUCCESS) == ((int)status != 77), "a status was not written, or before it fired");
    check(result == CUDA_SUCCESS || (way == 0 && result == CUDA_ERROR_NOT_READY)
              || (way == 2 && result == CUDA_ERROR_TIMEOUT),
          "a poll or a wait failed");
    if (result == CUDA_SUCCESS)
        observed(held, status);
}

void op_wait_for_several(void)
{
    struct cushim_completion *several[COMPLETIONS];
    uint64_t deadline = one_in(2) ? CUSHIM_FOREVER : cushim_clock_ns() + choose(200) * UINT64_C(1000);
    bool all = one_in(2);
    size_t index = 77;
    CUresult status;
    for (int i = 0; i < COMPLETIONS; i++)
        several[i] = one_in(3) ? me->completions[i].completion : NULL;
    note("wait for %s of several", all ? "all" : "one");
    CUresult result = all ? cushim_completion_wait_all(several, COMPLETIONS, deadline, NULL)
                          : cushim_completion_wait_any(several, COMPLETIONS, deadline, &index);
    check(deadline != CUSHIM_FOREVER || result != CUDA_ERROR_TIMEOUT, "a wait without a deadline ran out");
    check(all || (result == CUDA_SUCCESS) == (index != 77), "an index was not written, or in spite of a failure");
    for (size_t i = 0; i < COMPLETIONS && result == CUDA_SUCCESS; i++) {
        if (several[i] == NULL || (!all && i != index))
            continue;
        check(cushim_completion_poll(several[i], &status) == CUDA_SUCCESS, "it has not fired");
        observed(&me->completions[i], status);
    }
}

static struct cushim_dispatcher *pick_dispatcher(void)
{
    struct cushim_dispatcher **found = FIND(me->dispatchers, true);
    return found == NULL || (settings.threads > 1 && one_in(2)) ? shared[choose(SHARED)] : *found;
}

/* The function may drop the completion, which then belongs to it. */
void op_set_callback(void)
{
    struct held *held = FIND(me->completions, true);
    struct marker *function = marker_new(&me->lines, FIRED, operation);
    bool is_inline = one_in(3);
    if (held == NULL || function == NULL)
        return;
    struct cushim_completion *completion = held->completion;
    function->lines = (struct lines *)held->lines;
    function->before = held->before;
    function->detaches = one_in(2);
    void (*release)(void *) = marker_choose_release(function);
    bool notifying = held->notifying;
    if (one_in(3)) {
        atomic_store(&function->own, completion);
        held->completion = NULL;
    } else if (held->function == NULL) {
        held->function = function;
    }
    struct cushim_dispatcher *dispatcher = pick_dispatcher();
    function->cancels = !is_inline && dispatcher != shared[0] && dispatcher != shared[1];
    note("set %s callback", is_inline ? "an inline" : "a");
    CUresult result = is_inline
                          ? cushim_completion_set_inline_callback(completion, marker_fired, function, release)
                          : cushim_completion_set_callback(completion, dispatcher, marker_fired, function, release);
    marker_given(function, result);
    if (is_inline && result == CUDA_SUCCESS)
        atomic_store(&function->must_call, true);
    check(notifying || result == CUDA_ERROR_NOT_SUPPORTED, "a polled completion has a callback");
}

static void drop(struct held *held, bool destroys)
{
    if (destroys && held->function != NULL)
        atomic_store(&held->function->must_call, false);
    if (destroys)
        cushim_completion_destroy(&held->completion);
    else
        cushim_completion_detach(&held->completion);
    if (destroys && held->function != NULL && held->function->cancels)
        atomic_store(&held->function->cancelled, true);
    check(held->completion == NULL, "the variable is not NULL");
}

void op_drop(void)
{
    struct held *held = FIND(me->completions, true);
    if (held == NULL)
        return;
    note("drop a completion");
    drop(held, one_in(2));
}

/* To whichever thread comes next, unless that would use it while this thread ends the context. */
void op_hand_over(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct held *held = FIND(me->completions, true);
    struct held *place = &exchanged[choose(EXCHANGED)];
    if (held == NULL || (held->may_end && settings.threads > 1))
        return;
    note("hand a completion over");
    struct held given = *held;
    pthread_mutex_lock(&lock);
    *held = *place;
    *place = given;
    pthread_mutex_unlock(&lock);
}

void op_dispatcher(void)
{
    struct cushim_dispatcher **own = &me->dispatchers[choose(DISPATCHERS)];
    if (*own == NULL) {
        note("create a dispatcher");
        made(cushim_dispatcher_create(own), own);
    } else if (one_in(8)) {
        note("destroy a dispatcher");
        cushim_dispatcher_destroy(own);
    } else {
        note("run a dispatcher");
        CUresult result = cushim_dispatcher_run(pick_dispatcher(),
                                                one_in(2) ? 0 : cushim_clock_ns() + choose(200) * UINT64_C(1000), NULL);
        check(result == CUDA_SUCCESS, "a dispatcher did not run");
    }
}

void completions_open(void)
{
    for (int i = 0; i < SHARED; i++)
        if (cushim_dispatcher_create(&shared[i]) != CUDA_SUCCESS)
            fail("no dispatcher: %s", cushim_error_last()->message);
}

/* Each fires, and soon. */
static void finish(struct held *held)
{
    if (held->completion == NULL)
        return;
    if (cushim_completion_wait(held->completion, cushim_clock_ns() + PATIENCE, NULL) == CUDA_ERROR_TIMEOUT)
        fail("a completion did not fire");
    drop(held, one_in(2));
}

void completions_end(void)
{
    for (int i = 0; i < COMPLETIONS; i++)
        finish(&me->completions[i]);
    for (int i = 0; i < DISPATCHERS; i++) {
        if (me->dispatchers[i] != NULL && i % 2 == 0)
            cushim_dispatcher_run(me->dispatchers[i], 0, NULL);
        cushim_dispatcher_destroy(&me->dispatchers[i]);
    }
}

void completions_close(void)
{
    for (int i = 0; i < EXCHANGED; i++)
        finish(&exchanged[i]);
    for (int i = 0; i < SHARED; i++)
        cushim_dispatcher_destroy(&shared[i]);
}
