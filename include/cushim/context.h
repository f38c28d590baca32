/* SPDX-License-Identifier: MIT */
/*
 * context.h - where streams and events are made: a device's primary context, a context of one's own, or somebody
 * else's.
 *
 * A struct cushim_context is counted: every stream, event and executable made in it holds it, so it may be destroyed
 * before them and ends with the last of them. No function here or in the stream layer leaves another context current
 * than it found.
 *
 * What can fail returns a CUresult and writes its results, the last arguments, only on CUDA_SUCCESS. An error, other
 * than CUDA_ERROR_NOT_READY and what a function of the program's (a body) returned, is in words in cushim_last_error().
 * Where the driver itself refuses, its own code is passed on: any that NVIDIA's manual names for the function in
 * question, and any error of earlier asynchronous work. All may be called from any thread, and with no driver on the
 * machine.
 *
 * What ends an object takes its address and sets it to NULL; NULL, or a pointer to NULL, is nothing to do.
 *
 * The codes that any function may return:
 *   CUDA_ERROR_INVALID_HANDLE  an object is NULL (ended, that is); a context: CUDA_ERROR_INVALID_CONTEXT
 *   CUDA_ERROR_INVALID_VALUE   a place for a result is NULL, or flags are unknown to the driver
 *   CUDA_ERROR_NO_DEVICE       there is no driver
 *   CUDA_ERROR_NOT_SUPPORTED   the driver is too old; cushim_last_error() says for what
 *   CUDA_ERROR_OUT_OF_MEMORY   of the host, or the driver's
 */
#ifndef CUSHIM_CONTEXT_H
#define CUSHIM_CONTEXT_H

#include "cushim/loader.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cushim_context;

/*
 * The primary context of device number `ordinal` (from 0): the one that the CUDA runtime, and every library in the
 * process that is built on it, shares. Loads the driver and initialises it (cushim_init) if nobody has. Making the
 * first use of a device's primary context takes about 0.1 s.
 *   CUDA_ERROR_INVALID_DEVICE  there is no device of that number
 *   CUDA_ERROR_NOT_SUPPORTED   the driver is older than CUDA 7.0: cushim_context_create() works there
 *   CUDA_ERROR_INVALID_VALUE   out_context is NULL
 *   CUDA_ERROR_OUT_OF_MEMORY   of the host, or the driver's
 *   others                     what cushim_init() or cuDevicePrimaryCtxRetain returned
 * The caller owns *out_context. It is released when it and all made in it were destroyed (cuDevicePrimaryCtxRelease).
 */
CUSHIM_API CUresult cushim_context_create_primary(int ordinal, struct cushim_context **out_context);

/*
 * A new context on device number `ordinal`; `flags` are cuCtxCreate's (CU_CTX_SCHED_...). For a driver without primary
 * contexts, and for work that must be kept apart. Unlike cuCtxCreate it does not leave the context current.
 * Errors and ownership as above; works on every driver.
 */
CUSHIM_API CUresult cushim_context_create(int ordinal, unsigned flags, struct cushim_context **out_context);

/*
 * A context that is somebody else's. It is never destroyed by this, and must live longer than all that is made in it:
 * NVIDIA's driver does not check, and crashes (observed with driver 580).
 *   CUDA_ERROR_INVALID_CONTEXT  `handle` is NULL, or the driver does not know it
 *   CUDA_ERROR_INVALID_VALUE    out_context is NULL
 */
CUSHIM_API CUresult cushim_context_borrow(CUcontext handle, struct cushim_context **out_context);

/*
 * A green context (CUDA 12.4), somebody else's as above. Streams made in it need CUDA 12.5 and CU_STREAM_NON_BLOCKING.
 *   CUDA_ERROR_INVALID_CONTEXT  `green` is NULL
 *   CUDA_ERROR_NOT_SUPPORTED    the driver has no green contexts
 */
CUSHIM_API CUresult cushim_context_borrow_green(CUgreenCtx green, struct cushim_context **out_context);

/*
 * Gives up the caller's hold and sets *context to NULL; NULL, or a pointer to NULL, is nothing to do. Streams and
 * events made in it keep it. The code is that of the release by the driver, if this was the last hold; the object is
 * gone whatever it says.
 */
CUSHIM_API CUresult cushim_context_destroy(struct cushim_context **context);

/* The driver's handle, for slots of the table; NULL for NULL. It stays the context's. */
CUSHIM_API CUcontext cushim_context_handle(const struct cushim_context *context);

/* The context's device. CUDA_ERROR_INVALID_CONTEXT for NULL. No driver call. */
CUSHIM_API CUresult cushim_context_device(const struct cushim_context *context, CUdevice *out_device);

/*
 * The priorities that streams of this context can have: from *out_least (the lowest priority, the greatest number, 0)
 * to *out_greatest (the highest priority, such as -5). Both 0 where the device has no priorities. Either may be NULL.
 * (cuCtxGetStreamPriorityRange)
 */
CUSHIM_API CUresult cushim_context_priority_range(struct cushim_context *context, int *out_least, int *out_greatest);

#ifdef __cplusplus
}
#endif

#endif
