/* SPDX-License-Identifier: MIT */
/*
 * event_loop_windows.c - a server's loop that waits for requests and for the GPU in one place,
 * WaitForMultipleObjects(), and has no other thread.
 *
 * A semaphore stands for the requests. Each is worked on by the GPU, and answered when its completion's event is set.
 *
 * With a GPU it prints:
 *
 *     request a: aaaaaaaa
 *     request b: bbbbbbbb
 *     request c: cccccccc
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "cushim/cushim.h"

enum { REQUESTS = 3, LENGTH = 8 };

/* Slots are the driver's own functions; this adds the words to their codes, as the layer does. */
#define CALL(slot, ...) cushim_set_driver_error(cushim_table()->slot(__VA_ARGS__), CUSHIM_SLOT_##slot)

static void check(CUresult result)
{
    if (result != CUDA_SUCCESS) {
        printf("error %d: %s\n", (int)result, cushim_last_error()->message);
        exit(EXIT_FAILURE);
    }
}

static struct cushim_context *context;
static struct cushim_stream *stream;
static CUdeviceptr memory;
static void *host;

static char names[REQUESTS];
static struct cushim_completion *done[REQUESTS];

static HANDLE start(int number)
{
    HANDLE event;
    names[number] = (char)('a' + number);
    check(CALL(MemsetD8Async_v1, memory, (unsigned char)names[number], LENGTH, cushim_stream_handle(stream)));
    check(CALL(MemcpyDtoHAsync_v2, (char *)host + number * LENGTH, memory, LENGTH, cushim_stream_handle(stream)));
    check(cushim_stream_completion(stream, &done[number]));
    check(cushim_completion_descriptor(done[number], &event));
    return event;
}

static void answer(int number)
{
    check(cushim_completion_poll(done[number])); /* how it went: an error of the GPU's comes here, too */
    printf("request %c: %.*s\n", names[number], LENGTH, (const char *)host + number * LENGTH);
    cushim_completion_destroy(&done[number]); /* which closes the event: no loop may wait for it any more */
}

/* The first event is the requests'; behind it stand those of the requests that were started and not yet answered. */
static void serve(HANDLE input)
{
    HANDLE events[1 + REQUESTS] = {input};
    int started = 0;
    int answered = 0;
    while (answered < REQUESTS) {
        DWORD set = WaitForMultipleObjects((DWORD)(1 + started - answered), events, FALSE, INFINITE);
        if (set == WAIT_OBJECT_0) {
            events[1 + started - answered] = start(started);
            started++;
        } else {
            answer(answered++); /* in one stream, the oldest is the first */
            memmove(&events[1], &events[2], (REQUESTS - 1) * sizeof *events);
        }
    }
}

int main(void)
{
    HANDLE input = CreateSemaphoreA(NULL, REQUESTS, REQUESTS, NULL);
    if (cushim_init() != CUDA_SUCCESS) {
        printf("No GPU today. %s\n", cushim_get_diagnosis()->message);
        return EXIT_SUCCESS;
    }
    check(cushim_context_create(0, 0, &context));
    check(cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream));
    check(CALL(CtxSetCurrent_v1, cushim_context_handle(context)));
    check(CALL(MemAlloc_v2, &memory, LENGTH));
    check(CALL(MemAllocHost_v2, &host, (size_t)REQUESTS * LENGTH));
    serve(input);
    CloseHandle(input);
    check(cushim_stream_close(&stream));
    check(cushim_context_destroy(&context)); /* and with it its memory */
}
