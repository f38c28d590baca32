/* SPDX-License-Identifier: MIT */
/*
 * entry_points.h - the typed list: one row for each slot of the table.
 *
 *   CUSHIM_ENTRY(function, abi, version, parameters, arguments)
 *   CUSHIM_ENTRY_BY_KIND(function, abi, version, parameters, arguments)
 *   CUSHIM_ENTRY_WINDOWS(function, abi, version, parameters, arguments)
 *
 *   function    the driver function without its "cu"; as a token, so that no macro of <cuda.h> can rename it
 *   abi         v1 for the oldest ABI version, which has no suffix; v2, v3, ... as in the exported name
 *   version     the CUDA version that added this entry point, 1000 * major + 10 * minor
 *   parameters  the typed parameter list, in parentheses; (void) for a function without parameters
 *   arguments   the names of those parameters, in parentheses, to pass them on; () for none
 *
 * The slot is named function_abi, such as StreamGetCaptureInfo_v3, and every function returns a CUresult. The order of
 * the rows is the order of the slots in the table, and part of the ABI.
 *
 * A row has the second form if the tables of the two default streams have different functions in its slot: the entry
 * point or a later version of it has a per-thread variant, or it returns such variants (cuGetProcAddress). Code that
 * wraps such a slot needs a wrapper for each table (layer.h). It has the third form if only a driver for Windows fills
 * its slot, which exists on every platform.
 *
 * Define CUSHIM_ENTRY before including this file, as often as needed; it defaults to nothing, and the others to it. All
 * are undefined at the end. A file that defines functions with these parameters must include abi/egl.h, too: one of the
 * functions takes a frame by value.
 *
 * Where the meaning of a type name depends on the CUDA version, the list uses a name that has one meaning:
 * CUlaunchAttributeValue for CUstreamAttrValue and CUkernelNodeAttrValue, CUDA_KERNEL_NODE_PARAMS_v1 and _v2. Types of
 * Direct3D, OpenGL, EGL and VDPAU are given as their underlying C types.
 *
 * Made by loader/lists/write_lists.py from loader/lists/entry_points.tsv: do not edit.
 */
#include "cushim/abi/cuda_abi.h"

/* The newest CUDA version in the list, and the newest whose entry points were compared with those of a driver. All
 * were compared with NVIDIA's headers. A driver may be newer. */
#define CUSHIM_LIST_VERSION 13050
#define CUSHIM_LIST_COMPARED_VERSION 13000

/* The number of entry points in the list. A subset (amalgamate.py --slots) has fewer. */
#define CUSHIM_LIST_COUNT 623

#ifndef CUSHIM_ENTRY
#    define CUSHIM_ENTRY(function, abi, version, parameters, arguments)
#endif
#ifndef CUSHIM_ENTRY_BY_KIND
#    define CUSHIM_ENTRY_BY_KIND CUSHIM_ENTRY
#endif
#ifndef CUSHIM_ENTRY_WINDOWS
#    define CUSHIM_ENTRY_WINDOWS CUSHIM_ENTRY
#endif

/* clang-format off */

CUSHIM_ENTRY(Array3DCreate, v1, 2000, (CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR_v1 *pAllocateArray),
             (pHandle, pAllocateArray))
CUSHIM_ENTRY(Array3DCreate, v2, 3020, (CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray),
             (pHandle, pAllocateArray))
CUSHIM_ENTRY(Array3DGetDescriptor, v1, 2000, (CUDA_ARRAY3D_DESCRIPTOR_v1 *pArrayDescriptor, CUarray hArray),
             (pArrayDescriptor, hArray))
CUSHIM_ENTRY(Array3DGetDescriptor, v2, 3020, (CUDA_ARRAY3D_DESCRIPTOR *pArrayDescriptor, CUarray hArray),
             (pArrayDescriptor, hArray))
CUSHIM_ENTRY(ArrayCreate, v1, 2000, (CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR_v1 *pAllocateArray),
             (pHandle, pAllocateArray))
CUSHIM_ENTRY(ArrayCreate, v2, 3020, (CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray),
             (pHandle, pAllocateArray))
CUSHIM_ENTRY(ArrayDestroy, v1, 2000, (CUarray hArray), (hArray))
CUSHIM_ENTRY(ArrayGetDescriptor, v1, 2000, (CUDA_ARRAY_DESCRIPTOR_v1 *pArrayDescriptor, CUarray hArray),
             (pArrayDescriptor, hArray))
CUSHIM_ENTRY(ArrayGetDescriptor, v2, 3020, (CUDA_ARRAY_DESCRIPTOR *pArrayDescriptor, CUarray hArray),
             (pArrayDescriptor, hArray))
CUSHIM_ENTRY(ArrayGetMemoryRequirements, v1, 11060,
             (CUDA_ARRAY_MEMORY_REQUIREMENTS *memoryRequirements, CUarray array, CUdevice device),
             (memoryRequirements, array, device))
CUSHIM_ENTRY(ArrayGetPlane, v1, 11020, (CUarray *pPlaneArray, CUarray hArray, unsigned int planeIdx),
             (pPlaneArray, hArray, planeIdx))
CUSHIM_ENTRY(ArrayGetSparseProperties, v1, 11010, (CUDA_ARRAY_SPARSE_PROPERTIES *sparseProperties, CUarray array),
             (sparseProperties, array))
CUSHIM_ENTRY(CheckpointOperationComplete, v1, 13040, (CUcheckpointOperationHandle handle), (handle))
CUSHIM_ENTRY(CheckpointProcessCheckpoint, v1, 12080, (int pid, CUcheckpointCheckpointArgs *args), (pid, args))
CUSHIM_ENTRY(CheckpointProcessGetRestoreThreadId, v1, 12080, (int pid, int *tid), (pid, tid))
CUSHIM_ENTRY(CheckpointProcessGetState, v1, 12080, (int pid, CUprocessState *state), (pid, state))
CUSHIM_ENTRY(CheckpointProcessLock, v1, 12080, (int pid, CUcheckpointLockArgs *args), (pid, args))
CUSHIM_ENTRY(CheckpointProcessRestore, v1, 12080, (int pid, CUcheckpointRestoreArgs *args), (pid, args))
CUSHIM_ENTRY(CheckpointProcessUnlock, v1, 12080, (int pid, CUcheckpointUnlockArgs *args), (pid, args))
CUSHIM_ENTRY(CoredumpDeregisterCompleteCallback, v1, 13020, (CUcoredumpCallbackHandle callback), (callback))
CUSHIM_ENTRY(CoredumpDeregisterStartCallback, v1, 13020, (CUcoredumpCallbackHandle callback), (callback))
CUSHIM_ENTRY(CoredumpGetAttribute, v1, 12010, (CUcoredumpSettings attrib, void *value, size_t *size),
             (attrib, value, size))
CUSHIM_ENTRY(CoredumpGetAttributeGlobal, v1, 12010, (CUcoredumpSettings attrib, void *value, size_t *size),
             (attrib, value, size))
CUSHIM_ENTRY(CoredumpRegisterCompleteCallback, v1, 13020,
             (CUcoredumpStatusCallback callback, void *userData, CUcoredumpCallbackHandle *callbackOut),
             (callback, userData, callbackOut))
CUSHIM_ENTRY(CoredumpRegisterStartCallback, v1, 13020,
             (CUcoredumpStatusCallback callback, void *userData, CUcoredumpCallbackHandle *callbackOut),
             (callback, userData, callbackOut))
CUSHIM_ENTRY(CoredumpSetAttribute, v1, 12010, (CUcoredumpSettings attrib, void *value, size_t *size),
             (attrib, value, size))
CUSHIM_ENTRY(CoredumpSetAttributeGlobal, v1, 12010, (CUcoredumpSettings attrib, void *value, size_t *size),
             (attrib, value, size))
CUSHIM_ENTRY(CtxAttach, v1, 2000, (CUcontext *pctx, unsigned int flags), (pctx, flags))
CUSHIM_ENTRY(CtxCreate, v1, 2000, (CUcontext *pctx, unsigned int flags, CUdevice dev), (pctx, flags, dev))
CUSHIM_ENTRY(CtxCreate, v2, 3020, (CUcontext *pctx, unsigned int flags, CUdevice dev), (pctx, flags, dev))
CUSHIM_ENTRY(CtxCreate, v3, 11040,
             (CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams, unsigned int flags, CUdevice dev),
             (pctx, paramsArray, numParams, flags, dev))
CUSHIM_ENTRY(CtxCreate, v4, 12050,
             (CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags, CUdevice dev),
             (pctx, ctxCreateParams, flags, dev))
CUSHIM_ENTRY(CtxDestroy, v1, 2000, (CUcontext ctx), (ctx))
CUSHIM_ENTRY(CtxDestroy, v2, 4000, (CUcontext ctx), (ctx))
CUSHIM_ENTRY(CtxDetach, v1, 2000, (CUcontext ctx), (ctx))
CUSHIM_ENTRY(CtxDisablePeerAccess, v1, 4000, (CUcontext peerContext), (peerContext))
CUSHIM_ENTRY(CtxEnablePeerAccess, v1, 4000, (CUcontext peerContext, unsigned int Flags), (peerContext, Flags))
CUSHIM_ENTRY(CtxFromGreenCtx, v1, 12040, (CUcontext *pContext, CUgreenCtx hCtx), (pContext, hCtx))
CUSHIM_ENTRY(CtxGetApiVersion, v1, 3020, (CUcontext ctx, unsigned int *version), (ctx, version))
CUSHIM_ENTRY(CtxGetCacheConfig, v1, 3020, (CUfunc_cache *pconfig), (pconfig))
CUSHIM_ENTRY(CtxGetCurrent, v1, 4000, (CUcontext *pctx), (pctx))
CUSHIM_ENTRY(CtxGetDevResource, v1, 12040, (CUcontext hCtx, CUdevResource *resource, CUdevResourceType type),
             (hCtx, resource, type))
CUSHIM_ENTRY(CtxGetDevice, v1, 2000, (CUdevice *device), (device))
CUSHIM_ENTRY(CtxGetDevice, v2, 13000, (CUdevice *device, CUcontext ctx), (device, ctx))
CUSHIM_ENTRY(CtxGetExecAffinity, v1, 11040, (CUexecAffinityParam *pExecAffinity, CUexecAffinityType type),
             (pExecAffinity, type))
CUSHIM_ENTRY(CtxGetFlags, v1, 7000, (unsigned int *flags), (flags))
CUSHIM_ENTRY(CtxGetId, v1, 12000, (CUcontext ctx, unsigned long long *ctxId), (ctx, ctxId))
CUSHIM_ENTRY(CtxGetLimit, v1, 3010, (size_t *pvalue, CUlimit limit), (pvalue, limit))
CUSHIM_ENTRY(CtxGetSharedMemConfig, v1, 4020, (CUsharedconfig *pConfig), (pConfig))
CUSHIM_ENTRY(CtxGetStreamPriorityRange, v1, 5050, (int *leastPriority, int *greatestPriority),
             (leastPriority, greatestPriority))
CUSHIM_ENTRY(CtxPopCurrent, v1, 2000, (CUcontext *pctx), (pctx))
CUSHIM_ENTRY(CtxPopCurrent, v2, 4000, (CUcontext *pctx), (pctx))
CUSHIM_ENTRY(CtxPushCurrent, v1, 2000, (CUcontext ctx), (ctx))
CUSHIM_ENTRY(CtxPushCurrent, v2, 4000, (CUcontext ctx), (ctx))
CUSHIM_ENTRY(CtxRecordEvent, v1, 12050, (CUcontext hCtx, CUevent hEvent), (hCtx, hEvent))
CUSHIM_ENTRY(CtxResetPersistingL2Cache, v1, 11000, (void), ())
CUSHIM_ENTRY(CtxSetCacheConfig, v1, 3020, (CUfunc_cache config), (config))
CUSHIM_ENTRY(CtxSetCurrent, v1, 4000, (CUcontext ctx), (ctx))
CUSHIM_ENTRY(CtxSetFlags, v1, 12010, (unsigned int flags), (flags))
CUSHIM_ENTRY(CtxSetLimit, v1, 3010, (CUlimit limit, size_t value), (limit, value))
CUSHIM_ENTRY(CtxSetSharedMemConfig, v1, 4020, (CUsharedconfig config), (config))
CUSHIM_ENTRY(CtxSynchronize, v1, 2000, (void), ())
CUSHIM_ENTRY(CtxSynchronize, v2, 13000, (CUcontext ctx), (ctx))
CUSHIM_ENTRY(CtxWaitEvent, v1, 12050, (CUcontext hCtx, CUevent hEvent), (hCtx, hEvent))
CUSHIM_ENTRY(DestroyExternalMemory, v1, 10000, (CUexternalMemory extMem), (extMem))
CUSHIM_ENTRY(DestroyExternalSemaphore, v1, 10000, (CUexternalSemaphore extSem), (extSem))
CUSHIM_ENTRY(DevResourceGenerateDesc, v1, 12040,
             (CUdevResourceDesc *phDesc, CUdevResource *resources, unsigned int nbResources),
             (phDesc, resources, nbResources))
CUSHIM_ENTRY(DevSmResourceSplit, v1, 13010,
             (CUdevResource *result, unsigned int nbGroups, const CUdevResource *input, CUdevResource *remainder,
              unsigned int flags, CU_DEV_SM_RESOURCE_GROUP_PARAMS *groupParams),
             (result, nbGroups, input, remainder, flags, groupParams))
CUSHIM_ENTRY(DevSmResourceSplitByCount, v1, 12040,
             (CUdevResource *result, unsigned int *nbGroups, const CUdevResource *input, CUdevResource *remaining,
              unsigned int useFlags, unsigned int minCount), (result, nbGroups, input, remaining, useFlags, minCount))
CUSHIM_ENTRY(DeviceCanAccessPeer, v1, 4000, (int *canAccessPeer, CUdevice dev, CUdevice peerDev),
             (canAccessPeer, dev, peerDev))
CUSHIM_ENTRY(DeviceComputeCapability, v1, 2000, (int *major, int *minor, CUdevice dev), (major, minor, dev))
CUSHIM_ENTRY(DeviceGet, v1, 2000, (CUdevice *device, int ordinal), (device, ordinal))
CUSHIM_ENTRY(DeviceGetAttribute, v1, 2000, (int *pi, CUdevice_attribute attrib, CUdevice dev), (pi, attrib, dev))
CUSHIM_ENTRY(DeviceGetByPCIBusId, v1, 4010, (CUdevice *dev, const char *pciBusId), (dev, pciBusId))
CUSHIM_ENTRY(DeviceGetCount, v1, 2000, (int *count), (count))
CUSHIM_ENTRY(DeviceGetDefaultMemPool, v1, 11020, (CUmemoryPool *pool_out, CUdevice dev), (pool_out, dev))
CUSHIM_ENTRY(DeviceGetDevResource, v1, 12040, (CUdevice device, CUdevResource *resource, CUdevResourceType type),
             (device, resource, type))
CUSHIM_ENTRY(DeviceGetExecAffinitySupport, v1, 11040, (int *pi, CUexecAffinityType type, CUdevice dev), (pi, type, dev))
CUSHIM_ENTRY(DeviceGetGraphMemAttribute, v1, 11040, (CUdevice device, CUgraphMem_attribute attr, void *value),
             (device, attr, value))
CUSHIM_ENTRY(DeviceGetHostAtomicCapabilities, v1, 13000,
             (unsigned int *capabilities, const CUatomicOperation *operations, unsigned int count, CUdevice dev),
             (capabilities, operations, count, dev))
CUSHIM_ENTRY(DeviceGetLuid, v1, 10000, (char *luid, unsigned int *deviceNodeMask, CUdevice dev),
             (luid, deviceNodeMask, dev))
CUSHIM_ENTRY(DeviceGetMemPool, v1, 11020, (CUmemoryPool *pool, CUdevice dev), (pool, dev))
CUSHIM_ENTRY(DeviceGetName, v1, 2000, (char *name, int len, CUdevice dev), (name, len, dev))
CUSHIM_ENTRY(DeviceGetNvSciSyncAttributes, v1, 10020, (void *nvSciSyncAttrList, CUdevice dev, int flags),
             (nvSciSyncAttrList, dev, flags))
CUSHIM_ENTRY(DeviceGetP2PAtomicCapabilities, v1, 13000,
             (unsigned int *capabilities, const CUatomicOperation *operations, unsigned int count, CUdevice srcDevice,
              CUdevice dstDevice), (capabilities, operations, count, srcDevice, dstDevice))
CUSHIM_ENTRY(DeviceGetP2PAttribute, v1, 8000,
             (int *value, CUdevice_P2PAttribute attrib, CUdevice srcDevice, CUdevice dstDevice),
             (value, attrib, srcDevice, dstDevice))
CUSHIM_ENTRY(DeviceGetPCIBusId, v1, 4010, (char *pciBusId, int len, CUdevice dev), (pciBusId, len, dev))
CUSHIM_ENTRY(DeviceGetProperties, v1, 2000, (CUdevprop *prop, CUdevice dev), (prop, dev))
CUSHIM_ENTRY(DeviceGetTexture1DLinearMaxWidth, v1, 11010,
             (size_t *maxWidthInElements, CUarray_format format, unsigned int numChannels, CUdevice dev),
             (maxWidthInElements, format, numChannels, dev))
CUSHIM_ENTRY(DeviceGetUuid, v1, 9020, (CUuuid *uuid, CUdevice dev), (uuid, dev))
CUSHIM_ENTRY(DeviceGetUuid, v2, 11040, (CUuuid *uuid, CUdevice dev), (uuid, dev))
CUSHIM_ENTRY(DeviceGraphMemTrim, v1, 11040, (CUdevice device), (device))
CUSHIM_ENTRY(DevicePrimaryCtxGetState, v1, 7000, (CUdevice dev, unsigned int *flags, int *active), (dev, flags, active))
CUSHIM_ENTRY(DevicePrimaryCtxRelease, v1, 7000, (CUdevice dev), (dev))
CUSHIM_ENTRY(DevicePrimaryCtxRelease, v2, 11000, (CUdevice dev), (dev))
CUSHIM_ENTRY(DevicePrimaryCtxReset, v1, 7000, (CUdevice dev), (dev))
CUSHIM_ENTRY(DevicePrimaryCtxReset, v2, 11000, (CUdevice dev), (dev))
CUSHIM_ENTRY(DevicePrimaryCtxRetain, v1, 7000, (CUcontext *pctx, CUdevice dev), (pctx, dev))
CUSHIM_ENTRY(DevicePrimaryCtxSetFlags, v1, 7000, (CUdevice dev, unsigned int flags), (dev, flags))
CUSHIM_ENTRY(DevicePrimaryCtxSetFlags, v2, 11000, (CUdevice dev, unsigned int flags), (dev, flags))
CUSHIM_ENTRY(DeviceRegisterAsyncNotification, v1, 12040,
             (CUdevice device, CUasyncCallback callbackFunc, void *userData, CUasyncCallbackHandle *callback),
             (device, callbackFunc, userData, callback))
CUSHIM_ENTRY(DeviceSetGraphMemAttribute, v1, 11040, (CUdevice device, CUgraphMem_attribute attr, void *value),
             (device, attr, value))
CUSHIM_ENTRY(DeviceSetMemPool, v1, 11020, (CUdevice dev, CUmemoryPool pool), (dev, pool))
CUSHIM_ENTRY(DeviceTotalMem, v1, 2000, (unsigned int *bytes, CUdevice dev), (bytes, dev))
CUSHIM_ENTRY(DeviceTotalMem, v2, 3020, (size_t *bytes, CUdevice dev), (bytes, dev))
CUSHIM_ENTRY(DeviceUnregisterAsyncNotification, v1, 12040, (CUdevice device, CUasyncCallbackHandle callback),
             (device, callback))
CUSHIM_ENTRY(DriverGetVersion, v1, 2020, (int *driverVersion), (driverVersion))
CUSHIM_ENTRY(EGLStreamConsumerAcquireFrame, v1, 7000,
             (struct CUeglStreamConnection_st **conn, CUgraphicsResource *pCudaResource, CUstream *pStream,
              unsigned int timeout), (conn, pCudaResource, pStream, timeout))
CUSHIM_ENTRY(EGLStreamConsumerConnect, v1, 7000, (struct CUeglStreamConnection_st **conn, void *stream), (conn, stream))
CUSHIM_ENTRY(EGLStreamConsumerConnectWithFlags, v1, 8000,
             (struct CUeglStreamConnection_st **conn, void *stream, unsigned int flags), (conn, stream, flags))
CUSHIM_ENTRY(EGLStreamConsumerDisconnect, v1, 7000, (struct CUeglStreamConnection_st **conn), (conn))
CUSHIM_ENTRY(EGLStreamConsumerReleaseFrame, v1, 7000,
             (struct CUeglStreamConnection_st **conn, CUgraphicsResource pCudaResource, CUstream *pStream),
             (conn, pCudaResource, pStream))
CUSHIM_ENTRY(EGLStreamProducerConnect, v1, 7000,
             (struct CUeglStreamConnection_st **conn, void *stream, int width, int height),
             (conn, stream, width, height))
CUSHIM_ENTRY(EGLStreamProducerDisconnect, v1, 7000, (struct CUeglStreamConnection_st **conn), (conn))
CUSHIM_ENTRY(EGLStreamProducerPresentFrame, v1, 7000,
             (struct CUeglStreamConnection_st **conn, struct CUeglFrame_st eglframe, CUstream *pStream),
             (conn, eglframe, pStream))
CUSHIM_ENTRY(EGLStreamProducerReturnFrame, v1, 7000,
             (struct CUeglStreamConnection_st **conn, struct CUeglFrame_st *eglframe, CUstream *pStream),
             (conn, eglframe, pStream))
CUSHIM_ENTRY(EventCreate, v1, 2000, (CUevent *phEvent, unsigned int Flags), (phEvent, Flags))
CUSHIM_ENTRY(EventDestroy, v1, 2000, (CUevent hEvent), (hEvent))
CUSHIM_ENTRY(EventDestroy, v2, 4000, (CUevent hEvent), (hEvent))
CUSHIM_ENTRY(EventElapsedTime, v1, 2000, (float *pMilliseconds, CUevent hStart, CUevent hEnd),
             (pMilliseconds, hStart, hEnd))
CUSHIM_ENTRY(EventElapsedTime, v2, 12080, (float *pMilliseconds, CUevent hStart, CUevent hEnd),
             (pMilliseconds, hStart, hEnd))
CUSHIM_ENTRY(EventQuery, v1, 2000, (CUevent hEvent), (hEvent))
CUSHIM_ENTRY_BY_KIND(EventRecord, v1, 2000, (CUevent hEvent, CUstream hStream), (hEvent, hStream))
CUSHIM_ENTRY_BY_KIND(EventRecordWithFlags, v1, 11010, (CUevent hEvent, CUstream hStream, unsigned int flags),
             (hEvent, hStream, flags))
CUSHIM_ENTRY(EventSynchronize, v1, 2000, (CUevent hEvent), (hEvent))
CUSHIM_ENTRY(ExternalMemoryGetMappedBuffer, v1, 10000,
             (CUdeviceptr *devPtr, CUexternalMemory extMem, const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *bufferDesc),
             (devPtr, extMem, bufferDesc))
CUSHIM_ENTRY(ExternalMemoryGetMappedMipmappedArray, v1, 10000,
             (CUmipmappedArray *mipmap, CUexternalMemory extMem,
              const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *mipmapDesc), (mipmap, extMem, mipmapDesc))
CUSHIM_ENTRY(FlushGPUDirectRDMAWrites, v1, 11030,
             (CUflushGPUDirectRDMAWritesTarget target, CUflushGPUDirectRDMAWritesScope scope), (target, scope))
CUSHIM_ENTRY(FuncGetAttribute, v1, 2020, (int *pi, CUfunction_attribute attrib, CUfunction hfunc), (pi, attrib, hfunc))
CUSHIM_ENTRY(FuncGetModule, v1, 11000, (CUmodule *hmod, CUfunction hfunc), (hmod, hfunc))
CUSHIM_ENTRY(FuncGetName, v1, 12030, (const char **name, CUfunction hfunc), (name, hfunc))
CUSHIM_ENTRY(FuncGetParamCount, v1, 13020, (CUfunction func, size_t *paramCount), (func, paramCount))
CUSHIM_ENTRY(FuncGetParamInfo, v1, 12040, (CUfunction func, size_t paramIndex, size_t *paramOffset, size_t *paramSize),
             (func, paramIndex, paramOffset, paramSize))
CUSHIM_ENTRY(FuncIsLoaded, v1, 12040, (CUfunctionLoadingState *state, CUfunction hfunc), (state, hfunc))
CUSHIM_ENTRY(FuncLoad, v1, 12040, (CUfunction hfunc), (hfunc))
CUSHIM_ENTRY(FuncSetAttribute, v1, 9000, (CUfunction hfunc, CUfunction_attribute attrib, int value),
             (hfunc, attrib, value))
CUSHIM_ENTRY(FuncSetBlockShape, v1, 2000, (CUfunction hfunc, int x, int y, int z), (hfunc, x, y, z))
CUSHIM_ENTRY(FuncSetCacheConfig, v1, 3000, (CUfunction hfunc, CUfunc_cache config), (hfunc, config))
CUSHIM_ENTRY(FuncSetSharedMemConfig, v1, 4020, (CUfunction hfunc, CUsharedconfig config), (hfunc, config))
CUSHIM_ENTRY(FuncSetSharedSize, v1, 2000, (CUfunction hfunc, unsigned int bytes), (hfunc, bytes))
CUSHIM_ENTRY(GLCtxCreate, v1, 2000, (CUcontext *pCtx, unsigned int Flags, CUdevice device), (pCtx, Flags, device))
CUSHIM_ENTRY(GLCtxCreate, v2, 3020, (CUcontext *pCtx, unsigned int Flags, CUdevice device), (pCtx, Flags, device))
CUSHIM_ENTRY(GLGetDevices, v1, 4010,
             (unsigned int *pCudaDeviceCount, CUdevice *pCudaDevices, unsigned int cudaDeviceCount,
              unsigned int deviceList), (pCudaDeviceCount, pCudaDevices, cudaDeviceCount, deviceList))
CUSHIM_ENTRY(GLGetDevices, v2, 6050,
             (unsigned int *pCudaDeviceCount, CUdevice *pCudaDevices, unsigned int cudaDeviceCount,
              unsigned int deviceList), (pCudaDeviceCount, pCudaDevices, cudaDeviceCount, deviceList))
CUSHIM_ENTRY(GLInit, v1, 2000, (void), ())
CUSHIM_ENTRY_BY_KIND(GLMapBufferObject, v1, 2000, (CUdeviceptr_v1 *dptr, unsigned int *size, unsigned int buffer),
             (dptr, size, buffer))
CUSHIM_ENTRY_BY_KIND(GLMapBufferObject, v2, 3020, (CUdeviceptr *dptr, size_t *size, unsigned int buffer),
             (dptr, size, buffer))
CUSHIM_ENTRY_BY_KIND(GLMapBufferObjectAsync, v1, 2030,
             (CUdeviceptr_v1 *dptr, unsigned int *size, unsigned int buffer, CUstream hStream),
             (dptr, size, buffer, hStream))
CUSHIM_ENTRY_BY_KIND(GLMapBufferObjectAsync, v2, 3020,
             (CUdeviceptr *dptr, size_t *size, unsigned int buffer, CUstream hStream), (dptr, size, buffer, hStream))
CUSHIM_ENTRY(GLRegisterBufferObject, v1, 2000, (unsigned int buffer), (buffer))
CUSHIM_ENTRY(GLSetBufferObjectMapFlags, v1, 2030, (unsigned int buffer, unsigned int Flags), (buffer, Flags))
CUSHIM_ENTRY(GLUnmapBufferObject, v1, 2000, (unsigned int buffer), (buffer))
CUSHIM_ENTRY(GLUnmapBufferObjectAsync, v1, 2030, (unsigned int buffer, CUstream hStream), (buffer, hStream))
CUSHIM_ENTRY(GLUnregisterBufferObject, v1, 2000, (unsigned int buffer), (buffer))
CUSHIM_ENTRY(GetErrorName, v1, 6000, (CUresult error, const char **pStr), (error, pStr))
CUSHIM_ENTRY(GetErrorString, v1, 6000, (CUresult error, const char **pStr), (error, pStr))
CUSHIM_ENTRY(GetExportTable, v1, 3000, (const void **ppExportTable, const CUuuid *pExportTableId),
             (ppExportTable, pExportTableId))
CUSHIM_ENTRY_BY_KIND(GetProcAddress, v1, 11030, (const char *symbol, void **pfn, int driverVersion, cuuint64_t flags),
             (symbol, pfn, driverVersion, flags))
CUSHIM_ENTRY_BY_KIND(GetProcAddress, v2, 12000,
             (const char *symbol, void **pfn, int driverVersion, cuuint64_t flags,
              CUdriverProcAddressQueryResult *symbolFound), (symbol, pfn, driverVersion, flags, symbolFound))
CUSHIM_ENTRY(GraphAddBatchMemOpNode, v1, 11070,
             (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
              const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams),
             (phGraphNode, hGraph, dependencies, numDependencies, nodeParams))
CUSHIM_ENTRY(GraphAddChildGraphNode, v1, 10000,
             (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
              CUgraph childGraph), (phGraphNode, hGraph, dependencies, numDependencies, childGraph))
CUSHIM_ENTRY(GraphAddDependencies, v1, 10000,
             (CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to, size_t numDependencies),
             (hGraph, from, to, numDependencies))
CUSHIM_ENTRY(GraphAddDependencies, v2, 12030,
             (CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *edgeData,
              size_t numDependencies), (hGraph, from, to, edgeData, numDependencies))
CUSHIM_ENTRY(GraphAddEmptyNode, v1, 10000,
             (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies),
             (phGraphNode, hGraph, dependencies, numDependencies))
CUSHIM_ENTRY(GraphAddEventRecordNode, v1, 11010,
             (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
              CUevent event), (phGraphNode, hGraph, dependencies, numDependencies, event))
CUSHIM_ENTRY(GraphAddEventWaitNode, v1, 11010,
             (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
              CUevent event), (phGraphNode, hGraph, dependencies, numDependencies, event))
CUSHIM_ENTRY(GraphAddExternalSemaphoresSignalNode, v1, 11020,
             (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
              const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *nodeParams),
             (phGraphNode, hGraph, dependencies, numDependencies, nodeParams))
CUSHIM_ENTRY(GraphAddExternalSemaphoresWaitNode, v1, 11020,
             (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
              const CUDA_EXT_SEM_WAIT_NODE_PARAMS *nodeParams),
             (phGraphNode, hGraph, dependencies, numDependencies, nodeParams))
CUSHIM_ENTRY(GraphAddHostNode, v1, 10000,
             (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
              const CUDA_HOST_NODE_PARAMS *nodeParams),
             (phGraphNode, hGraph, dependencies, numDependencies, nodeParams))
CUSHIM_ENTRY(GraphAddKernelNode, v1, 10000,
             (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
              const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams),
             (phGraphNode, hGraph, dependencies, numDependencies, nodeParams))
CUSHIM_ENTRY(GraphAddKernelNode, v2, 12000,
             (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
              const CUDA_KERNEL_NODE_PARAMS_v2 *nodeParams),
             (phGraphNode, hGraph, dependencies, numDependencies, nodeParams))
CUSHIM_ENTRY(GraphAddMemAllocNode, v1, 11040,
             (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
              CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams), (phGraphNode, hGraph, dependencies, numDependencies, nodeParams))
CUSHIM_ENTRY(GraphAddMemFreeNode, v1, 11040,
             (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
              CUdeviceptr dptr), (phGraphNode, hGraph, dependencies, numDependencies, dptr))
CUSHIM_ENTRY(GraphAddMemcpyNode, v1, 10000,
             (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
              const CUDA_MEMCPY3D *copyParams, CUcontext ctx),
             (phGraphNode, hGraph, dependencies, numDependencies, copyParams, ctx))
CUSHIM_ENTRY(GraphAddMemsetNode, v1, 10000,
             (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
              const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx),
             (phGraphNode, hGraph, dependencies, numDependencies, memsetParams, ctx))
CUSHIM_ENTRY(GraphAddNode, v1, 12020,
             (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
              CUgraphNodeParams *nodeParams), (phGraphNode, hGraph, dependencies, numDependencies, nodeParams))
CUSHIM_ENTRY(GraphAddNode, v2, 12030,
             (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
              const CUgraphEdgeData *dependencyData, size_t numDependencies, CUgraphNodeParams *nodeParams),
             (phGraphNode, hGraph, dependencies, dependencyData, numDependencies, nodeParams))
CUSHIM_ENTRY(GraphBatchMemOpNodeGetParams, v1, 11070,
             (CUgraphNode hNode, CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams_out), (hNode, nodeParams_out))
CUSHIM_ENTRY(GraphBatchMemOpNodeSetParams, v1, 11070,
             (CUgraphNode hNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams), (hNode, nodeParams))
CUSHIM_ENTRY(GraphChildGraphNodeGetGraph, v1, 10000, (CUgraphNode hNode, CUgraph *phGraph), (hNode, phGraph))
CUSHIM_ENTRY(GraphClone, v1, 10000, (CUgraph *phGraphClone, CUgraph originalGraph), (phGraphClone, originalGraph))
CUSHIM_ENTRY(GraphConditionalHandleCreate, v1, 12030,
             (CUgraphConditionalHandle *pHandle_out, CUgraph hGraph, CUcontext ctx, unsigned int defaultLaunchValue,
              unsigned int flags), (pHandle_out, hGraph, ctx, defaultLaunchValue, flags))
CUSHIM_ENTRY(GraphCreate, v1, 10000, (CUgraph *phGraph, unsigned int flags), (phGraph, flags))
CUSHIM_ENTRY(GraphDebugDotPrint, v1, 11030, (CUgraph hGraph, const char *path, unsigned int flags),
             (hGraph, path, flags))
CUSHIM_ENTRY(GraphDestroy, v1, 10000, (CUgraph hGraph), (hGraph))
CUSHIM_ENTRY(GraphDestroyNode, v1, 10000, (CUgraphNode hNode), (hNode))
CUSHIM_ENTRY(GraphEventRecordNodeGetEvent, v1, 11010, (CUgraphNode hNode, CUevent *event_out), (hNode, event_out))
CUSHIM_ENTRY(GraphEventRecordNodeSetEvent, v1, 11010, (CUgraphNode hNode, CUevent event), (hNode, event))
CUSHIM_ENTRY(GraphEventWaitNodeGetEvent, v1, 11010, (CUgraphNode hNode, CUevent *event_out), (hNode, event_out))
CUSHIM_ENTRY(GraphEventWaitNodeSetEvent, v1, 11010, (CUgraphNode hNode, CUevent event), (hNode, event))
CUSHIM_ENTRY(GraphExecBatchMemOpNodeSetParams, v1, 11070,
             (CUgraphExec graphExec, CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams),
             (graphExec, node, nodeParams))
CUSHIM_ENTRY(GraphExecChildGraphNodeSetParams, v1, 11010,
             (CUgraphExec hGraphExec, CUgraphNode hNode, CUgraph childGraph), (hGraphExec, hNode, childGraph))
CUSHIM_ENTRY(GraphExecDestroy, v1, 10000, (CUgraphExec hGraphExec), (hGraphExec))
CUSHIM_ENTRY(GraphExecEventRecordNodeSetEvent, v1, 11010, (CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event),
             (hGraphExec, hNode, event))
CUSHIM_ENTRY(GraphExecEventWaitNodeSetEvent, v1, 11010, (CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event),
             (hGraphExec, hNode, event))
CUSHIM_ENTRY(GraphExecExternalSemaphoresSignalNodeSetParams, v1, 11020,
             (CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *nodeParams),
             (hGraphExec, hNode, nodeParams))
CUSHIM_ENTRY(GraphExecExternalSemaphoresWaitNodeSetParams, v1, 11020,
             (CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_EXT_SEM_WAIT_NODE_PARAMS *nodeParams),
             (hGraphExec, hNode, nodeParams))
CUSHIM_ENTRY(GraphExecGetFlags, v1, 12000, (CUgraphExec hGraphExec, cuuint64_t *flags), (hGraphExec, flags))
CUSHIM_ENTRY(GraphExecGetId, v1, 13010, (CUgraphExec hGraphExec, unsigned int *graphId), (hGraphExec, graphId))
CUSHIM_ENTRY(GraphExecHostNodeSetParams, v1, 10020,
             (CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS *nodeParams),
             (hGraphExec, hNode, nodeParams))
CUSHIM_ENTRY(GraphExecKernelNodeSetParams, v1, 10010,
             (CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams),
             (hGraphExec, hNode, nodeParams))
CUSHIM_ENTRY(GraphExecKernelNodeSetParams, v2, 12000,
             (CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v2 *nodeParams),
             (hGraphExec, hNode, nodeParams))
CUSHIM_ENTRY(GraphExecMemcpyNodeSetParams, v1, 10020,
             (CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_MEMCPY3D *copyParams, CUcontext ctx),
             (hGraphExec, hNode, copyParams, ctx))
CUSHIM_ENTRY(GraphExecMemsetNodeSetParams, v1, 10020,
             (CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx),
             (hGraphExec, hNode, memsetParams, ctx))
CUSHIM_ENTRY(GraphExecNodeSetParams, v1, 12020,
             (CUgraphExec hGraphExec, CUgraphNode hNode, CUgraphNodeParams *nodeParams),
             (hGraphExec, hNode, nodeParams))
CUSHIM_ENTRY(GraphExecUpdate, v1, 10020,
             (CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out,
              CUgraphExecUpdateResult *updateResult_out), (hGraphExec, hGraph, hErrorNode_out, updateResult_out))
CUSHIM_ENTRY(GraphExecUpdate, v2, 12000,
             (CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo *resultInfo),
             (hGraphExec, hGraph, resultInfo))
CUSHIM_ENTRY(GraphExternalSemaphoresSignalNodeGetParams, v1, 11020,
             (CUgraphNode hNode, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *params_out), (hNode, params_out))
CUSHIM_ENTRY(GraphExternalSemaphoresSignalNodeSetParams, v1, 11020,
             (CUgraphNode hNode, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *nodeParams), (hNode, nodeParams))
CUSHIM_ENTRY(GraphExternalSemaphoresWaitNodeGetParams, v1, 11020,
             (CUgraphNode hNode, CUDA_EXT_SEM_WAIT_NODE_PARAMS *params_out), (hNode, params_out))
CUSHIM_ENTRY(GraphExternalSemaphoresWaitNodeSetParams, v1, 11020,
             (CUgraphNode hNode, const CUDA_EXT_SEM_WAIT_NODE_PARAMS *nodeParams), (hNode, nodeParams))
CUSHIM_ENTRY(GraphGetEdges, v1, 10000, (CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, size_t *numEdges),
             (hGraph, from, to, numEdges))
CUSHIM_ENTRY(GraphGetEdges, v2, 12030,
             (CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edgeData, size_t *numEdges),
             (hGraph, from, to, edgeData, numEdges))
CUSHIM_ENTRY(GraphGetId, v1, 13010, (CUgraph hGraph, unsigned int *graphId), (hGraph, graphId))
CUSHIM_ENTRY(GraphGetNodes, v1, 10000, (CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes),
             (hGraph, nodes, numNodes))
CUSHIM_ENTRY(GraphGetRootNodes, v1, 10000, (CUgraph hGraph, CUgraphNode *rootNodes, size_t *numRootNodes),
             (hGraph, rootNodes, numRootNodes))
CUSHIM_ENTRY(GraphHostNodeGetParams, v1, 10000, (CUgraphNode hNode, CUDA_HOST_NODE_PARAMS *nodeParams),
             (hNode, nodeParams))
CUSHIM_ENTRY(GraphHostNodeSetParams, v1, 10000, (CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS *nodeParams),
             (hNode, nodeParams))
CUSHIM_ENTRY(GraphInstantiate, v1, 10000,
             (CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char *logBuffer, size_t bufferSize),
             (phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize))
CUSHIM_ENTRY(GraphInstantiate, v2, 11000,
             (CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char *logBuffer, size_t bufferSize),
             (phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize))
CUSHIM_ENTRY(GraphInstantiateWithFlags, v1, 11040, (CUgraphExec *phGraphExec, CUgraph hGraph, unsigned long long flags),
             (phGraphExec, hGraph, flags))
CUSHIM_ENTRY_BY_KIND(GraphInstantiateWithParams, v1, 12000,
             (CUgraphExec *phGraphExec, CUgraph hGraph, CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams),
             (phGraphExec, hGraph, instantiateParams))
CUSHIM_ENTRY(GraphKernelNodeCopyAttributes, v1, 11000, (CUgraphNode dst, CUgraphNode src), (dst, src))
CUSHIM_ENTRY(GraphKernelNodeGetAttribute, v1, 11000,
             (CUgraphNode hNode, CUkernelNodeAttrID attr, CUlaunchAttributeValue *value_out), (hNode, attr, value_out))
CUSHIM_ENTRY(GraphKernelNodeGetParams, v1, 10000, (CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams),
             (hNode, nodeParams))
CUSHIM_ENTRY(GraphKernelNodeGetParams, v2, 12000, (CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v2 *nodeParams),
             (hNode, nodeParams))
CUSHIM_ENTRY(GraphKernelNodeSetAttribute, v1, 11000,
             (CUgraphNode hNode, CUkernelNodeAttrID attr, const CUlaunchAttributeValue *value), (hNode, attr, value))
CUSHIM_ENTRY(GraphKernelNodeSetParams, v1, 10000, (CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams),
             (hNode, nodeParams))
CUSHIM_ENTRY(GraphKernelNodeSetParams, v2, 12000, (CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v2 *nodeParams),
             (hNode, nodeParams))
CUSHIM_ENTRY_BY_KIND(GraphLaunch, v1, 10000, (CUgraphExec hGraph, CUstream hStream), (hGraph, hStream))
CUSHIM_ENTRY(GraphMemAllocNodeGetParams, v1, 11040, (CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS *params_out),
             (hNode, params_out))
CUSHIM_ENTRY(GraphMemFreeNodeGetParams, v1, 11040, (CUgraphNode hNode, CUdeviceptr *dptr_out), (hNode, dptr_out))
CUSHIM_ENTRY(GraphMemcpyNodeGetParams, v1, 10000, (CUgraphNode hNode, CUDA_MEMCPY3D *nodeParams), (hNode, nodeParams))
CUSHIM_ENTRY(GraphMemcpyNodeSetParams, v1, 10000, (CUgraphNode hNode, const CUDA_MEMCPY3D *nodeParams),
             (hNode, nodeParams))
CUSHIM_ENTRY(GraphMemsetNodeGetParams, v1, 10000, (CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS *nodeParams),
             (hNode, nodeParams))
CUSHIM_ENTRY(GraphMemsetNodeSetParams, v1, 10000, (CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS *nodeParams),
             (hNode, nodeParams))
CUSHIM_ENTRY(GraphNodeFindInClone, v1, 10000, (CUgraphNode *phNode, CUgraphNode hOriginalNode, CUgraph hClonedGraph),
             (phNode, hOriginalNode, hClonedGraph))
CUSHIM_ENTRY(GraphNodeGetContainingGraph, v1, 13010, (CUgraphNode hNode, CUgraph *phGraph), (hNode, phGraph))
CUSHIM_ENTRY(GraphNodeGetDependencies, v1, 10000,
             (CUgraphNode hNode, CUgraphNode *dependencies, size_t *numDependencies),
             (hNode, dependencies, numDependencies))
CUSHIM_ENTRY(GraphNodeGetDependencies, v2, 12030,
             (CUgraphNode hNode, CUgraphNode *dependencies, CUgraphEdgeData *edgeData, size_t *numDependencies),
             (hNode, dependencies, edgeData, numDependencies))
CUSHIM_ENTRY(GraphNodeGetDependentNodes, v1, 10000,
             (CUgraphNode hNode, CUgraphNode *dependentNodes, size_t *numDependentNodes),
             (hNode, dependentNodes, numDependentNodes))
CUSHIM_ENTRY(GraphNodeGetDependentNodes, v2, 12030,
             (CUgraphNode hNode, CUgraphNode *dependentNodes, CUgraphEdgeData *edgeData, size_t *numDependentNodes),
             (hNode, dependentNodes, edgeData, numDependentNodes))
CUSHIM_ENTRY(GraphNodeGetEnabled, v1, 11060, (CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int *isEnabled),
             (hGraphExec, hNode, isEnabled))
CUSHIM_ENTRY(GraphNodeGetLocalId, v1, 13010, (CUgraphNode hNode, unsigned int *nodeId), (hNode, nodeId))
CUSHIM_ENTRY(GraphNodeGetParams, v1, 13020, (CUgraphNode hNode, CUgraphNodeParams *nodeParams), (hNode, nodeParams))
CUSHIM_ENTRY(GraphNodeGetToolsId, v1, 13010, (CUgraphNode hNode, unsigned long long *toolsNodeId), (hNode, toolsNodeId))
CUSHIM_ENTRY(GraphNodeGetType, v1, 10000, (CUgraphNode hNode, CUgraphNodeType *type), (hNode, type))
CUSHIM_ENTRY(GraphNodeSetEnabled, v1, 11060, (CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled),
             (hGraphExec, hNode, isEnabled))
CUSHIM_ENTRY(GraphNodeSetParams, v1, 12020, (CUgraphNode hNode, CUgraphNodeParams *nodeParams), (hNode, nodeParams))
CUSHIM_ENTRY(GraphReleaseUserObject, v1, 11030, (CUgraph graph, CUuserObject object, unsigned int count),
             (graph, object, count))
CUSHIM_ENTRY(GraphRemoveDependencies, v1, 10000,
             (CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to, size_t numDependencies),
             (hGraph, from, to, numDependencies))
CUSHIM_ENTRY(GraphRemoveDependencies, v2, 12030,
             (CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *edgeData,
              size_t numDependencies), (hGraph, from, to, edgeData, numDependencies))
CUSHIM_ENTRY(GraphRetainUserObject, v1, 11030,
             (CUgraph graph, CUuserObject object, unsigned int count, unsigned int flags),
             (graph, object, count, flags))
CUSHIM_ENTRY_BY_KIND(GraphUpload, v1, 11010, (CUgraphExec hGraph, CUstream hStream), (hGraph, hStream))
CUSHIM_ENTRY(GraphicsEGLRegisterImage, v1, 7000, (CUgraphicsResource *pCudaResource, void *image, unsigned int flags),
             (pCudaResource, image, flags))
CUSHIM_ENTRY(GraphicsGLRegisterBuffer, v1, 3000,
             (CUgraphicsResource *pCudaResource, unsigned int buffer, unsigned int Flags),
             (pCudaResource, buffer, Flags))
CUSHIM_ENTRY(GraphicsGLRegisterImage, v1, 3000,
             (CUgraphicsResource *pCudaResource, unsigned int image, unsigned int target, unsigned int Flags),
             (pCudaResource, image, target, Flags))
CUSHIM_ENTRY_BY_KIND(GraphicsMapResources, v1, 3000,
             (unsigned int count, CUgraphicsResource *resources, CUstream hStream), (count, resources, hStream))
CUSHIM_ENTRY(GraphicsResourceGetMappedEglFrame, v1, 7000,
             (struct CUeglFrame_st *eglFrame, CUgraphicsResource resource, unsigned int index, unsigned int mipLevel),
             (eglFrame, resource, index, mipLevel))
CUSHIM_ENTRY(GraphicsResourceGetMappedMipmappedArray, v1, 5000,
             (CUmipmappedArray *pMipmappedArray, CUgraphicsResource resource), (pMipmappedArray, resource))
CUSHIM_ENTRY(GraphicsResourceGetMappedPointer, v1, 3000,
             (CUdeviceptr_v1 *pDevPtr, unsigned int *pSize, CUgraphicsResource resource), (pDevPtr, pSize, resource))
CUSHIM_ENTRY(GraphicsResourceGetMappedPointer, v2, 3020,
             (CUdeviceptr *pDevPtr, size_t *pSize, CUgraphicsResource resource), (pDevPtr, pSize, resource))
CUSHIM_ENTRY(GraphicsResourceSetMapFlags, v1, 3000, (CUgraphicsResource resource, unsigned int flags),
             (resource, flags))
CUSHIM_ENTRY(GraphicsResourceSetMapFlags, v2, 6050, (CUgraphicsResource resource, unsigned int flags),
             (resource, flags))
CUSHIM_ENTRY(GraphicsSubResourceGetMappedArray, v1, 3000,
             (CUarray *pArray, CUgraphicsResource resource, unsigned int arrayIndex, unsigned int mipLevel),
             (pArray, resource, arrayIndex, mipLevel))
CUSHIM_ENTRY_BY_KIND(GraphicsUnmapResources, v1, 3000,
             (unsigned int count, CUgraphicsResource *resources, CUstream hStream), (count, resources, hStream))
CUSHIM_ENTRY(GraphicsUnregisterResource, v1, 3000, (CUgraphicsResource resource), (resource))
CUSHIM_ENTRY(GraphicsVDPAURegisterOutputSurface, v1, 3010,
             (CUgraphicsResource *pCudaResource, uint32_t vdpSurface, unsigned int flags),
             (pCudaResource, vdpSurface, flags))
CUSHIM_ENTRY(GraphicsVDPAURegisterVideoSurface, v1, 3010,
             (CUgraphicsResource *pCudaResource, uint32_t vdpSurface, unsigned int flags),
             (pCudaResource, vdpSurface, flags))
CUSHIM_ENTRY(GreenCtxCreate, v1, 12040, (CUgreenCtx *phCtx, CUdevResourceDesc desc, CUdevice dev, unsigned int flags),
             (phCtx, desc, dev, flags))
CUSHIM_ENTRY(GreenCtxDestroy, v1, 12040, (CUgreenCtx hCtx), (hCtx))
CUSHIM_ENTRY(GreenCtxGetDevResource, v1, 12040, (CUgreenCtx hCtx, CUdevResource *resource, CUdevResourceType type),
             (hCtx, resource, type))
CUSHIM_ENTRY(GreenCtxGetId, v1, 12090, (CUgreenCtx greenCtx, unsigned long long *greenCtxId), (greenCtx, greenCtxId))
CUSHIM_ENTRY(GreenCtxRecordEvent, v1, 12040, (CUgreenCtx hCtx, CUevent hEvent), (hCtx, hEvent))
CUSHIM_ENTRY(GreenCtxStreamCreate, v1, 12050,
             (CUstream *phStream, CUgreenCtx greenCtx, unsigned int flags, int priority),
             (phStream, greenCtx, flags, priority))
CUSHIM_ENTRY(GreenCtxWaitEvent, v1, 12040, (CUgreenCtx hCtx, CUevent hEvent), (hCtx, hEvent))
CUSHIM_ENTRY(ImportExternalMemory, v1, 10000,
             (CUexternalMemory *extMem_out, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *memHandleDesc),
             (extMem_out, memHandleDesc))
CUSHIM_ENTRY(ImportExternalSemaphore, v1, 10000,
             (CUexternalSemaphore *extSem_out, const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *semHandleDesc),
             (extSem_out, semHandleDesc))
CUSHIM_ENTRY(Init, v1, 2000, (unsigned int Flags), (Flags))
CUSHIM_ENTRY(IpcCloseMemHandle, v1, 4010, (CUdeviceptr dptr), (dptr))
CUSHIM_ENTRY(IpcGetEventHandle, v1, 4010, (CUipcEventHandle *pHandle, CUevent event), (pHandle, event))
CUSHIM_ENTRY(IpcGetMemHandle, v1, 4010, (CUipcMemHandle *pHandle, CUdeviceptr dptr), (pHandle, dptr))
CUSHIM_ENTRY(IpcOpenEventHandle, v1, 4010, (CUevent *phEvent, CUipcEventHandle handle), (phEvent, handle))
CUSHIM_ENTRY(IpcOpenMemHandle, v1, 4010, (CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags),
             (pdptr, handle, Flags))
CUSHIM_ENTRY(IpcOpenMemHandle, v2, 11000, (CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags),
             (pdptr, handle, Flags))
CUSHIM_ENTRY(KernelGetAttribute, v1, 12000, (int *pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev),
             (pi, attrib, kernel, dev))
CUSHIM_ENTRY(KernelGetFunction, v1, 12000, (CUfunction *pFunc, CUkernel kernel), (pFunc, kernel))
CUSHIM_ENTRY(KernelGetLibrary, v1, 12050, (CUlibrary *pLib, CUkernel kernel), (pLib, kernel))
CUSHIM_ENTRY(KernelGetName, v1, 12030, (const char **name, CUkernel hfunc), (name, hfunc))
CUSHIM_ENTRY(KernelGetParamCount, v1, 13020, (CUkernel kernel, size_t *paramCount), (kernel, paramCount))
CUSHIM_ENTRY(KernelGetParamInfo, v1, 12040,
             (CUkernel kernel, size_t paramIndex, size_t *paramOffset, size_t *paramSize),
             (kernel, paramIndex, paramOffset, paramSize))
CUSHIM_ENTRY(KernelSetAttribute, v1, 12000, (CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev),
             (attrib, val, kernel, dev))
CUSHIM_ENTRY(KernelSetCacheConfig, v1, 12000, (CUkernel kernel, CUfunc_cache config, CUdevice dev),
             (kernel, config, dev))
CUSHIM_ENTRY(Launch, v1, 2000, (CUfunction f), (f))
CUSHIM_ENTRY_BY_KIND(LaunchCooperativeKernel, v1, 9000,
             (CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX,
              unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
              void **kernelParams),
             (f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, hStream, kernelParams))
CUSHIM_ENTRY(LaunchCooperativeKernelMultiDevice, v1, 9000,
             (CUDA_LAUNCH_PARAMS *launchParamsList, unsigned int numDevices, unsigned int flags),
             (launchParamsList, numDevices, flags))
CUSHIM_ENTRY(LaunchGrid, v1, 2000, (CUfunction f, int grid_width, int grid_height), (f, grid_width, grid_height))
CUSHIM_ENTRY(LaunchGridAsync, v1, 2000, (CUfunction f, int grid_width, int grid_height, CUstream hStream),
             (f, grid_width, grid_height, hStream))
CUSHIM_ENTRY_BY_KIND(LaunchHostFunc, v1, 10000, (CUstream hStream, CUhostFn fn, void *userData),
             (hStream, fn, userData))
CUSHIM_ENTRY_BY_KIND(LaunchHostFunc, v2, 13010, (CUstream hStream, CUhostFn fn, void *userData, unsigned int syncMode),
             (hStream, fn, userData, syncMode))
CUSHIM_ENTRY_BY_KIND(LaunchKernel, v1, 4000,
             (CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX,
              unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
              void **kernelParams, void **extra),
             (f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, hStream, kernelParams,
              extra))
CUSHIM_ENTRY_BY_KIND(LaunchKernelEx, v1, 11060,
             (const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra),
             (config, f, kernelParams, extra))
CUSHIM_ENTRY(LibraryEnumerateKernels, v1, 12040, (CUkernel *kernels, unsigned int numKernels, CUlibrary lib),
             (kernels, numKernels, lib))
CUSHIM_ENTRY(LibraryGetGlobal, v1, 12000, (CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name),
             (dptr, bytes, library, name))
CUSHIM_ENTRY(LibraryGetKernel, v1, 12000, (CUkernel *pKernel, CUlibrary library, const char *name),
             (pKernel, library, name))
CUSHIM_ENTRY(LibraryGetKernelCount, v1, 12040, (unsigned int *count, CUlibrary lib), (count, lib))
CUSHIM_ENTRY(LibraryGetManaged, v1, 12000, (CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name),
             (dptr, bytes, library, name))
CUSHIM_ENTRY(LibraryGetModule, v1, 12000, (CUmodule *pMod, CUlibrary library), (pMod, library))
CUSHIM_ENTRY(LibraryGetUnifiedFunction, v1, 12000, (void **fptr, CUlibrary library, const char *symbol),
             (fptr, library, symbol))
CUSHIM_ENTRY(LibraryLoadData, v1, 12000,
             (CUlibrary *library, const void *code, CUjit_option *jitOptions, void **jitOptionsValues,
              unsigned int numJitOptions, CUlibraryOption *libraryOptions, void **libraryOptionValues,
              unsigned int numLibraryOptions),
             (library, code, jitOptions, jitOptionsValues, numJitOptions, libraryOptions, libraryOptionValues,
              numLibraryOptions))
CUSHIM_ENTRY(LibraryLoadFromFile, v1, 12000,
             (CUlibrary *library, const char *fileName, CUjit_option *jitOptions, void **jitOptionsValues,
              unsigned int numJitOptions, CUlibraryOption *libraryOptions, void **libraryOptionValues,
              unsigned int numLibraryOptions),
             (library, fileName, jitOptions, jitOptionsValues, numJitOptions, libraryOptions, libraryOptionValues,
              numLibraryOptions))
CUSHIM_ENTRY(LibraryUnload, v1, 12000, (CUlibrary library), (library))
CUSHIM_ENTRY(LinkAddData, v1, 5050,
             (CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
              unsigned int numOptions, CUjit_option *options, void **optionValues),
             (state, type, data, size, name, numOptions, options, optionValues))
CUSHIM_ENTRY(LinkAddData, v2, 6050,
             (CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
              unsigned int numOptions, CUjit_option *options, void **optionValues),
             (state, type, data, size, name, numOptions, options, optionValues))
CUSHIM_ENTRY(LinkAddFile, v1, 5050,
             (CUlinkState state, CUjitInputType type, const char *path, unsigned int numOptions, CUjit_option *options,
              void **optionValues), (state, type, path, numOptions, options, optionValues))
CUSHIM_ENTRY(LinkAddFile, v2, 6050,
             (CUlinkState state, CUjitInputType type, const char *path, unsigned int numOptions, CUjit_option *options,
              void **optionValues), (state, type, path, numOptions, options, optionValues))
CUSHIM_ENTRY(LinkComplete, v1, 5050, (CUlinkState state, void **cubinOut, size_t *sizeOut), (state, cubinOut, sizeOut))
CUSHIM_ENTRY(LinkCreate, v1, 5050,
             (unsigned int numOptions, CUjit_option *options, void **optionValues, CUlinkState *stateOut),
             (numOptions, options, optionValues, stateOut))
CUSHIM_ENTRY(LinkCreate, v2, 6050,
             (unsigned int numOptions, CUjit_option *options, void **optionValues, CUlinkState *stateOut),
             (numOptions, options, optionValues, stateOut))
CUSHIM_ENTRY(LinkDestroy, v1, 5050, (CUlinkState state), (state))
CUSHIM_ENTRY(LogicalEndpointAddDevice, v1, 13030, (CUlogicalEndpointId leId, CUdevice dev), (leId, dev))
CUSHIM_ENTRY(LogicalEndpointBindAddr, v1, 13030,
             (CUlogicalEndpointId leId, CUdevice dev, cuuint64_t offset, void *ptr, cuuint64_t size,
              unsigned long long flags), (leId, dev, offset, ptr, size, flags))
CUSHIM_ENTRY(LogicalEndpointBindMem, v1, 13030,
             (CUlogicalEndpointId leId, CUdevice dev, cuuint64_t offset, CUmemGenericAllocationHandle memHandle,
              cuuint64_t memOffset, cuuint64_t size, unsigned long long flags),
             (leId, dev, offset, memHandle, memOffset, size, flags))
CUSHIM_ENTRY(LogicalEndpointCreate, v1, 13030, (CUlogicalEndpointId leId, const CUlogicalEndpointProp *prop),
             (leId, prop))
CUSHIM_ENTRY(LogicalEndpointDestroy, v1, 13030, (CUlogicalEndpointId leId), (leId))
CUSHIM_ENTRY(LogicalEndpointExport, v1, 13030,
             (void *handle, CUlogicalEndpointId leId, CUlogicalEndpointIpcHandleType handleType),
             (handle, leId, handleType))
CUSHIM_ENTRY(LogicalEndpointGetLimits, v1, 13030,
             (cuuint64_t *bindAlignment, cuuint64_t *maxSize, const CUlogicalEndpointProp *prop),
             (bindAlignment, maxSize, prop))
CUSHIM_ENTRY(LogicalEndpointIdRelease, v1, 13030, (CUlogicalEndpointId baseLeId, cuuint32_t count), (baseLeId, count))
CUSHIM_ENTRY(LogicalEndpointIdReserve, v1, 13030, (CUlogicalEndpointId *baseLeId, cuuint32_t count), (baseLeId, count))
CUSHIM_ENTRY(LogicalEndpointImport, v1, 13030,
             (CUlogicalEndpointId leId, const void *handle, CUlogicalEndpointIpcHandleType handleType),
             (leId, handle, handleType))
CUSHIM_ENTRY(LogicalEndpointQuery, v1, 13030, (CUlogicalEndpointId leId, cuuint32_t count, int *queryStatus),
             (leId, count, queryStatus))
CUSHIM_ENTRY(LogicalEndpointUnbind, v1, 13030,
             (CUlogicalEndpointId leId, CUdevice dev, cuuint64_t offset, cuuint64_t size), (leId, dev, offset, size))
CUSHIM_ENTRY(LogsCurrent, v1, 12090, (CUlogIterator *iterator, unsigned int flags), (iterator, flags))
CUSHIM_ENTRY(LogsDumpToFile, v1, 12090, (CUlogIterator *iterator, const char *pathToFile, unsigned int flags),
             (iterator, pathToFile, flags))
CUSHIM_ENTRY(LogsDumpToMemory, v1, 12090, (CUlogIterator *iterator, char *buffer, size_t *size, unsigned int flags),
             (iterator, buffer, size, flags))
CUSHIM_ENTRY(LogsRegisterCallback, v1, 12090,
             (CUlogsCallback callbackFunc, void *userData, CUlogsCallbackHandle *callback),
             (callbackFunc, userData, callback))
CUSHIM_ENTRY(LogsUnregisterCallback, v1, 12090, (CUlogsCallbackHandle callback), (callback))
CUSHIM_ENTRY(MemAddressFree, v1, 10020, (CUdeviceptr ptr, size_t size), (ptr, size))
CUSHIM_ENTRY(MemAddressReserve, v1, 10020,
             (CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr, unsigned long long flags),
             (ptr, size, alignment, addr, flags))
CUSHIM_ENTRY(MemAdvise, v1, 8000, (CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device),
             (devPtr, count, advice, device))
CUSHIM_ENTRY(MemAdvise, v2, 12020, (CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUmemLocation location),
             (devPtr, count, advice, location))
CUSHIM_ENTRY(MemAlloc, v1, 2000, (CUdeviceptr_v1 *dptr, unsigned int bytesize), (dptr, bytesize))
CUSHIM_ENTRY(MemAlloc, v2, 3020, (CUdeviceptr *dptr, size_t bytesize), (dptr, bytesize))
CUSHIM_ENTRY_BY_KIND(MemAllocAsync, v1, 11020, (CUdeviceptr *dptr, size_t bytesize, CUstream hStream),
             (dptr, bytesize, hStream))
CUSHIM_ENTRY_BY_KIND(MemAllocFromPoolAsync, v1, 11020,
             (CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream), (dptr, bytesize, pool, hStream))
CUSHIM_ENTRY(MemAllocHost, v1, 2000, (void **pp, unsigned int bytesize), (pp, bytesize))
CUSHIM_ENTRY(MemAllocHost, v2, 3020, (void **pp, size_t bytesize), (pp, bytesize))
CUSHIM_ENTRY(MemAllocManaged, v1, 6000, (CUdeviceptr *dptr, size_t bytesize, unsigned int flags),
             (dptr, bytesize, flags))
CUSHIM_ENTRY(MemAllocPitch, v1, 2000,
             (CUdeviceptr_v1 *dptr, unsigned int *pPitch, unsigned int WidthInBytes, unsigned int Height,
              unsigned int ElementSizeBytes), (dptr, pPitch, WidthInBytes, Height, ElementSizeBytes))
CUSHIM_ENTRY(MemAllocPitch, v2, 3020,
             (CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height, unsigned int ElementSizeBytes),
             (dptr, pPitch, WidthInBytes, Height, ElementSizeBytes))
CUSHIM_ENTRY_BY_KIND(MemBatchDecompressAsync, v1, 12060,
             (CUmemDecompressParams *paramsArray, size_t count, unsigned int flags, size_t *errorIndex,
              CUstream hStream), (paramsArray, count, flags, errorIndex, hStream))
CUSHIM_ENTRY(MemCreate, v1, 10020,
             (CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
              unsigned long long flags), (handle, size, prop, flags))
CUSHIM_ENTRY_BY_KIND(MemDiscardAndPrefetchBatchAsync, v1, 13000,
             (CUdeviceptr *dptrs, size_t *sizes, size_t count, CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs,
              size_t numPrefetchLocs, unsigned long long flags, CUstream hStream),
             (dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, hStream))
CUSHIM_ENTRY_BY_KIND(MemDiscardBatchAsync, v1, 13000,
             (CUdeviceptr *dptrs, size_t *sizes, size_t count, unsigned long long flags, CUstream hStream),
             (dptrs, sizes, count, flags, hStream))
CUSHIM_ENTRY(MemExportToShareableHandle, v1, 10020,
             (void *shareableHandle, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType handleType,
              unsigned long long flags), (shareableHandle, handle, handleType, flags))
CUSHIM_ENTRY(MemFree, v1, 2000, (CUdeviceptr_v1 dptr), (dptr))
CUSHIM_ENTRY(MemFree, v2, 3020, (CUdeviceptr dptr), (dptr))
CUSHIM_ENTRY_BY_KIND(MemFreeAsync, v1, 11020, (CUdeviceptr dptr, CUstream hStream), (dptr, hStream))
CUSHIM_ENTRY(MemFreeHost, v1, 2000, (void *p), (p))
CUSHIM_ENTRY(MemGetAccess, v1, 10020, (unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr),
             (flags, location, ptr))
CUSHIM_ENTRY(MemGetAddressRange, v1, 2000, (CUdeviceptr_v1 *pbase, unsigned int *psize, CUdeviceptr_v1 dptr),
             (pbase, psize, dptr))
CUSHIM_ENTRY(MemGetAddressRange, v2, 3020, (CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr), (pbase, psize, dptr))
CUSHIM_ENTRY(MemGetAllocationGranularity, v1, 10020,
             (size_t *granularity, const CUmemAllocationProp *prop, CUmemAllocationGranularity_flags option),
             (granularity, prop, option))
CUSHIM_ENTRY(MemGetAllocationPropertiesFromHandle, v1, 10020,
             (CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle), (prop, handle))
CUSHIM_ENTRY(MemGetDefaultMemPool, v1, 13000,
             (CUmemoryPool *pool_out, CUmemLocation *location, CUmemAllocationType type), (pool_out, location, type))
CUSHIM_ENTRY(MemGetHandleForAddressRange, v1, 11070,
             (void *handle, CUdeviceptr dptr, size_t size, CUmemRangeHandleType handleType, unsigned long long flags),
             (handle, dptr, size, handleType, flags))
CUSHIM_ENTRY(MemGetInfo, v1, 2000, (unsigned int *free, unsigned int *total), (free, total))
CUSHIM_ENTRY(MemGetInfo, v2, 3020, (size_t *freeBytes, size_t *totalBytes), (freeBytes, totalBytes))
CUSHIM_ENTRY(MemGetMemPool, v1, 13000, (CUmemoryPool *pool_out, CUmemLocation *location, CUmemAllocationType type),
             (pool_out, location, type))
CUSHIM_ENTRY(MemHostAlloc, v1, 2020, (void **pp, size_t bytesize, unsigned int Flags), (pp, bytesize, Flags))
CUSHIM_ENTRY(MemHostGetDevicePointer, v1, 2020, (CUdeviceptr_v1 *pdptr, void *p, unsigned int Flags), (pdptr, p, Flags))
CUSHIM_ENTRY(MemHostGetDevicePointer, v2, 3020, (CUdeviceptr *pdptr, void *p, unsigned int Flags), (pdptr, p, Flags))
CUSHIM_ENTRY(MemHostGetFlags, v1, 2030, (unsigned int *pFlags, void *p), (pFlags, p))
CUSHIM_ENTRY(MemHostRegister, v1, 4000, (void *p, size_t bytesize, unsigned int Flags), (p, bytesize, Flags))
CUSHIM_ENTRY(MemHostRegister, v2, 6050, (void *p, size_t bytesize, unsigned int Flags), (p, bytesize, Flags))
CUSHIM_ENTRY(MemHostUnregister, v1, 4000, (void *p), (p))
CUSHIM_ENTRY(MemImportFromShareableHandle, v1, 10020,
             (CUmemGenericAllocationHandle *handle, void *osHandle, CUmemAllocationHandleType shHandleType),
             (handle, osHandle, shHandleType))
CUSHIM_ENTRY(MemMap, v1, 10020,
             (CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
              unsigned long long flags), (ptr, size, offset, handle, flags))
CUSHIM_ENTRY_BY_KIND(MemMapArrayAsync, v1, 11010, (CUarrayMapInfo *mapInfoList, unsigned int count, CUstream hStream),
             (mapInfoList, count, hStream))
CUSHIM_ENTRY(MemPoolCreate, v1, 11020, (CUmemoryPool *pool, const CUmemPoolProps *poolProps), (pool, poolProps))
CUSHIM_ENTRY(MemPoolDestroy, v1, 11020, (CUmemoryPool pool), (pool))
CUSHIM_ENTRY(MemPoolExportPointer, v1, 11020, (CUmemPoolPtrExportData *shareData_out, CUdeviceptr ptr),
             (shareData_out, ptr))
CUSHIM_ENTRY(MemPoolExportToShareableHandle, v1, 11020,
             (void *handle_out, CUmemoryPool pool, CUmemAllocationHandleType handleType, unsigned long long flags),
             (handle_out, pool, handleType, flags))
CUSHIM_ENTRY(MemPoolGetAccess, v1, 11020, (CUmemAccess_flags *flags, CUmemoryPool memPool, CUmemLocation *location),
             (flags, memPool, location))
CUSHIM_ENTRY(MemPoolGetAttribute, v1, 11020, (CUmemoryPool pool, CUmemPool_attribute attr, void *value),
             (pool, attr, value))
CUSHIM_ENTRY(MemPoolImportFromShareableHandle, v1, 11020,
             (CUmemoryPool *pool_out, void *handle, CUmemAllocationHandleType handleType, unsigned long long flags),
             (pool_out, handle, handleType, flags))
CUSHIM_ENTRY(MemPoolImportPointer, v1, 11020,
             (CUdeviceptr *ptr_out, CUmemoryPool pool, CUmemPoolPtrExportData *shareData), (ptr_out, pool, shareData))
CUSHIM_ENTRY(MemPoolSetAccess, v1, 11020, (CUmemoryPool pool, const CUmemAccessDesc *map, size_t count),
             (pool, map, count))
CUSHIM_ENTRY(MemPoolSetAttribute, v1, 11020, (CUmemoryPool pool, CUmemPool_attribute attr, void *value),
             (pool, attr, value))
CUSHIM_ENTRY(MemPoolTrimTo, v1, 11020, (CUmemoryPool pool, size_t minBytesToKeep), (pool, minBytesToKeep))
CUSHIM_ENTRY_BY_KIND(MemPrefetchAsync, v1, 8000,
             (CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream),
             (devPtr, count, dstDevice, hStream))
CUSHIM_ENTRY_BY_KIND(MemPrefetchAsync, v2, 12020,
             (CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags, CUstream hStream),
             (devPtr, count, location, flags, hStream))
CUSHIM_ENTRY_BY_KIND(MemPrefetchBatchAsync, v1, 13000,
             (CUdeviceptr *dptrs, size_t *sizes, size_t count, CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs,
              size_t numPrefetchLocs, unsigned long long flags, CUstream hStream),
             (dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, hStream))
CUSHIM_ENTRY(MemRangeGetAttribute, v1, 8000,
             (void *data, size_t dataSize, CUmem_range_attribute attribute, CUdeviceptr devPtr, size_t count),
             (data, dataSize, attribute, devPtr, count))
CUSHIM_ENTRY(MemRangeGetAttributes, v1, 8000,
             (void **data, size_t *dataSizes, CUmem_range_attribute *attributes, size_t numAttributes,
              CUdeviceptr devPtr, size_t count), (data, dataSizes, attributes, numAttributes, devPtr, count))
CUSHIM_ENTRY(MemRelease, v1, 10020, (CUmemGenericAllocationHandle handle), (handle))
CUSHIM_ENTRY(MemRetainAllocationHandle, v1, 11000, (CUmemGenericAllocationHandle *handle, void *addr), (handle, addr))
CUSHIM_ENTRY(MemSetAccess, v1, 10020, (CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count),
             (ptr, size, desc, count))
CUSHIM_ENTRY(MemSetMemPool, v1, 13000, (CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool),
             (location, type, pool))
CUSHIM_ENTRY(MemUnmap, v1, 10020, (CUdeviceptr ptr, size_t size), (ptr, size))
CUSHIM_ENTRY_BY_KIND(Memcpy, v1, 4000, (CUdeviceptr dst, CUdeviceptr src, size_t ByteCount), (dst, src, ByteCount))
CUSHIM_ENTRY_BY_KIND(Memcpy2D, v1, 2000, (const CUDA_MEMCPY2D_v1 *pCopy), (pCopy))
CUSHIM_ENTRY_BY_KIND(Memcpy2D, v2, 3020, (const CUDA_MEMCPY2D *pCopy), (pCopy))
CUSHIM_ENTRY_BY_KIND(Memcpy2DAsync, v1, 2000, (const CUDA_MEMCPY2D_v1 *pCopy, CUstream hStream), (pCopy, hStream))
CUSHIM_ENTRY_BY_KIND(Memcpy2DAsync, v2, 3020, (const CUDA_MEMCPY2D *pCopy, CUstream hStream), (pCopy, hStream))
CUSHIM_ENTRY_BY_KIND(Memcpy2DUnaligned, v1, 2000, (const CUDA_MEMCPY2D_v1 *pCopy), (pCopy))
CUSHIM_ENTRY_BY_KIND(Memcpy2DUnaligned, v2, 3020, (const CUDA_MEMCPY2D *pCopy), (pCopy))
CUSHIM_ENTRY_BY_KIND(Memcpy3D, v1, 2000, (const CUDA_MEMCPY3D_v1 *pCopy), (pCopy))
CUSHIM_ENTRY_BY_KIND(Memcpy3D, v2, 3020, (const CUDA_MEMCPY3D *pCopy), (pCopy))
CUSHIM_ENTRY_BY_KIND(Memcpy3DAsync, v1, 2000, (const CUDA_MEMCPY3D_v1 *pCopy, CUstream hStream), (pCopy, hStream))
CUSHIM_ENTRY_BY_KIND(Memcpy3DAsync, v2, 3020, (const CUDA_MEMCPY3D *pCopy, CUstream hStream), (pCopy, hStream))
CUSHIM_ENTRY_BY_KIND(Memcpy3DBatchAsync, v1, 12080,
             (size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, size_t *failIdx, unsigned long long flags,
              CUstream hStream), (numOps, opList, failIdx, flags, hStream))
CUSHIM_ENTRY_BY_KIND(Memcpy3DBatchAsync, v2, 13000,
             (size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, unsigned long long flags, CUstream hStream),
             (numOps, opList, flags, hStream))
CUSHIM_ENTRY_BY_KIND(Memcpy3DPeer, v1, 4000, (const CUDA_MEMCPY3D_PEER *pCopy), (pCopy))
CUSHIM_ENTRY_BY_KIND(Memcpy3DPeerAsync, v1, 4000, (const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream), (pCopy, hStream))
CUSHIM_ENTRY_BY_KIND(Memcpy3DWithAttributesAsync, v1, 13020,
             (CUDA_MEMCPY3D_BATCH_OP *op, unsigned long long flags, CUstream hStream), (op, flags, hStream))
CUSHIM_ENTRY_BY_KIND(MemcpyAsync, v1, 4000, (CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream),
             (dst, src, ByteCount, hStream))
CUSHIM_ENTRY_BY_KIND(MemcpyAtoA, v1, 2000,
             (CUarray dstArray, unsigned int dstOffset, CUarray srcArray, unsigned int srcOffset,
              unsigned int ByteCount), (dstArray, dstOffset, srcArray, srcOffset, ByteCount))
CUSHIM_ENTRY_BY_KIND(MemcpyAtoA, v2, 3020,
             (CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset, size_t ByteCount),
             (dstArray, dstOffset, srcArray, srcOffset, ByteCount))
CUSHIM_ENTRY_BY_KIND(MemcpyAtoD, v1, 2000,
             (CUdeviceptr_v1 dstDevice, CUarray srcArray, unsigned int srcOffset, unsigned int ByteCount),
             (dstDevice, srcArray, srcOffset, ByteCount))
CUSHIM_ENTRY_BY_KIND(MemcpyAtoD, v2, 3020,
             (CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount),
             (dstDevice, srcArray, srcOffset, ByteCount))
CUSHIM_ENTRY_BY_KIND(MemcpyAtoH, v1, 2000,
             (void *dstHost, CUarray srcArray, unsigned int srcOffset, unsigned int ByteCount),
             (dstHost, srcArray, srcOffset, ByteCount))
CUSHIM_ENTRY_BY_KIND(MemcpyAtoH, v2, 3020, (void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount),
             (dstHost, srcArray, srcOffset, ByteCount))
CUSHIM_ENTRY_BY_KIND(MemcpyAtoHAsync, v1, 2000,
             (void *dstHost, CUarray srcArray, unsigned int srcOffset, unsigned int ByteCount, CUstream hStream),
             (dstHost, srcArray, srcOffset, ByteCount, hStream))
CUSHIM_ENTRY_BY_KIND(MemcpyAtoHAsync, v2, 3020,
             (void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount, CUstream hStream),
             (dstHost, srcArray, srcOffset, ByteCount, hStream))
CUSHIM_ENTRY_BY_KIND(MemcpyBatchAsync, v1, 12080,
             (CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count, CUmemcpyAttributes *attrs,
              size_t *attrIdxs, size_t numAttrs, size_t *failIdx, CUstream hStream),
             (dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, failIdx, hStream))
CUSHIM_ENTRY_BY_KIND(MemcpyBatchAsync, v2, 13000,
             (CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count, CUmemcpyAttributes *attrs,
              size_t *attrIdxs, size_t numAttrs, CUstream hStream),
             (dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, hStream))
CUSHIM_ENTRY_BY_KIND(MemcpyDtoA, v1, 2000,
             (CUarray dstArray, unsigned int dstOffset, CUdeviceptr_v1 srcDevice, unsigned int ByteCount),
             (dstArray, dstOffset, srcDevice, ByteCount))
CUSHIM_ENTRY_BY_KIND(MemcpyDtoA, v2, 3020,
             (CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount),
             (dstArray, dstOffset, srcDevice, ByteCount))
CUSHIM_ENTRY_BY_KIND(MemcpyDtoD, v1, 2000, (CUdeviceptr_v1 dstDevice, CUdeviceptr_v1 srcDevice, unsigned int ByteCount),
             (dstDevice, srcDevice, ByteCount))
CUSHIM_ENTRY_BY_KIND(MemcpyDtoD, v2, 3020, (CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount),
             (dstDevice, srcDevice, ByteCount))
CUSHIM_ENTRY_BY_KIND(MemcpyDtoDAsync, v1, 3000,
             (CUdeviceptr_v1 dstDevice, CUdeviceptr_v1 srcDevice, unsigned int ByteCount, CUstream hStream),
             (dstDevice, srcDevice, ByteCount, hStream))
CUSHIM_ENTRY_BY_KIND(MemcpyDtoDAsync, v2, 3020,
             (CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream),
             (dstDevice, srcDevice, ByteCount, hStream))
CUSHIM_ENTRY_BY_KIND(MemcpyDtoH, v1, 2000, (void *dstHost, CUdeviceptr_v1 srcDevice, unsigned int ByteCount),
             (dstHost, srcDevice, ByteCount))
CUSHIM_ENTRY_BY_KIND(MemcpyDtoH, v2, 3020, (void *dstHost, CUdeviceptr srcDevice, size_t ByteCount),
             (dstHost, srcDevice, ByteCount))
CUSHIM_ENTRY_BY_KIND(MemcpyDtoHAsync, v1, 2000,
             (void *dstHost, CUdeviceptr_v1 srcDevice, unsigned int ByteCount, CUstream hStream),
             (dstHost, srcDevice, ByteCount, hStream))
CUSHIM_ENTRY_BY_KIND(MemcpyDtoHAsync, v2, 3020,
             (void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream),
             (dstHost, srcDevice, ByteCount, hStream))
CUSHIM_ENTRY_BY_KIND(MemcpyHtoA, v1, 2000,
             (CUarray dstArray, unsigned int dstOffset, const void *srcHost, unsigned int ByteCount),
             (dstArray, dstOffset, srcHost, ByteCount))
CUSHIM_ENTRY_BY_KIND(MemcpyHtoA, v2, 3020, (CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount),
             (dstArray, dstOffset, srcHost, ByteCount))
CUSHIM_ENTRY_BY_KIND(MemcpyHtoAAsync, v1, 2000,
             (CUarray dstArray, unsigned int dstOffset, const void *srcHost, unsigned int ByteCount, CUstream hStream),
             (dstArray, dstOffset, srcHost, ByteCount, hStream))
CUSHIM_ENTRY_BY_KIND(MemcpyHtoAAsync, v2, 3020,
             (CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount, CUstream hStream),
             (dstArray, dstOffset, srcHost, ByteCount, hStream))
CUSHIM_ENTRY_BY_KIND(MemcpyHtoD, v1, 2000, (CUdeviceptr_v1 dstDevice, const void *srcHost, unsigned int ByteCount),
             (dstDevice, srcHost, ByteCount))
CUSHIM_ENTRY_BY_KIND(MemcpyHtoD, v2, 3020, (CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount),
             (dstDevice, srcHost, ByteCount))
CUSHIM_ENTRY_BY_KIND(MemcpyHtoDAsync, v1, 2000,
             (CUdeviceptr_v1 dstDevice, const void *srcHost, unsigned int ByteCount, CUstream hStream),
             (dstDevice, srcHost, ByteCount, hStream))
CUSHIM_ENTRY_BY_KIND(MemcpyHtoDAsync, v2, 3020,
             (CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream),
             (dstDevice, srcHost, ByteCount, hStream))
CUSHIM_ENTRY_BY_KIND(MemcpyPeer, v1, 4000,
             (CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
              size_t ByteCount), (dstDevice, dstContext, srcDevice, srcContext, ByteCount))
CUSHIM_ENTRY_BY_KIND(MemcpyPeerAsync, v1, 4000,
             (CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
              size_t ByteCount, CUstream hStream), (dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream))
CUSHIM_ENTRY_BY_KIND(MemcpyWithAttributesAsync, v1, 13020,
             (CUdeviceptr dst, CUdeviceptr src, size_t size, CUmemcpyAttributes *attr, CUstream hStream),
             (dst, src, size, attr, hStream))
CUSHIM_ENTRY_BY_KIND(MemsetD16, v1, 2000, (CUdeviceptr_v1 dstDevice, unsigned short us, unsigned int N),
             (dstDevice, us, N))
CUSHIM_ENTRY_BY_KIND(MemsetD16, v2, 3020, (CUdeviceptr dstDevice, unsigned short us, size_t N), (dstDevice, us, N))
CUSHIM_ENTRY_BY_KIND(MemsetD16Async, v1, 3020, (CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream),
             (dstDevice, us, N, hStream))
CUSHIM_ENTRY_BY_KIND(MemsetD2D16, v1, 2000,
             (CUdeviceptr_v1 dstDevice, unsigned int dstPitch, unsigned short us, unsigned int Width,
              unsigned int Height), (dstDevice, dstPitch, us, Width, Height))
CUSHIM_ENTRY_BY_KIND(MemsetD2D16, v2, 3020,
             (CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height),
             (dstDevice, dstPitch, us, Width, Height))
CUSHIM_ENTRY_BY_KIND(MemsetD2D16Async, v1, 3020,
             (CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height, CUstream hStream),
             (dstDevice, dstPitch, us, Width, Height, hStream))
CUSHIM_ENTRY_BY_KIND(MemsetD2D32, v1, 2000,
             (CUdeviceptr_v1 dstDevice, unsigned int dstPitch, unsigned int ui, unsigned int Width,
              unsigned int Height), (dstDevice, dstPitch, ui, Width, Height))
CUSHIM_ENTRY_BY_KIND(MemsetD2D32, v2, 3020,
             (CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height),
             (dstDevice, dstPitch, ui, Width, Height))
CUSHIM_ENTRY_BY_KIND(MemsetD2D32Async, v1, 3020,
             (CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height, CUstream hStream),
             (dstDevice, dstPitch, ui, Width, Height, hStream))
CUSHIM_ENTRY_BY_KIND(MemsetD2D8, v1, 2000,
             (CUdeviceptr_v1 dstDevice, unsigned int dstPitch, unsigned char uc, unsigned int Width,
              unsigned int Height), (dstDevice, dstPitch, uc, Width, Height))
CUSHIM_ENTRY_BY_KIND(MemsetD2D8, v2, 3020,
             (CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height),
             (dstDevice, dstPitch, uc, Width, Height))
CUSHIM_ENTRY_BY_KIND(MemsetD2D8Async, v1, 3020,
             (CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height, CUstream hStream),
             (dstDevice, dstPitch, uc, Width, Height, hStream))
CUSHIM_ENTRY_BY_KIND(MemsetD32, v1, 2000, (CUdeviceptr_v1 dstDevice, unsigned int ui, unsigned int N),
             (dstDevice, ui, N))
CUSHIM_ENTRY_BY_KIND(MemsetD32, v2, 3020, (CUdeviceptr dstDevice, unsigned int ui, size_t N), (dstDevice, ui, N))
CUSHIM_ENTRY_BY_KIND(MemsetD32Async, v1, 3020, (CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream),
             (dstDevice, ui, N, hStream))
CUSHIM_ENTRY_BY_KIND(MemsetD8, v1, 2000, (CUdeviceptr_v1 dstDevice, unsigned char uc, unsigned int N),
             (dstDevice, uc, N))
CUSHIM_ENTRY_BY_KIND(MemsetD8, v2, 3020, (CUdeviceptr dstDevice, unsigned char uc, size_t N), (dstDevice, uc, N))
CUSHIM_ENTRY_BY_KIND(MemsetD8Async, v1, 3020, (CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream),
             (dstDevice, uc, N, hStream))
CUSHIM_ENTRY(MipmappedArrayCreate, v1, 5000,
             (CUmipmappedArray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
              unsigned int numMipmapLevels), (pHandle, pMipmappedArrayDesc, numMipmapLevels))
CUSHIM_ENTRY(MipmappedArrayDestroy, v1, 5000, (CUmipmappedArray hMipmappedArray), (hMipmappedArray))
CUSHIM_ENTRY(MipmappedArrayGetLevel, v1, 5000,
             (CUarray *pLevelArray, CUmipmappedArray hMipmappedArray, unsigned int level),
             (pLevelArray, hMipmappedArray, level))
CUSHIM_ENTRY(MipmappedArrayGetMemoryRequirements, v1, 11060,
             (CUDA_ARRAY_MEMORY_REQUIREMENTS *memoryRequirements, CUmipmappedArray mipmap, CUdevice device),
             (memoryRequirements, mipmap, device))
CUSHIM_ENTRY(MipmappedArrayGetSparseProperties, v1, 11010,
             (CUDA_ARRAY_SPARSE_PROPERTIES *sparseProperties, CUmipmappedArray mipmap), (sparseProperties, mipmap))
CUSHIM_ENTRY(ModuleEnumerateFunctions, v1, 12040, (CUfunction *functions, unsigned int numFunctions, CUmodule mod),
             (functions, numFunctions, mod))
CUSHIM_ENTRY(ModuleGetFunction, v1, 2000, (CUfunction *hfunc, CUmodule hmod, const char *name), (hfunc, hmod, name))
CUSHIM_ENTRY(ModuleGetFunctionCount, v1, 12040, (unsigned int *count, CUmodule hmod), (count, hmod))
CUSHIM_ENTRY(ModuleGetGlobal, v1, 2000, (CUdeviceptr_v1 *dptr, unsigned int *bytes, CUmodule hmod, const char *name),
             (dptr, bytes, hmod, name))
CUSHIM_ENTRY(ModuleGetGlobal, v2, 3020, (CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name),
             (dptr, bytes, hmod, name))
CUSHIM_ENTRY(ModuleGetLoadingMode, v1, 11070, (CUmoduleLoadingMode *mode), (mode))
CUSHIM_ENTRY(ModuleGetSurfRef, v1, 3000, (CUsurfref *pSurfRef, CUmodule hmod, const char *name), (pSurfRef, hmod, name))
CUSHIM_ENTRY(ModuleGetTexRef, v1, 2000, (CUtexref *pTexRef, CUmodule hmod, const char *name), (pTexRef, hmod, name))
CUSHIM_ENTRY(ModuleLoad, v1, 2000, (CUmodule *module, const char *fname), (module, fname))
CUSHIM_ENTRY(ModuleLoadData, v1, 2000, (CUmodule *module, const void *image), (module, image))
CUSHIM_ENTRY(ModuleLoadDataEx, v1, 2010,
             (CUmodule *module, const void *image, unsigned int numOptions, CUjit_option *options, void **optionValues),
             (module, image, numOptions, options, optionValues))
CUSHIM_ENTRY(ModuleLoadFatBinary, v1, 2000, (CUmodule *module, const void *fatCubin), (module, fatCubin))
CUSHIM_ENTRY(ModuleUnload, v1, 2000, (CUmodule hmod), (hmod))
CUSHIM_ENTRY(MulticastAddDevice, v1, 12010, (CUmemGenericAllocationHandle mcHandle, CUdevice dev), (mcHandle, dev))
CUSHIM_ENTRY(MulticastBindAddr, v1, 12010,
             (CUmemGenericAllocationHandle mcHandle, size_t mcOffset, CUdeviceptr memptr, size_t size,
              unsigned long long flags), (mcHandle, mcOffset, memptr, size, flags))
CUSHIM_ENTRY(MulticastBindAddr, v2, 13010,
             (CUmemGenericAllocationHandle mcHandle, CUdevice dev, size_t mcOffset, CUdeviceptr memptr, size_t size,
              unsigned long long flags), (mcHandle, dev, mcOffset, memptr, size, flags))
CUSHIM_ENTRY(MulticastBindMem, v1, 12010,
             (CUmemGenericAllocationHandle mcHandle, size_t mcOffset, CUmemGenericAllocationHandle memHandle,
              size_t memOffset, size_t size, unsigned long long flags),
             (mcHandle, mcOffset, memHandle, memOffset, size, flags))
CUSHIM_ENTRY(MulticastBindMem, v2, 13010,
             (CUmemGenericAllocationHandle mcHandle, CUdevice dev, size_t mcOffset,
              CUmemGenericAllocationHandle memHandle, size_t memOffset, size_t size, unsigned long long flags),
             (mcHandle, dev, mcOffset, memHandle, memOffset, size, flags))
CUSHIM_ENTRY(MulticastCreate, v1, 12010, (CUmemGenericAllocationHandle *mcHandle, const CUmulticastObjectProp *prop),
             (mcHandle, prop))
CUSHIM_ENTRY(MulticastGetGranularity, v1, 12010,
             (size_t *granularity, const CUmulticastObjectProp *prop, CUmulticastGranularity_flags option),
             (granularity, prop, option))
CUSHIM_ENTRY(MulticastUnbind, v1, 12010,
             (CUmemGenericAllocationHandle mcHandle, CUdevice dev, size_t mcOffset, size_t size),
             (mcHandle, dev, mcOffset, size))
CUSHIM_ENTRY(OccupancyAvailableDynamicSMemPerBlock, v1, 10020,
             (size_t *dynamicSmemSize, CUfunction func, int numBlocks, int blockSize),
             (dynamicSmemSize, func, numBlocks, blockSize))
CUSHIM_ENTRY(OccupancyMaxActiveBlocksPerMultiprocessor, v1, 6050,
             (int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize),
             (numBlocks, func, blockSize, dynamicSMemSize))
CUSHIM_ENTRY(OccupancyMaxActiveBlocksPerMultiprocessorWithFlags, v1, 7000,
             (int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize, unsigned int flags),
             (numBlocks, func, blockSize, dynamicSMemSize, flags))
CUSHIM_ENTRY(OccupancyMaxActiveClusters, v1, 11070, (int *numClusters, CUfunction func, const CUlaunchConfig *config),
             (numClusters, func, config))
CUSHIM_ENTRY(OccupancyMaxPotentialBlockSize, v1, 6050,
             (int *minGridSize, int *blockSize, CUfunction func, CUoccupancyB2DSize blockSizeToDynamicSMemSize,
              size_t dynamicSMemSize, int blockSizeLimit),
             (minGridSize, blockSize, func, blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit))
CUSHIM_ENTRY(OccupancyMaxPotentialBlockSizeWithFlags, v1, 7000,
             (int *minGridSize, int *blockSize, CUfunction func, CUoccupancyB2DSize blockSizeToDynamicSMemSize,
              size_t dynamicSMemSize, int blockSizeLimit, unsigned int flags),
             (minGridSize, blockSize, func, blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit, flags))
CUSHIM_ENTRY(OccupancyMaxPotentialClusterSize, v1, 11070,
             (int *clusterSize, CUfunction func, const CUlaunchConfig *config), (clusterSize, func, config))
CUSHIM_ENTRY(ParamSetSize, v1, 2000, (CUfunction hfunc, unsigned int numbytes), (hfunc, numbytes))
CUSHIM_ENTRY(ParamSetTexRef, v1, 2000, (CUfunction hfunc, int texunit, CUtexref hTexRef), (hfunc, texunit, hTexRef))
CUSHIM_ENTRY(ParamSetf, v1, 2000, (CUfunction hfunc, int offset, float value), (hfunc, offset, value))
CUSHIM_ENTRY(ParamSeti, v1, 2000, (CUfunction hfunc, int offset, unsigned int value), (hfunc, offset, value))
CUSHIM_ENTRY(ParamSetv, v1, 2000, (CUfunction hfunc, int offset, void *ptr, unsigned int numbytes),
             (hfunc, offset, ptr, numbytes))
CUSHIM_ENTRY(PointerGetAttribute, v1, 4000, (void *data, CUpointer_attribute attribute, CUdeviceptr ptr),
             (data, attribute, ptr))
CUSHIM_ENTRY(PointerGetAttributes, v1, 7000,
             (unsigned int numAttributes, CUpointer_attribute *attributes, void **data, CUdeviceptr ptr),
             (numAttributes, attributes, data, ptr))
CUSHIM_ENTRY(PointerSetAttribute, v1, 6000, (const void *value, CUpointer_attribute attribute, CUdeviceptr ptr),
             (value, attribute, ptr))
CUSHIM_ENTRY(ProfilerInitialize, v1, 4000, (const char *configFile, const char *outputFile, unsigned int outputMode),
             (configFile, outputFile, outputMode))
CUSHIM_ENTRY(ProfilerStart, v1, 4000, (void), ())
CUSHIM_ENTRY(ProfilerStop, v1, 4000, (void), ())
CUSHIM_ENTRY_BY_KIND(SignalExternalSemaphoresAsync, v1, 10000,
             (const CUexternalSemaphore *extSemArray, const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *paramsArray,
              unsigned int numExtSems, CUstream hStream), (extSemArray, paramsArray, numExtSems, hStream))
CUSHIM_ENTRY_BY_KIND(StreamAddCallback, v1, 5000,
             (CUstream hStream, CUstreamCallback callback, void *userData, unsigned int flags),
             (hStream, callback, userData, flags))
CUSHIM_ENTRY_BY_KIND(StreamAttachMemAsync, v1, 6000,
             (CUstream hStream, CUdeviceptr dptr, size_t length, unsigned int flags), (hStream, dptr, length, flags))
CUSHIM_ENTRY_BY_KIND(StreamBatchMemOp, v1, 8000,
             (CUstream hStream, unsigned int count, CUstreamBatchMemOpParams *paramArray, unsigned int flags),
             (hStream, count, paramArray, flags))
CUSHIM_ENTRY_BY_KIND(StreamBatchMemOp, v2, 11070,
             (CUstream hStream, unsigned int count, CUstreamBatchMemOpParams *paramArray, unsigned int flags),
             (hStream, count, paramArray, flags))
CUSHIM_ENTRY_BY_KIND(StreamBeginCapture, v1, 10000, (CUstream hStream), (hStream))
CUSHIM_ENTRY_BY_KIND(StreamBeginCapture, v2, 10010, (CUstream hStream, CUstreamCaptureMode mode), (hStream, mode))
CUSHIM_ENTRY_BY_KIND(StreamBeginCaptureToCig, v1, 13010,
             (CUstream hStream, CUstreamCigCaptureParams *streamCigCaptureParams), (hStream, streamCigCaptureParams))
CUSHIM_ENTRY_BY_KIND(StreamBeginCaptureToGraph, v1, 12030,
             (CUstream hStream, CUgraph hGraph, const CUgraphNode *dependencies, const CUgraphEdgeData *dependencyData,
              size_t numDependencies, CUstreamCaptureMode mode),
             (hStream, hGraph, dependencies, dependencyData, numDependencies, mode))
CUSHIM_ENTRY_BY_KIND(StreamBeginRecaptureToGraph, v1, 13030,
             (CUstream hStream, CUstreamCaptureMode mode, CUgraph hGraph, CUgraphRecaptureCallback callbackFunc,
              void *userData), (hStream, mode, hGraph, callbackFunc, userData))
CUSHIM_ENTRY_BY_KIND(StreamCopyAttributes, v1, 11000, (CUstream dstStream, CUstream srcStream), (dstStream, srcStream))
CUSHIM_ENTRY(StreamCreate, v1, 2000, (CUstream *phStream, unsigned int Flags), (phStream, Flags))
CUSHIM_ENTRY(StreamCreateWithPriority, v1, 5050, (CUstream *phStream, unsigned int flags, int priority),
             (phStream, flags, priority))
CUSHIM_ENTRY(StreamDestroy, v1, 2000, (CUstream hStream), (hStream))
CUSHIM_ENTRY(StreamDestroy, v2, 4000, (CUstream hStream), (hStream))
CUSHIM_ENTRY_BY_KIND(StreamEndCapture, v1, 10000, (CUstream hStream, CUgraph *phGraph), (hStream, phGraph))
CUSHIM_ENTRY_BY_KIND(StreamEndCaptureToCig, v1, 13010, (CUstream hStream), (hStream))
CUSHIM_ENTRY_BY_KIND(StreamGetAttribute, v1, 11000,
             (CUstream hStream, CUstreamAttrID attr, CUlaunchAttributeValue *value), (hStream, attr, value))
CUSHIM_ENTRY_BY_KIND(StreamGetCaptureInfo, v1, 10010,
             (CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out),
             (hStream, captureStatus_out, id_out))
CUSHIM_ENTRY_BY_KIND(StreamGetCaptureInfo, v2, 11030,
             (CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out, CUgraph *graph_out,
              const CUgraphNode **dependencies_out, size_t *numDependencies_out),
             (hStream, captureStatus_out, id_out, graph_out, dependencies_out, numDependencies_out))
CUSHIM_ENTRY_BY_KIND(StreamGetCaptureInfo, v3, 12030,
             (CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out, CUgraph *graph_out,
              const CUgraphNode **dependencies_out, const CUgraphEdgeData **edgeData_out, size_t *numDependencies_out),
             (hStream, captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out, numDependencies_out))
CUSHIM_ENTRY_BY_KIND(StreamGetCtx, v1, 9020, (CUstream hStream, CUcontext *pctx), (hStream, pctx))
CUSHIM_ENTRY_BY_KIND(StreamGetCtx, v2, 12050, (CUstream hStream, CUcontext *pctx, CUgreenCtx *pGreenCtx),
             (hStream, pctx, pGreenCtx))
CUSHIM_ENTRY_BY_KIND(StreamGetDevResource, v1, 13010,
             (CUstream hStream, CUdevResource *resource, CUdevResourceType type), (hStream, resource, type))
CUSHIM_ENTRY_BY_KIND(StreamGetDevice, v1, 12080, (CUstream hStream, CUdevice *device), (hStream, device))
CUSHIM_ENTRY_BY_KIND(StreamGetFlags, v1, 5050, (CUstream hStream, unsigned int *flags), (hStream, flags))
CUSHIM_ENTRY(StreamGetGreenCtx, v1, 12040, (CUstream hStream, CUgreenCtx *phCtx), (hStream, phCtx))
CUSHIM_ENTRY_BY_KIND(StreamGetId, v1, 12000, (CUstream hStream, unsigned long long *streamId), (hStream, streamId))
CUSHIM_ENTRY_BY_KIND(StreamGetPriority, v1, 5050, (CUstream hStream, int *priority), (hStream, priority))
CUSHIM_ENTRY_BY_KIND(StreamIsCapturing, v1, 10000, (CUstream hStream, CUstreamCaptureStatus *captureStatus),
             (hStream, captureStatus))
CUSHIM_ENTRY_BY_KIND(StreamQuery, v1, 2000, (CUstream hStream), (hStream))
CUSHIM_ENTRY_BY_KIND(StreamSetAttribute, v1, 11000,
             (CUstream hStream, CUstreamAttrID attr, const CUlaunchAttributeValue *param), (hStream, attr, param))
CUSHIM_ENTRY_BY_KIND(StreamSynchronize, v1, 2000, (CUstream hStream), (hStream))
CUSHIM_ENTRY_BY_KIND(StreamUpdateCaptureDependencies, v1, 11030,
             (CUstream hStream, CUgraphNode *dependencies, size_t numDependencies, unsigned int flags),
             (hStream, dependencies, numDependencies, flags))
CUSHIM_ENTRY_BY_KIND(StreamUpdateCaptureDependencies, v2, 12030,
             (CUstream hStream, CUgraphNode *dependencies, const CUgraphEdgeData *dependencyData,
              size_t numDependencies, unsigned int flags),
             (hStream, dependencies, dependencyData, numDependencies, flags))
CUSHIM_ENTRY_BY_KIND(StreamWaitEvent, v1, 3020, (CUstream hStream, CUevent hEvent, unsigned int Flags),
             (hStream, hEvent, Flags))
CUSHIM_ENTRY_BY_KIND(StreamWaitValue32, v1, 8000,
             (CUstream hStream, CUdeviceptr addr, cuuint32_t value, unsigned int flags), (hStream, addr, value, flags))
CUSHIM_ENTRY_BY_KIND(StreamWaitValue32, v2, 11070,
             (CUstream hStream, CUdeviceptr addr, cuuint32_t value, unsigned int flags), (hStream, addr, value, flags))
CUSHIM_ENTRY_BY_KIND(StreamWaitValue64, v1, 9000,
             (CUstream hStream, CUdeviceptr addr, cuuint64_t value, unsigned int flags), (hStream, addr, value, flags))
CUSHIM_ENTRY_BY_KIND(StreamWaitValue64, v2, 11070,
             (CUstream hStream, CUdeviceptr addr, cuuint64_t value, unsigned int flags), (hStream, addr, value, flags))
CUSHIM_ENTRY_BY_KIND(StreamWriteValue32, v1, 8000,
             (CUstream hStream, CUdeviceptr addr, cuuint32_t value, unsigned int flags), (hStream, addr, value, flags))
CUSHIM_ENTRY_BY_KIND(StreamWriteValue32, v2, 11070,
             (CUstream hStream, CUdeviceptr addr, cuuint32_t value, unsigned int flags), (hStream, addr, value, flags))
CUSHIM_ENTRY_BY_KIND(StreamWriteValue64, v1, 9000,
             (CUstream hStream, CUdeviceptr addr, cuuint64_t value, unsigned int flags), (hStream, addr, value, flags))
CUSHIM_ENTRY_BY_KIND(StreamWriteValue64, v2, 11070,
             (CUstream hStream, CUdeviceptr addr, cuuint64_t value, unsigned int flags), (hStream, addr, value, flags))
CUSHIM_ENTRY(SurfObjectCreate, v1, 5000, (CUsurfObject *pSurfObject, const CUDA_RESOURCE_DESC *pResDesc),
             (pSurfObject, pResDesc))
CUSHIM_ENTRY(SurfObjectDestroy, v1, 5000, (CUsurfObject surfObject), (surfObject))
CUSHIM_ENTRY(SurfObjectGetResourceDesc, v1, 5000, (CUDA_RESOURCE_DESC *pResDesc, CUsurfObject surfObject),
             (pResDesc, surfObject))
CUSHIM_ENTRY(SurfRefGetArray, v1, 3000, (CUarray *phArray, CUsurfref hSurfRef), (phArray, hSurfRef))
CUSHIM_ENTRY(SurfRefSetArray, v1, 3000, (CUsurfref hSurfRef, CUarray hArray, unsigned int Flags),
             (hSurfRef, hArray, Flags))
CUSHIM_ENTRY(TensorMapEncodeIm2col, v1, 12000,
             (CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank, void *globalAddress,
              const cuuint64_t *globalDim, const cuuint64_t *globalStrides, const int *pixelBoxLowerCorner,
              const int *pixelBoxUpperCorner, cuuint32_t channelsPerPixel, cuuint32_t pixelsPerColumn,
              const cuuint32_t *elementStrides, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
              CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill),
             (tensorMap, tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, pixelBoxLowerCorner,
              pixelBoxUpperCorner, channelsPerPixel, pixelsPerColumn, elementStrides, interleave, swizzle, l2Promotion,
              oobFill))
CUSHIM_ENTRY(TensorMapEncodeIm2colWide, v1, 12080,
             (CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank, void *globalAddress,
              const cuuint64_t *globalDim, const cuuint64_t *globalStrides, int pixelBoxLowerCornerWidth,
              int pixelBoxUpperCornerWidth, cuuint32_t channelsPerPixel, cuuint32_t pixelsPerColumn,
              const cuuint32_t *elementStrides, CUtensorMapInterleave interleave, CUtensorMapIm2ColWideMode mode,
              CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill),
             (tensorMap, tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, pixelBoxLowerCornerWidth,
              pixelBoxUpperCornerWidth, channelsPerPixel, pixelsPerColumn, elementStrides, interleave, mode, swizzle,
              l2Promotion, oobFill))
CUSHIM_ENTRY(TensorMapEncodeTiled, v1, 12000,
             (CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank, void *globalAddress,
              const cuuint64_t *globalDim, const cuuint64_t *globalStrides, const cuuint32_t *boxDim,
              const cuuint32_t *elementStrides, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
              CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill),
             (tensorMap, tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, boxDim, elementStrides,
              interleave, swizzle, l2Promotion, oobFill))
CUSHIM_ENTRY(TensorMapReplaceAddress, v1, 12000, (CUtensorMap *tensorMap, void *globalAddress),
             (tensorMap, globalAddress))
CUSHIM_ENTRY(TexObjectCreate, v1, 5000,
             (CUtexObject *pTexObject, const CUDA_RESOURCE_DESC *pResDesc, const CUDA_TEXTURE_DESC *pTexDesc,
              const CUDA_RESOURCE_VIEW_DESC *pResViewDesc), (pTexObject, pResDesc, pTexDesc, pResViewDesc))
CUSHIM_ENTRY(TexObjectDestroy, v1, 5000, (CUtexObject texObject), (texObject))
CUSHIM_ENTRY(TexObjectGetResourceDesc, v1, 5000, (CUDA_RESOURCE_DESC *pResDesc, CUtexObject texObject),
             (pResDesc, texObject))
CUSHIM_ENTRY(TexObjectGetResourceViewDesc, v1, 5000, (CUDA_RESOURCE_VIEW_DESC *pResViewDesc, CUtexObject texObject),
             (pResViewDesc, texObject))
CUSHIM_ENTRY(TexObjectGetTextureDesc, v1, 5000, (CUDA_TEXTURE_DESC *pTexDesc, CUtexObject texObject),
             (pTexDesc, texObject))
CUSHIM_ENTRY(TexRefCreate, v1, 2000, (CUtexref *pTexRef), (pTexRef))
CUSHIM_ENTRY(TexRefDestroy, v1, 2000, (CUtexref hTexRef), (hTexRef))
CUSHIM_ENTRY(TexRefGetAddress, v1, 2000, (CUdeviceptr_v1 *pdptr, CUtexref hTexRef), (pdptr, hTexRef))
CUSHIM_ENTRY(TexRefGetAddress, v2, 3020, (CUdeviceptr *pdptr, CUtexref hTexRef), (pdptr, hTexRef))
CUSHIM_ENTRY(TexRefGetAddressMode, v1, 2000, (CUaddress_mode *pam, CUtexref hTexRef, int dim), (pam, hTexRef, dim))
CUSHIM_ENTRY(TexRefGetArray, v1, 2000, (CUarray *phArray, CUtexref hTexRef), (phArray, hTexRef))
CUSHIM_ENTRY(TexRefGetBorderColor, v1, 8000, (float *pBorderColor, CUtexref hTexRef), (pBorderColor, hTexRef))
CUSHIM_ENTRY(TexRefGetFilterMode, v1, 2000, (CUfilter_mode *pfm, CUtexref hTexRef), (pfm, hTexRef))
CUSHIM_ENTRY(TexRefGetFlags, v1, 2000, (unsigned int *pFlags, CUtexref hTexRef), (pFlags, hTexRef))
CUSHIM_ENTRY(TexRefGetFormat, v1, 2000, (CUarray_format *pFormat, int *pNumChannels, CUtexref hTexRef),
             (pFormat, pNumChannels, hTexRef))
CUSHIM_ENTRY(TexRefGetMaxAnisotropy, v1, 5000, (int *pmaxAniso, CUtexref hTexRef), (pmaxAniso, hTexRef))
CUSHIM_ENTRY(TexRefGetMipmapFilterMode, v1, 5000, (CUfilter_mode *pfm, CUtexref hTexRef), (pfm, hTexRef))
CUSHIM_ENTRY(TexRefGetMipmapLevelBias, v1, 5000, (float *pbias, CUtexref hTexRef), (pbias, hTexRef))
CUSHIM_ENTRY(TexRefGetMipmapLevelClamp, v1, 5000,
             (float *pminMipmapLevelClamp, float *pmaxMipmapLevelClamp, CUtexref hTexRef),
             (pminMipmapLevelClamp, pmaxMipmapLevelClamp, hTexRef))
CUSHIM_ENTRY(TexRefGetMipmappedArray, v1, 5000, (CUmipmappedArray *phMipmappedArray, CUtexref hTexRef),
             (phMipmappedArray, hTexRef))
CUSHIM_ENTRY(TexRefSetAddress, v1, 2000,
             (unsigned int *ByteOffset, CUtexref hTexRef, CUdeviceptr_v1 dptr, unsigned int bytes),
             (ByteOffset, hTexRef, dptr, bytes))
CUSHIM_ENTRY(TexRefSetAddress, v2, 3020, (size_t *ByteOffset, CUtexref hTexRef, CUdeviceptr dptr, size_t bytes),
             (ByteOffset, hTexRef, dptr, bytes))
CUSHIM_ENTRY(TexRefSetAddress2D, v1, 2020,
             (CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR_v1 *desc, CUdeviceptr_v1 dptr, unsigned int Pitch),
             (hTexRef, desc, dptr, Pitch))
CUSHIM_ENTRY(TexRefSetAddress2D, v2, 3020,
             (CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR *desc, CUdeviceptr dptr, size_t Pitch),
             (hTexRef, desc, dptr, Pitch))
CUSHIM_ENTRY(TexRefSetAddress2D, v3, 4010,
             (CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR *desc, CUdeviceptr dptr, size_t Pitch),
             (hTexRef, desc, dptr, Pitch))
CUSHIM_ENTRY(TexRefSetAddressMode, v1, 2000, (CUtexref hTexRef, int dim, CUaddress_mode am), (hTexRef, dim, am))
CUSHIM_ENTRY(TexRefSetArray, v1, 2000, (CUtexref hTexRef, CUarray hArray, unsigned int Flags), (hTexRef, hArray, Flags))
CUSHIM_ENTRY(TexRefSetBorderColor, v1, 8000, (CUtexref hTexRef, float *pBorderColor), (hTexRef, pBorderColor))
CUSHIM_ENTRY(TexRefSetFilterMode, v1, 2000, (CUtexref hTexRef, CUfilter_mode fm), (hTexRef, fm))
CUSHIM_ENTRY(TexRefSetFlags, v1, 2000, (CUtexref hTexRef, unsigned int Flags), (hTexRef, Flags))
CUSHIM_ENTRY(TexRefSetFormat, v1, 2000, (CUtexref hTexRef, CUarray_format fmt, int NumPackedComponents),
             (hTexRef, fmt, NumPackedComponents))
CUSHIM_ENTRY(TexRefSetMaxAnisotropy, v1, 5000, (CUtexref hTexRef, unsigned int maxAniso), (hTexRef, maxAniso))
CUSHIM_ENTRY(TexRefSetMipmapFilterMode, v1, 5000, (CUtexref hTexRef, CUfilter_mode fm), (hTexRef, fm))
CUSHIM_ENTRY(TexRefSetMipmapLevelBias, v1, 5000, (CUtexref hTexRef, float bias), (hTexRef, bias))
CUSHIM_ENTRY(TexRefSetMipmapLevelClamp, v1, 5000,
             (CUtexref hTexRef, float minMipmapLevelClamp, float maxMipmapLevelClamp),
             (hTexRef, minMipmapLevelClamp, maxMipmapLevelClamp))
CUSHIM_ENTRY(TexRefSetMipmappedArray, v1, 5000,
             (CUtexref hTexRef, CUmipmappedArray hMipmappedArray, unsigned int Flags),
             (hTexRef, hMipmappedArray, Flags))
CUSHIM_ENTRY(ThreadExchangeStreamCaptureMode, v1, 10010, (CUstreamCaptureMode *mode), (mode))
CUSHIM_ENTRY(UserObjectCreate, v1, 11030,
             (CUuserObject *object_out, void *ptr, CUhostFn destroy, unsigned int initialRefcount, unsigned int flags),
             (object_out, ptr, destroy, initialRefcount, flags))
CUSHIM_ENTRY(UserObjectRelease, v1, 11030, (CUuserObject object, unsigned int count), (object, count))
CUSHIM_ENTRY(UserObjectRetain, v1, 11030, (CUuserObject object, unsigned int count), (object, count))
CUSHIM_ENTRY(VDPAUCtxCreate, v1, 3010,
             (CUcontext *pCtx, unsigned int flags, CUdevice device, uint32_t vdpDevice,
              cushim_vdpau_get_proc_address *vdpGetProcAddress), (pCtx, flags, device, vdpDevice, vdpGetProcAddress))
CUSHIM_ENTRY(VDPAUCtxCreate, v2, 3020,
             (CUcontext *pCtx, unsigned int flags, CUdevice device, uint32_t vdpDevice,
              cushim_vdpau_get_proc_address *vdpGetProcAddress), (pCtx, flags, device, vdpDevice, vdpGetProcAddress))
CUSHIM_ENTRY(VDPAUGetDevice, v1, 3010,
             (CUdevice *pDevice, uint32_t vdpDevice, cushim_vdpau_get_proc_address *vdpGetProcAddress),
             (pDevice, vdpDevice, vdpGetProcAddress))
CUSHIM_ENTRY_BY_KIND(WaitExternalSemaphoresAsync, v1, 10000,
             (const CUexternalSemaphore *extSemArray, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *paramsArray,
              unsigned int numExtSems, CUstream hStream), (extSemArray, paramsArray, numExtSems, hStream))
CUSHIM_ENTRY_WINDOWS(D3D11CtxCreate, v1, 3000,
             (CUcontext *pCtx, CUdevice *pCudaDevice, unsigned int Flags, struct ID3D11Device *pD3DDevice),
             (pCtx, pCudaDevice, Flags, pD3DDevice))
CUSHIM_ENTRY_WINDOWS(D3D11CtxCreate, v2, 3020,
             (CUcontext *pCtx, CUdevice *pCudaDevice, unsigned int Flags, struct ID3D11Device *pD3DDevice),
             (pCtx, pCudaDevice, Flags, pD3DDevice))
CUSHIM_ENTRY_WINDOWS(D3D11CtxCreateOnDevice, v1, 3020,
             (CUcontext *pCtx, unsigned int flags, struct ID3D11Device *pD3DDevice, CUdevice cudaDevice),
             (pCtx, flags, pD3DDevice, cudaDevice))
CUSHIM_ENTRY_WINDOWS(D3D11GetDevice, v1, 3000, (CUdevice *pCudaDevice, struct IDXGIAdapter *pAdapter),
             (pCudaDevice, pAdapter))
CUSHIM_ENTRY_WINDOWS(D3D11GetDevices, v1, 3020,
             (unsigned int *pCudaDeviceCount, CUdevice *pCudaDevices, unsigned int cudaDeviceCount,
              struct ID3D11Device *pD3D11Device, unsigned int deviceList),
             (pCudaDeviceCount, pCudaDevices, cudaDeviceCount, pD3D11Device, deviceList))
CUSHIM_ENTRY_WINDOWS(D3D11GetDirect3DDevice, v1, 3020, (struct ID3D11Device **ppD3DDevice), (ppD3DDevice))
CUSHIM_ENTRY_WINDOWS(GraphicsD3D11RegisterResource, v1, 3000,
             (CUgraphicsResource *pCudaResource, struct ID3D11Resource *pD3DResource, unsigned int Flags),
             (pCudaResource, pD3DResource, Flags))
CUSHIM_ENTRY_WINDOWS(WGLGetDevice, v1, 2020, (CUdevice *pDevice, void *hGpu), (pDevice, hGpu))
CUSHIM_ENTRY(DeviceGetCliqueCount, v1, 13040, (size_t *count, CUdevice dev), (count, dev))
CUSHIM_ENTRY(DeviceGetCliqueInfo, v1, 13040, (CUcliqueInfo *cliqueInfo, size_t *count, CUdevice dev),
             (cliqueInfo, count, dev))
CUSHIM_ENTRY(DeviceGetFabricClusterUuid, v1, 13040, (CUuuid *uuid, CUdevice dev), (uuid, dev))
CUSHIM_ENTRY_BY_KIND(FabricCpyBatchAsync, v1, 13050,
             (size_t numOps, CUDA_FABRIC_COPY_BATCH_OP *opList, unsigned long long flags, CUstream hStream),
             (numOps, opList, flags, hStream))
CUSHIM_ENTRY(GraphAddNode, v3, 13040,
             (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
              const CUgraphEdgeData *dependencyData, size_t numDependencies, CUgraphNodeParams *nodeParams),
             (phGraphNode, hGraph, dependencies, dependencyData, numDependencies, nodeParams))
CUSHIM_ENTRY(GraphNodeSetParams, v2, 13040, (CUgraphNode hNode, CUgraphNodeParams *nodeParams), (hNode, nodeParams))
CUSHIM_ENTRY(MemGetLocationInfo, v1, 13040,
             (CUdeviceptr ptr, size_t size, size_t summaryGranularity, size_t samplingGranularity,
              CUmemLocation *location_out), (ptr, size, summaryGranularity, samplingGranularity, location_out))
CUSHIM_ENTRY(TensorMapSetAllocationClass, v1, 13050,
             (CUtensorMap *tensorMap, CUtensorMapAllocClass allocClass, CUtensorMapAllocClass *outAllocClass),
             (tensorMap, allocClass, outAllocClass))

#undef CUSHIM_ENTRY
#undef CUSHIM_ENTRY_BY_KIND
#undef CUSHIM_ENTRY_WINDOWS
