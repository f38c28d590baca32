/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The driver's types and constants: modules, linking, libraries, functions, launches and occupancy.
 *
 * cuda_abi.h includes this header and describes where the declarations come from. NVIDIA's manual explains them. The
 * comments here state only units and ownership that a name does not show.
 */
#ifndef CUSHIM_ABI_MODULE_H
#define CUSHIM_ABI_MODULE_H

#include "cushim/abi/mode.h"
#include "cushim/abi/handles.h"
#include "cushim/abi/stream.h"

#if CUSHIM_CUDA_HEADER_VERSION == 0
/* The value of an option is passed as a void *: a number is cast to it, a buffer is pointed to. */
typedef enum CUjit_option_enum CUSHIM_ENUM_BASE {
    CU_JIT_MAX_REGISTERS = 0,
    CU_JIT_THREADS_PER_BLOCK = 1,
    CU_JIT_WALL_TIME = 2,
    CU_JIT_INFO_LOG_BUFFER = 3,
    CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,
    CU_JIT_ERROR_LOG_BUFFER = 5,
    CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
    CU_JIT_OPTIMIZATION_LEVEL = 7,
    CU_JIT_TARGET_FROM_CUCONTEXT = 8,
    CU_JIT_TARGET = 9,
    CU_JIT_FALLBACK_STRATEGY = 10,
    CU_JIT_GENERATE_DEBUG_INFO = 11,
    CU_JIT_LOG_VERBOSE = 12,
    CU_JIT_GENERATE_LINE_INFO = 13,
    CU_JIT_CACHE_MODE = 14,
    CU_JIT_NEW_SM3X_OPT = 15,
    CU_JIT_FAST_COMPILE = 16,
    CU_JIT_GLOBAL_SYMBOL_NAMES = 17,
    CU_JIT_GLOBAL_SYMBOL_ADDRESSES = 18,
    CU_JIT_GLOBAL_SYMBOL_COUNT = 19,
    CU_JIT_NUM_OPTIONS = 36
} CUjit_option;

/* Values of CU_JIT_TARGET. */
typedef enum CUjit_target_enum CUSHIM_ENUM_BASE {
    CU_TARGET_COMPUTE_30 = 30,
    CU_TARGET_COMPUTE_32 = 32,
    CU_TARGET_COMPUTE_35 = 35,
    CU_TARGET_COMPUTE_37 = 37,
    CU_TARGET_COMPUTE_50 = 50,
    CU_TARGET_COMPUTE_52 = 52,
    CU_TARGET_COMPUTE_53 = 53,
    CU_TARGET_COMPUTE_60 = 60,
    CU_TARGET_COMPUTE_61 = 61,
    CU_TARGET_COMPUTE_62 = 62,
    CU_TARGET_COMPUTE_70 = 70,
    CU_TARGET_COMPUTE_72 = 72,
    CU_TARGET_COMPUTE_75 = 75,
    CU_TARGET_COMPUTE_80 = 80,
    CU_TARGET_COMPUTE_86 = 86
} CUjit_target;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12000
/* Added to a CUjit_target. */
#    define CU_COMPUTE_ACCELERATED_TARGET_BASE 0x10000
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12090
/* Added to a CUjit_target. */
#    define CU_COMPUTE_FAMILY_TARGET_BASE 0x20000
#endif

#if CUSHIM_CUDA_HEADER_VERSION == 0
/* Values of CU_JIT_FALLBACK_STRATEGY. */
typedef enum CUjit_fallback_enum CUSHIM_ENUM_BASE { CU_PREFER_PTX = 0, CU_PREFER_BINARY = 1 } CUjit_fallback;

/* Values of CU_JIT_CACHE_MODE. */
typedef enum CUjit_cacheMode_enum CUSHIM_ENUM_BASE {
    CU_JIT_CACHE_OPTION_NONE = 0,
    CU_JIT_CACHE_OPTION_CG = 1,
    CU_JIT_CACHE_OPTION_CA = 2
} CUjit_cacheMode;

typedef enum CUjitInputType_enum CUSHIM_ENUM_BASE {
    CU_JIT_INPUT_CUBIN = 0,
    CU_JIT_INPUT_PTX = 1,
    CU_JIT_INPUT_FATBINARY = 2,
    CU_JIT_INPUT_OBJECT = 3,
    CU_JIT_INPUT_LIBRARY = 4,
    CU_JIT_NUM_INPUT_TYPES = 6
} CUjitInputType;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12000
typedef enum CUlibraryOption_enum CUSHIM_ENUM_BASE {
    CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE = 0,
    CU_LIBRARY_BINARY_IS_PRESERVED = 1,
    CU_LIBRARY_NUM_OPTIONS = 2
} CUlibraryOption;

/* cuLibraryLoadData: the value of CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE. */
typedef struct CUlibraryHostUniversalFunctionAndDataTable_st {
    void *functionTable;
    size_t functionWindowSize;
    void *dataTable;
    size_t dataWindowSize;
} CUlibraryHostUniversalFunctionAndDataTable;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 11070
typedef enum CUmoduleLoadingMode_enum CUSHIM_ENUM_BASE {
    CU_MODULE_EAGER_LOADING = 1,
    CU_MODULE_LAZY_LOADING = 2
} CUmoduleLoadingMode;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12040
typedef enum CUfunctionLoadingState_enum CUSHIM_ENUM_BASE {
    CU_FUNCTION_LOADING_STATE_UNLOADED = 0,
    CU_FUNCTION_LOADING_STATE_LOADED = 1,
    CU_FUNCTION_LOADING_STATE_MAX = 2
} CUfunctionLoadingState;
#endif

#if CUSHIM_CUDA_HEADER_VERSION == 0
typedef enum CUfunction_attribute_enum CUSHIM_ENUM_BASE {
    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
    CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
    CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2,
    CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
    CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
    CU_FUNC_ATTRIBUTE_PTX_VERSION = 5,
    CU_FUNC_ATTRIBUTE_BINARY_VERSION = 6,
    CU_FUNC_ATTRIBUTE_CACHE_MODE_CA = 7,
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
    CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
    CU_FUNC_ATTRIBUTE_MAX = 18
} CUfunction_attribute;

/* Values of CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT. A percentage from 0 to 100 is also valid. */
typedef enum CUshared_carveout_enum {
    CU_SHAREDMEM_CARVEOUT_DEFAULT = -1,
    CU_SHAREDMEM_CARVEOUT_MAX_SHARED = 100,
    CU_SHAREDMEM_CARVEOUT_MAX_L1 = 0
} CUshared_carveout;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 11080
/* The grid is in blocks, blocks are in threads, sharedMemBytes is per block. attrs is used only during the call. */
typedef struct CUlaunchConfig_st {
    unsigned int gridDimX;
    unsigned int gridDimY;
    unsigned int gridDimZ;
    unsigned int blockDimX;
    unsigned int blockDimY;
    unsigned int blockDimZ;
    unsigned int sharedMemBytes;
    CUstream hStream;
    CUlaunchAttribute *attrs;
    unsigned int numAttrs;
} CUlaunchConfig;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12090
/* A grid dimension for cuLaunchKernel and cuLaunchKernelEx, with which the kernel itself determines the block size. */
#    define CU_LAUNCH_KERNEL_REQUIRED_BLOCK_DIM 1
#endif

#if CUSHIM_CUDA_HEADER_VERSION == 0
/* Keys in the array `extra` of cuLaunchKernel, cuLaunchKernelEx and CUDA_KERNEL_NODE_PARAMS. */
#    define CU_LAUNCH_PARAM_END ((void *)CU_LAUNCH_PARAM_END_AS_INT)
#    define CU_LAUNCH_PARAM_BUFFER_POINTER ((void *)CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT)
#    define CU_LAUNCH_PARAM_BUFFER_SIZE ((void *)CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT)
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 11070
/* The same keys as numbers. */
#    define CU_LAUNCH_PARAM_END_AS_INT 0x00
#    define CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT 0x01
#    define CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT 0x02
#endif

#if CUSHIM_CUDA_HEADER_VERSION == 0
/* The part of one device in a cooperative launch on several devices. */
typedef struct CUDA_LAUNCH_PARAMS_st {
    CUfunction function;
    unsigned int gridDimX;
    unsigned int gridDimY;
    unsigned int gridDimZ;
    unsigned int blockDimX;
    unsigned int blockDimY;
    unsigned int blockDimZ;
    unsigned int sharedMemBytes;
    CUstream hStream;
    void **kernelParams;
} CUDA_LAUNCH_PARAMS;

/* Flags of cuLaunchCooperativeKernelMultiDevice. */
#    define CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_PRE_LAUNCH_SYNC 0x01
#    define CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_POST_LAUNCH_SYNC 0x02

/* Flags of cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags and cuOccupancyMaxPotentialBlockSizeWithFlags. */
typedef enum CUoccupancy_flags_enum CUSHIM_ENUM_BASE {
    CU_OCCUPANCY_DEFAULT = 0x0,
    CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE = 0x1
} CUoccupancy_flags;

/* Returns the bytes of dynamic shared memory for a block of blockSize threads. */
typedef size_t(CUDA_CB *CUoccupancyB2DSize)(int blockSize);

/* The texture unit for cuParamSetTexRef. */
#    define CU_PARAM_TR_DEFAULT -1
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12000
typedef enum CUtensorMapDataType_enum CUSHIM_ENUM_BASE {
    CU_TENSOR_MAP_DATA_TYPE_UINT8 = 0,
    CU_TENSOR_MAP_DATA_TYPE_UINT16 = 1,
    CU_TENSOR_MAP_DATA_TYPE_UINT32 = 2,
    CU_TENSOR_MAP_DATA_TYPE_INT32 = 3,
    CU_TENSOR_MAP_DATA_TYPE_UINT64 = 4,
    CU_TENSOR_MAP_DATA_TYPE_INT64 = 5,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT16 = 6,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT32 = 7,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT64 = 8,
    CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 = 9,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ = 10,
    CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 = 11,
    CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ = 12
} CUtensorMapDataType;

typedef enum CUtensorMapInterleave_enum CUSHIM_ENUM_BASE {
    CU_TENSOR_MAP_INTERLEAVE_NONE = 0,
    CU_TENSOR_MAP_INTERLEAVE_16B = 1,
    CU_TENSOR_MAP_INTERLEAVE_32B = 2
} CUtensorMapInterleave;

typedef enum CUtensorMapSwizzle_enum CUSHIM_ENUM_BASE {
    CU_TENSOR_MAP_SWIZZLE_NONE = 0,
    CU_TENSOR_MAP_SWIZZLE_32B = 1,
    CU_TENSOR_MAP_SWIZZLE_64B = 2,
    CU_TENSOR_MAP_SWIZZLE_128B = 3
} CUtensorMapSwizzle;

typedef enum CUtensorMapL2promotion_enum CUSHIM_ENUM_BASE {
    CU_TENSOR_MAP_L2_PROMOTION_NONE = 0,
    CU_TENSOR_MAP_L2_PROMOTION_L2_64B = 1,
    CU_TENSOR_MAP_L2_PROMOTION_L2_128B = 2,
    CU_TENSOR_MAP_L2_PROMOTION_L2_256B = 3
} CUtensorMapL2promotion;

typedef enum CUtensorMapFloatOOBfill_enum CUSHIM_ENUM_BASE {
    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0,
    CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA = 1
} CUtensorMapFloatOOBfill;

/* The size of a CUtensorMap, in 8 bytes. */
#    define CU_TENSOR_MAP_NUM_QWORDS 16

/* 128 bytes. CUDA before 13.0 aligns them to 64; 13.0 requires 128, and so does this declaration. */
typedef struct CUtensorMap_st {
#    ifdef __cplusplus
    alignas(128)
#    elif defined(_MSC_VER)
    __declspec(align(128))
#    else
    _Alignas(128)
#    endif
        cuuint64_t opaque[16];
} CUtensorMap;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12080
typedef enum CUtensorMapIm2ColWideMode_enum CUSHIM_ENUM_BASE {
    CU_TENSOR_MAP_IM2COL_WIDE_MODE_W = 0,
    CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128 = 1
} CUtensorMapIm2ColWideMode;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 13050
typedef enum CUtensorMapAllocClass_enum CUSHIM_ENUM_BASE {
    CU_TENSOR_MAP_ALLOC_CLASS_AUTO = 0,
    CU_TENSOR_MAP_ALLOC_CLASS_SMALL = 1,
    CU_TENSOR_MAP_ALLOC_CLASS_LARGE = 2
} CUtensorMapAllocClass;
#endif

/* Enumerators that a later CUDA version added to their enum. */
#if CUSHIM_CUDA_HEADER_VERSION < 11040
#    define CU_JIT_LTO ((CUjit_option)20)
#    define CU_JIT_FTZ ((CUjit_option)21)
#    define CU_JIT_PREC_DIV ((CUjit_option)22)
#    define CU_JIT_PREC_SQRT ((CUjit_option)23)
#    define CU_JIT_FMA ((CUjit_option)24)
#    define CU_JIT_INPUT_NVVM ((CUjitInputType)5)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 11070
#    define CU_JIT_REFERENCED_KERNEL_NAMES ((CUjit_option)25)
#    define CU_JIT_REFERENCED_KERNEL_COUNT ((CUjit_option)26)
#    define CU_JIT_REFERENCED_VARIABLE_NAMES ((CUjit_option)27)
#    define CU_JIT_REFERENCED_VARIABLE_COUNT ((CUjit_option)28)
#    define CU_JIT_OPTIMIZE_UNUSED_DEVICE_VARIABLES ((CUjit_option)29)
#    define CU_TARGET_COMPUTE_87 ((CUjit_target)87)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 11080
#    define CU_TARGET_COMPUTE_89 ((CUjit_target)89)
#    define CU_TARGET_COMPUTE_90 ((CUjit_target)90)
#    define CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET ((CUfunction_attribute)10)
#    define CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH ((CUfunction_attribute)11)
#    define CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT ((CUfunction_attribute)12)
#    define CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH ((CUfunction_attribute)13)
#    define CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED ((CUfunction_attribute)14)
#    define CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE ((CUfunction_attribute)15)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 12000
#    define CU_JIT_POSITION_INDEPENDENT_CODE ((CUjit_option)30)
#    define CU_TARGET_COMPUTE_90A ((CUjit_target)0x1005a)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 12030
#    define CU_JIT_MIN_CTA_PER_SM ((CUjit_option)31)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 12040
#    define CU_JIT_MAX_THREADS_PER_BLOCK ((CUjit_option)32)
#    define CU_JIT_OVERRIDE_DIRECTIVE_VALUES ((CUjit_option)33)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 12080
#    define CU_TARGET_COMPUTE_100 ((CUjit_target)100)
#    define CU_TARGET_COMPUTE_120 ((CUjit_target)120)
#    define CU_TARGET_COMPUTE_100A ((CUjit_target)0x10064)
#    define CU_TARGET_COMPUTE_120A ((CUjit_target)0x10078)
#    define CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B ((CUtensorMapDataType)13)
#    define CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B ((CUtensorMapDataType)14)
#    define CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B ((CUtensorMapDataType)15)
#    define CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B ((CUtensorMapSwizzle)4)
#    define CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B ((CUtensorMapSwizzle)5)
#    define CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B ((CUtensorMapSwizzle)6)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 12090
#    define CU_TARGET_COMPUTE_103 ((CUjit_target)103)
#    define CU_TARGET_COMPUTE_121 ((CUjit_target)121)
#    define CU_TARGET_COMPUTE_103A ((CUjit_target)0x10067)
#    define CU_TARGET_COMPUTE_121A ((CUjit_target)0x10079)
#    define CU_TARGET_COMPUTE_100F ((CUjit_target)0x20064)
#    define CU_TARGET_COMPUTE_103F ((CUjit_target)0x20067)
#    define CU_TARGET_COMPUTE_120F ((CUjit_target)0x20078)
#    define CU_TARGET_COMPUTE_121F ((CUjit_target)0x20079)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 13000
#    define CU_JIT_SPLIT_COMPILE ((CUjit_option)34)
#    define CU_TARGET_COMPUTE_110 ((CUjit_target)110)
#    define CU_TARGET_COMPUTE_110A ((CUjit_target)0x1006e)
#    define CU_TARGET_COMPUTE_110F ((CUjit_target)0x2006e)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 13010
#    define CU_JIT_BINARY_LOADER_THREAD_COUNT ((CUjit_option)35)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 13030
#    define CU_FUNC_ATTRIBUTE_DEVICE_NODE_UPDATE_SUPPORTED ((CUfunction_attribute)16)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 13040
#    define CU_FUNC_ATTRIBUTE_SHARED_MEMORY_MODE ((CUfunction_attribute)17)
#    define CU_TARGET_COMPUTE_107 ((CUjit_target)107)
#    define CU_TARGET_COMPUTE_107A ((CUjit_target)0x1006b)
#    define CU_TARGET_COMPUTE_107F ((CUjit_target)0x2006b)
#endif

#endif
