/* SPDX-License-Identifier: MIT */
/* A program that was written for -lcuda. The test checks that it starts without a driver with the drop-in library. */
#include <stdio.h>

int cuInit(unsigned flags);
int cuDeviceGetCount(int *count);

int main(void)
{
    int count = -1;
    int initialized = cuInit(0);
    int result = cuDeviceGetCount(&count);
    printf("cuInit: %d, cuDeviceGetCount: %d, devices: %d\n", initialized, result, count);
    return initialized != 100 || result != 0 || count != 0;
}
