/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cushim/cushim.h"
#include "softcuda.h"
#include "selected_driver.h"

enum { BLOCK = 256, COUNT = 1 << 18, BYTES = COUNT * 4, LAUNCHES = 100, MEMSET_VALUE = 7 };

#define CALL(...) CUSHIM_CALL_IN(cushim_table_legacy(), __VA_ARGS__)

/* Static, because a step that fails can leave work behind: host functions may run until the program exits. */
static struct {
    struct step *step; /* the current step */
    struct cushim_context *context;
    CUcontext before; /* the current context before the pipeline */
    struct cushim_stream *one, *two;
    struct cushim_event *forked, *joined;
    CUdeviceptr numbers; /* COUNT numbers on the device */
    unsigned *in, *out;  /* and in pinned host memory */
    CUmodule module;
    CUfunction kernel; /* NULL: a memset is used instead */
    struct cushim_graph_exec *executable;
    /* The results of the host function; read after the stream was synchronised. */
    unsigned first; /* `in` has this number and those after it */
    unsigned calls, correct;
} pipeline;

/* ---- The kernel replaces each number n by 2 n + 1 ---- */

static const char kernel_name[] = "cushim_double_and_add_one";

/* Every driver since CUDA 6.5 compiles this for its GPU. */
static const char ptx[] = ".version 4.1\n"
                          ".target sm_30\n"
                          ".address_size 64\n"
                          ".visible .entry cushim_double_and_add_one(.param .u64 numbers)\n"
                          "{\n"
                          "    .reg .b64 %address, %offset;\n"
                          "    .reg .b32 %index, %width, %thread, %number;\n"
                          "    ld.param.u64 %address, [numbers];\n"
                          "    mov.u32 %index, %ctaid.x;\n"
                          "    mov.u32 %width, %ntid.x;\n"
                          "    mov.u32 %thread, %tid.x;\n"
                          "    mad.lo.u32 %index, %index, %width, %thread;\n"
                          "    mul.wide.u32 %offset, %index, 4;\n"
                          "    add.u64 %address, %address, %offset;\n"
                          "    ld.u32 %number, [%address];\n"
                          "    mad.lo.u32 %number, %number, 2, 1;\n"
                          "    st.u32 [%address], %number;\n"
                          "    ret;\n"
                          "}\n";

/* softcuda does not compile kernels. It calls this function. */
static void soft_kernel(struct softcuda_launch *launch)
{
    CUdeviceptr address;
    memcpy(&address, launch->arguments[0], sizeof address);
    unsigned *numbers = (unsigned *)(size_t)address;
    for (unsigned i = 0; i < launch->grid[0] * launch->block[0]; i++)
        numbers[i] = 2 * numbers[i] + 1;
}

static CUresult load_kernel(void)
{
    static const size_t size = sizeof(CUdeviceptr);
    const struct softcuda_control *softcuda = driver_softcuda();
    if (softcuda != NULL)
        (void)softcuda->register_kernel(kernel_name, soft_kernel, &size, 1);
    CUresult result = CALL(ModuleLoadData_v1, &pipeline.module, ptx);
    return result == CUDA_SUCCESS ? CALL(ModuleGetFunction_v1, &pipeline.kernel, pipeline.module, kernel_name) : result;
}

/* Launches the kernel for a number of blocks, or the memset that replaces it. */
static CUresult launch(CUdeviceptr numbers, unsigned blocks, struct cushim_stream *stream)
{
    void *arguments[] = {&numbers};
    CUstream handle = cushim_stream_handle(stream);
    if (pipeline.kernel == NULL)
        return CALL(MemsetD32Async_v1, numbers, MEMSET_VALUE, blocks * BLOCK, handle);
    return CALL(LaunchKernel_v1, pipeline.kernel, blocks, 1, 1, BLOCK, 1, 1, 0, handle, arguments, NULL);
}

/* ---- The numbers ---- */

static void fill(unsigned first)
{
    for (unsigned i = 0; i < COUNT; i++)
        pipeline.in[i] = first + i;
}

static void begin(void)
{
    pipeline.calls = pipeline.correct = pipeline.first = 0;
    fill(0);
    memset(pipeline.out, 0, BYTES);
}

static bool has_results(void)
{
    for (unsigned i = 0; i < COUNT; i++)
        if (pipeline.out[i] != (pipeline.kernel == NULL ? MEMSET_VALUE : 2 * (pipeline.first + i) + 1))
            return false;
    return true;
}

/* Runs after the copy to `out`, on a thread of the driver. Writes the next input, so that all launches differ. */
static void CUDA_CB check_results_and_advance(void *unused)
{
    (void)unused;
    pipeline.calls++;
    pipeline.correct += has_results();
    fill(++pipeline.first);
}

static CUresult copy_in(void)
{
    return CALL(MemcpyHtoDAsync_v2, pipeline.numbers, pipeline.in, BYTES, cushim_stream_handle(pipeline.one));
}

static CUresult copy_out(void)
{
    return CALL(MemcpyDtoHAsync_v2, pipeline.out, pipeline.numbers, BYTES, cushim_stream_handle(pipeline.one));
}

/* ---- The steps. Each returns whether it passed ---- */

CUSHIM_PRINTF(1, 2)
static bool say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(pipeline.step->message, sizeof pipeline.step->message, format, arguments);
    va_end(arguments);
    return true;
}

static bool done(CUresult result)
{
    const struct cushim_error *error = cushim_error_last();
    if (result == CUDA_SUCCESS)
        return true;
    pipeline.step->outcome = result == CUDA_ERROR_NOT_SUPPORTED ? STEP_SKIPPED : STEP_FAILED;
    if (result == CUDA_ERROR_NOT_SUPPORTED)
        return !say("%s", error->message);
    struct driver_explanation explanation = driver_explanation();
    return !say("%s returned %s (%d)%s%s", error->function, driver_code_name(result), (int)result,
                explanation.text[0] != '\0' ? "." : "", explanation.text);
}

static bool check(bool condition, const char *failure)
{
    if (!condition)
        pipeline.step->outcome = STEP_FAILED;
    return condition || !say("%s", failure);
}

static bool step_start(void)
{
    void *in = NULL, *out = NULL;
    bool passed = done(cushim_context_create_preferred(0, 0, &pipeline.context))
                  && done(cushim_context_enter(pipeline.context, &pipeline.before))
                  && done(cushim_stream_create(pipeline.context, CU_STREAM_NON_BLOCKING, 0, &pipeline.one))
                  && done(cushim_stream_create(pipeline.context, CU_STREAM_NON_BLOCKING, 0, &pipeline.two))
                  && done(cushim_event_create(pipeline.context, CU_EVENT_DISABLE_TIMING, &pipeline.forked))
                  && done(cushim_event_create(pipeline.context, CU_EVENT_DISABLE_TIMING, &pipeline.joined))
                  && done(CALL(MemAlloc_v2, &pipeline.numbers, BYTES)) && done(CALL(MemAllocHost_v2, &in, BYTES))
                  && done(CALL(MemAllocHost_v2, &out, BYTES));
    pipeline.in = in;
    pipeline.out = out;
    return passed && say("created a context, two streams, two events, %d MiB of device memory", BYTES >> 20);
}

static bool step_copy_in(void)
{
    begin();
    return done(copy_in()) && done(cushim_stream_synchronize(pipeline.one))
           && done(CALL(MemcpyDtoH_v2, pipeline.out, pipeline.numbers, BYTES))
           && check(memcmp(pipeline.in, pipeline.out, BYTES) == 0, "the device memory differs from what was copied")
           && say("copied %d numbers to the device", COUNT);
}

static bool step_kernel(void)
{
    CUresult loaded = load_kernel();
    if (!done(launch(pipeline.numbers, COUNT / BLOCK, pipeline.one)) || !done(cushim_stream_synchronize(pipeline.one)))
        return false;
    return loaded == CUDA_SUCCESS ? say("replaced each number n by 2 n + 1")
                                  : say("used a memset instead, because loading the kernel returned %s (%d)",
                                        driver_code_name(loaded), (int)loaded);
}

static bool step_copy_out(void)
{
    return done(copy_out()) && done(cushim_stream_synchronize(pipeline.one))
           && check(has_results(), "a number is not the expected result of the kernel")
           && say("copied %d numbers back; all results are correct", COUNT);
}

static bool step_host_function(void)
{
    begin();
    return done(copy_out()) && done(cushim_stream_launch_host(pipeline.one, check_results_and_advance, NULL, NULL))
           && done(cushim_stream_synchronize(pipeline.one))
           && check(pipeline.calls == 1, "it was not called exactly once")
           && check(pipeline.correct == 1, "it was called before the preceding copy was done")
           && say("called once, after the copy, on a thread of the driver");
}

/* Enqueues the whole pipeline: copy in, a kernel for each half in its own stream, copy out, and the check. */
static CUresult submit(struct cushim_stream *stream, void *unused)
{
    (void)unused;
    CUresult result = copy_in();
    if (result == CUDA_SUCCESS)
        result = cushim_event_record(pipeline.forked, stream, 0);
    if (result == CUDA_SUCCESS)
        result = cushim_stream_wait_event(pipeline.two, pipeline.forked, 0);
    if (result == CUDA_SUCCESS)
        result = launch(pipeline.numbers, COUNT / BLOCK / 2, stream);
    if (result == CUDA_SUCCESS)
        result = launch(pipeline.numbers + BYTES / 2, COUNT / BLOCK / 2, pipeline.two);
    if (result == CUDA_SUCCESS)
        result = cushim_event_record(pipeline.joined, pipeline.two, 0);
    if (result == CUDA_SUCCESS)
        result = cushim_stream_wait_event(stream, pipeline.joined, 0);
    if (result == CUDA_SUCCESS)
        result = copy_out();
    return result == CUDA_SUCCESS ? cushim_stream_launch_host(stream, check_results_and_advance, NULL, NULL) : result;
}

static bool step_fork_and_join(void)
{
    begin();
    return done(submit(pipeline.one, NULL)) && done(cushim_stream_synchronize(pipeline.one))
           && check(pipeline.calls == 1 && pipeline.correct == 1, "the results of the two streams are incorrect")
           && say("computed half of the numbers in each of two streams, joined by events");
}

static bool step_capture(void)
{
    enum { NODES = 5 }; /* copy, kernel, kernel, copy, host function; events become edges */
    struct cushim_graph *graph = NULL;
    size_t nodes = 0;
    begin();
    bool passed = done(cushim_stream_capture(pipeline.one, CU_STREAM_CAPTURE_MODE_RELAXED, submit, NULL, &graph))
                  && done(CALL(GraphGetNodes_v1, cushim_graph_handle(graph), NULL, &nodes))
                  && done(cushim_graph_instantiate(graph, pipeline.context, 0, &pipeline.executable))
                  && check(nodes == NODES, "the graph has an unexpected number of nodes")
                  && check(pipeline.calls == 0, "the host function was called during the capture")
                  && say("captured the same work as a graph of %d nodes; nothing was executed", NODES);
    CUresult destroyed = cushim_graph_destroy(&graph);
    return passed && done(destroyed);
}

static bool step_launches(void)
{
    if (pipeline.executable == NULL) {
        pipeline.step->outcome = STEP_SKIPPED;
        return say("there is no graph to launch");
    }
    begin();
    for (int i = 0; i < LAUNCHES; i++)
        if (!done(cushim_graph_exec_launch(pipeline.executable, pipeline.one)))
            return false;
    return done(cushim_stream_synchronize(pipeline.one))
           && check(pipeline.calls == LAUNCHES, "the host function was not called once for each launch")
           && check(pipeline.correct == LAUNCHES, "the results of a launch are incorrect")
           && say("launched the graph %d times with different numbers; all results are correct", LAUNCHES);
}

static bool step_end(void)
{
    return done(cushim_graph_exec_destroy(&pipeline.executable))
           && (pipeline.module == NULL || done(CALL(ModuleUnload_v1, pipeline.module)))
           && done(CALL(MemFreeHost_v1, pipeline.in)) && done(CALL(MemFreeHost_v1, pipeline.out))
           && done(CALL(MemFree_v2, pipeline.numbers)) && done(cushim_event_destroy(&pipeline.forked))
           && done(cushim_event_destroy(&pipeline.joined)) && done(cushim_stream_destroy(&pipeline.one))
           && done(cushim_stream_destroy(&pipeline.two)) && done(cushim_context_leave(pipeline.before))
           && done(cushim_context_destroy(&pipeline.context)) && say("released everything");
}

bool pipeline_run(void (*report)(const struct step *step, void *user), void *user)
{
    static const struct {
        const char *name;
        bool (*run)(void);
        bool is_optional; /* skipped if the driver is too old */
    } steps[] = {
        {"start", step_start, false},
        {"copy in", step_copy_in, false},
        {"kernel", step_kernel, false},
        {"copy out", step_copy_out, false},
        {"host function", step_host_function, false},
        {"fork and join", step_fork_and_join, false},
        {"capture", step_capture, true},
        {"launches", step_launches, true},
        {"end", step_end, false},
    };
    struct step step = {.outcome = STEP_PASSED};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && step.outcome != STEP_FAILED; i++) {
        step = (struct step){.name = steps[i].name, .outcome = STEP_PASSED};
        pipeline.step = &step;
        uint64_t before = cushim_clock_ns();
        (void)steps[i].run();
        if (step.outcome == STEP_SKIPPED && !steps[i].is_optional)
            step.outcome = STEP_FAILED;
        step.microseconds = (long long)(cushim_clock_ns() - before) / 1000;
        report(&step, user);
    }
    return step.outcome != STEP_FAILED;
}
