/* SPDX-License-Identifier: MIT */
/* cushim - tells what this machine's CUDA driver can do. */
#include <stdio.h>

#include "cushim/cushim.h"

int main(void)
{
    CUresult result = cushim_load(NULL);
    printf("%s\n", result == CUDA_SUCCESS ? cushim_diagnosis()->path : cushim_diagnosis()->message);
    return result == CUDA_SUCCESS ? 0 : 1;
}
