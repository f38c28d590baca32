/* SPDX-License-Identifier: MIT */
/*
 * vector_add.c - a ported program: it calls the driver by NVIDIA's names, its code is unchanged, and it starts on any
 * machine.
 *
 *     -#include <cuda.h>               +#define CUSHIM_NAMES_VERSION 12000
 *                                      +#include <cushim/names.h>
 *     -cc vector_add.c -lcuda          +cc vector_add.c $(pkg-config --cflags --libs cushim)
 *
 * 12000 is the CUDA version that the program was written for: in CUDA 13, cuCtxCreate has one more parameter. With
 * -DLINKED this file is the program before the port. A test builds both and compares their output.
 *
 * The ported program also compiles its kernel with NVRTC, where one fits the driver and the GPU.
 *
 * With a GPU it prints:
 *
 *     1000 sums, 0 wrong: 0.0 1.5 3.0 4.5
 */
#ifdef LINKED
#    include <cuda.h>
#else
#    define CUSHIM_NAMES_VERSION 12000
#    include <cushim/names.h>
#endif

#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1000, SIZE = COUNT * sizeof(float), BLOCK = 256 };

static const char ptx[] = ".version 4.1\n.target sm_30\n.address_size 64\n"
                          ".visible .entry vector_add(.param .u64 sum, .param .u64 a, .param .u64 b, .param .u32 n)\n"
                          "{\n"
                          "    .reg .b64 %sum, %a, %b, %offset;\n"
                          "    .reg .b32 %i, %n, %block, %size;\n"
                          "    .reg .f32 %x, %y;\n"
                          "    .reg .pred %outside;\n"
                          "    mov.u32 %block, %ctaid.x;\n"
                          "    mov.u32 %size, %ntid.x;\n"
                          "    mov.u32 %i, %tid.x;\n"
                          "    mad.lo.u32 %i, %block, %size, %i;\n"
                          "    ld.param.u32 %n, [n];\n"
                          "    setp.ge.u32 %outside, %i, %n;\n"
                          "    @%outside bra end;\n"
                          "    ld.param.u64 %sum, [sum];\n"
                          "    ld.param.u64 %a, [a];\n"
                          "    ld.param.u64 %b, [b];\n"
                          "    mul.wide.u32 %offset, %i, 4;\n"
                          "    add.u64 %sum, %sum, %offset;\n"
                          "    add.u64 %a, %a, %offset;\n"
                          "    add.u64 %b, %b, %offset;\n"
                          "    ld.f32 %x, [%a];\n"
                          "    ld.f32 %y, [%b];\n"
                          "    add.f32 %x, %x, %y;\n"
                          "    st.f32 [%sum], %x;\n"
                          "end:\n"
                          "    ret;\n"
                          "}\n";

/* Without NVRTC, the kernel is PTX that each driver compiles. With it, the kernel is compiled for this GPU, and may use
 * what CUDA C has. The program before the port has no way to find NVRTC. */
static const char *kernel(void)
{
#ifndef LINKED
    static const char source[] = "extern \"C\" __global__ void vector_add(float *sum, const float *a, const float *b,\n"
                                 "                                      unsigned n)\n"
                                 "{\n"
                                 "    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                 "    if (i < n)\n"
                                 "        sum[i] = a[i] + b[i];\n"
                                 "}\n";
    static struct cushim_nvrtc nvrtc;
    static char compiled[16384], option[64];
    const char *options[] = {option};
    void *program = NULL;
    size_t size = sizeof compiled + 1;
    int (*create)(void **, const char *, const char *, int, const char **, const char **);
    int (*compile)(void *, int, const char **), (*get_size)(void *, size_t *), (*get)(void *, char *);
    if (cushim_nvrtc_find(NULL, &nvrtc) != CUDA_SUCCESS || !nvrtc.is_ptx_usable || nvrtc.target[0] == '\0')
        return ptx;
    snprintf(option, sizeof option, "--gpu-architecture=%s", nvrtc.target);
    create = (int (*)(void **, const char *, const char *, int, const char **, const char **))cushim_nvrtc_symbol(
        &nvrtc, "nvrtcCreateProgram");
    compile = (int (*)(void *, int, const char **))cushim_nvrtc_symbol(&nvrtc, "nvrtcCompileProgram");
    get_size = (int (*)(void *, size_t *))cushim_nvrtc_symbol(&nvrtc, "nvrtcGetPTXSize");
    get = (int (*)(void *, char *))cushim_nvrtc_symbol(&nvrtc, "nvrtcGetPTX");
    if (create(&program, source, "vector_add.cu", 0, NULL, NULL) == 0 && compile(program, 1, options) == 0
        && get_size(program, &size) == 0 && size <= sizeof compiled && get(program, compiled) == 0)
        return compiled;
#endif
    return ptx;
}

static void check(CUresult result, const char *call)
{
    const char *text = "";
    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorString(result, &text);
    printf("%s: error %d: %s\n", call, (int)result, text);
    exit(EXIT_FAILURE);
}

#define CHECK(call) check(call, #call)

int main(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr sum, a, b;
    static float values[COUNT], halves[COUNT], sums[COUNT];
    int wrong = 0, count = COUNT;
    void *arguments[] = {&sum, &a, &b, &count};
    for (int i = 0; i < COUNT; i++)
        halves[i] = (values[i] = (float)i) / 2;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuCtxCreate(&context, 0, device));
    CHECK(cuModuleLoadData(&module, kernel()));
    CHECK(cuModuleGetFunction(&function, module, "vector_add"));
    CHECK(cuMemAlloc(&sum, SIZE));
    CHECK(cuMemAlloc(&a, SIZE));
    CHECK(cuMemAlloc(&b, SIZE));
    CHECK(cuMemcpyHtoD(a, values, SIZE));
    CHECK(cuMemcpyHtoD(b, halves, SIZE));
    CHECK(cuLaunchKernel(function, (COUNT + BLOCK - 1) / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL, arguments, NULL));
    CHECK(cuMemcpyDtoH(sums, sum, SIZE));
    for (int i = 0; i < COUNT; i++)
        wrong += sums[i] != values[i] + halves[i];
    printf("%d sums, %d wrong: %.1f %.1f %.1f %.1f\n", COUNT, wrong, sums[0], sums[1], sums[2], sums[3]);
    CHECK(cuCtxDestroy(context));
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
