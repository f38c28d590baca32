/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The diagnosis: what a load tried, and why there is no usable driver. loader.h has the general rules.
 *
 * @code
 * #include <stdio.h>
 *
 * void print_attempts(void)
 * {
 *     const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
 *     for (size_t i = 0; i < diagnosis->attempt_count; i++)
 *         printf("%s: %s\n", diagnosis->attempts[i].path, diagnosis->attempts[i].result);
 * }
 * @endcode
 */
#ifndef CUSHIM_DIAGNOSIS_H
#define CUSHIM_DIAGNOSIS_H

#include <stdbool.h>
#include <stddef.h>

#include "cushim/load.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The reasons of reasons.h: CUSHIM_REASON_NOT_FOUND. */
enum cushim_reason {
#define CUSHIM_REASON(id, name, code, message, advice) CUSHIM_REASON_##id,
#include "cushim/reasons.h"
    CUSHIM_REASON_COUNT
};

/** Returns the stable name of a reason ("not-found"), never NULL. A number that is not a reason gives the text of
 *  CUSHIM_REASON_UNKNOWN, also in the next two functions. */
CUSHIM_API const char *cushim_reason_name(enum cushim_reason reason);
/** Returns the message of a reason, never NULL. */
CUSHIM_API const char *cushim_reason_message(enum cushim_reason reason);
/** Returns the advice for a reason, never NULL. */
CUSHIM_API const char *cushim_reason_advice(enum cushim_reason reason);

/** One path that was tried, with its result. */
struct cushim_attempt {
    const char *path;          /**< The path or plain name that was tried, or "the handle given". */
    const char *result;        /**< The result as text. */
    enum cushim_reason reason; /**< CUSHIM_REASON_NONE: the driver was found here. Else why it was not. */
    const char *file;          /**< With CUSHIM_REASON_STUB the file of the stub; else NULL. */
    void *reserved[4];         /**< Zero. */
};

/** One environment variable that was set. */
struct cushim_variable {
    const char *name;  /**< The name, such as "CUSHIM_DRIVER". */
    const char *value; /**< The value. Only that of CUDA_VISIBLE_DEVICES can be empty, and then hides all GPUs. */
    /**
     * false: the variable was ignored, because an option was given in its stead or because the process has more rights
     * than its user (set-user-ID and the like).
     */
    bool is_used;
    void *reserved[4]; /**< Zero. */
};

/** The record of the last load, and of the cuInit that followed it. */
struct cushim_diagnosis {
    enum cushim_reason reason; /**< CUSHIM_REASON_NONE: a driver is loaded, and cuInit has not failed. */
    cushim_result code;        /**< What cushim_load() or cushim_init() returned; a code of the driver is unchanged.
                                *   CUDA_SUCCESS before the first load. */
    const char *reason_name;   /**< The stable name of the reason: "not-found". */
    const char *message;       /**< One sentence that says what is wrong, or "". */
    const char *advice;        /**< What a person can do, or "". */
    const char *path;          /**< The driver's file, or NULL. */
    int cuda_version;          /**< The driver's own version, before the version limit; 0 if unknown. */
    const struct cushim_attempt *attempts;   /**< The paths that were tried, in that order. */
    size_t attempt_count;                    /**< The number of attempts. */
    const struct cushim_variable *variables; /**< The variables that can affect the outcome and were set. */
    size_t variable_count;                   /**< The number of variables. */
    void *reserved[4];                       /**< Zero. */
};

/**
 * Returns the current diagnosis. Never loads.
 *
 * A diagnosis is never changed or freed, so the program may keep it and read it without a lock. If memory runs out
 * repeatedly, a diagnosis has only the reason, and the message and the advice for that reason.
 *
 * @return The diagnosis, never NULL. Before the first load its reason is CUSHIM_REASON_NOT_TRIED.
 */
CUSHIM_API const struct cushim_diagnosis *cushim_diagnosis_get(void);

#ifdef __cplusplus
}
#endif

#endif
