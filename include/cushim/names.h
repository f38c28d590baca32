/* SPDX-License-Identifier: MIT */
/*
 * names.h - for porting: code that calls the driver by its own names goes through the table, unchanged.
 *
 *   #include <cushim/names.h>
 *   ...
 *   cuStreamQuery(stream);             becomes cushim_table()->StreamQuery_v1(stream)
 *   cuStreamGetCaptureInfo_v3(...);    becomes cushim_table()->StreamGetCaptureInfo_v3(...)
 *
 * A suffixed name means the slot of that ABI version. A plain name means what it means in the <cuda.h> of
 * CUSHIM_NAMES_VERSION: cuStreamGetCaptureInfo has three parameters in CUDA 11, six in 12 and seven in 13. Define
 * CUSHIM_NAMES_VERSION to compile calls that were written for an older CUDA version. The default is the version of the
 * <cuda.h> in use or, with cushim's own types, the newest version in the list. The types do not depend on it. The
 * oldest ABI version of a function has no suffix. If the plain name means a newer version, call the oldest one through
 * the table. Stream 0 is the default stream for which the translation unit is compiled
 * (CUDA_API_PER_THREAD_DEFAULT_STREAM), as with <cuda.h>.
 *
 * These are macros, and they rename anything of the same name. Include this header after <cuda.h> and
 * <cudaProfiler.h>, and do not include it in files with a struct that has such members (ops.cuMemAlloc). For that
 * reason cushim.h does not include it. The names of the functions for Direct3D, OpenGL, EGL and VDPAU are in
 * names_interop.h, so that headers such as <cudaGL.h> may follow this header. A function that the list lacks keeps its
 * declaration from <cuda.h>, and a program that calls it must link to the driver; use cushim_lookup() instead.
 *
 * Made by loader/lists/write_lists.py from loader/lists/entry_points.tsv: do not edit.
 */
#ifndef CUSHIM_NAMES_H
#define CUSHIM_NAMES_H

#include "cushim/loader.h"

#ifndef CUSHIM_NAMES_VERSION
#    if CUSHIM_CUDA_HEADER_VERSION
#        define CUSHIM_NAMES_VERSION CUSHIM_CUDA_HEADER_VERSION
#    else
#        define CUSHIM_NAMES_VERSION CUSHIM_LIST_VERSION
#    endif
#endif

/* clang-format off */

#undef cuArray3DCreate
#undef cuArray3DCreate_v2
#define cuArray3DCreate_v2 (cushim_table()->Array3DCreate_v2)
#define cuArray3DCreate cuArray3DCreate_v2
#undef cuArray3DGetDescriptor
#undef cuArray3DGetDescriptor_v2
#define cuArray3DGetDescriptor_v2 (cushim_table()->Array3DGetDescriptor_v2)
#define cuArray3DGetDescriptor cuArray3DGetDescriptor_v2
#undef cuArrayCreate
#undef cuArrayCreate_v2
#define cuArrayCreate_v2 (cushim_table()->ArrayCreate_v2)
#define cuArrayCreate cuArrayCreate_v2
#undef cuArrayDestroy
#define cuArrayDestroy (cushim_table()->ArrayDestroy_v1)
#undef cuArrayGetDescriptor
#undef cuArrayGetDescriptor_v2
#define cuArrayGetDescriptor_v2 (cushim_table()->ArrayGetDescriptor_v2)
#define cuArrayGetDescriptor cuArrayGetDescriptor_v2
#undef cuArrayGetMemoryRequirements
#define cuArrayGetMemoryRequirements (cushim_table()->ArrayGetMemoryRequirements_v1)
#undef cuArrayGetPlane
#define cuArrayGetPlane (cushim_table()->ArrayGetPlane_v1)
#undef cuArrayGetSparseProperties
#define cuArrayGetSparseProperties (cushim_table()->ArrayGetSparseProperties_v1)
#undef cuCheckpointOperationComplete
#define cuCheckpointOperationComplete (cushim_table()->CheckpointOperationComplete_v1)
#undef cuCheckpointProcessCheckpoint
#define cuCheckpointProcessCheckpoint (cushim_table()->CheckpointProcessCheckpoint_v1)
#undef cuCheckpointProcessGetRestoreThreadId
#define cuCheckpointProcessGetRestoreThreadId (cushim_table()->CheckpointProcessGetRestoreThreadId_v1)
#undef cuCheckpointProcessGetState
#define cuCheckpointProcessGetState (cushim_table()->CheckpointProcessGetState_v1)
#undef cuCheckpointProcessLock
#define cuCheckpointProcessLock (cushim_table()->CheckpointProcessLock_v1)
#undef cuCheckpointProcessRestore
#define cuCheckpointProcessRestore (cushim_table()->CheckpointProcessRestore_v1)
#undef cuCheckpointProcessUnlock
#define cuCheckpointProcessUnlock (cushim_table()->CheckpointProcessUnlock_v1)
#undef cuCoredumpDeregisterCompleteCallback
#define cuCoredumpDeregisterCompleteCallback (cushim_table()->CoredumpDeregisterCompleteCallback_v1)
#undef cuCoredumpDeregisterStartCallback
#define cuCoredumpDeregisterStartCallback (cushim_table()->CoredumpDeregisterStartCallback_v1)
#undef cuCoredumpGetAttribute
#define cuCoredumpGetAttribute (cushim_table()->CoredumpGetAttribute_v1)
#undef cuCoredumpGetAttributeGlobal
#define cuCoredumpGetAttributeGlobal (cushim_table()->CoredumpGetAttributeGlobal_v1)
#undef cuCoredumpRegisterCompleteCallback
#define cuCoredumpRegisterCompleteCallback (cushim_table()->CoredumpRegisterCompleteCallback_v1)
#undef cuCoredumpRegisterStartCallback
#define cuCoredumpRegisterStartCallback (cushim_table()->CoredumpRegisterStartCallback_v1)
#undef cuCoredumpSetAttribute
#define cuCoredumpSetAttribute (cushim_table()->CoredumpSetAttribute_v1)
#undef cuCoredumpSetAttributeGlobal
#define cuCoredumpSetAttributeGlobal (cushim_table()->CoredumpSetAttributeGlobal_v1)
#undef cuCtxAttach
#define cuCtxAttach (cushim_table()->CtxAttach_v1)
#undef cuCtxCreate
#undef cuCtxCreate_v2
#undef cuCtxCreate_v3
#undef cuCtxCreate_v4
#define cuCtxCreate_v2 (cushim_table()->CtxCreate_v2)
#define cuCtxCreate_v3 (cushim_table()->CtxCreate_v3)
#define cuCtxCreate_v4 (cushim_table()->CtxCreate_v4)
#if CUSHIM_NAMES_VERSION >= 13000
#    define cuCtxCreate cuCtxCreate_v4
#else
#    define cuCtxCreate cuCtxCreate_v2
#endif
#undef cuCtxDestroy
#undef cuCtxDestroy_v2
#define cuCtxDestroy_v2 (cushim_table()->CtxDestroy_v2)
#define cuCtxDestroy cuCtxDestroy_v2
#undef cuCtxDetach
#define cuCtxDetach (cushim_table()->CtxDetach_v1)
#undef cuCtxDisablePeerAccess
#define cuCtxDisablePeerAccess (cushim_table()->CtxDisablePeerAccess_v1)
#undef cuCtxEnablePeerAccess
#define cuCtxEnablePeerAccess (cushim_table()->CtxEnablePeerAccess_v1)
#undef cuCtxFromGreenCtx
#define cuCtxFromGreenCtx (cushim_table()->CtxFromGreenCtx_v1)
#undef cuCtxGetApiVersion
#define cuCtxGetApiVersion (cushim_table()->CtxGetApiVersion_v1)
#undef cuCtxGetCacheConfig
#define cuCtxGetCacheConfig (cushim_table()->CtxGetCacheConfig_v1)
#undef cuCtxGetCurrent
#define cuCtxGetCurrent (cushim_table()->CtxGetCurrent_v1)
#undef cuCtxGetDevResource
#define cuCtxGetDevResource (cushim_table()->CtxGetDevResource_v1)
#undef cuCtxGetDevice
#undef cuCtxGetDevice_v2
#define cuCtxGetDevice_v2 (cushim_table()->CtxGetDevice_v2)
#define cuCtxGetDevice (cushim_table()->CtxGetDevice_v1)
#undef cuCtxGetExecAffinity
#define cuCtxGetExecAffinity (cushim_table()->CtxGetExecAffinity_v1)
#undef cuCtxGetFlags
#define cuCtxGetFlags (cushim_table()->CtxGetFlags_v1)
#undef cuCtxGetId
#define cuCtxGetId (cushim_table()->CtxGetId_v1)
#undef cuCtxGetLimit
#define cuCtxGetLimit (cushim_table()->CtxGetLimit_v1)
#undef cuCtxGetSharedMemConfig
#define cuCtxGetSharedMemConfig (cushim_table()->CtxGetSharedMemConfig_v1)
#undef cuCtxGetStreamPriorityRange
#define cuCtxGetStreamPriorityRange (cushim_table()->CtxGetStreamPriorityRange_v1)
#undef cuCtxPopCurrent
#undef cuCtxPopCurrent_v2
#define cuCtxPopCurrent_v2 (cushim_table()->CtxPopCurrent_v2)
#define cuCtxPopCurrent cuCtxPopCurrent_v2
#undef cuCtxPushCurrent
#undef cuCtxPushCurrent_v2
#define cuCtxPushCurrent_v2 (cushim_table()->CtxPushCurrent_v2)
#define cuCtxPushCurrent cuCtxPushCurrent_v2
#undef cuCtxRecordEvent
#define cuCtxRecordEvent (cushim_table()->CtxRecordEvent_v1)
#undef cuCtxResetPersistingL2Cache
#define cuCtxResetPersistingL2Cache (cushim_table()->CtxResetPersistingL2Cache_v1)
#undef cuCtxSetCacheConfig
#define cuCtxSetCacheConfig (cushim_table()->CtxSetCacheConfig_v1)
#undef cuCtxSetCurrent
#define cuCtxSetCurrent (cushim_table()->CtxSetCurrent_v1)
#undef cuCtxSetFlags
#define cuCtxSetFlags (cushim_table()->CtxSetFlags_v1)
#undef cuCtxSetLimit
#define cuCtxSetLimit (cushim_table()->CtxSetLimit_v1)
#undef cuCtxSetSharedMemConfig
#define cuCtxSetSharedMemConfig (cushim_table()->CtxSetSharedMemConfig_v1)
#undef cuCtxSynchronize
#undef cuCtxSynchronize_v2
#define cuCtxSynchronize_v2 (cushim_table()->CtxSynchronize_v2)
#define cuCtxSynchronize (cushim_table()->CtxSynchronize_v1)
#undef cuCtxWaitEvent
#define cuCtxWaitEvent (cushim_table()->CtxWaitEvent_v1)
#undef cuDestroyExternalMemory
#define cuDestroyExternalMemory (cushim_table()->DestroyExternalMemory_v1)
#undef cuDestroyExternalSemaphore
#define cuDestroyExternalSemaphore (cushim_table()->DestroyExternalSemaphore_v1)
#undef cuDevResourceGenerateDesc
#define cuDevResourceGenerateDesc (cushim_table()->DevResourceGenerateDesc_v1)
#undef cuDevSmResourceSplit
#define cuDevSmResourceSplit (cushim_table()->DevSmResourceSplit_v1)
#undef cuDevSmResourceSplitByCount
#define cuDevSmResourceSplitByCount (cushim_table()->DevSmResourceSplitByCount_v1)
#undef cuDeviceCanAccessPeer
#define cuDeviceCanAccessPeer (cushim_table()->DeviceCanAccessPeer_v1)
#undef cuDeviceComputeCapability
#define cuDeviceComputeCapability (cushim_table()->DeviceComputeCapability_v1)
#undef cuDeviceGet
#define cuDeviceGet (cushim_table()->DeviceGet_v1)
#undef cuDeviceGetAttribute
#define cuDeviceGetAttribute (cushim_table()->DeviceGetAttribute_v1)
#undef cuDeviceGetByPCIBusId
#define cuDeviceGetByPCIBusId (cushim_table()->DeviceGetByPCIBusId_v1)
#undef cuDeviceGetCliqueCount
#define cuDeviceGetCliqueCount (cushim_table()->DeviceGetCliqueCount_v1)
#undef cuDeviceGetCliqueInfo
#define cuDeviceGetCliqueInfo (cushim_table()->DeviceGetCliqueInfo_v1)
#undef cuDeviceGetCount
#define cuDeviceGetCount (cushim_table()->DeviceGetCount_v1)
#undef cuDeviceGetDefaultMemPool
#define cuDeviceGetDefaultMemPool (cushim_table()->DeviceGetDefaultMemPool_v1)
#undef cuDeviceGetDevResource
#define cuDeviceGetDevResource (cushim_table()->DeviceGetDevResource_v1)
#undef cuDeviceGetExecAffinitySupport
#define cuDeviceGetExecAffinitySupport (cushim_table()->DeviceGetExecAffinitySupport_v1)
#undef cuDeviceGetFabricClusterUuid
#define cuDeviceGetFabricClusterUuid (cushim_table()->DeviceGetFabricClusterUuid_v1)
#undef cuDeviceGetGraphMemAttribute
#define cuDeviceGetGraphMemAttribute (cushim_table()->DeviceGetGraphMemAttribute_v1)
#undef cuDeviceGetHostAtomicCapabilities
#define cuDeviceGetHostAtomicCapabilities (cushim_table()->DeviceGetHostAtomicCapabilities_v1)
#undef cuDeviceGetLuid
#define cuDeviceGetLuid (cushim_table()->DeviceGetLuid_v1)
#undef cuDeviceGetMemPool
#define cuDeviceGetMemPool (cushim_table()->DeviceGetMemPool_v1)
#undef cuDeviceGetName
#define cuDeviceGetName (cushim_table()->DeviceGetName_v1)
#undef cuDeviceGetNvSciSyncAttributes
#define cuDeviceGetNvSciSyncAttributes (cushim_table()->DeviceGetNvSciSyncAttributes_v1)
#undef cuDeviceGetP2PAtomicCapabilities
#define cuDeviceGetP2PAtomicCapabilities (cushim_table()->DeviceGetP2PAtomicCapabilities_v1)
#undef cuDeviceGetP2PAttribute
#define cuDeviceGetP2PAttribute (cushim_table()->DeviceGetP2PAttribute_v1)
#undef cuDeviceGetPCIBusId
#define cuDeviceGetPCIBusId (cushim_table()->DeviceGetPCIBusId_v1)
#undef cuDeviceGetProperties
#define cuDeviceGetProperties (cushim_table()->DeviceGetProperties_v1)
#undef cuDeviceGetTexture1DLinearMaxWidth
#define cuDeviceGetTexture1DLinearMaxWidth (cushim_table()->DeviceGetTexture1DLinearMaxWidth_v1)
#undef cuDeviceGetUuid
#undef cuDeviceGetUuid_v2
#define cuDeviceGetUuid_v2 (cushim_table()->DeviceGetUuid_v2)
#if CUSHIM_NAMES_VERSION >= 13000
#    define cuDeviceGetUuid cuDeviceGetUuid_v2
#else
#    define cuDeviceGetUuid (cushim_table()->DeviceGetUuid_v1)
#endif
#undef cuDeviceGraphMemTrim
#define cuDeviceGraphMemTrim (cushim_table()->DeviceGraphMemTrim_v1)
#undef cuDevicePrimaryCtxGetState
#define cuDevicePrimaryCtxGetState (cushim_table()->DevicePrimaryCtxGetState_v1)
#undef cuDevicePrimaryCtxRelease
#undef cuDevicePrimaryCtxRelease_v2
#define cuDevicePrimaryCtxRelease_v2 (cushim_table()->DevicePrimaryCtxRelease_v2)
#if CUSHIM_NAMES_VERSION >= 11000
#    define cuDevicePrimaryCtxRelease cuDevicePrimaryCtxRelease_v2
#else
#    define cuDevicePrimaryCtxRelease (cushim_table()->DevicePrimaryCtxRelease_v1)
#endif
#undef cuDevicePrimaryCtxReset
#undef cuDevicePrimaryCtxReset_v2
#define cuDevicePrimaryCtxReset_v2 (cushim_table()->DevicePrimaryCtxReset_v2)
#if CUSHIM_NAMES_VERSION >= 11000
#    define cuDevicePrimaryCtxReset cuDevicePrimaryCtxReset_v2
#else
#    define cuDevicePrimaryCtxReset (cushim_table()->DevicePrimaryCtxReset_v1)
#endif
#undef cuDevicePrimaryCtxRetain
#define cuDevicePrimaryCtxRetain (cushim_table()->DevicePrimaryCtxRetain_v1)
#undef cuDevicePrimaryCtxSetFlags
#undef cuDevicePrimaryCtxSetFlags_v2
#define cuDevicePrimaryCtxSetFlags_v2 (cushim_table()->DevicePrimaryCtxSetFlags_v2)
#if CUSHIM_NAMES_VERSION >= 11000
#    define cuDevicePrimaryCtxSetFlags cuDevicePrimaryCtxSetFlags_v2
#else
#    define cuDevicePrimaryCtxSetFlags (cushim_table()->DevicePrimaryCtxSetFlags_v1)
#endif
#undef cuDeviceRegisterAsyncNotification
#define cuDeviceRegisterAsyncNotification (cushim_table()->DeviceRegisterAsyncNotification_v1)
#undef cuDeviceSetGraphMemAttribute
#define cuDeviceSetGraphMemAttribute (cushim_table()->DeviceSetGraphMemAttribute_v1)
#undef cuDeviceSetMemPool
#define cuDeviceSetMemPool (cushim_table()->DeviceSetMemPool_v1)
#undef cuDeviceTotalMem
#undef cuDeviceTotalMem_v2
#define cuDeviceTotalMem_v2 (cushim_table()->DeviceTotalMem_v2)
#define cuDeviceTotalMem cuDeviceTotalMem_v2
#undef cuDeviceUnregisterAsyncNotification
#define cuDeviceUnregisterAsyncNotification (cushim_table()->DeviceUnregisterAsyncNotification_v1)
#undef cuDriverGetVersion
#define cuDriverGetVersion (cushim_table()->DriverGetVersion_v1)
#undef cuEventCreate
#define cuEventCreate (cushim_table()->EventCreate_v1)
#undef cuEventDestroy
#undef cuEventDestroy_v2
#define cuEventDestroy_v2 (cushim_table()->EventDestroy_v2)
#define cuEventDestroy cuEventDestroy_v2
#undef cuEventElapsedTime
#undef cuEventElapsedTime_v2
#define cuEventElapsedTime_v2 (cushim_table()->EventElapsedTime_v2)
#if CUSHIM_NAMES_VERSION >= 13000
#    define cuEventElapsedTime cuEventElapsedTime_v2
#else
#    define cuEventElapsedTime (cushim_table()->EventElapsedTime_v1)
#endif
#undef cuEventQuery
#define cuEventQuery (cushim_table()->EventQuery_v1)
#undef cuEventRecord
#define cuEventRecord (cushim_table()->EventRecord_v1)
#undef cuEventRecordWithFlags
#define cuEventRecordWithFlags (cushim_table()->EventRecordWithFlags_v1)
#undef cuEventSynchronize
#define cuEventSynchronize (cushim_table()->EventSynchronize_v1)
#undef cuExternalMemoryGetMappedBuffer
#define cuExternalMemoryGetMappedBuffer (cushim_table()->ExternalMemoryGetMappedBuffer_v1)
#undef cuExternalMemoryGetMappedMipmappedArray
#define cuExternalMemoryGetMappedMipmappedArray (cushim_table()->ExternalMemoryGetMappedMipmappedArray_v1)
#undef cuFabricCpyBatchAsync
#define cuFabricCpyBatchAsync (cushim_table()->FabricCpyBatchAsync_v1)
#undef cuFlushGPUDirectRDMAWrites
#define cuFlushGPUDirectRDMAWrites (cushim_table()->FlushGPUDirectRDMAWrites_v1)
#undef cuFuncGetAttribute
#define cuFuncGetAttribute (cushim_table()->FuncGetAttribute_v1)
#undef cuFuncGetModule
#define cuFuncGetModule (cushim_table()->FuncGetModule_v1)
#undef cuFuncGetName
#define cuFuncGetName (cushim_table()->FuncGetName_v1)
#undef cuFuncGetParamCount
#define cuFuncGetParamCount (cushim_table()->FuncGetParamCount_v1)
#undef cuFuncGetParamInfo
#define cuFuncGetParamInfo (cushim_table()->FuncGetParamInfo_v1)
#undef cuFuncIsLoaded
#define cuFuncIsLoaded (cushim_table()->FuncIsLoaded_v1)
#undef cuFuncLoad
#define cuFuncLoad (cushim_table()->FuncLoad_v1)
#undef cuFuncSetAttribute
#define cuFuncSetAttribute (cushim_table()->FuncSetAttribute_v1)
#undef cuFuncSetBlockShape
#define cuFuncSetBlockShape (cushim_table()->FuncSetBlockShape_v1)
#undef cuFuncSetCacheConfig
#define cuFuncSetCacheConfig (cushim_table()->FuncSetCacheConfig_v1)
#undef cuFuncSetSharedMemConfig
#define cuFuncSetSharedMemConfig (cushim_table()->FuncSetSharedMemConfig_v1)
#undef cuFuncSetSharedSize
#define cuFuncSetSharedSize (cushim_table()->FuncSetSharedSize_v1)
#undef cuGetErrorName
#define cuGetErrorName (cushim_table()->GetErrorName_v1)
#undef cuGetErrorString
#define cuGetErrorString (cushim_table()->GetErrorString_v1)
#undef cuGetExportTable
#define cuGetExportTable (cushim_table()->GetExportTable_v1)
#undef cuGetProcAddress
#undef cuGetProcAddress_v2
#define cuGetProcAddress_v2 (cushim_table()->GetProcAddress_v2)
#if CUSHIM_NAMES_VERSION >= 12000
#    define cuGetProcAddress cuGetProcAddress_v2
#else
#    define cuGetProcAddress (cushim_table()->GetProcAddress_v1)
#endif
#undef cuGraphAddBatchMemOpNode
#define cuGraphAddBatchMemOpNode (cushim_table()->GraphAddBatchMemOpNode_v1)
#undef cuGraphAddChildGraphNode
#define cuGraphAddChildGraphNode (cushim_table()->GraphAddChildGraphNode_v1)
#undef cuGraphAddDependencies
#undef cuGraphAddDependencies_v2
#define cuGraphAddDependencies_v2 (cushim_table()->GraphAddDependencies_v2)
#if CUSHIM_NAMES_VERSION >= 13000
#    define cuGraphAddDependencies cuGraphAddDependencies_v2
#else
#    define cuGraphAddDependencies (cushim_table()->GraphAddDependencies_v1)
#endif
#undef cuGraphAddEmptyNode
#define cuGraphAddEmptyNode (cushim_table()->GraphAddEmptyNode_v1)
#undef cuGraphAddEventRecordNode
#define cuGraphAddEventRecordNode (cushim_table()->GraphAddEventRecordNode_v1)
#undef cuGraphAddEventWaitNode
#define cuGraphAddEventWaitNode (cushim_table()->GraphAddEventWaitNode_v1)
#undef cuGraphAddExternalSemaphoresSignalNode
#define cuGraphAddExternalSemaphoresSignalNode (cushim_table()->GraphAddExternalSemaphoresSignalNode_v1)
#undef cuGraphAddExternalSemaphoresWaitNode
#define cuGraphAddExternalSemaphoresWaitNode (cushim_table()->GraphAddExternalSemaphoresWaitNode_v1)
#undef cuGraphAddHostNode
#define cuGraphAddHostNode (cushim_table()->GraphAddHostNode_v1)
#undef cuGraphAddKernelNode
#undef cuGraphAddKernelNode_v2
#define cuGraphAddKernelNode_v2 (cushim_table()->GraphAddKernelNode_v2)
#if CUSHIM_NAMES_VERSION >= 12000
#    define cuGraphAddKernelNode cuGraphAddKernelNode_v2
#else
#    define cuGraphAddKernelNode (cushim_table()->GraphAddKernelNode_v1)
#endif
#undef cuGraphAddMemAllocNode
#define cuGraphAddMemAllocNode (cushim_table()->GraphAddMemAllocNode_v1)
#undef cuGraphAddMemFreeNode
#define cuGraphAddMemFreeNode (cushim_table()->GraphAddMemFreeNode_v1)
#undef cuGraphAddMemcpyNode
#define cuGraphAddMemcpyNode (cushim_table()->GraphAddMemcpyNode_v1)
#undef cuGraphAddMemsetNode
#define cuGraphAddMemsetNode (cushim_table()->GraphAddMemsetNode_v1)
#undef cuGraphAddNode
#undef cuGraphAddNode_v2
#undef cuGraphAddNode_v3
#define cuGraphAddNode_v2 (cushim_table()->GraphAddNode_v2)
#define cuGraphAddNode_v3 (cushim_table()->GraphAddNode_v3)
#if CUSHIM_NAMES_VERSION >= 13000
#    define cuGraphAddNode cuGraphAddNode_v2
#else
#    define cuGraphAddNode (cushim_table()->GraphAddNode_v1)
#endif
#undef cuGraphBatchMemOpNodeGetParams
#define cuGraphBatchMemOpNodeGetParams (cushim_table()->GraphBatchMemOpNodeGetParams_v1)
#undef cuGraphBatchMemOpNodeSetParams
#define cuGraphBatchMemOpNodeSetParams (cushim_table()->GraphBatchMemOpNodeSetParams_v1)
#undef cuGraphChildGraphNodeGetGraph
#define cuGraphChildGraphNodeGetGraph (cushim_table()->GraphChildGraphNodeGetGraph_v1)
#undef cuGraphClone
#define cuGraphClone (cushim_table()->GraphClone_v1)
#undef cuGraphConditionalHandleCreate
#define cuGraphConditionalHandleCreate (cushim_table()->GraphConditionalHandleCreate_v1)
#undef cuGraphCreate
#define cuGraphCreate (cushim_table()->GraphCreate_v1)
#undef cuGraphDebugDotPrint
#define cuGraphDebugDotPrint (cushim_table()->GraphDebugDotPrint_v1)
#undef cuGraphDestroy
#define cuGraphDestroy (cushim_table()->GraphDestroy_v1)
#undef cuGraphDestroyNode
#define cuGraphDestroyNode (cushim_table()->GraphDestroyNode_v1)
#undef cuGraphEventRecordNodeGetEvent
#define cuGraphEventRecordNodeGetEvent (cushim_table()->GraphEventRecordNodeGetEvent_v1)
#undef cuGraphEventRecordNodeSetEvent
#define cuGraphEventRecordNodeSetEvent (cushim_table()->GraphEventRecordNodeSetEvent_v1)
#undef cuGraphEventWaitNodeGetEvent
#define cuGraphEventWaitNodeGetEvent (cushim_table()->GraphEventWaitNodeGetEvent_v1)
#undef cuGraphEventWaitNodeSetEvent
#define cuGraphEventWaitNodeSetEvent (cushim_table()->GraphEventWaitNodeSetEvent_v1)
#undef cuGraphExecBatchMemOpNodeSetParams
#define cuGraphExecBatchMemOpNodeSetParams (cushim_table()->GraphExecBatchMemOpNodeSetParams_v1)
#undef cuGraphExecChildGraphNodeSetParams
#define cuGraphExecChildGraphNodeSetParams (cushim_table()->GraphExecChildGraphNodeSetParams_v1)
#undef cuGraphExecDestroy
#define cuGraphExecDestroy (cushim_table()->GraphExecDestroy_v1)
#undef cuGraphExecEventRecordNodeSetEvent
#define cuGraphExecEventRecordNodeSetEvent (cushim_table()->GraphExecEventRecordNodeSetEvent_v1)
#undef cuGraphExecEventWaitNodeSetEvent
#define cuGraphExecEventWaitNodeSetEvent (cushim_table()->GraphExecEventWaitNodeSetEvent_v1)
#undef cuGraphExecExternalSemaphoresSignalNodeSetParams
#define cuGraphExecExternalSemaphoresSignalNodeSetParams \
    (cushim_table()->GraphExecExternalSemaphoresSignalNodeSetParams_v1)
#undef cuGraphExecExternalSemaphoresWaitNodeSetParams
#define cuGraphExecExternalSemaphoresWaitNodeSetParams (cushim_table()->GraphExecExternalSemaphoresWaitNodeSetParams_v1)
#undef cuGraphExecGetFlags
#define cuGraphExecGetFlags (cushim_table()->GraphExecGetFlags_v1)
#undef cuGraphExecGetId
#define cuGraphExecGetId (cushim_table()->GraphExecGetId_v1)
#undef cuGraphExecHostNodeSetParams
#define cuGraphExecHostNodeSetParams (cushim_table()->GraphExecHostNodeSetParams_v1)
#undef cuGraphExecKernelNodeSetParams
#undef cuGraphExecKernelNodeSetParams_v2
#define cuGraphExecKernelNodeSetParams_v2 (cushim_table()->GraphExecKernelNodeSetParams_v2)
#if CUSHIM_NAMES_VERSION >= 12000
#    define cuGraphExecKernelNodeSetParams cuGraphExecKernelNodeSetParams_v2
#else
#    define cuGraphExecKernelNodeSetParams (cushim_table()->GraphExecKernelNodeSetParams_v1)
#endif
#undef cuGraphExecMemcpyNodeSetParams
#define cuGraphExecMemcpyNodeSetParams (cushim_table()->GraphExecMemcpyNodeSetParams_v1)
#undef cuGraphExecMemsetNodeSetParams
#define cuGraphExecMemsetNodeSetParams (cushim_table()->GraphExecMemsetNodeSetParams_v1)
#undef cuGraphExecNodeSetParams
#define cuGraphExecNodeSetParams (cushim_table()->GraphExecNodeSetParams_v1)
#undef cuGraphExecUpdate
#undef cuGraphExecUpdate_v2
#define cuGraphExecUpdate_v2 (cushim_table()->GraphExecUpdate_v2)
#if CUSHIM_NAMES_VERSION >= 12000
#    define cuGraphExecUpdate cuGraphExecUpdate_v2
#else
#    define cuGraphExecUpdate (cushim_table()->GraphExecUpdate_v1)
#endif
#undef cuGraphExternalSemaphoresSignalNodeGetParams
#define cuGraphExternalSemaphoresSignalNodeGetParams (cushim_table()->GraphExternalSemaphoresSignalNodeGetParams_v1)
#undef cuGraphExternalSemaphoresSignalNodeSetParams
#define cuGraphExternalSemaphoresSignalNodeSetParams (cushim_table()->GraphExternalSemaphoresSignalNodeSetParams_v1)
#undef cuGraphExternalSemaphoresWaitNodeGetParams
#define cuGraphExternalSemaphoresWaitNodeGetParams (cushim_table()->GraphExternalSemaphoresWaitNodeGetParams_v1)
#undef cuGraphExternalSemaphoresWaitNodeSetParams
#define cuGraphExternalSemaphoresWaitNodeSetParams (cushim_table()->GraphExternalSemaphoresWaitNodeSetParams_v1)
#undef cuGraphGetEdges
#undef cuGraphGetEdges_v2
#define cuGraphGetEdges_v2 (cushim_table()->GraphGetEdges_v2)
#if CUSHIM_NAMES_VERSION >= 13000
#    define cuGraphGetEdges cuGraphGetEdges_v2
#else
#    define cuGraphGetEdges (cushim_table()->GraphGetEdges_v1)
#endif
#undef cuGraphGetId
#define cuGraphGetId (cushim_table()->GraphGetId_v1)
#undef cuGraphGetNodes
#define cuGraphGetNodes (cushim_table()->GraphGetNodes_v1)
#undef cuGraphGetRootNodes
#define cuGraphGetRootNodes (cushim_table()->GraphGetRootNodes_v1)
#undef cuGraphHostNodeGetParams
#define cuGraphHostNodeGetParams (cushim_table()->GraphHostNodeGetParams_v1)
#undef cuGraphHostNodeSetParams
#define cuGraphHostNodeSetParams (cushim_table()->GraphHostNodeSetParams_v1)
#undef cuGraphInstantiate
#undef cuGraphInstantiate_v2
#define cuGraphInstantiate_v2 (cushim_table()->GraphInstantiate_v2)
#if CUSHIM_NAMES_VERSION >= 12000
#    define cuGraphInstantiate cuGraphInstantiateWithFlags
#elif CUSHIM_NAMES_VERSION >= 11000
#    define cuGraphInstantiate cuGraphInstantiate_v2
#else
#    define cuGraphInstantiate (cushim_table()->GraphInstantiate_v1)
#endif
#undef cuGraphInstantiateWithFlags
#define cuGraphInstantiateWithFlags (cushim_table()->GraphInstantiateWithFlags_v1)
#undef cuGraphInstantiateWithParams
#define cuGraphInstantiateWithParams (cushim_table()->GraphInstantiateWithParams_v1)
#undef cuGraphKernelNodeCopyAttributes
#define cuGraphKernelNodeCopyAttributes (cushim_table()->GraphKernelNodeCopyAttributes_v1)
#undef cuGraphKernelNodeGetAttribute
#define cuGraphKernelNodeGetAttribute (cushim_table()->GraphKernelNodeGetAttribute_v1)
#undef cuGraphKernelNodeGetParams
#undef cuGraphKernelNodeGetParams_v2
#define cuGraphKernelNodeGetParams_v2 (cushim_table()->GraphKernelNodeGetParams_v2)
#if CUSHIM_NAMES_VERSION >= 12000
#    define cuGraphKernelNodeGetParams cuGraphKernelNodeGetParams_v2
#else
#    define cuGraphKernelNodeGetParams (cushim_table()->GraphKernelNodeGetParams_v1)
#endif
#undef cuGraphKernelNodeSetAttribute
#define cuGraphKernelNodeSetAttribute (cushim_table()->GraphKernelNodeSetAttribute_v1)
#undef cuGraphKernelNodeSetParams
#undef cuGraphKernelNodeSetParams_v2
#define cuGraphKernelNodeSetParams_v2 (cushim_table()->GraphKernelNodeSetParams_v2)
#if CUSHIM_NAMES_VERSION >= 12000
#    define cuGraphKernelNodeSetParams cuGraphKernelNodeSetParams_v2
#else
#    define cuGraphKernelNodeSetParams (cushim_table()->GraphKernelNodeSetParams_v1)
#endif
#undef cuGraphLaunch
#define cuGraphLaunch (cushim_table()->GraphLaunch_v1)
#undef cuGraphMemAllocNodeGetParams
#define cuGraphMemAllocNodeGetParams (cushim_table()->GraphMemAllocNodeGetParams_v1)
#undef cuGraphMemFreeNodeGetParams
#define cuGraphMemFreeNodeGetParams (cushim_table()->GraphMemFreeNodeGetParams_v1)
#undef cuGraphMemcpyNodeGetParams
#define cuGraphMemcpyNodeGetParams (cushim_table()->GraphMemcpyNodeGetParams_v1)
#undef cuGraphMemcpyNodeSetParams
#define cuGraphMemcpyNodeSetParams (cushim_table()->GraphMemcpyNodeSetParams_v1)
#undef cuGraphMemsetNodeGetParams
#define cuGraphMemsetNodeGetParams (cushim_table()->GraphMemsetNodeGetParams_v1)
#undef cuGraphMemsetNodeSetParams
#define cuGraphMemsetNodeSetParams (cushim_table()->GraphMemsetNodeSetParams_v1)
#undef cuGraphNodeFindInClone
#define cuGraphNodeFindInClone (cushim_table()->GraphNodeFindInClone_v1)
#undef cuGraphNodeGetContainingGraph
#define cuGraphNodeGetContainingGraph (cushim_table()->GraphNodeGetContainingGraph_v1)
#undef cuGraphNodeGetDependencies
#undef cuGraphNodeGetDependencies_v2
#define cuGraphNodeGetDependencies_v2 (cushim_table()->GraphNodeGetDependencies_v2)
#if CUSHIM_NAMES_VERSION >= 13000
#    define cuGraphNodeGetDependencies cuGraphNodeGetDependencies_v2
#else
#    define cuGraphNodeGetDependencies (cushim_table()->GraphNodeGetDependencies_v1)
#endif
#undef cuGraphNodeGetDependentNodes
#undef cuGraphNodeGetDependentNodes_v2
#define cuGraphNodeGetDependentNodes_v2 (cushim_table()->GraphNodeGetDependentNodes_v2)
#if CUSHIM_NAMES_VERSION >= 13000
#    define cuGraphNodeGetDependentNodes cuGraphNodeGetDependentNodes_v2
#else
#    define cuGraphNodeGetDependentNodes (cushim_table()->GraphNodeGetDependentNodes_v1)
#endif
#undef cuGraphNodeGetEnabled
#define cuGraphNodeGetEnabled (cushim_table()->GraphNodeGetEnabled_v1)
#undef cuGraphNodeGetLocalId
#define cuGraphNodeGetLocalId (cushim_table()->GraphNodeGetLocalId_v1)
#undef cuGraphNodeGetParams
#define cuGraphNodeGetParams (cushim_table()->GraphNodeGetParams_v1)
#undef cuGraphNodeGetToolsId
#define cuGraphNodeGetToolsId (cushim_table()->GraphNodeGetToolsId_v1)
#undef cuGraphNodeGetType
#define cuGraphNodeGetType (cushim_table()->GraphNodeGetType_v1)
#undef cuGraphNodeSetEnabled
#define cuGraphNodeSetEnabled (cushim_table()->GraphNodeSetEnabled_v1)
#undef cuGraphNodeSetParams
#undef cuGraphNodeSetParams_v2
#define cuGraphNodeSetParams_v2 (cushim_table()->GraphNodeSetParams_v2)
#define cuGraphNodeSetParams (cushim_table()->GraphNodeSetParams_v1)
#undef cuGraphReleaseUserObject
#define cuGraphReleaseUserObject (cushim_table()->GraphReleaseUserObject_v1)
#undef cuGraphRemoveDependencies
#undef cuGraphRemoveDependencies_v2
#define cuGraphRemoveDependencies_v2 (cushim_table()->GraphRemoveDependencies_v2)
#if CUSHIM_NAMES_VERSION >= 13000
#    define cuGraphRemoveDependencies cuGraphRemoveDependencies_v2
#else
#    define cuGraphRemoveDependencies (cushim_table()->GraphRemoveDependencies_v1)
#endif
#undef cuGraphRetainUserObject
#define cuGraphRetainUserObject (cushim_table()->GraphRetainUserObject_v1)
#undef cuGraphUpload
#define cuGraphUpload (cushim_table()->GraphUpload_v1)
#undef cuGraphicsMapResources
#define cuGraphicsMapResources (cushim_table()->GraphicsMapResources_v1)
#undef cuGraphicsResourceGetMappedMipmappedArray
#define cuGraphicsResourceGetMappedMipmappedArray (cushim_table()->GraphicsResourceGetMappedMipmappedArray_v1)
#undef cuGraphicsResourceGetMappedPointer
#undef cuGraphicsResourceGetMappedPointer_v2
#define cuGraphicsResourceGetMappedPointer_v2 (cushim_table()->GraphicsResourceGetMappedPointer_v2)
#define cuGraphicsResourceGetMappedPointer cuGraphicsResourceGetMappedPointer_v2
#undef cuGraphicsResourceSetMapFlags
#undef cuGraphicsResourceSetMapFlags_v2
#define cuGraphicsResourceSetMapFlags_v2 (cushim_table()->GraphicsResourceSetMapFlags_v2)
#define cuGraphicsResourceSetMapFlags cuGraphicsResourceSetMapFlags_v2
#undef cuGraphicsSubResourceGetMappedArray
#define cuGraphicsSubResourceGetMappedArray (cushim_table()->GraphicsSubResourceGetMappedArray_v1)
#undef cuGraphicsUnmapResources
#define cuGraphicsUnmapResources (cushim_table()->GraphicsUnmapResources_v1)
#undef cuGraphicsUnregisterResource
#define cuGraphicsUnregisterResource (cushim_table()->GraphicsUnregisterResource_v1)
#undef cuGreenCtxCreate
#define cuGreenCtxCreate (cushim_table()->GreenCtxCreate_v1)
#undef cuGreenCtxDestroy
#define cuGreenCtxDestroy (cushim_table()->GreenCtxDestroy_v1)
#undef cuGreenCtxGetDevResource
#define cuGreenCtxGetDevResource (cushim_table()->GreenCtxGetDevResource_v1)
#undef cuGreenCtxGetId
#define cuGreenCtxGetId (cushim_table()->GreenCtxGetId_v1)
#undef cuGreenCtxRecordEvent
#define cuGreenCtxRecordEvent (cushim_table()->GreenCtxRecordEvent_v1)
#undef cuGreenCtxStreamCreate
#define cuGreenCtxStreamCreate (cushim_table()->GreenCtxStreamCreate_v1)
#undef cuGreenCtxWaitEvent
#define cuGreenCtxWaitEvent (cushim_table()->GreenCtxWaitEvent_v1)
#undef cuImportExternalMemory
#define cuImportExternalMemory (cushim_table()->ImportExternalMemory_v1)
#undef cuImportExternalSemaphore
#define cuImportExternalSemaphore (cushim_table()->ImportExternalSemaphore_v1)
#undef cuInit
#define cuInit (cushim_table()->Init_v1)
#undef cuIpcCloseMemHandle
#define cuIpcCloseMemHandle (cushim_table()->IpcCloseMemHandle_v1)
#undef cuIpcGetEventHandle
#define cuIpcGetEventHandle (cushim_table()->IpcGetEventHandle_v1)
#undef cuIpcGetMemHandle
#define cuIpcGetMemHandle (cushim_table()->IpcGetMemHandle_v1)
#undef cuIpcOpenEventHandle
#define cuIpcOpenEventHandle (cushim_table()->IpcOpenEventHandle_v1)
#undef cuIpcOpenMemHandle
#undef cuIpcOpenMemHandle_v2
#define cuIpcOpenMemHandle_v2 (cushim_table()->IpcOpenMemHandle_v2)
#if CUSHIM_NAMES_VERSION >= 11000
#    define cuIpcOpenMemHandle cuIpcOpenMemHandle_v2
#else
#    define cuIpcOpenMemHandle (cushim_table()->IpcOpenMemHandle_v1)
#endif
#undef cuKernelGetAttribute
#define cuKernelGetAttribute (cushim_table()->KernelGetAttribute_v1)
#undef cuKernelGetFunction
#define cuKernelGetFunction (cushim_table()->KernelGetFunction_v1)
#undef cuKernelGetLibrary
#define cuKernelGetLibrary (cushim_table()->KernelGetLibrary_v1)
#undef cuKernelGetName
#define cuKernelGetName (cushim_table()->KernelGetName_v1)
#undef cuKernelGetParamCount
#define cuKernelGetParamCount (cushim_table()->KernelGetParamCount_v1)
#undef cuKernelGetParamInfo
#define cuKernelGetParamInfo (cushim_table()->KernelGetParamInfo_v1)
#undef cuKernelSetAttribute
#define cuKernelSetAttribute (cushim_table()->KernelSetAttribute_v1)
#undef cuKernelSetCacheConfig
#define cuKernelSetCacheConfig (cushim_table()->KernelSetCacheConfig_v1)
#undef cuLaunch
#define cuLaunch (cushim_table()->Launch_v1)
#undef cuLaunchCooperativeKernel
#define cuLaunchCooperativeKernel (cushim_table()->LaunchCooperativeKernel_v1)
#undef cuLaunchCooperativeKernelMultiDevice
#define cuLaunchCooperativeKernelMultiDevice (cushim_table()->LaunchCooperativeKernelMultiDevice_v1)
#undef cuLaunchGrid
#define cuLaunchGrid (cushim_table()->LaunchGrid_v1)
#undef cuLaunchGridAsync
#define cuLaunchGridAsync (cushim_table()->LaunchGridAsync_v1)
#undef cuLaunchHostFunc
#undef cuLaunchHostFunc_v2
#define cuLaunchHostFunc_v2 (cushim_table()->LaunchHostFunc_v2)
#define cuLaunchHostFunc (cushim_table()->LaunchHostFunc_v1)
#undef cuLaunchKernel
#define cuLaunchKernel (cushim_table()->LaunchKernel_v1)
#undef cuLaunchKernelEx
#define cuLaunchKernelEx (cushim_table()->LaunchKernelEx_v1)
#undef cuLibraryEnumerateKernels
#define cuLibraryEnumerateKernels (cushim_table()->LibraryEnumerateKernels_v1)
#undef cuLibraryGetGlobal
#define cuLibraryGetGlobal (cushim_table()->LibraryGetGlobal_v1)
#undef cuLibraryGetKernel
#define cuLibraryGetKernel (cushim_table()->LibraryGetKernel_v1)
#undef cuLibraryGetKernelCount
#define cuLibraryGetKernelCount (cushim_table()->LibraryGetKernelCount_v1)
#undef cuLibraryGetManaged
#define cuLibraryGetManaged (cushim_table()->LibraryGetManaged_v1)
#undef cuLibraryGetModule
#define cuLibraryGetModule (cushim_table()->LibraryGetModule_v1)
#undef cuLibraryGetUnifiedFunction
#define cuLibraryGetUnifiedFunction (cushim_table()->LibraryGetUnifiedFunction_v1)
#undef cuLibraryLoadData
#define cuLibraryLoadData (cushim_table()->LibraryLoadData_v1)
#undef cuLibraryLoadFromFile
#define cuLibraryLoadFromFile (cushim_table()->LibraryLoadFromFile_v1)
#undef cuLibraryUnload
#define cuLibraryUnload (cushim_table()->LibraryUnload_v1)
#undef cuLinkAddData
#undef cuLinkAddData_v2
#define cuLinkAddData_v2 (cushim_table()->LinkAddData_v2)
#define cuLinkAddData cuLinkAddData_v2
#undef cuLinkAddFile
#undef cuLinkAddFile_v2
#define cuLinkAddFile_v2 (cushim_table()->LinkAddFile_v2)
#define cuLinkAddFile cuLinkAddFile_v2
#undef cuLinkComplete
#define cuLinkComplete (cushim_table()->LinkComplete_v1)
#undef cuLinkCreate
#undef cuLinkCreate_v2
#define cuLinkCreate_v2 (cushim_table()->LinkCreate_v2)
#define cuLinkCreate cuLinkCreate_v2
#undef cuLinkDestroy
#define cuLinkDestroy (cushim_table()->LinkDestroy_v1)
#undef cuLogicalEndpointAddDevice
#define cuLogicalEndpointAddDevice (cushim_table()->LogicalEndpointAddDevice_v1)
#undef cuLogicalEndpointBindAddr
#define cuLogicalEndpointBindAddr (cushim_table()->LogicalEndpointBindAddr_v1)
#undef cuLogicalEndpointBindMem
#define cuLogicalEndpointBindMem (cushim_table()->LogicalEndpointBindMem_v1)
#undef cuLogicalEndpointCreate
#define cuLogicalEndpointCreate (cushim_table()->LogicalEndpointCreate_v1)
#undef cuLogicalEndpointDestroy
#define cuLogicalEndpointDestroy (cushim_table()->LogicalEndpointDestroy_v1)
#undef cuLogicalEndpointExport
#define cuLogicalEndpointExport (cushim_table()->LogicalEndpointExport_v1)
#undef cuLogicalEndpointGetLimits
#define cuLogicalEndpointGetLimits (cushim_table()->LogicalEndpointGetLimits_v1)
#undef cuLogicalEndpointIdRelease
#define cuLogicalEndpointIdRelease (cushim_table()->LogicalEndpointIdRelease_v1)
#undef cuLogicalEndpointIdReserve
#define cuLogicalEndpointIdReserve (cushim_table()->LogicalEndpointIdReserve_v1)
#undef cuLogicalEndpointImport
#define cuLogicalEndpointImport (cushim_table()->LogicalEndpointImport_v1)
#undef cuLogicalEndpointQuery
#define cuLogicalEndpointQuery (cushim_table()->LogicalEndpointQuery_v1)
#undef cuLogicalEndpointUnbind
#define cuLogicalEndpointUnbind (cushim_table()->LogicalEndpointUnbind_v1)
#undef cuLogsCurrent
#define cuLogsCurrent (cushim_table()->LogsCurrent_v1)
#undef cuLogsDumpToFile
#define cuLogsDumpToFile (cushim_table()->LogsDumpToFile_v1)
#undef cuLogsDumpToMemory
#define cuLogsDumpToMemory (cushim_table()->LogsDumpToMemory_v1)
#undef cuLogsRegisterCallback
#define cuLogsRegisterCallback (cushim_table()->LogsRegisterCallback_v1)
#undef cuLogsUnregisterCallback
#define cuLogsUnregisterCallback (cushim_table()->LogsUnregisterCallback_v1)
#undef cuMemAddressFree
#define cuMemAddressFree (cushim_table()->MemAddressFree_v1)
#undef cuMemAddressReserve
#define cuMemAddressReserve (cushim_table()->MemAddressReserve_v1)
#undef cuMemAdvise
#undef cuMemAdvise_v2
#define cuMemAdvise_v2 (cushim_table()->MemAdvise_v2)
#if CUSHIM_NAMES_VERSION >= 13000
#    define cuMemAdvise cuMemAdvise_v2
#else
#    define cuMemAdvise (cushim_table()->MemAdvise_v1)
#endif
#undef cuMemAlloc
#undef cuMemAlloc_v2
#define cuMemAlloc_v2 (cushim_table()->MemAlloc_v2)
#define cuMemAlloc cuMemAlloc_v2
#undef cuMemAllocAsync
#define cuMemAllocAsync (cushim_table()->MemAllocAsync_v1)
#undef cuMemAllocFromPoolAsync
#define cuMemAllocFromPoolAsync (cushim_table()->MemAllocFromPoolAsync_v1)
#undef cuMemAllocHost
#undef cuMemAllocHost_v2
#define cuMemAllocHost_v2 (cushim_table()->MemAllocHost_v2)
#define cuMemAllocHost cuMemAllocHost_v2
#undef cuMemAllocManaged
#define cuMemAllocManaged (cushim_table()->MemAllocManaged_v1)
#undef cuMemAllocPitch
#undef cuMemAllocPitch_v2
#define cuMemAllocPitch_v2 (cushim_table()->MemAllocPitch_v2)
#define cuMemAllocPitch cuMemAllocPitch_v2
#undef cuMemBatchDecompressAsync
#define cuMemBatchDecompressAsync (cushim_table()->MemBatchDecompressAsync_v1)
#undef cuMemCreate
#define cuMemCreate (cushim_table()->MemCreate_v1)
#undef cuMemDiscardAndPrefetchBatchAsync
#define cuMemDiscardAndPrefetchBatchAsync (cushim_table()->MemDiscardAndPrefetchBatchAsync_v1)
#undef cuMemDiscardBatchAsync
#define cuMemDiscardBatchAsync (cushim_table()->MemDiscardBatchAsync_v1)
#undef cuMemExportToShareableHandle
#define cuMemExportToShareableHandle (cushim_table()->MemExportToShareableHandle_v1)
#undef cuMemFree
#undef cuMemFree_v2
#define cuMemFree_v2 (cushim_table()->MemFree_v2)
#define cuMemFree cuMemFree_v2
#undef cuMemFreeAsync
#define cuMemFreeAsync (cushim_table()->MemFreeAsync_v1)
#undef cuMemFreeHost
#define cuMemFreeHost (cushim_table()->MemFreeHost_v1)
#undef cuMemGetAccess
#define cuMemGetAccess (cushim_table()->MemGetAccess_v1)
#undef cuMemGetAddressRange
#undef cuMemGetAddressRange_v2
#define cuMemGetAddressRange_v2 (cushim_table()->MemGetAddressRange_v2)
#define cuMemGetAddressRange cuMemGetAddressRange_v2
#undef cuMemGetAllocationGranularity
#define cuMemGetAllocationGranularity (cushim_table()->MemGetAllocationGranularity_v1)
#undef cuMemGetAllocationPropertiesFromHandle
#define cuMemGetAllocationPropertiesFromHandle (cushim_table()->MemGetAllocationPropertiesFromHandle_v1)
#undef cuMemGetDefaultMemPool
#define cuMemGetDefaultMemPool (cushim_table()->MemGetDefaultMemPool_v1)
#undef cuMemGetHandleForAddressRange
#define cuMemGetHandleForAddressRange (cushim_table()->MemGetHandleForAddressRange_v1)
#undef cuMemGetInfo
#undef cuMemGetInfo_v2
#define cuMemGetInfo_v2 (cushim_table()->MemGetInfo_v2)
#define cuMemGetInfo cuMemGetInfo_v2
#undef cuMemGetLocationInfo
#define cuMemGetLocationInfo (cushim_table()->MemGetLocationInfo_v1)
#undef cuMemGetMemPool
#define cuMemGetMemPool (cushim_table()->MemGetMemPool_v1)
#undef cuMemHostAlloc
#define cuMemHostAlloc (cushim_table()->MemHostAlloc_v1)
#undef cuMemHostGetDevicePointer
#undef cuMemHostGetDevicePointer_v2
#define cuMemHostGetDevicePointer_v2 (cushim_table()->MemHostGetDevicePointer_v2)
#define cuMemHostGetDevicePointer cuMemHostGetDevicePointer_v2
#undef cuMemHostGetFlags
#define cuMemHostGetFlags (cushim_table()->MemHostGetFlags_v1)
#undef cuMemHostRegister
#undef cuMemHostRegister_v2
#define cuMemHostRegister_v2 (cushim_table()->MemHostRegister_v2)
#define cuMemHostRegister cuMemHostRegister_v2
#undef cuMemHostUnregister
#define cuMemHostUnregister (cushim_table()->MemHostUnregister_v1)
#undef cuMemImportFromShareableHandle
#define cuMemImportFromShareableHandle (cushim_table()->MemImportFromShareableHandle_v1)
#undef cuMemMap
#define cuMemMap (cushim_table()->MemMap_v1)
#undef cuMemMapArrayAsync
#define cuMemMapArrayAsync (cushim_table()->MemMapArrayAsync_v1)
#undef cuMemPoolCreate
#define cuMemPoolCreate (cushim_table()->MemPoolCreate_v1)
#undef cuMemPoolDestroy
#define cuMemPoolDestroy (cushim_table()->MemPoolDestroy_v1)
#undef cuMemPoolExportPointer
#define cuMemPoolExportPointer (cushim_table()->MemPoolExportPointer_v1)
#undef cuMemPoolExportToShareableHandle
#define cuMemPoolExportToShareableHandle (cushim_table()->MemPoolExportToShareableHandle_v1)
#undef cuMemPoolGetAccess
#define cuMemPoolGetAccess (cushim_table()->MemPoolGetAccess_v1)
#undef cuMemPoolGetAttribute
#define cuMemPoolGetAttribute (cushim_table()->MemPoolGetAttribute_v1)
#undef cuMemPoolImportFromShareableHandle
#define cuMemPoolImportFromShareableHandle (cushim_table()->MemPoolImportFromShareableHandle_v1)
#undef cuMemPoolImportPointer
#define cuMemPoolImportPointer (cushim_table()->MemPoolImportPointer_v1)
#undef cuMemPoolSetAccess
#define cuMemPoolSetAccess (cushim_table()->MemPoolSetAccess_v1)
#undef cuMemPoolSetAttribute
#define cuMemPoolSetAttribute (cushim_table()->MemPoolSetAttribute_v1)
#undef cuMemPoolTrimTo
#define cuMemPoolTrimTo (cushim_table()->MemPoolTrimTo_v1)
#undef cuMemPrefetchAsync
#undef cuMemPrefetchAsync_v2
#define cuMemPrefetchAsync_v2 (cushim_table()->MemPrefetchAsync_v2)
#if CUSHIM_NAMES_VERSION >= 13000
#    define cuMemPrefetchAsync cuMemPrefetchAsync_v2
#else
#    define cuMemPrefetchAsync (cushim_table()->MemPrefetchAsync_v1)
#endif
#undef cuMemPrefetchBatchAsync
#define cuMemPrefetchBatchAsync (cushim_table()->MemPrefetchBatchAsync_v1)
#undef cuMemRangeGetAttribute
#define cuMemRangeGetAttribute (cushim_table()->MemRangeGetAttribute_v1)
#undef cuMemRangeGetAttributes
#define cuMemRangeGetAttributes (cushim_table()->MemRangeGetAttributes_v1)
#undef cuMemRelease
#define cuMemRelease (cushim_table()->MemRelease_v1)
#undef cuMemRetainAllocationHandle
#define cuMemRetainAllocationHandle (cushim_table()->MemRetainAllocationHandle_v1)
#undef cuMemSetAccess
#define cuMemSetAccess (cushim_table()->MemSetAccess_v1)
#undef cuMemSetMemPool
#define cuMemSetMemPool (cushim_table()->MemSetMemPool_v1)
#undef cuMemUnmap
#define cuMemUnmap (cushim_table()->MemUnmap_v1)
#undef cuMemcpy
#define cuMemcpy (cushim_table()->Memcpy_v1)
#undef cuMemcpy2D
#undef cuMemcpy2D_v2
#define cuMemcpy2D_v2 (cushim_table()->Memcpy2D_v2)
#define cuMemcpy2D cuMemcpy2D_v2
#undef cuMemcpy2DAsync
#undef cuMemcpy2DAsync_v2
#define cuMemcpy2DAsync_v2 (cushim_table()->Memcpy2DAsync_v2)
#define cuMemcpy2DAsync cuMemcpy2DAsync_v2
#undef cuMemcpy2DUnaligned
#undef cuMemcpy2DUnaligned_v2
#define cuMemcpy2DUnaligned_v2 (cushim_table()->Memcpy2DUnaligned_v2)
#define cuMemcpy2DUnaligned cuMemcpy2DUnaligned_v2
#undef cuMemcpy3D
#undef cuMemcpy3D_v2
#define cuMemcpy3D_v2 (cushim_table()->Memcpy3D_v2)
#define cuMemcpy3D cuMemcpy3D_v2
#undef cuMemcpy3DAsync
#undef cuMemcpy3DAsync_v2
#define cuMemcpy3DAsync_v2 (cushim_table()->Memcpy3DAsync_v2)
#define cuMemcpy3DAsync cuMemcpy3DAsync_v2
#undef cuMemcpy3DBatchAsync
#undef cuMemcpy3DBatchAsync_v2
#define cuMemcpy3DBatchAsync_v2 (cushim_table()->Memcpy3DBatchAsync_v2)
#if CUSHIM_NAMES_VERSION >= 13000
#    define cuMemcpy3DBatchAsync cuMemcpy3DBatchAsync_v2
#else
#    define cuMemcpy3DBatchAsync (cushim_table()->Memcpy3DBatchAsync_v1)
#endif
#undef cuMemcpy3DPeer
#define cuMemcpy3DPeer (cushim_table()->Memcpy3DPeer_v1)
#undef cuMemcpy3DPeerAsync
#define cuMemcpy3DPeerAsync (cushim_table()->Memcpy3DPeerAsync_v1)
#undef cuMemcpy3DWithAttributesAsync
#define cuMemcpy3DWithAttributesAsync (cushim_table()->Memcpy3DWithAttributesAsync_v1)
#undef cuMemcpyAsync
#define cuMemcpyAsync (cushim_table()->MemcpyAsync_v1)
#undef cuMemcpyAtoA
#undef cuMemcpyAtoA_v2
#define cuMemcpyAtoA_v2 (cushim_table()->MemcpyAtoA_v2)
#define cuMemcpyAtoA cuMemcpyAtoA_v2
#undef cuMemcpyAtoD
#undef cuMemcpyAtoD_v2
#define cuMemcpyAtoD_v2 (cushim_table()->MemcpyAtoD_v2)
#define cuMemcpyAtoD cuMemcpyAtoD_v2
#undef cuMemcpyAtoH
#undef cuMemcpyAtoH_v2
#define cuMemcpyAtoH_v2 (cushim_table()->MemcpyAtoH_v2)
#define cuMemcpyAtoH cuMemcpyAtoH_v2
#undef cuMemcpyAtoHAsync
#undef cuMemcpyAtoHAsync_v2
#define cuMemcpyAtoHAsync_v2 (cushim_table()->MemcpyAtoHAsync_v2)
#define cuMemcpyAtoHAsync cuMemcpyAtoHAsync_v2
#undef cuMemcpyBatchAsync
#undef cuMemcpyBatchAsync_v2
#define cuMemcpyBatchAsync_v2 (cushim_table()->MemcpyBatchAsync_v2)
#if CUSHIM_NAMES_VERSION >= 13000
#    define cuMemcpyBatchAsync cuMemcpyBatchAsync_v2
#else
#    define cuMemcpyBatchAsync (cushim_table()->MemcpyBatchAsync_v1)
#endif
#undef cuMemcpyDtoA
#undef cuMemcpyDtoA_v2
#define cuMemcpyDtoA_v2 (cushim_table()->MemcpyDtoA_v2)
#define cuMemcpyDtoA cuMemcpyDtoA_v2
#undef cuMemcpyDtoD
#undef cuMemcpyDtoD_v2
#define cuMemcpyDtoD_v2 (cushim_table()->MemcpyDtoD_v2)
#define cuMemcpyDtoD cuMemcpyDtoD_v2
#undef cuMemcpyDtoDAsync
#undef cuMemcpyDtoDAsync_v2
#define cuMemcpyDtoDAsync_v2 (cushim_table()->MemcpyDtoDAsync_v2)
#define cuMemcpyDtoDAsync cuMemcpyDtoDAsync_v2
#undef cuMemcpyDtoH
#undef cuMemcpyDtoH_v2
#define cuMemcpyDtoH_v2 (cushim_table()->MemcpyDtoH_v2)
#define cuMemcpyDtoH cuMemcpyDtoH_v2
#undef cuMemcpyDtoHAsync
#undef cuMemcpyDtoHAsync_v2
#define cuMemcpyDtoHAsync_v2 (cushim_table()->MemcpyDtoHAsync_v2)
#define cuMemcpyDtoHAsync cuMemcpyDtoHAsync_v2
#undef cuMemcpyHtoA
#undef cuMemcpyHtoA_v2
#define cuMemcpyHtoA_v2 (cushim_table()->MemcpyHtoA_v2)
#define cuMemcpyHtoA cuMemcpyHtoA_v2
#undef cuMemcpyHtoAAsync
#undef cuMemcpyHtoAAsync_v2
#define cuMemcpyHtoAAsync_v2 (cushim_table()->MemcpyHtoAAsync_v2)
#define cuMemcpyHtoAAsync cuMemcpyHtoAAsync_v2
#undef cuMemcpyHtoD
#undef cuMemcpyHtoD_v2
#define cuMemcpyHtoD_v2 (cushim_table()->MemcpyHtoD_v2)
#define cuMemcpyHtoD cuMemcpyHtoD_v2
#undef cuMemcpyHtoDAsync
#undef cuMemcpyHtoDAsync_v2
#define cuMemcpyHtoDAsync_v2 (cushim_table()->MemcpyHtoDAsync_v2)
#define cuMemcpyHtoDAsync cuMemcpyHtoDAsync_v2
#undef cuMemcpyPeer
#define cuMemcpyPeer (cushim_table()->MemcpyPeer_v1)
#undef cuMemcpyPeerAsync
#define cuMemcpyPeerAsync (cushim_table()->MemcpyPeerAsync_v1)
#undef cuMemcpyWithAttributesAsync
#define cuMemcpyWithAttributesAsync (cushim_table()->MemcpyWithAttributesAsync_v1)
#undef cuMemsetD16
#undef cuMemsetD16_v2
#define cuMemsetD16_v2 (cushim_table()->MemsetD16_v2)
#define cuMemsetD16 cuMemsetD16_v2
#undef cuMemsetD16Async
#define cuMemsetD16Async (cushim_table()->MemsetD16Async_v1)
#undef cuMemsetD2D16
#undef cuMemsetD2D16_v2
#define cuMemsetD2D16_v2 (cushim_table()->MemsetD2D16_v2)
#define cuMemsetD2D16 cuMemsetD2D16_v2
#undef cuMemsetD2D16Async
#define cuMemsetD2D16Async (cushim_table()->MemsetD2D16Async_v1)
#undef cuMemsetD2D32
#undef cuMemsetD2D32_v2
#define cuMemsetD2D32_v2 (cushim_table()->MemsetD2D32_v2)
#define cuMemsetD2D32 cuMemsetD2D32_v2
#undef cuMemsetD2D32Async
#define cuMemsetD2D32Async (cushim_table()->MemsetD2D32Async_v1)
#undef cuMemsetD2D8
#undef cuMemsetD2D8_v2
#define cuMemsetD2D8_v2 (cushim_table()->MemsetD2D8_v2)
#define cuMemsetD2D8 cuMemsetD2D8_v2
#undef cuMemsetD2D8Async
#define cuMemsetD2D8Async (cushim_table()->MemsetD2D8Async_v1)
#undef cuMemsetD32
#undef cuMemsetD32_v2
#define cuMemsetD32_v2 (cushim_table()->MemsetD32_v2)
#define cuMemsetD32 cuMemsetD32_v2
#undef cuMemsetD32Async
#define cuMemsetD32Async (cushim_table()->MemsetD32Async_v1)
#undef cuMemsetD8
#undef cuMemsetD8_v2
#define cuMemsetD8_v2 (cushim_table()->MemsetD8_v2)
#define cuMemsetD8 cuMemsetD8_v2
#undef cuMemsetD8Async
#define cuMemsetD8Async (cushim_table()->MemsetD8Async_v1)
#undef cuMipmappedArrayCreate
#define cuMipmappedArrayCreate (cushim_table()->MipmappedArrayCreate_v1)
#undef cuMipmappedArrayDestroy
#define cuMipmappedArrayDestroy (cushim_table()->MipmappedArrayDestroy_v1)
#undef cuMipmappedArrayGetLevel
#define cuMipmappedArrayGetLevel (cushim_table()->MipmappedArrayGetLevel_v1)
#undef cuMipmappedArrayGetMemoryRequirements
#define cuMipmappedArrayGetMemoryRequirements (cushim_table()->MipmappedArrayGetMemoryRequirements_v1)
#undef cuMipmappedArrayGetSparseProperties
#define cuMipmappedArrayGetSparseProperties (cushim_table()->MipmappedArrayGetSparseProperties_v1)
#undef cuModuleEnumerateFunctions
#define cuModuleEnumerateFunctions (cushim_table()->ModuleEnumerateFunctions_v1)
#undef cuModuleGetFunction
#define cuModuleGetFunction (cushim_table()->ModuleGetFunction_v1)
#undef cuModuleGetFunctionCount
#define cuModuleGetFunctionCount (cushim_table()->ModuleGetFunctionCount_v1)
#undef cuModuleGetGlobal
#undef cuModuleGetGlobal_v2
#define cuModuleGetGlobal_v2 (cushim_table()->ModuleGetGlobal_v2)
#define cuModuleGetGlobal cuModuleGetGlobal_v2
#undef cuModuleGetLoadingMode
#define cuModuleGetLoadingMode (cushim_table()->ModuleGetLoadingMode_v1)
#undef cuModuleGetSurfRef
#define cuModuleGetSurfRef (cushim_table()->ModuleGetSurfRef_v1)
#undef cuModuleGetTexRef
#define cuModuleGetTexRef (cushim_table()->ModuleGetTexRef_v1)
#undef cuModuleLoad
#define cuModuleLoad (cushim_table()->ModuleLoad_v1)
#undef cuModuleLoadData
#define cuModuleLoadData (cushim_table()->ModuleLoadData_v1)
#undef cuModuleLoadDataEx
#define cuModuleLoadDataEx (cushim_table()->ModuleLoadDataEx_v1)
#undef cuModuleLoadFatBinary
#define cuModuleLoadFatBinary (cushim_table()->ModuleLoadFatBinary_v1)
#undef cuModuleUnload
#define cuModuleUnload (cushim_table()->ModuleUnload_v1)
#undef cuMulticastAddDevice
#define cuMulticastAddDevice (cushim_table()->MulticastAddDevice_v1)
#undef cuMulticastBindAddr
#undef cuMulticastBindAddr_v2
#define cuMulticastBindAddr_v2 (cushim_table()->MulticastBindAddr_v2)
#define cuMulticastBindAddr (cushim_table()->MulticastBindAddr_v1)
#undef cuMulticastBindMem
#undef cuMulticastBindMem_v2
#define cuMulticastBindMem_v2 (cushim_table()->MulticastBindMem_v2)
#define cuMulticastBindMem (cushim_table()->MulticastBindMem_v1)
#undef cuMulticastCreate
#define cuMulticastCreate (cushim_table()->MulticastCreate_v1)
#undef cuMulticastGetGranularity
#define cuMulticastGetGranularity (cushim_table()->MulticastGetGranularity_v1)
#undef cuMulticastUnbind
#define cuMulticastUnbind (cushim_table()->MulticastUnbind_v1)
#undef cuOccupancyAvailableDynamicSMemPerBlock
#define cuOccupancyAvailableDynamicSMemPerBlock (cushim_table()->OccupancyAvailableDynamicSMemPerBlock_v1)
#undef cuOccupancyMaxActiveBlocksPerMultiprocessor
#define cuOccupancyMaxActiveBlocksPerMultiprocessor (cushim_table()->OccupancyMaxActiveBlocksPerMultiprocessor_v1)
#undef cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
#define cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags \
    (cushim_table()->OccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v1)
#undef cuOccupancyMaxActiveClusters
#define cuOccupancyMaxActiveClusters (cushim_table()->OccupancyMaxActiveClusters_v1)
#undef cuOccupancyMaxPotentialBlockSize
#define cuOccupancyMaxPotentialBlockSize (cushim_table()->OccupancyMaxPotentialBlockSize_v1)
#undef cuOccupancyMaxPotentialBlockSizeWithFlags
#define cuOccupancyMaxPotentialBlockSizeWithFlags (cushim_table()->OccupancyMaxPotentialBlockSizeWithFlags_v1)
#undef cuOccupancyMaxPotentialClusterSize
#define cuOccupancyMaxPotentialClusterSize (cushim_table()->OccupancyMaxPotentialClusterSize_v1)
#undef cuParamSetSize
#define cuParamSetSize (cushim_table()->ParamSetSize_v1)
#undef cuParamSetTexRef
#define cuParamSetTexRef (cushim_table()->ParamSetTexRef_v1)
#undef cuParamSetf
#define cuParamSetf (cushim_table()->ParamSetf_v1)
#undef cuParamSeti
#define cuParamSeti (cushim_table()->ParamSeti_v1)
#undef cuParamSetv
#define cuParamSetv (cushim_table()->ParamSetv_v1)
#undef cuPointerGetAttribute
#define cuPointerGetAttribute (cushim_table()->PointerGetAttribute_v1)
#undef cuPointerGetAttributes
#define cuPointerGetAttributes (cushim_table()->PointerGetAttributes_v1)
#undef cuPointerSetAttribute
#define cuPointerSetAttribute (cushim_table()->PointerSetAttribute_v1)
#undef cuProfilerInitialize
#define cuProfilerInitialize (cushim_table()->ProfilerInitialize_v1)
#undef cuProfilerStart
#define cuProfilerStart (cushim_table()->ProfilerStart_v1)
#undef cuProfilerStop
#define cuProfilerStop (cushim_table()->ProfilerStop_v1)
#undef cuSignalExternalSemaphoresAsync
#define cuSignalExternalSemaphoresAsync (cushim_table()->SignalExternalSemaphoresAsync_v1)
#undef cuStreamAddCallback
#define cuStreamAddCallback (cushim_table()->StreamAddCallback_v1)
#undef cuStreamAttachMemAsync
#define cuStreamAttachMemAsync (cushim_table()->StreamAttachMemAsync_v1)
#undef cuStreamBatchMemOp
#undef cuStreamBatchMemOp_v2
#define cuStreamBatchMemOp_v2 (cushim_table()->StreamBatchMemOp_v2)
#if CUSHIM_NAMES_VERSION >= 12000
#    define cuStreamBatchMemOp cuStreamBatchMemOp_v2
#else
#    define cuStreamBatchMemOp (cushim_table()->StreamBatchMemOp_v1)
#endif
#undef cuStreamBeginCapture
#undef cuStreamBeginCapture_v2
#define cuStreamBeginCapture_v2 (cushim_table()->StreamBeginCapture_v2)
#if CUSHIM_NAMES_VERSION >= 10010
#    define cuStreamBeginCapture cuStreamBeginCapture_v2
#else
#    define cuStreamBeginCapture (cushim_table()->StreamBeginCapture_v1)
#endif
#undef cuStreamBeginCaptureToCig
#define cuStreamBeginCaptureToCig (cushim_table()->StreamBeginCaptureToCig_v1)
#undef cuStreamBeginCaptureToGraph
#define cuStreamBeginCaptureToGraph (cushim_table()->StreamBeginCaptureToGraph_v1)
#undef cuStreamBeginRecaptureToGraph
#define cuStreamBeginRecaptureToGraph (cushim_table()->StreamBeginRecaptureToGraph_v1)
#undef cuStreamCopyAttributes
#define cuStreamCopyAttributes (cushim_table()->StreamCopyAttributes_v1)
#undef cuStreamCreate
#define cuStreamCreate (cushim_table()->StreamCreate_v1)
#undef cuStreamCreateWithPriority
#define cuStreamCreateWithPriority (cushim_table()->StreamCreateWithPriority_v1)
#undef cuStreamDestroy
#undef cuStreamDestroy_v2
#define cuStreamDestroy_v2 (cushim_table()->StreamDestroy_v2)
#define cuStreamDestroy cuStreamDestroy_v2
#undef cuStreamEndCapture
#define cuStreamEndCapture (cushim_table()->StreamEndCapture_v1)
#undef cuStreamEndCaptureToCig
#define cuStreamEndCaptureToCig (cushim_table()->StreamEndCaptureToCig_v1)
#undef cuStreamGetAttribute
#define cuStreamGetAttribute (cushim_table()->StreamGetAttribute_v1)
#undef cuStreamGetCaptureInfo
#undef cuStreamGetCaptureInfo_v2
#undef cuStreamGetCaptureInfo_v3
#define cuStreamGetCaptureInfo_v2 (cushim_table()->StreamGetCaptureInfo_v2)
#define cuStreamGetCaptureInfo_v3 (cushim_table()->StreamGetCaptureInfo_v3)
#if CUSHIM_NAMES_VERSION >= 13000
#    define cuStreamGetCaptureInfo cuStreamGetCaptureInfo_v3
#elif CUSHIM_NAMES_VERSION >= 12000
#    define cuStreamGetCaptureInfo cuStreamGetCaptureInfo_v2
#else
#    define cuStreamGetCaptureInfo (cushim_table()->StreamGetCaptureInfo_v1)
#endif
#undef cuStreamGetCtx
#undef cuStreamGetCtx_v2
#define cuStreamGetCtx_v2 (cushim_table()->StreamGetCtx_v2)
#define cuStreamGetCtx (cushim_table()->StreamGetCtx_v1)
#undef cuStreamGetDevResource
#define cuStreamGetDevResource (cushim_table()->StreamGetDevResource_v1)
#undef cuStreamGetDevice
#define cuStreamGetDevice (cushim_table()->StreamGetDevice_v1)
#undef cuStreamGetFlags
#define cuStreamGetFlags (cushim_table()->StreamGetFlags_v1)
#undef cuStreamGetGreenCtx
#define cuStreamGetGreenCtx (cushim_table()->StreamGetGreenCtx_v1)
#undef cuStreamGetId
#define cuStreamGetId (cushim_table()->StreamGetId_v1)
#undef cuStreamGetPriority
#define cuStreamGetPriority (cushim_table()->StreamGetPriority_v1)
#undef cuStreamIsCapturing
#define cuStreamIsCapturing (cushim_table()->StreamIsCapturing_v1)
#undef cuStreamQuery
#define cuStreamQuery (cushim_table()->StreamQuery_v1)
#undef cuStreamSetAttribute
#define cuStreamSetAttribute (cushim_table()->StreamSetAttribute_v1)
#undef cuStreamSynchronize
#define cuStreamSynchronize (cushim_table()->StreamSynchronize_v1)
#undef cuStreamUpdateCaptureDependencies
#undef cuStreamUpdateCaptureDependencies_v2
#define cuStreamUpdateCaptureDependencies_v2 (cushim_table()->StreamUpdateCaptureDependencies_v2)
#if CUSHIM_NAMES_VERSION >= 13000
#    define cuStreamUpdateCaptureDependencies cuStreamUpdateCaptureDependencies_v2
#else
#    define cuStreamUpdateCaptureDependencies (cushim_table()->StreamUpdateCaptureDependencies_v1)
#endif
#undef cuStreamWaitEvent
#define cuStreamWaitEvent (cushim_table()->StreamWaitEvent_v1)
#undef cuStreamWaitValue32
#undef cuStreamWaitValue32_v2
#define cuStreamWaitValue32_v2 (cushim_table()->StreamWaitValue32_v2)
#if CUSHIM_NAMES_VERSION >= 12000
#    define cuStreamWaitValue32 cuStreamWaitValue32_v2
#else
#    define cuStreamWaitValue32 (cushim_table()->StreamWaitValue32_v1)
#endif
#undef cuStreamWaitValue64
#undef cuStreamWaitValue64_v2
#define cuStreamWaitValue64_v2 (cushim_table()->StreamWaitValue64_v2)
#if CUSHIM_NAMES_VERSION >= 12000
#    define cuStreamWaitValue64 cuStreamWaitValue64_v2
#else
#    define cuStreamWaitValue64 (cushim_table()->StreamWaitValue64_v1)
#endif
#undef cuStreamWriteValue32
#undef cuStreamWriteValue32_v2
#define cuStreamWriteValue32_v2 (cushim_table()->StreamWriteValue32_v2)
#if CUSHIM_NAMES_VERSION >= 12000
#    define cuStreamWriteValue32 cuStreamWriteValue32_v2
#else
#    define cuStreamWriteValue32 (cushim_table()->StreamWriteValue32_v1)
#endif
#undef cuStreamWriteValue64
#undef cuStreamWriteValue64_v2
#define cuStreamWriteValue64_v2 (cushim_table()->StreamWriteValue64_v2)
#if CUSHIM_NAMES_VERSION >= 12000
#    define cuStreamWriteValue64 cuStreamWriteValue64_v2
#else
#    define cuStreamWriteValue64 (cushim_table()->StreamWriteValue64_v1)
#endif
#undef cuSurfObjectCreate
#define cuSurfObjectCreate (cushim_table()->SurfObjectCreate_v1)
#undef cuSurfObjectDestroy
#define cuSurfObjectDestroy (cushim_table()->SurfObjectDestroy_v1)
#undef cuSurfObjectGetResourceDesc
#define cuSurfObjectGetResourceDesc (cushim_table()->SurfObjectGetResourceDesc_v1)
#undef cuSurfRefGetArray
#define cuSurfRefGetArray (cushim_table()->SurfRefGetArray_v1)
#undef cuSurfRefSetArray
#define cuSurfRefSetArray (cushim_table()->SurfRefSetArray_v1)
#undef cuTensorMapEncodeIm2col
#define cuTensorMapEncodeIm2col (cushim_table()->TensorMapEncodeIm2col_v1)
#undef cuTensorMapEncodeIm2colWide
#define cuTensorMapEncodeIm2colWide (cushim_table()->TensorMapEncodeIm2colWide_v1)
#undef cuTensorMapEncodeTiled
#define cuTensorMapEncodeTiled (cushim_table()->TensorMapEncodeTiled_v1)
#undef cuTensorMapReplaceAddress
#define cuTensorMapReplaceAddress (cushim_table()->TensorMapReplaceAddress_v1)
#undef cuTensorMapSetAllocationClass
#define cuTensorMapSetAllocationClass (cushim_table()->TensorMapSetAllocationClass_v1)
#undef cuTexObjectCreate
#define cuTexObjectCreate (cushim_table()->TexObjectCreate_v1)
#undef cuTexObjectDestroy
#define cuTexObjectDestroy (cushim_table()->TexObjectDestroy_v1)
#undef cuTexObjectGetResourceDesc
#define cuTexObjectGetResourceDesc (cushim_table()->TexObjectGetResourceDesc_v1)
#undef cuTexObjectGetResourceViewDesc
#define cuTexObjectGetResourceViewDesc (cushim_table()->TexObjectGetResourceViewDesc_v1)
#undef cuTexObjectGetTextureDesc
#define cuTexObjectGetTextureDesc (cushim_table()->TexObjectGetTextureDesc_v1)
#undef cuTexRefCreate
#define cuTexRefCreate (cushim_table()->TexRefCreate_v1)
#undef cuTexRefDestroy
#define cuTexRefDestroy (cushim_table()->TexRefDestroy_v1)
#undef cuTexRefGetAddress
#undef cuTexRefGetAddress_v2
#define cuTexRefGetAddress_v2 (cushim_table()->TexRefGetAddress_v2)
#define cuTexRefGetAddress cuTexRefGetAddress_v2
#undef cuTexRefGetAddressMode
#define cuTexRefGetAddressMode (cushim_table()->TexRefGetAddressMode_v1)
#undef cuTexRefGetArray
#define cuTexRefGetArray (cushim_table()->TexRefGetArray_v1)
#undef cuTexRefGetBorderColor
#define cuTexRefGetBorderColor (cushim_table()->TexRefGetBorderColor_v1)
#undef cuTexRefGetFilterMode
#define cuTexRefGetFilterMode (cushim_table()->TexRefGetFilterMode_v1)
#undef cuTexRefGetFlags
#define cuTexRefGetFlags (cushim_table()->TexRefGetFlags_v1)
#undef cuTexRefGetFormat
#define cuTexRefGetFormat (cushim_table()->TexRefGetFormat_v1)
#undef cuTexRefGetMaxAnisotropy
#define cuTexRefGetMaxAnisotropy (cushim_table()->TexRefGetMaxAnisotropy_v1)
#undef cuTexRefGetMipmapFilterMode
#define cuTexRefGetMipmapFilterMode (cushim_table()->TexRefGetMipmapFilterMode_v1)
#undef cuTexRefGetMipmapLevelBias
#define cuTexRefGetMipmapLevelBias (cushim_table()->TexRefGetMipmapLevelBias_v1)
#undef cuTexRefGetMipmapLevelClamp
#define cuTexRefGetMipmapLevelClamp (cushim_table()->TexRefGetMipmapLevelClamp_v1)
#undef cuTexRefGetMipmappedArray
#define cuTexRefGetMipmappedArray (cushim_table()->TexRefGetMipmappedArray_v1)
#undef cuTexRefSetAddress
#undef cuTexRefSetAddress_v2
#define cuTexRefSetAddress_v2 (cushim_table()->TexRefSetAddress_v2)
#define cuTexRefSetAddress cuTexRefSetAddress_v2
#undef cuTexRefSetAddress2D
#undef cuTexRefSetAddress2D_v2
#undef cuTexRefSetAddress2D_v3
#define cuTexRefSetAddress2D_v2 (cushim_table()->TexRefSetAddress2D_v2)
#define cuTexRefSetAddress2D_v3 (cushim_table()->TexRefSetAddress2D_v3)
#define cuTexRefSetAddress2D cuTexRefSetAddress2D_v3
#undef cuTexRefSetAddressMode
#define cuTexRefSetAddressMode (cushim_table()->TexRefSetAddressMode_v1)
#undef cuTexRefSetArray
#define cuTexRefSetArray (cushim_table()->TexRefSetArray_v1)
#undef cuTexRefSetBorderColor
#define cuTexRefSetBorderColor (cushim_table()->TexRefSetBorderColor_v1)
#undef cuTexRefSetFilterMode
#define cuTexRefSetFilterMode (cushim_table()->TexRefSetFilterMode_v1)
#undef cuTexRefSetFlags
#define cuTexRefSetFlags (cushim_table()->TexRefSetFlags_v1)
#undef cuTexRefSetFormat
#define cuTexRefSetFormat (cushim_table()->TexRefSetFormat_v1)
#undef cuTexRefSetMaxAnisotropy
#define cuTexRefSetMaxAnisotropy (cushim_table()->TexRefSetMaxAnisotropy_v1)
#undef cuTexRefSetMipmapFilterMode
#define cuTexRefSetMipmapFilterMode (cushim_table()->TexRefSetMipmapFilterMode_v1)
#undef cuTexRefSetMipmapLevelBias
#define cuTexRefSetMipmapLevelBias (cushim_table()->TexRefSetMipmapLevelBias_v1)
#undef cuTexRefSetMipmapLevelClamp
#define cuTexRefSetMipmapLevelClamp (cushim_table()->TexRefSetMipmapLevelClamp_v1)
#undef cuTexRefSetMipmappedArray
#define cuTexRefSetMipmappedArray (cushim_table()->TexRefSetMipmappedArray_v1)
#undef cuThreadExchangeStreamCaptureMode
#define cuThreadExchangeStreamCaptureMode (cushim_table()->ThreadExchangeStreamCaptureMode_v1)
#undef cuUserObjectCreate
#define cuUserObjectCreate (cushim_table()->UserObjectCreate_v1)
#undef cuUserObjectRelease
#define cuUserObjectRelease (cushim_table()->UserObjectRelease_v1)
#undef cuUserObjectRetain
#define cuUserObjectRetain (cushim_table()->UserObjectRetain_v1)
#undef cuWaitExternalSemaphoresAsync
#define cuWaitExternalSemaphoresAsync (cushim_table()->WaitExternalSemaphoresAsync_v1)

#endif
