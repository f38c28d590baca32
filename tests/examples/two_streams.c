/* SPDX-License-Identifier: MIT */
/*
 * two_streams.c - forks work to a second stream and joins it again.
 *
 *     left    fill all -+- fill the left half -------+- copy to the host
 *                       |                            |
 *     right             +- fill the right half ------+
 *
 * The host waits once, at the end. Without the first wait, the fill of everything might overwrite the right half.
 * Without the second one, the copy might miss the right half.
 *
 * With a GPU it prints:
 *
 *     LLLLLLLLLLLLLLLLRRRRRRRRRRRRRRRR
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cushim/cushim.h"

enum { SIZE = 1 << 24, HALF = SIZE / 2, SHOWN = 32 };

static void check(CUresult result)
{
    if (result == CUDA_SUCCESS)
        return;
    printf("error %d: %s\n", (int)result, cushim_error_last()->message);
    exit(EXIT_FAILURE);
}

static void enqueue(struct cushim_context *context, CUdeviceptr memory, unsigned char *host)
{
    struct cushim_stream *left;
    struct cushim_stream *right;
    check(cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &left));
    check(cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &right));

    check(CUSHIM_CALL(MemsetD8Async_v1, memory, '?', SIZE, cushim_stream_handle(left)));
    check(cushim_stream_wait_for(right, left));
    check(CUSHIM_CALL(MemsetD8Async_v1, memory, 'L', HALF, cushim_stream_handle(left)));
    check(CUSHIM_CALL(MemsetD8Async_v1, memory + HALF, 'R', HALF, cushim_stream_handle(right)));
    check(cushim_stream_wait_for(left, right));
    check(CUSHIM_CALL(MemcpyDtoHAsync_v2, host, memory, SIZE, cushim_stream_handle(left)));

    check(cushim_stream_destroy(&right)); /* does not wait; the GPU still completes the work in it */
    check(cushim_stream_close(&left));    /* waits */
}

static size_t count_wrong(const unsigned char *host)
{
    size_t wrong = 0;
    for (size_t i = 0; i < SIZE; i++)
        wrong += host[i] != (i < HALF ? 'L' : 'R');
    return wrong;
}

int main(void)
{
    struct cushim_context *context;
    CUdeviceptr memory;
    void *host;
    if (cushim_init() != CUDA_SUCCESS) {
        printf("No usable GPU: %s\n", cushim_diagnosis_get()->message);
        return EXIT_SUCCESS;
    }
    check(cushim_context_create(0, 0, &context));
    check(CUSHIM_CALL(CtxSetCurrent_v1, cushim_context_handle(context)));
    check(CUSHIM_CALL(MemAlloc_v2, &memory, SIZE));
    check(CUSHIM_CALL(MemAllocHost_v2, &host, SIZE));
    enqueue(context, memory, host);
    size_t wrong = count_wrong(host);
    printf("%.*s\n", SHOWN, (const char *)host + HALF - SHOWN / 2);
    check(CUSHIM_CALL(MemFreeHost_v1, host));
    check(CUSHIM_CALL(MemFree_v2, memory));
    check(cushim_context_destroy(&context));
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
