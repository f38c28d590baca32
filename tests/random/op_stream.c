/* SPDX-License-Identifier: MIT */
/* Streams: making, taking over, giving away, ending, asking, waiting. */
#include "operations.h"

static int number_of(const struct stream_slot *slot)
{
    return (int)(slot - objects->streams);
}

void op_stream_create(void)
{
    struct stream_slot *slot = free_stream();
    struct driver_stream *of = free_driver_stream();
    struct context_slot *context = pick_context();
    struct cushim_stream *made = NULL;
    unsigned flags = one_in(2) ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT;
    int priority = -(int)choose(6);
    if (slot == NULL || of == NULL)
        return;
    note("stream %d of driver stream %d, flags %u", number_of(slot), (int)(of - objects->drivers), flags);
    CUresult result = noted(cushim_stream_create(context->context, flags, priority, &made));
    check((result == CUDA_SUCCESS) == (made != NULL), "a result was not written, or in spite of a failure");
    check(result == CUDA_SUCCESS || faults || atomic_load(&broken), "no stream was made");
    if (made == NULL)
        return;
    *of = (struct driver_stream){.handle = cushim_stream_handle(made),
                                 .serial = ++objects->serial,
                                 .has_owner = true,
                                 .own_context = context->own};
    check(of->handle != NULL, "a stream has no handle");
    stream_fill(slot, made, of, true);
}

void op_stream_create_at_driver(void)
{
    struct driver_stream *of = free_driver_stream();
    CUcontext before = objects->current;
    CUstream handle = NULL;
    if (of == NULL)
        return;
    note("driver stream %d", (int)(of - objects->drivers));
    driver()->CtxSetCurrent_v1(cushim_context_handle(pick_base()->context));
    if (noted_outer(driver()->StreamCreate_v1(&handle, one_in(2) ? CU_STREAM_NON_BLOCKING : 0)) == CUDA_SUCCESS)
        *of = (struct driver_stream){.handle = handle, .serial = ++objects->serial};
    driver()->CtxSetCurrent_v1(before);
}

/* One of the driver's streams for a wrapper; `unowned`: which no object owns. */
static struct driver_stream *pick_driver_stream(bool unowned)
{
    unsigned start = choose(DRIVER_STREAMS);
    for (unsigned i = 0; i < DRIVER_STREAMS; i++) {
        struct driver_stream *found = &objects->drivers[(start + i) % DRIVER_STREAMS];
        if (found->handle != NULL && !found->own_context && !(unowned && found->has_owner))
            return found;
    }
    return NULL;
}

void op_stream_destroy_at_driver(void)
{
    struct driver_stream *of = pick_driver_stream(true);
    if (of == NULL || of->wrappers != 0 || of->bodies != 0)
        return;
    note("driver stream %d", (int)(of - objects->drivers));
    objects->invalidated++;
    noted_outer(driver()->StreamDestroy_v2(of->handle));
    of->handle = NULL;
}

static void wrap(bool adopts)
{
    struct stream_slot *slot = free_stream();
    struct driver_stream *of = pick_driver_stream(adopts);
    struct cushim_stream *made = NULL;
    struct cushim_context *context = NULL;
    if (slot == NULL || of == NULL)
        return;
    /* With its context, or without one. Only the driver knows in which of the two contexts it was created. */
    CUcontext handle = NULL;
    if (one_in(2) && driver()->StreamGetCtx_v1(of->handle, &handle) == CUDA_SUCCESS)
        for (int i = 0; i < 2; i++)
            if (cushim_context_handle(shared_objects.bases[i].context) == handle)
                context = shared_objects.bases[i].context;
    note("stream %d of driver stream %d, %s", number_of(slot), (int)(of - objects->drivers),
         context != NULL ? "with a context" : "without a context");
    CUresult result = noted(adopts ? cushim_stream_adopt(of->handle, context, &made)
                                   : cushim_stream_borrow(of->handle, context, &made));
    check((result == CUDA_SUCCESS) == (made != NULL), "a result was not written, or in spite of a failure");
    if (made == NULL)
        return;
    of->has_owner |= adopts;
    stream_fill(slot, made, of, adopts);
}

void op_stream_adopt(void)
{
    wrap(true);
}

void op_stream_borrow(void)
{
    wrap(false);
}

/* Work in the legacy stream invalidates the captures of blocking streams. */
void op_stream_borrow_special(void)
{
    static const CUstream specials[] = {CU_STREAM_PER_THREAD, CU_STREAM_LEGACY, NULL};
    struct stream_slot *slot = free_stream();
    struct cushim_stream *made = NULL;
    unsigned which = may_invalidate_others() ? choose(3) : 0;
    if (slot == NULL)
        return;
    note("stream %d, special %u", number_of(slot), which);
    if (noted(cushim_stream_borrow(specials[which], NULL, &made)) == CUDA_SUCCESS)
        stream_fill(slot, made, NULL, false);
}

/* Others' wrappers must be ended before, and calls with a body that go by another object must be over. */
bool stream_may_end(const struct stream_slot *slot)
{
    const struct driver_stream *of = driver_stream_of(slot);
    if (slot->shared)
        return false;
    return of == NULL || !slot->owned || (of->wrappers == 1 && of->bodies == slot->bodies);
}

void stream_emptied(struct stream_slot *slot)
{
    struct driver_stream *of = driver_stream_of(slot);
    check(slot->stream == NULL, "the variable is not NULL");
    objects->invalidated += of != NULL && of->capturing;
    if (of == NULL)
        return;
    of->wrappers--;
    of->capturing = false;
    if (slot->owned)
        of->handle = NULL;
}

void op_stream_release(void)
{
    struct stream_slot *slot = pick_own_stream();
    CUstream handle = (CUstream)(uintptr_t)77;
    if (slot == NULL || (driver_stream_of(slot) != NULL && driver_stream_of(slot)->own_context))
        return;
    struct driver_stream *of = driver_stream_of(slot);
    note("stream %d", number_of(slot));
    if (noted(cushim_stream_release(&slot->stream, &handle)) != CUDA_SUCCESS) {
        check(slot->stream != NULL && handle == (CUstream)(uintptr_t)77, "a refusal changed something");
        return;
    }
    check(slot->stream == NULL && (of == NULL || handle == of->handle), "another handle was released");
    if (of == NULL)
        return;
    of->wrappers--;
    if (slot->owned)
        of->has_owner = false;
}

static void stream_end(bool closes)
{
    struct stream_slot *slot = pick_own_stream();
    if (slot == NULL || !stream_may_end(slot))
        return;
    note("stream %d of driver stream %d", number_of(slot), slot->of);
    objects->invalidated += !is_idle(slot->stream); /* or it has joined the capture of another stream */
    noted(closes ? cushim_stream_close(&slot->stream) : cushim_stream_destroy(&slot->stream));
    stream_emptied(slot);
}

void op_stream_destroy(void)
{
    stream_end(false);
}

void op_stream_close(void)
{
    stream_end(true);
}

static void stream_query_id(const struct stream_slot *slot)
{
    unsigned long long id = 77;
    struct driver_stream *of = driver_stream_of(slot);
    CUresult result = noted(cushim_stream_get_id(slot->stream, &id));
    check(result == CUDA_SUCCESS || id == 77, "an id was written in spite of a failure");
    if (result != CUDA_SUCCESS || of == NULL || slot->shared)
        return;
    check(of->id == 0 || of->id == id, "the id has changed");
    of->id = id;
}

static void stream_query_context(const struct stream_slot *slot)
{
    CUcontext context = (CUcontext)(uintptr_t)77;
    CUresult result = noted(cushim_stream_get_driver_context(slot->stream, &context, NULL));
    check(result == CUDA_SUCCESS || context == (CUcontext)(uintptr_t)77, "a context was written without success");
    struct cushim_context *wrapped = cushim_stream_context(slot->stream);
    check(result != CUDA_SUCCESS || wrapped == NULL || cushim_context_handle(wrapped) == context,
          "the context is another one");
}

void op_stream_query_all(void)
{
    struct stream_slot *slot = pick_stream();
    unsigned flags = 77;
    int priority = 77;
    CUdevice device = 77;
    if (slot == NULL)
        return;
    note("stream %d", number_of(slot));
    check(noted(cushim_stream_get_flags(slot->stream, &flags)) == CUDA_SUCCESS ? flags <= 1 : flags == 77,
          "the flags are none, or were written in spite of a failure");
    check(noted(cushim_stream_get_priority(slot->stream, &priority)) == CUDA_SUCCESS ? priority <= 0 && priority > -32
                                                                                     : priority == 77,
          "the priority is none, or was written in spite of a failure");
    check(noted(cushim_stream_get_device(slot->stream, &device)) == CUDA_SUCCESS ? device == 0 : device == 77,
          "the device is none, or was written in spite of a failure");
    stream_query_id(slot);
    stream_query_context(slot);
    check(cushim_stream_is_owned(slot->stream) == slot->owned, "the owner is another one");
}

void op_stream_query(void)
{
    struct stream_slot *slot = pick_stream();
    if (slot != NULL)
        noted(cushim_stream_query(slot->stream));
}

void op_stream_synchronize(void)
{
    struct stream_slot *slot = pick_stream();
    if (slot != NULL)
        noted(cushim_stream_synchronize(slot->stream));
}
