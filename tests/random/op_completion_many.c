/* SPDX-License-Identifier: MIT */
/* Waiting for several completions, and sets. */
#include "operations.h"

/* The completions of an array. They have no slot during the wait, so that no release function ends one of them. */
struct several {
    struct completion_slot taken[3];
    struct cushim_completion *completions[3];
    bool captured;
};

static struct several take_several(void)
{
    struct several several = {.captured = false};
    for (int i = 0; i < 3; i++) {
        struct completion_slot *slot = pick_own_completion();
        if (slot == NULL)
            continue;
        several.taken[i] = *slot;
        several.completions[i] = slot->completion;
        several.captured |= slot->captured;
        slot->completion = NULL;
    }
    return several;
}

static void put_back(const struct several *several)
{
    for (int i = 0; i < 3; i++) {
        struct completion_slot *place = free_completion();
        struct cushim_completion *completion = several->completions[i];
        if (completion != NULL && place != NULL)
            *place = several->taken[i];
        else
            cushim_completion_detach(&completion);
    }
}

static uint64_t choose_deadline(bool captured)
{
    unsigned way = choose(3);
    return way == 0 ? 0 : way == 1 || captured ? cushim_time_ns() + choose(200) * UINT64_C(1000) : CUSHIM_FOREVER;
}

void op_completion_wait_any(void)
{
    struct several several = take_several();
    uint64_t deadline = choose_deadline(several.captured);
    size_t index = 77;
    note("%s", deadline == CUSHIM_FOREVER ? "forever" : "for a while");
    me->observing++;
    CUresult result = noted_outer(cushim_completion_wait_any(several.completions, 3, deadline, &index));
    check((result == CUDA_SUCCESS) == (index != 77), "an index was not written, or in spite of a failure");
    if (result == CUDA_SUCCESS)
        check(index < 3 && cushim_completion_count(several.completions[index]) != 0, "it has not fired");
    else
        check(result == CUDA_ERROR_INVALID_VALUE
                  ? several.completions[0] == NULL && several.completions[1] == NULL && several.completions[2] == NULL
                  : result == CUDA_ERROR_TIMEOUT && deadline != CUSHIM_FOREVER,
              "a wait for any failed");
    me->observing--;
    put_back(&several);
}

void op_completion_wait_all(void)
{
    struct several several = take_several();
    uint64_t deadline = choose_deadline(several.captured);
    note("%s", deadline == CUSHIM_FOREVER ? "forever" : "for a while");
    me->observing++;
    CUresult result = noted_outer(cushim_completion_wait_all(several.completions, 3, deadline));
    check(deadline != CUSHIM_FOREVER || result != CUDA_ERROR_TIMEOUT, "a wait without a deadline ran out");
    if (!atomic_load(&broken))
        check(result == CUDA_SUCCESS || result == CUDA_ERROR_TIMEOUT, "a completion has the status of a failure");
    for (int i = 0; i < 3 && result == CUDA_SUCCESS; i++)
        check(several.completions[i] == NULL || cushim_completion_count(several.completions[i]) != 0,
              "it has not fired");
    me->observing--;
    put_back(&several);
}

static struct cushim_completion_set **pick_set(bool there)
{
    unsigned first = choose(SETS);
    for (unsigned i = 0; i < SETS; i++)
        if ((me->sets[(first + i) % SETS] != NULL) == there)
            return &me->sets[(first + i) % SETS];
    return NULL;
}

void op_set_create(void)
{
    struct cushim_completion_set **place = pick_set(false);
    struct cushim_completion_set *made = NULL;
    if (place == NULL)
        return;
    CUresult result = noted(cushim_completion_set_create(&made));
    check((result == CUDA_SUCCESS) == (made != NULL), "a result was not written, or in spite of a failure");
    *place = made;
}

void op_set_add(void)
{
    struct completion_slot *slot = pick_own_completion();
    struct cushim_completion_set **set = pick_set(true);
    if (slot == NULL || set == NULL)
        return;
    struct promise *promise = promise_new(DO_NOTHING, slot->captured ? 0 : 1);
    if (promise == NULL)
        return;
    note("set %d, completion %d", (int)(set - me->sets), (int)(slot - me->completions));
    CUresult result = noted(cushim_completion_set_add(*set, slot->completion, promise));
    check(result == CUDA_SUCCESS || result == CUDA_ERROR_ILLEGAL_STATE, "a set refused a completion");
}

/* Another thread may have got the completion and ended it, so it is not touched. */
void op_set_wait(void)
{
    struct cushim_completion_set **set = pick_set(true);
    struct cushim_completion *out = NULL;
    void *promise = NULL;
    if (set == NULL)
        return;
    note("set %d", (int)(set - me->sets));
    me->observing++;
    me->set_waits++;
    CUresult result = noted_outer(cushim_completion_set_wait(
        *set, one_in(2) ? 0 : cushim_time_ns() + choose(200) * UINT64_C(1000), &out, &promise));
    me->set_waits--;
    me->observing--;
    check((result == CUDA_SUCCESS) == (out != NULL), "a result was not written, or in spite of a failure");
    check(result == CUDA_SUCCESS || result == CUDA_ERROR_TIMEOUT, "a wait for a set failed");
    if (result == CUDA_SUCCESS)
        promise_function(CUDA_SUCCESS, promise);
}

/* A release function that runs during a wait may not destroy the set. */
void op_set_destroy(void)
{
    struct cushim_completion_set **set = pick_set(true);
    if (set == NULL || me->set_waits != 0)
        return;
    note("set %d", (int)(set - me->sets));
    me->observing++;
    cushim_completion_set_destroy(set);
    me->observing--;
}
