/* SPDX-License-Identifier: MIT */
/*
 * calls.h - the functions of the driver.
 *
 * A function of the driver is soft_<slot>, such as soft_StreamQuery_v1. Its prototype is made here from cushim's typed
 * list, so a wrong type does not compile; exports/exports.c makes its exported names. Every soft_ function runs under
 * the one lock (os_lock), which the exported wrapper takes. A function that waits or runs a function of the user
 * releases the lock meanwhile.
 */
#ifndef SOFT_CALLS_H
#define SOFT_CALLS_H

#include "soft.h"

#include "engine.h"

#define CUSHIM_ENTRY(driver_function, abi, since, params, args) CUresult soft_##driver_function##_##abi params;
#include "cushim/entry_points.h"

enum { MAX_THREADS = 1024 }; /* of a block, as the device reports it */

/* Whether cuInit has succeeded. */
bool soft_initialised(void);

/* Whether the process is ending, so that calls return CUDA_ERROR_DEINITIALIZED. */
bool soft_is_ended(void);

/* Adds a failed call to the log, and calls the functions that are registered for it, without the lock. Does nothing for
 * CUDA_SUCCESS, for CUDA_ERROR_NOT_READY, and in drivers without a log. */
void log_failure(const char *symbol, CUresult result);

bool context_flags_are_valid(unsigned flags);

/* The checks of a synchronous call before it uses the default stream. */
CUresult copy_default_stream(struct stream **out_stream);

/* Create work from a caller's description. Fail with 1, 801, or 2. */
CUresult work_from_kernel(const CUDA_KERNEL_NODE_PARAMS_v2 *params, struct work **out_work);
CUresult work_from_copy(const CUDA_MEMCPY3D *params, struct work **out_work);
CUresult work_from_set(const CUDA_MEMSET_NODE_PARAMS *params, struct work **out_work);
CUresult work_from_host(CUhostFn function, void *data, struct work **out_work);
CUresult work_from_values(unsigned count, const CUstreamBatchMemOpParams *items, struct work **out_work);
CUresult work_from_allocation(const CUDA_MEM_ALLOC_NODE_PARAMS *params, struct work **out_work);
CUresult work_from_free(CUdeviceptr address, const struct graph *graph, struct work **out_work);
CUresult work_from_params(const CUgraphNodeParams *params, struct work **out_work); /* of any kind */
CUresult work_from_event(enum work_kind kind, CUevent event, struct work **out_work);

/* Replaces the work of a node of that kind if the new work was created (`result`); takes over the reference to it. */
CUresult node_set_work(CUgraphNode handle, enum work_kind kind, CUresult result, struct work *work);

/* The newer description of a kernel begins with the older one. */
CUDA_KERNEL_NODE_PARAMS_v2 kernel_params_newer(const CUDA_KERNEL_NODE_PARAMS_v1 *params);

#endif
