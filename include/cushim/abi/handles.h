/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The driver's types and constants: the handles, and the small values that many areas share.
 *
 * cuda_abi.h includes this header and describes where the declarations come from. NVIDIA's manual explains them. The
 * comments here state only units and ownership that a name does not show.
 */
#ifndef CUSHIM_ABI_HANDLES_H
#define CUSHIM_ABI_HANDLES_H

#include "cushim/abi/mode.h"

#if CUSHIM_CUDA_HEADER_VERSION == 0
/* The driver's fixed-width integers. */
typedef uint32_t cuuint32_t;

typedef uint64_t cuuint64_t;

/* An address in the unified address space. 0 is never memory. */
#    if defined(_WIN64) || defined(__LP64__)
typedef unsigned long long CUdeviceptr;
#    else
typedef unsigned int CUdeviceptr;
#    endif

/* A device, as cuDeviceGet returns it. It has no owner. */
typedef int CUdevice;

/* The host, as a place of managed memory beside the devices; and an invalid device. */
#    define CU_DEVICE_CPU ((CUdevice)-1)
#    define CU_DEVICE_INVALID ((CUdevice)-2)

/* Opaque handles. The creator of an object destroys it with the destroy function of the same type. */
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
/* A node belongs to one graph and is destroyed with it. */
typedef cuuint64_t CUgraphConditionalHandle;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12040
typedef struct CUgraphDeviceUpdatableNode_st *CUgraphDeviceNode;
typedef struct CUasyncCallbackEntry_st *CUasyncCallbackHandle;
typedef struct CUgreenCtx_st *CUgreenCtx;
#endif

#if CUSHIM_CUDA_HEADER_VERSION == 0
typedef struct CUlinkState_st *CUlinkState;

/* One reference to physical memory. cuMemRelease drops it. */
typedef unsigned long long CUmemGenericAllocationHandle;

/* 16 bytes that identify a device or a MIG instance. */
#    ifndef CU_UUID_HAS_BEEN_DEFINED
#        define CU_UUID_HAS_BEEN_DEFINED
typedef struct CUuuid_st {
    char bytes[16];
} CUuuid;
#    endif

/* How the L2 cache treats a range of addresses. */
typedef enum CUaccessProperty_enum CUSHIM_ENUM_BASE {
    CU_ACCESS_PROPERTY_NORMAL = 0,
    CU_ACCESS_PROPERTY_STREAMING = 1,
    CU_ACCESS_PROPERTY_PERSISTING = 2
} CUaccessProperty;

/* The range is num_bytes from base_ptr on. The fraction hitRatio of it, 0 to 1, gets hitProp, the rest missProp. */
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

/* message has `length` characters; the driver owns it, and it is valid during the call. */
typedef void(CUDA_CB *CUlogsCallback)(void *data, CUlogLevel logLevel, char *message, size_t length);

typedef unsigned int CUlogIterator;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 11030
/* cuGetProcAddress: the default stream that the function uses, and why no function was found. */
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
