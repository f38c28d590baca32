/* SPDX-License-Identifier: MIT */
/* Events: create, record, query, synchronize, elapsed time. */
#include "fixture.h"

static void one_flag(const char *key, unsigned flags)
{
    CUevent event = UNTOUCHED_HANDLE;
    CUresult result = cu->EventCreate_v1(&event, flags);
    saw(key, result);
    if (result == CUDA_SUCCESS)
        need("destroy", cu->EventDestroy_v2(event));
    else
        saw_fact(key_of(key, "untouched", NULL), event == UNTOUCHED_HANDLE);
}

static void create(void)
{
    CUevent event = UNTOUCHED_HANDLE;
    one_flag("default", CU_EVENT_DEFAULT);
    one_flag("blocking-sync", CU_EVENT_BLOCKING_SYNC);
    one_flag("disable-timing", CU_EVENT_DISABLE_TIMING);
    one_flag("both", CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING);
    one_flag("interprocess-alone", CU_EVENT_INTERPROCESS);
    one_flag("interprocess", CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
    one_flag("unknown-8", 8);
    one_flag("unknown-16", 16);
    one_flag("unknown-high", 0x80000000u);
    rule("null", cu->EventCreate_v1(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    need("no-context", cu->CtxSetCurrent_v1(NULL));
    rule("no-context", cu->EventCreate_v1(&event, 0), CUDA_ERROR_INVALID_CONTEXT);
}

static void null_handles(void)
{
    CUstream stream = stream_new();
    CUevent event = event_new();
    float time = 0;
    rule("query", cu->EventQuery_v1(NULL), CUDA_ERROR_INVALID_HANDLE);
    rule("synchronize", cu->EventSynchronize_v1(NULL), CUDA_ERROR_INVALID_HANDLE);
    rule("record", cu->EventRecord_v1(NULL, stream), CUDA_ERROR_INVALID_HANDLE);
    rule("destroy", cu->EventDestroy_v2(NULL), CUDA_ERROR_INVALID_HANDLE);
    rule("elapsed-start", cu->EventElapsedTime_v1(&time, NULL, event), CUDA_ERROR_INVALID_HANDLE);
    rule("elapsed-end", cu->EventElapsedTime_v1(&time, event, NULL), CUDA_ERROR_INVALID_HANDLE);
    need("destroy", cu->EventDestroy_v2(event));
    stream_end(stream);
}

static void unrecorded(void)
{
    CUevent event = event_new();
    rule("query", cu->EventQuery_v1(event), CUDA_SUCCESS);
    rule("synchronize", cu->EventSynchronize_v1(event), CUDA_SUCCESS);
    rule("destroy", cu->EventDestroy_v2(event), CUDA_SUCCESS);
}

static void record(void)
{
    struct gate gate;
    CUstream stream = stream_new();
    CUevent event = event_new();
    rule("code", cu->EventRecord_v1(event, stream), CUDA_SUCCESS);
    rule("synchronize", cu->EventSynchronize_v1(event), CUDA_SUCCESS);
    rule("query", cu->EventQuery_v1(event), CUDA_SUCCESS);
    if (!gate_close(&gate, stream))
        return;
    rule("old-record-stays", cu->EventQuery_v1(event), CUDA_SUCCESS);
    rule("again", cu->EventRecord_v1(event, stream), CUDA_SUCCESS);
    rule("pending", cu->EventQuery_v1(event), CUDA_ERROR_NOT_READY);
    gate_open(&gate);
    rule("pending-synchronize", cu->EventSynchronize_v1(event), CUDA_SUCCESS);
    rule_number("waited", atomic_load(&gate.passed), 1);
    rule("destroy", cu->EventDestroy_v2(event), CUDA_SUCCESS);
    stream_end(stream);
}

static void record_special(void)
{
    CUevent event = event_new();
    rule("zero", cu->EventRecord_v1(event, NULL), CUDA_SUCCESS);
    rule("legacy", cu->EventRecord_v1(event, CU_STREAM_LEGACY), CUDA_SUCCESS);
    rule("per-thread", cu->EventRecord_v1(event, CU_STREAM_PER_THREAD), CUDA_SUCCESS);
    rule("synchronize", cu->EventSynchronize_v1(event), CUDA_SUCCESS);
    need("destroy", cu->EventDestroy_v2(event));
}

/* Records with different flags, events and streams, while different contexts are current. */
static void record_flags(void)
{
    struct gate gate;
    CUstream stream = stream_new();
    CUevent event = event_new();
    CUcontext current = NULL;
    bool stays = true;
    CUcontext contexts[CONTEXT_COUNT];
    if (!contexts_new(contexts))
        return;
    need("set", cu->CtxSetCurrent_v1(contexts[CONTEXT_SECOND]));
    CUevent foreign = event_new();
    const struct {
        const char *key;
        int current;
        CUevent event;
        CUstream stream;
        unsigned flags;
    } calls[] = {
        {"none", CONTEXT_PRIMARY, event, stream, CU_EVENT_RECORD_DEFAULT},
        {"external", CONTEXT_PRIMARY, event, stream, CU_EVENT_RECORD_EXTERNAL},
        {"unknown", CONTEXT_PRIMARY, event, stream, 2},
        {"both", CONTEXT_PRIMARY, event, stream, 3},
        {"null", CONTEXT_PRIMARY, NULL, stream, 0},
        {"null-external", CONTEXT_PRIMARY, NULL, stream, CU_EVENT_RECORD_EXTERNAL},
        {"null-unknown", CONTEXT_PRIMARY, NULL, stream, 2},
        {"foreign", CONTEXT_PRIMARY, foreign, stream, 0},
        {"zero", CONTEXT_PRIMARY, event, NULL, 0},
        {"legacy", CONTEXT_PRIMARY, event, CU_STREAM_LEGACY, 0},
        {"per-thread", CONTEXT_PRIMARY, event, CU_STREAM_PER_THREAD, 0},
        {"no-context", CONTEXT_NONE, event, stream, 0},
        {"no-context-zero", CONTEXT_NONE, event, NULL, 0},
        {"no-context-per-thread", CONTEXT_NONE, event, CU_STREAM_PER_THREAD, 0},
        {"other-context", CONTEXT_SECOND, event, stream, 0},
        {"other-context-zero", CONTEXT_SECOND, event, NULL, 0},
    };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        need("set", cu->CtxSetCurrent_v1(contexts[calls[i].current]));
        CUresult result = cu->EventRecordWithFlags_v1(calls[i].event, calls[i].stream, calls[i].flags);
        saw(calls[i].key, result);
        need("current", cu->CtxGetCurrent_v1(&current));
        stays &= current == contexts[calls[i].current];
    }
    rule_fact("current-stays", stays);
    need("set", cu->CtxSetCurrent_v1(the_context));
    if (gate_close(&gate, stream)) {
        need("record", cu->EventRecordWithFlags_v1(event, stream, 0));
        rule("pending", cu->EventQuery_v1(event), CUDA_ERROR_NOT_READY);
        gate_open(&gate);
    }
    stream_end(stream);
    need("destroy", cu->EventDestroy_v2(event));
    need("destroy", cu->EventDestroy_v2(foreign));
    need("context-destroy", cu->CtxDestroy_v2(contexts[CONTEXT_SECOND]));
}

static void no_context(void)
{
    CUstream stream = stream_new();
    CUevent event = event_new();
    need("no-context", cu->CtxSetCurrent_v1(NULL));
    rule("record", cu->EventRecord_v1(event, stream), CUDA_SUCCESS);
    rule("synchronize", cu->EventSynchronize_v1(event), CUDA_SUCCESS);
    rule("query", cu->EventQuery_v1(event), CUDA_SUCCESS);
    saw("record-zero", cu->EventRecord_v1(event, NULL));
    rule("wait", cu->StreamWaitEvent_v1(stream, event, 0), CUDA_SUCCESS);
    rule("destroy", cu->EventDestroy_v2(event), CUDA_SUCCESS);
    stream_end(stream);
}

static void other_context(void)
{
    CUcontext second = NULL;
    CUcontext popped = NULL;
    CUstream stream = stream_new();
    if (!need("context", cu->CtxCreate_v2(&second, 0, the_device)))
        return;
    CUevent event = event_new();
    rule("record-across", cu->EventRecord_v1(event, stream), CUDA_ERROR_INVALID_HANDLE);
    rule("wait-across", cu->StreamWaitEvent_v1(stream, event, 0), CUDA_SUCCESS);
    need("pop", cu->CtxPopCurrent_v2(&popped));
    rule("query", cu->EventQuery_v1(event), CUDA_SUCCESS);
    rule("destroy", cu->EventDestroy_v2(event), CUDA_SUCCESS);
    need("context-destroy", cu->CtxDestroy_v2(second));
    stream_end(stream);
}

static void destroy_pending(void)
{
    struct gate gate;
    CUstream stream = stream_new();
    CUevent event = event_new();
    if (!gate_close(&gate, stream))
        return;
    need("record", cu->EventRecord_v1(event, stream));
    rule("code", cu->EventDestroy_v2(event), CUDA_SUCCESS);
    rule_number("gate-was-closed", atomic_load(&gate.passed), 0);
    gate_open(&gate);
    rule("synchronize", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    stream_end(stream);
}

static void elapsed_with(CUresult (*elapsed)(float *, CUevent, CUevent))
{
    struct gate gate;
    CUstream stream = stream_new();
    CUevent untimed = event_new();
    CUcontext contexts[CONTEXT_COUNT];
    CUevent start = NULL;
    CUevent end = NULL;
    CUevent unused = NULL;
    float time = -1;
    if (!contexts_new(contexts))
        return;
    need("event", cu->EventCreate_v1(&start, CU_EVENT_DEFAULT));
    need("event", cu->EventCreate_v1(&end, CU_EVENT_DEFAULT));
    need("event", cu->EventCreate_v1(&unused, CU_EVENT_DEFAULT));
    need("record", cu->EventRecord_v1(start, stream));
    need("record", cu->EventRecord_v1(end, stream));
    need("record", cu->EventRecord_v1(untimed, stream));
    need("synchronize", cu->StreamSynchronize_v1(stream));
    rule("unrecorded", elapsed(&time, unused, unused), CUDA_ERROR_INVALID_HANDLE);
    rule("start-unrecorded", elapsed(&time, unused, end), CUDA_ERROR_INVALID_HANDLE);
    rule("end-unrecorded", elapsed(&time, start, unused), CUDA_ERROR_INVALID_HANDLE);
    rule("untimed", elapsed(&time, start, untimed), CUDA_ERROR_INVALID_HANDLE);
    rule("start-null", elapsed(&time, NULL, end), CUDA_ERROR_INVALID_HANDLE);
    rule("both-null", elapsed(&time, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    rule_fact("untouched", time == -1);
    rule("code", elapsed(&time, start, end), CUDA_SUCCESS);
    rule_fact("not-negative", time >= 0);
    rule("same-event", elapsed(&time, start, start), CUDA_SUCCESS);
    rule_fact("same-event-is-zero", time == 0);
    rule("backwards", elapsed(&time, end, start), CUDA_SUCCESS);
    rule_fact("backwards-not-positive", time <= 0);
    saw("null", elapsed(NULL, start, end));
    for (int i = 0; i < CONTEXT_COUNT; i += 2) {
        need("set", cu->CtxSetCurrent_v1(contexts[i]));
        rule(key_of("current", context_names[i], NULL), elapsed(&time, start, start), CUDA_SUCCESS);
    }
    need("set", cu->CtxSetCurrent_v1(the_context));
    if (gate_close(&gate, stream)) {
        time = -1;
        need("record", cu->EventRecord_v1(end, stream));
        rule("pending", elapsed(&time, start, end), CUDA_ERROR_NOT_READY);
        rule("both-pending", elapsed(&time, end, end), CUDA_ERROR_NOT_READY);
        rule_fact("pending-untouched", time == -1);
        gate_open(&gate);
        need("synchronize", cu->StreamSynchronize_v1(stream));
        rule("no-longer-pending", elapsed(&time, start, end), CUDA_SUCCESS);
    }
    need("record", cu->EventRecord_v1(end, NULL));
    need("synchronize", cu->CtxSynchronize_v1());
    rule("of-zero", elapsed(&time, end, end), CUDA_SUCCESS);
    stream_end(stream);
    need("destroy", cu->EventDestroy_v2(start));
    need("destroy", cu->EventDestroy_v2(end));
    need("destroy", cu->EventDestroy_v2(unused));
    need("destroy", cu->EventDestroy_v2(untimed));
    need("context-destroy", cu->CtxDestroy_v2(contexts[CONTEXT_SECOND]));
}

static CUresult elapsed_first(float *time, CUevent start, CUevent end)
{
    return cu->EventElapsedTime_v1(time, start, end);
}

static CUresult elapsed_second(float *time, CUevent start, CUevent end)
{
    return cu->EventElapsedTime_v2(time, start, end);
}

static void elapsed(void)
{
    elapsed_with(elapsed_first);
}

static void elapsed_v2(void)
{
    elapsed_with(elapsed_second);
}

static const struct check checks[] = {
    {"event.create", create, 0, {S(EventCreate_v1)}},
    {"event.null", null_handles, 0, {S(EventQuery_v1)}},
    {"event.unrecorded", unrecorded, 0, {S(EventQuery_v1)}},
    {"event.record", record, 0, {S(EventRecord_v1)}},
    {"event.record-special", record_special, 0, {S(EventRecord_v1)}},
    {"event.record-flags", record_flags, 0, {S(EventRecordWithFlags_v1)}},
    {"event.no-context", no_context, 0, {S(EventRecord_v1)}},
    {"event.other-context", other_context, 0, {S(CtxCreate_v2)}},
    {"event.destroy-pending", destroy_pending, 0, {S(EventDestroy_v2)}},
    {"event.elapsed", elapsed, 0, {S(EventElapsedTime_v1)}},
    {"event.elapsed-v2", elapsed_v2, 0, {S(EventElapsedTime_v2)}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_event = {"event", checks};
