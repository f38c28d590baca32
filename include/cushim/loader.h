/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The loader: finds the CUDA driver, fills the dispatch table with its entry points and reports what was found.
 *
 * This header includes one header for each subject and states the general rules. They hold for all of them; the comment
 * of a function states only what differs.
 *
 * **Threads.** Every function may be called at any time and from any thread. One exception: the constructor of a shared
 * object (a static initialiser) must not load the driver while another thread may make the first load. Each thread
 * would wait for the other, because the dynamic loader runs constructors under a lock that opening a library needs. A
 * thread that is cancelled (pthread_cancel) during a load completes the load first.
 *
 * **Fork.** fork() waits for a load in progress. If CUDA was initialised before the fork(), the driver does not work in
 * the child; the reason is CUSHIM_REASON_FORKED.
 *
 * **Several copies.** Static copies of cushim in one process, in two plug-ins or Python wheels, share neither names nor
 * state: the static library exports nothing.
 *
 * **No driver.** Every function may be called on a machine without a driver.
 *
 * **Loading.** A function whose comment says "Loads the driver" does so only if no load was attempted before, with the
 * options of cushim_load(NULL). Loading never calls cuInit; of all functions, only cushim_init() calls it. So loading
 * does not wake a GPU, and it costs about as much as opening the library.
 *
 * **Errors.** A function that can fail returns a CUresult. It writes its output parameters, which come last, only if
 * it returns CUDA_SUCCESS; cushim_require() is the exception. After an error, cushim_error_last() has a message.
 *
 * **Strings.** Every string that a function returns belongs to cushim and stays valid for the life of the process,
 * unless the comment of the function says otherwise.
 *
 * **Structs.** A struct of the API has the same size in every release: it ends with reserved members, which later
 * releases replace by new ones. In a struct that the program fills in, reserved members must be zero: initialise the
 * struct to zero, as {.path = "none"} does. In a struct that cushim fills in, reserved members are zero, so a member
 * that is newer than the library is zero.
 *
 * **Versions.** A CUDA version is an int, 1000 * major + 10 * minor: 12030 is CUDA 12.3. cuDriverGetVersion uses the
 * same form.
 *
 * **Checks of the file.** A file that is given by its path and a file at a known path are checked before they are
 * opened. A truncated file and a file that is not a regular file are refused with CUSHIM_REASON_DAMAGED. A path with
 * $ORIGIN, $LIB or $PLATFORM is refused, because the dynamic loader would open another file. A plain name is opened by
 * the dynamic loader, which does not check: "libcuda.so.1", with which the search begins, and any path option without a
 * slash. A truncated file that the dynamic loader finds can end the process (SIGBUS), and a FIFO can block it, as in
 * any program that opens the driver by its name. The libraries that the driver depends on are not checked either. For
 * these reasons, the program `cushim` opens the driver in a child process first.
 *
 * **Unloading.** Unloading cushim is safe at any time. A shared object that contains cushim (the shared library itself,
 * or a plug-in with a static copy) stays mapped until the process ends once it has tried to load a driver, whether or
 * not the load succeeded. So dlclose() or FreeLibrary() may be called while completions are outstanding, and what the
 * copy returned can be used for the life of the process. If the shared object is opened again, the program gets the
 * same copy with the same driver. A static copy that never tried to load a driver is unmapped, together with the table
 * and the diagnosis that it returned.
 */
#ifndef CUSHIM_LOADER_H
#define CUSHIM_LOADER_H

#include "cushim/dispatch_table.h"
#include "cushim/load.h"
#include "cushim/diagnosis.h"
#include "cushim/slot.h"
#include "cushim/feature.h"
#include "cushim/choose.h"
#include "cushim/lookup.h"
#include "cushim/companion.h"
#include "cushim/gpu.h"
#include "cushim/nvrtc.h"
#include "cushim/error.h"
#include "cushim/layer.h"
#include "cushim/system.h"
#include "cushim/version.h"

#endif
