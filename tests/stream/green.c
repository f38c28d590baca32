/* SPDX-License-Identifier: MIT */
/* Streams of a green context. */
#include "support.h"

CHECK(stream, "green.stream", .needs = {S(GreenCtxStreamCreate_v1)})
{
    CUgreenCtx green = green_new();
    CUgreenCtx found = NULL;
    CUcontext driver_context = NULL;
    CUdevice device = -1;
    unsigned flags = 0;
    struct cushim_context *context = NULL;
    struct cushim_stream *stream = NULL;
    watch_begin();
    expect_success("borrow", cushim_context_borrow_green(green, &context));
    expect_success("device", cushim_context_get_device(context, &device));
    expect_number("device-is", device, the_device);
    expect_current("current-stays", the_context);
    expect_driver_error("blocking", cushim_stream_create(context, CU_STREAM_DEFAULT, 0, &stream),
                        CUDA_ERROR_INVALID_VALUE);
    expect_true("untouched", stream == NULL);
    if (expect_success("create", cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream))) {
        expect_current("current-stays-then", the_context);
        int calls = watch_calls();
        expect_success("driver-context", cushim_stream_get_driver_context(stream, &driver_context, &found));
        expect_true("primary", driver_context == the_context);
        expect_true("green", found == green);
        expect_success("flags", cushim_stream_get_flags(stream, &flags));
        expect_number("flags-are", flags, CU_STREAM_NON_BLOCKING);
        device = -1;
        expect_success("stream-device", cushim_stream_get_device(stream, &device));
        expect_number("stream-device-is", device, the_device);
        expect_number("calls", watch_calls() - calls, 0);
        expect_success("work", body_adds_work(stream, NULL));
        expect_success("close", cushim_stream_close(&stream));
    }
    expect_success("context-destroy", cushim_context_destroy(&context));
    expect_number("alive", watch_alive(), 0);
    watch_end();
    expect_success("green-is-there-still", cu->GreenCtxDestroy_v1(disown(green)));
}

CHECK(in_capture, "green.in-capture", .needs = {S(GreenCtxStreamCreate_v1)})
{
    CUgreenCtx green = green_new();
    CUgreenCtx found = NULL;
    CUcontext driver_context = NULL;
    struct cushim_context *context = NULL;
    struct cushim_stream *stream = NULL;
    require("borrow", cushim_context_borrow_green(green, &context));
    require("create", cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream));
    struct cushim_capture *capture = test_capture_begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    expect_success("driver-context", cushim_stream_get_driver_context(stream, &driver_context, &found));
    expect_true("are", driver_context == the_context && found == green);
    expect_capture_ends(stream, &capture);
    test_stream_close(stream);
    cushim_context_destroy(&context);
    require("green-destroy", cu->GreenCtxDestroy_v1(disown(green)));
}

/* With CUDA 12.4, a stream of a green context is created while that context is current. */
CHECK(borrowed, "green.borrowed", .needs = {S(CtxFromGreenCtx_v1)})
{
    CUgreenCtx green = green_new();
    CUcontext of_green = NULL;
    CUstream handle = NULL;
    CUresult status = CUDA_ERROR_UNKNOWN;
    struct cushim_stream *stream = NULL;
    struct cushim_completion *completion = NULL;
    require("context", cu->CtxFromGreenCtx_v1(&of_green, green));
    require("push", cu->CtxPushCurrent_v2(of_green));
    require("create", cu->StreamCreate_v1(&handle, CU_STREAM_NON_BLOCKING));
    require("pop", cu->CtxPopCurrent_v2(&of_green));
    require("borrow", cushim_stream_borrow(handle, NULL, &stream));
    cushim_error_set(CUDA_ERROR_UNKNOWN, "borrowed", "An error of an earlier call.");
    expect_success("complete", cushim_completion_create(stream, 0, &completion));
    expect_success("wait", cushim_completion_wait(completion, CUSHIM_FOREVER, &status));
    expect("last", cushim_error_last()->code, CUDA_ERROR_UNKNOWN);
    cushim_completion_destroy(&completion);
    cushim_stream_destroy(&stream);
    require("destroy", cu->StreamDestroy_v2(handle));
    require("green-destroy", cu->GreenCtxDestroy_v1(disown(green)));
}

CHECK(on_old, "green.on-old", .flags = CHECK_ON_OLD, .needs = {S(CtxFromGreenCtx_v1)})
{
    struct cushim_context *context = NULL;
    expect_driver_error("code", cushim_context_borrow_green((CUgreenCtx)&context, &context), CUDA_ERROR_NOT_SUPPORTED);
    expect_true("untouched", context == NULL);
}
