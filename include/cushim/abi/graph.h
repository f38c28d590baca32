/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The driver's types and constants: nodes, edges, instantiation, update and user objects of graphs.
 *
 * cuda_abi.h includes this header and describes where the declarations come from. NVIDIA's manual explains them. The
 * comments here state only units and ownership that a name does not show.
 */
#ifndef CUSHIM_ABI_GRAPH_H
#define CUSHIM_ABI_GRAPH_H

#include "cushim/abi/mode.h"
#include "cushim/abi/handles.h"
#include "cushim/abi/memory.h"
#include "cushim/abi/sharing.h"
#include "cushim/abi/module.h"
#include "cushim/abi/external.h"
#include "cushim/abi/stream.h"

#if CUSHIM_CUDA_HEADER_VERSION == 0
typedef enum CUgraphNodeType_enum CUSHIM_ENUM_BASE {
    CU_GRAPH_NODE_TYPE_KERNEL = 0,
    CU_GRAPH_NODE_TYPE_MEMCPY = 1,
    CU_GRAPH_NODE_TYPE_MEMSET = 2,
    CU_GRAPH_NODE_TYPE_HOST = 3,
    CU_GRAPH_NODE_TYPE_GRAPH = 4,
    CU_GRAPH_NODE_TYPE_EMPTY = 5,
    CU_GRAPH_NODE_TYPE_WAIT_EVENT = 6,
    CU_GRAPH_NODE_TYPE_EVENT_RECORD = 7,
    CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL = 8,
    CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT = 9
} CUgraphNodeType;
#endif

/* A kernel node. The plain name means v1 up to CUDA 11 and v2 from 12 on. v2 and v3 also take a CUkernel, in kern. */
#if CUSHIM_CUDA_HEADER_VERSION == 0
typedef struct CUDA_KERNEL_NODE_PARAMS_st {
    CUfunction func;
    unsigned int gridDimX;
    unsigned int gridDimY;
    unsigned int gridDimZ;
    unsigned int blockDimX;
    unsigned int blockDimY;
    unsigned int blockDimZ;
    unsigned int sharedMemBytes;
    void **kernelParams;
    void **extra;
} CUDA_KERNEL_NODE_PARAMS_v1;
#elif CUSHIM_CUDA_HEADER_VERSION < 11030
typedef CUDA_KERNEL_NODE_PARAMS CUDA_KERNEL_NODE_PARAMS_v1;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12000
typedef struct CUDA_KERNEL_NODE_PARAMS_v2_st {
    CUfunction func;
    unsigned int gridDimX;
    unsigned int gridDimY;
    unsigned int gridDimZ;
    unsigned int blockDimX;
    unsigned int blockDimY;
    unsigned int blockDimZ;
    unsigned int sharedMemBytes;
    void **kernelParams;
    void **extra;
    CUkernel kern;
    CUcontext ctx;
} CUDA_KERNEL_NODE_PARAMS_v2;
#endif

#if CUSHIM_CUDA_HEADER_VERSION == 0
typedef CUDA_KERNEL_NODE_PARAMS_v2 CUDA_KERNEL_NODE_PARAMS;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12020
typedef struct CUDA_KERNEL_NODE_PARAMS_v3_st {
    CUfunction func;
    unsigned int gridDimX;
    unsigned int gridDimY;
    unsigned int gridDimZ;
    unsigned int blockDimX;
    unsigned int blockDimY;
    unsigned int blockDimZ;
    unsigned int sharedMemBytes;
    void **kernelParams;
    void **extra;
    CUkernel kern;
    CUcontext ctx;
} CUDA_KERNEL_NODE_PARAMS_v3;
#endif

#if CUSHIM_CUDA_HEADER_VERSION == 0
/* pitch is in bytes, elementSize is 1, 2 or 4, width is in elements, height is in rows. */
typedef struct CUDA_MEMSET_NODE_PARAMS_st {
    CUdeviceptr dst;
    size_t pitch;
    unsigned int value;
    unsigned int elementSize;
    size_t width;
    size_t height;
} CUDA_MEMSET_NODE_PARAMS;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12020
typedef struct CUDA_MEMSET_NODE_PARAMS_v2_st {
    CUdeviceptr dst;
    size_t pitch;
    unsigned int value;
    unsigned int elementSize;
    size_t width;
    size_t height;
    CUcontext ctx;
} CUDA_MEMSET_NODE_PARAMS_v2;
#endif

#if CUSHIM_CUDA_HEADER_VERSION == 0
/* userData must stay valid as long as the graph and every executable graph made from it. Nothing frees it. */
typedef struct CUDA_HOST_NODE_PARAMS_st {
    CUhostFn fn;
    void *userData;
} CUDA_HOST_NODE_PARAMS;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12020
/* CUDA 13.2 added syncMode, and 13.4 the context. Older versions have 0 there, which means the same as before. */
typedef struct CUDA_HOST_NODE_PARAMS_v2_st {
    CUhostFn fn;
    void *userData;
    unsigned int syncMode;
    union {
        CUcontext ctx;
        CUgreenCtx gCtx;
    };
} CUDA_HOST_NODE_PARAMS_v2;
typedef struct CUDA_MEMCPY_NODE_PARAMS_st {
    int flags;
    int reserved;
    CUcontext copyCtx;
    CUDA_MEMCPY3D copyParams;
} CUDA_MEMCPY_NODE_PARAMS;
#endif

#if CUSHIM_CUDA_HEADER_VERSION == 0
typedef struct CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_st {
    CUexternalSemaphore *extSemArray;
    const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *paramsArray;
    unsigned int numExtSems;
} CUDA_EXT_SEM_SIGNAL_NODE_PARAMS;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12020
typedef struct CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2_st {
    CUexternalSemaphore *extSemArray;
    const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *paramsArray;
    unsigned int numExtSems;
    union {
        CUcontext ctx;
        CUgreenCtx gCtx;
    };
} CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2;
#endif

#if CUSHIM_CUDA_HEADER_VERSION == 0
typedef struct CUDA_EXT_SEM_WAIT_NODE_PARAMS_st {
    CUexternalSemaphore *extSemArray;
    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *paramsArray;
    unsigned int numExtSems;
} CUDA_EXT_SEM_WAIT_NODE_PARAMS;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12020
typedef struct CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2_st {
    CUexternalSemaphore *extSemArray;
    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *paramsArray;
    unsigned int numExtSems;
    union {
        CUcontext ctx;
        CUgreenCtx gCtx;
    };
} CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 11070
typedef struct CUDA_BATCH_MEM_OP_NODE_PARAMS_v1_st {
    CUcontext ctx;
    unsigned int count;
    CUstreamBatchMemOpParams *paramArray;
    unsigned int flags;
} CUDA_BATCH_MEM_OP_NODE_PARAMS;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12020
typedef struct CUDA_BATCH_MEM_OP_NODE_PARAMS_v2_st {
    CUcontext ctx;
    unsigned int count;
    CUstreamBatchMemOpParams *paramArray;
    unsigned int flags;
} CUDA_BATCH_MEM_OP_NODE_PARAMS_v2;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 11040
/* bytesize is in bytes; the driver writes dptr. */
typedef struct CUDA_MEM_ALLOC_NODE_PARAMS_v1_st {
    CUmemPoolProps poolProps;
    const CUmemAccessDesc *accessDescs;
    size_t accessDescCount;
    size_t bytesize;
    CUdeviceptr dptr;
} CUDA_MEM_ALLOC_NODE_PARAMS;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12020
typedef struct CUDA_MEM_ALLOC_NODE_PARAMS_v2_st {
    CUmemPoolProps poolProps;
    const CUmemAccessDesc *accessDescs;
    size_t accessDescCount;
    size_t bytesize;
    CUdeviceptr dptr;
} CUDA_MEM_ALLOC_NODE_PARAMS_v2;
typedef struct CUDA_MEM_FREE_NODE_PARAMS_st {
    CUdeviceptr dptr;
} CUDA_MEM_FREE_NODE_PARAMS;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12090
typedef enum CUgraphChildGraphNodeOwnership_enum CUSHIM_ENUM_BASE {
    CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE = 0,
    CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE = 1
} CUgraphChildGraphNodeOwnership;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12020
/* CUDA 12.9 added ownership. Older versions have 0 there, which means CLONE. */
typedef struct CUDA_CHILD_GRAPH_NODE_PARAMS_st {
    CUgraph graph;
    CUgraphChildGraphNodeOwnership ownership;
} CUDA_CHILD_GRAPH_NODE_PARAMS;

typedef struct CUDA_EVENT_RECORD_NODE_PARAMS_st {
    CUevent event;
    union {
        CUcontext ctx;
        CUgreenCtx gCtx;
    };
} CUDA_EVENT_RECORD_NODE_PARAMS;
typedef struct CUDA_EVENT_WAIT_NODE_PARAMS_st {
    CUevent event;
} CUDA_EVENT_WAIT_NODE_PARAMS;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12030
typedef enum CUgraphConditionalNodeType_enum CUSHIM_ENUM_BASE {
    CU_GRAPH_COND_TYPE_IF = 0,
    CU_GRAPH_COND_TYPE_WHILE = 1
} CUgraphConditionalNodeType;

/* A flag of cuGraphConditionalHandleCreate. */
#    define CU_GRAPH_COND_ASSIGN_DEFAULT 0x1

/* phGraph_out is an array of `size` graphs. The driver owns it; it is valid as long as the node. */
typedef struct CUDA_CONDITIONAL_NODE_PARAMS {
    CUgraphConditionalHandle handle;
    CUgraphConditionalNodeType type;
    unsigned int size;
    CUgraph *phGraph_out;
    CUcontext ctx;
} CUDA_CONDITIONAL_NODE_PARAMS;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 13050
typedef struct CUDA_MEMCPY_BATCH_NODE_PARAMS_V1_st {
    size_t count;
    CUdeviceptr *dsts;
    CUdeviceptr *srcs;
    size_t *sizes;
    CUmemcpyAttributes *attrs;
    size_t *attrsIdxs;
    size_t numAttrs;
    union {
        CUcontext ctx;
        CUgreenCtx gCtx;
    };
} CUDA_MEMCPY_BATCH_NODE_PARAMS_V1;
typedef CUDA_MEMCPY_BATCH_NODE_PARAMS_V1 CUDA_MEMCPY_BATCH_NODE_PARAMS;

typedef struct CUDA_FABRIC_CPY_BATCH_NODE_PARAMS_V1_st {
    size_t numOps;
    CUDA_FABRIC_COPY_BATCH_OP *opList;
    unsigned long long flags;
    union {
        CUcontext ctx;
        CUgreenCtx gCtx;
    };
} CUDA_FABRIC_CPY_BATCH_NODE_PARAMS_V1;
typedef CUDA_FABRIC_CPY_BATCH_NODE_PARAMS_V1 CUDA_FABRIC_CPY_BATCH_NODE_PARAMS;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12020
/* The 256 bytes must be zeroed before use. `type` names the valid member. */
typedef struct CUgraphNodeParams_st {
    CUgraphNodeType type;
    int reserved0[3];
    union {
        long long reserved1[29];
        CUDA_KERNEL_NODE_PARAMS_v3 kernel;
        CUDA_MEMCPY_NODE_PARAMS memcpy;
        CUDA_MEMSET_NODE_PARAMS_v2 memset;
        CUDA_HOST_NODE_PARAMS_v2 host;
        CUDA_CHILD_GRAPH_NODE_PARAMS graph;
        CUDA_EVENT_WAIT_NODE_PARAMS eventWait;
        CUDA_EVENT_RECORD_NODE_PARAMS eventRecord;
        CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2 extSemSignal;
        CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2 extSemWait;
        CUDA_MEM_ALLOC_NODE_PARAMS_v2 alloc;
        CUDA_MEM_FREE_NODE_PARAMS free;
        CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 memOp;
        CUDA_CONDITIONAL_NODE_PARAMS conditional;
        CUDA_MEMCPY_BATCH_NODE_PARAMS_V1 memcpyBatch;
        CUDA_FABRIC_CPY_BATCH_NODE_PARAMS_V1 fabricCpyBatch;
        char asBytes[232];
    };
    long long reserved2;
} CUgraphNodeParams;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 13030
typedef enum CUgraphRecaptureStatus_enum CUSHIM_ENUM_BASE {
    CU_GRAPH_RECAPTURE_ELIGIBLE_FOR_UPDATE = 0,
    CU_GRAPH_RECAPTURE_INELIGIBLE_FOR_UPDATE = 1,
    CU_GRAPH_RECAPTURE_ERROR = 2
} CUgraphRecaptureStatus;

/* Both sets of parameters are the driver's, for the duration of the call. An error refuses the change. */
typedef CUresult(CUDA_CB *CUgraphRecaptureCallback)(void *data, CUgraphNode node,
                                                    const CUgraphNodeParams *originalParams,
                                                    const CUgraphNodeParams *recaptureParams,
                                                    CUgraphRecaptureStatus status);
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12030
/* Values of CUgraphEdgeData.type. */
typedef enum CUgraphDependencyType_enum CUSHIM_ENUM_BASE {
    CU_GRAPH_DEPENDENCY_TYPE_DEFAULT = 0,
    CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC = 1
} CUgraphDependencyType;

/* An edge with all members zero is the ordinary one: full serialisation. */
typedef struct CUgraphEdgeData_st {
    unsigned char from_port;
    unsigned char to_port;
    unsigned char type;
    unsigned char reserved[5];
} CUgraphEdgeData;

/* Values of CUgraphEdgeData.from_port. */
#    define CU_GRAPH_KERNEL_NODE_PORT_DEFAULT 0
#    define CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC 1
#    define CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER 2
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 11040
/* Flags of cuGraphInstantiate, cuGraphInstantiateWithFlags and cuGraphInstantiateWithParams, as cuGraphExecGetFlags
 * returns them. */
typedef enum CUgraphInstantiate_flags_enum CUSHIM_ENUM_BASE {
    CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH = 0x1
} CUgraphInstantiate_flags;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12000
typedef enum CUgraphInstantiateResult_enum CUSHIM_ENUM_BASE {
    CUDA_GRAPH_INSTANTIATE_SUCCESS = 0,
    CUDA_GRAPH_INSTANTIATE_ERROR = 1,
    CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE = 2,
    CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED = 3,
    CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED = 4
} CUgraphInstantiateResult;

/* The driver writes the members with _out. */
typedef struct CUDA_GRAPH_INSTANTIATE_PARAMS_st {
    cuuint64_t flags;
    CUstream hUploadStream;
    CUgraphNode hErrNode_out;
    CUgraphInstantiateResult result_out;
} CUDA_GRAPH_INSTANTIATE_PARAMS;
#endif

#if CUSHIM_CUDA_HEADER_VERSION == 0
typedef enum CUgraphExecUpdateResult_enum CUSHIM_ENUM_BASE {
    CU_GRAPH_EXEC_UPDATE_SUCCESS = 0,
    CU_GRAPH_EXEC_UPDATE_ERROR = 1,
    CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED = 2,
    CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED = 3,
    CU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED = 4,
    CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED = 5,
    CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED = 6,
    CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE = 7
} CUgraphExecUpdateResult;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12000
typedef struct CUgraphExecUpdateResultInfo_st {
    CUgraphExecUpdateResult result;
    CUgraphNode errorNode;
    CUgraphNode errorFromNode;
} CUgraphExecUpdateResultInfo;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 11030
/* Flags of cuGraphDebugDotPrint. */
typedef enum CUgraphDebugDot_flags_enum CUSHIM_ENUM_BASE {
    CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE = 0x1,
    CU_GRAPH_DEBUG_DOT_FLAGS_RUNTIME_TYPES = 0x2,
    CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS = 0x4,
    CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS = 0x8,
    CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS = 0x10,
    CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS = 0x20,
    CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS = 0x40,
    CU_GRAPH_DEBUG_DOT_FLAGS_EXT_SEMAS_SIGNAL_NODE_PARAMS = 0x80,
    CU_GRAPH_DEBUG_DOT_FLAGS_EXT_SEMAS_WAIT_NODE_PARAMS = 0x100,
    CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES = 0x200,
    CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES = 0x400
} CUgraphDebugDot_flags;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 11040
/* Each value is a cuuint64_t, in bytes. */
typedef enum CUgraphMem_attribute_enum CUSHIM_ENUM_BASE {
    CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT = 0,
    CU_GRAPH_MEM_ATTR_USED_MEM_HIGH = 1,
    CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT = 2,
    CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH = 3
} CUgraphMem_attribute;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 11030
/* Flags of cuUserObjectCreate. */
typedef enum CUuserObject_flags_enum CUSHIM_ENUM_BASE { CU_USER_OBJECT_NO_DESTRUCTOR_SYNC = 0x1 } CUuserObject_flags;

/* Flags of cuGraphRetainUserObject. */
typedef enum CUuserObjectRetain_flags_enum CUSHIM_ENUM_BASE {
    CU_GRAPH_USER_OBJECT_MOVE = 0x1
} CUuserObjectRetain_flags;
#endif

/* Enumerators that a later CUDA version added to their enum. */
#if CUSHIM_CUDA_HEADER_VERSION < 11040
#    define CU_GRAPH_NODE_TYPE_MEM_ALLOC ((CUgraphNodeType)10)
#    define CU_GRAPH_NODE_TYPE_MEM_FREE ((CUgraphNodeType)11)
#    define CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS ((CUgraphDebugDot_flags)0x800)
#    define CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS ((CUgraphDebugDot_flags)0x1000)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 11060
#    define CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED ((CUgraphExecUpdateResult)8)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 11070
#    define CU_GRAPH_NODE_TYPE_BATCH_MEM_OP ((CUgraphNodeType)12)
#    define CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY ((CUgraphInstantiate_flags)0x8)
#    define CU_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS ((CUgraphDebugDot_flags)0x2000)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 12000
#    define CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD ((CUgraphInstantiate_flags)0x2)
#    define CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH ((CUgraphInstantiate_flags)0x4)
#    define CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO ((CUgraphDebugDot_flags)0x4000)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 12030
#    define CU_GRAPH_NODE_TYPE_CONDITIONAL ((CUgraphNodeType)13)
#    define CU_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS ((CUgraphDebugDot_flags)0x8000)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 12080
#    define CU_GRAPH_COND_TYPE_SWITCH ((CUgraphConditionalNodeType)2)
#    define CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED ((CUgraphInstantiateResult)5)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 13020
#    define CU_GRAPH_CHILD_GRAPH_OWNERSHIP_INVALID ((CUgraphChildGraphNodeOwnership)-1)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 13030
#    define CU_GRAPH_NODE_TYPE_RESERVED_16 ((CUgraphNodeType)16)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 13050
#    define CU_GRAPH_NODE_TYPE_MEMCPY_BATCH ((CUgraphNodeType)14)
#    define CU_GRAPH_NODE_TYPE_EXTERNAL_ENGINE ((CUgraphNodeType)17)
#    define CU_GRAPH_NODE_TYPE_FABRIC_CPY_BATCH ((CUgraphNodeType)18)
#    define CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_BATCH_NODE_PARAMS ((CUgraphDebugDot_flags)0x10000)
#    define CU_GRAPH_DEBUG_DOT_FLAGS_FABRIC_CPY_BATCH_NODE_PARAMS ((CUgraphDebugDot_flags)0x20000)
#endif

#endif
