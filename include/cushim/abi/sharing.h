/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The driver's types and constants: virtual memory, pools, sparse arrays, multicast, and memory shared between
 * processes.
 *
 * cuda_abi.h includes this header and describes where the declarations come from. NVIDIA's manual explains them. The
 * comments here state only units and ownership that a name does not show.
 */
#ifndef CUSHIM_ABI_SHARING_H
#define CUSHIM_ABI_SHARING_H

#include "cushim/abi/mode.h"
#include "cushim/abi/handles.h"
#include "cushim/abi/memory.h"

#if CUSHIM_CUDA_HEADER_VERSION == 0
/* How physical memory or a pool can be shared with another process. */
typedef enum CUmemAllocationHandleType_enum CUSHIM_ENUM_BASE {
    CU_MEM_HANDLE_TYPE_NONE = 0x0,
    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 0x1,
    CU_MEM_HANDLE_TYPE_WIN32 = 0x2,
    CU_MEM_HANDLE_TYPE_WIN32_KMT = 0x4,
    CU_MEM_HANDLE_TYPE_MAX = 0x7fffffff
} CUmemAllocationHandleType;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12030
/* A handle of CU_MEM_HANDLE_TYPE_FABRIC for cuMemExportToShareableHandle and cuMemImportFromShareableHandle. */
typedef struct CUmemFabricHandle_st {
    unsigned char data[64];
} CUmemFabricHandle;
#endif

#if CUSHIM_CUDA_HEADER_VERSION == 0
typedef enum CUmemAccess_flags_enum CUSHIM_ENUM_BASE {
    CU_MEM_ACCESS_FLAGS_PROT_NONE = 0x0,
    CU_MEM_ACCESS_FLAGS_PROT_READ = 0x1,
    CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 0x3,
    CU_MEM_ACCESS_FLAGS_PROT_MAX = 0x7fffffff
} CUmemAccess_flags;

typedef enum CUmemAllocationType_enum CUSHIM_ENUM_BASE {
    CU_MEM_ALLOCATION_TYPE_INVALID = 0,
    CU_MEM_ALLOCATION_TYPE_PINNED = 1,
    CU_MEM_ALLOCATION_TYPE_MAX = 0x7fffffff
} CUmemAllocationType;

typedef enum CUmemAllocationGranularity_flags_enum CUSHIM_ENUM_BASE {
    CU_MEM_ALLOC_GRANULARITY_MINIMUM = 0x0,
    CU_MEM_ALLOC_GRANULARITY_RECOMMENDED = 0x1
} CUmemAllocationGranularity_flags;

/* Values of compressionType in CUmemAllocationProp. */
typedef enum CUmemAllocationCompType_enum CUSHIM_ENUM_BASE {
    CU_MEM_ALLOCATION_COMP_NONE = 0,
    CU_MEM_ALLOCATION_COMP_GENERIC = 1
} CUmemAllocationCompType;

/* Members that are not used must be 0. win32HandleMetaData is only for Windows handles. */
typedef struct CUmemAllocationProp_st {
    CUmemAllocationType type;
    CUmemAllocationHandleType requestedHandleTypes;
    CUmemLocation location;
    void *win32HandleMetaData;
    struct {
        unsigned char compressionType;
        unsigned char gpuDirectRDMACapable;
        unsigned short usage;
        unsigned char reserved[4];
    } allocFlags;
} CUmemAllocationProp;

/* Bits of the usage members of CUmemAllocationProp and CUmemPoolProps. */
#    define CU_MEM_CREATE_USAGE_TILE_POOL 0x1
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12080
/* Bits of the usage members of CUmemAllocationProp and CUmemPoolProps. */
#    define CU_MEM_CREATE_USAGE_HW_DECOMPRESS 0x2
#    define CU_MEM_POOL_CREATE_USAGE_HW_DECOMPRESS 0x2
#endif

#if CUSHIM_CUDA_HEADER_VERSION == 0
typedef struct CUmemAccessDesc_st {
    CUmemLocation location;
    CUmemAccess_flags flags;
} CUmemAccessDesc;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 11070
typedef enum CUmemRangeHandleType_enum CUSHIM_ENUM_BASE {
    CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD = 1,
    CU_MEM_RANGE_HANDLE_TYPE_MAX = 0x7fffffff
} CUmemRangeHandleType;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12080
/* Flags of cuMemGetHandleForAddressRange. */
typedef enum CUmemRangeFlags_enum CUSHIM_ENUM_BASE {
    CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE = 0x1
} CUmemRangeFlags;
#endif

#if CUSHIM_CUDA_HEADER_VERSION == 0
/* A threshold or an amount of memory is a cuuint64_t, in bytes; every other value is an int. */
typedef enum CUmemPool_attribute_enum CUSHIM_ENUM_BASE {
    CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES = 1,
    CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC = 2,
    CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES = 3,
    CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4
} CUmemPool_attribute;

/* maxSize is in bytes; 0 leaves it to the driver. Reserved members must be 0: older drivers have fewer members. */
typedef struct CUmemPoolProps_st {
    CUmemAllocationType allocType;
    CUmemAllocationHandleType handleTypes;
    CUmemLocation location;
    void *win32SecurityAttributes;
    size_t maxSize;
    unsigned short usage;
    unsigned char gpuDirectRDMACapable;
    unsigned char reserved[53];
} CUmemPoolProps;

typedef struct CUmemPoolPtrExportData_st {
    unsigned char reserved[64];
} CUmemPoolPtrExportData;

typedef enum CUarraySparseSubresourceType_enum CUSHIM_ENUM_BASE {
    CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL = 0,
    CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL = 1
} CUarraySparseSubresourceType;

typedef enum CUmemOperationType_enum CUSHIM_ENUM_BASE {
    CU_MEM_OPERATION_TYPE_MAP = 1,
    CU_MEM_OPERATION_TYPE_UNMAP = 2
} CUmemOperationType;

typedef enum CUmemHandleType_enum CUSHIM_ENUM_BASE { CU_MEM_HANDLE_TYPE_GENERIC = 0 } CUmemHandleType;

/* Maps or unmaps tiles of a sparse array. */
typedef struct CUarrayMapInfo_st {
    CUresourcetype resourceType;
    union {
        CUmipmappedArray mipmap;
        CUarray array;
    } resource;
    CUarraySparseSubresourceType subresourceType;
    union {
        struct {
            unsigned int level;
            unsigned int layer;
            unsigned int offsetX;
            unsigned int offsetY;
            unsigned int offsetZ;
            unsigned int extentWidth;
            unsigned int extentHeight;
            unsigned int extentDepth;
        } sparseLevel;
        struct {
            unsigned int layer;
            unsigned long long offset;
            unsigned long long size;
        } miptail;
    } subresource;
    CUmemOperationType memOperationType;
    CUmemHandleType memHandleType;
    union {
        CUmemGenericAllocationHandle memHandle;
    } memHandle;
    unsigned long long offset;
    unsigned int deviceBitMask;
    unsigned int flags;
    unsigned int reserved[2];
} CUarrayMapInfo;

/* A bit of CUDA_ARRAY_SPARSE_PROPERTIES.flags. */
#    define CU_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL 0x1

/* The tiles of a sparse array, in elements; size of the mip tail in bytes. */
typedef struct CUDA_ARRAY_SPARSE_PROPERTIES_st {
    struct {
        unsigned int width;
        unsigned int height;
        unsigned int depth;
    } tileExtent;
    unsigned int miptailFirstLevel;
    unsigned long long miptailSize;
    unsigned int flags;
    unsigned int reserved[4];
} CUDA_ARRAY_SPARSE_PROPERTIES;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 11060
/* In bytes. */
typedef struct CUDA_ARRAY_MEMORY_REQUIREMENTS_st {
    size_t size;
    size_t alignment;
    unsigned int reserved[4];
} CUDA_ARRAY_MEMORY_REQUIREMENTS;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12010
typedef enum CUmulticastGranularity_flags_enum CUSHIM_ENUM_BASE {
    CU_MULTICAST_GRANULARITY_MINIMUM = 0x0,
    CU_MULTICAST_GRANULARITY_RECOMMENDED = 0x1
} CUmulticastGranularity_flags;

/* size is in bytes; handleTypes is a combination of CUmemAllocationHandleType bits. */
typedef struct CUmulticastObjectProp_st {
    unsigned int numDevices;
    size_t size;
    unsigned long long handleTypes;
    unsigned long long flags;
} CUmulticastObjectProp;
#endif

#if CUSHIM_CUDA_HEADER_VERSION == 0
/* The size in bytes of a CUipcEventHandle and of a CUipcMemHandle. */
#    define CU_IPC_HANDLE_SIZE 64

typedef struct CUipcEventHandle_st {
    char reserved[64];
} CUipcEventHandle;
typedef struct CUipcMemHandle_st {
    char reserved[64];
} CUipcMemHandle;

/* Flags of cuIpcOpenMemHandle. */
typedef enum CUipcMem_flags_enum CUSHIM_ENUM_BASE { CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS = 0x1 } CUipcMem_flags;
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

/* A handle for cuLogicalEndpointExport and cuLogicalEndpointImport. */
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
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 13050
/* One side of a copy over the fabric. `type` names the valid member; offset is in bytes. */
typedef enum CUfabricCpyOperandType_enum CUSHIM_ENUM_BASE {
    CU_FABRIC_COPY_OPERAND_TYPE_POINTER = 0x1,
    CU_FABRIC_COPY_OPERAND_TYPE_LOGICAL_ENDPOINT = 0x2,
    CU_FABRIC_COPY_OPERAND_TYPE_MAX = 0x7fffffff
} CUfabricCpyOperandType;

typedef struct CUfabricCpyOperand_st {
    CUfabricCpyOperandType type;
    union {
        struct {
            CUdeviceptr ptr;
            CUmemLocation locHint;
        } ptr;
        struct {
            CUlogicalEndpointId id;
            cuuint64_t offset;
        } le;
    } op;
} CUfabricCpyOperand;

/* size is in bytes. */
typedef struct CUDA_FABRIC_COPY_BATCH_OP_st {
    CUfabricCpyOperand src;
    CUfabricCpyOperand dst;
    size_t size;
    unsigned int flags;
} CUDA_FABRIC_COPY_BATCH_OP;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 13040
/* A bit of the usage member of CUmemAllocationProp. */
#    define CU_MEM_CREATE_USAGE_GPU_DIRECT_RDMA_OVER_PCIE 0x4
#endif

/* Enumerators that a later CUDA version added to their enum. */
#if CUSHIM_CUDA_HEADER_VERSION < 11030
#    define CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT ((CUmemPool_attribute)5)
#    define CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH ((CUmemPool_attribute)6)
#    define CU_MEMPOOL_ATTR_USED_MEM_CURRENT ((CUmemPool_attribute)7)
#    define CU_MEMPOOL_ATTR_USED_MEM_HIGH ((CUmemPool_attribute)8)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 12030
#    define CU_MEM_HANDLE_TYPE_FABRIC ((CUmemAllocationHandleType)0x8)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 13000
#    define CU_MEM_ALLOCATION_TYPE_MANAGED ((CUmemAllocationType)2)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 13020
#    define CU_MEMPOOL_ATTR_ALLOCATION_TYPE ((CUmemPool_attribute)9)
#    define CU_MEMPOOL_ATTR_EXPORT_HANDLE_TYPES ((CUmemPool_attribute)10)
#    define CU_MEMPOOL_ATTR_LOCATION_ID ((CUmemPool_attribute)11)
#    define CU_MEMPOOL_ATTR_LOCATION_TYPE ((CUmemPool_attribute)12)
#    define CU_MEMPOOL_ATTR_MAX_POOL_SIZE ((CUmemPool_attribute)13)
#    define CU_MEMPOOL_ATTR_HW_DECOMPRESS_ENABLED ((CUmemPool_attribute)14)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 13040
#    define CU_MEMPOOL_ATTR_LOCALITY_DOMAIN_ID ((CUmemPool_attribute)15)
#endif

#endif
