/* SPDX-License-Identifier: MIT */
/* Completions and dispatchers. */
#if !defined(_POSIX_C_SOURCE)
#    define _POSIX_C_SOURCE 200809L
#endif
#include <poll.h>
#include <pthread.h>

#include "operations.h"

#define NO_STATUS ((CUresult)77)

static int number_of(const struct completion_slot *slot)
{
    return (int)(slot - objects->completions);
}

/* Makes a polled or a notifying completion, or one in the capture of the stream. */
static void make(unsigned flags, bool captured)
{
    struct completion_slot *place = free_completion();
    struct stream_slot *slot = pick_stream();
    struct cushim_completion *made = NULL;
    if (place == NULL || slot == NULL)
        return;
    bool idle = is_idle(slot->stream);
    struct driver_stream *of = driver_stream_of(slot);
    bool polled = !captured && flags != CUSHIM_COMPLETION_NOTIFYING;
    note("completion %d, stream %d, %s, flags %u", number_of(place), (int)(slot - objects->streams),
         idle ? "idle" : "capturing", flags);
    CUresult result = noted(captured ? cushim_completion_create_captured(slot->stream, &made)
                                     : cushim_completion_create(slot->stream, flags, &made));
    check((result == CUDA_SUCCESS) == (made != NULL), "a result was not written, or in spite of a failure");
    if (!captured && idle && slot->of >= 0 && !faults && settings.threads == 1 && !atomic_load(&broken))
        check(result == CUDA_SUCCESS, "no completion was made");
    if (made != NULL)
        *place = (struct completion_slot){.completion = made,
                                          .captured = captured,
                                          .polled = polled,
                                          .may_end = polled && of != NULL && of->own_context};
}

void op_completion_create(void)
{
    make(0, false);
}

void op_completion_create_notifying(void)
{
    make(CUSHIM_COMPLETION_NOTIFYING, false);
}

void op_completion_create_captured(void)
{
    make(CUSHIM_COMPLETION_NOTIFYING, true);
}

/* Observing that it fired may run a destroy function, which may do anything, to this completion too. */
static CUresult observed(CUresult result, CUresult status, bool may_end)
{
    objects->observing--;
    noted_outer(result);
    check((result == CUDA_SUCCESS) == (status != NO_STATUS), "a status was not written, or before it fired");
    check(result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY || result == CUDA_ERROR_TIMEOUT,
          "a poll or a wait failed");
    if (result == CUDA_SUCCESS && !atomic_load(&broken))
        check(status == CUDA_SUCCESS || (may_end && status == CUDA_ERROR_CONTEXT_IS_DESTROYED),
              "a completion has the status of a failure");
    return result;
}

void op_completion_poll(void)
{
    struct completion_slot *slot = pick_completion();
    CUresult status = NO_STATUS;
    if (slot == NULL)
        return;
    note("completion %d", number_of(slot));
    objects->observing++;
    bool may_end = slot->may_end;
    CUresult result = cushim_completion_poll(slot->completion, &status);
    check(observed(result, status, may_end) != CUDA_ERROR_TIMEOUT, "a poll has waited");
}

void op_completion_wait(void)
{
    struct completion_slot *slot = pick_completion();
    CUresult status = NO_STATUS;
    if (slot == NULL)
        return;
    unsigned way = choose(3);
    uint64_t deadline = way == 0                     ? 0
                        : way == 1 || slot->captured ? cushim_clock_ns() + choose(200) * UINT64_C(1000)
                                                     : CUSHIM_FOREVER;
    note("completion %d, %s", number_of(slot), deadline == CUSHIM_FOREVER ? "forever" : "for a while");
    objects->observing++;
    bool may_end = slot->may_end;
    CUresult result = cushim_completion_wait(slot->completion, deadline, &status);
    check(observed(result, status, may_end) != CUDA_ERROR_NOT_READY, "a wait returned before the deadline");
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
    CUresult result = noted(cushim_completion_get_descriptor(slot->completion, &descriptor));
    check((result == CUDA_ERROR_NOT_SUPPORTED) == slot->polled, "a polled completion has a descriptor");
    if (result != CUDA_SUCCESS) {
        check(descriptor == -77, "a descriptor was written in spite of a failure");
        return;
    }
    struct pollfd wanted = {.fd = descriptor, .events = POLLIN};
    bool must_fire = !slot->captured && (fired || (!slot->shared && one_in(2)));
    check(poll(&wanted, 1, must_fire ? 20000 : 0) >= must_fire, "it fired, and the descriptor is not readable");
}

void op_completion_reset(void)
{
    struct completion_slot *slot = pick_own_completion();
    if (slot == NULL)
        return;
    note("completion %d", number_of(slot));
    noted(cushim_completion_reset(slot->completion));
}

static void set_function(bool is_inline)
{
    struct completion_slot *slot = pick_completion();
    struct cushim_dispatcher **dispatcher = is_inline ? NULL : pick_dispatcher();
    enum action action = (enum action)choose(ACTIONS);
    if (slot == NULL || (!is_inline && dispatcher == NULL))
        return;
    bool gives_up = (action == DO_DESTROY || action == DO_DETACH) && !slot->shared;
    struct expectation *expectation = expectation_new(
        gives_up || (int)action >= DO_OPERATIONS_IN_RELEASE || action < DO_DESTROY ? action : DO_NOTHING,
        slot->captured ? 0 : 1);
    if (expectation == NULL)
        return;
    release_fn release = choose_release(expectation);
    struct cushim_completion *completion = slot->completion;
    struct expectation *work = slot->work;
    bool captured = slot->captured;
    bool polled = slot->polled;
    note("completion %d, action %d%s", number_of(slot), (int)expectation->action, captured ? ", captured" : "");
    atomic_store(&expectation->quiet, is_inline || captured);
    if (is_inline && work != NULL)
        atomic_store(&work->quiet, true);
    /* A function that gives the completion up has it from here on. */
    if (gives_up) {
        atomic_store(&expectation->own, completion);
        slot->completion = NULL;
    } else if (!slot->shared && slot->function == NULL) {
        slot->function = expectation;
    }
    CUresult result = noted_outer(
        is_inline ? cushim_completion_set_inline_callback(completion, expected_function, expectation, release)
                  : cushim_completion_set_callback(completion, *dispatcher, expected_function, expectation, release));
    check(!polled || result == CUDA_ERROR_NOT_SUPPORTED, "a polled completion has a callback");
    if (result != CUDA_SUCCESS) {
        check(release == NULL || atomic_load(&expectation->releases) == 1, "a refused function was not released");
        check(atomic_load(&expectation->calls) == 0, "a refused function was called");
        struct cushim_completion *own = atomic_exchange(&expectation->own, NULL);
        cushim_completion_detach(&own);
    } else if (is_inline && !captured) {
        atomic_store(&expectation->must_call, true);
    }
}

void op_completion_set_callback(void)
{
    set_function(false);
}

void op_completion_set_inline_callback(void)
{
    set_function(true);
}

void op_completion_detach(void)
{
    struct completion_slot *slot = pick_own_completion();
    if (slot == NULL)
        return;
    note("completion %d", number_of(slot));
    objects->observing++;
    cushim_completion_detach(&slot->completion);
    objects->observing--;
}

void op_completion_destroy(void)
{
    struct completion_slot *slot = pick_own_completion();
    if (slot == NULL)
        return;
    note("completion %d", number_of(slot));
    if (slot->function != NULL)
        atomic_store(&slot->function->must_call, false);
    objects->observing++;
    cushim_completion_destroy(&slot->completion);
    objects->observing--;
}

/* To whichever thread comes next, unless that would use it while this thread ends the context. */
void op_completion_hand_over(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct completion_slot *slot = pick_own_completion();
    unsigned place = choose(EXCHANGED);
    if (slot == NULL || (slot->may_end && settings.threads > 1))
        return;
    note("completion %d, place %u", number_of(slot), place);
    struct completion_slot given = *slot;
    pthread_mutex_lock(&lock);
    *slot = shared_objects.exchanged[place];
    shared_objects.exchanged[place] = given;
    pthread_mutex_unlock(&lock);
}

void op_dispatcher_create(void)
{
    struct cushim_dispatcher *made = NULL;
    int place = 0;
    while (place < DISPATCHERS && objects->dispatchers[place] != NULL)
        place++;
    if (place == DISPATCHERS)
        return;
    note("dispatcher %d", place);
    CUresult result = noted(cushim_dispatcher_create(&made));
    check((result == CUDA_SUCCESS) == (made != NULL), "a result was not written, or in spite of a failure");
    objects->dispatchers[place] = made;
}

void op_dispatcher_run(void)
{
    struct cushim_dispatcher **slot = pick_dispatcher();
    size_t called = 77;
    if (slot == NULL)
        return;
    note("dispatcher %d", (int)(slot - objects->dispatchers));
    objects->observing++;
    uint64_t deadline = one_in(2) ? 0 : cushim_clock_ns() + choose(200) * UINT64_C(1000);
    CUresult result = noted_outer(cushim_dispatcher_run(*slot, deadline, &called));
    objects->observing--;
    check(result == CUDA_SUCCESS && called < 77000, "a dispatcher did not run");
}

void op_dispatcher_destroy(void)
{
    struct cushim_dispatcher **slot = pick_dispatcher();
    if (slot == NULL || (slot >= shared_objects.dispatchers && slot < shared_objects.dispatchers + SHARED))
        return;
    note("dispatcher %d", (int)(slot - objects->dispatchers));
    objects->observing++;
    cushim_dispatcher_destroy(slot);
    objects->observing--;
}
