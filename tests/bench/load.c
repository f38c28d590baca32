/* SPDX-License-Identifier: MIT */
/*
 * load.c - opens the driver once and prints the time that this took, in nanoseconds.
 *
 *   load_cushim open|fail [NAME]   with cushim_load(); NAME is the value of CUSHIM_DRIVER; without it, cushim searches
 *   load_dlopen open|fail [NAME]   with dlopen() of NAME, by default libcuda.so.1, and with cushim's flags
 *
 * Two programs are built from this file, so that the second one contains no cushim, like a minimal program. Each
 * process opens the driver once, because opening a library again costs almost nothing; load.py runs many processes.
 * Exit status: 0 if it opened or failed as the first argument requires; 1 otherwise.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if BENCH_CUSHIM
#    include "cushim/cushim.h"

static bool open_driver(const char *name)
{
    (void)name;
    return cushim_load(NULL) == CUDA_SUCCESS;
}
#else
static bool open_driver(const char *name)
{
    return dlopen(name, RTLD_NOW | RTLD_LOCAL) != NULL;
}
#endif

int main(int argc, char **argv)
{
    const char *name = argc > 2 ? argv[2] : "libcuda.so.1";
    bool must_open = argc > 1 && strcmp(argv[1], "open") == 0;
#if BENCH_CUSHIM
    if (argc > 2)
        setenv("CUSHIM_DRIVER", name, 1);
    else
        unsetenv("CUSHIM_DRIVER");
#endif

    struct timespec start;
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    bool open = open_driver(name);
    clock_gettime(CLOCK_MONOTONIC, &end);

    if (open != must_open) {
        fprintf(stderr, "%s was expected to %s, and did not\n", name, must_open ? "open" : "fail");
        return 1;
    }
    printf("%lld\n", (end.tv_sec - start.tv_sec) * 1000000000LL + end.tv_nsec - start.tv_nsec);
    return 0;
}
