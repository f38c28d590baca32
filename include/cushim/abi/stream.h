/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The driver's types and constants: streams, events, capture and memory operations.
 *
 * cuda_abi.h includes this header and describes where the declarations come from. NVIDIA's manual explains them. The
 * comments here state only units and ownership that a name does not show.
 */
#ifndef CUSHIM_ABI_STREAM_H
#define CUSHIM_ABI_STREAM_H

#include "cushim/abi/mode.h"
#include "cushim/abi/handles.h"
#include "cushim/abi/result.h"

#if CUSHIM_CUDA_HEADER_VERSION == 0
/* The two special streams. They always exist and cannot be destroyed. */
#    define CU_STREAM_LEGACY ((CUstream)0x1)
#    define CU_STREAM_PER_THREAD ((CUstream)0x2)

/* Flags of cuStreamCreate, cuStreamCreateWithPriority and cuGreenCtxStreamCreate. */
typedef enum CUstream_flags_enum CUSHIM_ENUM_BASE {
    CU_STREAM_DEFAULT = 0x0,
    CU_STREAM_NON_BLOCKING = 0x1
} CUstream_flags;

/* Runs on a thread of the driver and must not call the driver. */
typedef void(CUDA_CB *CUstreamCallback)(CUstream hStream, CUresult status, void *userData);

/* Runs on a thread of the driver and must not call the driver. */
typedef void(CUDA_CB *CUhostFn)(void *userData);

typedef enum CUstreamCaptureStatus_enum CUSHIM_ENUM_BASE {
    CU_STREAM_CAPTURE_STATUS_NONE = 0,
    CU_STREAM_CAPTURE_STATUS_ACTIVE = 1,
    CU_STREAM_CAPTURE_STATUS_INVALIDATED = 2
} CUstreamCaptureStatus;

/* Where calls that could disturb a capture are refused: in every thread, in this thread, or nowhere. */
typedef enum CUstreamCaptureMode_enum CUSHIM_ENUM_BASE {
    CU_STREAM_CAPTURE_MODE_GLOBAL = 0,
    CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1,
    CU_STREAM_CAPTURE_MODE_RELAXED = 2
} CUstreamCaptureMode;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 13020
/* How the thread waits that runs a host function: a parameter of cuLaunchHostFunc_v2, and the member syncMode of
 * CUDA_HOST_NODE_PARAMS_v2. */
typedef enum CUhostTaskSyncMode_enum CUSHIM_ENUM_BASE {
    CU_HOST_TASK_BLOCKING = 0,
    CU_HOST_TASK_SPINWAIT = 1
} CUhostTaskSyncMode;

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
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 11030
/* Flags of cuStreamUpdateCaptureDependencies. */
typedef enum CUstreamUpdateCaptureDependencies_flags_enum CUSHIM_ENUM_BASE {
    CU_STREAM_ADD_CAPTURE_DEPENDENCIES = 0x0,
    CU_STREAM_SET_CAPTURE_DEPENDENCIES = 0x1
} CUstreamUpdateCaptureDependencies_flags;
#endif

#if CUSHIM_CUDA_HEADER_VERSION == 0
/* Flags of cuEventCreate. */
typedef enum CUevent_flags_enum CUSHIM_ENUM_BASE {
    CU_EVENT_DEFAULT = 0x0,
    CU_EVENT_BLOCKING_SYNC = 0x1,
    CU_EVENT_DISABLE_TIMING = 0x2,
    CU_EVENT_INTERPROCESS = 0x4
} CUevent_flags;

/* Flags of cuEventRecordWithFlags. */
typedef enum CUevent_record_flags_enum CUSHIM_ENUM_BASE {
    CU_EVENT_RECORD_DEFAULT = 0x0,
    CU_EVENT_RECORD_EXTERNAL = 0x1
} CUevent_record_flags;

/* Flags of cuStreamWaitEvent. */
typedef enum CUevent_wait_flags_enum CUSHIM_ENUM_BASE {
    CU_EVENT_WAIT_DEFAULT = 0x0,
    CU_EVENT_WAIT_EXTERNAL = 0x1
} CUevent_wait_flags;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 11080
/* How a host thread waits for a CUevent. */
typedef enum CUevent_sched_flags_enum CUSHIM_ENUM_BASE {
    CU_EVENT_SCHED_AUTO = 0x0,
    CU_EVENT_SCHED_SPIN = 0x1,
    CU_EVENT_SCHED_YIELD = 0x2,
    CU_EVENT_SCHED_BLOCKING_SYNC = 0x4
} CUevent_sched_flags;
#endif

#if CUSHIM_CUDA_HEADER_VERSION == 0
/* Flags of cuMemAllocManaged and cuStreamAttachMemAsync: the streams that may access managed memory. */
typedef enum CUmemAttach_flags_enum CUSHIM_ENUM_BASE {
    CU_MEM_ATTACH_GLOBAL = 0x1,
    CU_MEM_ATTACH_HOST = 0x2,
    CU_MEM_ATTACH_SINGLE = 0x4
} CUmemAttach_flags;

/* Flags of cuStreamWaitValue32, cuStreamWaitValue64 and CUstreamBatchMemOpParams: one of the comparisons, or-ed with
 * FLUSH. */
typedef enum CUstreamWaitValue_flags_enum CUSHIM_ENUM_BASE {
    CU_STREAM_WAIT_VALUE_GEQ = 0x0,
    CU_STREAM_WAIT_VALUE_EQ = 0x1,
    CU_STREAM_WAIT_VALUE_AND = 0x2,
    CU_STREAM_WAIT_VALUE_NOR = 0x3,
    CU_STREAM_WAIT_VALUE_FLUSH = 0x40000000
} CUstreamWaitValue_flags;

/* Flags of cuStreamWriteValue32, cuStreamWriteValue64 and CUstreamBatchMemOpParams. */
typedef enum CUstreamWriteValue_flags_enum CUSHIM_ENUM_BASE {
    CU_STREAM_WRITE_VALUE_DEFAULT = 0x0,
    CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER = 0x1
} CUstreamWriteValue_flags;

typedef enum CUstreamBatchMemOpType_enum CUSHIM_ENUM_BASE {
    CU_STREAM_MEM_OP_WAIT_VALUE_32 = 1,
    CU_STREAM_MEM_OP_WRITE_VALUE_32 = 2,
    CU_STREAM_MEM_OP_WAIT_VALUE_64 = 4,
    CU_STREAM_MEM_OP_WRITE_VALUE_64 = 5,
    CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES = 3
} CUstreamBatchMemOpType;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 11070
/* Flags of CUstreamBatchMemOpParams.memoryBarrier. */
typedef enum CUstreamMemoryBarrier_flags_enum CUSHIM_ENUM_BASE {
    CU_STREAM_MEMORY_BARRIER_TYPE_SYS = 0x0,
    CU_STREAM_MEMORY_BARRIER_TYPE_GPU = 0x1
} CUstreamMemoryBarrier_flags;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 13010
typedef enum CUstreamAtomicReductionOpType_enum CUSHIM_ENUM_BASE {
    CU_STREAM_ATOMIC_REDUCTION_OP_ADD = 0,
    CU_STREAM_ATOMIC_REDUCTION_OP_AND = 5,
    CU_STREAM_ATOMIC_REDUCTION_OP_OR = 6
} CUstreamAtomicReductionOpType;

typedef enum CUstreamAtomicReductionDataType_enum CUSHIM_ENUM_BASE {
    CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_32 = 14,
    CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_64 = 22
} CUstreamAtomicReductionDataType;
#endif

#if CUSHIM_CUDA_HEADER_VERSION == 0
/* One operation of a batch. `operation` names the valid member. */
typedef union CUstreamBatchMemOpParams_union {
    CUstreamBatchMemOpType operation;
    struct CUstreamMemOpWaitValueParams_st {
        CUstreamBatchMemOpType operation;
        CUdeviceptr address;
        union {
            cuuint32_t value;
            cuuint64_t value64;
        };
        unsigned int flags;
        CUdeviceptr alias;
    } waitValue;
    struct CUstreamMemOpWriteValueParams_st {
        CUstreamBatchMemOpType operation;
        CUdeviceptr address;
        union {
            cuuint32_t value;
            cuuint64_t value64;
        };
        unsigned int flags;
        CUdeviceptr alias;
    } writeValue;
    struct CUstreamMemOpFlushRemoteWritesParams_st {
        CUstreamBatchMemOpType operation;
        unsigned int flags;
    } flushRemoteWrites;
    struct CUstreamMemOpMemoryBarrierParams_st {
        CUstreamBatchMemOpType operation;
        unsigned int flags;
    } memoryBarrier;
    struct CUstreamMemOpAtomicReductionParams_st {
        CUstreamBatchMemOpType operation;
        unsigned int flags;
        CUstreamAtomicReductionOpType reductionOp;
        CUstreamAtomicReductionDataType dataType;
        CUdeviceptr address;
        cuuint64_t value;
        CUdeviceptr alias;
    } atomicReduction;
    cuuint64_t pad[6];
} CUstreamBatchMemOpParams;

/* How a host thread waits for one stream. */
typedef enum CUsynchronizationPolicy_enum CUSHIM_ENUM_BASE {
    CU_SYNC_POLICY_AUTO = 1,
    CU_SYNC_POLICY_SPIN = 2,
    CU_SYNC_POLICY_YIELD = 3,
    CU_SYNC_POLICY_BLOCKING_SYNC = 4
} CUsynchronizationPolicy;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 11080
typedef enum CUclusterSchedulingPolicy_enum CUSHIM_ENUM_BASE {
    CU_CLUSTER_SCHEDULING_POLICY_DEFAULT = 0,
    CU_CLUSTER_SCHEDULING_POLICY_SPREAD = 1,
    CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING = 2
} CUclusterSchedulingPolicy;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12000
typedef enum CUlaunchMemSyncDomain_enum CUSHIM_ENUM_BASE {
    CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT = 0,
    CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE = 1
} CUlaunchMemSyncDomain;

/* The physical domain of each of the two logical domains. */
typedef struct CUlaunchMemSyncDomainMap_st {
    unsigned char default_;
    unsigned char remote;
} CUlaunchMemSyncDomainMap;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 13020
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
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 11080
/* Attributes of a launch, a stream or a kernel node. NVIDIA's manual says which attribute applies to which. */
typedef enum CUlaunchAttributeID_enum CUSHIM_ENUM_BASE {
    CU_LAUNCH_ATTRIBUTE_IGNORE = 0,
    CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW = 1,
    CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
    CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY = 3,
    CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
    CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 5,
    CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
    CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT = 7,
    CU_LAUNCH_ATTRIBUTE_PRIORITY = 8
} CUlaunchAttributeID;

/* 64 bytes on every driver from 11.8 on. entry_points.h uses this type where older headers had a shorter union. */
typedef union CUlaunchAttributeValue_union {
    char pad[64];
    CUaccessPolicyWindow accessPolicyWindow;
    int cooperative;
    CUsynchronizationPolicy syncPolicy;
    struct {
        unsigned int x;
        unsigned int y;
        unsigned int z;
    } clusterDim;
    CUclusterSchedulingPolicy clusterSchedulingPolicyPreference;
    int programmaticStreamSerializationAllowed;
    struct {
        CUevent event;
        int flags;
        int triggerAtBlockStart;
    } programmaticEvent;
    struct {
        CUevent event;
        int flags;
    } launchCompletionEvent;
    int priority;
    CUlaunchMemSyncDomainMap memSyncDomainMap;
    CUlaunchMemSyncDomain memSyncDomain;
    struct {
        unsigned int x;
        unsigned int y;
        unsigned int z;
    } preferredClusterDim;
    struct {
        int deviceUpdatable;
        CUgraphDeviceNode devNode;
    } deviceUpdatableKernelNode;
    unsigned int sharedMemCarveout;
    unsigned int nvlinkUtilCentricScheduling;
    CUlaunchAttributePortableClusterMode portableClusterSizeMode;
    CUsharedMemoryMode sharedMemoryMode;
} CUlaunchAttributeValue;

typedef struct CUlaunchAttribute_st {
    CUlaunchAttributeID id;
    char pad[8 - sizeof(CUlaunchAttributeID)];
    CUlaunchAttributeValue value;
} CUlaunchAttribute;
#endif

#if CUSHIM_CUDA_HEADER_VERSION == 0
/* CUDA 11.2 to 11.7 have separate, shorter enums for streams and nodes; the values are the same. */
typedef CUlaunchAttributeID CUstreamAttrID;

typedef CUlaunchAttributeValue CUstreamAttrValue;
typedef CUlaunchAttributeID CUkernelNodeAttrID;
typedef CUlaunchAttributeValue CUkernelNodeAttrValue;

/* The same attributes by the names that streams and kernel nodes use. */
#    define CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW ((CUstreamAttrID)CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW)
#    define CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY ((CUstreamAttrID)CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY)
#    define CU_KERNEL_NODE_ATTRIBUTE_ACCESS_POLICY_WINDOW ((CUkernelNodeAttrID)CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW)
#    define CU_KERNEL_NODE_ATTRIBUTE_COOPERATIVE ((CUkernelNodeAttrID)CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 11070
#    define CU_KERNEL_NODE_ATTRIBUTE_PRIORITY ((CUkernelNodeAttrID)CU_LAUNCH_ATTRIBUTE_PRIORITY)
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 11080
#    define CU_KERNEL_NODE_ATTRIBUTE_CLUSTER_DIMENSION ((CUkernelNodeAttrID)CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
#    define CU_KERNEL_NODE_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE                                              \
        ((CUkernelNodeAttrID)CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE)
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12000
#    define CU_STREAM_ATTRIBUTE_PRIORITY ((CUstreamAttrID)CU_LAUNCH_ATTRIBUTE_PRIORITY)
#    define CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP ((CUstreamAttrID)CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP)
#    define CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN ((CUstreamAttrID)CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN)
#    define CU_KERNEL_NODE_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP ((CUkernelNodeAttrID)CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP)
#    define CU_KERNEL_NODE_ATTRIBUTE_MEM_SYNC_DOMAIN ((CUkernelNodeAttrID)CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN)
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12040
#    define CU_KERNEL_NODE_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE                                                      \
        ((CUkernelNodeAttrID)CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12050
#    define CU_KERNEL_NODE_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT                                                  \
        ((CUkernelNodeAttrID)CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12080
#    define CU_KERNEL_NODE_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION                                                       \
        ((CUkernelNodeAttrID)CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION)
#endif

/* Enumerators that a later CUDA version added to their enum. */
#if CUSHIM_CUDA_HEADER_VERSION < 11070
#    define CU_STREAM_MEM_OP_BARRIER ((CUstreamBatchMemOpType)6)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 12000
#    define CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP ((CUlaunchAttributeID)9)
#    define CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN ((CUlaunchAttributeID)10)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 12030
#    define CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT ((CUlaunchAttributeID)12)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 12040
#    define CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE ((CUlaunchAttributeID)13)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 12050
#    define CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT ((CUlaunchAttributeID)14)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 12080
#    define CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION ((CUlaunchAttributeID)11)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 13000
#    define CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING ((CUlaunchAttributeID)16)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 13010
#    define CU_STREAM_MEM_OP_ATOMIC_REDUCTION ((CUstreamBatchMemOpType)8)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 13020
#    define CU_LAUNCH_ATTRIBUTE_PORTABLE_CLUSTER_SIZE_MODE ((CUlaunchAttributeID)17)
#    define CU_LAUNCH_ATTRIBUTE_SHARED_MEMORY_MODE ((CUlaunchAttributeID)18)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 13040
#    define CU_SHARED_MEMORY_MODE_ALLOW_OVERSIZED_SHARED_MEMORY ((CUsharedMemoryMode)3)
#    define CU_CLUSTER_SCHEDULING_POLICY_RUBIN_DSMEM_LOCALITY ((CUclusterSchedulingPolicy)3)
#    define CU_SHARED_MEMORY_MODE_PREFER_OVERSIZED_SHARED_MEMORY ((CUsharedMemoryMode)4)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 13050
#    define STREAM_CIG_DATA_TYPE_VULKAN_COMMAND_BUFFER_HANDLE_NV ((CUstreamCigDataType)2)
#endif

#endif
