/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Loading and initialising the driver. loader.h has the general rules.
 *
 * @code
 * #include <cushim/cushim.h>
 * #include <stdio.h>
 *
 * int gpu_is_usable(void)
 * {
 *     if (cushim_init() == CUDA_SUCCESS) // loads the driver and calls cuInit
 *         return 1;
 *     printf("No GPU today. %s\n%s\n", cushim_diagnosis_get()->message, cushim_diagnosis_get()->advice);
 *     return 0;
 * }
 * @endcode
 */
#ifndef CUSHIM_LOAD_H
#define CUSHIM_LOAD_H

#include <stdbool.h>

#include "cushim/attributes.h"
#if !defined(CUSHIM_UNTYPED)
#    include "cushim/abi/cuda_abi.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** The type of a result code: CUresult, or an int of the same size for untyped.h. */
#if defined(CUSHIM_UNTYPED)
typedef int cushim_result;
#else
typedef CUresult cushim_result;
#endif

/**
 * What to load. Initialise the struct to zero and set the members that matter; zero means the default. cushim copies
 * the strings. An option takes precedence over its environment variable.
 */
struct cushim_load_options {
    /**
     * The driver's file; no other file is tried. The dynamic loader searches for a name without a slash. "none" loads
     * no driver. NULL: CUSHIM_DRIVER (also a file or "none"); if that is not set, cushim searches.
     */
    const char *path;
    /**
     * An open library (from dlopen or LoadLibrary); no other library is tried. It stays owned by the caller and must
     * stay open for the life of the process. It cannot be combined with path.
     */
    void *handle;
    /**
     * The version limit: behave as a driver of this CUDA version, in entry points and in cuDriverGetVersion, to test a
     * program as on a machine with that driver. 0: CUSHIM_MAX_VERSION (written "11.2"); if that is not set, no limit.
     */
    int max_version;
    /** Refuse a driver with a lower version, after the version limit is applied. 0: accept every driver. */
    int min_version;
    /**
     * Hidden functions: behave as a driver without them. The names are separated by commas. The name of a slot with its
     * ABI version ("StreamGetId_v1") hides that entry point; the name of a function ("cuStreamGetId" or "StreamGetId")
     * hides all its versions. NULL: CUSHIM_HIDE; if that is not set, nothing is hidden.
     */
    const char *hide;
    /**
     * A directory, such as an unpacked container image, below which the known paths and the system's files are read.
     * The dynamic loader's own search is then left out. Symbolic links are followed as in a container with this root:
     * an absolute target starts at the root, and ".." does not leave the root. The driver's path in the diagnosis
     * contains no links. The libraries that the driver depends on are those of this machine. NULL: this machine.
     */
    const char *root;
    /**
     * Called for each path that was tried, and then once with the outcome. The calls are made on the thread of
     * cushim_load() before it returns and after the table is published, so the callback may call any function, slots
     * and cushim_load() included. A callback never changes a result.
     *
     * `line` has no newline and is valid during the call.
     *
     * With CUSHIM_LOG, cushim writes the same lines for the load of any program, also one without options: to stderr if
     * the value is "stderr", and otherwise to the end of the file that it names. Each line begins with "cushim[", the
     * number of the process and "]: ". A start (cuInit) that fails adds CUDA_VISIBLE_DEVICES, if that is set, and a
     * line that says why. A file that cannot be written does not affect the program.
     */
    void (*log)(void *log_user, const char *line);
    /** Passed to `log`. */
    void *log_user;
    /**
     * Whether to open the driver with RTLD_GLOBAL, for libraries that find the driver's functions by name in the global
     * scope: dlsym(RTLD_DEFAULT, "cuMemAlloc_v2"). A loaded driver becomes global, too, and stays global. On
     * Windows, which has no such scope, the option has no effect.
     */
    bool has_global_symbols;
    void *reserved[3]; /**< Zero. */
};

/**
 * Finds and opens the driver and makes the driver tables current. The call is optional: a call through any slot of the
 * bootstrap table does the same without options. Never calls cuInit.
 *
 * Without a path, a handle and CUSHIM_DRIVER, cushim first opens the plain name ("libcuda.so.1"), as any program would:
 * if the process has a driver open already, it gets that one. Then it tries the known paths of distributions, WSL,
 * NixOS, container toolkits, Jetson, Flatpak, Snap and Colab. It passes over the stub of the CUDA Toolkit, which exists
 * for linking only, and files that are not drivers. On Windows it tries only nvcuda.dll in System32. A loaded driver
 * stays loaded.
 *
 * The call returns when the dynamic loader and the driver return, and cannot be abandoned. A program that must not wait
 * for a driver that hangs can first call cushim_load() in a child process, or run `cushim probe --timeout`.
 *
 * If several threads call at the same time, the first one loads and the others wait. A fork() waits for a load in
 * progress, but at most five seconds.
 *
 * The environment variables are read by each load until one succeeds, and not by later calls. A program with more
 * rights than its user ignores them. After a failure the null driver is current, every slot can be called,
 * cushim_diagnosis_get() has the reason, and a later cushim_load() tries again. The layers of CUSHIM_LAYERS stay once
 * they were opened, also after a failure.
 *
 * @param options  The options, or NULL for the defaults.
 * @retval CUDA_SUCCESS                          A driver is loaded, by this call or by an earlier one whose options do
 *                                               not contradict these.
 * @retval CUDA_ERROR_INVALID_VALUE              An option or an environment variable has an invalid value, or a
 *                                               reserved member is not zero.
 * @retval CUDA_ERROR_FILE_NOT_FOUND             No driver was found, or the path is "none".
 * @retval CUDA_ERROR_SHARED_OBJECT_INIT_FAILED  A file was found, but it cannot be opened or is not a driver. Or this
 *                                               program is statically linked, and its C library cannot open a shared
 *                                               library in such a program.
 * @retval CUDA_ERROR_STUB_LIBRARY               Only the stub library of the CUDA Toolkit was found, which exists for
 *                                               linking.
 * @retval CUDA_ERROR_NOT_SUPPORTED              The driver is older than min_version.
 * @retval CUDA_ERROR_ALREADY_ACQUIRED           A layer of CUSHIM_LAYERS is installed already (layer.h).
 * @retval CUDA_ERROR_NOT_PERMITTED              A driver is loaded with options that contradict these. It stays loaded,
 *                                               and cushim_error_last() names the first difference.
 * @retval CUDA_ERROR_NOT_READY                  The call was made during a load on the same thread, by the constructor
 *                                               of a library.
 * @return Or the code with which a layer refused to be installed; the reason is CUSHIM_REASON_BAD_LAYER.
 */
CUSHIM_API cushim_result cushim_load(const struct cushim_load_options *options);

/**
 * Loads the driver and calls cuInit(0). If cuInit fails, cushim_diagnosis_get() afterwards has the likely cause and
 * advice. To find it, the call then tries on Linux what the driver needs: it opens /dev/nvidiactl and /dev/nvidia-uvm,
 * creates descriptors, and so on, and undoes all of that; under a seccomp filter, it makes only system calls that every
 * process makes when it starts and opens a library, and getdents64 if the machine has PCI devices of NVIDIA. The slot
 * Init_v1 does the same for a program that calls cuInit itself, and then GetErrorString_v1 returns the message of the
 * diagnosis for exactly the code of that cuInit, until one succeeds. A cuInit with wrong flags is not a failed start. A
 * cuInit that the driver's own cuGetProcAddress returned does not find the cause.
 *
 * After a start, CUDA does not work in a child of fork(). A start that failed can have the same effect: with driver
 * 550, a child whose parent got CUDA_ERROR_NO_DEVICE gets CUDA_ERROR_OPERATING_SYSTEM. gpu.h shows the GPUs without a
 * start.
 *
 * The call takes about 0.4 s (observed with driver 580). A further call costs as much as a further cuInit.
 *
 * @return The code of cuInit, or, if no driver could be loaded, the code of cushim_load().
 * @retval CUDA_ERROR_NOT_READY  The call was made during a load on the same thread, by the constructor of a library.
 */
CUSHIM_API cushim_result cushim_init(void);

/** Returns the CUDA version of the loaded driver, after the version limit; 0 if no driver is loaded. Never loads. */
CUSHIM_API int cushim_driver_version(void);

#ifdef __cplusplus
}
#endif

#endif
