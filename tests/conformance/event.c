/* SPDX-License-Identifier: MIT */
/* Events: create, record, query, synchronize, elapsed time. */
#include "fixture.h"

static void one_flag(const char *key, unsigned flags, CUresult expected)
{
    CUevent event = UNTOUCHED_HANDLE;
    CUresult result = cu->EventCreate_v1(&event, flags);
    expect(key, result, expected);
    if (result == CUDA_SUCCESS)
        require("destroy", cu->EventDestroy_v2(event));
    else
        expect_true(key_of(key, "untouched", NULL), event == UNTOUCHED_HANDLE);
}

CHECK(create, "event.create", .needs = {S(EventCreate_v1)})
{
    CUevent event = UNTOUCHED_HANDLE;
    one_flag("default", CU_EVENT_DEFAULT, CUDA_SUCCESS);
    one_flag("blocking-sync", CU_EVENT_BLOCKING_SYNC, CUDA_SUCCESS);
    one_flag("disable-timing", CU_EVENT_DISABLE_TIMING, CUDA_SUCCESS);
    one_flag("both", CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING, CUDA_SUCCESS);
    one_flag("interprocess-alone", CU_EVENT_INTERPROCESS, CUDA_ERROR_INVALID_VALUE);
    one_flag("interprocess", CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING, CUDA_SUCCESS);
    one_flag("unknown-8", 8, CUDA_ERROR_INVALID_VALUE);
    one_flag("unknown-16", 16, CUDA_ERROR_INVALID_VALUE);
    one_flag("unknown-high", 0x80000000u, CUDA_ERROR_INVALID_VALUE);
    expect("null", cu->EventCreate_v1(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    require("no-context", cu->CtxSetCurrent_v1(NULL));
    expect("no-context", cu->EventCreate_v1(&event, 0), CUDA_ERROR_INVALID_CONTEXT);
}

CHECK(null_handles, "event.null", .needs = {S(EventQuery_v1)})
{
    CUstream stream = stream_new();
    CUevent event = event_new();
    float time = 0;
    expect("query", cu->EventQuery_v1(NULL), CUDA_ERROR_INVALID_HANDLE);
    expect("synchronize", cu->EventSynchronize_v1(NULL), CUDA_ERROR_INVALID_HANDLE);
    expect("record", cu->EventRecord_v1(NULL, stream), CUDA_ERROR_INVALID_HANDLE);
    expect("destroy", cu->EventDestroy_v2(NULL), CUDA_ERROR_INVALID_HANDLE);
    expect("elapsed-start", cu->EventElapsedTime_v1(&time, NULL, event), CUDA_ERROR_INVALID_HANDLE);
    expect("elapsed-end", cu->EventElapsedTime_v1(&time, event, NULL), CUDA_ERROR_INVALID_HANDLE);
}

CHECK(unrecorded, "event.unrecorded", .needs = {S(EventQuery_v1)})
{
    CUevent event = event_new();
    expect("query", cu->EventQuery_v1(event), CUDA_SUCCESS);
    expect("synchronize", cu->EventSynchronize_v1(event), CUDA_SUCCESS);
    expect("destroy", cu->EventDestroy_v2(disown(event)), CUDA_SUCCESS);
}

CHECK(record, "event.record", .needs = {S(EventRecord_v1)})
{
    CUstream stream = stream_new();
    CUevent event = event_new();
    expect("code", cu->EventRecord_v1(event, stream), CUDA_SUCCESS);
    expect("synchronize", cu->EventSynchronize_v1(event), CUDA_SUCCESS);
    expect("query", cu->EventQuery_v1(event), CUDA_SUCCESS);
    struct gate *gate = gate_new(stream);
    expect("old-record-stays", cu->EventQuery_v1(event), CUDA_SUCCESS);
    expect("again", cu->EventRecord_v1(event, stream), CUDA_SUCCESS);
    expect("pending", cu->EventQuery_v1(event), CUDA_ERROR_NOT_READY);
    gate_open(gate);
    expect("pending-synchronize", cu->EventSynchronize_v1(event), CUDA_SUCCESS);
    expect_number("waited", gate_passed(gate), 1);
    expect("destroy", cu->EventDestroy_v2(disown(event)), CUDA_SUCCESS);
}

CHECK(record_special, "event.record-special", .needs = {S(EventRecord_v1)})
{
    CUevent event = event_new();
    for (int i = 0; i < 3; i++)
        expect(specials[i].name, cu->EventRecord_v1(event, specials[i].stream), CUDA_SUCCESS);
    expect("synchronize", cu->EventSynchronize_v1(event), CUDA_SUCCESS);
}

/* Records with different flags, events and streams, while different contexts are current. */
CHECK(record_flags, "event.record-flags", .needs = {S(EventRecordWithFlags_v1)})
{
    CUstream stream = stream_new();
    CUevent event = event_new();
    CUcontext current = NULL;
    bool stays = true;
    CUcontext contexts[CONTEXT_COUNT];
    contexts_new(contexts);
    require("set", cu->CtxSetCurrent_v1(contexts[CONTEXT_SECOND]));
    CUevent foreign = event_new();
    const struct {
        const char *key;
        int current;
        CUevent event;
        CUstream stream;
        unsigned flags;
        CUresult expected;
    } calls[] = {
        {"none", CONTEXT_PRIMARY, event, stream, CU_EVENT_RECORD_DEFAULT, CUDA_SUCCESS},
        {"external", CONTEXT_PRIMARY, event, stream, CU_EVENT_RECORD_EXTERNAL, CUDA_ERROR_ILLEGAL_STATE},
        {"unknown", CONTEXT_PRIMARY, event, stream, 2, CUDA_ERROR_INVALID_VALUE},
        {"both", CONTEXT_PRIMARY, event, stream, 3, CUDA_ERROR_INVALID_VALUE},
        {"null", CONTEXT_PRIMARY, NULL, stream, 0, CUDA_ERROR_INVALID_HANDLE},
        {"null-external", CONTEXT_PRIMARY, NULL, stream, CU_EVENT_RECORD_EXTERNAL, CUDA_ERROR_INVALID_HANDLE},
        {"null-unknown", CONTEXT_PRIMARY, NULL, stream, 2, CUDA_ERROR_INVALID_HANDLE},
        {"foreign", CONTEXT_PRIMARY, foreign, stream, 0, CUDA_ERROR_INVALID_HANDLE},
        {"zero", CONTEXT_PRIMARY, event, NULL, 0, CUDA_SUCCESS},
        {"legacy", CONTEXT_PRIMARY, event, CU_STREAM_LEGACY, 0, CUDA_SUCCESS},
        {"per-thread", CONTEXT_PRIMARY, event, CU_STREAM_PER_THREAD, 0, CUDA_SUCCESS},
        {"no-context", CONTEXT_NONE, event, stream, 0, CUDA_SUCCESS},
        {"no-context-zero", CONTEXT_NONE, event, NULL, 0, CUDA_ERROR_INVALID_CONTEXT},
        {"no-context-per-thread", CONTEXT_NONE, event, CU_STREAM_PER_THREAD, 0, CUDA_ERROR_INVALID_CONTEXT},
        {"other-context", CONTEXT_SECOND, event, stream, 0, CUDA_SUCCESS},
        {"other-context-zero", CONTEXT_SECOND, event, NULL, 0, CUDA_ERROR_INVALID_HANDLE},
    };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        require("set", cu->CtxSetCurrent_v1(contexts[calls[i].current]));
        CUresult result = cu->EventRecordWithFlags_v1(calls[i].event, calls[i].stream, calls[i].flags);
        expect(calls[i].key, result, calls[i].expected);
        require("current", cu->CtxGetCurrent_v1(&current));
        stays &= current == contexts[calls[i].current];
    }
    expect_true("current-stays", stays);
    require("set", cu->CtxSetCurrent_v1(the_context));
    struct gate *gate = gate_new(stream);
    require("record", cu->EventRecordWithFlags_v1(event, stream, 0));
    expect("pending", cu->EventQuery_v1(event), CUDA_ERROR_NOT_READY);
    gate_open(gate);
}

CHECK(no_context, "event.no-context", .needs = {S(EventRecord_v1)})
{
    CUstream stream = stream_new();
    CUevent event = event_new();
    require("no-context", cu->CtxSetCurrent_v1(NULL));
    expect("record", cu->EventRecord_v1(event, stream), CUDA_SUCCESS);
    expect("synchronize", cu->EventSynchronize_v1(event), CUDA_SUCCESS);
    expect("query", cu->EventQuery_v1(event), CUDA_SUCCESS);
    expect("record-zero", cu->EventRecord_v1(event, NULL), CUDA_ERROR_INVALID_CONTEXT);
    expect("wait", cu->StreamWaitEvent_v1(stream, event, 0), CUDA_SUCCESS);
    expect("destroy", cu->EventDestroy_v2(disown(event)), CUDA_SUCCESS);
}

CHECK(other_context, "event.other-context", .needs = {S(CtxCreate_v2)})
{
    CUcontext popped = NULL;
    CUstream stream = stream_new();
    (void)context_second();
    CUevent event = event_new();
    expect("record-across", cu->EventRecord_v1(event, stream), CUDA_ERROR_INVALID_HANDLE);
    expect("wait-across", cu->StreamWaitEvent_v1(stream, event, 0), CUDA_SUCCESS);
    require("pop", cu->CtxPopCurrent_v2(&popped));
    expect("query", cu->EventQuery_v1(event), CUDA_SUCCESS);
    expect("destroy", cu->EventDestroy_v2(disown(event)), CUDA_SUCCESS);
}

CHECK(destroy_pending, "event.destroy-pending", .needs = {S(EventDestroy_v2)})
{
    CUstream stream = stream_new();
    CUevent event = event_new();
    struct gate *gate = gate_new(stream);
    require("record", cu->EventRecord_v1(event, stream));
    expect("code", cu->EventDestroy_v2(disown(event)), CUDA_SUCCESS);
    expect_number("gate-was-closed", gate_passed(gate), 0);
    gate_open(gate);
    expect("synchronize", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
}

typedef CUresult (*elapsed_function)(float *, CUevent, CUevent);

/* `start` and `end` are recorded, in this order. */
struct timing {
    CUstream stream;
    CUevent start;
    CUevent end;
};

static void elapsed_refused(elapsed_function elapsed, const struct timing *timing)
{
    CUevent untimed = event_new();
    CUevent unused = event_timed();
    require("record", cu->EventRecord_v1(untimed, timing->stream));
    require("synchronize", cu->StreamSynchronize_v1(timing->stream));
    const struct {
        const char *key;
        CUevent start;
        CUevent end;
    } calls[] = {
        {"unrecorded", unused, unused},
        {"start-unrecorded", unused, timing->end},
        {"end-unrecorded", timing->start, unused},
        {"untimed", timing->start, untimed},
        {"start-null", NULL, timing->end},
        {"both-null", NULL, NULL},
    };
    float time = -1;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        expect(calls[i].key, elapsed(&time, calls[i].start, calls[i].end), CUDA_ERROR_INVALID_HANDLE);
    expect_true("untouched", time == -1);
}

static void elapsed_done(elapsed_function elapsed, const struct timing *timing)
{
    CUcontext contexts[CONTEXT_COUNT];
    float time = -1;
    contexts_new(contexts);
    expect("code", elapsed(&time, timing->start, timing->end), CUDA_SUCCESS);
    expect_true("not-negative", time >= 0);
    expect("same-event", elapsed(&time, timing->start, timing->start), CUDA_SUCCESS);
    expect_true("same-event-is-zero", time == 0);
    expect("backwards", elapsed(&time, timing->end, timing->start), CUDA_SUCCESS);
    expect_true("backwards-not-positive", time <= 0);
    observe("null", elapsed(NULL, timing->start, timing->end));
    for (int i = 0; i < CONTEXT_COUNT; i += 2) {
        require("set", cu->CtxSetCurrent_v1(contexts[i]));
        expect(key_of("current", context_names[i], NULL), elapsed(&time, timing->start, timing->start), CUDA_SUCCESS);
    }
    require("set", cu->CtxSetCurrent_v1(the_context));
}

static void elapsed_pending(elapsed_function elapsed, const struct timing *timing)
{
    float time = -1;
    struct gate *gate = gate_new(timing->stream);
    require("record", cu->EventRecord_v1(timing->end, timing->stream));
    expect("pending", elapsed(&time, timing->start, timing->end), CUDA_ERROR_NOT_READY);
    expect("both-pending", elapsed(&time, timing->end, timing->end), CUDA_ERROR_NOT_READY);
    expect_true("pending-untouched", time == -1);
    gate_open(gate);
    require("synchronize", cu->StreamSynchronize_v1(timing->stream));
    expect("no-longer-pending", elapsed(&time, timing->start, timing->end), CUDA_SUCCESS);
    require("record", cu->EventRecord_v1(timing->end, NULL));
    require("synchronize", cu->CtxSynchronize_v1());
    expect("of-zero", elapsed(&time, timing->end, timing->end), CUDA_SUCCESS);
}

static void elapsed_with(elapsed_function elapsed)
{
    const struct timing timing = {stream_new(), event_timed(), event_timed()};
    require("record", cu->EventRecord_v1(timing.start, timing.stream));
    require("record", cu->EventRecord_v1(timing.end, timing.stream));
    elapsed_refused(elapsed, &timing);
    elapsed_done(elapsed, &timing);
    elapsed_pending(elapsed, &timing);
}

CHECK(elapsed, "event.elapsed", .needs = {S(EventElapsedTime_v1)})
{
    elapsed_with(cu->EventElapsedTime_v1);
}

CHECK(elapsed_v2, "event.elapsed-v2", .needs = {S(EventElapsedTime_v2)})
{
    elapsed_with(cu->EventElapsedTime_v2);
}
