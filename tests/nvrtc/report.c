/* SPDX-License-Identifier: MIT */
/*
 * report - finds NVRTC, compiles a kernel, and prints what it found as lines of the form "name=value".
 *
 *   report [NAME=VALUE]...
 *
 * NAME: output (of enum cushim_nvrtc_output), ordinal, capability, driver, root; open, a library that the process opens
 * first; compile=0 compiles nothing.
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

static int compile(const struct cushim_nvrtc *nvrtc)
{
    char option[64];
    const char *const options[] = {option};
    void *program = NULL;
    create_fn create = (create_fn)cushim_nvrtc_symbol(nvrtc, "nvrtcCreateProgram");
    compile_fn compile_program = (compile_fn)cushim_nvrtc_symbol(nvrtc, "nvrtcCompileProgram");
    snprintf(option, sizeof option, "--gpu-architecture=%s", nvrtc->target[0] != '\0' ? nvrtc->target : "compute_75");
    int code = create(&program, "extern \"C\" __global__ void f(float *x) { *x = sinf(*x); }", "f.cu", 0, NULL, NULL);
    return code != 0 ? code : compile_program(program, 1, options);
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
    printf("privileged=%d\n", getauxval(AT_SECURE) != 0);
    if (nvrtc.handle != NULL && strcmp(value_of(argv, "compile", "1"), "0") != 0)
        printf("compile=%d\n", compile(&nvrtc));
    fflush(stdout);
    _exit(0); /* LeakSanitizer cannot inspect a privileged process, and reports that as a failure */
}
