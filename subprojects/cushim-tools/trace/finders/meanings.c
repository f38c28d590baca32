/* SPDX-License-Identifier: MIT */
/* What a result means by itself, and what to do. */
#include <stdio.h>
#include <string.h>

#include "reasons.h"
#include "text.h"

/* A child of fork() that has not become another program. */
#define FORKED                                                                                                         \
    "the process is a child of fork(), and its parent had initialized the driver, which works in the parent alone: "   \
    "create the child before cuInit, or start a program in it (exec; in Python, multiprocessing with \"spawn\")"

#define NO_SYMBOL(whole)                                                                                               \
    "the " whole " has no symbol of this name: names of C++ are mangled unless they are declared extern \"C\"; "       \
    "`cuobjdump -symbols FILE` shows them"

/* Of all functions whose names begin so. */
static const struct meaning {
    unsigned result;
    const char *function, *text;
} meanings[] = {
    {CUDA_ERROR_NOT_INITIALIZED, "cu",
     "no call of cuInit has succeeded in this process before: call cuInit(0) first, and check its result"},
    {CUDA_ERROR_DEINITIALIZED, "cu",
     "the process was ending, and the driver had ended before: a destructor or a function of atexit() made this call; "
     "release what it needs before main() returns"},
    {CUDA_ERROR_NO_DEVICE, "cu", "the driver found no GPU: `cushim doctor` shows why"},
    {CUDA_ERROR_INVALID_DEVICE, "cu",
     "no device has this number: devices are numbered from 0 to cuDeviceGetCount() - 1, and CUDA_VISIBLE_DEVICES can "
     "hide some"},
    {CUDA_ERROR_INVALID_IMAGE, "cu",
     "the image is neither PTX, nor a cubin, nor a fatbin, or it is cut off: `cushim audit FILE` shows what a file "
     "has"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "cu",
     "the image has no code for this GPU: `cushim audit FILE` shows for which GPUs it has code; add this GPU to -arch "
     "or -gencode of the build, or PTX"},
    {CUDA_ERROR_INVALID_PTX, "cu",
     "the PTX has an error, or needs a newer GPU: ptxas, or cuModuleLoadDataEx with CU_JIT_ERROR_LOG_BUFFER, names its "
     "line"},
    {CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "cu",
     "the driver did not find its compiler, libnvidia-ptxjitcompiler.so.1: `cushim doctor` shows why; code that was "
     "built for this GPU needs no compiler"},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "cu",
     "the PTX has a newer version than this driver reads: `cushim audit FILE` shows the driver that it needs; update "
     "the driver, use an older toolkit, or build for this GPU"},
    {CUDA_ERROR_JIT_COMPILATION_DISABLED, "cu",
     "compiling PTX is disabled: unset CUDA_DISABLE_PTX_JIT, or build for this GPU"},
    {CUDA_ERROR_NOT_FOUND, "cuModuleGet", NO_SYMBOL("module")},
    {CUDA_ERROR_NOT_FOUND, "cuLibraryGet", NO_SYMBOL("library")},
    {CUDA_ERROR_SYSTEM_NOT_READY, "cu",
     "a service that the GPU needs, such as the fabric manager, is not ready: `cushim doctor` shows which one"},
    {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "cu",
     "libcuda.so and the kernel module have different versions: `cushim doctor` shows both; install the same one, and "
     "restart"},
};

struct trace_time trace_time_before(const struct trace_reader *reader, const struct trace_moment *moment,
                                    const struct trace_call *call)
{
    struct trace_time time;
    bool overlaps = moment->end > call->begin;
    snprintf(time.text, sizeof time.text, "%s%s, by thread %ld, in %.80s",
             overlaps ? "at the same time" : trace_duration(call->begin - moment->end).text, overlaps ? "" : " before",
             moment->thread, reader->slots[moment->slot].function);
    return time;
}

/* What cuGraphExecUpdate() wrote: an enumerator of CUgraphExecUpdateResult, or NULL. */
static const char *update_result(const struct trace_slot *slot, const struct trace_call *call)
{
    static const char type[] = "CUgraphExecUpdateResult";
    const struct trace_type values = trace_type_find(type, strlen(type));
    const uint64_t *at = trace_find_field(slot, call, "resultInfo");
    if (at == NULL) /* version 1 of the function */
        at = trace_find_field(slot, call, "updateResult_out");
    bool is_written = at != NULL && at + 1 < call->fields + call->words && at[0] != 0 && (uint32_t)at[1] != 0;
    return is_written ? trace_type_enumerator(&values, (uint32_t)at[1]) : NULL;
}

void trace_meaning_describe(const struct trace_failing_process *parent, const struct trace_model *model,
                            const struct trace_call *call, struct trace_reason *reason)
{
    const struct trace_slot *slot = &model->reader->slots[call->slot];
    const char *written = call->result == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE ? update_result(slot, call) : NULL;
    if (call->result == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)
        snprintf(reason->text, sizeof reason->text,
                 "the new graph differs in more than parameters (%s): instantiate the new graph instead",
                 written != NULL ? written : "the last argument of the call has the reason");
    if (call->result == CUDA_ERROR_NOT_INITIALIZED && parent != NULL && parent->has_initialized)
        snprintf(reason->text, sizeof reason->text, FORKED);
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0] && reason->text[0] == '\0'; i++) {
        if (meanings[i].result == call->result && text_starts_with(slot->function, meanings[i].function))
            snprintf(reason->text, sizeof reason->text, "%s", meanings[i].text);
    }
}
