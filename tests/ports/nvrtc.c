/* SPDX-License-Identifier: MIT */
/*
 * nvrtc.c - stands in for NVIDIA's compiler library, without which hashcat does not use the driver. It compiles
 * nothing.
 */
#include <stddef.h>

#define COMPILES_NOTHING(name, ...)                                                                                    \
    int name(__VA_ARGS__)                                                                                              \
    {                                                                                                                  \
        return 6; /* NVRTC_ERROR_COMPILATION */                                                                        \
    }
COMPILES_NOTHING(nvrtcAddNameExpression, void *program, const char *name)
COMPILES_NOTHING(nvrtcCompileProgram, void *program, int count, const char *const *options)
COMPILES_NOTHING(nvrtcCreateProgram, void **program, const char *source, const char *name, int count)
COMPILES_NOTHING(nvrtcDestroyProgram, void **program)
COMPILES_NOTHING(nvrtcGetLoweredName, void *program, const char *name, const char **lowered)
COMPILES_NOTHING(nvrtcGetPTX, void *program, char *ptx)
COMPILES_NOTHING(nvrtcGetPTXSize, void *program, size_t *size)
COMPILES_NOTHING(nvrtcGetProgramLog, void *program, char *log)
COMPILES_NOTHING(nvrtcGetProgramLogSize, void *program, size_t *size)

const char *nvrtcGetErrorString(int result)
{
    (void)result;
    return "NVRTC_ERROR_COMPILATION";
}

int nvrtcVersion(int *major, int *minor)
{
    *major = 12;
    *minor = 0;
    return 0;
}
