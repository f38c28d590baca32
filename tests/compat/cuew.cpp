/* SPDX-License-Identifier: MIT */
/*
 * cuew.cpp - a program that was written for <cuew.h>, as Cycles is.
 *
 *   cuew none     no driver is loaded
 *   cuew found    a driver is loaded
 *   cuew gpu      the names work
 *   cuew nvrtc    a driver is loaded, and an NVRTC of 12.4, a fake, fits it
 */
#include <cuew.h>

#include <cstdio>
#include <cstring>
#include <string>

static int failures = 0;
static std::string failed_call;

static void expect(bool is_met, const char *what)
{
    if (!is_met) {
        std::printf("failed: %s\n", what);
        failures++;
    }
}
#define EXPECT(condition) expect(condition, #condition)

/* As in Cycles: one macro in another, whose message contains the call. */
#define CHECK_ON(place, call)                                                                                          \
    do {                                                                                                               \
        CUresult result = call;                                                                                        \
        if (result != CUDA_SUCCESS)                                                                                    \
            place = std::string(cuewErrorString(result)) + " in " #call;                                               \
    } while (0)
#define CHECK(call) CHECK_ON(failed_call, call)

static CUresult (*const free_function)(CUdeviceptr) = cuMemFree;

/* The fake NVRTC compiles everything, and has no PTX. */
static void use_found_nvrtc()
{
    nvrtcProgram program = nullptr;
    int major = 0, minor = 0;
    EXPECT(nvrtcVersion(&major, &minor) == NVRTC_SUCCESS && major == 12 && minor == 4);
    EXPECT(cuewNvrtcVersion() == 124);
    EXPECT(nvrtcCreateProgram(&program, "", "name", 0, nullptr, nullptr) == NVRTC_SUCCESS && program != nullptr);
    EXPECT(nvrtcCompileProgram(program, 0, nullptr) == NVRTC_SUCCESS);
    EXPECT(std::strcmp(nvrtcGetErrorString(NVRTC_SUCCESS), "NVRTC_SUCCESS") == 0);
    EXPECT(nvrtcGetPTX(program, nullptr) == NVRTC_ERROR_INTERNAL_ERROR);
}

#if !defined(CUSHIM_NVRTC_H)
static void use_nvrtc()
{
    nvrtcProgram program = nullptr;
    size_t size = 0;
    int major = -1, minor = -1;
    const char *name = nullptr;
    char text[1] = {};
    EXPECT(nvrtcVersion(&major, &minor) == NVRTC_ERROR_INTERNAL_ERROR);
    EXPECT(nvrtcCreateProgram(&program, "", "name", 0, nullptr, nullptr) == NVRTC_ERROR_INTERNAL_ERROR);
    EXPECT(nvrtcAddNameExpression(program, "name") == NVRTC_ERROR_INTERNAL_ERROR);
    EXPECT(nvrtcCompileProgram(program, 0, nullptr) == NVRTC_ERROR_INTERNAL_ERROR);
    EXPECT(nvrtcGetPTXSize(program, &size) == NVRTC_ERROR_INTERNAL_ERROR);
    EXPECT(nvrtcGetPTX(program, text) == NVRTC_ERROR_INTERNAL_ERROR);
    EXPECT(nvrtcGetProgramLogSize(program, &size) == NVRTC_ERROR_INTERNAL_ERROR);
    EXPECT(nvrtcGetProgramLog(program, text) == NVRTC_ERROR_INTERNAL_ERROR);
    EXPECT(nvrtcGetLoweredName(program, "name", &name) == NVRTC_ERROR_INTERNAL_ERROR);
    EXPECT(nvrtcDestroyProgram(&program) == NVRTC_ERROR_INTERNAL_ERROR);
    EXPECT(program == nullptr && size == 0 && major == -1 && minor == -1 && name == nullptr);
    EXPECT(std::strlen(nvrtcGetErrorString(NVRTC_ERROR_INTERNAL_ERROR)) > 0);
}
#endif

static void use_gpu()
{
    CUdevice device;
    CUcontext context = nullptr;
    CUdeviceptr memory = 0;
    size_t size = 0;
    int sent = 777, received = 0;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuCtxCreate(&context, CU_CTX_LMEM_RESIZE_TO_MAX, device));
    CHECK(cuDeviceTotalMem(&size, device));
    CHECK(cuMemAlloc(&memory, sizeof sent));
    CHECK(cuMemcpyHtoD(memory, &sent, sizeof sent));
    CHECK(cuMemcpyDtoH(&received, memory, sizeof sent));
    CHECK(free_function(memory));
    CHECK(cuCtxDestroy(context));
    EXPECT(failed_call.empty());
    EXPECT(received == sent);
    EXPECT(size > 0);
}

int main(int argc, char **argv)
{
    const bool has_nvrtc = argc == 2 && std::strcmp(argv[1], "nvrtc") == 0;
    const bool has_gpu = argc == 2 && std::strcmp(argv[1], "gpu") == 0;
    const bool has_driver = has_gpu || has_nvrtc || (argc == 2 && std::strcmp(argv[1], "found") == 0);
    EXPECT(CUDA_VERSION == 9020);
    EXPECT(cuewInit(CUEW_INIT_CUDA) == (has_driver ? CUEW_SUCCESS : CUEW_ERROR_OPEN_FAILED));
    // Otherwise one of this machine could be found, whose code has leaks of its own.
    EXPECT(!has_nvrtc || cuewInit(CUEW_INIT_NVRTC) == CUEW_SUCCESS);
    EXPECT(std::strlen(cuewErrorString(CUDA_ERROR_OUT_OF_MEMORY)) > 0);
    EXPECT(std::strcmp(cuewErrorString(static_cast<CUresult>(99999)), "Unknown CUDA error value") == 0);
    EXPECT(cuewCompilerPath() == nullptr);
    if (has_nvrtc)
        use_found_nvrtc();
#if !defined(CUSHIM_NVRTC_H) // a subset without it finds none
    else
        use_nvrtc();
#endif
    if (has_gpu) {
        use_gpu();
    } else {
        CHECK(cuMemFree(0));
        EXPECT(failed_call.find(" in cuMemFree_v2(0)") != std::string::npos);
    }
    return failures == 0 ? 0 : 1;
}
