/* SPDX-License-Identifier: MIT */
/* Streams of a green context. */
#include "support.h"

static void stream(void)
{
    CUgreenCtx green = green_new();
    CUgreenCtx found = NULL;
    CUcontext driver_context = NULL;
    CUdevice device = -1;
    unsigned flags = 0;
    struct cushim_context *context = NULL;
    struct cushim_stream *stream = NULL;
    watch_begin();
    done("borrow", cushim_context_borrow_green(green, &context));
    done("device", cushim_context_device(context, &device));
    rule_number("device-is", device, the_device);
    rule_current("current-stays", the_context);
    passed_on("blocking", cushim_stream_create(context, CU_STREAM_DEFAULT, 0, &stream), CUDA_ERROR_INVALID_VALUE);
    rule_fact("untouched", stream == NULL);
    if (done("create", cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream))) {
        rule_current("current-stays-then", the_context);
        int calls = watch_calls();
        done("driver-context", cushim_stream_driver_context(stream, &driver_context, &found));
        rule_fact("primary", driver_context == the_context);
        rule_fact("green", found == green);
        done("flags", cushim_stream_flags(stream, &flags));
        rule_number("flags-are", flags, CU_STREAM_NON_BLOCKING);
        device = -1;
        done("stream-device", cushim_stream_device(stream, &device));
        rule_number("stream-device-is", device, the_device);
        rule_number("calls", watch_calls() - calls, 0);
        done("work", body_adds_work(stream, NULL));
        done("close", cushim_stream_close(&stream));
    }
    done("context-destroy", cushim_context_destroy(&context));
    rule_number("alive", watch_alive(), 0);
    watch_end();
    done("green-is-there-still", cu->GreenCtxDestroy_v1(green));
}

static void in_capture(void)
{
    CUgreenCtx green = green_new();
    CUgreenCtx found = NULL;
    CUcontext driver_context = NULL;
    struct cushim_context *context = NULL;
    struct cushim_stream *stream = NULL;
    struct cushim_capture *capture = NULL;
    need("borrow", cushim_context_borrow_green(green, &context));
    need("create", cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream));
    need("begin", cushim_capture_begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED, &capture));
    done("driver-context", cushim_stream_driver_context(stream, &driver_context, &found));
    rule_fact("are", driver_context == the_context && found == green);
    rule_status("survives", stream, "active");
    done("end", cushim_capture_end(&capture, NULL));
    layer_stream_end(stream);
    cushim_context_destroy(&context);
    need("green-destroy", cu->GreenCtxDestroy_v1(green));
}

static void on_old(void)
{
    struct cushim_context *context = NULL;
    if (cushim_query_slot_state(S(CtxFromGreenCtx_v1), CUSHIM_DEFAULT_STREAM_LEGACY) != CUSHIM_STATE_MISSING) {
        lacks(NULL, "a driver that has green contexts");
        return;
    }
    passed_on("code", cushim_context_borrow_green((CUgreenCtx)&context, &context), CUDA_ERROR_NOT_SUPPORTED);
    rule_fact("untouched", context == NULL);
}

static const struct check checks[] = {
    {"green.stream", stream, 0, {S(GreenCtxStreamCreate_v1)}},
    {"green.in-capture", in_capture, 0, {S(GreenCtxStreamCreate_v1)}},
    {"green.on-old", on_old, 0, {0}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_green = {"green", checks};
