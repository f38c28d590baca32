/* SPDX-License-Identifier: MIT */
/**
 * @file
 * NVRTC, the library that compiles kernels when a program runs. It is not part of the driver: it comes with a CUDA
 * Toolkit, with a Python package, or with the program. loader.h has the general rules.
 *
 * cushim_nvrtc_find() chooses the copy that this driver and this GPU can use, and returns what to compile for. Its
 * functions have the types of NVIDIA's own header.
 *
 * @code
 * #include <cushim/cushim.h>
 * #include <stdio.h>
 *
 * // Returns nvrtcCompileProgram, or NULL.
 * cushim_fn find_compiler(char *option, size_t size)
 * {
 *     static struct cushim_nvrtc nvrtc;
 *     if (cushim_nvrtc_find(NULL, &nvrtc) != CUDA_SUCCESS || nvrtc.handle == NULL) {
 *         printf("%s\n%s\n", nvrtc.message, nvrtc.advice);
 *         return NULL;
 *     }
 *     // Then nvrtcGetPTX() for "compute_75", and nvrtcGetCUBIN() for "sm_75". "": the GPU is not known.
 *     snprintf(option, size, "--gpu-architecture=%s", nvrtc.target[0] != '\0' ? nvrtc.target : "compute_75");
 *     return cushim_nvrtc_symbol(&nvrtc, "nvrtcCompileProgram");
 * }
 * @endcode
 */
#ifndef CUSHIM_NVRTC_H
#define CUSHIM_NVRTC_H

#include <stdbool.h>

#include "cushim/diagnosis.h"
#include "cushim/lookup.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What the program loads. */
enum cushim_nvrtc_output {
    /** PTX, which the driver compiles. A copy whose PTX is too new for the driver comes last, and then only for
     *  CUBINs. */
    CUSHIM_NVRTC_PTX,
    /** CUBINs for exactly this GPU. A copy that cannot make one comes last, and then only for PTX. */
    CUSHIM_NVRTC_CUBIN
};

/** How to look for NVRTC. Initialise the struct to zero, the default. */
struct cushim_nvrtc_options {
    enum cushim_nvrtc_output output; /**< What the program prefers to load. */
    int ordinal;                     /**< The CUdevice for which to compile. */
    int capability;                  /**< The compute capability of that device (8060 is 8.6). 0: that of the device,
                                      *   as cushim_gpu_find() shows it, without a start of CUDA. */
    int driver_version;              /**< The CUDA version of the driver (12020). 0: that of the loaded driver. */
    /** The directory below which to look, in the directories of the environment variables and of Toolkits, and for GPUs
     *  (see ::cushim_load_options). NULL: this machine. */
    const char *root;
    void *reserved[4]; /**< Zero. */
};

/** What was found. */
struct cushim_nvrtc {
    /**
     * CUSHIM_REASON_NONE: a copy is open. Else why none is: CUSHIM_REASON_NOT_FOUND; CUSHIM_REASON_TOO_OLD, the driver
     * is too old for each copy; CUSHIM_REASON_LACKS_FEATURE, no copy compiles for the GPU;
     * CUSHIM_REASON_NEEDS_LIBRARY, the second file of NVRTC (libnvrtc-builtins) is missing; or a reason for which a
     * library cannot be opened.
     */
    enum cushim_reason reason;
    int version;        /**< The CUDA version of the copy: 12090. 0: none is open. */
    int driver;         /**< The CUDA version of the driver for which it was chosen. 0: no driver is loaded. */
    int capability;     /**< The compute capability for which it was chosen: 8060 is 8.6. 0: not known. */
    bool is_ptx_usable; /**< The driver also compiles the PTX of this copy. Otherwise only CUBINs load. */
    /** What to compile for: "compute_86" and nvrtcGetPTX(), or "sm_86" and nvrtcGetCUBIN(). "": the GPU is not
     *  known. */
    char target[16];
    char path[1024];    /**< The file, without links; "": none is open. */
    const char *place;  /**< Where it was found: "VIRTUAL_ENV"; "": none is open. */
    char message[1400]; /**< A sentence: why none is open, or what has to be known about this copy; or "". */
    char advice[320];   /**< What a person can do, or "". */
    void *handle;       /**< For dlsym() or GetProcAddress(). NULL if none is open. Never close it. */
    void *reserved[4];  /**< Zero. */
};

/**
 * Finds and opens the NVRTC that the driver and the GPU can use. Loads the driver, unless its version is given. Each
 * call searches again, and takes 3 to 40 ms if it opens a copy; no other function of cushim searches for NVRTC.
 *
 * The places are, in this order: a copy that the process has open; the directory of the library with this copy of
 * cushim, and that of the program, each with its "../lib"; the Python packages that this process uses, by the paths of
 * its open libraries; VIRTUAL_ENV, CONDA_PREFIX, CUDA_PATH, CUDA_HOME and, on Linux, LD_LIBRARY_PATH and the other
 * directories in which the dynamic loader looks for libraries; and the usual directories of Toolkits. In a process with
 * more rights than its user, only a copy that is open and the usual directories count. A file is opened by its path,
 * after a check that it is complete: the dynamic loader itself checks none, and a truncated file ends the process.
 *
 * A copy fits if the driver compiles its PTX, or if both are of one major version, 11 or newer, and the program can
 * load CUBINs; if it compiles for the GPU; and if the file libnvrtc-builtins of exactly its version is beside it, or
 * open. The call opens that file first, so that NVRTC finds no other one. Of the copies that fit, the best kind of
 * output decides, then the place, then the newest version. The version is read from file names, so a copy that does not
 * fit is seldom opened.
 *
 * @param options    The options, or NULL for the defaults.
 * @param out_nvrtc  Receives what was found.
 * @retval CUDA_SUCCESS             The record is written, also if no copy fits.
 * @retval CUDA_ERROR_OUT_OF_MEMORY Memory is exhausted.
 * @retval CUDA_ERROR_INVALID_VALUE out_nvrtc is NULL, or an option has an invalid value.
 */
CUSHIM_API cushim_result cushim_nvrtc_find(const struct cushim_nvrtc_options *options, struct cushim_nvrtc *out_nvrtc);

/**
 * Returns a function of NVRTC by its name, as dlsym() or GetProcAddress() do.
 *
 * @return The function. NULL if none is open, or if the copy lacks it: nvrtcGetCUBIN is of 11.1.
 */
CUSHIM_API cushim_fn cushim_nvrtc_symbol(const struct cushim_nvrtc *nvrtc, const char *symbol);

#ifdef __cplusplus
}
#endif

#endif
