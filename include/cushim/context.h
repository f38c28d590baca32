/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Contexts, and the general rules of the stream layer.
 *
 * A context is the driver's state for one device. Streams, events and executable graphs are created in a context: the
 * primary context of a device, a new context, or a context that the program lends to cushim.
 *
 * @code
 * CUresult allocate(struct cushim_context *context, size_t size, CUdeviceptr *out_memory)
 * {
 *     CUcontext before;
 *     CUresult result = cushim_context_enter(context, &before); // cuMemAlloc needs a current context
 *     if (result != CUDA_SUCCESS)
 *         return result;
 *     result = CUSHIM_CALL(MemAlloc_v2, out_memory, size);
 *     cushim_context_leave(before);
 *     return result;
 * }
 * @endcode
 *
 * The rules below hold for context.h, stream.h, event.h, graph.h, capture.h and completion.h. The comment of a function
 * states only what differs from them.
 *
 * **Errors.** A function that can fail returns a CUresult. It writes its output parameters, which come last, only if it
 * returns CUDA_SUCCESS. After an error, cushim_error_last() has a message, except after CUDA_ERROR_NOT_READY and after
 * an error that a body (a function of the program that cushim calls, see ::cushim_stream_body) returned. If the driver
 * refuses a call, its own code is returned: any code that NVIDIA's manual names for the driver function in question,
 * and any error of earlier asynchronous work. Every function may return these general codes:
 * - CUDA_ERROR_INVALID_HANDLE: an object is NULL, for example because it was destroyed. For a context the code is
 *   CUDA_ERROR_INVALID_CONTEXT.
 * - CUDA_ERROR_INVALID_VALUE: an output pointer is NULL, or the driver does not know the flags.
 * - CUDA_ERROR_NO_DEVICE: no driver could be loaded.
 * - CUDA_ERROR_NOT_SUPPORTED: the driver is too old. cushim_error_last() names the CUDA version that the call needs.
 * - CUDA_ERROR_OUT_OF_MEMORY: the host or the driver is out of memory.
 *
 * **Ownership.** An object that a function creates belongs to the caller. The function that ends an object (destroy,
 * close, release, end, detach) takes the address of the pointer and sets the pointer to NULL. A destroy, close or
 * detach function accepts NULL and a pointer to NULL, and then does nothing. The object is gone whatever code a destroy
 * or close function returns. Other copies of the pointer must not be used afterwards.
 *
 * **The current context.** Every call leaves the caller's current context as it was, except cushim_context_enter() and
 * cushim_context_leave().
 *
 * **Threads.** Every function may be called from any thread. Several threads may use one object at the same time, but a
 * call that ends an object must be the last use of it.
 *
 * **No driver.** Every function may be called on a machine without a driver.
 */
#ifndef CUSHIM_CONTEXT_H
#define CUSHIM_CONTEXT_H

#include "cushim/loader.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A context. The object is reference-counted: each stream, event and executable graph that is created in it holds a
 * reference. So the program may destroy the context before these objects; it ends when the last of them is destroyed.
 */
struct cushim_context;

/**
 * Retains the primary context of a device, which the CUDA runtime and the libraries that are built on the runtime share
 * in a process. Loads and initialises the driver (cushim_init()) if that has not been done. The first use of the
 * primary context of a device takes about 0.1 s.
 *
 * The driver's reference is released (cuDevicePrimaryCtxRelease) when *out_context and every object that was created in
 * it have been destroyed.
 *
 * @param ordinal      The number of the device, from 0.
 * @param out_context  Receives the context, which the caller owns.
 * @retval CUDA_ERROR_INVALID_DEVICE  The machine has no device with that number.
 * @retval CUDA_ERROR_NOT_SUPPORTED   The driver is older than CUDA 7.0. cushim_context_create() works there.
 * @return Another code that cushim_init() or cuDevicePrimaryCtxRetain returned.
 */
CUSHIM_API CUresult cushim_context_create_primary(int ordinal, struct cushim_context **out_context);

/**
 * Creates a new context on a device, for a driver without primary contexts or for work that must be kept apart. Loads
 * and initialises the driver (cushim_init()) if that has not been done. Unlike cuCtxCreate, the call does not leave the
 * new context current. It works on every driver.
 *
 * The driver's context is destroyed when *out_context and every object that was created in it have been destroyed.
 *
 * @param ordinal      The number of the device, from 0.
 * @param flags        Flags of cuCtxCreate (CU_CTX_SCHED_...).
 * @param out_context  Receives the context, which the caller owns.
 * @retval CUDA_ERROR_INVALID_DEVICE  The machine has no device with that number.
 * @return Another code that cushim_init() or cuCtxCreate returned.
 */
CUSHIM_API CUresult cushim_context_create(int ordinal, unsigned flags, struct cushim_context **out_context);

/**
 * Retains the primary context of a device where the driver has primary contexts (cushim_context_create_primary()), and
 * creates a new context on an older driver (cushim_context_create()). It works on every driver.
 *
 * A new context gets the flags, and so does a primary context that is not active yet. An active one keeps the flags
 * that it has, because other libraries of the process use it. With 0, nothing is set.
 *
 * @param ordinal      The number of the device, from 0.
 * @param flags        Flags of cuCtxCreate (CU_CTX_SCHED_...).
 * @param out_context  Receives the context, which the caller owns.
 * @retval CUDA_ERROR_INVALID_DEVICE  The machine has no device with that number.
 * @return Another code of the function that was called, or of cuDevicePrimaryCtxSetFlags.
 */
CUSHIM_API CUresult cushim_context_create_preferred(int ordinal, unsigned flags, struct cushim_context **out_context);

/**
 * Wraps a context of the driver without taking ownership: cushim never destroys it.
 *
 * The driver's context must outlive every object that is created in it. The driver does not check this and crashes
 * (observed with driver 580).
 *
 * @param handle       The driver's context, which stays with its owner.
 * @param out_context  Receives the object, which the caller owns.
 * @retval CUDA_ERROR_INVALID_CONTEXT  handle is NULL, or the driver does not know it.
 */
CUSHIM_API CUresult cushim_context_borrow(CUcontext handle, struct cushim_context **out_context);

/**
 * Wraps a green context of the driver without taking ownership; the lifetime rule of cushim_context_borrow() applies.
 * Green contexts need CUDA 12.4. Creating streams in one needs CUDA 12.5 and the flag CU_STREAM_NON_BLOCKING.
 *
 * @param green        The driver's green context, which stays with its owner.
 * @param out_context  Receives the object, which the caller owns.
 * @retval CUDA_ERROR_INVALID_CONTEXT  green is NULL.
 * @retval CUDA_ERROR_NOT_SUPPORTED    The driver has no green contexts.
 */
CUSHIM_API CUresult cushim_context_borrow_green(CUgreenCtx green, struct cushim_context **out_context);

/**
 * Drops the caller's reference and sets *context to NULL. Streams, events and executable graphs that were created in
 * the context keep it alive.
 *
 * The driver's context may end in this call, or later when another object is destroyed, on any thread. Until then every
 * thread must have removed it from its stack of contexts (cuCtxSetCurrent, cuCtxPopCurrent). When the context ends, the
 * driver removes it from the calling thread alone, and only if it is current there. A thread or a process that ends
 * with such a context in its stack can crash (observed with driver 580).
 *
 * @return If this was the last reference to a context that is not borrowed, the code with which the driver released or
 *         destroyed it.
 */
CUSHIM_API CUresult cushim_context_destroy(struct cushim_context **context);

/** Returns the driver's handle, for slots of the table; NULL for NULL. The context keeps the ownership. */
CUSHIM_API CUcontext cushim_context_handle(const struct cushim_context *context);

/**
 * Makes the context current on this thread, for a block of code. cushim_context_leave() restores the context that was
 * current before. Blocks may be nested, each with a variable of its own:
 *
 *     CUcontext before;
 *     CUresult result = cushim_context_enter(context, &before);
 *     if (result == CUDA_SUCCESS) {
 *         result = cushim_table()->MemAlloc_v2(&memory, size);
 *         cushim_context_leave(before);
 *     }
 *
 * @param context     The context. The caller must keep it until cushim_context_leave().
 * @param out_before  Receives the context that was current, or NULL if none was.
 */
CUSHIM_API CUresult cushim_context_enter(struct cushim_context *context, CUcontext *out_before);

/**
 * Ends the block that cushim_context_enter() began on this thread: the context that was current before is current
 * again. The block must have popped each context that it pushed. It may have made another context or none current with
 * cuCtxSetCurrent.
 *
 * @param before  The context that cushim_context_enter() wrote.
 */
CUSHIM_API CUresult cushim_context_leave(CUcontext before);

/** Returns the device of the context. Makes no driver call. */
CUSHIM_API CUresult cushim_context_get_device(const struct cushim_context *context, CUdevice *out_device);

/**
 * Returns the priorities that streams of this context can have (cuCtxGetStreamPriorityRange). A smaller number is a
 * higher priority.
 *
 * @param context       The context.
 * @param out_least     Receives the lowest priority, which is the greatest number, 0. May be NULL.
 * @param out_greatest  Receives the highest priority, such as -5; 0 if the device has no priorities. May be NULL.
 */
CUSHIM_API CUresult cushim_context_get_priority_range(struct cushim_context *context, int *out_least,
                                                      int *out_greatest);

#ifdef __cplusplus
}
#endif

#endif
