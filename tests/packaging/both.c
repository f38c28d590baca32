/* SPDX-License-Identifier: MIT */
/*
 * A program that calls the driver by its names, and cushim too. There is one copy of cushim, whichever library comes
 * first: the call of the driver sets the error that cushim reports.
 */
#include <stdio.h>
#include <string.h>

#include <cushim/cushim.h>

CUresult CUDAAPI cuInit(unsigned flags);

int main(void)
{
    CUresult result = cuInit(0);
    const struct cushim_error *error = cushim_error_last();
    printf("cuInit: %d, %s: %s\n", (int)result, error->function, error->message);
    return result != CUDA_ERROR_NO_DEVICE || strcmp(error->function, "cuInit") != 0;
}
