/* SPDX-License-Identifier: MIT */
/* Drawing operations, and what holds around each of them. */
#include "operations.h"

#include "trace.h"

#include <stdio.h>
#include <string.h>

#include "support.h"

static const struct operation {
    const char *name;
    unsigned weight;
    bool invalidates;
    void (*run)(void);
} operations[] = {
#define OPERATION(name, weight, invalidates) {#name, weight, invalidates, op_##name},
#include "operations.inc"
#undef OPERATION
};

enum { OPERATIONS = sizeof operations / sizeof operations[0] };

static const struct operation *draw(void)
{
    unsigned all = 0;
    for (int i = 0; i < OPERATIONS; i++)
        all += operations[i].weight;
    unsigned drawn = choose(all);
    int i = 0;
    for (; drawn >= operations[i].weight; i++)
        drawn -= operations[i].weight;
    return &operations[i];
}

static bool is_active(const struct driver_stream *stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return driver()->StreamIsCapturing_v1(stream->handle, &status) == CUDA_SUCCESS
           && status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

/* Injected faults, and calls of other threads, may invalidate any capture. */
static bool watches_captures(void)
{
    return !faults && settings.threads == 1 && !atomic_load(&broken);
}

/* Whether the capture that was begun there has not been ended by its owner. */
static bool has_capture(int of)
{
    for (int i = 0; i < CAPTURES; i++)
        if (objects->captures[i].capture != NULL && objects->captures[i].of == of
            && objects->captures[i].of_serial == objects->drivers[of].serial)
            return true;
    return false;
}

struct watched {
    unsigned serials[DRIVER_STREAMS]; /* 0: not capturing */
    unsigned invalidated;
};

static void watch(struct watched *watched)
{
    memset(watched, 0, sizeof *watched);
    for (int i = 0; i < DRIVER_STREAMS && watches_captures(); i++)
        if (objects->drivers[i].capturing && has_capture(i) && is_active(&objects->drivers[i]))
            watched->serials[i] = objects->drivers[i].serial;
    watched->invalidated = objects->invalidated;
}

static void poll_again(const struct watched *watched, const char *name)
{
    if (watched->invalidated != objects->invalidated)
        return;
    for (int i = 0; i < DRIVER_STREAMS; i++) {
        const struct driver_stream *stream = &objects->drivers[i];
        if (watched->serials[i] != 0 && stream->handle != NULL && stream->serial == watched->serials[i]
            && stream->capturing && !is_active(stream))
            fail("%s invalidated the capture of driver stream %d", name, i);
    }
}

static void check_current(const char *name)
{
    CUcontext current = NULL;
    if (driver()->CtxGetCurrent_v1(&current) == CUDA_SUCCESS && current != objects->current)
        fail("%s changed the current context", name);
}

static void run_one(void)
{
    const struct operation *operation = draw();
    struct trace_entry *before = trace_begin(operation->name);
    struct watched watched;
    if (settings.verbose)
        fprintf(stderr, "%u %u %s\n", objects->operation, objects->depth, operation->name);
    watch(&watched);
    operation->run();
    if (operation->invalidates)
        objects->invalidated++;
    poll_again(&watched, operation->name);
    check_current(operation->name);
    trace_end(before);
}

/*
 * Not among them: what ends an object, but for streams and events, which a driver ends with their context; the question
 * whether a stream is capturing, without whose answer a body may end a capture that is not its own; and popping and
 * the capture mode, which nobody could put back.
 */
static const char *const symbols[] = {
    "cuCtxCreate_v2",
    "cuCtxGetCurrent",
    "cuCtxGetId",
    "cuCtxPushCurrent_v2",
    "cuDevicePrimaryCtxRetain",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventQuery",
    "cuEventRecord",
    "cuEventRecordWithFlags",
    "cuGraphCreate",
    "cuGraphInstantiate",
    "cuGraphInstantiateWithFlags",
    "cuGraphLaunch",
    "cuGraphRetainUserObject",
    "cuLaunchHostFunc",
    "cuStreamAddCallback",
    "cuStreamAddCallback",
    "cuStreamAddCallback",
    "cuStreamBeginCapture_v2",
    "cuStreamBeginCaptureToGraph",
    "cuStreamCreateWithPriority",
    "cuStreamDestroy_v2",
    "cuStreamGetCaptureInfo",
    "cuStreamGetCaptureInfo_v2",
    "cuStreamGetCaptureInfo_v3",
    "cuStreamGetFlags",
    "cuStreamGetId",
    "cuStreamGetPriority",

    "cuStreamQuery",
    "cuStreamSynchronize",
    "cuStreamWaitEvent",
    "cuUserObjectCreate",
};

/*
 * A query that fails with the code of the call before it means a sticky error or a lost stream, after which everything
 * is released. So the query with which the library finds this out fails with a code that no other call has.
 */
static void arm_call(void)
{
    static const int codes[] = {CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_INVALID_HANDLE,
                                CUDA_ERROR_UNKNOWN};
    const char *symbol = symbols[choose(sizeof symbols / sizeof symbols[0])];
    unsigned nth = 1 + choose(4);
    int code = codes[choose(4)];
    if (strcmp(symbol, "cuStreamGetPriority") == 0)
        code = CUDA_ERROR_NOT_PERMITTED;
    if (!atomic_load(&broken))
        (void)soft->fail_call(symbol, nth, code);
}

static void arm(void)
{
    if (!atomic_load(&broken))
        soft->clear_faults();
    arm_call();
    if (one_in(2))
        arm_call();
    if (one_in(4))
        allocation_fail((int)choose(3));
}

void operations_nest(uint64_t seed, unsigned count)
{
    uint64_t before = choose_seed();
    unsigned observing = objects->observing;
    if (objects->depth < MAX_DEPTH) {
        objects->depth++;
        choose_from(seed);
        for (unsigned i = choose(count + 1); i != 0; i--)
            run_one();
        objects->depth--;
    }
    objects->observing = observing;
    choose_from(before);
}

void operation_run(uint64_t seed)
{
    choose_from(seed);
    if (faults && one_in(6))
        arm();
    run_one();
    if (faults)
        (void)allocation_failed();
}
