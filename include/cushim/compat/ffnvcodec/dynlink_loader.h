/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Replaces the CUDA part of <ffnvcodec/dynlink_loader.h> of nv-codec-headers: CudaFunctions, cuda_load_functions() and
 * cuda_free_functions() on cushim. A program switches by its include path, which has include/cushim/compat before
 * nv-codec-headers, and by linking to cushim. If nv-codec-headers follow on the include path, this header includes the
 * original for its other parts, the loaders of NVCUVID and NVENC.
 *
 * Differences from the original:
 * - The driver is found, limited and diagnosed as by cushim_load(NULL), and stays loaded.
 * - Functions that the original requires are never NULL. If the driver lacks one, the function returns
 *   CUDA_ERROR_NOT_SUPPORTED, where the original refuses the driver. Optional functions are NULL if the driver lacks
 *   them.
 * - The functions for Direct3D 11 are not members.
 * - The header prints only through FFNV_LOG_FUNC, if the program defines it. FFNV_LOAD_FUNC, FFNV_SYM_FUNC and
 *   FFNV_FREE_FUNC are not used for the driver.
 */
#ifndef CUSHIM_COMPAT_DYNLINK_LOADER_H
#define CUSHIM_COMPAT_DYNLINK_LOADER_H

#if defined(__GNUC__)
#    pragma GCC system_header /* allows #include_next below */
#endif

#include <stdlib.h>

#include "dynlink_cuda.h"

#include "cushim/loader.h"

/* clang-format off */

/* FUNCTION(function, abi): the entry points that the original requires. */
#define CUSHIM_FFNV_REQUIRED(FUNCTION)                                                                                 \
    FUNCTION(Init, v1) FUNCTION(DriverGetVersion, v1) FUNCTION(DeviceGetCount, v1) FUNCTION(DeviceGet, v1)             \
    FUNCTION(DeviceGetAttribute, v1) FUNCTION(DeviceGetName, v1) FUNCTION(DeviceComputeCapability, v1)                 \
    FUNCTION(CtxCreate, v2) FUNCTION(CtxGetCurrent, v1) FUNCTION(CtxSetLimit, v1) FUNCTION(CtxPushCurrent, v2)         \
    FUNCTION(CtxPopCurrent, v2) FUNCTION(CtxDestroy, v2) FUNCTION(MemAlloc, v2) FUNCTION(MemAllocPitch, v2)            \
    FUNCTION(MemAllocManaged, v1) FUNCTION(MemsetD8Async, v1) FUNCTION(MemFree, v2) FUNCTION(Memcpy, v1)               \
    FUNCTION(MemcpyAsync, v1) FUNCTION(Memcpy2D, v2) FUNCTION(Memcpy2DAsync, v2) FUNCTION(MemcpyHtoD, v2)              \
    FUNCTION(MemcpyHtoDAsync, v2) FUNCTION(MemcpyDtoH, v2) FUNCTION(MemcpyDtoHAsync, v2) FUNCTION(MemcpyDtoD, v2)      \
    FUNCTION(MemcpyDtoDAsync, v2) FUNCTION(GetErrorName, v1) FUNCTION(GetErrorString, v1) FUNCTION(CtxGetDevice, v1)   \
    FUNCTION(DevicePrimaryCtxRetain, v1) FUNCTION(DevicePrimaryCtxRelease, v1)                                         \
    FUNCTION(DevicePrimaryCtxSetFlags, v1) FUNCTION(DevicePrimaryCtxGetState, v1)                                      \
    FUNCTION(DevicePrimaryCtxReset, v1) FUNCTION(StreamCreate, v1) FUNCTION(StreamQuery, v1)                           \
    FUNCTION(StreamSynchronize, v1) FUNCTION(StreamDestroy, v2) FUNCTION(StreamAddCallback, v1)                        \
    FUNCTION(StreamWaitEvent, v1) FUNCTION(EventCreate, v1) FUNCTION(EventDestroy, v2)                                 \
    FUNCTION(EventSynchronize, v1) FUNCTION(EventQuery, v1) FUNCTION(EventRecord, v1) FUNCTION(LaunchKernel, v1)       \
    FUNCTION(LinkCreate, v1) FUNCTION(LinkAddData, v1) FUNCTION(LinkComplete, v1) FUNCTION(LinkDestroy, v1)            \
    FUNCTION(ModuleLoadData, v1) FUNCTION(ModuleUnload, v1) FUNCTION(ModuleGetFunction, v1)                            \
    FUNCTION(ModuleGetGlobal, v2) FUNCTION(TexObjectCreate, v1) FUNCTION(TexObjectDestroy, v1)                         \
    FUNCTION(GLGetDevices, v2) FUNCTION(GraphicsGLRegisterImage, v1) FUNCTION(GraphicsUnregisterResource, v1)          \
    FUNCTION(GraphicsMapResources, v1) FUNCTION(GraphicsUnmapResources, v1)                                            \
    FUNCTION(GraphicsSubResourceGetMappedArray, v1) FUNCTION(GraphicsResourceGetMappedPointer, v2)                     \
    FUNCTION(ArrayCreate, v2) FUNCTION(Array3DCreate, v2) FUNCTION(ArrayDestroy, v1)

/* Those that it does not; a program compares them with NULL. cuDeviceGetUuid_v2 is one more. */
#define CUSHIM_FFNV_OPTIONAL(FUNCTION)                                                                                 \
    FUNCTION(DeviceGetUuid, v1) FUNCTION(DeviceGetLuid, v1) FUNCTION(DeviceGetByPCIBusId, v1)                          \
    FUNCTION(DeviceGetPCIBusId, v1) FUNCTION(ImportExternalMemory, v1) FUNCTION(DestroyExternalMemory, v1)             \
    FUNCTION(ExternalMemoryGetMappedBuffer, v1) FUNCTION(ExternalMemoryGetMappedMipmappedArray, v1)                    \
    FUNCTION(MipmappedArrayDestroy, v1) FUNCTION(MipmappedArrayGetLevel, v1) FUNCTION(ImportExternalSemaphore, v1)     \
    FUNCTION(DestroyExternalSemaphore, v1) FUNCTION(SignalExternalSemaphoresAsync, v1)                                 \
    FUNCTION(WaitExternalSemaphoresAsync, v1) FUNCTION(EGLStreamProducerConnect, v1)                                   \
    FUNCTION(EGLStreamProducerDisconnect, v1) FUNCTION(EGLStreamConsumerDisconnect, v1)                                \
    FUNCTION(EGLStreamProducerPresentFrame, v1) FUNCTION(EGLStreamProducerReturnFrame, v1)

/* clang-format on */

typedef struct CudaFunctions {
#define CUSHIM_FFNV_MEMBER(function, abi) CUSHIM_TYPE_##abi(function) * cu##function;
    CUSHIM_FFNV_REQUIRED(CUSHIM_FFNV_MEMBER)
    CUSHIM_FFNV_OPTIONAL(CUSHIM_FFNV_MEMBER)
#ifndef cuDeviceGetUuid /* where <cuda.h> renames the other one to this */
    tcuDeviceGetUuid_v2 *cuDeviceGetUuid_v2;
#endif
#undef CUSHIM_FFNV_MEMBER
    void *lib; /* NULL: cushim keeps the library */
} CudaFunctions;

#ifdef __cplusplus
extern "C" {
#endif

/** Frees *functions and sets it to NULL. The driver stays loaded. */
static inline void cuda_free_functions(CudaFunctions **functions)
{
    if (functions == NULL)
        return;
    free(*functions);
    *functions = NULL;
}

static inline int cushim_ffnv_has(enum cushim_slot slot)
{
    return cushim_slot_get_state(slot, CUSHIM_DEFAULT_STREAM_LEGACY) != CUSHIM_STATE_MISSING;
}

/**
 * Loads the driver and fills *functions.
 *
 * @return 0; -1 if no driver could be loaded or memory is exhausted, and *functions is then NULL.
 */
static inline int cuda_load_functions(CudaFunctions **functions, void *logctx)
{
    const struct cushim_dispatch_table *table;
    CudaFunctions *loaded;
    cuda_free_functions(functions);
    (void)logctx;
    if (cushim_load(NULL) != CUDA_SUCCESS) {
#ifdef FFNV_LOG_FUNC
        FFNV_LOG_FUNC(logctx, "%s\n", cushim_diagnosis_get()->message);
#endif
        return -1;
    }
    loaded = (CudaFunctions *)calloc(1, sizeof *loaded);
    if (loaded == NULL)
        return -1;
    table = cushim_table_legacy();
#define CUSHIM_FFNV_SET(function, abi) loaded->cu##function = table->function##_##abi;
#define CUSHIM_FFNV_SET_IF_PRESENT(function, abi)                                                                      \
    loaded->cu##function = cushim_ffnv_has(CUSHIM_SLOT_##function##_##abi) ? table->function##_##abi : NULL;
    CUSHIM_FFNV_REQUIRED(CUSHIM_FFNV_SET)
    CUSHIM_FFNV_OPTIONAL(CUSHIM_FFNV_SET_IF_PRESENT)
#undef CUSHIM_FFNV_SET
#undef CUSHIM_FFNV_SET_IF_PRESENT
    loaded->cuDeviceGetUuid_v2 = cushim_ffnv_has(CUSHIM_SLOT_DeviceGetUuid_v2) ? table->DeviceGetUuid_v2 : NULL;
    *functions = loaded;
    return 0;
}

#ifdef __cplusplus
}
#endif

#undef CUSHIM_FFNV_REQUIRED
#undef CUSHIM_FFNV_OPTIONAL

#if defined(__has_include_next)
#    if __has_include_next(<ffnvcodec/dynlink_loader.h>)
#        include_next <ffnvcodec/dynlink_loader.h>
#    endif
#endif

#endif
