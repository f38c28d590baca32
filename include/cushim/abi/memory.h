/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The driver's types and constants: memory: arrays, copies, pools, virtual memory and pointer attributes.
 *
 * cuda_abi.h includes this header and describes where the declarations come from. NVIDIA's manual explains them. The
 * comments here state only units and ownership that a name does not show.
 */
#ifndef CUSHIM_ABI_MEMORY_H
#define CUSHIM_ABI_MEMORY_H

#include "cushim/abi/mode.h"
#include "cushim/abi/handles.h"

#if CUSHIM_CUDA_HEADER_VERSION == 0
/* Flags of cuMemHostAlloc. */
#    define CU_MEMHOSTALLOC_PORTABLE 0x01
#    define CU_MEMHOSTALLOC_DEVICEMAP 0x02
#    define CU_MEMHOSTALLOC_WRITECOMBINED 0x04

/* Flags of cuMemHostRegister. */
#    define CU_MEMHOSTREGISTER_PORTABLE 0x01
#    define CU_MEMHOSTREGISTER_DEVICEMAP 0x02
#    define CU_MEMHOSTREGISTER_IOMEMORY 0x04
#    define CU_MEMHOSTREGISTER_READ_ONLY 0x08

/* Also values of CU_POINTER_ATTRIBUTE_MEMORY_TYPE. */
typedef enum CUmemorytype_enum CUSHIM_ENUM_BASE {
    CU_MEMORYTYPE_HOST = 1,
    CU_MEMORYTYPE_DEVICE = 2,
    CU_MEMORYTYPE_ARRAY = 3,
    CU_MEMORYTYPE_UNIFIED = 4
} CUmemorytype;

typedef enum CUarray_format_enum CUSHIM_ENUM_BASE {
    CU_AD_FORMAT_UNSIGNED_INT8 = 1,
    CU_AD_FORMAT_UNSIGNED_INT16 = 2,
    CU_AD_FORMAT_UNSIGNED_INT32 = 3,
    CU_AD_FORMAT_SIGNED_INT8 = 8,
    CU_AD_FORMAT_SIGNED_INT16 = 9,
    CU_AD_FORMAT_SIGNED_INT32 = 10,
    CU_AD_FORMAT_HALF = 16,
    CU_AD_FORMAT_FLOAT = 32,
    CU_AD_FORMAT_NV12 = 176
} CUarray_format;

/* The layers of a CUarray that is a cubemap. */
typedef enum CUarray_cubemap_face_enum CUSHIM_ENUM_BASE {
    CU_CUBEMAP_FACE_POSITIVE_X = 0,
    CU_CUBEMAP_FACE_NEGATIVE_X = 1,
    CU_CUBEMAP_FACE_POSITIVE_Y = 2,
    CU_CUBEMAP_FACE_NEGATIVE_Y = 3,
    CU_CUBEMAP_FACE_POSITIVE_Z = 4,
    CU_CUBEMAP_FACE_NEGATIVE_Z = 5
} CUarray_cubemap_face;

/* Width and height are in elements; NumChannels is 1, 2 or 4. */
typedef struct CUDA_ARRAY_DESCRIPTOR_st {
    size_t Width;
    size_t Height;
    CUarray_format Format;
    unsigned int NumChannels;
} CUDA_ARRAY_DESCRIPTOR;

/* Sizes are in elements; NumChannels is 1, 2 or 4. A height or depth of 0 reduces the number of dimensions. */
typedef struct CUDA_ARRAY3D_DESCRIPTOR_st {
    size_t Width;
    size_t Height;
    size_t Depth;
    CUarray_format Format;
    unsigned int NumChannels;
    unsigned int Flags;
} CUDA_ARRAY3D_DESCRIPTOR;

/* Bits of CUDA_ARRAY3D_DESCRIPTOR.Flags. */
#    define CUDA_ARRAY3D_LAYERED 0x01
#    define CUDA_ARRAY3D_2DARRAY 0x01
#    define CUDA_ARRAY3D_SURFACE_LDST 0x02
#    define CUDA_ARRAY3D_CUBEMAP 0x04
#    define CUDA_ARRAY3D_TEXTURE_GATHER 0x08
#    define CUDA_ARRAY3D_DEPTH_TEXTURE 0x10
#    define CUDA_ARRAY3D_COLOR_ATTACHMENT 0x20
#    define CUDA_ARRAY3D_SPARSE 0x40
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 11060
/* A bit of CUDA_ARRAY3D_DESCRIPTOR.Flags. */
#    define CUDA_ARRAY3D_DEFERRED_MAPPING 0x80
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12050
/* A bit of CUDA_ARRAY3D_DESCRIPTOR.Flags. */
#    define CUDA_ARRAY3D_VIDEO_ENCODE_DECODE 0x100
#endif

#if CUSHIM_CUDA_HEADER_VERSION == 0
/* Offsets, pitches and widths are in bytes, heights in rows. On each side the memory type names the valid member. */
typedef struct CUDA_MEMCPY2D_st {
    size_t srcXInBytes;
    size_t srcY;
    CUmemorytype srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    CUarray srcArray;
    size_t srcPitch;
    size_t dstXInBytes;
    size_t dstY;
    CUmemorytype dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    CUarray dstArray;
    size_t dstPitch;
    size_t WidthInBytes;
    size_t Height;
} CUDA_MEMCPY2D;

/* As in CUDA_MEMCPY2D; depths are in slices. The reserved members and the LODs must be 0. */
typedef struct CUDA_MEMCPY3D_st {
    size_t srcXInBytes;
    size_t srcY;
    size_t srcZ;
    size_t srcLOD;
    CUmemorytype srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    CUarray srcArray;
    void *reserved0;
    size_t srcPitch;
    size_t srcHeight;
    size_t dstXInBytes;
    size_t dstY;
    size_t dstZ;
    size_t dstLOD;
    CUmemorytype dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    CUarray dstArray;
    void *reserved1;
    size_t dstPitch;
    size_t dstHeight;
    size_t WidthInBytes;
    size_t Height;
    size_t Depth;
} CUDA_MEMCPY3D;

/* A copy between two contexts. */
typedef struct CUDA_MEMCPY3D_PEER_st {
    size_t srcXInBytes;
    size_t srcY;
    size_t srcZ;
    size_t srcLOD;
    CUmemorytype srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    CUarray srcArray;
    CUcontext srcContext;
    size_t srcPitch;
    size_t srcHeight;
    size_t dstXInBytes;
    size_t dstY;
    size_t dstZ;
    size_t dstLOD;
    CUmemorytype dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    CUarray dstArray;
    CUcontext dstContext;
    size_t dstPitch;
    size_t dstHeight;
    size_t WidthInBytes;
    size_t Height;
    size_t Depth;
} CUDA_MEMCPY3D_PEER;

/* The location of memory. id is a device ordinal or a NUMA node, depending on type. The types are also values of
 * CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE and CU_MEMPOOL_ATTR_LOCATION_TYPE. */
typedef enum CUmemLocationType_enum CUSHIM_ENUM_BASE {
    CU_MEM_LOCATION_TYPE_INVALID = 0,
    CU_MEM_LOCATION_TYPE_DEVICE = 1,
    CU_MEM_LOCATION_TYPE_MAX = 0x7fffffff
} CUmemLocationType;

/* A part of the memory of a device. */
struct cushim_mem_location_localized {
    unsigned char deviceId;
    unsigned char localityDomainId;
};

typedef struct CUmemLocation_st {
    CUmemLocationType type;
    union {
        int id;
        struct cushim_mem_location_localized localized;
    };
} CUmemLocation;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12080
/* Bits of CUmemcpyAttributes.flags and of CUDA_MEMCPY3D_BATCH_OP.flags. */
typedef enum CUmemcpyFlags_enum CUSHIM_ENUM_BASE {
    CU_MEMCPY_FLAG_DEFAULT = 0x0,
    CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE = 0x1
} CUmemcpyFlags;

/* The time at which the source of a batched copy may be read. */
typedef enum CUmemcpySrcAccessOrder_enum CUSHIM_ENUM_BASE {
    CU_MEMCPY_SRC_ACCESS_ORDER_INVALID = 0,
    CU_MEMCPY_SRC_ACCESS_ORDER_STREAM = 1,
    CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL = 2,
    CU_MEMCPY_SRC_ACCESS_ORDER_ANY = 3,
    CU_MEMCPY_SRC_ACCESS_ORDER_MAX = 0x7fffffff
} CUmemcpySrcAccessOrder;

typedef struct CUmemcpyAttributes_st {
    CUmemcpySrcAccessOrder srcAccessOrder;
    CUmemLocation srcLocHint;
    CUmemLocation dstLocHint;
    unsigned int flags;
} CUmemcpyAttributes;

/* Which member of a CUmemcpy3DOperand is valid. */
typedef enum CUmemcpy3DOperandType_enum CUSHIM_ENUM_BASE {
    CU_MEMCPY_OPERAND_TYPE_POINTER = 0x1,
    CU_MEMCPY_OPERAND_TYPE_ARRAY = 0x2,
    CU_MEMCPY_OPERAND_TYPE_MAX = 0x7fffffff
} CUmemcpy3DOperandType;

/* Elements of an array; of a pointer, bytes, rows and slices. */
typedef struct CUoffset3D_st {
    size_t x;
    size_t y;
    size_t z;
} CUoffset3D;

typedef struct CUextent3D_st {
    size_t width;
    size_t height;
    size_t depth;
} CUextent3D;

/* One side of a copy. A rowLength or layerHeight of 0 is that of the extent. */
typedef struct CUmemcpy3DOperand_st {
    CUmemcpy3DOperandType type;
    union {
        struct {
            CUdeviceptr ptr;
            size_t rowLength;
            size_t layerHeight;
            CUmemLocation locHint;
        } ptr;
        struct {
            CUarray array;
            CUoffset3D offset;
        } array;
    } op;
} CUmemcpy3DOperand;

typedef struct CUDA_MEMCPY3D_BATCH_OP_st {
    CUmemcpy3DOperand src;
    CUmemcpy3DOperand dst;
    CUextent3D extent;
    CUmemcpySrcAccessOrder srcAccessOrder;
    unsigned int flags;
} CUDA_MEMCPY3D_BATCH_OP;

typedef enum CUmemDecompressAlgorithm_enum CUSHIM_ENUM_BASE {
    CU_MEM_DECOMPRESS_UNSUPPORTED = 0,
    CU_MEM_DECOMPRESS_ALGORITHM_DEFLATE = 1,
    CU_MEM_DECOMPRESS_ALGORITHM_SNAPPY = 2
} CUmemDecompressAlgorithm;

/* Sizes are in bytes. The device writes the size after decompression to *dstActBytes. */
typedef struct CUmemDecompressParams_st {
    size_t srcNumBytes;
    size_t dstNumBytes;
    cuuint32_t *dstActBytes;
    const void *src;
    void *dst;
    CUmemDecompressAlgorithm algo;
    unsigned char padding[20];
} CUmemDecompressParams;
#endif

#if CUSHIM_CUDA_HEADER_VERSION == 0
typedef enum CUresourcetype_enum CUSHIM_ENUM_BASE {
    CU_RESOURCE_TYPE_ARRAY = 0,
    CU_RESOURCE_TYPE_MIPMAPPED_ARRAY = 1,
    CU_RESOURCE_TYPE_LINEAR = 2,
    CU_RESOURCE_TYPE_PITCH2D = 3
} CUresourcetype;

typedef enum CUmem_advise_enum CUSHIM_ENUM_BASE {
    CU_MEM_ADVISE_SET_READ_MOSTLY = 1,
    CU_MEM_ADVISE_UNSET_READ_MOSTLY = 2,
    CU_MEM_ADVISE_SET_PREFERRED_LOCATION = 3,
    CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION = 4,
    CU_MEM_ADVISE_SET_ACCESSED_BY = 5,
    CU_MEM_ADVISE_UNSET_ACCESSED_BY = 6
} CUmem_advise;

typedef enum CUmem_range_attribute_enum CUSHIM_ENUM_BASE {
    CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY = 1,
    CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION = 2,
    CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY = 3,
    CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION = 4
} CUmem_range_attribute;

typedef enum CUpointer_attribute_enum CUSHIM_ENUM_BASE {
    CU_POINTER_ATTRIBUTE_CONTEXT = 1,
    CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
    CU_POINTER_ATTRIBUTE_DEVICE_POINTER = 3,
    CU_POINTER_ATTRIBUTE_HOST_POINTER = 4,
    CU_POINTER_ATTRIBUTE_P2P_TOKENS = 5,
    CU_POINTER_ATTRIBUTE_SYNC_MEMOPS = 6,
    CU_POINTER_ATTRIBUTE_BUFFER_ID = 7,
    CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
    CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE = 10,
    CU_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11,
    CU_POINTER_ATTRIBUTE_RANGE_SIZE = 12,
    CU_POINTER_ATTRIBUTE_MAPPED = 13,
    CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES = 14,
    CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE = 15,
    CU_POINTER_ATTRIBUTE_ACCESS_FLAGS = 16
} CUpointer_attribute;

/* cuPointerGetAttribute: the value of CU_POINTER_ATTRIBUTE_P2P_TOKENS. */
typedef struct CUDA_POINTER_ATTRIBUTE_P2P_TOKENS_st {
    unsigned long long p2pToken;
    unsigned int vaSpaceToken;
} CUDA_POINTER_ATTRIBUTE_P2P_TOKENS;

/* Values of CU_POINTER_ATTRIBUTE_ACCESS_FLAGS. */
typedef enum CUDA_POINTER_ATTRIBUTE_ACCESS_FLAGS_enum CUSHIM_ENUM_BASE {
    CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE = 0x0,
    CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ = 0x1,
    CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE = 0x3
} CUDA_POINTER_ATTRIBUTE_ACCESS_FLAGS;
#endif

/* Enumerators that a later CUDA version added to their enum. */
#if CUSHIM_CUDA_HEADER_VERSION < 11030
#    define CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE ((CUpointer_attribute)17)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 11050
#    define CU_AD_FORMAT_UNORM_INT8X1 ((CUarray_format)192)
#    define CU_AD_FORMAT_UNORM_INT8X2 ((CUarray_format)193)
#    define CU_AD_FORMAT_UNORM_INT8X4 ((CUarray_format)194)
#    define CU_AD_FORMAT_UNORM_INT16X1 ((CUarray_format)195)
#    define CU_AD_FORMAT_UNORM_INT16X2 ((CUarray_format)196)
#    define CU_AD_FORMAT_UNORM_INT16X4 ((CUarray_format)197)
#    define CU_AD_FORMAT_SNORM_INT8X1 ((CUarray_format)198)
#    define CU_AD_FORMAT_SNORM_INT8X2 ((CUarray_format)199)
#    define CU_AD_FORMAT_SNORM_INT8X4 ((CUarray_format)200)
#    define CU_AD_FORMAT_SNORM_INT16X1 ((CUarray_format)201)
#    define CU_AD_FORMAT_SNORM_INT16X2 ((CUarray_format)202)
#    define CU_AD_FORMAT_SNORM_INT16X4 ((CUarray_format)203)
#    define CU_AD_FORMAT_BC1_UNORM ((CUarray_format)145)
#    define CU_AD_FORMAT_BC1_UNORM_SRGB ((CUarray_format)146)
#    define CU_AD_FORMAT_BC2_UNORM ((CUarray_format)147)
#    define CU_AD_FORMAT_BC2_UNORM_SRGB ((CUarray_format)148)
#    define CU_AD_FORMAT_BC3_UNORM ((CUarray_format)149)
#    define CU_AD_FORMAT_BC3_UNORM_SRGB ((CUarray_format)150)
#    define CU_AD_FORMAT_BC4_UNORM ((CUarray_format)151)
#    define CU_AD_FORMAT_BC4_SNORM ((CUarray_format)152)
#    define CU_AD_FORMAT_BC5_UNORM ((CUarray_format)153)
#    define CU_AD_FORMAT_BC5_SNORM ((CUarray_format)154)
#    define CU_AD_FORMAT_BC6H_UF16 ((CUarray_format)155)
#    define CU_AD_FORMAT_BC6H_SF16 ((CUarray_format)156)
#    define CU_AD_FORMAT_BC7_UNORM ((CUarray_format)157)
#    define CU_AD_FORMAT_BC7_UNORM_SRGB ((CUarray_format)158)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 11070
#    define CU_POINTER_ATTRIBUTE_MAPPING_SIZE ((CUpointer_attribute)18)
#    define CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR ((CUpointer_attribute)19)
#    define CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID ((CUpointer_attribute)20)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 12020
#    define CU_MEM_LOCATION_TYPE_HOST ((CUmemLocationType)2)
#    define CU_MEM_LOCATION_TYPE_HOST_NUMA ((CUmemLocationType)3)
#    define CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT ((CUmemLocationType)4)
#    define CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE ((CUmem_range_attribute)5)
#    define CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID ((CUmem_range_attribute)6)
#    define CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE ((CUmem_range_attribute)7)
#    define CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID ((CUmem_range_attribute)8)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 12050
#    define CU_AD_FORMAT_P010 ((CUarray_format)159)
#    define CU_AD_FORMAT_P016 ((CUarray_format)161)
#    define CU_AD_FORMAT_NV16 ((CUarray_format)162)
#    define CU_AD_FORMAT_P210 ((CUarray_format)163)
#    define CU_AD_FORMAT_P216 ((CUarray_format)164)
#    define CU_AD_FORMAT_YUY2 ((CUarray_format)165)
#    define CU_AD_FORMAT_Y210 ((CUarray_format)166)
#    define CU_AD_FORMAT_Y216 ((CUarray_format)167)
#    define CU_AD_FORMAT_AYUV ((CUarray_format)168)
#    define CU_AD_FORMAT_Y410 ((CUarray_format)169)
#    define CU_AD_FORMAT_Y416 ((CUarray_format)177)
#    define CU_AD_FORMAT_Y444_PLANAR8 ((CUarray_format)178)
#    define CU_AD_FORMAT_Y444_PLANAR10 ((CUarray_format)179)
#    define CU_AD_FORMAT_MAX ((CUarray_format)0x7fffffff)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 12080
#    define CU_AD_FORMAT_YUV444_8bit_SemiPlanar ((CUarray_format)180)
#    define CU_AD_FORMAT_YUV444_16bit_SemiPlanar ((CUarray_format)181)
#    define CU_AD_FORMAT_UNORM_INT_101010_2 ((CUarray_format)80)
#    define CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE ((CUpointer_attribute)21)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 12090
#    define CU_MEM_DECOMPRESS_ALGORITHM_LZ4 ((CUmemDecompressAlgorithm)4)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 13000
#    define CU_MEM_LOCATION_TYPE_NONE ((CUmemLocationType)0)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 13010
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
#    define CU_MEM_LOCATION_TYPE_INVISIBLE ((CUmemLocationType)5)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 13040
#    define CU_POINTER_ATTRIBUTE_LOCALITY_DOMAIN_ORDINAL ((CUpointer_attribute)22)
#    define CU_MEM_LOCATION_TYPE_DEVICE_LOCALITY_DOMAIN ((CUmemLocationType)6)
#endif

#endif
