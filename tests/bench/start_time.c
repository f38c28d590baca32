/* SPDX-License-Identifier: MIT */
/*
 * start_time.c - times a cuInit that fails, through the table and as the driver's own function, in alternating calls.
 * Each line is one pair, in nanoseconds: "failing-start table direct". start_time.py runs it and judges the result.
 *
 *   start_time [ROOT]    the diagnosis looks at the machine below this directory
 *
 * Exit status 77: the driver starts, or there is none.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cushim/cushim.h"

enum { WARM_UP = 5, PAIRS = 40 }; /* after 130 starts, driver 340 fails without a try */

typedef CUresult(CUDAAPI *init_fn)(unsigned);

static double time_init(init_fn init)
{
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    CUresult result = init(0);
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (result == CUDA_SUCCESS) {
        fprintf(stderr, "the driver starts here\n");
        exit(77);
    }
    return (double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec);
}

int main(int count, char **words)
{
    struct cushim_load_options options = {.root = count > 1 ? words[1] : NULL};
    if (cushim_load(&options) != CUDA_SUCCESS) {
        fprintf(stderr, "%s\n", cushim_diagnosis_get()->message);
        return 77;
    }
    setvbuf(stdout, NULL, _IOLBF, 0); /* some drivers fork */
    void *driver = dlopen(cushim_diagnosis_get()->path, RTLD_NOW | RTLD_NOLOAD);
    init_fn direct = NULL;
    if (driver != NULL)
        *(void **)&direct = dlsym(driver, "cuInit");
    init_fn table = cushim_table()->Init_v1;
    for (int i = -WARM_UP; i < PAIRS && direct != NULL; i++) {
        double ours = i % 2 == 0 ? time_init(table) : 0;
        double bare = time_init(direct);
        if (i % 2 != 0)
            ours = time_init(table);
        if (i >= 0)
            printf("failing-start %.0f %.0f\n", ours, bare);
    }
    return direct == NULL;
}
