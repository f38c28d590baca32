/* SPDX-License-Identifier: MIT */
/* early.h - a header of the program that calls the driver, and that comes before everything else. */
#ifndef CUSHIM_TEST_EARLY_H
#define CUSHIM_TEST_EARLY_H

#include <cuda.h>

inline int device_count()
{
    int count = -1;
    return cuDeviceGetCount(&count) == CUDA_SUCCESS ? count : -1;
}

#endif
