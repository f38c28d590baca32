/* SPDX-License-Identifier: MIT */
#include "operations.h"

static struct context_slot *free_context(void)
{
    for (int i = 0; i < CONTEXTS; i++)
        if (objects->contexts[i].context == NULL)
            return &objects->contexts[i];
    return NULL;
}

void op_context_create(void)
{
    struct context_slot *slot = free_context();
    struct cushim_context *made = NULL;
    if (slot == NULL)
        return;
    bool own = one_in(3);
    bool preferred = !own && one_in(2);
    CUresult result = own         ? cushim_context_create(0, 0, &made)
                      : preferred ? cushim_context_create_preferred(0, 0, &made)
                                  : cushim_context_create_primary(0, &made);
    note("context %d, %s", (int)(slot - objects->contexts), own ? "own" : preferred ? "preferred" : "primary");
    check((noted(result) == CUDA_SUCCESS) == (made != NULL), "a result was not written, or in spite of a failure");
    check(result == CUDA_SUCCESS || faults || atomic_load(&broken)
              || (!own && !preferred && result == CUDA_ERROR_NOT_SUPPORTED && cushim_driver_version() < 7000),
          "no context was made");
    *slot = (struct context_slot){made, own || (preferred && cushim_driver_version() < 7000)};
}

void op_context_borrow(void)
{
    struct context_slot *slot = free_context();
    struct cushim_context *made = NULL;
    if (slot == NULL)
        return;
    CUresult result = cushim_context_borrow(cushim_context_handle(pick_base()->context), &made);
    note("context %d", (int)(slot - objects->contexts));
    check((noted(result) == CUDA_SUCCESS) == (made != NULL), "a result was not written, or in spite of a failure");
    *slot = (struct context_slot){made, false};
}

void op_context_destroy(void)
{
    struct context_slot *slot = &objects->contexts[choose(CONTEXTS)];
    if (slot->context == NULL)
        return;
    note("context %d", (int)(slot - objects->contexts));
    noted(cushim_context_destroy(&slot->context));
    check(slot->context == NULL, "the variable is not NULL");
}

void op_context_query_all(void)
{
    struct context_slot *slot = pick_context();
    int least = 77;
    int greatest = 77;
    CUdevice device = 77;
    CUresult result = noted(cushim_context_get_priority_range(slot->context, &least, &greatest));
    check(result == CUDA_SUCCESS ? least == 0 && greatest <= 0 : least == 77 && greatest == 77,
          "the range is none, or was written in spite of a failure");
    check(cushim_context_get_device(slot->context, &device) == CUDA_SUCCESS && device == 0,
          "the device is another one");
    check(cushim_context_handle(slot->context) != NULL, "there is no handle");
}

/* Of a special stream, another context is another stream: no body for one may see that. */
void op_context_set_current(void)
{
    if (objects->special_bodies != 0)
        return;
    CUcontext current = one_in(4) ? NULL : cushim_context_handle(pick_base()->context);
    note("%s", current == NULL                                                     ? "none"
               : current == cushim_context_handle(shared_objects.bases[0].context) ? "0"
                                                                                   : "1");
    /* Where popping was made to fail, none uncovers what lies below. */
    driver()->CtxSetCurrent_v1(current);
    while (driver()->CtxGetCurrent_v1(&objects->current) != CUDA_SUCCESS)
        ;
}

/* A block of operations in a context, which may set another one current. */
void op_context_enter(void)
{
    struct cushim_context *context = pick_base()->context;
    CUcontext outer = objects->current;
    CUcontext before = (CUcontext)(uintptr_t)77;
    if (objects->special_bodies != 0)
        return;
    note("%d", context == shared_objects.bases[0].context ? 0 : 1);
    if (noted(cushim_context_enter(context, &before)) != CUDA_SUCCESS) {
        check(before == (CUcontext)(uintptr_t)77, "a context was written in spite of a failure");
        return;
    }
    check(before == outer, "another context was current before");
    objects->current = cushim_context_handle(context);
    operations_nest(choose_seed(), 3);
    CUresult result = noted_outer(cushim_context_leave(before));
    check(result == CUDA_SUCCESS || faults || atomic_load(&broken), "a context could not be left");
    objects->current = outer;
}
