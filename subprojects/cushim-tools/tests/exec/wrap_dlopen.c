/* SPDX-License-Identifier: MIT */
/* A library for LD_PRELOAD that wraps dlopen(), as tools do: the dynamic loader takes it for the caller. */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <string.h>

void *dlopen(const char *name, int flags)
{
    static void *(*next)(const char *, int);
    void *symbol = dlsym(RTLD_NEXT, "dlopen");
    memcpy(&next, &symbol, sizeof next);
    void *volatile library = next(name, flags); /* no tail call, in which the caller would stay the caller */
    return library;
}
