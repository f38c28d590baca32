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
    CU_COREDUMP_SKIP_CONSTBANK_MEMORY = 0x20,
    CU_COREDUMP_LIGHTWEIGHT_FLAGS = 0x2f
} CUCoredumpGenerationFlags;
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

typedef struct CUcheckpointCheckpointArgs_st {
    cuuint64_t reserved[8];
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
    char reserved[52 - sizeof(CUcheckpointGpuPair *)];
    cuuint64_t reserved1;
} CUcheckpointRestoreArgs;

typedef struct CUcheckpointUnlockArgs_st {
    cuuint64_t reserved[8];
} CUcheckpointUnlockArgs;
#endif

#endif
