/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The control interface of softcuda, for the program that runs on it: kernels and injected faults.
 *
 * A program does not link to this interface. It looks it up in the loaded driver library, so the same program also runs
 * on a real driver:
 *
 *     softcuda_control_fn get = (softcuda_control_fn)dlsym(libcuda, SOFTCUDA_CONTROL_SYMBOL);
 *     const struct softcuda_control *soft = get != NULL ? get(SOFTCUDA_CONTROL_VERSION) : NULL;
 *     if (soft != NULL)
 *         soft->register_kernel("scale", scale, sizes, 3);
 *
 * A function of this interface that refuses its arguments also says why on the standard error stream.
 *
 * Thread safety: every function may be called from any thread and at any time, also before cuInit().
 */
#ifndef SOFTCUDA_H
#define SOFTCUDA_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SOFTCUDA_CONTROL_SYMBOL "softcuda_control"
#define SOFTCUDA_CONTROL_VERSION 1

/** One launch of a kernel. */
struct softcuda_launch {
    const char *name;
    unsigned grid[3];
    unsigned block[3];
    unsigned shared_bytes;
    /** `arguments[i]` points to a copy of the i-th argument, which was made when the launch was submitted. */
    void *const *arguments;
    size_t argument_count;
    /**
     * The result of the launch, 0 unless the kernel sets it. A CUresult, such as CUDA_ERROR_ILLEGAL_ADDRESS, is the
     * sticky error of every context of the device from then on, as after a fault on a real GPU.
     */
    int result;
};

/**
 * A C function that replaces a kernel. It is called once for a whole launch, not once for each thread of the grid, on a
 * thread of softcuda and in the order of the stream.
 */
typedef void (*softcuda_kernel)(struct softcuda_launch *launch);

/** The functions of the control interface. */
struct softcuda_control {
    /** The branch of the real driver that this library represents, such as "550". */
    const char *driver;
    /** The result of cuDriverGetVersion(), such as 12040. */
    int cuda_version;

    /**
     * Registers a kernel: from now on, cuModuleGetFunction() and cuLibraryGetKernel() find it in every module. It
     * replaces a kernel that was registered under the same name before.
     *
     * @param name            the name; it is copied
     * @param function        the function to call for each launch
     * @param argument_sizes  the size of each parameter in bytes, because a driver cannot know it from a C function.
     *                        Each parameter is aligned to the largest power of two that divides its size, at most 16.
     * @param argument_count  the number of parameters
     *
     * @retval 0  success
     * @retval 1  CUDA_ERROR_INVALID_VALUE: an argument is invalid
     * @retval 2  CUDA_ERROR_OUT_OF_MEMORY
     */
    int (*register_kernel)(const char *name, softcuda_kernel function, const size_t *argument_sizes,
                           size_t argument_count);

    /**
     * Makes a call of a function fail: it returns `code` and does nothing.
     *
     * @param function  a plain name, such as "cuMemAlloc", means every version; "cuMemAlloc_v1" means the first, and
     *                  "cuMemAlloc_v2" the second, each for both default streams; "cuMemcpyHtoD_v2_ptds" means that
     *                  exported name; "*" means every function
     * @param nth       which call from now on fails, 1 for the next one; 0 for every call until clear_faults()
     * @param code      the CUresult that the call returns, above 0
     *
     * @retval 0  success; also for a function that only other drivers have
     * @retval 1  CUDA_ERROR_INVALID_VALUE: no driver has this function, or the code is not an error
     * @retval 2  CUDA_ERROR_OUT_OF_MEMORY
     */
    int (*fail_call)(const char *function, unsigned nth, int code);

    /** Returns the exported name of the latest call that failed because of fail_call() or SOFTCUDA_FAIL, and forgets
     * it; NULL if no call failed so since. */
    const char *(*failed_call)(void);

    /**
     * Removes all injected faults and the sticky errors of all devices. After a fault on a real device, only a new
     * process can do this.
     */
    void (*clear_faults)(void);

    /** Delays each host function and each status callback by so many milliseconds; 0 removes the delay. */
    void (*delay_callbacks)(unsigned milliseconds);

    /** Returns what was refused last: by a function of this interface, or of the environment when the library was
     * loaded, such as "SOFTCUDA_MEMORY: ..."; "" if nothing was. It is valid until something else is refused. */
    const char *(*refusal)(void);
};

/**
 * The type of the exported function SOFTCUDA_CONTROL_SYMBOL.
 *
 * @param version  SOFTCUDA_CONTROL_VERSION
 * @return the control interface, valid as long as the library is loaded, or NULL if the library lacks this version
 */
typedef const struct softcuda_control *(*softcuda_control_fn)(int version);

#ifdef __cplusplus
}
#endif

#endif
