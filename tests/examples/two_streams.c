/* SPDX-License-Identifier: MIT */
/*
 * two_streams.c - work that forks to a second stream and joins again, ordered by events alone.
 *
 *     left    fill all -+- fill the left half -------+- copy to the host
 *                       |                            |
 *     right             +- fill the right half ------+
 *
 * The host waits once, at the end. Without the first event the right half might be overwritten by the fill of all;
 * without the second one it might be missing in the copy.
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

/* Slots are the driver's own functions; this adds the words to their codes, as the layer does. */
#define CALL(slot, ...) cushim_set_driver_error(cushim_table()->slot(__VA_ARGS__), CUSHIM_SLOT_##slot)

static void check(CUresult result)
{
    if (result == CUDA_SUCCESS)
        return;
    printf("error %d: %s\n", (int)result, cushim_last_error()->message);
    exit(EXIT_FAILURE);
}

/* All of `to` waits for what is in `from` by now. */
static void follow(struct cushim_context *context, struct cushim_stream *to, struct cushim_stream *from)
{
    struct cushim_event *event;
    check(cushim_event_create(context, CU_EVENT_DISABLE_TIMING, &event));
    check(cushim_event_record(event, from, 0));
    check(cushim_stream_wait_event(to, event, 0));
    check(cushim_event_destroy(&event)); /* who waits for it keeps what it needs */
}

static void enqueue(struct cushim_context *context, CUdeviceptr memory, unsigned char *host)
{
    struct cushim_stream *left;
    struct cushim_stream *right;
    check(cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &left));
    check(cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &right));

    check(CALL(MemsetD8Async_v1, memory, '?', SIZE, cushim_stream_handle(left)));
    follow(context, right, left);
    check(CALL(MemsetD8Async_v1, memory, 'L', HALF, cushim_stream_handle(left)));
    check(CALL(MemsetD8Async_v1, memory + HALF, 'R', HALF, cushim_stream_handle(right)));
    follow(context, left, right);
    check(CALL(MemcpyDtoHAsync_v2, host, memory, SIZE, cushim_stream_handle(left)));

    check(cushim_stream_destroy(&right)); /* does not wait: what is in it is done all the same */
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
        printf("No GPU today. %s\n", cushim_get_diagnosis()->message);
        return EXIT_SUCCESS;
    }
    check(cushim_context_create(0, 0, &context));
    check(CALL(CtxSetCurrent_v1, cushim_context_handle(context)));
    check(CALL(MemAlloc_v2, &memory, SIZE));
    check(CALL(MemAllocHost_v2, &host, SIZE));
    enqueue(context, memory, host);
    size_t wrong = count_wrong(host);
    printf("%.*s\n", SHOWN, (const char *)host + HALF - SHOWN / 2);
    check(CALL(MemFreeHost_v1, host));
    check(CALL(MemFree_v2, memory));
    check(cushim_context_destroy(&context));
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
