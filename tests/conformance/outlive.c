/* SPDX-License-Identifier: MIT */
/*
 * Events that outlive their context. The manual forbids their use. Streams are not tested: driver 580 crashes with them
 * or returns 709, at random.
 */
#include "fixture.h"

static void use_event(CUevent event)
{
    expect("query", cu->EventQuery_v1(event), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    expect("synchronize", cu->EventSynchronize_v1(event), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    expect("destroy", cu->EventDestroy_v2(disown(event)), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

CHECK(destroyed, "outlive.destroyed", .needs = {S(CtxDestroy_v2)})
{
    CUcontext current = NULL;
    CUcontext second = context_second();
    CUevent event = event_new();
    expect("code", cu->CtxDestroy_v2(disown(second)), CUDA_SUCCESS);
    require("current", cu->CtxGetCurrent_v1(&current));
    expect_true("popped", current == the_context);
    use_event(event);
}

CHECK(reset, "outlive.reset", .flags = CHECK_ALONE, .needs = {S(DevicePrimaryCtxReset_v1)})
{
    CUevent event = event_new();
    expect("code", cu->DevicePrimaryCtxReset_v1(the_device), CUDA_SUCCESS);
    use_event(event);
}

CHECK(released, "outlive.released", .flags = CHECK_ALONE, .needs = {S(DevicePrimaryCtxRelease_v1)})
{
    CUevent event = event_new();
    expect("code", cu->DevicePrimaryCtxRelease_v1(the_device), CUDA_SUCCESS);
    use_event(event);
}
