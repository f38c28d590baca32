/* SPDX-License-Identifier: MIT */
/* Modules and libraries. The image is not read: every module contains the registered kernels. */
#include "calls.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_SHARED = 48 << 10 }; /* of a block, as the device reports it */

struct module {
    struct object object;
};

static void module_free(void *object)
{
    free(object);
}

/* Code reaches the device, or leaves it, when all work of the context is done: driver 580 waits behind a host function
 * that does not return. */
static void module_drain_context(void)
{
    struct context *context = context_current();
    if (context != NULL)
        context_drain(context);
}

/* Whether a library was loaded of which no function was asked for: its code reaches the device with the first one. */
static bool library_is_new;

static CUresult module_load_image(const void *image, struct module **out_module)
{
    if (image == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    struct module *module = object_new(OBJECT_MODULE, sizeof *module, module_free);
    if (module == NULL || !handle_publish(module)) {
        free(module);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out_module = module;
    return CUDA_SUCCESS;
}

CUresult soft_ModuleLoadData_v1(CUmodule *module, const void *image)
{
    struct context *context = NULL;
    struct module *made = NULL;
    CUresult result = context_need(&context);
    if (result == CUDA_SUCCESS && (module == NULL || image == NULL))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return result;
    context_drain(context);
    result = module_load_image(image, &made);
    if (result == CUDA_SUCCESS)
        *module = (CUmodule)made;
    return result;
}

CUresult soft_ModuleLoadDataEx_v1(CUmodule *module, const void *image, unsigned int numOptions, CUjit_option *options,
                                  void **optionValues)
{
    if (numOptions > 0 && (options == NULL || optionValues == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    return soft_ModuleLoadData_v1(module, image);
}

CUresult soft_ModuleLoadFatBinary_v1(CUmodule *module, const void *fatCubin)
{
    return soft_ModuleLoadData_v1(module, fatCubin);
}

/* The file must exist, but is not read. */
static bool file_is_readable(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file != NULL)
        fclose(file);
    return file != NULL;
}

CUresult soft_ModuleLoad_v1(CUmodule *module, const char *fname)
{
    struct context *context = NULL;
    CUresult result = context_need(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (module == NULL || fname == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    return file_is_readable(fname) ? soft_ModuleLoadData_v1(module, fname) : CUDA_ERROR_FILE_NOT_FOUND;
}

static CUresult module_unload(const void *handle, bool waits)
{
    struct module *module = handle_find(OBJECT_MODULE, handle);
    if (module == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult result = capture_unsafe();
    if (result != CUDA_SUCCESS)
        return result;
    handle_withdraw(module); /* before the wait, so that a second call finds nothing */
    if (waits)
        module_drain_context();
    object_unref(module);
    return CUDA_SUCCESS;
}

CUresult soft_ModuleUnload_v1(CUmodule hmod)
{
    return module_unload(hmod, true);
}

/* In place of a kernel that is not registered (SOFTCUDA_EMPTY_KERNELS). */
static void kernel_empty(struct softcuda_launch *launch)
{
    (void)launch;
}

static CUresult module_find(const void *module, const char *name, const void *out_result,
                            struct function **out_function)
{
    if (handle_find(OBJECT_MODULE, module) == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (name == NULL || out_result == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *out_function = function_named(name);
    if (*out_function != NULL)
        return CUDA_SUCCESS;
    if (!kernels_may_be_empty()) {
        refusal_record(name);
        thread_explain("softcuda runs no kernels: register \"%s\" (softcuda.h), or set SOFTCUDA_EMPTY_KERNELS=1", name);
        return CUDA_ERROR_NOT_FOUND;
    }
    kernels_warn_empty();
    CUresult result = function_register(name, kernel_empty, NULL, 0);
    if (result == CUDA_SUCCESS)
        *out_function = function_named(name);
    return result;
}

CUresult soft_ModuleGetFunction_v1(CUfunction *hfunc, CUmodule hmod, const char *name)
{
    struct function *function = NULL;
    CUresult result = module_find(hmod, name, hfunc, &function);
    if (result == CUDA_SUCCESS)
        *hfunc = (CUfunction)function;
    return result;
}

CUresult soft_LibraryLoadData_v1(CUlibrary *library, const void *code, CUjit_option *jitOptions,
                                 void **jitOptionsValues, unsigned int numJitOptions, CUlibraryOption *libraryOptions,
                                 void **libraryOptionValues, unsigned int numLibraryOptions)
{
    (void)jitOptions, (void)jitOptionsValues, (void)numJitOptions;
    (void)libraryOptions, (void)libraryOptionValues, (void)numLibraryOptions;
    struct module *made = NULL;
    CUresult result = library == NULL ? CUDA_ERROR_INVALID_VALUE : module_load_image(code, &made);
    if (result != CUDA_SUCCESS)
        return result;
    library_is_new = true;
    *library = (CUlibrary)made;
    return CUDA_SUCCESS;
}

CUresult soft_LibraryLoadFromFile_v1(CUlibrary *library, const char *fileName, CUjit_option *jitOptions,
                                     void **jitOptionsValues, unsigned int numJitOptions,
                                     CUlibraryOption *libraryOptions, void **libraryOptionValues,
                                     unsigned int numLibraryOptions)
{
    if (library == NULL || fileName == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!file_is_readable(fileName))
        return CUDA_ERROR_FILE_NOT_FOUND;
    return soft_LibraryLoadData_v1(library, fileName, jitOptions, jitOptionsValues, numJitOptions, libraryOptions,
                                   libraryOptionValues, numLibraryOptions);
}

CUresult soft_LibraryUnload_v1(CUlibrary library)
{
    return module_unload(library, false);
}

CUresult soft_LibraryGetKernel_v1(CUkernel *pKernel, CUlibrary library, const char *name)
{
    struct function *function = NULL;
    CUresult result = module_find(library, name, pKernel, &function);
    if (result == CUDA_SUCCESS)
        *pKernel = (CUkernel)function;
    return result;
}

CUresult soft_LibraryGetModule_v1(CUmodule *pMod, CUlibrary library)
{
    if (pMod == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (handle_find(OBJECT_MODULE, library) == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    *pMod = (CUmodule)(void *)library;
    return CUDA_SUCCESS;
}

CUresult soft_KernelGetFunction_v1(CUfunction *pFunc, CUkernel kernel)
{
    if (pFunc == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (handle_find(OBJECT_FUNCTION, kernel) == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (library_is_new)
        module_drain_context();
    library_is_new = false;
    *pFunc = (CUfunction)(void *)kernel;
    return CUDA_SUCCESS;
}

/* A C function has no attributes of its own, so these are valid for any kernel on this device. */
CUresult soft_FuncGetAttribute_v1(int *pi, CUfunction_attribute attrib, CUfunction hfunc)
{
    if (handle_find(OBJECT_FUNCTION, hfunc) == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (pi == NULL || (int)attrib < 0 || attrib >= CU_FUNC_ATTRIBUTE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    *pi = attrib == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK           ? MAX_THREADS
          : attrib == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ? MAX_SHARED
                                                                      : 0;
    return CUDA_SUCCESS;
}

CUresult soft_FuncSetCacheConfig_v1(CUfunction hfunc, CUfunc_cache config)
{
    if (handle_find(OBJECT_FUNCTION, hfunc) == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    return (unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult soft_OccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v1(int *numBlocks, CUfunction func, int blockSize,
                                                                    size_t dynamicSMemSize, unsigned int flags)
{
    if (handle_find(OBJECT_FUNCTION, func) == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (numBlocks == NULL || blockSize <= 0 || flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
        return CUDA_ERROR_INVALID_VALUE;
    bool fits = blockSize <= MAX_THREADS && dynamicSMemSize <= MAX_SHARED;
    *numBlocks = fits ? 2 * MAX_THREADS / blockSize : 0;
    return CUDA_SUCCESS;
}

CUresult soft_OccupancyMaxActiveBlocksPerMultiprocessor_v1(int *numBlocks, CUfunction func, int blockSize,
                                                           size_t dynamicSMemSize)
{
    return soft_OccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v1(numBlocks, func, blockSize, dynamicSMemSize, 0);
}

CUresult soft_FuncGetName_v1(const char **name, CUfunction hfunc)
{
    const struct function *function = handle_find(OBJECT_FUNCTION, hfunc);
    if (name == NULL || hfunc == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (function == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    *name = function->name;
    return CUDA_SUCCESS;
}

CUresult soft_KernelGetName_v1(const char **name, CUkernel hfunc)
{
    return soft_FuncGetName_v1(name, (CUfunction)(void *)hfunc);
}

CUresult soft_FuncGetParamInfo_v1(CUfunction func, size_t paramIndex, size_t *paramOffset, size_t *paramSize)
{
    const struct function *function = handle_find(OBJECT_FUNCTION, func);
    if (function == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (paramOffset == NULL || paramIndex >= function->count)
        return CUDA_ERROR_INVALID_VALUE;
    *paramOffset = function->offsets[paramIndex];
    if (paramSize != NULL)
        *paramSize = function->sizes[paramIndex];
    return CUDA_SUCCESS;
}

CUresult soft_KernelGetParamInfo_v1(CUkernel kernel, size_t paramIndex, size_t *paramOffset, size_t *paramSize)
{
    return soft_FuncGetParamInfo_v1((CUfunction)(void *)kernel, paramIndex, paramOffset, paramSize);
}
