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
    struct step *step; /* the one under way */
    CUcontext context;
    CUstream one, two;
    CUevent forked, joined;
    CUdeviceptr numbers; /* COUNT of them, on the device */
    unsigned *in, *out;  /* and in host memory that the device can reach */
    struct run_kernel kernel;
    CUgraphExec executable;
    /* What the host function finds; read when the stream is done. */
    unsigned first; /* `in` holds this number and those after it */
    unsigned calls, right;
};

/* ---- What steps say ---- */

CUSHIM_PRINTF(2, 3)
static void say(struct pipeline *pipeline, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(pipeline->step->words, sizeof pipeline->step->words, format, arguments);
    va_end(arguments);
}

/* Whether the call succeeded; if not, that is the end of this step. */
static bool done(struct pipeline *pipeline, const char *function, CUresult result)
{
    if (result == CUDA_SUCCESS)
        return true;
    const struct cushim_error *error = cushim_last_error();
    if (result == CUDA_ERROR_NOT_SUPPORTED && error->code == result) {
        pipeline->step->outcome = STEP_SKIPPED;
        say(pipeline, "%s", error->message);
    } else {
        pipeline->step->outcome = STEP_WRONG;
        say(pipeline, "%s said %s (%d)", function, driver_code_name(result), (int)result);
    }
    return false;
}

static bool holds(struct pipeline *pipeline, bool fact, const char *otherwise)
{
    if (fact)
        return true;
    pipeline->step->outcome = STEP_WRONG;
    say(pipeline, "%s", otherwise);
    return false;
}

/* ---- Numbers ---- */

static void fill(unsigned *numbers, unsigned first)
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

/* Runs behind the copy to `out`, on a thread of the driver's; then makes the next input, so that no two launches are
 * alike. */
static void CUDA_CB check_and_go_on(void *user)
{
    struct pipeline *pipeline = user;
    pipeline->calls++;
    pipeline->right += are_results(pipeline, pipeline->out, pipeline->first);
    fill(pipeline->in, ++pipeline->first);
}

static void begin(struct pipeline *pipeline)
{
    pipeline->calls = pipeline->right = pipeline->first = 0;
    fill(pipeline->in, 0);
    for (unsigned i = 0; i < COUNT; i++)
        pipeline->out[i] = 0;
}

/* ---- The steps ---- */

/* Primary contexts came with CUDA 7.0. */
static bool make_context(struct pipeline *pipeline)
{
    const struct cushim_dispatch_table *cuda = cushim_table();
    if (cushim_driver_version() < 7000)
        return done(pipeline, "cuCtxCreate", cuda->CtxCreate_v2(&pipeline->context, 0, 0));
    return done(pipeline, "cuDevicePrimaryCtxRetain", cuda->DevicePrimaryCtxRetain_v1(&pipeline->context, 0))
           && done(pipeline, "cuCtxSetCurrent", cuda->CtxSetCurrent_v1(pipeline->context));
}

static void start(struct pipeline *pipeline)
{
    const struct cushim_dispatch_table *cuda = cushim_table();
    void *in = NULL, *out = NULL;
    if (!make_context(pipeline)
        || !done(pipeline, "cuStreamCreate", cuda->StreamCreate_v1(&pipeline->one, CU_STREAM_NON_BLOCKING))
        || !done(pipeline, "cuStreamCreate", cuda->StreamCreate_v1(&pipeline->two, CU_STREAM_NON_BLOCKING))
        || !done(pipeline, "cuEventCreate", cuda->EventCreate_v1(&pipeline->forked, CU_EVENT_DISABLE_TIMING))
        || !done(pipeline, "cuEventCreate", cuda->EventCreate_v1(&pipeline->joined, CU_EVENT_DISABLE_TIMING))
        || !done(pipeline, "cuMemAlloc", cuda->MemAlloc_v2(&pipeline->numbers, BYTES))
        || !done(pipeline, "cuMemAllocHost", cuda->MemAllocHost_v2(&in, BYTES))
        || !done(pipeline, "cuMemAllocHost", cuda->MemAllocHost_v2(&out, BYTES)))
        return;
    pipeline->in = in;
    pipeline->out = out;
    say(pipeline, "a context, two streams, two events, %d MiB of device memory", BYTES >> 20);
}

static void copy_in(struct pipeline *pipeline)
{
    const struct cushim_dispatch_table *cuda = cushim_table();
    begin(pipeline);
    if (!done(pipeline, "cuMemcpyHtoDAsync",
              cuda->MemcpyHtoDAsync_v2(pipeline->numbers, pipeline->in, BYTES, pipeline->one))
        || !done(pipeline, "cuStreamSynchronize", cuda->StreamSynchronize_v1(pipeline->one))
        || !done(pipeline, "cuMemcpyDtoH", cuda->MemcpyDtoH_v2(pipeline->out, pipeline->numbers, BYTES)))
        return;
    for (unsigned i = 0; i < COUNT; i++)
        if (!holds(pipeline, pipeline->out[i] == i, "the device does not hold what was copied to it"))
            return;
    say(pipeline, "%d numbers to the device", COUNT);
}

static void kernel(struct pipeline *pipeline)
{
    const struct cushim_dispatch_table *cuda = cushim_table();
    pipeline->kernel = run_kernel_load();
    if (!done(pipeline, "cuLaunchKernel", run_kernel_launch(&pipeline->kernel, pipeline->numbers, COUNT, pipeline->one))
        || !done(pipeline, "cuStreamSynchronize", cuda->StreamSynchronize_v1(pipeline->one)))
        return;
    if (pipeline->kernel.function != NULL)
        say(pipeline, "each number n became 2 n + 1");
    else
        say(pipeline, "a memset stands in for it: the driver did not take the kernel, and said %s (%d)",
            driver_code_name(pipeline->kernel.why_not), (int)pipeline->kernel.why_not);
}

static void copy_out(struct pipeline *pipeline)
{
    const struct cushim_dispatch_table *cuda = cushim_table();
    if (done(pipeline, "cuMemcpyDtoHAsync",
             cuda->MemcpyDtoHAsync_v2(pipeline->out, pipeline->numbers, BYTES, pipeline->one))
        && done(pipeline, "cuStreamSynchronize", cuda->StreamSynchronize_v1(pipeline->one))
        && holds(pipeline, are_results(pipeline, pipeline->out, 0), "a number is not what the kernel should have made"))
        say(pipeline, "%d numbers back, all of them right", COUNT);
}

static void host_function(struct pipeline *pipeline)
{
    const struct cushim_dispatch_table *cuda = cushim_table();
    begin(pipeline);
    if (!done(pipeline, "cuMemcpyDtoHAsync",
              cuda->MemcpyDtoHAsync_v2(pipeline->out, pipeline->numbers, BYTES, pipeline->one))
        || !done(pipeline, "cuLaunchHostFunc", cuda->LaunchHostFunc_v1(pipeline->one, check_and_go_on, pipeline))
        || !done(pipeline, "cuStreamSynchronize", cuda->StreamSynchronize_v1(pipeline->one))
        || !holds(pipeline, pipeline->calls == 1, "it was not called once")
        || !holds(pipeline, pipeline->right == 1, "it was called before the copy in front of it was done"))
        return;
    say(pipeline, "called once, behind the copy, by a thread of the driver's");
}

/* The whole of it: in, a kernel on each half in a stream of its own, out, and a look at the results. */
static bool submit(struct pipeline *pipeline)
{
    const struct cushim_dispatch_table *cuda = cushim_table();
    CUdeviceptr second_half = pipeline->numbers + BYTES / 2;
    return done(pipeline, "cuMemcpyHtoDAsync",
                cuda->MemcpyHtoDAsync_v2(pipeline->numbers, pipeline->in, BYTES, pipeline->one))
           && done(pipeline, "cuEventRecord", cuda->EventRecord_v1(pipeline->forked, pipeline->one))
           && done(pipeline, "cuStreamWaitEvent", cuda->StreamWaitEvent_v1(pipeline->two, pipeline->forked, 0))
           && done(pipeline, "cuLaunchKernel",
                   run_kernel_launch(&pipeline->kernel, pipeline->numbers, HALF, pipeline->one))
           && done(pipeline, "cuLaunchKernel", run_kernel_launch(&pipeline->kernel, second_half, HALF, pipeline->two))
           && done(pipeline, "cuEventRecord", cuda->EventRecord_v1(pipeline->joined, pipeline->two))
           && done(pipeline, "cuStreamWaitEvent", cuda->StreamWaitEvent_v1(pipeline->one, pipeline->joined, 0))
           && done(pipeline, "cuMemcpyDtoHAsync",
                   cuda->MemcpyDtoHAsync_v2(pipeline->out, pipeline->numbers, BYTES, pipeline->one))
           && done(pipeline, "cuLaunchHostFunc", cuda->LaunchHostFunc_v1(pipeline->one, check_and_go_on, pipeline));
}

static void fork_and_join(struct pipeline *pipeline)
{
    const struct cushim_dispatch_table *cuda = cushim_table();
    begin(pipeline);
    if (submit(pipeline) && done(pipeline, "cuStreamSynchronize", cuda->StreamSynchronize_v1(pipeline->one))
        && holds(pipeline, pipeline->calls == 1 && pipeline->right == 1,
                 "the two streams together made something else"))
        say(pipeline, "half of the numbers in each of two streams, with an event there and one back");
}

static void capture(struct pipeline *pipeline)
{
    const struct cushim_dispatch_table *cuda = cushim_table();
    enum { NODES = 5 }; /* copy, kernel, kernel, copy, host function; events become edges */
    CUgraph graph = NULL;
    size_t nodes = 0;
    begin(pipeline);
    if (!done(pipeline, "cuStreamBeginCapture",
              cuda->StreamBeginCapture_v2(pipeline->one, CU_STREAM_CAPTURE_MODE_RELAXED)))
        return;
    bool submitted = submit(pipeline);
    CUresult result = cuda->StreamEndCapture_v1(pipeline->one, &graph);
    if (submitted && done(pipeline, "cuStreamEndCapture", result)
        && done(pipeline, "cuGraphGetNodes", cuda->GraphGetNodes_v1(graph, NULL, &nodes))
        && done(pipeline, "cuGraphInstantiateWithFlags",
                cuda->GraphInstantiateWithFlags_v1(&pipeline->executable, graph, 0))
        && holds(pipeline, nodes == NODES, "the graph has another number of nodes than what was captured")
        && holds(pipeline, pipeline->calls == 0, "the host function was called during the capture"))
        say(pipeline, "the same as a graph of %d nodes; nothing was executed", NODES);
    if (graph != NULL && pipeline->step->outcome == STEP_RIGHT)
        (void)done(pipeline, "cuGraphDestroy", cuda->GraphDestroy_v1(graph));
}

static void launches(struct pipeline *pipeline)
{
    const struct cushim_dispatch_table *cuda = cushim_table();
    if (pipeline->executable == NULL) {
        pipeline->step->outcome = STEP_SKIPPED;
        say(pipeline, "there is no graph to launch");
        return;
    }
    begin(pipeline);
    for (int i = 0; i < LAUNCHES; i++)
        if (!done(pipeline, "cuGraphLaunch", cuda->GraphLaunch_v1(pipeline->executable, pipeline->one)))
            return;
    if (done(pipeline, "cuStreamSynchronize", cuda->StreamSynchronize_v1(pipeline->one))
        && holds(pipeline, pipeline->calls == LAUNCHES, "the host function was not called once for each launch")
        && holds(pipeline, pipeline->right == LAUNCHES, "a launch made something else of its numbers"))
        say(pipeline, "%d launches of the graph, each with other numbers; all results right", LAUNCHES);
}

static void end(struct pipeline *pipeline)
{
    const struct cushim_dispatch_table *cuda = cushim_table();
    if ((pipeline->executable != NULL
         && !done(pipeline, "cuGraphExecDestroy", cuda->GraphExecDestroy_v1(pipeline->executable)))
        || !done(pipeline, "cuModuleUnload", run_kernel_unload(&pipeline->kernel))
        || !done(pipeline, "cuMemFreeHost", cuda->MemFreeHost_v1(pipeline->in))
        || !done(pipeline, "cuMemFreeHost", cuda->MemFreeHost_v1(pipeline->out))
        || !done(pipeline, "cuMemFree", cuda->MemFree_v2(pipeline->numbers))
        || !done(pipeline, "cuEventDestroy", cuda->EventDestroy_v2(pipeline->forked))
        || !done(pipeline, "cuEventDestroy", cuda->EventDestroy_v2(pipeline->joined))
        || !done(pipeline, "cuStreamDestroy", cuda->StreamDestroy_v2(pipeline->one))
        || !done(pipeline, "cuStreamDestroy", cuda->StreamDestroy_v2(pipeline->two)))
        return;
    if (cushim_driver_version() < 7000
            ? done(pipeline, "cuCtxDestroy", cuda->CtxDestroy_v2(pipeline->context))
            : done(pipeline, "cuDevicePrimaryCtxRelease", cuda->DevicePrimaryCtxRelease_v2(0)))
        say(pipeline, "all of it given back");
}

void run_steps(void (*report)(const struct step *step, void *user), void *user)
{
    static const struct {
        const char *name;
        void (*run)(struct pipeline *pipeline);
        bool optional; /* a driver may be too old for it */
    } steps[] = {
        {"start", start, false},
        {"copy in", copy_in, false},
        {"kernel", kernel, false},
        {"copy out", copy_out, false},
        {"host function", host_function, false},
        {"fork and join", fork_and_join, false},
        {"capture", capture, true},
        {"launches", launches, true},
        {"end", end, false},
    };
    /* Static, since a step that fails leaves work behind: host functions may be called until the program ends. */
    static struct pipeline pipeline;
    struct step step = {.outcome = STEP_RIGHT};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && step.outcome != STEP_WRONG; i++) {
        step = (struct step){.name = steps[i].name, .outcome = STEP_RIGHT};
        pipeline.step = &step;
        long long before = platform_microseconds();
        steps[i].run(&pipeline);
        if (step.outcome == STEP_SKIPPED && !steps[i].optional)
            step.outcome = STEP_WRONG;
        step.microseconds = platform_microseconds() - before;
        report(&step, user);
    }
}
