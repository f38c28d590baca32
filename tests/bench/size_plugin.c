/* SPDX-License-Identifier: MIT */
/*
 * A plug-in that calls 20 functions of the driver, for size.py. The macro LOADER is how it reaches them:
 *
 *   NONE       it does not, so that its size is that of a plug-in
 *   LINKED     it is linked to the driver, and does not start without one
 *   BY_HAND    a loader as many projects have one: dlopen(), and dlsym() for each function
 *   FFNVCODEC  <ffnvcodec/dynlink_loader.h> of nv-codec-headers
 *   CUSHIM     cushim
 */
#define NONE 0
#define LINKED 1
#define BY_HAND 2
#define FFNVCODEC 3
#define CUSHIM 4
#define COMPANIONS 5

/* Function, ABI version, exported name, parameters. */
#define FUNCTIONS(FUNCTION)                                                                                            \
    FUNCTION(Init, v1, cuInit, (unsigned int))                                                                         \
    FUNCTION(DeviceGetCount, v1, cuDeviceGetCount, (int *))                                                            \
    FUNCTION(DeviceGet, v1, cuDeviceGet, (CUdevice *, int))                                                            \
    FUNCTION(DeviceGetName, v1, cuDeviceGetName, (char *, int, CUdevice))                                              \
    FUNCTION(DeviceGetAttribute, v1, cuDeviceGetAttribute, (int *, CUdevice_attribute, CUdevice))                      \
    FUNCTION(CtxCreate, v2, cuCtxCreate_v2, (CUcontext *, unsigned int, CUdevice))                                     \
    FUNCTION(CtxPushCurrent, v2, cuCtxPushCurrent_v2, (CUcontext))                                                     \
    FUNCTION(CtxPopCurrent, v2, cuCtxPopCurrent_v2, (CUcontext *))                                                     \
    FUNCTION(CtxDestroy, v2, cuCtxDestroy_v2, (CUcontext))                                                             \
    FUNCTION(MemAlloc, v2, cuMemAlloc_v2, (CUdeviceptr *, size_t))                                                     \
    FUNCTION(MemFree, v2, cuMemFree_v2, (CUdeviceptr))                                                                 \
    FUNCTION(MemcpyHtoD, v2, cuMemcpyHtoD_v2, (CUdeviceptr, const void *, size_t))                                     \
    FUNCTION(MemcpyDtoH, v2, cuMemcpyDtoH_v2, (void *, CUdeviceptr, size_t))                                           \
    FUNCTION(StreamCreate, v1, cuStreamCreate, (CUstream *, unsigned int))                                             \
    FUNCTION(StreamSynchronize, v1, cuStreamSynchronize, (CUstream))                                                   \
    FUNCTION(StreamDestroy, v2, cuStreamDestroy_v2, (CUstream))                                                        \
    FUNCTION(ModuleLoadData, v1, cuModuleLoadData, (CUmodule *, const void *))                                         \
    FUNCTION(ModuleGetFunction, v1, cuModuleGetFunction, (CUfunction *, CUmodule, const char *))                       \
    FUNCTION(LaunchKernel, v1, cuLaunchKernel,                                                                         \
             (CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int,          \
              unsigned int, CUstream, void **, void **))                                                               \
    FUNCTION(GetErrorName, v1, cuGetErrorName, (CUresult, const char **))

#if LOADER == NONE
#    include "cushim/abi/cuda_abi.h"
#elif LOADER == LINKED
#    include "cushim/abi/cuda_abi.h"
#    define DECLARE(function, abi, symbol, parameters)                                                                 \
        CUresult symbol parameters;                                                                                    \
        static inline CUresult(*linked_##function##_##abi(void)) parameters                                            \
        {                                                                                                              \
            return symbol;                                                                                             \
        }
FUNCTIONS(DECLARE)
#    define CALL(function, abi) linked_##function##_##abi()
static int load(void)
{
    return 1;
}
#elif LOADER == BY_HAND
#    include "cushim/abi/cuda_abi.h"
#    include <dlfcn.h>
#    include <pthread.h>
#    include <stdio.h>
#    define DECLARE(function, abi, symbol, parameters) CUresult(*function##_##abi) parameters;
static struct {
    FUNCTIONS(DECLARE)
} functions;
#    define CALL(function, abi) functions.function##_##abi
static int loaded;

static void load_once(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        library = dlopen("libcuda.so", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "cannot load the CUDA driver: %s\n", dlerror());
        return;
    }
#    define FIND(function, abi, symbol, parameters)                                                                    \
        *(void **)&functions.function##_##abi = dlsym(library, #symbol);                                               \
        if (functions.function##_##abi == NULL) {                                                                      \
            fprintf(stderr, "the CUDA driver lacks %s\n", #symbol);                                                    \
            dlclose(library);                                                                                          \
            return;                                                                                                    \
        }
    FUNCTIONS(FIND)
    loaded = 1;
}

static int load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_once);
    return loaded;
}
#elif LOADER == FFNVCODEC
#    include <stdio.h>
#    include <ffnvcodec/dynlink_loader.h>
static CudaFunctions *functions;
#    define CALL(function, abi) functions->cu##function
static int load(void)
{
    return cuda_load_functions(&functions, NULL) == 0;
}
#elif LOADER == CUSHIM || LOADER == COMPANIONS
#    include "cushim/cushim.h"
#    define CALL(function, abi) cushim_table()->function##_##abi
static int load(void)
{
#    if LOADER == COMPANIONS
    if (cushim_companion_symbol(CUSHIM_COMPANION_NVENC, "NvEncodeAPICreateInstance") == NULL)
        return 0;
#    endif
    return cushim_load(NULL) == CUDA_SUCCESS;
}
#endif

#define TRY(call)                                                                                                      \
    if ((result = (call)) != CUDA_SUCCESS)                                                                             \
        goto end;

__attribute__((visibility("default"))) int double_on_gpu(const void *image, int *numbers, size_t size,
                                                         const char **out_error);

#if LOADER != NONE
int double_on_gpu(const void *image, int *numbers, size_t size, const char **out_error)
{
    int count = 0, minor = 0;
    char name[64];
    CUresult result;
    CUdevice device;
    CUcontext context;
    CUdeviceptr memory = 0;
    CUstream stream;
    CUmodule module;
    CUfunction kernel;
    void *arguments[] = {&memory};
    if (!load())
        return -1;
    TRY(CALL(Init, v1)(0))
    TRY(CALL(DeviceGetCount, v1)(&count))
    TRY(CALL(DeviceGet, v1)(&device, count - 1))
    TRY(CALL(DeviceGetName, v1)(name, sizeof name, device))
    TRY(CALL(DeviceGetAttribute, v1)(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device))
    TRY(CALL(CtxCreate, v2)(&context, 0, device))
    TRY(CALL(CtxPopCurrent, v2)(&context))
    TRY(CALL(CtxPushCurrent, v2)(context))
    TRY(CALL(MemAlloc, v2)(&memory, size))
    TRY(CALL(MemcpyHtoD, v2)(memory, numbers, size))
    TRY(CALL(StreamCreate, v1)(&stream, 0))
    TRY(CALL(ModuleLoadData, v1)(&module, image))
    TRY(CALL(ModuleGetFunction, v1)(&kernel, module, "double_all"))
    TRY(CALL(LaunchKernel, v1)(kernel, 1, 1, 1, 32, 1, 1, 0, stream, arguments, NULL))
    TRY(CALL(StreamSynchronize, v1)(stream))
    TRY(CALL(MemcpyDtoH, v2)(numbers, memory, size))
    TRY(CALL(StreamDestroy, v2)(stream))
    TRY(CALL(MemFree, v2)(memory))
    TRY(CALL(CtxDestroy, v2)(context))
end:
    (void)CALL(GetErrorName, v1)(result, out_error);
    return (int)result + minor;
}
#else
int double_on_gpu(const void *image, int *numbers, size_t size, const char **out_error)
{
    return image != NULL && numbers != NULL && size != 0 && out_error != NULL;
}
#endif
