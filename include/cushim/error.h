/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The last error of a thread, with a message. loader.h has the general rules.
 *
 * @code
 * #include <stdio.h>
 *
 * void synchronize(CUstream stream)
 * {
 *     if (CUSHIM_CALL(StreamSynchronize_v1, stream) != CUDA_SUCCESS)
 *         puts(cushim_error_last()->message); // "cuStreamSynchronize returned CUDA_ERROR_INVALID_HANDLE: ..."
 * }
 * @endcode
 */
#ifndef CUSHIM_ERROR_H
#define CUSHIM_ERROR_H

#include "cushim/load.h"
#if !defined(CUSHIM_UNTYPED)
#    include "cushim/dispatch_table.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** An error. */
struct cushim_error {
    cushim_result code;   /**< The code that the function returned. */
    const char *function; /**< The function that failed: "cuStreamGetId", "cushim_load". */
    const char *message;  /**< One sentence, or "". */
    /**
     * The driver's own explanation of its call that failed: the lines of its log, separated by newlines, 511 bytes
     * at most. The last line names the code and the driver function. Needs CUDA 12.9. NULL if the failure is one of
     * cushim, or if the driver logged nothing.
     *
     * The text is never that of another thread or of an older call, with one exception. If a layer returns an error
     * without calling the driver, the text can be that of an earlier call of the same function that failed with the
     * same code and was not recorded.
     */
    const char *driver_message;
    void *reserved[3]; /**< Zero. */
};

/**
 * Returns the last failure on this thread that cushim itself reported: a missing slot, an absent driver, a request that
 * a polyfill refused, a function of cushim, or a driver call that one of these functions made. The message is more
 * specific than the code.
 *
 * As with errno, a failure stays recorded until the next failure. Success does not clear it, and a native slot never
 * changes it.
 *
 * @return The error, never NULL. Before any failure it has CUDA_SUCCESS and "". It is valid until the next call of this
 *         function on this thread.
 */
CUSHIM_API const struct cushim_error *cushim_error_last(void);

/**
 * Describes a result code by its name and a sentence: "CUDA_ERROR_NO_DEVICE: there is no CUDA device that this process
 * can use". The text does not depend on the driver. For a code that this version of cushim does not know, the call
 * returns the text of the driver if one is loaded. It never loads a driver.
 *
 * @param code  Any value.
 * @return The description, never NULL, always valid.
 */
CUSHIM_API const char *cushim_error_string(cushim_result code);

/**
 * Records a failure as the last error of this thread, for libraries that are built on cushim, such as its own stream
 * layer.
 *
 * @param code      The code.
 * @param function  The function that failed. The string is copied, and truncated to 63 bytes.
 * @param message   The message, which is copied and truncated to 511 bytes; NULL for the driver's text for the code.
 * @return code.
 */
CUSHIM_API cushim_result cushim_error_set(cushim_result code, const char *function, const char *message);

#if !defined(CUSHIM_UNTYPED)
/**
 * Records a code that a slot returned: cushim_error_last() then has the driver's function and the driver's text for the
 * code. A failure that cushim itself recorded in that call stays (a missing slot, the refusal of a polyfill).
 * CUDA_SUCCESS and CUDA_ERROR_NOT_READY are not recorded.
 *
 * @param code  The code that the slot returned.
 * @param slot  The slot.
 * @return code.
 */
CUSHIM_API CUresult cushim_error_set_driver(CUresult code, enum cushim_slot slot);

/**
 * Calls a slot of cushim_table() with the arguments, records an error as cushim_error_set_driver() does, and returns
 * the code: CUSHIM_CALL(StreamSynchronize_v1, stream). A slot without arguments needs the comma, too:
 * CUSHIM_CALL(CtxSynchronize_v1, ).
 */
#    define CUSHIM_CALL(...) CUSHIM_EXPAND(CUSHIM_CALL_IN(cushim_table(), __VA_ARGS__))

/** For Microsoft's traditional preprocessor, to which __VA_ARGS__ is one argument until it is read again. */
#    define CUSHIM_EXPAND(text) text

/** As CUSHIM_CALL(), for the slot of another table: CUSHIM_CALL_IN(cushim_table_legacy(), CtxSynchronize_v1, ). */
#    define CUSHIM_CALL_IN(table, slot, ...) cushim_error_set_driver((table)->slot(__VA_ARGS__), CUSHIM_SLOT_##slot)
#endif

#ifdef __cplusplus
}
#endif

#endif
