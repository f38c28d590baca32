/* SPDX-License-Identifier: MIT */
#include "run_steps.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "driver.h"
#include "platform.h"
#include "run_kernel.h"

enum { COUNT = 1 << 18, HALF = COUNT / 2, BYTES = COUNT * 4, LAUNCHES = 100 };

struct pipeline {
    struct step *step; /* the current step */
    CUcontext context;
    CUstream one, two;
    CUevent forked, joined;
    CUdeviceptr numbers; /* COUNT numbers on the device */
    unsigned *in, *out;  /* and in pinned host memory */
    struct run_kernel kernel;
    CUgraphExec executable;
    /* The results of the host function; read after the stream was synchronised. */
    unsigned first; /* `in` has this number and those after it */
    unsigned calls, correct;
};

CUSHIM_PRINTF(2, 3)
static void set_message(struct pipeline *pipeline, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(pipeline->step->message, sizeof pipeline->step->message, format, arguments);
    va_end(arguments);
}

/* Whether a call succeeded. If not, the step ends. */
static bool step_succeeded(struct pipeline *pipeline, const char *function, CUresult result)
{
    if (result == CUDA_SUCCESS)
        return true;
    const struct cushim_error *error = cushim_last_error();
    if (result == CUDA_ERROR_NOT_SUPPORTED && error->code == result) {
        pipeline->step->outcome = STEP_SKIPPED;
        set_message(pipeline, "%s", error->message);
    } else {
        pipeline->step->outcome = STEP_FAILED;
        set_message(pipeline, "%s returned %s (%d)", function, driver_code_name(result), (int)result);
    }
    return false;
}

static bool pipeline_check(struct pipeline *pipeline, bool condition, const char *failure)
{
    if (condition)
        return true;
    pipeline->step->outcome = STEP_FAILED;
    set_message(pipeline, "%s", failure);
    return false;
}

static void numbers_fill(unsigned *numbers, unsigned first)
{
    for (unsigned i = 0; i < COUNT; i++)
        numbers[i] = first + i;
}

static bool are_results(const struct pipeline *pipeline, const unsigned *numbers, unsigned first)
{
    for (unsigned i = 0; i < COUNT; i++)
        if (numbers[i] != run_kernel_result(&pipeline->kernel, first + i))
            return false;
    return true;
}

/* Runs after the copy to `out`, on a thread of the driver. Writes the next input, so that all launches differ. */
static void CUDA_CB check_results_and_advance(void *user)
{
    struct pipeline *pipeline = user;
    pipeline->calls++;
    pipeline->correct += are_results(pipeline, pipeline->out, pipeline->first);
    numbers_fill(pipeline->in, ++pipeline->first);
}

static void pipeline_begin(struct pipeline *pipeline)
{
    pipeline->calls = pipeline->correct = pipeline->first = 0;
    numbers_fill(pipeline->in, 0);
    for (unsigned i = 0; i < COUNT; i++)
        pipeline->out[i] = 0;
}

/* Primary contexts came with CUDA 7.0. */
static bool make_context(struct pipeline *pipeline)
{
    const struct cushim_dispatch_table *cuda = cushim_table_legacy();
    if (cushim_driver_version() < 7000)
        return step_succeeded(pipeline, "cuCtxCreate", cuda->CtxCreate_v2(&pipeline->context, 0, 0));
    return step_succeeded(pipeline, "cuDevicePrimaryCtxRetain", cuda->DevicePrimaryCtxRetain_v1(&pipeline->context, 0))
           && step_succeeded(pipeline, "cuCtxSetCurrent", cuda->CtxSetCurrent_v1(pipeline->context));
}

static void pipeline_start(struct pipeline *pipeline)
{
    const struct cushim_dispatch_table *cuda = cushim_table_legacy();
    void *in = NULL, *out = NULL;
    if (!make_context(pipeline)
        || !step_succeeded(pipeline, "cuStreamCreate", cuda->StreamCreate_v1(&pipeline->one, CU_STREAM_NON_BLOCKING))
        || !step_succeeded(pipeline, "cuStreamCreate", cuda->StreamCreate_v1(&pipeline->two, CU_STREAM_NON_BLOCKING))
        || !step_succeeded(pipeline, "cuEventCreate", cuda->EventCreate_v1(&pipeline->forked, CU_EVENT_DISABLE_TIMING))
        || !step_succeeded(pipeline, "cuEventCreate", cuda->EventCreate_v1(&pipeline->joined, CU_EVENT_DISABLE_TIMING))
        || !step_succeeded(pipeline, "cuMemAlloc", cuda->MemAlloc_v2(&pipeline->numbers, BYTES))
        || !step_succeeded(pipeline, "cuMemAllocHost", cuda->MemAllocHost_v2(&in, BYTES))
        || !step_succeeded(pipeline, "cuMemAllocHost", cuda->MemAllocHost_v2(&out, BYTES)))
        return;
    pipeline->in = in;
    pipeline->out = out;
    set_message(pipeline, "created a context, two streams, two events, %d MiB of device memory", BYTES >> 20);
}

static void copy_in(struct pipeline *pipeline)
{
    const struct cushim_dispatch_table *cuda = cushim_table_legacy();
    pipeline_begin(pipeline);
    if (!step_succeeded(pipeline, "cuMemcpyHtoDAsync",
                        cuda->MemcpyHtoDAsync_v2(pipeline->numbers, pipeline->in, BYTES, pipeline->one))
        || !step_succeeded(pipeline, "cuStreamSynchronize", cuda->StreamSynchronize_v1(pipeline->one))
        || !step_succeeded(pipeline, "cuMemcpyDtoH", cuda->MemcpyDtoH_v2(pipeline->out, pipeline->numbers, BYTES)))
        return;
    for (unsigned i = 0; i < COUNT; i++)
        if (!pipeline_check(pipeline, pipeline->out[i] == i, "the device memory differs from what was copied to it"))
            return;
    set_message(pipeline, "copied %d numbers to the device", COUNT);
}

static void launch_kernel(struct pipeline *pipeline)
{
    const struct cushim_dispatch_table *cuda = cushim_table_legacy();
    pipeline->kernel = run_kernel_load();
    if (!step_succeeded(pipeline, "cuLaunchKernel",
                        run_kernel_launch(&pipeline->kernel, pipeline->numbers, COUNT, pipeline->one))
        || !step_succeeded(pipeline, "cuStreamSynchronize", cuda->StreamSynchronize_v1(pipeline->one)))
        return;
    if (pipeline->kernel.function != NULL)
        set_message(pipeline, "replaced each number n by 2 n + 1");
    else
        set_message(pipeline, "used a memset instead, because loading the kernel returned %s (%d)",
                    driver_code_name(pipeline->kernel.result), (int)pipeline->kernel.result);
}

static void copy_out(struct pipeline *pipeline)
{
    const struct cushim_dispatch_table *cuda = cushim_table_legacy();
    if (step_succeeded(pipeline, "cuMemcpyDtoHAsync",
                       cuda->MemcpyDtoHAsync_v2(pipeline->out, pipeline->numbers, BYTES, pipeline->one))
        && step_succeeded(pipeline, "cuStreamSynchronize", cuda->StreamSynchronize_v1(pipeline->one))
        && pipeline_check(pipeline, are_results(pipeline, pipeline->out, 0),
                          "a number is not the expected result of the kernel"))
        set_message(pipeline, "copied %d numbers back; all results are correct", COUNT);
}

static void host_function(struct pipeline *pipeline)
{
    const struct cushim_dispatch_table *cuda = cushim_table_legacy();
    pipeline_begin(pipeline);
    if (!step_succeeded(pipeline, "cuMemcpyDtoHAsync",
                        cuda->MemcpyDtoHAsync_v2(pipeline->out, pipeline->numbers, BYTES, pipeline->one))
        || !step_succeeded(pipeline, "cuLaunchHostFunc",
                           cuda->LaunchHostFunc_v1(pipeline->one, check_results_and_advance, pipeline))
        || !step_succeeded(pipeline, "cuStreamSynchronize", cuda->StreamSynchronize_v1(pipeline->one))
        || !pipeline_check(pipeline, pipeline->calls == 1, "it was not called exactly once")
        || !pipeline_check(pipeline, pipeline->correct == 1, "it was called before the preceding copy was done"))
        return;
    set_message(pipeline, "called once, after the copy, on a thread of the driver");
}

/* Enqueues the whole pipeline: copy in, a kernel for each half in its own stream, copy out, and the check. */
static bool pipeline_submit(struct pipeline *pipeline)
{
    const struct cushim_dispatch_table *cuda = cushim_table_legacy();
    CUdeviceptr second_half = pipeline->numbers + BYTES / 2;
    return step_succeeded(pipeline, "cuMemcpyHtoDAsync",
                          cuda->MemcpyHtoDAsync_v2(pipeline->numbers, pipeline->in, BYTES, pipeline->one))
           && step_succeeded(pipeline, "cuEventRecord", cuda->EventRecord_v1(pipeline->forked, pipeline->one))
           && step_succeeded(pipeline, "cuStreamWaitEvent",
                             cuda->StreamWaitEvent_v1(pipeline->two, pipeline->forked, 0))
           && step_succeeded(pipeline, "cuLaunchKernel",
                             run_kernel_launch(&pipeline->kernel, pipeline->numbers, HALF, pipeline->one))
           && step_succeeded(pipeline, "cuLaunchKernel",
                             run_kernel_launch(&pipeline->kernel, second_half, HALF, pipeline->two))
           && step_succeeded(pipeline, "cuEventRecord", cuda->EventRecord_v1(pipeline->joined, pipeline->two))
           && step_succeeded(pipeline, "cuStreamWaitEvent",
                             cuda->StreamWaitEvent_v1(pipeline->one, pipeline->joined, 0))
           && step_succeeded(pipeline, "cuMemcpyDtoHAsync",
                             cuda->MemcpyDtoHAsync_v2(pipeline->out, pipeline->numbers, BYTES, pipeline->one))
           && step_succeeded(pipeline, "cuLaunchHostFunc",
                             cuda->LaunchHostFunc_v1(pipeline->one, check_results_and_advance, pipeline));
}

static void fork_and_join(struct pipeline *pipeline)
{
    const struct cushim_dispatch_table *cuda = cushim_table_legacy();
    pipeline_begin(pipeline);
    if (pipeline_submit(pipeline)
        && step_succeeded(pipeline, "cuStreamSynchronize", cuda->StreamSynchronize_v1(pipeline->one))
        && pipeline_check(pipeline, pipeline->calls == 1 && pipeline->correct == 1,
                          "the results of the two streams are incorrect"))
        set_message(pipeline, "computed half of the numbers in each of two streams, joined by events");
}

static void capture_graph(struct pipeline *pipeline)
{
    const struct cushim_dispatch_table *cuda = cushim_table_legacy();
    enum { NODES = 5 }; /* copy, kernel, kernel, copy, host function; events become edges */
    CUgraph graph = NULL;
    size_t nodes = 0;
    pipeline_begin(pipeline);
    if (!step_succeeded(pipeline, "cuStreamBeginCapture",
                        cuda->StreamBeginCapture_v2(pipeline->one, CU_STREAM_CAPTURE_MODE_RELAXED)))
        return;
    bool submitted = pipeline_submit(pipeline);
    CUresult result = cuda->StreamEndCapture_v1(pipeline->one, &graph);
    if (submitted && step_succeeded(pipeline, "cuStreamEndCapture", result)
        && step_succeeded(pipeline, "cuGraphGetNodes", cuda->GraphGetNodes_v1(graph, NULL, &nodes))
        && step_succeeded(pipeline, "cuGraphInstantiateWithFlags",
                          cuda->GraphInstantiateWithFlags_v1(&pipeline->executable, graph, 0))
        && pipeline_check(pipeline, nodes == NODES, "the graph has an unexpected number of nodes")
        && pipeline_check(pipeline, pipeline->calls == 0, "the host function was called during the capture"))
        set_message(pipeline, "captured the same work as a graph of %d nodes; nothing was executed", NODES);
    if (graph != NULL && pipeline->step->outcome == STEP_PASSED)
        (void)step_succeeded(pipeline, "cuGraphDestroy", cuda->GraphDestroy_v1(graph));
}

static void launch_graph(struct pipeline *pipeline)
{
    const struct cushim_dispatch_table *cuda = cushim_table_legacy();
    if (pipeline->executable == NULL) {
        pipeline->step->outcome = STEP_SKIPPED;
        set_message(pipeline, "there is no graph to launch");
        return;
    }
    pipeline_begin(pipeline);
    for (int i = 0; i < LAUNCHES; i++)
        if (!step_succeeded(pipeline, "cuGraphLaunch", cuda->GraphLaunch_v1(pipeline->executable, pipeline->one)))
            return;
    if (step_succeeded(pipeline, "cuStreamSynchronize", cuda->StreamSynchronize_v1(pipeline->one))
        && pipeline_check(pipeline, pipeline->calls == LAUNCHES,
                          "the host function was not called once for each launch")
        && pipeline_check(pipeline, pipeline->correct == LAUNCHES, "the results of a launch are incorrect"))
        set_message(pipeline, "launched the graph %d times with different numbers; all results are correct", LAUNCHES);
}

static void pipeline_end(struct pipeline *pipeline)
{
    const struct cushim_dispatch_table *cuda = cushim_table_legacy();
    if ((pipeline->executable != NULL
         && !step_succeeded(pipeline, "cuGraphExecDestroy", cuda->GraphExecDestroy_v1(pipeline->executable)))
        || !step_succeeded(pipeline, "cuModuleUnload", run_kernel_unload(&pipeline->kernel))
        || !step_succeeded(pipeline, "cuMemFreeHost", cuda->MemFreeHost_v1(pipeline->in))
        || !step_succeeded(pipeline, "cuMemFreeHost", cuda->MemFreeHost_v1(pipeline->out))
        || !step_succeeded(pipeline, "cuMemFree", cuda->MemFree_v2(pipeline->numbers))
        || !step_succeeded(pipeline, "cuEventDestroy", cuda->EventDestroy_v2(pipeline->forked))
        || !step_succeeded(pipeline, "cuEventDestroy", cuda->EventDestroy_v2(pipeline->joined))
        || !step_succeeded(pipeline, "cuStreamDestroy", cuda->StreamDestroy_v2(pipeline->one))
        || !step_succeeded(pipeline, "cuStreamDestroy", cuda->StreamDestroy_v2(pipeline->two)))
        return;
    if (cushim_driver_version() < 7000
            ? step_succeeded(pipeline, "cuCtxDestroy", cuda->CtxDestroy_v2(pipeline->context))
            : step_succeeded(pipeline, "cuDevicePrimaryCtxRelease", cuda->DevicePrimaryCtxRelease_v2(0)))
        set_message(pipeline, "released everything");
}

void run_steps(void (*report)(const struct step *step, void *user), void *user)
{
    static const struct {
        const char *name;
        void (*run)(struct pipeline *pipeline);
        bool optional; /* skipped if the driver is too old */
    } steps[] = {
        {"start", pipeline_start, false},
        {"copy in", copy_in, false},
        {"kernel", launch_kernel, false},
        {"copy out", copy_out, false},
        {"host function", host_function, false},
        {"fork and join", fork_and_join, false},
        {"capture", capture_graph, true},
        {"launches", launch_graph, true},
        {"end", pipeline_end, false},
    };
    /* Static, because a step that fails can leave work behind: host functions may run until the program exits. */
    static struct pipeline pipeline;
    struct step step = {.outcome = STEP_PASSED};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && step.outcome != STEP_FAILED; i++) {
        step = (struct step){.name = steps[i].name, .outcome = STEP_PASSED};
        pipeline.step = &step;
        long long before = platform_microseconds();
        steps[i].run(&pipeline);
        if (step.outcome == STEP_SKIPPED && !steps[i].optional)
            step.outcome = STEP_FAILED;
        step.microseconds = platform_microseconds() - before;
        report(&step, user);
    }
}
