/* SPDX-License-Identifier: MIT */
/*
 * softcuda.h - telling softcuda what to do, from the program that it runs in.
 *
 * Not linked: found in the library that is loaded, so that a program which uses it still runs on a real driver.
 *
 *     softcuda_control_fn get = (softcuda_control_fn)dlsym(libcuda, SOFTCUDA_CONTROL_SYMBOL);
 *     const struct softcuda_control *soft = get != NULL ? get(SOFTCUDA_CONTROL_VERSION) : NULL;
 *     if (soft != NULL)
 *         soft->register_kernel("scale", scale, sizes, 3);
 *
 * Every function may be called at any time, before cuInit too, and from any thread.
 */
#ifndef SOFTCUDA_H
#define SOFTCUDA_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SOFTCUDA_CONTROL_SYMBOL "softcuda_control"
#define SOFTCUDA_CONTROL_VERSION 1

/* One launch of a kernel. `arguments[i]` points to a copy of the i-th argument, taken when the launch was submitted. */
struct softcuda_launch {
    const char *name;
    unsigned grid[3];
    unsigned block[3];
    unsigned shared_bytes;
    void *const *arguments;
    size_t argument_count;
    /* What becomes of it: 0, or a CUresult (700 for an illegal address) that poisons the context as a real fault
     * does. */
    int result;
};

/* Stands for a whole launch, every thread of the grid; runs on a thread of softcuda's, in the order of the stream. */
typedef void (*softcuda_kernel)(struct softcuda_launch *launch);

enum softcuda_lie {
    SOFTCUDA_LIE_NONE = 0,
    SOFTCUDA_LIE_NEWEST = 1, /* cuGetProcAddress gives the newest ABI, whatever the version asked for */
    SOFTCUDA_LIE_OLDEST = 2, /* ... the oldest */
    SOFTCUDA_LIE_NULL = 3    /* ... success and NULL */
};

struct softcuda_control {
    /* "550", and the CUDA version as cuDriverGetVersion gives it. */
    const char *driver;
    int cuda_version;

    /*
     * From now on cuModuleGetFunction and cuLibraryGetKernel find `name` in every module. The driver cannot know a
     * kernel's parameters, so their sizes are given; each is aligned to the power of two that its size is a multiple
     * of, at most 16. Replaces an earlier one of that name. The name is copied. Returns 0, or the CUresult 1 or 2.
     */
    int (*register_kernel)(const char *name, softcuda_kernel function, const size_t *argument_sizes,
                           size_t argument_count);

    /* The nth call from now (1: the next) of the exported function `symbol` ("cuMemAlloc_v2") returns `code` and does
     * nothing; 0 means every call, until clear_faults. Returns 0, or 1 where there is no such symbol or no room. */
    int (*fail_call)(const char *symbol, unsigned nth, int code);
    /* No call fails any more, and a device that a faulting kernel has lost is as new: on a real one only a new process
     * helps. */
    void (*clear_faults)(void);

    /* Host functions and status callbacks come so much later. 0: at once. */
    void (*delay_callbacks)(unsigned milliseconds);
    void (*lie)(enum softcuda_lie what);
};

/* The control of this library, or NULL where it has no such version. The result stays valid. */
typedef const struct softcuda_control *(*softcuda_control_fn)(int version);

#ifdef __cplusplus
}
#endif

#endif
