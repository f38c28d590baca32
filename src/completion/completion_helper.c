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
    atomic_uint waits;                 /* and CLAIMED while a thread adds one */
    const struct cushim_stream *owner; /* of the waits; only compared */
    CUstream stream;                   /* does not change while `id` is the id of a context that exists */
    CUcontext context;
    atomic_ullong id; /* of the context; 0: the helper has no stream */
} helpers[HELPERS];

/* Returns whether the helper, which this thread has claimed, has no stream or belongs to a context that is gone. */
static bool helper_is_free(struct helper *helper)
{
    unsigned long long id = atomic_load(&helper->id);
    return id == 0 || cush_context_check_id(helper->context, id) == CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

/* Claims a busy or an idle helper and counts a wait. No other thread uses a claimed helper. */
static bool helper_claim(struct helper *helper, bool busy)
{
    unsigned waits = atomic_load(&helper->waits);
    do {
        if (waits >= CLAIMED || (waits != 0) != busy)
            return false;
    } while (!atomic_compare_exchange_weak(&helper->waits, &waits, waits + 1 + CLAIMED));
    return true;
}

void cush_helper_give_back(int index, bool has_wait)
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
        if (!helper_claim(&helpers[i], false))
            continue;
        if (helper_is_free(&helpers[i]))
            missing = helper_open(&helpers[i], context, id) ? missing - 1 : 0;
        cush_helper_give_back(i, false);
    }
}

static int helper_find(unsigned long long id, bool busy, const struct cushim_stream *owner, unsigned from)
{
    for (unsigned i = 0; i < HELPERS; i++) {
        unsigned index = (from + i) % HELPERS;
        struct helper *helper = &helpers[index];
        if (!helper_is_in(helper, id) || !helper_claim(helper, busy))
            continue;
        if (helper_is_in(helper, id) && (owner == NULL || helper->owner == owner))
            return (int)index;
        cush_helper_give_back((int)index, false);
    }
    return -1;
}

int cush_helper_for(unsigned long long id, const struct cushim_stream *owner)
{
    int index = helper_find(id, true, owner, 0);
    if (index < 0 && (index = helper_find(id, false, NULL, 0)) >= 0)
        helpers[index].owner = owner;
    return index;
}

int cush_helper_busy(unsigned long long id, unsigned from)
{
    return helper_find(id, true, NULL, from);
}

CUstream cush_helper_stream(int index)
{
    return helpers[index].stream;
}

void cush_helper_end_wait(int index)
{
    atomic_fetch_sub(&helpers[index].waits, 1);
}
