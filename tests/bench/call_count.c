/* SPDX-License-Identifier: MIT */
/*
 * call_count.c - calls one driver function many times, so that call_count.py can count the instructions.
 *
 *   call_count direct|table COUNT
 *
 * "direct" calls through the procedure linkage table, as a program linked to libcuda.so.1 does. "table" calls
 * cushim_table() each time. The two loops are otherwise equal.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cushim/cushim.h"

CUresult CUDAAPI cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *captureStatus);

static int call_direct(long count)
{
    CUstreamCaptureStatus status;
    int failures = 0;
    for (long i = 0; i < count; i++)
        failures |= cuStreamIsCapturing(NULL, &status) != CUDA_SUCCESS;
    return failures;
}

static int call_table(long count)
{
    CUstreamCaptureStatus status;
    int failures = 0;
    for (long i = 0; i < count; i++)
        failures |= cushim_table()->StreamIsCapturing_v1(NULL, &status) != CUDA_SUCCESS;
    return failures;
}

int main(int argc, char **argv)
{
    if (argc != 3 || cushim_load(NULL) != CUDA_SUCCESS) {
        fprintf(stderr, "call_count: %s\n", argc != 3 ? "direct|table COUNT" : cushim_last_error()->message);
        return 1;
    }
    long count = strtol(argv[2], NULL, 10);
    return strcmp(argv[1], "direct") == 0 ? call_direct(count) : call_table(count);
}
