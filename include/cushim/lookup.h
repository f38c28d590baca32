/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Functions of the driver by name, for those that are newer than the slots. loader.h has the general rules. The example
 * calls a function that CUDA 14.0 may have.
 *
 * @code
 * typedef CUresult(CUDAAPI *get_number_fn)(int *, CUdevice);
 *
 * CUresult get_number(CUdevice device, int *out_number)
 * {
 *     cushim_fn fn;
 *     CUresult result = cushim_lookup("cuDeviceGetNumber", 14000, CUSHIM_DEFAULT_STREAM_AS_COMPILED, &fn);
 *     return result == CUDA_SUCCESS ? ((get_number_fn)fn)(out_number, device) : result;
 * }
 * @endcode
 */
#ifndef CUSHIM_LOOKUP_H
#define CUSHIM_LOOKUP_H

#include "cushim/default_stream.h"
#include "cushim/load.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A function of the driver. Cast it to its real type before the call. */
typedef void (*cushim_fn)(void);

/**
 * Finds a function as cuGetProcAddress does, on every driver, including drivers that are older than cuGetProcAddress:
 * the newest entry point of the function that the given CUDA version has. Pass the version whose prototype the call
 * uses: another version can have another prototype. Loads the driver.
 *
 * The version limit and the hidden functions apply. For a function that is not in cushim's list, cushim asks the
 * driver. The result is never a polyfill. Per-thread variants exist from version 7000 on.
 *
 * @param function  The name of the driver function: "cuMemcpy3DBatchAsync".
 * @param version   A CUDA version.
 * @param kind      The default stream that the function is for: ::CUSHIM_DEFAULT_STREAM_AS_COMPILED for the variant
 *                  that a call compiled with <cuda.h> uses.
 * @param out_fn    Receives the driver's function, that of an adapted slot (see ::CUSHIM_STATE_ADAPTED), or that of the
 *                  top layer which has replaced the slot.
 * @retval CUDA_ERROR_NOT_FOUND      The driver lacks this entry point, or it is hidden.
 * @retval CUDA_ERROR_INVALID_VALUE  An argument is NULL, or kind is out of range. Or the version is above that
 *                                   of the driver, above the version limit, or below 2000.
 * @retval CUDA_ERROR_NO_DEVICE      No driver is loaded.
 */
CUSHIM_API cushim_result cushim_lookup(const char *function, int version, enum cushim_default_stream kind,
                                       cushim_fn *out_fn);

/** Why a lookup found a function, or did not. */
enum cushim_lookup_status {
    CUSHIM_LOOKUP_FOUND,          /**< The function was found. */
    CUSHIM_LOOKUP_UNKNOWN,        /**< Neither cushim nor the driver knows a function of that name. */
    CUSHIM_LOOKUP_SUFFIXED,       /**< The name is that of an entry point (cuStreamDestroy_v2), not of a function. */
    CUSHIM_LOOKUP_TOO_NEW,        /**< The function, or its per-thread variant, is newer than the requested version. */
    CUSHIM_LOOKUP_HIDDEN,         /**< CUSHIM_HIDE or the option hide hides it. */
    CUSHIM_LOOKUP_LIMITED,        /**< The driver has the requested version; the version limit refuses it. */
    CUSHIM_LOOKUP_DRIVER_TOO_OLD, /**< The requested version is above that of the driver. */
    CUSHIM_LOOKUP_LACKING,        /**< The driver lacks the function, although the driver is new enough. */
    CUSHIM_LOOKUP_BAD_VERSION,    /**< The requested version is below 2000. */
    CUSHIM_LOOKUP_NO_DRIVER       /**< No driver is loaded. */
};

/** What cushim_lookup_explain() found. */
struct cushim_lookup_answer {
    enum cushim_lookup_status status; /**< Whether it was found, or why not. */
    /** The driver function; for a suffixed name, the function of that entry point. NULL if it is not known. */
    const char *function;
    /** The CUDA version that added the function, or the entry point of a suffixed name. 0 if it is not known. */
    int since;
    cushim_fn fn;      /**< NULL unless the status is ::CUSHIM_LOOKUP_FOUND. */
    void *reserved[4]; /**< Zero. */
};

/**
 * Finds a function as cushim_lookup() does, for a program that shows the result to a person. A function that is not
 * found is not an error and is not recorded as one. Loads the driver.
 *
 * @param function    The name of the driver function.
 * @param version     A CUDA version.
 * @param kind        The default stream that the function is for.
 * @param out_answer  Receives the result, also if nothing was found.
 * @retval CUDA_ERROR_INVALID_VALUE  An argument is NULL, or kind is out of range.
 */
CUSHIM_API cushim_result cushim_lookup_explain(const char *function, int version, enum cushim_default_stream kind,
                                               struct cushim_lookup_answer *out_answer);

/**
 * Returns the function that dlsym() would return for an exported name of the driver, through cushim: the function of
 * the slot, with polyfills and the layers that are installed now. For programs that resolve the driver's functions by
 * name. Unlike cushim_lookup(), the call does not depend on a CUDA version: as with dlsym(), a plain name is the first
 * ABI version ("cuMemAlloc" is not "cuMemAlloc_v2"), in the table of the legacy default stream; "_ptsz" and "_ptds" at
 * the end of a name mean the table of the per-thread default stream.
 *
 * Loads the driver. Without one, the function is that of the null driver. For a name that is not in cushim's list,
 * cushim asks the driver, unless the name is a version of a hidden function or a version limit is set.
 *
 * @param symbol  The exported name: "cuStreamQuery_ptsz".
 * @return The function, or NULL if the slot is missing or the name is not known; cushim_error_last() has the reason.
 */
CUSHIM_API cushim_fn cushim_symbol(const char *symbol);

/**
 * Returns the function of an exported name as cushim_symbol() does, or NULL if every call through it would fail: also
 * for a slot of the null driver that returns CUDA_ERROR_NO_DEVICE. Replaces a test of dlsym() != NULL. The function of
 * a layer that has replaced the slot is never NULL. Loads the driver.
 *
 * @param symbol  The exported name: "cuStreamQuery_ptsz".
 * @return The function, or NULL; cushim_error_last() has the reason.
 */
CUSHIM_API cushim_fn cushim_symbol_if_available(const char *symbol);

/**
 * Returns the function of the slot with the newest ABI version up to a CUDA version, with polyfills and the layers that
 * are installed now, or NULL if every call through it would fail. For a program that asked cuGetProcAddress for each of
 * its functions with one version. Unlike cushim_lookup(), the result can be a polyfill, and the version may be above
 * that of the driver: it selects the prototype of the call. Loads the driver.
 *
 * A function that is not in cushim's list is found as by cushim_lookup().
 *
 * @param function  The name of the driver function: "cuStreamGetCaptureInfo".
 * @param version   The CUDA version whose prototype the call uses: 12000 for cuStreamGetCaptureInfo_v2.
 * @param kind      The default stream that the function is for.
 * @return The function, or NULL; cushim_error_last() has the reason.
 */
CUSHIM_API cushim_fn cushim_function_if_available(const char *function, int version, enum cushim_default_stream kind);

/**
 * Returns the exported name of a function of the loaded driver. Never loads.
 *
 * @return The name; NULL unless the address is exactly that of a name which the driver exports.
 */
CUSHIM_API const char *cushim_symbol_name(cushim_fn fn);

#ifdef __cplusplus
}
#endif

#endif
