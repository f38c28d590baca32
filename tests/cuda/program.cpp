/* SPDX-License-Identifier: MIT */
/*
 * program.cpp - a program that was written for <cuda.h> and -lcuda, and uses the names as C++ programs do: in
 * decltype, as deleters, in static tables, as macro arguments, in a header that comes first.
 *
 *   program gpu     works on the GPU
 *   program none    there is no driver, and every call reports that
 */
#include "early.h"

#include <cstdio>
#include <cstring>
#include <memory>
#include <type_traits>

#include <cuda.h>

static int failures = 0;

static void expect(bool is_met, const char *what)
{
    if (!is_met) {
        std::printf("failed: %s\n", what);
        failures++;
    }
}
#define EXPECT(condition) expect(condition, #condition)

/* As programs report errors: with the text of the call. */
static CUresult checked(CUresult result, const char *call)
{
    const char *name = nullptr;
    EXPECT(std::strncmp(call, "cu", 2) == 0);
    if (result != CUDA_SUCCESS && cuGetErrorName(result, &name) == CUDA_SUCCESS)
        std::printf("%s: %s\n", call, name);
    return result;
}
#define CHECK(call) checked(call, #call)

static_assert(std::is_same<decltype(cuMemFree(CUdeviceptr())), CUresult>::value, "a call");
static_assert(std::is_pointer<decltype(&cuMemFree)>::value, "an address");

/* A static table, initialized before main(). */
static const struct {
    const char *name;
    decltype(&cuStreamQuery) function;
} stream_functions[] = {{"cuStreamQuery", cuStreamQuery}, {"cuStreamSynchronize", cuStreamSynchronize}};

template <CUresult (*Destroy)(CUstream)> struct destroy {
    void operator()(CUstream stream) const
    {
        EXPECT(Destroy(stream) == CUDA_SUCCESS);
    }
};

struct call_deleter {
    void operator()(CUdeviceptr *memory) const
    {
        EXPECT(CHECK(cuMemFree(*memory)) == CUDA_SUCCESS);
        delete memory;
    }
};

using event_pointer = std::unique_ptr<std::remove_pointer<CUevent>::type, decltype(&cuEventDestroy)>;

static void use_context()
{
    CUdeviceptr address = 0;
    CUstream stream = nullptr;
    CUevent event = nullptr;
    unsigned sent = 12345, received = 0;
    EXPECT(CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING)) == CUDA_SUCCESS);
    EXPECT(CHECK(cuEventCreate(&event, CU_EVENT_DEFAULT)) == CUDA_SUCCESS);
    EXPECT(CHECK(cuMemAlloc(&address, sizeof sent)) == CUDA_SUCCESS);
    {
        const std::unique_ptr<std::remove_pointer<CUstream>::type, destroy<cuStreamDestroy>> stream_owner(stream);
        const std::unique_ptr<CUdeviceptr, call_deleter> memory_owner(new CUdeviceptr(address));
        const event_pointer event_owner(event, &cuEventDestroy);
        EXPECT(CHECK(cuMemcpyHtoDAsync(address, &sent, sizeof sent, stream)) == CUDA_SUCCESS);
        EXPECT(CHECK(cuEventRecord(event, stream)) == CUDA_SUCCESS);
        EXPECT(CHECK(cuMemcpyDtoHAsync(&received, address, sizeof received, stream)) == CUDA_SUCCESS);
        for (const auto &one : stream_functions) {
            CUresult result = one.function(stream);
            expect(result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY, one.name);
        }
        EXPECT(CHECK(cuEventSynchronize(event)) == CUDA_SUCCESS);
    }
    EXPECT(received == sent);
    EXPECT(CHECK(cuStreamSynchronize(nullptr)) == CUDA_SUCCESS);
}

static void use_gpu()
{
    CUdevice device;
    CUcontext context = nullptr;
    EXPECT(CHECK(cuInit(0)) == CUDA_SUCCESS);
    EXPECT(device_count() > 0);
    EXPECT(CHECK(cuDeviceGet(&device, 0)) == CUDA_SUCCESS);
    EXPECT(CHECK(cuDevicePrimaryCtxRetain(&context, device)) == CUDA_SUCCESS);
    EXPECT(CHECK(cuCtxSetCurrent(context)) == CUDA_SUCCESS);
    if (failures == 0)
        use_context();
    EXPECT(CHECK(cuDevicePrimaryCtxRelease(device)) == CUDA_SUCCESS);
}

static void use_nothing()
{
    CUdeviceptr address = 0;
    EXPECT(CHECK(cuInit(0)) == CUDA_ERROR_NO_DEVICE);
    EXPECT(device_count() == 0);
    EXPECT(CHECK(cuMemAlloc(&address, 4)) == CUDA_ERROR_NO_DEVICE);
    for (const auto &one : stream_functions)
        expect(one.function(nullptr) == CUDA_ERROR_NO_DEVICE, one.name);
}

int main(int argc, char **argv)
{
    const decltype(&cuMemFree) free_function = &cuMemFree;
    EXPECT(free_function != nullptr);
    EXPECT(stream_functions[0].function != stream_functions[1].function);
    EXPECT(argc == 2);
    if (std::strcmp(argv[argc - 1], "gpu") == 0)
        use_gpu();
    else
        use_nothing();
    return failures == 0 ? 0 : 1;
}
