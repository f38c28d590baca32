/* SPDX-License-Identifier: MIT */
/*
 * first_use.c - the first program that a newcomer writes: cushim_init(), a stream, and a capture of it that is
 * launched. Prints the sentence and the advice of the diagnosis, the slots by their state, and the status of each step.
 */
#include <stdio.h>

#include "cushim.h"

enum { SIZE = 16 };

static int report(const char *step, CUresult result)
{
    const char *name = NULL;
    CUSHIM_CALL(GetErrorName_v1, result, &name);
    printf("%s: %s\n", step, name != NULL ? name : "?");
    return result != CUDA_SUCCESS;
}

static void print_slots(enum cushim_slot_state state, const char *title)
{
    struct cushim_slot_info slot;
    int count = 0;
    printf("%s:", title);
    for (int i = 0; i < CUSHIM_SLOT_COUNT; i++) {
        if (cushim_slot_get_info((enum cushim_slot)i, CUSHIM_DEFAULT_STREAM_AS_COMPILED, &slot) != CUDA_SUCCESS
            || slot.state != state)
            continue;
        count++;
        printf(" %s", slot.name);
    }
    printf(" (%d)\n", count);
}

struct work {
    CUdeviceptr memory;
    CUstream stream;
    int calls;
};

static void CUDA_CB count_call(void *user)
{
    ++*(int *)user;
}

static CUresult fill(struct work *work)
{
    CUresult result = CUSHIM_CALL(MemsetD8Async_v1, work->memory, 7, SIZE, work->stream);
    if (result == CUDA_SUCCESS)
        result = CUSHIM_CALL(LaunchHostFunc_v1, work->stream, count_call, &work->calls);
    return result;
}

static CUresult capture(struct work *work, CUgraphExec *graph_exec)
{
    CUgraph graph = NULL;
    CUresult result = CUSHIM_CALL(StreamBeginCapture_v2, work->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    if (result != CUDA_SUCCESS)
        return result;
    CUresult filled = fill(work);
    result = CUSHIM_CALL(StreamEndCapture_v1, work->stream, &graph);
    if (filled == CUDA_SUCCESS && result == CUDA_SUCCESS)
        result = CUSHIM_CALL(GraphInstantiateWithFlags_v1, graph_exec, graph, 0);
    if (graph != NULL)
        CUSHIM_CALL(GraphDestroy_v1, graph);
    return filled != CUDA_SUCCESS ? filled : result;
}

static int is_done(struct work *work)
{
    unsigned char bytes[SIZE] = {0};
    int right = CUSHIM_CALL(MemcpyDtoHAsync_v2, bytes, work->memory, SIZE, work->stream) == CUDA_SUCCESS
                && CUSHIM_CALL(StreamSynchronize_v1, work->stream) == CUDA_SUCCESS && work->calls == 1;
    for (int i = 0; i < SIZE; i++)
        right = right && bytes[i] == 7;
    return right;
}

static int use_gpu(void)
{
    struct work work = {0, NULL, 0};
    CUdevice device;
    CUcontext context;
    CUgraphExec graph = NULL;
    if (report("device", CUSHIM_CALL(DeviceGet_v1, &device, 0))
        || report("context", CUSHIM_CALL(CtxCreate_v2, &context, 0, device))
        || report("memory", CUSHIM_CALL(MemAlloc_v2, &work.memory, SIZE))
        || report("stream", CUSHIM_CALL(StreamCreate_v1, &work.stream, CU_STREAM_NON_BLOCKING)))
        return 1;
    CUresult captured = capture(&work, &graph);
    if (report("capture", captured))
        printf("  %s\n", cushim_error_last()->message);
    if (report("work", graph != NULL ? CUSHIM_CALL(GraphLaunch_v1, graph, work.stream) : fill(&work)))
        return 1;
    int done = is_done(&work);
    if (graph != NULL)
        CUSHIM_CALL(GraphExecDestroy_v1, graph);
    CUSHIM_CALL(StreamDestroy_v2, work.stream);
    CUSHIM_CALL(MemFree_v2, work.memory);
    CUSHIM_CALL(CtxDestroy_v2, context);
    printf("result: %s by a %s\n", done ? "right" : "WRONG", graph != NULL ? "graph" : "stream");
    return !done;
}

int main(void)
{
    CUresult result = cushim_init();
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    printf("sentence: %s\n", result == CUDA_SUCCESS ? "The driver is usable." : diagnosis->message);
    printf("advice: %s\n", result == CUDA_SUCCESS ? "" : diagnosis->advice);
    int failed = report("status", result);
    print_slots(CUSHIM_STATE_NATIVE, "native");
    print_slots(CUSHIM_STATE_POLYFILL, "polyfill");
    print_slots(CUSHIM_STATE_ADAPTED, "adapted");
    print_slots(CUSHIM_STATE_MISSING, "missing");
    return failed ? 0 : use_gpu();
}
