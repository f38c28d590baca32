/* SPDX-License-Identifier: MIT */
/*
 * Helper streams. They are created with the first events of a context and never when a callback is wanted, because
 * cuStreamCreate can wait for all work of the context (observed with driver 580: the 36th stream of a context, the
 * 79th, and so on).
 */
#include "completion_helper.h"

#include "../stream/context_object.h"

enum { HELPERS = 32, HELPERS_IN_CONTEXT = 4, CLAIMED = 1 << 30 /* more than any number of waits */ };

static struct helper {
    atomic_uint waits;                           /* and CLAIMED while a thread adds one */
    _Atomic(const struct cushim_stream *) owner; /* of the waits; only compared */
    atomic_uint newest;                          /* the number of the owner's newest work that is waited for */
    CUstream stream;                             /* does not change while `id` is the id of a context that exists */
    CUcontext context;
    atomic_ullong id; /* of the context; 0: the helper has no stream */
} helpers[HELPERS];

static atomic_bool helpers_closed; /* a helper was closed, so that its context can lack one */

/* Returns whether the helper, which this thread has claimed, has no stream or belongs to a context that is gone. */
static bool helper_is_free(struct helper *helper)
{
    unsigned long long id = atomic_load(&helper->id);
    return id == 0 || cush_context_check_id(helper->context, id) == CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

/* Claims an idle helper and counts a wait. No other thread uses a claimed helper. */
static bool helper_claim_idle(struct helper *helper)
{
    unsigned idle = 0;
    return atomic_compare_exchange_strong(&helper->waits, &idle, 1 + CLAIMED);
}

/* Claims a busy helper and counts a wait. Another thread has claimed it only while it makes a few driver calls. */
static bool helper_claim_busy(struct helper *helper)
{
    const uint64_t turn = 20000;
    unsigned waits = atomic_load(&helper->waits);
    while (waits != 0) {
        if (waits < CLAIMED) {
            if (atomic_compare_exchange_weak(&helper->waits, &waits, waits + 1 + CLAIMED))
                return true;
        } else {
            (void)cush_os_wait(&helper->waits, waits, cushim_time_ns() + turn);
            waits = atomic_load(&helper->waits);
        }
    }
    return false;
}

void cush_helper_release(int index, bool has_wait)
{
    atomic_fetch_sub(&helpers[index].waits, has_wait ? (unsigned)CLAIMED : CLAIMED + 1U);
}

/* Opens the helper, which this thread has claimed, in the current context. */
static bool helper_open(struct helper *helper, CUcontext context, unsigned long long id)
{
    atomic_store(&helper->id, 0);
    if (cushim_table_legacy()->StreamCreateWithPriority_v1(&helper->stream, CU_STREAM_NON_BLOCKING, 0) != CUDA_SUCCESS)
        return false;
    helper->context = context;
    atomic_store(&helper->id, id);
    return true;
}

static bool helper_is_in(const struct helper *helper, unsigned long long id)
{
    return atomic_load(&helper->id) == id;
}

int cush_helpers_count(unsigned long long id)
{
    int count = 0;
    for (int i = 0; i < HELPERS; i++)
        count += helper_is_in(&helpers[i], id);
    return count;
}

void cush_helpers_open(CUcontext context, unsigned long long id)
{
    int missing = HELPERS_IN_CONTEXT - cush_helpers_count(id);
    for (int i = 0; i < HELPERS && missing > 0; i++) {
        if (!helper_claim_idle(&helpers[i]))
            continue;
        if (helper_is_free(&helpers[i]))
            missing = helper_open(&helpers[i], context, id) ? missing - 1 : 0;
        cush_helper_release(i, false);
    }
}

/* Returns whether the helper waits for older work of the same stream, and for no newer work. */
static bool helper_precedes(const struct helper *helper, const struct cushim_completion *completion)
{
    return atomic_load(&helper->waits) != 0 && helper_is_in(helper, completion->event.id)
           && atomic_load(&helper->owner) == completion->of.stream
           && (int)(completion->number_before - atomic_load(&helper->newest)) >= 0;
}

/* If several helpers precede the completion, returns the one that waits for the newest work. */
static int helper_find_preceding(const struct cushim_completion *completion)
{
    int found = -1;
    for (int i = 0; i < HELPERS; i++)
        if (helper_precedes(&helpers[i], completion)
            && (found < 0 || (int)(atomic_load(&helpers[i].newest) - atomic_load(&helpers[found].newest)) > 0))
            found = i;
    return found;
}

bool cush_helper_has_older_wait(const struct cushim_completion *completion)
{
    return helper_find_preceding(completion) >= 0;
}

static int helper_claim_preceding(const struct cushim_completion *completion)
{
    int index;
    while ((index = helper_find_preceding(completion)) >= 0) {
        if (!helper_claim_busy(&helpers[index]))
            continue;
        if (helper_precedes(&helpers[index], completion))
            return index;
        cush_helper_release(index, false);
    }
    return -1;
}

static int helper_claim_any(unsigned long long id, bool (*claim)(struct helper *helper), unsigned from)
{
    for (unsigned i = 0; i < HELPERS; i++) {
        unsigned index = (from + i) % HELPERS;
        if (!helper_is_in(&helpers[index], id) || !claim(&helpers[index]))
            continue;
        if (helper_is_in(&helpers[index], id))
            return (int)index;
        cush_helper_release((int)index, false);
    }
    return -1;
}

int cush_helper_claim(const struct cushim_completion *completion)
{
    int index = helper_claim_preceding(completion);
    if (index < 0)
        index = helper_claim_any(completion->event.id, helper_claim_idle, 0);
    if (index >= 0) {
        atomic_store(&helpers[index].owner, completion->of.stream);
        atomic_store(&helpers[index].newest, completion->number);
    }
    return index;
}

int cush_helper_claim_busy(const struct cushim_completion *completion)
{
    return helper_claim_any(completion->event.id, helper_claim_busy, completion->index);
}

CUstream cush_helper_stream(int index)
{
    return helpers[index].stream;
}

bool cush_helpers_are_missing(unsigned long long id)
{
    return atomic_load_explicit(&helpers_closed, memory_order_relaxed) && cush_helpers_count(id) < HELPERS_IN_CONTEXT;
}

void cush_helper_close(int index)
{
    atomic_store(&helpers[index].id, 0);
    atomic_store(&helpers_closed, true);
    (void)cushim_table_legacy()->StreamDestroy_v2(helpers[index].stream);
}

void cush_helper_end_wait(int index)
{
    atomic_fetch_sub(&helpers[index].waits, 1);
}
