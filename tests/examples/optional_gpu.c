/* SPDX-License-Identifier: MIT */
/*
 * optional_gpu.c - one binary for machines with and without a GPU: it draws the same picture on both.
 *
 * The program handles a missing driver, a missing GPU and any later failure in the same way: if the GPU cannot draw the
 * picture, the CPU does. It does not ask beforehand what the machine has.
 *
 * With a GPU it prints:
 *
 *     drawn by the GPU
 *     ++++++++++++++++
 *     ++++++    ++++++
 *     +++          +++
 *     +++          +++
 *     ++++++    ++++++
 *     ++++++++++++++++
 *
 * Without a GPU, the first line is "drawn by the CPU" and the reason.
 */
#include <stdio.h>
#include <string.h>

#include "cushim/cushim.h"

enum { WIDTH = 16, HEIGHT = 6, SIZE = WIDTH * HEIGHT };

static const struct rectangle {
    unsigned x, y, width, height;
    unsigned char color;
} shapes[] = {{0, 0, WIDTH, HEIGHT, '+'}, {6, 1, 4, 4, ' '}, {3, 2, 10, 2, ' '}};

enum { SHAPES = sizeof shapes / sizeof *shapes };

static void draw_on_cpu(unsigned char *picture)
{
    for (const struct rectangle *shape = shapes; shape < shapes + SHAPES; shape++)
        for (unsigned row = 0; row < shape->height; row++)
            memset(picture + (shape->y + row) * WIDTH + shape->x, shape->color, shape->width);
}

static CUresult enqueue(struct cushim_stream *stream, CUdeviceptr memory, unsigned char *picture)
{
    CUstream handle = cushim_stream_handle(stream);
    CUresult result = CUDA_SUCCESS;
    for (const struct rectangle *shape = shapes; result == CUDA_SUCCESS && shape < shapes + SHAPES; shape++)
        result = CUSHIM_CALL(MemsetD2D8Async_v1, memory + shape->y * WIDTH + shape->x, WIDTH, shape->color,
                             shape->width, shape->height, handle);
    return result != CUDA_SUCCESS ? result : CUSHIM_CALL(MemcpyDtoHAsync_v2, picture, memory, SIZE, handle);
}

static CUresult draw_in_stream(struct cushim_stream *stream, unsigned char *picture)
{
    CUdeviceptr memory;
    CUresult result = CUSHIM_CALL(MemAlloc_v2, &memory, SIZE);
    if (result != CUDA_SUCCESS)
        return result;
    result = enqueue(stream, memory, picture);
    CUresult done = cushim_stream_synchronize(stream);
    CUresult freed = CUSHIM_CALL(MemFree_v2, memory);
    return result != CUDA_SUCCESS ? result : done != CUDA_SUCCESS ? done : freed;
}

static CUresult draw_on_gpu(unsigned char *picture)
{
    struct cushim_context *context;
    struct cushim_stream *stream = NULL;
    CUresult result = cushim_context_create(0, 0, &context); /* loads and initialises the driver, if the machine has
                                                              * one */
    if (result != CUDA_SUCCESS)
        return result;
    result = cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream);
    if (result == CUDA_SUCCESS)
        result = CUSHIM_CALL(CtxSetCurrent_v1, cushim_context_handle(context)); /* cuMemAlloc needs a current context */
    if (result == CUDA_SUCCESS)
        result = draw_in_stream(stream, picture);
    cushim_stream_destroy(&stream);
    cushim_context_destroy(&context);
    return result;
}

int main(void)
{
    unsigned char picture[SIZE];
    if (draw_on_gpu(picture) == CUDA_SUCCESS) {
        puts("drawn by the GPU");
    } else {
        printf("drawn by the CPU: %s\n", cushim_error_last()->message);
        draw_on_cpu(picture);
    }
    for (int row = 0; row < HEIGHT; row++)
        printf("%.*s\n", WIDTH, (const char *)picture + row * WIDTH);
    return 0;
}
