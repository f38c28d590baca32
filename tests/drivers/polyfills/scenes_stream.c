/* SPDX-License-Identifier: MIT */
/* Scenes: events, host functions, and a context with a sticky error. */
#include "scene.h"

#include <stdio.h>

/* ---- Events ---- */

static CUevent create_event(unsigned int flags)
{
    CUevent event;
    MUST(TABLE->EventCreate_v1(&event, flags));
    return event;
}

static void record(const char *step, CUevent event, CUstream stream, unsigned int flags)
{
    CUresult result = TABLE->EventRecordWithFlags_v1(event, stream, flags);
    STEP(EventRecordWithFlags_v1, step, result, "current %s", scene_current());
}

static void elapsed(const char *step, CUevent start, CUevent end)
{
    float time = -1;
    CUresult result = TABLE->EventElapsedTime_v2(&time, start, end);
    STEP(EventElapsedTime_v2, step, result, "%s", time >= 0 ? "a time" : "untouched");
}

void scene_event(void)
{
    CUevent first = create_event(CU_EVENT_DEFAULT);
    CUevent last = create_event(CU_EVENT_DEFAULT);
    CUevent timeless = create_event(CU_EVENT_DISABLE_TIMING);
    CUevent unrecorded = create_event(CU_EVENT_DEFAULT);
    scene_enter(stage.second);
    CUevent foreign = create_event(CU_EVENT_DEFAULT);
    scene_enter(stage.primary);

    record("record/plain", first, stage.a, 0);
    scene_add_node(stage.a);
    record("record/again", last, stage.a, 0);
    MUST(TABLE->StreamSynchronize_v1(stage.a));
    elapsed("elapsed/both done", first, last);
    elapsed("elapsed/backwards", last, first);
    elapsed("elapsed/unrecorded", first, unrecorded);
    elapsed("elapsed/unrecorded first", unrecorded, last);
    record("record/timeless", timeless, stage.a, 0);
    MUST(TABLE->StreamSynchronize_v1(stage.a));
    elapsed("elapsed/timeless", first, timeless);
    elapsed("elapsed/one and the same", first, first);

    scene_block(stage.a);
    record("record/behind work", last, stage.a, 0);
    elapsed("elapsed/pending", first, last);
    elapsed("elapsed/both pending", last, last);
    scene_release();
    MUST(TABLE->StreamSynchronize_v1(stage.a));
    elapsed("elapsed/done after all", first, last);

    record("record/flag external", first, stage.a, CU_EVENT_RECORD_EXTERNAL);
    record("record/flag unknown", first, stage.a, 2);
    record("record/flags both", first, stage.a, 3);
    record("record/NULL event", NULL, stage.a, 0);
    record("record/NULL event, flag external", NULL, stage.a, CU_EVENT_RECORD_EXTERNAL);
    record("record/NULL event, flag unknown", NULL, stage.a, 2);
    record("record/event of another context", foreign, stage.a, 0);
    record("record/stream 0", first, NULL, 0);
    record("record/stream 1", first, (CUstream)1, 0);
    record("record/stream 2", first, (CUstream)2, 0);
    MUST(TABLE->CtxSynchronize_v1());
    elapsed("elapsed/special streams", first, first);

    scene_enter(NULL);
    record("record/no context", first, stage.a, 0);
    record("record/no context, stream 0", first, NULL, 0);
    record("record/no context, stream 2", first, (CUstream)2, 0);
    MUST(TABLE->StreamSynchronize_v1(stage.a));
    elapsed("elapsed/no context", first, first);
    scene_enter(stage.second);
    record("record/other context", first, stage.a, 0);
    record("record/other context, stream 0", first, NULL, 0);
    MUST(TABLE->StreamSynchronize_v1(stage.a));
    elapsed("elapsed/other context", first, first);
}

/* ---- Host functions ---- */

struct calls {
    int count;
    int order; /* each call appends its digit */
};

struct call {
    struct calls *calls;
    int digit;
};

static void CUDA_CB note_call(void *user)
{
    struct call *call = user;
    call->calls->count++;
    call->calls->order = call->calls->order * 10 + call->digit;
}

static void launch(const char *step, CUstream stream, bool synchronize)
{
    struct calls calls = {0, 0};
    struct call call = {&calls, 1};
    CUresult result = TABLE->LaunchHostFunc_v1(stream, note_call, &call);
    if (synchronize) {
        CUcontext current;
        MUST(TABLE->CtxGetCurrent_v1(&current));
        scene_enter(stage.primary);
        MUST(TABLE->CtxSynchronize_v1());
        scene_enter(stage.second);
        MUST(TABLE->CtxSynchronize_v1());
        scene_enter(current);
    }
    STEP(LaunchHostFunc_v1, step, result, "%d calls, current %s", calls.count, scene_current());
}

void scene_host_function(void)
{
    launch("plain", stage.a, true);
    launch("stream 0", NULL, true);
    launch("stream 1", (CUstream)1, true);
    launch("stream 2", (CUstream)2, true);
    scene_enter(NULL);
    launch("no context", stage.a, true);
    launch("no context, stream 0", NULL, true);
    scene_enter(stage.second);
    launch("other context", stage.a, true);
    scene_enter(stage.primary);

    struct calls calls = {0, 0};
    struct call call[] = {{&calls, 1}, {&calls, 2}, {&calls, 3}};
    scene_block(stage.a);
    CUresult result = CUDA_SUCCESS;
    for (int i = 0; i < 3 && result == CUDA_SUCCESS; i++)
        result = TABLE->LaunchHostFunc_v1(stage.a, note_call, &call[i]);
    STEP(LaunchHostFunc_v1, "three, held back", result, "%d calls", calls.count);
    scene_release();
    result = TABLE->StreamSynchronize_v1(stage.a);
    STEP(LaunchHostFunc_v1, "three, released", result, "%d calls, in order %d", calls.count, calls.order);

    CUstream stream;
    calls.count = 0;
    MUST(TABLE->StreamCreate_v1(&stream, CU_STREAM_NON_BLOCKING));
    scene_block(stream);
    result = TABLE->LaunchHostFunc_v1(stream, note_call, &call[0]);
    MUST(TABLE->StreamDestroy_v2(stream));
    scene_release();
    MUST(TABLE->CtxSynchronize_v1());
    STEP(LaunchHostFunc_v1, "stream destroyed meanwhile", result, "%d calls", calls.count);
}

/* ---- After a kernel with a fault ---- */

void scene_fault(void)
{
    struct calls calls = {0, 0};
    struct call call = {&calls, 1};
    CUevent before = create_event(CU_EVENT_DEFAULT);
    CUevent after = create_event(CU_EVENT_DEFAULT);
    CUfunction fault = scene_kernel("fault");
    if (fault == NULL)
        return;
    MUST(TABLE->EventRecord_v1(before, stage.a));
    MUST(TABLE->StreamSynchronize_v1(stage.a));
    MUST(TABLE->LaunchKernel_v1(fault, 1, 1, 1, 1, 1, 1, 0, stage.a, NULL, NULL));
    /* The fault may already be known here, so the codes of these two calls are not printed. */
    CUresult launched = TABLE->LaunchHostFunc_v1(stage.a, note_call, &call);
    (void)TABLE->EventRecordWithFlags_v1(after, stage.a, 0);
    CUresult result = TABLE->StreamSynchronize_v1(stage.a);
    STEP(LaunchHostFunc_v1, "behind the fault", result, "%d calls, launch %s", calls.count,
         launched == CUDA_SUCCESS || launched == result ? "as it was" : "otherwise");
    result = TABLE->LaunchHostFunc_v1(stage.a, note_call, &call);
    STEP(LaunchHostFunc_v1, "later", result, "%d calls", calls.count);

    float time = -1;
    result = TABLE->EventElapsedTime_v2(&time, before, before);
    STEP(EventElapsedTime_v2, "elapsed, recorded before", result, "%s", time >= 0 ? "a time" : "untouched");
    CODE(EventRecordWithFlags_v1, "record", TABLE->EventRecordWithFlags_v1(after, stage.a, 0));

    CUdevice device = UNTOUCHED;
    CUcontext context = UNTOUCHED_POINTER;
    CUgreenCtx green = UNTOUCHED_POINTER;
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)UNTOUCHED;
    result = TABLE->CtxGetDevice_v2(&device, stage.primary);
    STEP(CtxGetDevice_v2, "device of context", result, "device %d", (int)device);
    CODE(CtxSynchronize_v2, "synchronize", TABLE->CtxSynchronize_v2(stage.primary));
    device = UNTOUCHED;
    result = TABLE->StreamGetDevice_v1(stage.a, &device);
    STEP(StreamGetDevice_v1, "device of stream", result, "device %d, current %s", (int)device, scene_current());
    result = TABLE->StreamGetCtx_v2(stage.a, &context, &green);
    STEP(StreamGetCtx_v2, "context of stream", result, "context %s, green %s", scene_name_of(context),
         scene_name_of(green));
    result = TABLE->StreamIsCapturing_v1(stage.a, &status);
    STEP(StreamIsCapturing_v1, "capturing", result, "status %d", (int)status);
    status = (CUstreamCaptureStatus)UNTOUCHED;
    result = TABLE->StreamGetCaptureInfo_v3(stage.a, &status, NULL, NULL, NULL, NULL, NULL);
    STEP(StreamGetCaptureInfo_v3, "info", result, "status %d", (int)status);
    CODE(StreamBeginCapture_v2, "begin capture", TABLE->StreamBeginCapture_v2(stage.a, CU_STREAM_CAPTURE_MODE_RELAXED));
}
