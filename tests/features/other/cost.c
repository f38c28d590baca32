/* SPDX-License-Identifier: MIT */
/* Prints how long it takes to ask for all features after cuInit: the first time, and the median of 101 times. */
#include "cushim/cushim.h"

#include <stdio.h>
#include <stdlib.h>

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

int main(void)
{
    enum { TIMES = 101 };
    static struct cushim_feature_info infos[CUSHIM_FEATURE_COUNT];
    uint64_t times[TIMES];
    CUdevice device;
    if (cushim_init() != CUDA_SUCCESS || cushim_table()->DeviceGet_v1(&device, 0) != CUDA_SUCCESS) {
        puts("skipped: there is no GPU");
        return 77;
    }
    for (int i = 0; i < TIMES; i++) {
        uint64_t start = cushim_clock_ns();
        if (cushim_feature_get_all(device, CUSHIM_FEATURE_COUNT, infos) != CUDA_SUCCESS)
            return 1;
        times[i] = cushim_clock_ns() - start;
    }
    double first = (double)times[0] / 1000;
    qsort(times, TIMES, sizeof times[0], compare);
    printf("%d features: %.1f us the first time, then %.1f us\n", CUSHIM_FEATURE_COUNT, first,
           (double)times[TIMES / 2] / 1000);
    return 0;
}
