/* SPDX-License-Identifier: MIT */
/* Waiting for several completions. */
#include "operations.h"

/* The completions of an array. They have no slot during the wait, so that no destroy function ends one of them. */
struct several {
    struct completion_slot taken[3];
    struct cushim_completion *completions[3];
    bool captured;
    bool may_end;
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
        several.may_end |= slot->may_end;
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
    return way == 0 ? 0 : way == 1 || captured ? cushim_clock_ns() + choose(200) * UINT64_C(1000) : CUSHIM_FOREVER;
}

void op_completion_wait_any(void)
{
    struct several several = take_several();
    uint64_t deadline = choose_deadline(several.captured);
    size_t index = 77;
    note("%s", deadline == CUSHIM_FOREVER ? "forever" : "for a while");
    objects->observing++;
    CUresult result = noted_outer(cushim_completion_wait_any(several.completions, 3, deadline, &index));
    check((result == CUDA_SUCCESS) == (index != 77), "an index was not written, or in spite of a failure");
    if (result == CUDA_SUCCESS)
        check(index < 3 && cushim_completion_count(several.completions[index]) != 0, "it has not fired");
    else
        check(result == CUDA_ERROR_INVALID_VALUE
                  ? several.completions[0] == NULL && several.completions[1] == NULL && several.completions[2] == NULL
                  : result == CUDA_ERROR_TIMEOUT && deadline != CUSHIM_FOREVER,
              "a wait for any failed");
    objects->observing--;
    put_back(&several);
}

void op_completion_wait_all(void)
{
    struct several several = take_several();
    uint64_t deadline = choose_deadline(several.captured);
    note("%s", deadline == CUSHIM_FOREVER ? "forever" : "for a while");
    objects->observing++;
    CUresult status = (CUresult)77;
    CUresult result = noted_outer(cushim_completion_wait_all(several.completions, 3, deadline, &status));
    check(deadline != CUSHIM_FOREVER || result != CUDA_ERROR_TIMEOUT, "a wait without a deadline ran out");
    check(result == CUDA_SUCCESS || result == CUDA_ERROR_TIMEOUT, "a wait for all failed");
    check((result == CUDA_SUCCESS) == ((int)status != 77), "a status was not written, or in spite of a failure");
    if (result == CUDA_SUCCESS && !atomic_load(&broken))
        check(status == CUDA_SUCCESS || (several.may_end && status == CUDA_ERROR_CONTEXT_IS_DESTROYED),
              "a completion has the status of a failure");
    for (int i = 0; i < 3 && result == CUDA_SUCCESS; i++)
        check(several.completions[i] == NULL || cushim_completion_count(several.completions[i]) != 0,
              "it has not fired");
    objects->observing--;
    put_back(&several);
}
