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
    for (int i = 0; i < 3; i++)
        cuDriverGetVersion(&version);
    cuStreamSynchronize((CUstream)2);
    cuStreamIsCapturing((CUstream)1, NULL);
    return 0;
}
