/* SPDX-License-Identifier: MIT */
/* Completions and dispatchers. */
#if !defined(_POSIX_C_SOURCE)
#    define _POSIX_C_SOURCE 200809L
#endif
#include <poll.h>
#include <pthread.h>

#include "operations.h"

static int number_of(const struct completion_slot *slot)
{
    return (int)(slot - me->completions);
}

static void make(bool notification)
{
    struct completion_slot *place = free_completion();
    struct stream_slot *slot = pick_stream();
    struct cushim_completion *made = NULL;
    if (place == NULL || slot == NULL)
        return;
    bool idle = is_idle(slot->stream);
    note("completion %d, stream %d, %s", number_of(place), (int)(slot - me->streams), idle ? "idle" : "capturing");
    CUresult result = noted(notification ? cushim_stream_capturable_completion(slot->stream, &made)
                                         : cushim_stream_completion(slot->stream, &made));
    check((result == CUDA_SUCCESS) == (made != NULL), "a result was not written, or in spite of a failure");
    if (idle && slot->of >= 0 && !faults && settings.threads == 1 && !atomic_load(&broken))
        check(result == CUDA_SUCCESS, "no completion was made");
    if (made != NULL)
        *place = (struct completion_slot){.completion = made, .captured = notification && (!idle || faults)};
}

void op_completion_create(void)
{
    make(false);
}

void op_completion_notification(void)
{
    make(true);
}

/* Observing that it fired may run a release function, which may do anything, to this completion too. */
static CUresult observed(CUresult result)
{
    me->observing--;
    noted_outer(result);
    if (!atomic_load(&broken))
        check(result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY || result == CUDA_ERROR_TIMEOUT,
              "a completion has the status of a failure");
    return result;
}

void op_completion_poll(void)
{
    struct completion_slot *slot = pick_completion();
    if (slot == NULL)
        return;
    note("completion %d", number_of(slot));
    me->observing++;
    observed(cushim_completion_poll(slot->completion));
}

void op_completion_status(void)
{
    struct completion_slot *slot = pick_completion();
    CUresult status = (CUresult)77;
    if (slot == NULL)
        return;
    note("completion %d", number_of(slot));
    me->observing++;
    CUresult result = observed(cushim_completion_status(slot->completion, &status));
    check((result == CUDA_SUCCESS) == ((int)status != 77), "a status was not written, or before it fired");
    if (result == CUDA_SUCCESS && !atomic_load(&broken))
        check(status == CUDA_SUCCESS, "a completion has the status of a failure");
}

void op_completion_wait(void)
{
    struct completion_slot *slot = pick_completion();
    if (slot == NULL)
        return;
    unsigned way = choose(3);
    uint64_t deadline = way == 0                     ? 0
                        : way == 1 || slot->captured ? cushim_time_ns() + choose(200) * UINT64_C(1000)
                                                     : CUSHIM_FOREVER;
    note("completion %d, %s", number_of(slot), deadline == CUSHIM_FOREVER ? "forever" : "for a while");
    me->observing++;
    CUresult result = observed(cushim_completion_wait(slot->completion, deadline));
    check(result != CUDA_ERROR_NOT_READY, "a wait returned before the deadline");
    check(deadline != CUSHIM_FOREVER || result != CUDA_ERROR_TIMEOUT, "a wait without a deadline ran out");
}

void op_completion_descriptor(void)
{
    struct completion_slot *slot = pick_completion();
    cushim_descriptor descriptor = -77;
    if (slot == NULL)
        return;
    note("completion %d", number_of(slot));
    bool fired = cushim_completion_count(slot->completion) != 0;
    if (noted(cushim_completion_descriptor(slot->completion, &descriptor)) != CUDA_SUCCESS) {
        check(descriptor == -77, "a descriptor was written in spite of a failure");
        return;
    }
    struct pollfd wanted = {.fd = descriptor, .events = POLLIN};
    check(poll(&wanted, 1, fired && !slot->captured ? 10000 : 0) >= (fired && !slot->captured),
          "it fired, and the descriptor is not readable");
}

void op_completion_reset(void)
{
    struct completion_slot *slot = pick_own_completion();
    if (slot == NULL)
        return;
    note("completion %d", number_of(slot));
    noted(cushim_completion_reset(slot->completion));
}

static void set_function(bool at_once)
{
    struct completion_slot *slot = pick_completion();
    struct cushim_dispatcher **dispatcher = at_once ? NULL : pick_dispatcher();
    enum action action = (enum action)choose(ACTIONS);
    if (slot == NULL || (!at_once && dispatcher == NULL))
        return;
    bool gives_up = (action == DO_DESTROY || action == DO_DETACH) && !slot->shared;
    struct promise *promise =
        promise_new(gives_up || (int)action >= DO_OPERATIONS_IN_RELEASE || action < DO_DESTROY ? action : DO_NOTHING,
                    slot->captured ? 0 : 1);
    if (promise == NULL)
        return;
    release_fn release = choose_release(promise);
    struct cushim_completion *completion = slot->completion;
    struct promise *work = slot->work;
    bool captured = slot->captured;
    note("completion %d, action %d%s", number_of(slot), (int)promise->action, captured ? ", captured" : "");
    atomic_store(&promise->quiet, at_once || captured);
    if (at_once && work != NULL)
        atomic_store(&work->quiet, true);
    /* A function that gives the completion up has it from here on. */
    if (gives_up) {
        atomic_store(&promise->own, completion);
        slot->completion = NULL;
    } else if (!slot->shared && slot->function == NULL) {
        slot->function = promise;
    }
    CUresult result = noted_outer(
        at_once ? cushim_completion_set_inline_callback(completion, promise_function, promise, release)
                : cushim_completion_set_callback(completion, *dispatcher, promise_function, promise, release));
    if (result != CUDA_SUCCESS) {
        check(release == NULL || atomic_load(&promise->releases) == 1, "a refused function was not released");
        check(atomic_load(&promise->calls) == 0, "a refused function was called");
        struct cushim_completion *own = atomic_exchange(&promise->own, NULL);
        cushim_completion_detach(&own);
    } else if (at_once && !captured) {
        atomic_store(&promise->must_call, true);
    }
}

void op_completion_then(void)
{
    set_function(false);
}

void op_completion_then_at_once(void)
{
    set_function(true);
}

void op_completion_detach(void)
{
    struct completion_slot *slot = pick_own_completion();
    if (slot == NULL)
        return;
    note("completion %d", number_of(slot));
    me->observing++;
    cushim_completion_detach(&slot->completion);
    me->observing--;
}

void op_completion_destroy(void)
{
    struct completion_slot *slot = pick_own_completion();
    if (slot == NULL)
        return;
    note("completion %d", number_of(slot));
    if (slot->function != NULL)
        atomic_store(&slot->function->must_call, false);
    me->observing++;
    cushim_completion_destroy(&slot->completion);
    me->observing--;
}

/* To whichever thread comes next. */
void op_completion_hand_over(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct completion_slot *slot = pick_own_completion();
    unsigned mailbox = choose(MAILBOXES);
    if (slot == NULL)
        return;
    note("completion %d, mailbox %u", number_of(slot), mailbox);
    struct completion_slot given = *slot;
    pthread_mutex_lock(&lock);
    *slot = everybody.mailboxes[mailbox];
    everybody.mailboxes[mailbox] = given;
    pthread_mutex_unlock(&lock);
}

void op_dispatcher_create(void)
{
    struct cushim_dispatcher *made = NULL;
    int place = 0;
    while (place < DISPATCHERS && me->dispatchers[place] != NULL)
        place++;
    if (place == DISPATCHERS)
        return;
    note("dispatcher %d", place);
    CUresult result = noted(cushim_dispatcher_create(&made));
    check((result == CUDA_SUCCESS) == (made != NULL), "a result was not written, or in spite of a failure");
    me->dispatchers[place] = made;
}

void op_dispatcher_run(void)
{
    struct cushim_dispatcher **slot = pick_dispatcher();
    size_t called = 77;
    if (slot == NULL)
        return;
    note("dispatcher %d", (int)(slot - me->dispatchers));
    me->observing++;
    CUresult result = noted_outer(cushim_dispatcher_run(*slot, &called));
    me->observing--;
    check(result == CUDA_SUCCESS && called < 77000, "a dispatcher did not run");
}

void op_dispatcher_destroy(void)
{
    struct cushim_dispatcher **slot = pick_dispatcher();
    if (slot == NULL || (slot >= everybody.dispatchers && slot < everybody.dispatchers + SHARED))
        return;
    note("dispatcher %d", (int)(slot - me->dispatchers));
    me->observing++;
    cushim_dispatcher_destroy(slot);
    me->observing--;
}
