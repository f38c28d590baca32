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
    CHECK(cuModuleLoadData(&module, ptx));
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
