/* SPDX-License-Identifier: MIT */
#include "kernels.h"

#if CONFORMANCE_WITH_SOFTCUDA
#    include <string.h>
#    if defined(_WIN32)
#        include <windows.h>
#    else
#        include <dlfcn.h>
#    endif
#    include "softcuda.h"
#endif

static const char ptx[] = ".version 4.1\n"
                          ".target sm_30\n"
                          ".address_size 64\n"
                          ".visible .entry conformance_nothing()\n"
                          "{\n"
                          "    ret;\n"
                          "}\n"
                          ".visible .entry conformance_store(.param .u64 address, .param .u32 value)\n"
                          "{\n"
                          "    .reg .b64 %a;\n"
                          "    .reg .b32 %v;\n"
                          "    ld.param.u64 %a, [address];\n"
                          "    ld.param.u32 %v, [value];\n"
                          "    st.volatile.u32 [%a], %v;\n"
                          "    ret;\n"
                          "}\n"
                          ".visible .entry conformance_wait(.param .u64 address)\n"
                          "{\n"
                          "    .reg .b64 %a;\n"
                          "    .reg .b32 %v;\n"
                          "    .reg .pred %p;\n"
                          "    ld.param.u64 %a, [address];\n"
                          "again:\n"
                          "    ld.volatile.u32 %v, [%a];\n"
                          "    setp.eq.u32 %p, %v, 0;\n"
                          "    @%p bra again;\n"
                          "    ret;\n"
                          "}\n"
                          ".visible .entry conformance_fault()\n"
                          "{\n"
                          "    .reg .b64 %a;\n"
                          "    mov.u64 %a, 16;\n"
                          "    st.global.u32 [%a], 1;\n"
                          "    ret;\n"
                          "}\n"
                          ".visible .entry conformance_trap()\n"
                          "{\n"
                          "    trap;\n"
                          "}\n";

#if CONFORMANCE_WITH_SOFTCUDA

static void soft_nothing(struct softcuda_launch *launch)
{
}

static void soft_store(struct softcuda_launch *launch)
{
    CUdeviceptr address;
    memcpy(&address, launch->arguments[0], sizeof address);
    memcpy((void *)(size_t)address, launch->arguments[1], 4);
}

static void soft_wait(struct softcuda_launch *launch)
{
    CUdeviceptr address;
    memcpy(&address, launch->arguments[0], sizeof address);
    while (__atomic_load_n((const unsigned *)(size_t)address, __ATOMIC_ACQUIRE) == 0)
        pause_shortly();
}

static void soft_fault(struct softcuda_launch *launch)
{
    launch->result = CUDA_ERROR_ILLEGAL_ADDRESS;
}

static void soft_trap(struct softcuda_launch *launch)
{
    launch->result = CUDA_ERROR_LAUNCH_FAILED;
}

static softcuda_control_fn find_control(void)
{
    softcuda_control_fn control = NULL;
#    if defined(_WIN32)
    FARPROC found = GetProcAddress(GetModuleHandleA("nvcuda.dll"), SOFTCUDA_CONTROL_SYMBOL);
#    else
    void *library = dlopen(cushim_diagnosis_get()->path, RTLD_NOW | RTLD_NOLOAD);
    void *found = library != NULL ? dlsym(library, SOFTCUDA_CONTROL_SYMBOL) : NULL;
#    endif
    memcpy(&control, &found, sizeof control);
    return control;
}

static void register_replacements(void)
{
    static const size_t sizes[] = {sizeof(CUdeviceptr), 4};
    static bool registered;
    softcuda_control_fn control = registered ? NULL : find_control();
    const struct softcuda_control *soft = control != NULL ? control(SOFTCUDA_CONTROL_VERSION) : NULL;
    registered = true;
    if (soft == NULL)
        return;
    soft->register_kernel("conformance_nothing", soft_nothing, NULL, 0);
    soft->register_kernel("conformance_store", soft_store, sizes, 2);
    soft->register_kernel("conformance_wait", soft_wait, sizes, 1);
    soft->register_kernel("conformance_fault", soft_fault, NULL, 0);
    soft->register_kernel("conformance_trap", soft_trap, NULL, 0);
}
#else
static void register_replacements(void)
{
}
#endif

CUresult kernel_module(CUmodule *out_module)
{
    register_replacements();
    return cu->ModuleLoadData_v1(out_module, ptx);
}

CUresult kernel_library(CUlibrary *out_library)
{
    register_replacements();
    return cu->LibraryLoadData_v1(out_library, ptx, NULL, NULL, 0, NULL, NULL, 0);
}

/* One module for each context that needs it. It is unloaded with its context. */
CUresult kernel_get(const char *name, CUfunction *out_function)
{
    CUmodule module = NULL;
    CUresult result = kernel_module(&module);
    return result != CUDA_SUCCESS ? result : cu->ModuleGetFunction_v1(out_function, module, name);
}

CUfunction kernel_new(const char *name)
{
    CUfunction function = NULL;
    require("kernel", kernel_get(name, &function));
    return function;
}

CUresult kernel_launch(CUfunction function, CUstream stream, void **parameters)
{
    return cu->LaunchKernel_v1(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL);
}
