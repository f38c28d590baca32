/* SPDX-License-Identifier: MIT */
/*
 * event_loop.c - the loop of a server that waits for requests and for the GPU in one poll() call, without other
 * threads.
 *
 * Each request arrives through a pipe and is processed by the GPU. The program answers it when the descriptor of its
 * completion is readable. event_loop_windows.c does the same on Windows; dispatcher.c needs one descriptor for all
 * requests.
 *
 * With a GPU it prints:
 *
 *     request a: aaaaaaaa
 *     request b: bbbbbbbb
 *     request c: cccccccc
 */
#define _POSIX_C_SOURCE 200809L
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

static void request_start(int number, char name, struct pollfd *watch)
{
    names[number] = name;
    check(CUSHIM_CALL(MemsetD8Async_v1, memory, (unsigned char)name, LENGTH, cushim_stream_handle(stream)));
    check(
        CUSHIM_CALL(MemcpyDtoHAsync_v2, (char *)host + number * LENGTH, memory, LENGTH, cushim_stream_handle(stream)));
    check(cushim_completion_create(stream, CUSHIM_COMPLETION_NOTIFYING, &completions[number]));
    check(cushim_completion_get_descriptor(completions[number], &watch->fd));
}

static void request_answer(int number, struct pollfd *watch)
{
    CUresult status = CUDA_SUCCESS;
    check(cushim_completion_poll(completions[number], &status));
    check(status); /* of the work, including errors of the GPU */
    printf("request %c: %.*s\n", names[number], LENGTH, (const char *)host + number * LENGTH);
    watch->fd = -1; /* before the completion closes the descriptor */
    cushim_completion_destroy(&completions[number]);
}

static void serve(int input)
{
    struct pollfd watches[1 + REQUESTS] = {{.fd = input, .events = POLLIN}};
    int started = 0;
    int answered = 0;
    for (int i = 1; i <= REQUESTS; i++)
        watches[i] = (struct pollfd){.fd = -1, .events = POLLIN};
    while (answered < REQUESTS && poll(watches, 1 + REQUESTS, -1) > 0) {
        char name;
        if (watches[0].revents != 0 && read(input, &name, 1) == 1) {
            request_start(started, name, &watches[1 + started]);
            started++;
        }
        for (int i = 0; i < REQUESTS; i++) {
            if (watches[1 + i].revents != 0) {
                request_answer(i, &watches[1 + i]);
                answered++;
            }
        }
    }
}

int main(void)
{
    int input[2];
    if (cushim_init() != CUDA_SUCCESS) {
        printf("No usable GPU: %s\n", cushim_diagnosis_get()->message);
        return EXIT_SUCCESS;
    }
    check(cushim_context_create(0, 0, &context));
    check(cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream));
    check(CUSHIM_CALL(CtxSetCurrent_v1, cushim_context_handle(context)));
    check(CUSHIM_CALL(MemAlloc_v2, &memory, LENGTH));
    check(CUSHIM_CALL(MemAllocHost_v2, &host, (size_t)REQUESTS * LENGTH));
    if (pipe(input) != 0 || write(input[1], "abc", REQUESTS) != REQUESTS)
        return EXIT_FAILURE;
    serve(input[0]);
    check(cushim_stream_close(&stream));
    check(cushim_context_destroy(&context)); /* also frees the memory of the context */
}
