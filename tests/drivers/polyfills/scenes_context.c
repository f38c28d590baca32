/* SPDX-License-Identifier: MIT */
/* Scenes: contexts, and the context of a stream. */
#include "scene.h"

#include <stdio.h>
#include <string.h>

static void print_context(const char *where, CUcontext current, const char *whom, CUcontext context)
{
    char step[64];
    CUdevice device = UNTOUCHED;
    scene_enter(current);
    CUresult result = TABLE->CtxGetDevice_v2(&device, context);
    snprintf(step, sizeof step, "device/%s/%s", where, whom);
    STEP(CtxGetDevice_v2, step, result, "device %d, current %s", (int)device, scene_current());
    result = TABLE->CtxSynchronize_v2(context);
    snprintf(step, sizeof step, "synchronize/%s/%s", where, whom);
    STEP(CtxSynchronize_v2, step, result, "current %s", scene_current());
}

void scene_context(void)
{
    const struct {
        const char *name;
        CUcontext context;
    } contexts[] = {{"none", NULL}, {"primary", stage.primary}, {"second", stage.second}};
    for (int current = 0; current < 3; current++) {
        for (int asked = 0; asked < 3; asked++)
            print_context(contexts[current].name, contexts[current].context, contexts[asked].name,
                          contexts[asked].context);
    }
    scene_enter(stage.primary);
    scene_block(stage.a);
    scene_release();
    CODE(CtxSynchronize_v2, "synchronize/after work", TABLE->CtxSynchronize_v2(stage.primary));
}

static void print_created(enum cushim_slot slot, const char *step, CUresult result, CUcontext context)
{
    unsigned int flags = UNTOUCHED;
    bool made = result == CUDA_SUCCESS;
    CUcontext current = NULL;
    MUST(TABLE->CtxGetCurrent_v1(&current));
    if (made)
        MUST(TABLE->CtxGetFlags_v1(&flags));
    scene_step(slot, step, result, "context %s, current %s, flags %u", made ? "new" : scene_name_of(context),
               made && current == context ? "the new" : scene_current(), flags);
    if (made)
        MUST(TABLE->CtxDestroy_v2(context));
    scene_enter(stage.primary);
}

static void create_v3(const char *step, CUexecAffinityParam *parameters, int count, unsigned int flags, CUdevice device)
{
    CUcontext context = UNTOUCHED_POINTER;
    CUresult result = TABLE->CtxCreate_v3(&context, parameters, count, flags, device);
    print_created(CUSHIM_SLOT_CtxCreate_v3, step, result, context);
}

static void create_v4(const char *step, CUctxCreateParams *parameters, unsigned int flags, CUdevice device)
{
    CUcontext context = UNTOUCHED_POINTER;
    CUresult result = TABLE->CtxCreate_v4(&context, parameters, flags, device);
    print_created(CUSHIM_SLOT_CtxCreate_v4, step, result, context);
}

void scene_create(void)
{
    CUexecAffinityParam affinity;
    CUctxCreateParams nothing;
    CUctxCreateParams wish;
    memset(&affinity, 0, sizeof affinity);
    memset(&nothing, 0, sizeof nothing);
    affinity.type = CU_EXEC_AFFINITY_TYPE_SM_COUNT;
    affinity.param.smCount.val = 8;
    wish = nothing;
    wish.execAffinityParams = &affinity;
    wish.numExecAffinityParams = 1;

    create_v3("v3/plain", NULL, 0, 0, stage.device);
    create_v3("v3/flags", NULL, 0, CU_CTX_SCHED_SPIN, stage.device);
    create_v3("v3/bad flags", NULL, 0, 0x8000, stage.device);
    create_v3("v3/bad device", NULL, 0, 0, 99);
    create_v3("v3/array of none", &affinity, 0, 0, stage.device);
    create_v3("v3/affinity", &affinity, 1, 0, stage.device);
    create_v3("v3/count without array", NULL, 1, 0, stage.device);
    create_v3("v3/negative count", &affinity, -1, 0, stage.device);

    create_v4("v4/plain", NULL, 0, stage.device);
    create_v4("v4/flags", NULL, CU_CTX_SCHED_SPIN, stage.device);
    create_v4("v4/bad flags", NULL, 0x8000, stage.device);
    create_v4("v4/bad device", NULL, 0, 99);
    create_v4("v4/empty", &nothing, 0, stage.device);
    create_v4("v4/affinity", &wish, 0, stage.device);
    wish.execAffinityParams = NULL;
    create_v4("v4/count without array", &wish, 0, stage.device);
}

static void print_primary(enum cushim_slot slot, const char *step, CUresult result)
{
    unsigned int flags = UNTOUCHED;
    int active = UNTOUCHED;
    MUST(TABLE->DevicePrimaryCtxGetState_v1(stage.device, &flags, &active));
    scene_step(slot, step, result, "flags %u, active %d, current %s", flags, active, scene_current());
}

static void set_flags(const char *step, unsigned int flags)
{
    print_primary(CUSHIM_SLOT_DevicePrimaryCtxSetFlags_v2, step,
                  TABLE->DevicePrimaryCtxSetFlags_v2(stage.device, flags));
}

static void release(const char *step)
{
    print_primary(CUSHIM_SLOT_DevicePrimaryCtxRelease_v2, step, TABLE->DevicePrimaryCtxRelease_v2(stage.device));
}

void scene_primary(void)
{
    CUcontext context;
    MUST(TABLE->DevicePrimaryCtxRetain_v1(&context, stage.device));
    release("release/one of two");
    CODE(DevicePrimaryCtxRelease_v2, "release/bad device", TABLE->DevicePrimaryCtxRelease_v2(99));
    CODE(DevicePrimaryCtxSetFlags_v2, "flags/bad device", TABLE->DevicePrimaryCtxSetFlags_v2(99, 0));
    set_flags("flags/unknown", 0x8000);
    set_flags("flags/others while active", CU_CTX_SCHED_SPIN);
}

/* Destroys the primary context and with it the common objects. */
void scene_primary_end(void)
{
    scene_enter(NULL);
    release("release/the last");
    release("release/one too many");
    set_flags("flags/inactive", CU_CTX_SCHED_BLOCKING_SYNC);
    set_flags("flags/inactive, unknown", 0x8000);
    MUST(TABLE->DevicePrimaryCtxRetain_v1(&stage.primary, stage.device));
    scene_name(stage.primary, "primary");
    set_flags("flags/the same while active", CU_CTX_SCHED_BLOCKING_SYNC);
    release("release/the last again");
    MUST(TABLE->DevicePrimaryCtxRetain_v1(&stage.primary, stage.device));
}

/* The context and the device of a stream. */

static void print_stream_context(const char *where, const char *whom, CUstream stream)
{
    char step[64];
    CUdevice device = UNTOUCHED;
    CUcontext context = UNTOUCHED_POINTER;
    CUgreenCtx green = UNTOUCHED_POINTER;
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)UNTOUCHED;

    CUresult result = TABLE->StreamGetDevice_v1(stream, &device);
    snprintf(step, sizeof step, "device/%s/%s", where, whom);
    STEP(StreamGetDevice_v1, step, result, "device %d, current %s", (int)device, scene_current());

    result = TABLE->StreamGetCtx_v2(stream, &context, &green);
    snprintf(step, sizeof step, "context/%s/%s", where, whom);
    STEP(StreamGetCtx_v2, step, result, "context %s, green %s, current %s", scene_name_of(context),
         scene_name_of(green), scene_current());

    result = TABLE->StreamIsCapturing_v1(stream, &status);
    snprintf(step, sizeof step, "capturing/%s/%s", where, whom);
    STEP(StreamIsCapturing_v1, step, result, "status %d, current %s", (int)status, scene_current());
}

void scene_stream(void)
{
    const struct {
        const char *name;
        CUcontext context;
    } contexts[] = {{"none", NULL}, {"primary", stage.primary}, {"second", stage.second}};
    const struct {
        const char *name;
        CUstream stream;
    } streams[] = {{"a", stage.a}, {"blocking", stage.blocking}, {"0", NULL}, {"1", (CUstream)1}, {"2", (CUstream)2}};
    for (int context = 0; context < 3; context++) {
        for (int stream = 0; stream < 5; stream++) {
            scene_enter(contexts[context].context);
            print_stream_context(contexts[context].name, streams[stream].name, streams[stream].stream);
        }
    }
}

static bool create_green(CUgreenCtx *green)
{
    CUdevResource all;
    CUdevResource some;
    CUdevResourceDesc description;
    unsigned int groups = 1;
    return TABLE->DeviceGetDevResource_v1(stage.device, &all, CU_DEV_RESOURCE_TYPE_SM) == CUDA_SUCCESS
           && TABLE->DevSmResourceSplitByCount_v1(&some, &groups, &all, NULL, 0, 8) == CUDA_SUCCESS
           && TABLE->DevResourceGenerateDesc_v1(&description, &some, 1) == CUDA_SUCCESS
           && TABLE->GreenCtxCreate_v1(green, description, stage.device, CU_GREEN_CTX_DEFAULT_STREAM) == CUDA_SUCCESS;
}

void scene_green(void)
{
    CUgreenCtx green;
    CUstream stream;
    CUcontext context = NULL;
    if (!create_green(&green)
        || TABLE->GreenCtxStreamCreate_v1(&stream, green, CU_STREAM_NON_BLOCKING, 0) != CUDA_SUCCESS)
        return;
    scene_name(green, "green");
    print_stream_context("primary", "green's", stream);
    scene_enter(NULL);
    print_stream_context("none", "green's", stream);
    MUST(TABLE->CtxFromGreenCtx_v1(&context, green));
    scene_name(context, "green as context");
    scene_enter(context);
    print_stream_context("green", "green's", stream);
    print_stream_context("green", "0", NULL);
    print_stream_context("green", "a", stage.a);
    print_context("green", context, "none", NULL);
    print_context("primary", stage.primary, "green", context);
    scene_enter(stage.primary);
    MUST(TABLE->StreamDestroy_v2(stream));
}
