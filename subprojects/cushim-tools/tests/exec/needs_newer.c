/* SPDX-License-Identifier: MIT */
/* A library that needs a function of CUDA 11.0, once linked to the driver, and once not. */
int cuDevicePrimaryCtxRelease_v2(int device);

int use(void);
int use(void)
{
    return cuDevicePrimaryCtxRelease_v2(0);
}
