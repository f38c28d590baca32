/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Which of several builds fits this machine. loader.h has the general rules.
 *
 * A *condition* is one word. cushim_require() and the options of `cushim probe` take the same ones:
 *
 * - `cuda>=12.4`: the driver is for this CUDA version or a newer one. `12.4` alone means the same, and so does a driver
 *   alone: `550` is the CUDA version of driver 550.
 * - `driver>=550.54`: the release of the driver; that of the branch, `driver>=550`, is enough. A driver whose file does
 *   not show its release, as on Windows, is compared by its CUDA version where that decides.
 * - `arch>=7.5`: a GPU has this compute capability or a higher one. It needs cuInit, and a subset needs `--gpus`.
 * - `memory>=16G`: a GPU has as much memory, in bytes, or with K, M, G or T. One GPU must meet all conditions on GPUs.
 * - `cuda<13.0`: each of these can have `<` in place of `>=`.
 * - `cuMemAllocAsync`, `memory-pools`: the slot can be called (slot.h), every device has the feature (feature.h).
 *
 * @code
 * #include <cushim/cushim.h>
 *
 * const char *plugin_to_load(void) // "cu13", "cu12" or "cpu"
 * {
 *     const char *name = "cpu";
 *     (void)cushim_choose("cu13: cuda>=13.0 arch>=7.5; cu12: cuda>=12.0; cpu", &name);
 *     return name;
 * }
 * @endcode
 */
#ifndef CUSHIM_CHOOSE_H
#define CUSHIM_CHOOSE_H

#include "cushim/load.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The text of a condition that `cushim audit` finds in a program. */
#define CUSHIM_NEED_TEXT(condition) "cushim-need:" condition

/**
 * A condition, as a string literal, for cushim_require(): `cushim audit` then reads in the file of the program what it
 * cannot do without, and judges that. Without it, a program that contains cushim is taken to start on each driver.
 *
 * @code
 * #include <cushim/cushim.h>
 *
 * int has_all(void)
 * {
 *     static const char *const needed[] = {CUSHIM_NEED("cuda>=11.4"), CUSHIM_NEED("cuStreamGetId")};
 *     return cushim_require(needed, 2, CUSHIM_DEFAULT_STREAM_AS_COMPILED, NULL) == CUDA_SUCCESS;
 * }
 * @endcode
 */
#define CUSHIM_NEED(condition) (&CUSHIM_NEED_TEXT(condition)[sizeof "cushim-need:" - 1])

/**
 * Finds the first build of a list that fits this machine, as `cushim probe --choose` does. Loads the driver and, unless
 * the first build has no conditions, starts it (cuInit) as cushim_init() does. If it cannot be started, only a build
 * without conditions fits.
 *
 * @param list      Builds between semicolons: "cu13: cuda>=13.0 arch>=7.5; cu12: cuda>=12.0; cpu". The conditions of a
 *                  build follow a colon, between spaces or commas. A name has at most 63 letters, digits, and "._+-".
 * @param out_name  Receives the name of the build. It is valid until the next call on this thread.
 * @retval CUDA_ERROR_NOT_FOUND      No build fits; cushim_error_last() has the reason for each. Or a name in the list
 *                                   is neither that of a slot nor that of a feature; a subset knows its own slots, and
 *                                   no features.
 * @retval CUDA_ERROR_NOT_SUPPORTED  A condition is on GPUs, and this copy of cushim is a subset without `--gpus`.
 * @retval CUDA_ERROR_INVALID_VALUE  The list is not valid, or an argument is NULL.
 * @retval CUDA_ERROR_NOT_READY      This thread is already loading the driver.
 */
CUSHIM_API cushim_result cushim_choose(const char *list, const char **out_name);

#ifdef __cplusplus
}
#endif

#endif
