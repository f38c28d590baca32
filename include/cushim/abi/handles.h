/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The driver's types and constants: the handles, and the small values that many areas share.
 *
 * cuda_abi.h includes this header and describes where the declarations come from. NVIDIA's manual of the driver explains
 * them; the comments here state only units and ownership that a name does not show.
 */
#ifndef CUSHIM_ABI_HANDLES_H
#define CUSHIM_ABI_HANDLES_H

#include "cushim/abi/mode.h"

#if CUSHIM_CUDA_HEADER_VERSION == 0
/* The driver's own fixed-width integers. */
typedef uint32_t cuuint32_t;

typedef uint64_t cuuint64_t;

/* An address in the unified address space; 0 is no memory. */
#    if defined(_WIN64) || defined(__LP64__)
typedef unsigned long long CUdeviceptr;
#    else
typedef unsigned int CUdeviceptr;
#    endif

/* The ordinal of a device, as cuDeviceGet gives it; nothing owns it. */
typedef int CUdevice;

/* Where managed memory may be, beside the devices: on the host; and a device that is none. */
#    define CU_DEVICE_CPU ((CUdevice)-1)
#    define CU_DEVICE_INVALID ((CUdevice)-2)

/* Opaque handles. Who creates one destroys it with the function of that name. */
typedef struct CUctx_st *CUcontext;

typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12000
typedef struct CUlib_st *CUlibrary;
typedef struct CUkern_st *CUkernel;
#endif

#if CUSHIM_CUDA_HEADER_VERSION == 0
typedef struct CUarray_st *CUarray;
typedef struct CUmipmappedArray_st *CUmipmappedArray;
typedef struct CUtexref_st *CUtexref;
typedef struct CUsurfref_st *CUsurfref;
typedef struct CUevent_st *CUevent;
typedef struct CUstream_st *CUstream;
typedef struct CUgraphicsResource_st *CUgraphicsResource;
typedef unsigned long long CUtexObject;
typedef unsigned long long CUsurfObject;
typedef struct CUextMemory_st *CUexternalMemory;
typedef struct CUextSemaphore_st *CUexternalSemaphore;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUmemPoolHandle_st *CUmemoryPool;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 11030
typedef struct CUuserObject_st *CUuserObject;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12030
/* Belongs to one graph, and dies with it. */
typedef cuuint64_t CUgraphConditionalHandle;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12040
typedef struct CUgraphDeviceUpdatableNode_st *CUgraphDeviceNode;
typedef struct CUasyncCallbackEntry_st *CUasyncCallbackHandle;
typedef struct CUgreenCtx_st *CUgreenCtx;
#endif

#if CUSHIM_CUDA_HEADER_VERSION == 0
typedef struct CUlinkState_st *CUlinkState;

/* One reference to physical memory; cuMemRelease gives it back. */
typedef unsigned long long CUmemGenericAllocationHandle;

/* 16 bytes that name a device or a MIG instance. */
#    ifndef CU_UUID_HAS_BEEN_DEFINED
#        define CU_UUID_HAS_BEEN_DEFINED
typedef struct CUuuid_st {
    char bytes[16];
} CUuuid;
#    endif

/* What the L2 cache does with a range of addresses. */
typedef enum CUaccessProperty_enum CUSHIM_ENUM_BASE {
    CU_ACCESS_PROPERTY_NORMAL = 0,
    CU_ACCESS_PROPERTY_STREAMING = 1,
    CU_ACCESS_PROPERTY_PERSISTING = 2
} CUaccessProperty;

/* num_bytes from base_ptr on; hitRatio of them, 0 to 1, get hitProp, the others missProp. */
typedef struct CUaccessPolicyWindow_st {
    void *base_ptr;
    size_t num_bytes;
    float hitRatio;
    CUaccessProperty hitProp;
    CUaccessProperty missProp;
} CUaccessPolicyWindow;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12090
/* The driver's error log. */
typedef enum CUlogLevel_enum CUSHIM_ENUM_BASE { CU_LOG_LEVEL_ERROR = 0, CU_LOG_LEVEL_WARNING = 1 } CUlogLevel;

typedef struct CUlogsCallbackEntry_st *CUlogsCallbackHandle;

/* message is length characters long and is the driver's, for the duration of the call. */
typedef void(CUDA_CB *CUlogsCallback)(void *data, CUlogLevel logLevel, char *message, size_t length);

typedef unsigned int CUlogIterator;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 11030
/* cuGetProcAddress: which default stream the function found shall mean, and why none was found. */
typedef enum CUdriverProcAddress_flags_enum CUSHIM_ENUM_BASE {
    CU_GET_PROC_ADDRESS_DEFAULT = 0x0,
    CU_GET_PROC_ADDRESS_LEGACY_STREAM = 0x1,
    CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM = 0x2
} CUdriverProcAddress_flags;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12000
typedef enum CUdriverProcAddressQueryResult_enum CUSHIM_ENUM_BASE {
    CU_GET_PROC_ADDRESS_SUCCESS = 0,
    CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND = 1,
    CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT = 2
} CUdriverProcAddressQueryResult;
#endif

#endif
