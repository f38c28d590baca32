/* SPDX-License-Identifier: MIT */
/*
 * Sets of completions. A completion in a set has a callback without a function, whose dispatcher belongs to the set.
 * Firing puts the completion into the list of that dispatcher. The set moves this list in one piece to a list of its
 * own, from which several threads can take single completions.
 */
#include <stdlib.h>

#include "../stream/fail.h"
#include "completion_call.h"
#include "completion_callback.h"
#include "completion_pool.h"
#include "completion_wait.h"
#include "dispatcher.h"

struct cushim_completion_set {
    struct cushim_dispatcher *dispatcher;
    struct completion_list fired;
};

static CUresult fail_null_set(const char *function)
{
    return cushim_set_error(CUDA_ERROR_INVALID_HANDLE, function, "The set is NULL or was destroyed.");
}

CUresult cushim_completion_set_create(struct cushim_completion_set **out_set)
{
    static const char function[] = "cushim_completion_set_create";
    if (out_set == NULL)
        return fail_null_output(function);
    struct cushim_completion_set *set = calloc(1, sizeof *set);
    if (set == NULL)
        return fail_out_of_memory(function);
    CUresult result = cushim_dispatcher_create(&set->dispatcher);
    if (result == CUDA_SUCCESS)
        *out_set = set;
    else
        free(set);
    return result;
}

CUresult cushim_completion_set_add(struct cushim_completion_set *set, struct cushim_completion *completion, void *user)
{
    static const char function[] = "cushim_completion_set_add";
    if (set == NULL)
        return fail_null_set(function);
    return cush_completion_set_callback(function, completion, set->dispatcher, NULL, user, NULL);
}

CUresult cushim_completion_set_descriptor(struct cushim_completion_set *set, cushim_descriptor *out_descriptor)
{
    if (set == NULL)
        return fail_null_set("cushim_completion_set_descriptor");
    if (out_descriptor == NULL)
        return fail_null_output("cushim_completion_set_descriptor");
    return cushim_dispatcher_descriptor(set->dispatcher, out_descriptor);
}

/* Moves the completions that have fired to the list of the set. Returns whether there were any. */
static bool set_refill(struct cushim_completion_set *set)
{
    unsigned newest;
    unsigned oldest = cush_dispatcher_take_all(set->dispatcher, &newest);
    if (oldest == 0)
        return false;
    cush_completion_list_put(&set->fired, cush_completion_pool_at(oldest - 1), cush_completion_pool_at(newest - 1));
    /* Meanwhile another thread may have found both lists empty. */
    if (oldest != newest) {
        cush_os_signal_set(set->dispatcher->signal);
        cush_dispatcher_wake(set->dispatcher);
    }
    return true;
}

/* Takes one completion out, and drops those that have left the set. */
static struct cushim_completion *set_take_out(struct cushim_completion_set *set, void **out_user)
{
    struct cushim_completion *completion;
    while ((completion = cush_completion_list_take(&set->fired)) != NULL) {
        atomic_store(&completion->queued, false);
        void *user = completion->callback.user;
        bool is_out = cush_completion_take_from_set(completion);
        if (is_out) {
            *out_user = user;
            cush_completion_release_resources(completion);
        }
        cush_completion_unref(completion);
        if (is_out)
            return completion;
    }
    return NULL;
}

static bool set_is_empty(const struct cushim_completion_set *set)
{
    return cush_completion_list_is_empty(&set->fired) && atomic_load(&set->dispatcher->head) == 0;
}

/* Takes one completion out. Returns NULL if none has fired. The descriptor stays readable while more have fired. */
static struct cushim_completion *set_take(struct cushim_completion_set *set, void **out_user)
{
    struct cushim_completion *completion = NULL;
    bool has_changed = false;
    while (completion == NULL && (!cush_completion_list_is_empty(&set->fired) || set_refill(set))) {
        completion = set_take_out(set, out_user);
        has_changed = true;
    }
    if (has_changed && set_is_empty(set)) {
        cush_os_signal_clear(set->dispatcher->signal);
        if (!set_is_empty(set))
            cush_os_signal_set(set->dispatcher->signal);
    }
    return completion;
}

static struct cushim_completion *set_wait(struct cushim_completion_set *set, uint64_t deadline, void **out_user)
{
    struct cushim_dispatcher *dispatcher = set->dispatcher;
    struct cushim_completion *completion = set_take(set, out_user);
    bool in_time = true;
    atomic_fetch_add(&dispatcher->waiters, 1);
    while (completion == NULL && in_time) {
        unsigned seen = atomic_load(&dispatcher->changes);
        completion = set_take(set, out_user);
        if (completion == NULL)
            in_time = cush_os_wait(&dispatcher->changes, seen, deadline);
    }
    atomic_fetch_sub(&dispatcher->waiters, 1);
    return completion != NULL ? completion : set_take(set, out_user);
}

CUresult cushim_completion_set_wait(struct cushim_completion_set *set, uint64_t deadline,
                                    struct cushim_completion **out_completion, void **out_user)
{
    static const char function[] = "cushim_completion_set_wait";
    void *user = NULL;
    if (set == NULL)
        return fail_null_set(function);
    if (out_completion == NULL)
        return fail_null_output(function);
    if (set->dispatcher->generation != cush_os_process_generation())
        return cushim_set_error(CUDA_ERROR_NOT_INITIALIZED, function, "The set was made before a fork().");
    struct cushim_completion *completion = set_wait(set, deadline, &user);
    if (completion == NULL)
        return fail_timeout(function);
    *out_completion = completion;
    if (out_user != NULL)
        *out_user = user;
    return CUDA_SUCCESS;
}

void cushim_completion_set_destroy(struct cushim_completion_set **set)
{
    struct cushim_completion *completion;
    if (set == NULL || *set == NULL)
        return;
    struct cushim_completion_set *destroyed = *set;
    *set = NULL;
    cushim_dispatcher_destroy(&destroyed->dispatcher);
    while ((completion = cush_completion_list_take(&destroyed->fired)) != NULL) {
        cush_completion_cancel_callback(completion);
        cush_completion_unref(completion);
    }
    free(destroyed);
}
