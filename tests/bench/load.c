/* SPDX-License-Identifier: MIT */
/*
 * load.c - opens the driver once, and prints how long that took, in nanoseconds.
 *
 *   load_cushim open|fail [NAME]   by cushim_load(); NAME is what CUSHIM_DRIVER says, none searches
 *   load_dlopen open|fail [NAME]   by a bare dlopen() of NAME, libcuda.so.1 if there is none, with cushim's flags
 *
 * Two programs are made of this file, so that the bare one is what a minimal program would be: it has no cushim in it.
 * Each process opens once, since a library that is open already is opened again for nothing; load.py runs many.
 * Exit status: 0 it opened, or failed, as the first argument says it must; 1 otherwise.
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
