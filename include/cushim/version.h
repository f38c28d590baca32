/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The version of cushim. A version of CUDA has another form, see loader.h.
 *
 * @code
 * int library_is_newer_than_headers(void)
 * {
 *     return cushim_version() > CUSHIM_VERSION;
 * }
 * @endcode
 */
#ifndef CUSHIM_VERSION_H
#define CUSHIM_VERSION_H

#include "cushim/attributes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @name The version of the headers */
/** @{ */
#define CUSHIM_VERSION_MAJOR 0 /**< It changes with incompatible releases. */
#define CUSHIM_VERSION_MINOR 2 /**< It changes with new functions. */
#define CUSHIM_VERSION_PATCH 0 /**< It changes with corrections. */

/** One number to compare: 10000 * major + 100 * minor + patch. */
#define CUSHIM_VERSION (10000 * CUSHIM_VERSION_MAJOR + 100 * CUSHIM_VERSION_MINOR + CUSHIM_VERSION_PATCH)

/** The version as text: "0.2.0". */
#define CUSHIM_VERSION_STRING CUSHIM_EXPAND_VERSION(CUSHIM_VERSION_MAJOR, CUSHIM_VERSION_MINOR, CUSHIM_VERSION_PATCH)
#define CUSHIM_EXPAND_VERSION(major, minor, patch) CUSHIM_QUOTE_VERSION(major, minor, patch)
#define CUSHIM_QUOTE_VERSION(major, minor, patch) #major "." #minor "." #patch
/** @} */

/**
 * Returns the version of the library that the program uses, in the form of ::CUSHIM_VERSION. A shared library can be
 * newer than the headers with which the program was built.
 */
CUSHIM_API int cushim_version(void);

#ifdef __cplusplus
}
#endif

#endif
