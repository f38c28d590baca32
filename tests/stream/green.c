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

CHECK(on_old, "green.on-old", .flags = CHECK_ON_OLD, .needs = {S(CtxFromGreenCtx_v1)})
{
    struct cushim_context *context = NULL;
    expect_driver_error("code", cushim_context_borrow_green((CUgreenCtx)&context, &context), CUDA_ERROR_NOT_SUPPORTED);
    expect_true("untouched", context == NULL);
}
