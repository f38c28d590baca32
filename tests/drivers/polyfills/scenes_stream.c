/* SPDX-License-Identifier: MIT */
/* Scenes: events, and a context with a sticky error. */
#include "scene.h"

#include <stdio.h>

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

static void CUDA_CB count_call(void *user)
{
    ++*(int *)user;
}

void scene_fault(void)
{
    int calls = 0;
    CUevent before = create_event(CU_EVENT_DEFAULT);
    CUevent after = create_event(CU_EVENT_DEFAULT);
    CUfunction fault = scene_kernel("fault");
    if (fault == NULL)
        return;
    MUST(TABLE->EventRecord_v1(before, stage.a));
    MUST(TABLE->StreamSynchronize_v1(stage.a));
    MUST(TABLE->LaunchKernel_v1(fault, 1, 1, 1, 1, 1, 1, 0, stage.a, NULL, NULL));
    /* The fault may already be known here, so the codes of these two calls are not printed. */
    CUresult launched = TABLE->LaunchHostFunc_v1(stage.a, count_call, &calls);
    (void)TABLE->EventRecordWithFlags_v1(after, stage.a, 0);
    CUresult result = TABLE->StreamSynchronize_v1(stage.a);
    STEP(LaunchHostFunc_v1, "behind the fault", result, "%d calls, launch %s", calls,
         launched == CUDA_SUCCESS || launched == result ? "as it was" : "otherwise");
    result = TABLE->LaunchHostFunc_v1(stage.a, count_call, &calls);
    STEP(LaunchHostFunc_v1, "later", result, "%d calls", calls);

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
