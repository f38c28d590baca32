/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Replaces <cuew.h>, the CUDA Extension Wrangler: its functions and the driver's names, on cushim. A program switches
 * by its include path, which has include/cushim/compat before the directory of cuew, and by linking to cushim instead
 * of cuew.
 *
 * Differences from the original:
 * - The names are functions instead of pointers that may be NULL. If the driver lacks a function, the call returns
 *   CUDA_ERROR_NOT_SUPPORTED.
 * - The names go through the table for the legacy default stream. They can also be called before cuewInit(). Functions
 *   that are newer than cuew are there, too; plain names mean what they mean in CUDA 9.2.
 * - cuewInit(CUEW_INIT_NVRTC) finds the NVRTC that fits the driver and the GPU (nvrtc.h). Without it, the functions of
 *   NVRTC return NVRTC_ERROR_INTERNAL_ERROR. Call it before several threads compile.
 * - The compiler (nvcc) is not searched for.
 *
 * With a subset of cushim (amalgamate.py --slots), it has the functions of that subset, and NVRTC if it was made with
 * --nvrtc. The header then follows its cushim.h, or finds it by the include path as cushim/cushim.h.
 */
#ifndef CUSHIM_COMPAT_CUEW_H
#define CUSHIM_COMPAT_CUEW_H

#if !defined(CUSHIM_OWN_TYPES)
#    define CUSHIM_OWN_TYPES 1
#endif
#if !defined(CUSHIM_CUSHIM_H)
#    include "cushim/cushim.h"
#endif

#if !CUSHIM_OWN_TYPES
#    error "cushim: this <cuew.h> is used together with <cuda.h>: use only one of the two"
#    include "cushim/see_the_error_above.h"
#endif

#if !defined(CUSHIM_ENTRY_LIST) /* else this is a subset, whose cushim.h has its list */
#    include "cushim/abi/egl.h" /* a frame is passed by value */
#endif

/* The original, if a program includes that, too, declares nothing. */
#define __CUEW_H__
#define CUEW_VERSION_MAJOR 2
#define CUEW_VERSION_MINOR 0
#define CUDA_VERSION 9020

enum { CUEW_SUCCESS = 0, CUEW_ERROR_OPEN_FAILED = -1, CUEW_ERROR_ATEXIT_FAILED = -2 };
enum { CUEW_INIT_CUDA = 1, CUEW_INIT_NVRTC = 2 };

#ifdef __cplusplus
extern "C" {
#endif

/* These functions are not visible to the linker, where a program may still have the pointers of cuew by these names. */
#define CUSHIM_NAME_v1(function) cu##function
#define CUSHIM_NAME_v2(function) cu##function##_v2
#define CUSHIM_NAME_v3(function) cu##function##_v3
#define CUSHIM_NAME_v4(function) cu##function##_v4
#define CUSHIM_ENTRY(function, abi, since, params, args)                                                               \
    static inline CUresult CUDAAPI CUSHIM_NAME_##abi(function) params                                                  \
    {                                                                                                                  \
        return cushim_table_legacy()->function##_##abi args;                                                           \
    }
#if defined(CUSHIM_ENTRY_LIST)
#    define CUSHIM_ENTRY_BY_KIND CUSHIM_ENTRY
#    define CUSHIM_ENTRY_PTSZ CUSHIM_ENTRY
#    define CUSHIM_ENTRY_PTDS CUSHIM_ENTRY
#    define CUSHIM_ENTRY_WINDOWS CUSHIM_ENTRY
CUSHIM_ENTRY_LIST
#    undef CUSHIM_ENTRY
#    undef CUSHIM_ENTRY_BY_KIND
#    undef CUSHIM_ENTRY_PTSZ
#    undef CUSHIM_ENTRY_PTDS
#    undef CUSHIM_ENTRY_WINDOWS
#else
#    include "cushim/entry_points.h"
#endif
#undef CUSHIM_NAME_v1
#undef CUSHIM_NAME_v2
#undef CUSHIM_NAME_v3
#undef CUSHIM_NAME_v4

/* Returns a function of NVRTC, or NULL. As cuew has no nvrtcGetCUBIN, the driver must load the PTX. */
static inline cushim_fn cushim_cuew_nvrtc(const char *name)
{
#if defined(CUSHIM_NVRTC_H)
    static struct cushim_nvrtc nvrtc;
    if (nvrtc.handle == NULL && cushim_nvrtc_find(NULL, &nvrtc) != CUDA_SUCCESS)
        return NULL;
    return nvrtc.is_ptx_usable ? cushim_nvrtc_symbol(&nvrtc, name) : NULL;
#else /* a subset without it */
    (void)name;
    return NULL;
#endif
}

/**
 * Loads the driver, if `flags` contains CUEW_INIT_CUDA, and opens NVRTC, if it contains CUEW_INIT_NVRTC.
 *
 * @return CUEW_SUCCESS; CUEW_ERROR_OPEN_FAILED if no driver could be loaded, if it is older than CUDA 4.0, as in cuew,
 *         or if no NVRTC fits.
 */
static inline int cuewInit(unsigned flags)
{
    if ((flags & CUEW_INIT_CUDA) != 0 && (cushim_load(NULL) != CUDA_SUCCESS || cushim_driver_version() < 4000))
        return CUEW_ERROR_OPEN_FAILED;
    return (flags & CUEW_INIT_NVRTC) != 0 && cushim_cuew_nvrtc("nvrtcVersion") == NULL ? CUEW_ERROR_OPEN_FAILED
                                                                                       : CUEW_SUCCESS;
}

/** Returns a sentence for an error code, never NULL. */
static inline const char *cuewErrorString(CUresult result)
{
    const char *text = NULL;
    if (cushim_table_legacy()->GetErrorString_v1(result, &text) != CUDA_SUCCESS || text == NULL)
        return "Unknown CUDA error value";
    return text;
}

/** Returns NULL: no compiler was found. */
static inline const char *cuewCompilerPath(void)
{
    return NULL;
}

/** Returns 0: no compiler was found. */
static inline int cuewCompilerVersion(void)
{
    return 0;
}

typedef enum {
    NVRTC_SUCCESS = 0,
    NVRTC_ERROR_OUT_OF_MEMORY = 1,
    NVRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
    NVRTC_ERROR_INVALID_INPUT = 3,
    NVRTC_ERROR_INVALID_PROGRAM = 4,
    NVRTC_ERROR_INVALID_OPTION = 5,
    NVRTC_ERROR_COMPILATION = 6,
    NVRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7,
    NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
    NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
    NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID = 10,
    NVRTC_ERROR_INTERNAL_ERROR = 11
} nvrtcResult;
typedef struct _nvrtcProgram *nvrtcProgram;

static inline const char *nvrtcGetErrorString(nvrtcResult result)
{
    const char *(*call)(nvrtcResult) = (const char *(*)(nvrtcResult))cushim_cuew_nvrtc("nvrtcGetErrorString");
    if (call != NULL)
        return call(result);
    return result == NVRTC_SUCCESS ? "NVRTC_SUCCESS" : "NVRTC is not available";
}

static inline nvrtcResult nvrtcVersion(int *major, int *minor)
{
    nvrtcResult (*call)(int *, int *) = (nvrtcResult(*)(int *, int *))cushim_cuew_nvrtc("nvrtcVersion");
    return call != NULL ? call(major, minor) : NVRTC_ERROR_INTERNAL_ERROR;
}

static inline nvrtcResult nvrtcCreateProgram(nvrtcProgram *out_program, const char *source, const char *name, int count,
                                             const char **headers, const char **include_names)
{
    nvrtcResult (*call)(nvrtcProgram *, const char *, const char *, int, const char **, const char **) =
        (nvrtcResult(*)(nvrtcProgram *, const char *, const char *, int, const char **,
                        const char **))cushim_cuew_nvrtc("nvrtcCreateProgram");
    return call != NULL ? call(out_program, source, name, count, headers, include_names) : NVRTC_ERROR_INTERNAL_ERROR;
}

static inline nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
    nvrtcResult (*call)(nvrtcProgram *) = (nvrtcResult(*)(nvrtcProgram *))cushim_cuew_nvrtc("nvrtcDestroyProgram");
    return call != NULL ? call(program) : NVRTC_ERROR_INTERNAL_ERROR;
}

static inline nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char **options)
{
    nvrtcResult (*call)(nvrtcProgram, int, const char **) =
        (nvrtcResult(*)(nvrtcProgram, int, const char **))cushim_cuew_nvrtc("nvrtcCompileProgram");
    return call != NULL ? call(program, count, options) : NVRTC_ERROR_INTERNAL_ERROR;
}

static inline nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t *out_size)
{
    nvrtcResult (*call)(nvrtcProgram, size_t *) =
        (nvrtcResult(*)(nvrtcProgram, size_t *))cushim_cuew_nvrtc("nvrtcGetPTXSize");
    return call != NULL ? call(program, out_size) : NVRTC_ERROR_INTERNAL_ERROR;
}

static inline nvrtcResult nvrtcGetPTX(nvrtcProgram program, char *ptx)
{
    nvrtcResult (*call)(nvrtcProgram, char *) = (nvrtcResult(*)(nvrtcProgram, char *))cushim_cuew_nvrtc("nvrtcGetPTX");
    return call != NULL ? call(program, ptx) : NVRTC_ERROR_INTERNAL_ERROR;
}

static inline nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *out_size)
{
    nvrtcResult (*call)(nvrtcProgram, size_t *) =
        (nvrtcResult(*)(nvrtcProgram, size_t *))cushim_cuew_nvrtc("nvrtcGetProgramLogSize");
    return call != NULL ? call(program, out_size) : NVRTC_ERROR_INTERNAL_ERROR;
}

static inline nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log)
{
    nvrtcResult (*call)(nvrtcProgram, char *) =
        (nvrtcResult(*)(nvrtcProgram, char *))cushim_cuew_nvrtc("nvrtcGetProgramLog");
    return call != NULL ? call(program, log) : NVRTC_ERROR_INTERNAL_ERROR;
}

static inline nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char *const expression)
{
    nvrtcResult (*call)(nvrtcProgram, const char *) =
        (nvrtcResult(*)(nvrtcProgram, const char *))cushim_cuew_nvrtc("nvrtcAddNameExpression");
    return call != NULL ? call(program, expression) : NVRTC_ERROR_INTERNAL_ERROR;
}

static inline nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char *const expression,
                                              const char **out_lowered)
{
    nvrtcResult (*call)(nvrtcProgram, const char *, const char **) =
        (nvrtcResult(*)(nvrtcProgram, const char *, const char **))cushim_cuew_nvrtc("nvrtcGetLoweredName");
    return call != NULL ? call(program, expression, out_lowered) : NVRTC_ERROR_INTERNAL_ERROR;
}

/** Returns the version of NVRTC, 10 * major + minor; 0: none fits. */
static inline int cuewNvrtcVersion(void)
{
    int major = 0, minor = 0;
    return nvrtcVersion(&major, &minor) == NVRTC_SUCCESS ? 10 * major + minor : 0;
}

#ifdef __cplusplus
}
#endif

#include "cuew_names.h"

#endif
