/* SPDX-License-Identifier: MIT */
#include "watch.h"

#include <stdatomic.h>

#include "cushim/abi/egl.h"

static struct {
    struct cushim_dispatch_table *live;    /* the driver table, whose slots are replaced while calls are watched */
    struct cushim_dispatch_table original; /* its original slots */
    atomic_int calls;
    atomic_int calls_of[CUSHIM_SLOT_COUNT];
    atomic_int countdown;                      /* calls until the one that fails; negative: none fails */
    atomic_bool fails_next[CUSHIM_SLOT_COUNT]; /* the slots whose next call fails */
    CUresult code;
    atomic_int failed_slot; /* -1: no call failed */
    bool into_graph;        /* whether the open capture goes into an existing graph */
} watch;

struct watch_objects watch_objects;

/* Whether this call has to fail. */
static bool is_to_fail(enum cushim_slot slot)
{
    atomic_fetch_add(&watch.calls, 1);
    atomic_fetch_add(&watch.calls_of[slot], 1);
    if (!atomic_exchange(&watch.fails_next[slot], false)
        && (atomic_load(&watch.countdown) < 0 || atomic_fetch_sub(&watch.countdown, 1) != 0))
        return false;
    atomic_store(&watch.failed_slot, (int)slot);
    return true;
}

/* A capture that ends creates a graph; a capture into an existing graph destroys it if it fails. */
static void note_end_of_capture(CUresult result)
{
    watch_objects.captures--;
    if (!watch.into_graph && result == CUDA_SUCCESS)
        watch_objects.graphs++;
    else if (watch.into_graph && result != CUDA_SUCCESS)
        watch_objects.graphs--;
    watch.into_graph = false;
}

static void note_success(enum cushim_slot slot)
{
    switch (slot) {
    case CUSHIM_SLOT_DevicePrimaryCtxRetain_v1:
    case CUSHIM_SLOT_CtxCreate_v2:
        watch_objects.contexts++;
        break;
    case CUSHIM_SLOT_StreamCreateWithPriority_v1:
    case CUSHIM_SLOT_GreenCtxStreamCreate_v1:
        watch_objects.streams++;
        break;
    case CUSHIM_SLOT_EventCreate_v1:
        watch_objects.events++;
        break;
    case CUSHIM_SLOT_GraphCreate_v1:
        watch_objects.graphs++;
        break;
    case CUSHIM_SLOT_GraphInstantiateWithFlags_v1:
        watch_objects.executables++;
        break;
    case CUSHIM_SLOT_StreamBeginCapture_v2:
        watch_objects.captures++;
        break;
    case CUSHIM_SLOT_StreamBeginCaptureToGraph_v1:
        watch_objects.captures++;
        watch.into_graph = true;
        break;
    default:
        break;
    }
}

/* A destroy call counts even if it fails: it cannot be repeated. */
static CUresult note(enum cushim_slot slot, CUresult result)
{
    switch (slot) {
    case CUSHIM_SLOT_DevicePrimaryCtxRelease_v2:
    case CUSHIM_SLOT_CtxDestroy_v2:
        watch_objects.contexts--;
        break;
    case CUSHIM_SLOT_StreamDestroy_v2:
        watch_objects.streams--;
        break;
    case CUSHIM_SLOT_EventDestroy_v2:
        watch_objects.events--;
        break;
    case CUSHIM_SLOT_GraphDestroy_v1:
        watch_objects.graphs--;
        break;
    case CUSHIM_SLOT_GraphExecDestroy_v1:
        watch_objects.executables--;
        break;
    case CUSHIM_SLOT_StreamEndCapture_v1:
        note_end_of_capture(result);
        break;
    default:
        if (result == CUDA_SUCCESS)
            note_success(slot);
    }
    return result;
}

#define CUSHIM_ENTRY(function, abi, since, parameters, arguments)                                                      \
    static CUresult CUDAAPI watched_##function##_##abi parameters                                                      \
    {                                                                                                                  \
        if (is_to_fail(CUSHIM_SLOT_##function##_##abi))                                                                \
            return note(CUSHIM_SLOT_##function##_##abi, watch.code);                                                   \
        return note(CUSHIM_SLOT_##function##_##abi, watch.original.function##_##abi arguments);                        \
    }
#include "cushim/entry_points.h"

static const struct cushim_dispatch_table watched = {
#define CUSHIM_ENTRY(function, abi, since, parameters, arguments) watched_##function##_##abi,
#include "cushim/entry_points.h"
};

void watch_begin(void)
{
    atomic_store(&watch.calls, 0);
    for (int slot = 0; slot < CUSHIM_SLOT_COUNT; slot++) {
        atomic_store(&watch.calls_of[slot], 0);
        atomic_store(&watch.fails_next[slot], false);
    }
    atomic_store(&watch.countdown, -1);
    atomic_store(&watch.failed_slot, -1);
    watch.into_graph = false;
    watch_objects = (struct watch_objects){0};
    /* The static library has its own table, and no other thread reads it at this time. */
    watch.live = (struct cushim_dispatch_table *)cushim_table();
    watch.original = *watch.live;
    *watch.live = watched;
    cu = &watch.original;
}

void watch_end(void)
{
    *watch.live = watch.original;
    cu = watch.live;
}

int watch_calls(void)
{
    return atomic_load(&watch.calls);
}

int watch_calls_of(enum cushim_slot slot)
{
    return atomic_load(&watch.calls_of[slot]);
}

static void fail_later(CUresult code)
{
    watch.code = code;
    atomic_store(&watch.failed_slot, -1);
}

void watch_fail(int number, CUresult code)
{
    fail_later(code);
    atomic_store(&watch.countdown, number);
}

void watch_fail_slot(enum cushim_slot slot, CUresult code)
{
    fail_later(code);
    atomic_store(&watch.fails_next[slot], true);
}

bool watch_failed(enum cushim_slot *out_slot)
{
    int slot = atomic_load(&watch.failed_slot);
    atomic_store(&watch.countdown, -1);
    if (slot >= 0 && out_slot != NULL)
        *out_slot = (enum cushim_slot)slot;
    return slot >= 0;
}

int watch_alive(void)
{
    return watch_objects.contexts + watch_objects.streams + watch_objects.events + watch_objects.graphs
           + watch_objects.executables + watch_objects.captures;
}
