/* SPDX-License-Identifier: MIT */
/*
 * A library for LD_PRELOAD as those that limit the memory of a shared GPU: it gives programs its own functions of the
 * driver from dlsym(), which it replaces. LIMITER, in the environment: "limit": more than 1 MiB cannot be allocated;
 * "init999": cuInit fails without a question to the driver.
 */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* RTLD_NEXT, dlvsym */
#endif
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static int is_mode(const char *mode)
{
    const char *value = getenv("LIMITER");
    return value != NULL && strcmp(value, mode) == 0;
}

/* The next dlsym(). */
static void *symbol_find(void *library, const char *name)
{
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"};
    void *(*next)(void *, const char *) = NULL;
    for (size_t i = 0; next == NULL && i < sizeof versions / sizeof versions[0]; i++) {
        void *found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
        memcpy(&next, &found, sizeof next);
    }
    return next(library, name);
}

static void *driver_function(const char *name)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    return driver != NULL ? symbol_find(driver, name) : NULL;
}

int cuInit(unsigned flags)
{
    int (*next)(unsigned);
    void *found = driver_function("cuInit");
    memcpy(&next, &found, sizeof next);
    return is_mode("init999") ? 999 : next(flags);
}

int cuMemAlloc_v2(unsigned long long *out_address, size_t size)
{
    int (*next)(unsigned long long *, size_t);
    void *found = driver_function("cuMemAlloc_v2");
    memcpy(&next, &found, sizeof next);
    return is_mode("limit") && size > 1 << 20 ? 2 : next(out_address, size);
}

static const struct {
    const char *name;
    void (*function)(void);
} replaced[] = {{"cuInit", (void (*)(void))cuInit}, {"cuMemAlloc_v2", (void (*)(void))cuMemAlloc_v2}};

void *dlsym(void *library, const char *name)
{
    void *found = NULL;
    for (size_t i = 0; i < sizeof replaced / sizeof replaced[0]; i++) {
        if (strcmp(name, replaced[i].name) == 0)
            memcpy(&found, &replaced[i].function, sizeof found);
    }
    return found != NULL ? found : symbol_find(library, name);
}
