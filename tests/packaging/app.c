/* SPDX-License-Identifier: MIT */
/* A program that uses cushim. The test checks that it builds and starts, however cushim was added to it. */
#include <stdio.h>

#include <cushim/cushim.h>

int main(void)
{
    int version = -1;
    int count = -1;
    CUresult loaded = cushim_load(NULL);
    CUresult result = cushim_table()->DriverGetVersion_v1(&version);
    if (loaded == CUDA_SUCCESS)
        printf("%s, CUDA %d.%d\n", cushim_diagnosis_get()->path, version / 1000, version % 1000 / 10);
    else
        printf("no driver: %s\n", cushim_diagnosis_get()->message);
    if (result != CUDA_SUCCESS || (version > 0) != (loaded == CUDA_SUCCESS))
        return 1;
    return loaded != CUDA_SUCCESS && (cushim_table()->DeviceGetCount_v1(&count) != CUDA_SUCCESS || count != 0);
}
