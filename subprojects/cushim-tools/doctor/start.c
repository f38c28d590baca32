/* SPDX-License-Identifier: MIT */
#include "start.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "cushim/cushim.h"

const char *start_call(enum start_step step)
{
    static const char *const calls[] = {"cuInit",     "cuDeviceGetCount", "cuCtxCreate",
                                        "cuMemAlloc", "cuStreamCreate",   "cuCtxDestroy"};
    return calls[step];
}

struct start *start_create(const char *root)
{
    struct start *start = child_memory_create(sizeof(struct start));
    if (start != NULL)
        start->root = root;
    return start;
}

void start_destroy(struct start *start)
{
    if (start != NULL)
        child_memory_destroy(start, sizeof *start);
}

/* ---- The work of the child ---- */

static bool has_slots(void)
{
    static const enum cushim_slot needed[] = {CUSHIM_SLOT_CtxCreate_v2, CUSHIM_SLOT_MemAlloc_v2,
                                              CUSHIM_SLOT_StreamCreate_v1};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (cushim_slot_get_state(needed[i], CUSHIM_DEFAULT_STREAM_LEGACY) == CUSHIM_STATE_MISSING)
            return false;
    }
    return true;
}

/* Makes a context, allocates and creates a stream, and removes them again. */
static void gpu_use(struct start *start, int ordinal)
{
    enum { BYTES = 4096 };
    const struct cushim_dispatch_table *cuda = cushim_table_legacy();
    struct start_gpu *gpu = &start->gpus[ordinal];
    CUdevice device = 0;
    CUcontext context = NULL;
    CUdeviceptr memory = 0;
    CUstream stream = NULL;
    start->step = gpu->step = START_CONTEXT;
    gpu->code = cuda->DeviceGet_v1(&device, ordinal);
    if (gpu->code == CUDA_SUCCESS)
        gpu->code = cuda->CtxCreate_v2(&context, 0, device);
    if (gpu->code != CUDA_SUCCESS)
        return;
    start->step = gpu->step = START_MEMORY;
    gpu->code = cuda->MemAlloc_v2(&memory, BYTES);
    if (gpu->code == CUDA_SUCCESS) {
        start->step = gpu->step = START_STREAM;
        gpu->code = cuda->StreamCreate_v1(&stream, 0);
        if (gpu->code == CUDA_SUCCESS)
            cuda->StreamDestroy_v2(stream);
        cuda->MemFree_v2(memory);
    }
    if (gpu->code == CUDA_SUCCESS)
        start->step = START_DESTROY;
    cuda->CtxDestroy_v2(context);
    if (gpu->code == CUDA_SUCCESS)
        gpu->step = START_STEPS;
}

static void device_describe(struct start_gpu *gpu, int ordinal)
{
    const struct cushim_dispatch_table *cuda = cushim_table_legacy();
    CUdevice device;
    gpu->step = START_STEPS;
    gpu->name = devices_name(ordinal);
    if (cuda->DeviceGet_v1(&device, ordinal) != CUDA_SUCCESS)
        return;
    if (cuda->DeviceGetPCIBusId_v1(gpu->bus_id, (int)sizeof gpu->bus_id, device) != CUDA_SUCCESS)
        gpu->bus_id[0] = '\0';
    if (cuda->DeviceGetAttribute_v1(&gpu->compute_mode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, device) != CUDA_SUCCESS)
        gpu->compute_mode = CU_COMPUTEMODE_DEFAULT;
}

/* The library looks for the cause, which does not belong to the start. */
static void start_fail(struct start *start, enum start_step step, CUresult code)
{
    start->outcome = START_FAILED;
    start->step = step;
    start->code = code;
    start->is_over = true;
    if (step != START_INIT)
        return;
    (void)cushim_error_set_driver(code, CUSHIM_SLOT_Init_v1); /* with what the driver says about the failure */
    start->explanation = driver_explanation();
    struct os_obstacle cause = cush_cause_find(start->root, cushim_diagnosis_get()->path, code, false);
    start->reason = cause.reason;
    snprintf(start->message, sizeof start->message, "%s", cause.message);
}

#if defined(_WIN32)
static void variables_remove(const char *names)
{
    (void)names;
}
#else
static void variables_remove(const char *names)
{
    char name[64];
    while (text_next_item(&names, " ", name, sizeof name))
        unsetenv(name);
}
#endif

void start_work(void *memory)
{
    struct start *start = memory;
    if (start->without != NULL)
        variables_remove(start->without);
    start->step = START_INIT;
    start->is_complete = has_slots();
    /* The slot would look for the cause before this process can say that the start is over. */
    union {
        platform_fn found;
        CUresult(CUDAAPI *init)(unsigned);
    } own = {platform_symbol(cushim_diagnosis_get()->path, "cuInit")};
    CUresult code = own.init != NULL ? own.init(0) : CUDA_SUCCESS;
    if (code == CUDA_SUCCESS) /* of a layer, or hidden */
        code = cushim_table_legacy()->Init_v1(0);
    if (code != CUDA_SUCCESS) {
        start_fail(start, START_INIT, code);
        return;
    }
    int count = 0;
    start->step = START_COUNT;
    code = cushim_table_legacy()->DeviceGetCount_v1(&count);
    start->gpu_count = code == CUDA_SUCCESS && count < MAX_GPUS ? count : code == CUDA_SUCCESS ? MAX_GPUS : 0;
    if (start->gpu_count == 0) {
        start_fail(start, START_COUNT, code);
        return;
    }
    for (int i = 0; i < start->gpu_count; i++)
        device_describe(&start->gpus[i], i);
    start->outcome = START_WORKS;
    for (int i = 0; i < start->gpu_count && start->is_complete; i++) {
        gpu_use(start, i);
        if (start->gpus[i].code != CUDA_SUCCESS && start->outcome == START_WORKS)
            start_fail(start, start->gpus[i].step, start->gpus[i].code);
    }
}

/* ---- The parent ---- */

void start_end(struct start *start, struct child *child)
{
    bool has_ended = child_has_ended(child);
    if (start->child.has_ended || start->is_over) { /* what a driver does after its failure does not matter */
        if (!has_ended)
            start->still_there = !child_stop(child);
    } else if (has_ended) {
        start->outcome = START_CRASHED;
        start->signal = child->signal;
    } else {
        start->outcome = START_STUCK;
        start->state = child_describe(child);
        start->still_there = !child_stop(child);
    }
}

void start_say_waiting(int seconds)
{
    text_complain("the driver is still starting; waiting for at most %d seconds (--timeout)", seconds);
}

void start_run(struct start *start, int seconds)
{
    start->child.may_begin = start->child.is_quiet = true;
    struct child child = child_start(start_work, start);
    if (child.error != 0 && start->without != NULL)
        return;
    if (child.error != 0) {
        start->in_this_process = true;
        start->error = child.error;
        start_work(start);
        return;
    }
    if (!child_wait(&child, (seconds < START_SOON ? seconds : START_SOON) * 1000) && seconds > START_SOON) {
        start_say_waiting(seconds);
        child_wait(&child, (seconds - START_SOON) * 1000);
    }
    start_end(start, &child);
}
