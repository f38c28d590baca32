/* SPDX-License-Identifier: MIT */
/* What a result means by itself, and what to do. */
#include <stdio.h>

#include "reasons.h"
#include "text.h"

/* A child of fork() that has not become another program: the driver refuses cuInit() if the parent had called it
 * before. Without that call, the file does not show which of the two came first. */
#define FORK_LATER                                                                                                     \
    "create the child before cuInit, or start a program in it (exec; in Python, multiprocessing with \"spawn\")"
#define FORKED                                                                                                         \
    "the process is a child of fork(), and its parent had initialized the driver, which works in the parent "          \
    "alone: " FORK_LATER
#define FORKED_SOMETIME                                                                                                \
    "the process is a child of fork(), and no recorded call of cuInit has succeeded in it: call cuInit(0) first or, "  \
    "if its parent had initialized the driver before the fork, " FORK_LATER

#define SLEPT                                                                                                          \
    "the machine slept for %s while the program ran, and a GPU loses what programs have on it: start the program "     \
    "again; the services nvidia-suspend and nvidia-resume with NVreg_PreserveVideoMemoryAllocations=1 keep it"

#define NO_SYMBOL(whole)                                                                                               \
    "the " whole " has no symbol of this name: names of C++ are mangled unless they are declared extern \"C\"; "       \
    "`cuobjdump -symbols FILE` shows them"

/* Functions with handles of memory, which other processes or machines can get. */
#define FABRIC "cuMemCreate cuMemExportToShareableHandle cuMemImportFromShareableHandle cuMulticast*"
#define IMEX                                                                                                           \
    "fabric handles (CU_MEM_HANDLE_TYPE_FABRIC) need an IMEX channel that this process may open, below "               \
    "/dev/nvidia-caps-imex-channels: start nvidia-imex and create channel0; otherwise use file descriptors"

/* The functions that load device code, or compile it when it is first used. */
#define LOADS "cuModule* cuLibrary* cuLink* cuKernel* cuFunc* cuLaunch*"

/* The first row for a result and a function, as patterns. "cu*" stands only where every function means the same. */
static const struct meaning {
    unsigned result;
    const char *functions, *text;
} meanings[] = {
    {CUDA_ERROR_NOT_INITIALIZED, "cuInit", "the driver could not start: `cushim doctor` shows why"},
    {CUDA_ERROR_NOT_INITIALIZED, "cu*",
     "no call of cuInit has succeeded in this process before: call cuInit(0) first, and check its result"},
    {CUDA_ERROR_DEINITIALIZED, "cu*",
     "the process was ending, and the driver had ended before: a destructor or a function of atexit() made this call; "
     "release what it needs before main() returns"},
    {CUDA_ERROR_NO_DEVICE, "cu*", "the driver found no GPU: `cushim doctor` shows why"},
    {CUDA_ERROR_INVALID_DEVICE, "cuInit",
     "CUDA_VISIBLE_DEVICES names a GPU twice, or the file of a GPU cannot be opened: `cushim doctor` shows which"},
    {CUDA_ERROR_INVALID_DEVICE, "cuMemCreate cuMemGetAllocationGranularity",
     "the device cannot make such memory, or no device has this number: look at location, requestedHandleTypes and "
     "allocFlags of the properties (gpuDirectRDMACapable needs attribute 110)"},
    {CUDA_ERROR_INVALID_DEVICE, "cuMemImportFromShareableHandle cuMemRetainAllocationHandle cuMemMap*",
     "the memory is of a device that this process cannot use: both processes need the same devices in "
     "CUDA_VISIBLE_DEVICES"},
    {CUDA_ERROR_INVALID_DEVICE, "cuMemPrefetchAsync* cuMemAdvise* cuMemPrefetchBatchAsync cuMemDiscard*",
     "the device cannot use managed memory at the same time as the host (attribute 89 is 0, as on Windows and WSL), or "
     "no device has this number"},
    {CUDA_ERROR_INVALID_DEVICE, "cuDevice* cuCtxCreate* cuGLGetDevices* cuD3D*",
     "no device has this number: devices are numbered from 0 to cuDeviceGetCount() - 1, and CUDA_VISIBLE_DEVICES can "
     "hide some"},
    {CUDA_ERROR_INVALID_IMAGE, LOADS,
     "the image is no device code, is cut off, or was built by a toolkit that is newer than this driver: "
     "`cushim audit FILE` shows what a file has"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, LOADS,
     "the image has no code for this GPU: `cushim audit FILE` shows for which GPUs it has code; add this GPU to -arch "
     "or -gencode of the build, or PTX"},
    {CUDA_ERROR_INVALID_PTX, LOADS,
     "the PTX has an error, or needs a newer GPU: ptxas, or cuModuleLoadDataEx with CU_JIT_ERROR_LOG_BUFFER, names its "
     "line"},
    {CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "cu*",
     "the driver did not find its compiler, libnvidia-ptxjitcompiler.so.1, or a part of it (libnvidia-nvvm, "
     "libnvidia-tileiras): `cushim doctor` shows why; code that was built for this GPU needs no compiler"},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, LOADS,
     "the PTX has a newer version than this driver reads: `cushim audit FILE` shows the driver that it needs; update "
     "the driver, use an older toolkit, or build for this GPU"},
    {CUDA_ERROR_JIT_COMPILATION_DISABLED, "cu*",
     "compiling PTX is disabled: unset CUDA_DISABLE_PTX_JIT, or build for this GPU"},
    {CUDA_ERROR_NOT_FOUND, "cuModuleGet*", NO_SYMBOL("module")},
    {CUDA_ERROR_NOT_FOUND, "cuLibraryGet*", NO_SYMBOL("library")},
    {CUDA_ERROR_NOT_PERMITTED, FABRIC, IMEX},
    {CUDA_ERROR_NOT_SUPPORTED, "cuMemPoolExport* cuMemPoolImport* cuMemPoolCreate",
     "the device has no memory pools (attribute 115 is 0), or none with this kind of handle: "
     "`cushim probe --feature memory-pools` shows the first"},
    {CUDA_ERROR_NOT_SUPPORTED,
     "cuMemAllocAsync cuMemAllocFromPoolAsync cuMemFreeAsync cuMemPool* cuDeviceGetDefaultMemPool cuDeviceGetMemPool "
     "cuDeviceSetMemPool cuGraphAddMemAllocNode cuGraphAddMemFreeNode",
     "the device has no memory pools: attribute 115 is 0; use cuMemAlloc. `cushim probe --feature "
     "stream-ordered-allocation` shows each device"},
    {CUDA_ERROR_NOT_SUPPORTED, "cuMemAddress* cuMemMap* cuMemUnmap cuMemSetAccess cuMemGetAllocationGranularity",
     "the device has no virtual memory management: attribute 102 is 0, as with some profiles of vGPU; use cuMemAlloc"},
    {CUDA_ERROR_NOT_SUPPORTED, FABRIC,
     "the device or this system does not support this kind of memory or handle: attributes 102 (virtual memory), 103 "
     "(file descriptors), 128 (fabric handles) say which"},
    {CUDA_ERROR_NOT_SUPPORTED, "cuCtxCreate* cuDevicePrimaryCtxRetain",
     "the device runs no CUDA: a virtual GPU (vGPU) needs a profile of the series C or Q, and unified memory, which "
     "its "
     "host enables"},
    {CUDA_ERROR_NOT_SUPPORTED, "cuLaunch*",
     "the device or the driver does not support this launch: more than 4 KiB of parameters need driver 530 (CUDA "
     "12.1) and a GPU of 7.0 or newer"},
    {CUDA_ERROR_SYSTEM_NOT_READY, "cu*",
     "a service that the GPU needs, such as the fabric manager, is not ready: `cushim doctor` shows which one"},
    {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "cu*",
     "libcuda.so and the kernel module have different versions: `cushim doctor` shows both; install the same one, and "
     "restart"},
};

const char *trace_meaning_of(const char *function, unsigned result)
{
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (meanings[i].result == result && pattern_matches(meanings[i].functions, function))
            return meanings[i].text;
    }
    return NULL;
}

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
    const struct trace_type values = trace_type_get(TRACE_TYPE_CUgraphExecUpdateResult);
    const uint64_t *at = trace_find_field(slot, call, "resultInfo");
    if (at == NULL) /* version 1 of the function */
        at = trace_find_field(slot, call, "updateResult_out");
    bool is_written = at != NULL && at + 1 < call->fields + call->words && at[0] != 0 && (uint32_t)at[1] != 0;
    return is_written ? trace_type_enumerator(&values, (uint32_t)at[1]) : NULL;
}

void trace_meaning_describe(const struct trace_failing_process *own, const struct trace_failing_process *parent,
                            const struct trace_model *model, const struct trace_call *call, struct trace_reason *reason)
{
    const struct trace_slot *slot = &model->reader->slots[call->slot];
    const char *written = call->result == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE ? update_result(slot, call) : NULL;
    if (call->result == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)
        snprintf(reason->text, sizeof reason->text,
                 "the new graph differs in more than parameters (%s): instantiate the new graph instead",
                 written != NULL ? written : "the last argument of the call has the reason");
    if ((call->result == CUDA_ERROR_LAUNCH_FAILED || call->result == CUDA_ERROR_UNKNOWN)
        && model->reader->header->slept_meanwhile != 0)
        snprintf(reason->text, sizeof reason->text, SLEPT, trace_duration(model->reader->header->slept_meanwhile).text);
    bool has_initialized = call->result == CUDA_ERROR_NOT_INITIALIZED && own != NULL && own->has_initialized;
    if (call->result == CUDA_ERROR_NOT_INITIALIZED && !has_initialized && parent != NULL && parent->has_initialized)
        snprintf(reason->text, sizeof reason->text, "%s", own != NULL && own->is_refused ? FORKED : FORKED_SOMETIME);
    const char *text = trace_meaning_of(slot->function, call->result);
    if (text != NULL && reason->text[0] == '\0' && !has_initialized)
        snprintf(reason->text, sizeof reason->text, "%s", text);
}
