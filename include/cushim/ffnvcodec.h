/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Include this before `<ffnvcodec/dynlink_loader.h>` of nv-codec-headers, in every source that includes that header:
 * cuda_load_functions(), cuvid_load_functions() and nvenc_load_functions() then find the driver, NVCUVID and NVENC by
 * cushim, through the hooks of the original.
 *
 * Members, types, and which functions are required or optional are those of the original, so that a driver without a
 * required function is refused. The reason follows "Cannot load ..." in the program's FFNV_LOG_FUNC, or on stderr.
 * The libraries stay open. The member `lib` of CudaFunctions is not a handle for dlsym() or GetProcAddress(): use
 * cushim_symbol_if_available().
 *
 * In a copy of cushim from amalgamate.py, this header follows cushim_untyped.h. In a subset without --companions,
 * NVCUVID and NVENC are opened as by the original, or by the program's own FFNV_LOAD_FUNC.
 */
#ifndef CUSHIM_FFNVCODEC_H
#define CUSHIM_FFNVCODEC_H

#if defined(FFNV_CUDA_DYNLINK_LOADER_H)
#    error "cushim: include <cushim/ffnvcodec.h> before <ffnvcodec/dynlink_loader.h>"
#endif

/** @cond INTERNAL */
#include <stdio.h>
#include <string.h>

#if !defined(CUSHIM_UNTYPED_H)
#    include "cushim/untyped.h"
#endif

/* The defaults of the original, as it decides about them. */
#if defined(_WIN32) && (!defined(FFNV_LOAD_FUNC) || !defined(FFNV_SYM_FUNC) || !defined(FFNV_LIB_HANDLE))
#    include <windows.h>
#endif
#if !defined(FFNV_LIB_HANDLE)
#    if defined(_WIN32)
#        define FFNV_LIB_HANDLE HMODULE
#    else
#        define FFNV_LIB_HANDLE void *
#    endif
#endif
#if !defined(FFNV_LOAD_FUNC) || !defined(FFNV_SYM_FUNC)
#    undef FFNV_LOAD_FUNC
#    undef FFNV_SYM_FUNC
#    undef FFNV_FREE_FUNC
#    if defined(_WIN32)
#        define FFNV_LOAD_FUNC(path) LoadLibraryA(path)
#        define FFNV_SYM_FUNC(lib, sym) GetProcAddress((lib), (sym))
#        define FFNV_FREE_FUNC(lib) FreeLibrary(lib)
#    else
#        include <dlfcn.h>
#        define FFNV_LOAD_FUNC(path) dlopen((path), RTLD_LAZY)
#        define FFNV_SYM_FUNC(lib, sym) dlsym((lib), (sym))
#        define FFNV_FREE_FUNC(lib) dlclose(lib)
#    endif
#endif
#if !defined(FFNV_LOG_FUNC) || !defined(FFNV_DEBUG_LOG_FUNC)
#    undef FFNV_LOG_FUNC
#    undef FFNV_DEBUG_LOG_FUNC
#    define FFNV_LOG_FUNC(logctx, msg, ...) fprintf(stderr, (msg), __VA_ARGS__)
#    define FFNV_DEBUG_LOG_FUNC(logctx, msg, ...)
#endif

/* The handle of the driver, in each source of the program: the address of a function of cushim. */
static inline FFNV_LIB_HANDLE cushim_ffnv_driver(void)
{
    int (*function)(void) = cushim_version;
    FFNV_LIB_HANDLE handle;
    memcpy(&handle, &function, sizeof handle);
    return handle;
}

static inline int cushim_ffnv_is_driver(const char *path)
{
    return strcmp(path, "libcuda.so.1") == 0 || strcmp(path, "nvcuda.dll") == 0;
}

#if defined(CUSHIM_COMPANION_H)
/* The companion that the path of a library means, or NULL. */
static inline const struct cushim_companion *cushim_ffnv_companion(const char *path)
{
    if (strstr(path, "nvcuvid") != NULL)
        return cushim_companion_get(CUSHIM_COMPANION_NVCUVID);
    if (strstr(path, "nvidia-encode") != NULL || strstr(path, "nvEncodeAPI") != NULL)
        return cushim_companion_get(CUSHIM_COMPANION_NVENC);
    return NULL;
}

static inline FFNV_LIB_HANDLE cushim_ffnv_open(const char *path)
{
    const struct cushim_companion *companion = cushim_ffnv_companion(path);
    return companion != NULL ? (FFNV_LIB_HANDLE)companion->handle : (FFNV_LIB_HANDLE)FFNV_LOAD_FUNC(path);
}

/* A companion has its own handle, which is not that of FFNV_LOAD_FUNC, and stays open. */
static inline int cushim_ffnv_is_companion(FFNV_LIB_HANDLE library, enum cushim_companion_id id)
{
    return library == (FFNV_LIB_HANDLE)cushim_companion_get(id)->handle;
}

static inline cushim_fn cushim_ffnv_find(FFNV_LIB_HANDLE library, const char *symbol)
{
    cushim_fn fn = NULL;
    if (cushim_ffnv_is_companion(library, CUSHIM_COMPANION_NVCUVID)) {
        fn = cushim_companion_symbol(CUSHIM_COMPANION_NVCUVID, symbol);
    } else if (cushim_ffnv_is_companion(library, CUSHIM_COMPANION_NVENC)) {
        fn = cushim_companion_symbol(CUSHIM_COMPANION_NVENC, symbol);
    } else {
        void *found = (void *)FFNV_SYM_FUNC(library, symbol);
        memcpy(&fn, &found, sizeof fn);
    }
    return fn;
}

static inline void cushim_ffnv_close(FFNV_LIB_HANDLE library)
{
    if (!cushim_ffnv_is_companion(library, CUSHIM_COMPANION_NVCUVID)
        && !cushim_ffnv_is_companion(library, CUSHIM_COMPANION_NVENC))
        FFNV_FREE_FUNC(library);
}

static inline void cushim_ffnv_log_other(void *logctx, const char *name)
{
    const struct cushim_companion *companion = cushim_ffnv_companion(name);
    (void)logctx;
    if (companion != NULL)
        FFNV_LOG_FUNC(logctx, "Cannot load %s: %s %s\n", name, companion->message, companion->advice);
    else
        FFNV_LOG_FUNC(logctx, "Cannot load %s: %s\n", name, cushim_error_last()->message);
}
#else
static inline FFNV_LIB_HANDLE cushim_ffnv_open(const char *path)
{
    return (FFNV_LIB_HANDLE)FFNV_LOAD_FUNC(path);
}

static inline cushim_fn cushim_ffnv_find(FFNV_LIB_HANDLE library, const char *symbol)
{
    void *found = (void *)FFNV_SYM_FUNC(library, symbol);
    cushim_fn fn;
    memcpy(&fn, &found, sizeof fn);
    return fn;
}

static inline void cushim_ffnv_close(FFNV_LIB_HANDLE library)
{
    FFNV_FREE_FUNC(library);
}

static inline void cushim_ffnv_log_other(void *logctx, const char *name)
{
    (void)logctx;
    FFNV_LOG_FUNC(logctx, "Cannot load %s\n", name);
}
#endif

static inline FFNV_LIB_HANDLE cushim_ffnv_load(const char *path)
{
    if (cushim_ffnv_is_driver(path))
        return cushim_load(NULL) == 0 ? cushim_ffnv_driver() : NULL;
    return cushim_ffnv_open(path);
}

static inline cushim_fn cushim_ffnv_symbol(FFNV_LIB_HANDLE library, const char *symbol)
{
    return library == cushim_ffnv_driver() ? cushim_symbol_if_available(symbol) : cushim_ffnv_find(library, symbol);
}

static inline void cushim_ffnv_free(FFNV_LIB_HANDLE library)
{
    if (library != cushim_ffnv_driver())
        cushim_ffnv_close(library);
}

/* `name`: a library, or a function that is required. */
static inline void cushim_ffnv_log(void *logctx, const char *name)
{
    (void)logctx;
    if (cushim_ffnv_is_driver(name))
        FFNV_LOG_FUNC(logctx, "Cannot load %s: %s %s\n", name, cushim_diagnosis_get()->message,
                      cushim_diagnosis_get()->advice);
    else if (strncmp(name, "cu", 2) == 0 && strncmp(name, "cuvid", 5) != 0)
        FFNV_LOG_FUNC(logctx, "Cannot load %s: %s\n", name, cushim_error_last()->message);
    else
        cushim_ffnv_log_other(logctx, name);
}

#undef FFNV_LOAD_FUNC
#undef FFNV_SYM_FUNC
#undef FFNV_FREE_FUNC
#undef FFNV_LOG_FUNC
#define FFNV_LOAD_FUNC(path) cushim_ffnv_load(path)
#define FFNV_SYM_FUNC(lib, sym) cushim_ffnv_symbol((lib), (sym))
#define FFNV_FREE_FUNC(lib) cushim_ffnv_free(lib)
#define FFNV_LOG_FUNC(logctx, msg, name) cushim_ffnv_log((logctx), (name))
/** @endcond */

#endif
