/* SPDX-License-Identifier: MIT */
/* A libcuda.so.1 that passes calls on to the driver, whose path is in WRAPPED, as those that share a GPU or send its
 * calls to another machine. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static void *driver_function(const char *name)
{
    void *driver = dlopen(getenv("WRAPPED"), RTLD_NOW);
    return driver != NULL ? dlsym(driver, name) : NULL;
}

int cuInit(unsigned flags)
{
    int (*next)(unsigned);
    void *found = driver_function("cuInit");
    memcpy(&next, &found, sizeof next);
    return next(flags);
}

int cuDriverGetVersion(int *out_version)
{
    int (*next)(int *);
    void *found = driver_function("cuDriverGetVersion");
    memcpy(&next, &found, sizeof next);
    return next(out_version);
}
