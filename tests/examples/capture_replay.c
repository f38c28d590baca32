/* SPDX-License-Identifier: MIT */
/*
 * capture_replay.c - records work as a graph once, then launches the graph as often as you like.
 *
 * A graph remembers addresses, not values: each launch copies what `letters` holds at that time. Capture needs CUDA
 * 10.1. On an older driver the capture is refused with a message before anything is enqueued.
 *
 * With a GPU it prints:
 *
 *     launch 1: AAAA----
 *     launch 2: BBBB----
 *     launch 3: CCCC----
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cushim/cushim.h"

enum { SIZE = 8, HALF = SIZE / 2 };

static void check(CUresult result)
{
    if (result == CUDA_SUCCESS)
        return;
    printf("error %d: %s\n", (int)result, cushim_error_last()->message);
    exit(result == CUDA_ERROR_NOT_SUPPORTED ? EXIT_SUCCESS : EXIT_FAILURE);
}

struct buffers {
    CUdeviceptr memory; /* on the device, SIZE bytes */
    char *letters;      /* on the host: the source of the copy to the device */
    char *result;       /* on the host: the destination of the copy back */
};

/* The body of the capture. It may return at the first failure: the capture is ended in any case, and the stream stays
 * usable. */
static CUresult body(struct cushim_stream *stream, void *user)
{
    const struct buffers *buffers = user;
    CUstream handle = cushim_stream_handle(stream);
    CUresult result = CUSHIM_CALL(MemsetD8Async_v1, buffers->memory, '-', SIZE, handle);
    if (result == CUDA_SUCCESS)
        result = CUSHIM_CALL(MemcpyHtoDAsync_v2, buffers->memory, buffers->letters, HALF, handle);
    if (result == CUDA_SUCCESS)
        result = CUSHIM_CALL(MemcpyDtoHAsync_v2, buffers->result, buffers->memory, SIZE, handle);
    return result;
}

static int replay(struct cushim_stream *stream, struct buffers *buffers)
{
    static const char expected[][SIZE + 1] = {"AAAA----", "BBBB----", "CCCC----"};
    struct cushim_graph_exec *graph;
    int wrong = 0;
    check(cushim_stream_capture_executable(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, 0, body, buffers, &graph));
    for (int i = 0; i < 3; i++) {
        memset(buffers->letters, 'A' + i, HALF);
        check(cushim_graph_exec_launch(graph, stream));
        check(cushim_stream_synchronize(stream));
        printf("launch %d: %.*s\n", i + 1, SIZE, buffers->result);
        wrong += memcmp(buffers->result, expected[i], SIZE) != 0;
    }
    check(cushim_graph_exec_destroy(&graph));
    return wrong;
}

int main(void)
{
    struct cushim_context *context;
    struct cushim_stream *stream;
    struct buffers buffers;
    void *host;
    if (cushim_init() != CUDA_SUCCESS) {
        printf("No usable GPU: %s\n", cushim_diagnosis_get()->message);
        return EXIT_SUCCESS;
    }
    check(cushim_context_create(0, 0, &context));
    check(cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream));
    check(CUSHIM_CALL(CtxSetCurrent_v1, cushim_context_handle(context)));
    check(CUSHIM_CALL(MemAlloc_v2, &buffers.memory, SIZE));
    check(CUSHIM_CALL(MemAllocHost_v2, &host, HALF + SIZE));
    buffers.letters = host;
    buffers.result = buffers.letters + HALF;
    int wrong = replay(stream, &buffers);
    check(cushim_stream_close(&stream));
    check(CUSHIM_CALL(MemFreeHost_v1, host));
    check(CUSHIM_CALL(MemFree_v2, buffers.memory));
    check(cushim_context_destroy(&context));
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
