/* SPDX-License-Identifier: MIT */
/*
 * ffnvcodec.c - a program for <ffnvcodec/dynlink_loader.h> of nv-codec-headers, as FFmpeg's hardware contexts are. With
 * UNCHANGED it includes nothing else and has no hooks; otherwise it includes cushim/ffnvcodec.h and has hooks of its
 * own.
 *
 *   ffnvcodec refused NAME    the driver is refused because of this function or library, and the reason is logged
 *   ffnvcodec open DRIVER     the driver is loaded, and its NVCUVID and NVENC are opened; there need not be a GPU
 *   ffnvcodec closed DRIVER   the same, but NVENC need not be open
 *   ffnvcodec gpu DRIVER      the functions work; the optional ones are NULL exactly if DRIVER lacks them
 *   ffnvcodec start DRIVER    cuInit fails, and the text of its code is the diagnosis
 */
#include <stdio.h>
#include <string.h>

static int failures;

static void expect(int is_met, const char *what)
{
    if (!is_met) {
        printf("failed: %s\n", what);
        failures++;
    }
}
#define EXPECT(condition) expect(condition, #condition)

#if !defined(UNCHANGED)
static char logged[4096];
static int opened, freed, logger;

static void *hook_load(const char *path)
{
    opened++;
    return strstr(path, "nvcuvid") != NULL ? &opened : NULL;
}

static void hook_free(const void *library)
{
    EXPECT(library == &opened); /* not the driver */
    freed++;
}

#    define FFNV_LIB_HANDLE void *
#    define FFNV_LOAD_FUNC(path) hook_load(path)
#    define FFNV_SYM_FUNC(lib, sym) ((lib) == &opened && (sym)[0] == 'c' ? (void *)&freed : NULL)
#    define FFNV_FREE_FUNC(lib) hook_free(lib)
#    define FFNV_LOG_FUNC(logctx, ...) (EXPECT((logctx) == &logger), snprintf(logged, sizeof logged, __VA_ARGS__))
#    define FFNV_DEBUG_LOG_FUNC(logctx, ...)
#    include <cushim/untyped.h>
#    if defined(NO_COMPANIONS) /* as in a subset without them */
#        undef CUSHIM_COMPANION_H
#    endif
#    include <cushim/ffnvcodec.h>
#endif
#include <ffnvcodec/dynlink_loader.h>

#if defined(_WIN32)
#    include <windows.h>
#else
#    include <dlfcn.h>
#endif

static int has_symbol(const char *driver, const char *name)
{
#if defined(_WIN32)
    return GetProcAddress(LoadLibraryA(driver), name) != NULL;
#else
    return dlsym(dlopen(driver, RTLD_NOW), name) != NULL;
#endif
}

static void check_optional(const CudaFunctions *cu, const char *driver)
{
#define SAME(name) expect((cu->name != NULL) == has_symbol(driver, #name), #name " is in both or in none")
    SAME(cuDeviceGetUuid);
    SAME(cuImportExternalMemory);
    SAME(cuSignalExternalSemaphoresAsync);
}

static void use_gpu(CudaFunctions *cu)
{
    CUdevice device;
    CUcontext context = NULL, popped = NULL;
    CUdeviceptr memory = 0;
    CUstream stream = NULL;
    const char *name = NULL;
    int sent = 54321, received = 0;
    EXPECT(cu->cuInit(0) == CUDA_SUCCESS);
    EXPECT(cu->cuGetErrorName(CUDA_ERROR_NOT_READY, &name) == CUDA_SUCCESS
           && strcmp(name, "CUDA_ERROR_NOT_READY") == 0);
    EXPECT(cu->cuDeviceGet(&device, 0) == CUDA_SUCCESS);
    EXPECT(cu->cuCtxCreate(&context, CU_CTX_SCHED_BLOCKING_SYNC, device) == CUDA_SUCCESS);
    EXPECT(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    EXPECT(cu->cuMemAlloc(&memory, sizeof sent) == CUDA_SUCCESS);
    CUDA_MEMCPY2D copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = &sent;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = memory;
    copy.WidthInBytes = sizeof sent;
    copy.Height = 1;
    EXPECT(cu->cuMemcpy2DAsync(&copy, stream) == CUDA_SUCCESS);
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = memory;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = &received;
    EXPECT(cu->cuMemcpy2DAsync(&copy, stream) == CUDA_SUCCESS);
    EXPECT(cu->cuStreamSynchronize(stream) == CUDA_SUCCESS);
    EXPECT(received == sent);
    EXPECT(cu->cuMemFree(memory) == CUDA_SUCCESS);
    EXPECT(cu->cuStreamDestroy(stream) == CUDA_SUCCESS);
    EXPECT(cu->cuCtxPopCurrent(&popped) == CUDA_SUCCESS && popped == context);
    EXPECT(cu->cuCtxDestroy(context) == CUDA_SUCCESS);
}

static void check_start(CudaFunctions *cu)
{
    const char *text = "";
    CUresult result = cu->cuInit(0);
    EXPECT(result != CUDA_SUCCESS);
    EXPECT(cu->cuGetErrorString(result, &text) == CUDA_SUCCESS);
    printf("%s\n", text);
    EXPECT(text == cushim_diagnosis_get()->message && strlen(text) > 20);
}

#if defined(UNCHANGED)
static void *const log_context = NULL;

static void check_log(const char *name)
{
    (void)name; /* stderr has it */
}
#else
static void *const log_context = &logger;

/* "Cannot load cuX: cuX needs CUDA 7.0; this driver is CUDA 6.5." */
static void check_log(const char *name)
{
    char start[128];
    printf("%s", logged);
    snprintf(start, sizeof start, "Cannot load %s: ", name);
    EXPECT(strncmp(logged, start, strlen(start)) == 0);
    EXPECT(strlen(logged) > strlen(start) + 20 && logged[strlen(logged) - 1] == '\n');
    EXPECT(opened == 0);
}

#    if defined(NO_COMPANIONS)
/* The other libraries are opened by the hooks of the program, and logged as by the original. */
static void check_other_libraries(void)
{
    CuvidFunctions *cuvid = NULL;
    NvencFunctions *nvenc = NULL;
    EXPECT(cuvid_load_functions(&cuvid, log_context) == 0 && opened == 1);
    cuvid_free_functions(&cuvid);
    EXPECT(freed == 1);
    EXPECT(nvenc_load_functions(&nvenc, log_context) == -1 && opened == 2);
    EXPECT(strncmp(logged, "Cannot load ", 12) == 0 && strchr(logged, ':') == NULL);
}
#    else
/* NVCUVID and NVENC are opened if cushim finds them, and the reason why not is logged. The hooks are not called. */
static void check_companion(enum cushim_companion_id id, int result)
{
    const struct cushim_companion *companion = cushim_companion_get(id);
    EXPECT(result == (companion->handle != NULL ? 0 : -1));
    if (companion->handle == NULL)
        EXPECT(strstr(logged, companion->message) != NULL && strstr(logged, companion->advice) != NULL);
    printf("%s %s\n", companion->name, result == 0 ? companion->path : logged);
}

static void check_other_libraries(void)
{
    CuvidFunctions *cuvid = NULL;
    NvencFunctions *nvenc = NULL;
    check_companion(CUSHIM_COMPANION_NVCUVID, cuvid_load_functions(&cuvid, log_context));
    check_companion(CUSHIM_COMPANION_NVENC, nvenc_load_functions(&nvenc, log_context));
    if (nvenc != NULL) {
        unsigned version = 0;
        EXPECT(nvenc->NvEncodeAPIGetMaxSupportedVersion(&version) == 0 && version >> 4 >= 8);
    }
    cuvid_free_functions(&cuvid);
    nvenc_free_functions(&nvenc);
    EXPECT(opened == 0 && freed == 0);
}
#    endif
#endif

int main(int count, char **words)
{
    CudaFunctions *cu = NULL;
    int has_driver = count == 3 && strcmp(words[1], "refused") != 0;
    if (count != 3)
        return 2;
    EXPECT(cuda_load_functions(&cu, log_context) == (has_driver ? 0 : -1));
    EXPECT((cu != NULL) == has_driver);
    if (cu != NULL && strcmp(words[1], "start") == 0) {
        check_start(cu);
    } else if (cu != NULL) {
        check_optional(cu, words[2]);
        if (strcmp(words[1], "gpu") == 0)
            use_gpu(cu);
        EXPECT(cuda_load_functions(&cu, log_context) == 0); /* frees the first */
    } else {
        check_log(words[2]);
    }
    cuda_free_functions(&cu);
    EXPECT(cu == NULL);
#if !defined(UNCHANGED)
    EXPECT(freed == 0);
    check_other_libraries();
#    if !defined(NO_COMPANIONS)
    if (strcmp(words[1], "open") == 0)
        EXPECT(cushim_companion_get(CUSHIM_COMPANION_NVENC)->handle != NULL);
#    endif
#endif
    return failures == 0 ? 0 : 1;
}
