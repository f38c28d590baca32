/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The last error of a thread, with a message. loader.h has the general rules.
 */
#ifndef CUSHIM_ERROR_H
#define CUSHIM_ERROR_H

#include "cushim/dispatch_table.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An error. */
struct cushim_error {
    CUresult code;
    const char *function; /**< The function that failed: "cuStreamGetId", "cushim_load". */
    const char *message;  /**< One sentence, or "". */
    void *reserved[4];    /**< Zero. */
};

/**
 * Returns the last failure on this thread that cushim itself reported: a missing slot, an absent driver, a request that
 * a polyfill refused, a function of cushim, or a driver call that one of these functions made. The message says more
 * than the code.
 *
 * As with errno, a failure stays recorded until the next failure. Success does not clear it, and a native slot never
 * changes it.
 *
 * @return The error, never NULL. Before any failure it has CUDA_SUCCESS and "". It is valid until the next call of this
 *         function on this thread.
 */
CUSHIM_API const struct cushim_error *cushim_last_error(void);

/**
 * Describes a result code by its name and a sentence: "CUDA_ERROR_NO_DEVICE: there is no CUDA device that this process
 * can use". The text does not depend on the driver. For a code that this version of cushim does not know, the call
 * returns the text of the driver if one is loaded. It never loads a driver.
 *
 * @param code  Any value.
 * @return The description, never NULL, always valid.
 */
CUSHIM_API const char *cushim_describe(CUresult code);

/**
 * Records a failure as the last error of this thread, for libraries that are built on cushim, such as its own stream
 * layer.
 *
 * @param code      The code.
 * @param function  The function that failed. Pass a constant: cushim keeps the pointer until the next failure on this
 *                  thread.
 * @param message   The message, for which the same rule applies; NULL for the driver's text for the code.
 * @return code.
 */
CUSHIM_API CUresult cushim_set_error(CUresult code, const char *function, const char *message);

/**
 * Records a code that a slot returned: cushim_last_error() then has the driver's function and the driver's text for the
 * code. A failure that cushim itself recorded in that call stays (a missing slot, the refusal of a polyfill).
 * CUDA_SUCCESS and CUDA_ERROR_NOT_READY are not recorded.
 *
 * @param code  The code that the slot returned.
 * @param slot  The slot.
 * @return code.
 */
CUSHIM_API CUresult cushim_set_driver_error(CUresult code, enum cushim_slot slot);

#ifdef __cplusplus
}
#endif

#endif
