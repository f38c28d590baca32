/* SPDX-License-Identifier: MIT */
/*
 * event_loop_windows.c - the loop of a server that waits for requests and for the GPU in one WaitForMultipleObjects()
 * call, without other threads.
 *
 * A semaphore takes the place of the incoming requests. Each request is processed by the GPU. The program answers it
 * when the event object of its completion is set.
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

static void check(CUresult result)
{
    if (result != CUDA_SUCCESS) {
        printf("error %d: %s\n", (int)result, cushim_error_last()->message);
        exit(EXIT_FAILURE);
    }
}

static struct cushim_context *context;
static struct cushim_stream *stream;
static CUdeviceptr memory;
static void *host;

static char names[REQUESTS];
static struct cushim_completion *completions[REQUESTS];

static HANDLE request_start(int number)
{
    HANDLE event;
    names[number] = (char)('a' + number);
    check(CUSHIM_CALL(MemsetD8Async_v1, memory, (unsigned char)names[number], LENGTH, cushim_stream_handle(stream)));
    check(
        CUSHIM_CALL(MemcpyDtoHAsync_v2, (char *)host + number * LENGTH, memory, LENGTH, cushim_stream_handle(stream)));
    check(cushim_completion_create(stream, CUSHIM_COMPLETION_NOTIFYING, &completions[number]));
    check(cushim_completion_get_descriptor(completions[number], &event));
    return event;
}

static void request_answer(int number)
{
    CUresult status = CUDA_SUCCESS;
    check(cushim_completion_poll(completions[number], &status));
    check(status); /* of the work, including errors of the GPU */
    printf("request %c: %.*s\n", names[number], LENGTH, (const char *)host + number * LENGTH);
    cushim_completion_destroy(&completions[number]); /* also closes the event object, so nobody may wait for it now */
}

/* The first handle is the semaphore. The others are the events of the requests that were started and not yet
 * answered. */
static void serve(HANDLE input)
{
    HANDLE events[1 + REQUESTS] = {input};
    int started = 0;
    int answered = 0;
    while (answered < REQUESTS) {
        DWORD set = WaitForMultipleObjects((DWORD)(1 + started - answered), events, FALSE, INFINITE);
        if (set == WAIT_OBJECT_0) {
            events[1 + started - answered] = request_start(started);
            started++;
        } else {
            request_answer(answered++); /* requests in one stream complete in order, so the oldest is the first */
            memmove(&events[1], &events[2], (REQUESTS - 1) * sizeof *events);
        }
    }
}

int main(void)
{
    HANDLE input = CreateSemaphoreA(NULL, REQUESTS, REQUESTS, NULL);
    if (cushim_init() != CUDA_SUCCESS) {
        printf("No usable GPU: %s\n", cushim_diagnosis_get()->message);
        return EXIT_SUCCESS;
    }
    check(cushim_context_create(0, 0, &context));
    check(cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream));
    check(CUSHIM_CALL(CtxSetCurrent_v1, cushim_context_handle(context)));
    check(CUSHIM_CALL(MemAlloc_v2, &memory, LENGTH));
    check(CUSHIM_CALL(MemAllocHost_v2, &host, (size_t)REQUESTS * LENGTH));
    serve(input);
    CloseHandle(input);
    check(cushim_stream_close(&stream));
    check(cushim_context_destroy(&context)); /* also frees the memory of the context */
}
