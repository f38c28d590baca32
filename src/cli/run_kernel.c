/* SPDX-License-Identifier: MIT */
#include "run_kernel.h"

#include <stddef.h>
#include <string.h>

#include "platform.h"
#include "softcuda.h"

enum { MEMSET_VALUE = 7, BLOCK = 256 };

static const char name[] = "cushim_double_and_add_one";

/* Every driver since CUDA 6.5 compiles this for its GPU. */
static const char ptx[] = ".version 4.1\n"
                          ".target sm_30\n"
                          ".address_size 64\n"
                          ".visible .entry cushim_double_and_add_one(.param .u64 numbers, .param .u32 count)\n"
                          "{\n"
                          "    .reg .b64 %address, %offset;\n"
                          "    .reg .b32 %index, %width, %thread, %number, %all;\n"
                          "    .reg .pred %beyond;\n"
                          "    ld.param.u64 %address, [numbers];\n"
                          "    ld.param.u32 %all, [count];\n"
                          "    mov.u32 %index, %ctaid.x;\n"
                          "    mov.u32 %width, %ntid.x;\n"
                          "    mov.u32 %thread, %tid.x;\n"
                          "    mad.lo.u32 %index, %index, %width, %thread;\n"
                          "    setp.ge.u32 %beyond, %index, %all;\n"
                          "    @%beyond bra done;\n"
                          "    mul.wide.u32 %offset, %index, 4;\n"
                          "    add.u64 %address, %address, %offset;\n"
                          "    ld.u32 %number, [%address];\n"
                          "    shl.b32 %number, %number, 1;\n"
                          "    add.u32 %number, %number, 1;\n"
                          "    st.u32 [%address], %number;\n"
                          "done:\n"
                          "    ret;\n"
                          "}\n";

static unsigned double_and_add_one(unsigned number)
{
    return 2 * number + 1;
}

/* softcuda does not compile kernels. It calls this function. */
static void soft_kernel(struct softcuda_launch *launch)
{
    CUdeviceptr address;
    unsigned count;
    memcpy(&address, launch->arguments[0], sizeof address);
    memcpy(&count, launch->arguments[1], sizeof count);
    unsigned *numbers = (unsigned *)(size_t)address;
    for (unsigned i = 0; i < count && i < launch->grid[0] * launch->block[0]; i++)
        numbers[i] = double_and_add_one(numbers[i]);
}

static const struct softcuda_control *find_softcuda(void)
{
    union {
        platform_fn found;
        softcuda_control_fn get;
    } control = {platform_symbol(cushim_get_diagnosis()->path, SOFTCUDA_CONTROL_SYMBOL)};
    return control.get != NULL ? control.get(SOFTCUDA_CONTROL_VERSION) : NULL;
}

bool run_kernel_on_softcuda(const char **out_driver)
{
    const struct softcuda_control *softcuda = find_softcuda();
    if (softcuda != NULL)
        *out_driver = softcuda->driver;
    return softcuda != NULL;
}

struct run_kernel run_kernel_load(void)
{
    const struct cushim_dispatch_table *cuda = cushim_table_legacy();
    const struct softcuda_control *softcuda = find_softcuda();
    static const size_t sizes[] = {sizeof(CUdeviceptr), sizeof(unsigned)};
    struct run_kernel kernel = {NULL, NULL, CUDA_SUCCESS};
    if (softcuda != NULL)
        (void)softcuda->register_kernel(name, soft_kernel, sizes, 2);
    kernel.result = cuda->ModuleLoadData_v1(&kernel.module, ptx);
    if (kernel.result != CUDA_SUCCESS) {
        kernel.module = NULL;
        return kernel;
    }
    kernel.result = cuda->ModuleGetFunction_v1(&kernel.function, kernel.module, name);
    if (kernel.result != CUDA_SUCCESS)
        kernel.function = NULL;
    return kernel;
}

CUresult run_kernel_unload(struct run_kernel *kernel)
{
    CUresult result = kernel->module != NULL ? cushim_table_legacy()->ModuleUnload_v1(kernel->module) : CUDA_SUCCESS;
    kernel->module = NULL;
    kernel->function = NULL;
    return result;
}

CUresult run_kernel_launch(const struct run_kernel *kernel, CUdeviceptr numbers, unsigned count, CUstream stream)
{
    if (kernel->function == NULL)
        return cushim_table_legacy()->MemsetD32Async_v1(numbers, MEMSET_VALUE, count, stream);
    void *arguments[] = {&numbers, &count};
    return cushim_table_legacy()->LaunchKernel_v1(kernel->function, (count + BLOCK - 1) / BLOCK, 1, 1, BLOCK, 1, 1, 0,
                                                  stream, arguments, NULL);
}

unsigned run_kernel_result(const struct run_kernel *kernel, unsigned number)
{
    return kernel->function == NULL ? MEMSET_VALUE : double_and_add_one(number);
}
