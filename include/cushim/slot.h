/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What each slot of the current tables is, and which entry points cushim knows. loader.h has the general rules.
 *
 * @code
 * #include <cushim/cushim.h>
 * #include <stdio.h>
 *
 * int driver_is_sufficient(void)
 * {
 *     static const char *const needed[] = {"StreamGetCaptureInfo_v2", "MemAllocAsync_v1"};
 *     if (cushim_require(needed, 2, CUSHIM_DEFAULT_STREAM_AS_COMPILED, NULL) == CUDA_SUCCESS)
 *         return 1;
 *     puts(cushim_error_last()->message); // "cuMemAllocAsync needs CUDA 11.2; this driver is CUDA 10.1."
 *     return 0;
 * }
 * @endcode
 */
#ifndef CUSHIM_SLOT_H
#define CUSHIM_SLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "cushim/dispatch_table.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The states of a slot. */
enum cushim_slot_state {
    CUSHIM_STATE_MISSING,  /**< The slot returns CUDA_ERROR_NOT_SUPPORTED; without a driver, see cushim_table(). */
    CUSHIM_STATE_NATIVE,   /**< The slot points into the driver. */
    CUSHIM_STATE_POLYFILL, /**< The driver lacks the entry point, and cushim builds it from older ones. */
    /** The driver has the entry point, but cushim answers: always for cuInit and cuGetErrorString, which report why the
     *  driver does not start; for cuGetProcAddress in the per-thread table; and for other slots under a version limit
     *  and with hidden functions. */
    CUSHIM_STATE_ADAPTED
};

/** The bytes of the longest name of a slot or of a function of the driver, with room for those to come. */
#define CUSHIM_SLOT_NAME_SIZE 64

/** A slot and its state. */
struct cushim_slot_info {
    char name[CUSHIM_SLOT_NAME_SIZE]; /**< "StreamGetCaptureInfo_v3" */
    const char *function;             /**< "cuStreamGetCaptureInfo" */
    int since;                        /**< The CUDA version that added the entry point, 12030. */
    enum cushim_slot_state state;     /**< Native, polyfill, adapted or missing. */
    const char *symbol;               /**< The exported name to which a native slot points; NULL if the driver does not
                                  *   export the function, and for the other states. */
    const enum cushim_slot *via;      /**< The slots that a polyfill calls. */
    size_t via_count;                 /**< The number of slots in `via`. */
    bool is_layered;   /**< A layer has replaced the slot. `state` and `symbol` describe the slot below all layers. */
    int usable_since;  /**< The first CUDA version with which the slot can be called, natively or as a polyfill. */
    void *reserved[4]; /**< Zero. */
};

/**
 * Describes one slot of a table. Loads the driver. Without a driver every slot is missing, and the call succeeds.
 *
 * @param slot      The slot.
 * @param kind      The table: ::CUSHIM_DEFAULT_STREAM_AS_COMPILED for that of cushim_table().
 * @param out_info  Receives the description. What its pointers point to stays valid for the life of the process.
 * @retval CUDA_ERROR_INVALID_VALUE  slot or kind is out of range, or out_info is NULL.
 */
CUSHIM_API CUresult cushim_slot_get_info(enum cushim_slot slot, enum cushim_default_stream kind,
                                         struct cushim_slot_info *out_info);

/**
 * Returns the state of a slot of a table alone, for a program that chooses between two methods. Loads the driver.
 *
 * @return The state; CUSHIM_STATE_MISSING without a driver, or if slot or kind is out of range.
 */
CUSHIM_API enum cushim_slot_state cushim_slot_get_state(enum cushim_slot slot, enum cushim_default_stream kind);

/**
 * Finds a slot by its name. Never loads.
 *
 * @param name      "StreamGetCaptureInfo_v3" or "cuStreamGetCaptureInfo_v3". A name without a version means the first
 *                  ABI version, as in the exported names.
 * @param out_slot  Receives the slot.
 * @retval CUDA_ERROR_NOT_FOUND      No slot has that name.
 * @retval CUDA_ERROR_INVALID_VALUE  An argument is NULL.
 */
CUSHIM_API CUresult cushim_slot_find(const char *name, enum cushim_slot *out_slot);

/**
 * Checks conditions (choose.h): that each of the named slots of a table can be called, which means that it is native, a
 * polyfill or adapted; that each of the named features (feature.h) can be used; that the driver is new enough. A
 * program calls this at start-up with everything that it cannot do without. Loads the driver. Before cuInit, features
 * are compared with the driver alone, and after cuInit, also with every device.
 *
 * @param names      Names of slots, as for cushim_slot_find(), and of features, such as "memory-pools"; and the other
 *                   conditions of choose.h, such as "cuda>=12.4", which "12.4" alone also means.
 * @param count      The number of names. With 0 the call succeeds, even without a driver.
 * @param kind       The table: ::CUSHIM_DEFAULT_STREAM_AS_COMPILED for that of cushim_table().
 * @param out_unmet  On an error, receives the first name that is not met or is wrong. May be NULL.
 * @retval CUDA_ERROR_NOT_SUPPORTED  The slot is missing, the feature cannot be used, another condition is not met or,
 *                                   as the release of some drivers, not known; or a condition on GPUs needs a copy of
 *                                   cushim that was made with `--gpus`. cushim_error_last() has the reason.
 * @retval CUDA_ERROR_NOT_FOUND      No slot and no feature has that name.
 * @retval CUDA_ERROR_NOT_INITIALIZED  A condition is on GPUs, and the driver is not started (cuInit).
 * @retval CUDA_ERROR_NO_DEVICE      No driver is loaded; *out_unmet is the first name.
 * @retval CUDA_ERROR_INVALID_VALUE  A condition is not valid ("arch>=75"), a name is NULL, names is NULL and count is
 *                                   not 0, or kind is out of range.
 */
CUSHIM_API CUresult cushim_require(const char *const *names, size_t count, enum cushim_default_stream kind,
                                   const char **out_unmet);

/** One entry point of the driver. */
struct cushim_entry_point {
    const char *function;          /**< "cuStreamGetCaptureInfo" */
    int since;                     /**< The CUDA version that added it, 12030. */
    const char *symbol;            /**< "cuStreamGetCaptureInfo_v3" */
    const char *per_thread_ending; /**< "_ptsz" or "_ptds", with which the exported name of the per-thread variant ends
                                    *   after `symbol`; or "". */
    void *reserved[4];             /**< Zero. */
};

/**
 * Returns one of the entry points in cushim's list, which goes up to CUSHIM_LIST_VERSION. Never loads.
 *
 * @param index      A number from 0.
 * @param out_entry  Receives the entry point.
 * @retval CUDA_ERROR_NOT_FOUND      The index is past the last entry point.
 * @retval CUDA_ERROR_INVALID_VALUE  out_entry is NULL.
 */
CUSHIM_API CUresult cushim_entry_point_get_info(size_t index, struct cushim_entry_point *out_entry);

#ifdef __cplusplus
}
#endif

#endif
