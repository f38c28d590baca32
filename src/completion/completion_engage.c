/* SPDX-License-Identifier: MIT */
/*
 * A helper stream waits for the event of a completion and then calls back. At a time it carries the waits of one
 * stream, whose work is done in that order: so none holds back another, and the callbacks come in the order of the
 * stream. Helpers are non-blocking streams. A helper belongs to a context; when it is idle it is used again there, and
 * when that context is gone it is forgotten. There are at most HELPERS in the process. If none is free, the callback
 * goes onto the stream of the work, behind newer work; if that stream is gone or in a capture, it goes onto a busy
 * helper, behind other waits.
 */
#include "completion_engage.h"

#include "../stream/context_object.h"
#include "../stream/property.h"
#include "../stream/stream_object.h"
#include "completion_event.h"
#include "completion_fire.h"

enum { HELPERS = 32, CLAIMED = 1 << 30 /* more than any number of waits */ };

static struct helper {
    atomic_uint waits;                 /* and CLAIMED while a thread adds one */
    const struct cushim_stream *owner; /* of the waits; only compared */
    CUstream stream;                   /* does not change while `id` is the id of a context that exists */
    CUcontext context;
    atomic_ullong id; /* of the context; 0: the helper has no stream */
} helpers[HELPERS];

static void CUDA_CB helper_on_event(CUstream stream, CUresult status, void *user)
{
    struct helper *helper = &helpers[((struct cushim_completion *)user)->helper];
    cush_completion_on_work_done(stream, status, user);
    atomic_fetch_sub(&helper->waits, 1);
}

static CUresult helper_open(struct helper *helper, const struct cushim_completion *completion)
{
    CUcontext before = NULL;
    atomic_store(&helper->id, 0);
    if (!cush_context_push(completion->event.context, &before))
        return CUDA_ERROR_NOT_READY;
    CUresult result = cushim_table_legacy()->StreamCreateWithPriority_v1(&helper->stream, CU_STREAM_NON_BLOCKING, 0);
    cush_context_pop(before);
    helper->context = completion->event.context;
    if (result == CUDA_SUCCESS)
        atomic_store(&helper->id, completion->event.id);
    return result;
}

/* Returns whether the helper, which this thread has claimed, has no stream or belongs to a context that is gone. */
static bool helper_is_free(struct helper *helper)
{
    unsigned long long id = atomic_load(&helper->id);
    return id == 0 || cush_completion_context_check(helper->context, id) == CUDA_ERROR_CONTEXT_IS_DESTROYED;
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

static void helper_give_back(struct helper *helper, bool has_wait)
{
    atomic_fetch_sub(&helper->waits, has_wait ? (unsigned)CLAIMED : CLAIMED + 1U);
}

/*
 * Claims a busy helper in the context of the completion, which waits for this stream, or for any if `owner` is NULL.
 * Each completion begins the search elsewhere.
 */
static struct helper *helper_find_busy(const struct cushim_completion *completion, const struct cushim_stream *owner)
{
    for (unsigned i = 0; i < HELPERS; i++) {
        struct helper *helper = &helpers[(completion->index + i) % HELPERS];
        if (atomic_load(&helper->id) != completion->event.id || !helper_claim(helper, true))
            continue;
        if (atomic_load(&helper->id) == completion->event.id && (owner == NULL || helper->owner == owner))
            return helper;
        helper_give_back(helper, false);
    }
    return NULL;
}

/* Claims this helper if it is idle and in the context of the completion, or if it can be opened there. */
static CUresult helper_claim_idle(struct helper *helper, const struct cushim_completion *completion, bool open)
{
    CUresult result = CUDA_ERROR_NOT_READY;
    if ((!open && atomic_load(&helper->id) != completion->event.id) || !helper_claim(helper, false))
        return result;
    if (atomic_load(&helper->id) == completion->event.id)
        result = CUDA_SUCCESS;
    else if (open && helper_is_free(helper))
        result = helper_open(helper, completion);
    helper->owner = completion->of.stream;
    if (result != CUDA_SUCCESS)
        helper_give_back(helper, false);
    return result;
}

/* Claims the helper that waits for the stream of the completion, or an idle one. */
static CUresult helper_find(const struct cushim_completion *completion, struct helper **out_helper)
{
    *out_helper = helper_find_busy(completion, completion->of.stream);
    if (*out_helper != NULL)
        return CUDA_SUCCESS;
    for (int open = 0; open < 2; open++) {
        for (struct helper *helper = helpers; helper < helpers + HELPERS; helper++) {
            CUresult result = helper_claim_idle(helper, completion, open != 0);
            *out_helper = helper;
            if (result != CUDA_ERROR_NOT_READY)
                return result;
        }
    }
    return CUDA_ERROR_NOT_READY;
}

/* The helper is claimed. */
static CUresult engage_helper(struct cushim_completion *completion, struct helper *helper)
{
    const struct cushim_dispatch_table *table = cushim_table_legacy();
    completion->helper = (unsigned)(helper - helpers);
    cush_completion_ref(completion);
    CUresult result = table->StreamWaitEvent_v1(helper->stream, completion->event.handle, 0);
    if (result == CUDA_SUCCESS)
        result = table->StreamAddCallback_v1(helper->stream, helper_on_event, completion, 0);
    if (result != CUDA_SUCCESS)
        cush_completion_unref(completion);
    helper_give_back(helper, result == CUDA_SUCCESS);
    return result;
}

/* The caller keeps the stream in use. */
static bool engage_stream(struct cushim_completion *completion, CUstream stream)
{
    if (cush_stream_is_capturing(stream))
        return false;
    cush_completion_ref(completion);
    if (cushim_table_legacy()->StreamAddCallback_v1(stream, cush_completion_on_work_done, completion, 0)
        == CUDA_SUCCESS)
        return true;
    cush_completion_unref(completion);
    return false;
}

/* `stream` is the stream of the work, if the callback may go there. */
static CUresult engage(struct cushim_completion *completion, enum engagement engagement, struct cushim_stream *stream)
{
    struct helper *helper;
    CUresult result = cush_completion_event_begin(completion);
    if (result != CUDA_SUCCESS)
        return result;
    result = helper_find(completion, &helper);
    if (result == CUDA_SUCCESS)
        result = engage_helper(completion, helper);
    if (result != CUDA_SUCCESS && stream != NULL && engage_stream(completion, stream->handle))
        result = CUDA_SUCCESS;
    if (result != CUDA_SUCCESS && engagement == ENGAGE_SOMEHOW && (helper = helper_find_busy(completion, NULL)) != NULL)
        result = engage_helper(completion, helper);
    cush_completion_event_end(completion);
    return result;
}

CUresult cush_completion_engage(struct cushim_completion *completion, enum engagement engagement)
{
    const unsigned engaged = COMPLETION_FIRED | COMPLETION_ENGAGED;
    if (!atomic_load_explicit(&completion->by_event, memory_order_acquire)
        || (atomic_load(&completion->state) & engaged) != 0)
        return CUDA_SUCCESS;
    unsigned before = atomic_fetch_or(&completion->state, COMPLETION_ENGAGING);
    if ((before & (COMPLETION_ENGAGING | engaged)) != 0)
        return (before & engaged) != 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
    int cancellation = cush_os_cancellation_disable();
    struct cushim_stream *stream = completion->of.stream;
    bool used = engagement == ENGAGE_SOMEHOW && cush_stream_try_use(stream);
    CUresult result = engage(completion, engagement, used ? stream : NULL);
    if (result == CUDA_SUCCESS)
        atomic_fetch_or(&completion->state, COMPLETION_ENGAGED);
    else
        atomic_fetch_and(&completion->state, ~(unsigned)COMPLETION_ENGAGING);
    /* This can end the stream and its context, which waits for the completions in it. */
    if (used)
        (void)cush_stream_end_use(stream);
    cush_os_cancellation_restore(cancellation);
    return result;
}
