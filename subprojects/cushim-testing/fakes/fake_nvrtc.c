/* SPDX-License-Identifier: MIT */
/*
 * A fake NVRTC of version FAKE_MAJOR.FAKE_MINOR. As the real one, it opens its builtins by their name when it compiles:
 * without them a compilation gives 7, and with those of another version 6. FAKE_ARCHITECTURES: what it compiles for;
 * versions before 11.2 do not say that. FAKE_BUILTINS makes the builtins.
 */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "export.h"

enum { VERSION = 1000 * FAKE_MAJOR + 10 * FAKE_MINOR };

#if defined(FAKE_BUILTINS)

EXPORT int fake_builtins_version(void);
int fake_builtins_version(void)
{
    return VERSION;
}

#else

EXPORT int nvrtcVersion(int *major, int *minor);
EXPORT int nvrtcCreateProgram(void **program, const char *source, const char *name, int count, void *headers,
                              void *names);
EXPORT int nvrtcCompileProgram(void *program, int count, const char *const *options);
EXPORT const char *nvrtcGetErrorString(int code);

int nvrtcVersion(int *major, int *minor)
{
    *major = FAKE_MAJOR;
    *minor = FAKE_MINOR;
    return 0;
}

int nvrtcCreateProgram(void **program, const char *source, const char *name, int count, void *headers, void *names)
{
    (void)source, (void)name, (void)count, (void)headers, (void)names;
    *program = program;
    return 0;
}

const char *nvrtcGetErrorString(int code)
{
    return code == 0 ? "NVRTC_SUCCESS" : "NVRTC_ERROR_OF_THE_FAKE";
}

#    if defined(FAKE_ARCHITECTURES)
static const int architectures[] = {FAKE_ARCHITECTURES};

EXPORT int nvrtcGetNumSupportedArchs(int *count);
EXPORT int nvrtcGetSupportedArchs(int *list);

int nvrtcGetNumSupportedArchs(int *count)
{
    *count = sizeof architectures / sizeof architectures[0];
    return 0;
}

int nvrtcGetSupportedArchs(int *list)
{
    memcpy(list, architectures, sizeof architectures);
    return 0;
}
#    endif

int nvrtcCompileProgram(void *program, int count, const char *const *options)
{
    char name[64];
    int (*version)(void) = NULL;
    (void)program, (void)count, (void)options;
    snprintf(name, sizeof name, "libnvrtc-builtins.so.%d.%d", FAKE_MAJOR, FAKE_MINOR);
    void *builtins = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    void *symbol = builtins != NULL ? dlsym(builtins, "fake_builtins_version") : NULL;
    memcpy(&version, &symbol, sizeof version);
    if (version == NULL)
        return 7;
    return version() == VERSION ? 0 : 6;
}

#endif
