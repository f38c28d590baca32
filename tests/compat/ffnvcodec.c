/* SPDX-License-Identifier: MIT */
/*
 * ffnvcodec.c - a program that was written for <ffnvcodec/dynlink_loader.h>, as FFmpeg's hardware contexts are.
 *
 *   ffnvcodec none           no driver is loaded, and the reason is logged once
 *   ffnvcodec gpu DRIVER     the functions work; the optional ones are NULL exactly if DRIVER lacks them
 */
#include <stdio.h>
#include <string.h>

#if defined(_WIN32)
#    include <windows.h>
#else
#    include <dlfcn.h>
#endif

static int logged = 0;
#define FFNV_LOG_FUNC(logctx, ...) (logged++, printf(__VA_ARGS__), (void)(logctx))
#include <ffnvcodec/dynlink_loader.h>

static int failures = 0;

static void expect(int is_met, const char *what)
{
    if (!is_met) {
        printf("failed: %s\n", what);
        failures++;
    }
}
#define EXPECT(condition) expect(condition, #condition)

static int has_symbol(const char *driver, const char *name)
{
#if defined(_WIN32)
    HMODULE library = LoadLibraryA(driver);
    EXPECT(library != NULL);
    return GetProcAddress(library, name) != NULL;
#else
    void *library = dlopen(driver, RTLD_NOW);
    EXPECT(library != NULL);
    return dlsym(library, name) != NULL;
#endif
}

static void check_optional(const CudaFunctions *cu, const char *driver)
{
#define SAME(name) expect((cu->name != NULL) == has_symbol(driver, #name), #name " is in both or in none")
    SAME(cuDeviceGetUuid);
    SAME(cuDeviceGetUuid_v2);
    SAME(cuDeviceGetByPCIBusId);
    SAME(cuDeviceGetPCIBusId);
    SAME(cuImportExternalMemory);
    SAME(cuDestroyExternalMemory);
    SAME(cuExternalMemoryGetMappedBuffer);
    SAME(cuImportExternalSemaphore);
    SAME(cuSignalExternalSemaphoresAsync);
    SAME(cuEGLStreamProducerConnect);
    SAME(cuEGLStreamProducerPresentFrame);
}

static void use_gpu(CudaFunctions *cu)
{
    CUdevice device;
    CUcontext context = NULL, popped = NULL;
    CUdeviceptr memory = 0;
    CUstream stream = NULL;
    const char *name = NULL;
    int version = 0, sent = 54321, received = 0;
    EXPECT(cu->cuInit(0) == CUDA_SUCCESS);
    EXPECT(cu->cuDriverGetVersion(&version) == CUDA_SUCCESS);
    EXPECT(cu->cuGetErrorName(CUDA_ERROR_NOT_READY, &name) == CUDA_SUCCESS
           && strcmp(name, "CUDA_ERROR_NOT_READY") == 0);
    EXPECT(cu->cuDeviceGet(&device, 0) == CUDA_SUCCESS);
    EXPECT(cu->cuCtxCreate(&context, CU_CTX_SCHED_BLOCKING_SYNC, device) == CUDA_SUCCESS);
    EXPECT(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    EXPECT(cu->cuMemAlloc(&memory, sizeof sent) == CUDA_SUCCESS);
    EXPECT(cu->cuMemcpyHtoDAsync(memory, &sent, sizeof sent, stream) == CUDA_SUCCESS);
    EXPECT(cu->cuMemcpyDtoHAsync(&received, memory, sizeof sent, stream) == CUDA_SUCCESS);
    EXPECT(cu->cuStreamSynchronize(stream) == CUDA_SUCCESS);
    EXPECT(received == sent);
    EXPECT(cu->cuMemFree(memory) == CUDA_SUCCESS);
    EXPECT(cu->cuStreamDestroy(stream) == CUDA_SUCCESS);
    /* A required function is there on every driver. */
    CUresult retained = cu->cuDevicePrimaryCtxRetain(&popped, device);
    EXPECT(retained == (version < 7000 ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS));
    if (retained == CUDA_SUCCESS)
        EXPECT(cu->cuDevicePrimaryCtxRelease(device) == CUDA_SUCCESS);
    EXPECT(cu->cuCtxPopCurrent(&popped) == CUDA_SUCCESS && popped == context);
    EXPECT(cu->cuCtxDestroy(context) == CUDA_SUCCESS);
}

int main(int argc, char **argv)
{
    CudaFunctions *cu = NULL;
    int has_driver = argc == 3;
    EXPECT(cuda_load_functions(&cu, NULL) == (has_driver ? 0 : -1));
    EXPECT((cu != NULL) == has_driver);
    EXPECT(logged == !has_driver);
    if (cu != NULL) {
        check_optional(cu, argv[2]);
        use_gpu(cu);
        EXPECT(cuda_load_functions(&cu, NULL) == 0); /* frees the first */
    }
    cuda_free_functions(&cu);
    EXPECT(cu == NULL);
    cuda_free_functions(&cu);
    cuda_free_functions(NULL);
    return failures == 0 ? 0 : 1;
}
