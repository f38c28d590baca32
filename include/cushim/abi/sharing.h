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

/* Bits of the usage members. */
#    define CU_MEM_CREATE_USAGE_TILE_POOL 0x1
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12080
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
    unsigned char reserved[54];
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
/* The size in bytes of each of the two handles that processes exchange. */
#    define CU_IPC_HANDLE_SIZE 64

typedef struct CUipcEventHandle_st {
    char reserved[64];
} CUipcEventHandle;
typedef struct CUipcMemHandle_st {
    char reserved[64];
} CUipcMemHandle;

typedef enum CUipcMem_flags_enum CUSHIM_ENUM_BASE { CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS = 0x1 } CUipcMem_flags;
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

#endif
