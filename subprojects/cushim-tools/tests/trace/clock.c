/* SPDX-License-Identifier: MIT */
/* A program whose clock goes on by a microsecond at each reading, also in the trace layer. */
#include <time.h>

#include "functions.h"

int clock_gettime(clockid_t clock, struct timespec *out_time)
{
    static long readings;
    (void)clock;
    readings++;
    *out_time = (struct timespec){1000000000 + readings / 1000000, readings % 1000000 * 1000};
    return 0;
}

int main(void)
{
    int version;
    CUcontext context;
    CUdeviceptr memory;
    cuInit(0);
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    cuDriverGetVersion(&version);
    return cuMemAlloc_v2(&memory, 16) != 0;
}
