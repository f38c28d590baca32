/* SPDX-License-Identifier: MIT */
/*
 * report - finds NVRTC, compiles a kernel, and prints what it found as lines of the form "name=value".
 *
 *   report [NAME=VALUE]...
 *
 * NAME: output (of enum cushim_nvrtc_output), ordinal, capability, driver, root; open, a library that the process opens
 * first; compile=0 compiles nothing; run=1 also starts CUDA, and loads and launches what is compiled: for the target of
 * the record, and as PTX.
 */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "cushim/cushim.h"

typedef int (*create_fn)(void **, const char *, const char *, int, void *, void *);
typedef int (*compile_fn)(void *, int, const char *const *);

typedef int (*size_fn)(void *, size_t *);
typedef int (*image_fn)(void *, char *);

/* `out_image`: NULL, or where the image is written. */
static int compile(const struct cushim_nvrtc *nvrtc, const char *target, char **out_image)
{
    char option[64];
    const char *const options[] = {option};
    bool is_ptx = target[0] == 'c';
    size_t size = 0;
    void *program = NULL;
    create_fn create = (create_fn)cushim_nvrtc_symbol(nvrtc, "nvrtcCreateProgram");
    compile_fn compile_program = (compile_fn)cushim_nvrtc_symbol(nvrtc, "nvrtcCompileProgram");
    snprintf(option, sizeof option, "--gpu-architecture=%s", target);
    int code =
        create(&program, "extern \"C\" __global__ void f(float *x) { *x += sinf(0) + 1; }", "f.cu", 0, NULL, NULL);
    if (code != 0 || (code = compile_program(program, 1, options)) != 0 || out_image == NULL)
        return code;
    size_fn get_size = (size_fn)cushim_nvrtc_symbol(nvrtc, is_ptx ? "nvrtcGetPTXSize" : "nvrtcGetCUBINSize");
    image_fn get = (image_fn)cushim_nvrtc_symbol(nvrtc, is_ptx ? "nvrtcGetPTX" : "nvrtcGetCUBIN");
    if ((code = get_size(program, &size)) != 0 || (*out_image = calloc(1, size + 1)) == NULL)
        return code != 0 ? code : 1;
    return get(program, *out_image);
}

/* Prints what the driver says of the kernel for a target, and of its launch. */
static void run(const struct cushim_nvrtc *nvrtc, const char *target, const char *name)
{
    char *image = NULL;
    float value = 41;
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory;
    void *arguments[] = {&memory};
    int code = compile(nvrtc, target, &image);
    CUresult result = code != 0 ? CUDA_ERROR_UNKNOWN : CUSHIM_CALL(ModuleLoadData_v1, &module, image);
    if (result == CUDA_SUCCESS
        && ((result = CUSHIM_CALL(ModuleGetFunction_v1, &function, module, "f")) != CUDA_SUCCESS
            || (result = CUSHIM_CALL(MemAlloc_v2, &memory, sizeof value)) != CUDA_SUCCESS
            || (result = CUSHIM_CALL(MemcpyHtoD_v2, memory, &value, sizeof value)) != CUDA_SUCCESS
            || (result = CUSHIM_CALL(LaunchKernel_v1, function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL))
                   != CUDA_SUCCESS
            || (result = CUSHIM_CALL(MemcpyDtoH_v2, &value, memory, sizeof value)) != CUDA_SUCCESS))
        value = 0;
    printf("%s=%d\n%s_value=%g\n", name, code != 0 ? -code : (int)result, name, value);
    free(image);
}

static void run_all(const struct cushim_nvrtc *nvrtc, int ordinal)
{
    char ptx[32];
    CUdevice device;
    CUcontext context;
    int major = 0, minor = 0;
    CUresult result = cushim_init();
    printf("started=%d\n", (int)result);
    if (result != CUDA_SUCCESS || CUSHIM_CALL(DeviceGet_v1, &device, ordinal) != CUDA_SUCCESS
        || CUSHIM_CALL(CtxCreate_v2, &context, 0, device) != CUDA_SUCCESS)
        return;
    CUSHIM_CALL(DeviceGetAttribute_v1, &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    CUSHIM_CALL(DeviceGetAttribute_v1, &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    printf("device_capability=%d\n", 1000 * major + 10 * minor);
    run(nvrtc, nvrtc->target, "run");
    snprintf(ptx, sizeof ptx, "compute_%s", strchr(nvrtc->target, '_') + 1);
    run(nvrtc, ptx, "ptx");
}

/* Returns the value of an argument, or the default. */
static const char *value_of(char **argv, const char *name, const char *otherwise)
{
    size_t length = strlen(name);
    for (char **argument = argv + 1; *argument != NULL; argument++) {
        if (strncmp(*argument, name, length) == 0 && (*argument)[length] == '=')
            return *argument + length + 1;
    }
    return otherwise;
}

int main(int argc, char **argv)
{
    static struct cushim_nvrtc nvrtc;
    const char *open = value_of(argv, "open", NULL);
    struct cushim_nvrtc_options options = {
        .output = (enum cushim_nvrtc_output)atoi(value_of(argv, "output", "0")),
        .ordinal = atoi(value_of(argv, "ordinal", "0")),
        .capability = atoi(value_of(argv, "capability", "0")),
        .driver_version = atoi(value_of(argv, "driver", "0")),
        .root = value_of(argv, "root", NULL),
    };
    (void)argc;
    if (open != NULL && dlopen(open, RTLD_NOW | RTLD_LOCAL) == NULL) {
        fprintf(stderr, "report: %s\n", dlerror());
        return 1;
    }
    CUresult result = cushim_nvrtc_find(&options, &nvrtc);
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "report: %s\n", cushim_error_last()->message);
        return 1;
    }
    printf("reason=%s\nversion=%d\ndriver=%d\ncapability=%d\n", cushim_reason_name(nvrtc.reason), nvrtc.version,
           nvrtc.driver, nvrtc.capability);
    printf("is_ptx_usable=%d\ntarget=%s\npath=%s\nplace=%s\n", nvrtc.is_ptx_usable, nvrtc.target, nvrtc.path,
           nvrtc.place);
    printf("message=%s\nadvice=%s\n", nvrtc.message, nvrtc.advice);
    printf("privileged=%d\nis_started=%d\n", getauxval(AT_SECURE) != 0, (int)cushim_is_started());
    if (nvrtc.handle != NULL && strcmp(value_of(argv, "compile", "1"), "0") != 0)
        printf("compile=%d\n", compile(&nvrtc, nvrtc.target[0] != '\0' ? nvrtc.target : "compute_75", NULL));
    if (nvrtc.target[0] != '\0' && strcmp(value_of(argv, "run", "0"), "0") != 0)
        run_all(&nvrtc, options.ordinal);
    fflush(stdout);
    _exit(0); /* LeakSanitizer cannot inspect a privileged process, and reports that as a failure */
}
