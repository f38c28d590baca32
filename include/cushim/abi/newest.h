/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The driver's types and constants that are newer than the newest Toolkit with which they were compared.
 *
 * cuda_abi.h includes this header and describes where the declarations come from. Each declaration is in at least two
 * public sources (transcriptions of <cuda.h>, NVIDIA's manual, programs that run with it); those in only one are left
 * out. Once a Toolkit has it, tests/headers compares it, and it moves to the header of its subject. Types of which
 * members of older types are made are in the header of their subject already.
 */
#ifndef CUSHIM_ABI_NEWEST_H
#define CUSHIM_ABI_NEWEST_H

#include "cushim/abi/mode.h"
#include "cushim/abi/result.h"
#include "cushim/abi/handles.h"
#include "cushim/abi/device.h"
#include "cushim/abi/stream.h"
#include "cushim/abi/memory.h"
#include "cushim/abi/sharing.h"
#include "cushim/abi/module.h"
#include "cushim/abi/graph.h"
#include "cushim/abi/process.h"

#if CUSHIM_CUDA_HEADER_VERSION < 13010
/* One group of SMs, asked for and granted; CUDA 13.4 took localityDomainId from the reserved ones, which are 0. */
typedef struct CU_DEV_SM_RESOURCE_GROUP_PARAMS_st {
    unsigned int smCount;
    unsigned int coscheduledSmCount;
    unsigned int preferredCoscheduledSmCount;
    unsigned int flags;
    unsigned int localityDomainId;
    unsigned int reserved[11];
} CU_DEV_SM_RESOURCE_GROUP_PARAMS;

/* Bits of CU_DEV_SM_RESOURCE_GROUP_PARAMS.flags. */
typedef enum CUdevSmResourceGroup_flags_enum CUSHIM_ENUM_BASE {
    CU_DEV_SM_RESOURCE_GROUP_DEFAULT = 0,
    CU_DEV_SM_RESOURCE_GROUP_BACKFILL = 1
} CUdevSmResourceGroup_flags;

#    define CU_STREAM_MEM_OP_ATOMIC_REDUCTION ((CUstreamBatchMemOpType)8)
#    define CU_DEVICE_ATTRIBUTE_ATOMIC_REDUCTION_SUPPORTED ((CUdevice_attribute)148)
#    define CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG ((CUdevResourceType)1000)
#    define CU_DEV_RESOURCE_TYPE_WORKQUEUE ((CUdevResourceType)10000)
#    define CU_COREDUMP_GZIP_COMPRESS ((CUCoredumpGenerationFlags)0x40)
#    define CU_JIT_BINARY_LOADER_THREAD_COUNT ((CUjit_option)35)
#    define CU_AD_FORMAT_UINT8_PACKED_422 ((CUarray_format)81)
#    define CU_AD_FORMAT_UINT8_PACKED_444 ((CUarray_format)82)
#    define CU_AD_FORMAT_UINT8_SEMIPLANAR_420 ((CUarray_format)83)
#    define CU_AD_FORMAT_UINT16_SEMIPLANAR_420 ((CUarray_format)84)
#    define CU_AD_FORMAT_UINT8_SEMIPLANAR_422 ((CUarray_format)85)
#    define CU_AD_FORMAT_UINT16_SEMIPLANAR_422 ((CUarray_format)86)
#    define CU_AD_FORMAT_UINT8_SEMIPLANAR_444 ((CUarray_format)87)
#    define CU_AD_FORMAT_UINT16_SEMIPLANAR_444 ((CUarray_format)88)
#    define CU_AD_FORMAT_UINT8_PLANAR_420 ((CUarray_format)89)
#    define CU_AD_FORMAT_UINT16_PLANAR_420 ((CUarray_format)90)
#    define CU_AD_FORMAT_UINT8_PLANAR_422 ((CUarray_format)91)
#    define CU_AD_FORMAT_UINT16_PLANAR_422 ((CUarray_format)92)
#    define CU_AD_FORMAT_UINT8_PLANAR_444 ((CUarray_format)93)
#    define CU_AD_FORMAT_UINT16_PLANAR_444 ((CUarray_format)94)
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 13020
typedef enum CUstreamCigDataType_enum CUSHIM_ENUM_BASE {
    STREAM_CIG_DATA_TYPE_D3D12_COMMAND_LIST = 1
} CUstreamCigDataType;

typedef struct CUstreamCigParam_st {
    CUstreamCigDataType streamSharedDataType;
    void *streamSharedData;
} CUstreamCigParam;

/* The parameters are the caller's. */
typedef struct CUstreamCigCaptureParams_st {
    CUstreamCigParam *streamCigParams;
} CUstreamCigCaptureParams;

/* From a registration to its deregistration. */
typedef struct CUcoredumpCallbackEntry_st *CUcoredumpCallbackHandle;

typedef void(CUDA_CB *CUcoredumpStatusCallback)(void *userData, int pid, CUdevice dev);

/* How the thread waits that runs a host function: values of syncMode. */
typedef enum CUhostTaskSyncMode_enum CUSHIM_ENUM_BASE {
    CU_HOST_TASK_BLOCKING = 0,
    CU_HOST_TASK_SPINWAIT = 1
} CUhostTaskSyncMode;

typedef enum CUlaunchAttributePortableClusterMode_enum CUSHIM_ENUM_BASE {
    CU_LAUNCH_PORTABLE_CLUSTER_MODE_DEFAULT = 0,
    CU_LAUNCH_PORTABLE_CLUSTER_MODE_REQUIRE_PORTABLE = 1,
    CU_LAUNCH_PORTABLE_CLUSTER_MODE_ALLOW_NON_PORTABLE = 2
} CUlaunchAttributePortableClusterMode;

typedef enum CUsharedMemoryMode_enum CUSHIM_ENUM_BASE {
    CU_SHARED_MEMORY_MODE_DEFAULT = 0,
    CU_SHARED_MEMORY_MODE_REQUIRE_PORTABLE = 1,
    CU_SHARED_MEMORY_MODE_ALLOW_NON_PORTABLE = 2
} CUsharedMemoryMode;

#    define CU_LAUNCH_ATTRIBUTE_PORTABLE_CLUSTER_SIZE_MODE ((CUlaunchAttributeID)17)
#    define CU_LAUNCH_ATTRIBUTE_SHARED_MEMORY_MODE ((CUlaunchAttributeID)18)
#    define CU_GRAPH_CHILD_GRAPH_OWNERSHIP_INVALID ((CUgraphChildGraphNodeOwnership)-1)
#    define CU_MEM_LOCATION_TYPE_INVISIBLE ((CUmemLocationType)5)
#    define CU_MEMPOOL_ATTR_ALLOCATION_TYPE ((CUmemPool_attribute)9)
#    define CU_MEMPOOL_ATTR_EXPORT_HANDLE_TYPES ((CUmemPool_attribute)10)
#    define CU_MEMPOOL_ATTR_LOCATION_ID ((CUmemPool_attribute)11)
#    define CU_MEMPOOL_ATTR_LOCATION_TYPE ((CUmemPool_attribute)12)
#    define CU_MEMPOOL_ATTR_MAX_POOL_SIZE ((CUmemPool_attribute)13)
#    define CU_MEMPOOL_ATTR_HW_DECOMPRESS_ENABLED ((CUmemPool_attribute)14)
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 13030
/* A number that a process reserves, and that names an endpoint once one is created or imported under it. */
typedef cuuint32_t CUlogicalEndpointId;

typedef enum CUlogicalEndpointIpcHandleType_enum CUSHIM_ENUM_BASE {
    CU_LOGICAL_ENDPOINT_IPC_HANDLE_TYPE_NONE = 0,
    CU_LOGICAL_ENDPOINT_IPC_HANDLE_TYPE_FABRIC = 1
} CUlogicalEndpointIpcHandleType;

typedef enum CUlogicalEndpointType_enum CUSHIM_ENUM_BASE {
    CU_LOGICAL_ENDPOINT_TYPE_INVALID = 0,
    CU_LOGICAL_ENDPOINT_TYPE_UNICAST = 1,
    CU_LOGICAL_ENDPOINT_TYPE_MULTICAST = 2
} CUlogicalEndpointType;

/* Bits of CUlogicalEndpointProp.flags. */
typedef enum CUlogicalEndpointFlag_enum CUSHIM_ENUM_BASE {
    CU_LOGICAL_ENDPOINT_FLAG_NONE = 0,
    CU_LOGICAL_ENDPOINT_FLAG_COUNTED_OPS = 1
} CUlogicalEndpointFlag;

typedef struct CUlogicalEndpointFabricHandle_st {
    unsigned char data[64];
} CUlogicalEndpointFabricHandle;

/* The members of CUlogicalEndpointProp for the two types: C++ allows no types within an unnamed union. */
struct cushim_endpoint_unicast {
    CUdevice device;
};

struct cushim_endpoint_multicast {
    unsigned int numDevices;
};

/* size in bytes; ipcHandleTypes is a mask of CUlogicalEndpointIpcHandleType. */
typedef struct CUlogicalEndpointProp_struct {
    CUlogicalEndpointType type;
    union {
        struct cushim_endpoint_unicast unicast;
        struct cushim_endpoint_multicast multicast;
    };
    unsigned long long size;
    unsigned int ipcHandleTypes;
    unsigned int flags;
} CUlogicalEndpointProp;

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

#    define CU_DEVICE_ATTRIBUTE_D3D12_CIG_STREAMS_SUPPORTED ((CUdevice_attribute)151)
#    define CU_DEVICE_ATTRIBUTE_DMA_BUF_MMAP_SUPPORTED ((CUdevice_attribute)152)
#    define CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_UNICAST_SUPPORTED ((CUdevice_attribute)153)
#    define CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_MULTICAST_SUPPORTED ((CUdevice_attribute)154)
#    define CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_COUNTED_OPS_SUPPORTED ((CUdevice_attribute)155)
#    define CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_UNICAST_ACCESS_ON_OWNER_DEVICE_SUPPORTED ((CUdevice_attribute)156)
#    define CU_GRAPH_NODE_TYPE_RESERVED_16 ((CUgraphNodeType)16)
#    define CU_GREEN_CTX_NONE ((CUgreenCtxCreate_flags)0)
#    define CU_FUNC_ATTRIBUTE_DEVICE_NODE_UPDATE_SUPPORTED ((CUfunction_attribute)16)
#    define CU_COREDUMP_FAULTED_CONTEXTS_ONLY ((CUCoredumpGenerationFlags)0x80)
#    define CU_COREDUMP_NO_ERRBAR_AT_EXIT ((CUCoredumpGenerationFlags)0x40000000)
#    define CU_COREDUMP_LOG_ONLY ((CUCoredumpGenerationFlags)(-0x7fffffff - 1)) /* bit 31 */
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 13040
typedef struct CUIcheckpointOperation_st *CUcheckpointOperationHandle;

/* A part of the memory of a device, to be copied in the stream. */
typedef struct CUcheckpointCustomStoragePerDeviceData_st {
    CUdeviceptr devPtr;
    size_t size;
    CUstream stream;
} CUcheckpointCustomStoragePerDeviceData;

/* The part of a checkpoint or restore that the caller stores. The driver owns the memory until
 * cuCheckpointOperationComplete. */
typedef struct CUcheckpointCustomStorageInfo_st {
    CUcheckpointOperationHandle handle;
    CUcheckpointCustomStoragePerDeviceData *perDeviceData;
    unsigned int deviceCount;
} CUcheckpointCustomStorageInfo;

/* The devices of a clique reach each other in this way. */
typedef enum CUcliqueType_enum CUSHIM_ENUM_BASE {
    CU_CLIQUE_TYPE_UNICAST_POINTER = 0,
    CU_CLIQUE_TYPE_MULTICAST_POINTER = 1,
    CU_CLIQUE_TYPE_UNICAST_LOGICAL_ENDPOINT = 2,
    CU_CLIQUE_TYPE_MULTICAST_LOGICAL_ENDPOINT = 3
} CUcliqueType;

typedef struct CUcliqueInfo_st {
    CUcliqueType type;
    unsigned int id;
} CUcliqueInfo;

#    define CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID ((CUdevSmResourceGroup_flags)2)
#    define CU_DEVICE_ATTRIBUTE_LOCALITY_DOMAIN_COUNT ((CUdevice_attribute)149)
#    define CU_DEVICE_ATTRIBUTE_MAX_OVERSIZED_SHARED_MEMORY_PER_BLOCK ((CUdevice_attribute)150)
#    define CU_DEVICE_ATTRIBUTE_LOCALITY_DOMAIN_MULTIPROCESSOR_COUNT ((CUdevice_attribute)157)
#    define CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_LOCALIZED_MEMORY_SUPPORTED ((CUdevice_attribute)161)
#    define CU_MEM_CREATE_USAGE_GPU_DIRECT_RDMA_OVER_PCIE 0x4
#    define CU_SHARED_MEMORY_MODE_ALLOW_OVERSIZED_SHARED_MEMORY ((CUsharedMemoryMode)3)
#    define CU_FUNC_ATTRIBUTE_SHARED_MEMORY_MODE ((CUfunction_attribute)17)
#    define CU_PROCESS_STATE_CHECKPOINTING ((CUprocessState)4)
#    define CU_PROCESS_STATE_RESTORING ((CUprocessState)5)
#endif

#endif
