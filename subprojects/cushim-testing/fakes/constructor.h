/* SPDX-License-Identifier: MIT */
/* Calls fake_driver_constructed() of the program that is loading this library, if the program exports it. */
#ifndef FAKE_CONSTRUCTOR_H
#define FAKE_CONSTRUCTOR_H

#include <stddef.h>
#if defined(_WIN32)
#    include <windows.h>
#else
#    include <dlfcn.h>
#endif

__attribute__((constructor)) static void construct(void)
{
    union {
        void *object;
        void (*call)(void);
#if defined(_WIN32)
        FARPROC function;
    } constructed = {.function = GetProcAddress(GetModuleHandleW(NULL), "fake_driver_constructed")};
#else
    } constructed = {dlsym(RTLD_DEFAULT, "fake_driver_constructed")};
#endif
    if (constructed.object != NULL)
        constructed.call();
}

#endif
