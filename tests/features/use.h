/* SPDX-License-Identifier: MIT */
/*
 * use.h - uses of features: each function does what its feature promises, on the device of use_start(), and checks the
 * result. It ends at the first call that fails and returns its code, or USE_WRONG if a result is wrong. The process
 * ends afterwards, so the functions release nothing.
 */
#ifndef FEATURES_USE_H
#define FEATURES_USE_H

#include "cushim/cushim.h"
#include "softcuda.h"

/* All calls succeeded, and the result is wrong. */
#define USE_WRONG CUDA_ERROR_UNKNOWN

/* The function of a feature; NULL if a program cannot use the feature, but only be in that state (MPS, MIG). */
typedef CUresult (*use_function)(void);
use_function use_of(enum cushim_feature feature);

/* After use_start(): multicast is used on a GPU only if NCCL_NVLS_ENABLE is 1, because on some hosts its use puts all
 * GPUs, also those of other machines on that host, out of service. */
bool use_is_permitted(enum cushim_feature feature);
#define USE_NOT_PERMITTED "not used: NCCL_NVLS_ENABLE is not 1"

/* The control interface of the loaded driver; NULL if it is not softcuda. */
const struct softcuda_control *use_softcuda(void);

/* Starts the driver, and makes the primary context of a device current. */
CUresult use_start(int ordinal);

/* The table, and the device with its primary context and a stream. */
extern const struct cushim_dispatch_table *cu;
extern CUdevice use_device;
extern CUcontext use_context;
extern CUstream use_stream;

/* A process that has a context, for the functions that save and restore another process; 0: none. */
extern int use_other_process;

/* For a feature that can only be used with several devices; and makes the primary context of one of them current. */
extern int use_device_count;
CUresult use_enter(CUdevice device, CUcontext *out_context);

enum { USE_SIZE = 2 << 20, USE_BYTE = 0x5a };

/* Fills memory on the device, waits, and compares it with the bytes; or only compares its end. */
CUresult use_fill(CUdeviceptr address, size_t size);
CUresult use_compare(CUdeviceptr address, size_t size);

/* Creates a pool that can be shared in this way; or physical memory, of the granularity that the feature reports, which
 * has been mapped and filled; and maps such memory for the device. */
CUresult use_pool(CUmemAllocationHandleType type, CUmemoryPool *out_pool);
CUresult use_virtual(CUmemAllocationHandleType type, unsigned char rdma, CUmemGenericAllocationHandle *out_handle);
CUresult use_map(CUmemGenericAllocationHandle handle, CUdeviceptr *out_address, size_t *out_size);

/* A kernel with the parameters (address, value), which stores the value. */
CUresult use_load_kernel(CUfunction *out_function);

/* Compares 32 bits of device memory. */
CUresult use_expect(CUdeviceptr address, unsigned value);

/* Stops at the first failure. */
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        CUresult try_result = (call);                                                                                  \
        if (try_result != CUDA_SUCCESS)                                                                                \
            return try_result;                                                                                         \
    } while (0)

/* One function for each feature that can be used. */
#define CUSHIM_FEATURE(id, name, description, source) CUresult use_##id(void);
#include "cushim/features.h"

#endif
