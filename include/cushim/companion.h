/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Companions: the libraries that come with the driver and that programs open by hand, NVCUVID, NVENC and NVML. cushim
 * finds and checks them; their functions have the types of NVIDIA's own headers. loader.h has the general rules.
 *
 * @code
 * #include <stdio.h>
 *
 * cushim_fn find_encoder(void)
 * {
 *     cushim_fn fn = cushim_companion_symbol(CUSHIM_COMPANION_NVENC, "NvEncodeAPICreateInstance");
 *     if (fn == NULL)
 *         printf("%s\n%s\n", cushim_companion_get(CUSHIM_COMPANION_NVENC)->message,
 *                cushim_companion_get(CUSHIM_COMPANION_NVENC)->advice);
 *     return fn;
 * }
 * @endcode
 */
#ifndef CUSHIM_COMPANION_H
#define CUSHIM_COMPANION_H

#include "cushim/diagnosis.h"
#include "cushim/lookup.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The companions. */
enum cushim_companion_id {
    CUSHIM_COMPANION_NVCUVID, /**< Decoding: libnvcuvid.so.1, nvcuvid.dll. */
    CUSHIM_COMPANION_NVENC,   /**< Encoding: libnvidia-encode.so.1, nvEncodeAPI64.dll. */
    CUSHIM_COMPANION_NVML,    /**< Management: libnvidia-ml.so.1, nvml.dll. */
    CUSHIM_COMPANION_COUNT    /**< The number of companions. */
};

/** A companion. It is never changed or freed. */
struct cushim_companion {
    /** CUSHIM_REASON_NONE: it is open. Else why it is not, as for a driver library; CUSHIM_REASON_UNKNOWN: memory is
     *  exhausted, and the next call searches again. */
    enum cushim_reason reason;
    const char *name;    /**< "NVENC"; "" in the record of a call that could not search. */
    const char *library; /**< The name that programs open: "libnvidia-encode.so.1". */
    const char *path;    /**< Its file, or "". */
    const char *version; /**< The driver version in the name of its file, "550.163.01"; "" if the name has none. */
    /** A sentence: why it is not open, or that it is open and of another version than the driver; or "". */
    const char *message;
    const char *advice; /**< What a person can do, or "". */
    void *handle;       /**< For dlsym() or GetProcAddress(). NULL if it is not open. Never close it. */
    void *reserved[4];  /**< Zero. */
};

/**
 * Returns a companion, and opens it at the first call. Loads the driver.
 *
 * A copy that the process has open comes first. Then come the directory of the driver, and the one to which the
 * driver's links lead, in each the file of the driver's version before "libnvidia-encode.so.1"; the plain name, which
 * the dynamic loader searches; and the directories where a driver is searched for. The stub of a Toolkit or SDK is
 * passed over. NVCUVID is opened before NVENC, which needs it. The plain name is not used if the driver is that of a
 * root directory, or if the process has more rights than its user. On Windows, only System32 is searched.
 *
 * A copy of another version than the driver is opened, with a message. A companion is searched for once while a driver
 * is loaded: the result is then final. Without a driver, nothing is searched for.
 *
 * @return The companion, never NULL. For a number that is not a companion, one that is not open.
 */
CUSHIM_API const struct cushim_companion *cushim_companion_get(enum cushim_companion_id id);

/**
 * Returns a function of a companion, and opens the companion as cushim_companion_get() does.
 *
 * @param id      The companion.
 * @param symbol  The exported name: "cuvidCreateDecoder".
 * @return The function, or NULL if the companion is not open or lacks the name; cushim_error_last() has the reason.
 */
CUSHIM_API cushim_fn cushim_companion_symbol(enum cushim_companion_id id, const char *symbol);

#ifdef __cplusplus
}
#endif

#endif
