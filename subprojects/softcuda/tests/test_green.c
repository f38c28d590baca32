/* SPDX-License-Identifier: MIT */
/* Green contexts: streams of their own; memory, events and a lifetime that they share with the primary context. */
#include "support.h"

#include <string.h>

static CUgreenCtx green_new(void)
{
    CUdevResource all;
    CUdevResourceDesc description = NULL;
    CUgreenCtx green = NULL;
    assert_cu(0, cu->DeviceGetDevResource_v1(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    assert_true(all.sm.smCount > 0);
    assert_cu(0, cu->DevResourceGenerateDesc_v1(&description, &all, 1));
    assert_cu(0, cu->GreenCtxCreate_v1(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    return green;
}

/* A stream of the green context, created in a way that a driver for CUDA 12.4 has, too. */
static CUstream green_stream(CUgreenCtx green)
{
    CUstream stream = NULL;
    CUcontext of_green = NULL;
    assert_cu(0, cu->CtxFromGreenCtx_v1(&of_green, green));
    assert_cu(0, cu->CtxPushCurrent_v2(of_green));
    assert_cu(0, cu->StreamCreate_v1(&stream, CU_STREAM_NON_BLOCKING));
    assert_cu(0, cu->CtxPopCurrent_v2(NULL));
    return stream;
}

TEST(test_green_context_when_arguments_are_invalid_then_refused)
{
    CUdevResource all, none;
    CUdevResourceDesc description = NULL;
    CUgreenCtx green = NULL;
    memset(&none, 0, sizeof none);
    assert_cu(914, cu->DeviceGetDevResource_v1(0, &all, CU_DEV_RESOURCE_TYPE_INVALID));
    assert_cu(101, cu->DeviceGetDevResource_v1(99, &all, CU_DEV_RESOURCE_TYPE_SM));
    assert_cu(0, cu->DeviceGetDevResource_v1(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    assert_cu(1, cu->DevResourceGenerateDesc_v1(&description, NULL, 1));
    assert_cu(914, cu->DevResourceGenerateDesc_v1(&description, &none, 1));
    assert_cu(0, cu->DevResourceGenerateDesc_v1(&description, &all, 1));
    assert_cu(1, cu->GreenCtxCreate_v1(&green, description, 0, 0));
    assert_cu(1, cu->GreenCtxCreate_v1(&green, NULL, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    all.sm.smCount += 1;
    assert_cu(915, cu->DevResourceGenerateDesc_v1(&description, &all, 1));
    assert_null(green);
}

TEST(test_green_stream_when_queried_then_returns_its_contexts)
{
    CUgreenCtx found = NULL, green = green_new();
    CUcontext of_green = NULL, of_stream = NULL;
    CUstream stream = green_stream(green), plain = support_stream(0);
    assert_cu(0, cu->CtxFromGreenCtx_v1(&of_green, green));
    assert_cu(0, cu->StreamGetGreenCtx_v1(stream, &found));
    assert_ptr_equal(found, green);
    assert_cu(0, cu->StreamGetCtx_v1(stream, &of_stream));
    assert_ptr_equal(of_stream, of_green);
    assert_ptr_not_equal(of_green, context);
    assert_cu(0, cu->StreamGetGreenCtx_v1(plain, &found));
    assert_null(found);
    if (support_has(12050)) {
        assert_cu(0, cu->StreamGetCtx_v2(stream, &of_stream, &found));
        assert_true(of_stream == context && found == green);
        assert_cu(0, cu->StreamDestroy_v2(stream));
        assert_cu(0, cu->GreenCtxStreamCreate_v1(&stream, green, CU_STREAM_NON_BLOCKING, -1));
        assert_cu(0, cu->StreamGetGreenCtx_v1(stream, &found));
        assert_ptr_equal(found, green);
    }
    assert_cu(0, cu->StreamDestroy_v2(stream));
    assert_cu(0, cu->GreenCtxDestroy_v1(green));
}

TEST(test_green_stream_when_busy_then_its_primary_context_waits_for_it)
{
    struct gate gate = {0, 0};
    unsigned char back[16] = {0};
    CUdeviceptr memory;
    CUgreenCtx green = green_new();
    CUstream stream = green_stream(green), other = support_stream(1);
    CUevent event = support_event(0); /* of the primary context, like the memory */
    assert_cu(0, cu->MemAlloc_v2(&memory, sizeof back));
    assert_cu(0, cu->LaunchHostFunc_v1(stream, support_gate, &gate));
    assert_cu(0, cu->MemsetD8Async_v1(memory, 5, sizeof back, stream));
    assert_cu(0, cu->EventRecord_v1(event, stream));
    assert_cu(0, cu->StreamWaitEvent_v1(other, event, 0));
    support_reached(&gate);
    assert_cu(600, cu->StreamQuery_v1(other));
    assert_cu(600, cu->EventQuery_v1(event));
    support_open(&gate);
    assert_cu(0, cu->CtxSynchronize_v1());
    assert_cu(0, cu->EventQuery_v1(event));
    assert_cu(0, cu->MemcpyDtoH_v2(back, memory, sizeof back));
    assert_int_equal(back[15], 5);
    assert_cu(0, cu->MemFree_v2(memory));
    assert_cu(0, cu->EventDestroy_v2(event));
    assert_cu(0, cu->StreamDestroy_v2(stream));
    assert_cu(0, cu->GreenCtxDestroy_v1(green));
}

TEST(test_green_stream_when_capturing_then_its_primary_context_cannot_be_waited_for)
{
    CUgraph graph = NULL;
    CUgreenCtx green = green_new();
    CUstream stream = green_stream(green);
    assert_cu(0, cu->StreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    assert_cu(900, cu->CtxSynchronize_v1());
    assert_cu(901, cu->StreamEndCapture_v1(stream, &graph));
    assert_cu(0, cu->CtxSynchronize_v1());
    assert_cu(0, cu->StreamDestroy_v2(stream));
    assert_cu(0, cu->GreenCtxDestroy_v1(green));
}

TEST(test_green_context_when_destroyed_then_memory_stays_and_the_primary_is_released)
{
    CUdeviceptr memory;
    unsigned flags;
    int active = 0;
    CUcontext of_green = NULL;
    CUgreenCtx green = green_new();
    CUstream stream = green_stream(green);
    assert_cu(0, cu->CtxFromGreenCtx_v1(&of_green, green));
    assert_cu(0, cu->CtxPushCurrent_v2(of_green));
    assert_cu(0, cu->MemAlloc_v2(&memory, 64));
    assert_cu(0, cu->CtxPopCurrent_v2(NULL));
    assert_cu(201, cu->CtxDestroy_v2(of_green));
    assert_cu(0, cu->GreenCtxDestroy_v1(green));
    assert_cu(201, cu->GreenCtxDestroy_v1(green));
    assert_cu(709, cu->StreamQuery_v1(stream));
    assert_cu(0, cu->MemsetD8_v2(memory, 1, 64));
    assert_cu(0, cu->MemFree_v2(memory));
    assert_cu(0, cu->CtxSetCurrent_v1(NULL));
    assert_cu(0, cu->DevicePrimaryCtxRelease_v1(0));
    assert_cu(0, cu->DevicePrimaryCtxGetState_v1(0, &flags, &active));
    assert_int_equal(active, 0);
    assert_cu(0, cu->DevicePrimaryCtxRetain_v1(&context, 0)); /* for the teardown */
}

TEST(test_green_context_when_its_primary_is_reset_then_lost)
{
    CUgreenCtx green = green_new();
    CUstream stream = green_stream(green);
    assert_cu(0, cu->DevicePrimaryCtxReset_v1(0));
    assert_cu(709, cu->StreamQuery_v1(stream));
    assert_cu(0, cu->GreenCtxDestroy_v1(green));
}
