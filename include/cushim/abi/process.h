/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The driver's types and constants: coredumps of the GPU, and checkpoints of a process.
 *
 * cuda_abi.h includes this header and describes where the declarations come from. NVIDIA's manual explains them. The
 * comments here state only units and ownership that a name does not show.
 */
#ifndef CUSHIM_ABI_PROCESS_H
#define CUSHIM_ABI_PROCESS_H

#include "cushim/abi/mode.h"
#include "cushim/abi/handles.h"

#if CUSHIM_CUDA_HEADER_VERSION < 12010
/* The attributes of a coredump. FILE and PIPE are strings of at most 1023 characters, GENERATION_FLAGS is an unsigned
 * int, and all others are bool. */
typedef enum CUcoredumpSettings_enum CUSHIM_ENUM_BASE {
    CU_COREDUMP_ENABLE_ON_EXCEPTION = 1,
    CU_COREDUMP_TRIGGER_HOST = 2,
    CU_COREDUMP_LIGHTWEIGHT = 3,
    CU_COREDUMP_ENABLE_USER_TRIGGER = 4,
    CU_COREDUMP_FILE = 5,
    CU_COREDUMP_PIPE = 6,
    CU_COREDUMP_MAX = 8
} CUcoredumpSettings;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12050
#    define CU_COREDUMP_GENERATION_FLAGS ((CUcoredumpSettings)7)

/* Bits of CU_COREDUMP_GENERATION_FLAGS. */
typedef enum CUCoredumpGenerationFlags CUSHIM_ENUM_BASE {
    CU_COREDUMP_DEFAULT_FLAGS = 0,
    CU_COREDUMP_SKIP_NONRELOCATED_ELF_IMAGES = 0x1,
    CU_COREDUMP_SKIP_GLOBAL_MEMORY = 0x2,
    CU_COREDUMP_SKIP_SHARED_MEMORY = 0x4,
    CU_COREDUMP_SKIP_LOCAL_MEMORY = 0x8,
    CU_COREDUMP_SKIP_ABORT = 0x10,
    CU_COREDUMP_LIGHTWEIGHT_FLAGS = 0x12f
} CUCoredumpGenerationFlags;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 13020
/* From a registration to its deregistration. */
typedef struct CUcoredumpCallbackEntry_st *CUcoredumpCallbackHandle;

typedef void(CUDA_CB *CUcoredumpStatusCallback)(void *userData, int pid, CUdevice dev);
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
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12080
typedef enum CUprocessState_enum CUSHIM_ENUM_BASE {
    CU_PROCESS_STATE_RUNNING = 0,
    CU_PROCESS_STATE_LOCKED = 1,
    CU_PROCESS_STATE_CHECKPOINTED = 2,
    CU_PROCESS_STATE_FAILED = 3
} CUprocessState;

/* Milliseconds; 0 waits without an end. The reserved members of all of these are 0. */
typedef struct CUcheckpointLockArgs_st {
    unsigned int timeoutMs;
    unsigned int reserved0;
    cuuint64_t reserved1[7];
} CUcheckpointLockArgs;

/* The driver writes *customStorageInfo_out. */
typedef struct CUcheckpointCheckpointArgs_st {
    CUcheckpointCustomStorageInfo **customStorageInfo_out;
    char reserved[64 - sizeof(CUcheckpointCustomStorageInfo *)];
} CUcheckpointCheckpointArgs;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 13000
/* A device that was used, and the one that takes its place. */
typedef struct CUcheckpointGpuPair_st {
    CUuuid oldUuid;
    CUuuid newUuid;
} CUcheckpointGpuPair;
#endif

#if CUSHIM_CUDA_HEADER_VERSION < 12080
/* The caller owns the pairs. */
typedef struct CUcheckpointRestoreArgs_st {
    CUcheckpointGpuPair *gpuPairs;
    unsigned int gpuPairsCount;
    unsigned int padding0;
    CUcheckpointCustomStorageInfo **customStorageInfo_out;
    char reserved[56 - sizeof(CUcheckpointGpuPair *) - sizeof(CUcheckpointCustomStorageInfo **)];
} CUcheckpointRestoreArgs;

typedef struct CUcheckpointUnlockArgs_st {
    cuuint64_t reserved[8];
} CUcheckpointUnlockArgs;
#endif

/* Enumerators that a later CUDA version added to their enum. */
#if CUSHIM_CUDA_HEADER_VERSION < 12060
#    define CU_COREDUMP_SKIP_CONSTBANK_MEMORY ((CUCoredumpGenerationFlags)0x20)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 13010
#    define CU_COREDUMP_GZIP_COMPRESS ((CUCoredumpGenerationFlags)0x40)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 13030
#    define CU_COREDUMP_FAULTED_CONTEXTS_ONLY ((CUCoredumpGenerationFlags)0x80)
#    define CU_COREDUMP_NO_ERRBAR_AT_EXIT ((CUCoredumpGenerationFlags)0x40000000)
#    define CU_COREDUMP_LOG_ONLY ((CUCoredumpGenerationFlags)(-0x7fffffff - 1)) /* bit 31 */
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 13040
#    define CU_PROCESS_STATE_CHECKPOINTING ((CUprocessState)4)
#    define CU_PROCESS_STATE_RESTORING ((CUprocessState)5)
#endif
#if CUSHIM_CUDA_HEADER_VERSION < 13050
#    define CU_COREDUMP_SKIP_TENSOR_MEMORY ((CUCoredumpGenerationFlags)0x100)
#endif

#endif
