/* SPDX-License-Identifier: MIT */
/*
 * event_loop_libuv.c - a program on libuv's event loop that waits for timers and for the GPU.
 *
 * A timer starts a request every few milliseconds. A dispatcher calls a function for each request that is done. Its
 * descriptor is one handle of the loop, however many requests there are.
 *
 * With a GPU it prints:
 *
 *     request a: aaaaaaaa
 *     request b: bbbbbbbb
 *     request c: cccccccc
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

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
static struct cushim_dispatcher *dispatcher;
static CUdeviceptr memory;

static struct request {
    char name;
    char *answer; /* memory that the GPU writes */
} requests[REQUESTS];
static int started, answered;

static void answer_request(CUresult status, void *user)
{
    const struct request *request = user;
    check(status); /* of the work, including errors of the GPU */
    printf("request %c: %.*s\n", request->name, LENGTH, request->answer);
    answered++;
}

static void start_request(uv_timer_t *timer)
{
    struct request *request = &requests[started];
    struct cushim_completion *completion;
    request->name = (char)('a' + started);
    check(CUSHIM_CALL(MemsetD8Async_v1, memory, (unsigned char)request->name, LENGTH, cushim_stream_handle(stream)));
    check(CUSHIM_CALL(MemcpyDtoHAsync_v2, request->answer, memory, LENGTH, cushim_stream_handle(stream)));
    check(cushim_completion_create(stream, CUSHIM_COMPLETION_NOTIFYING, &completion));
    check(cushim_completion_set_callback(completion, dispatcher, answer_request, request, NULL));
    cushim_completion_detach(&completion);
    if (++started == REQUESTS)
        uv_close((uv_handle_t *)timer, NULL);
}

static void run_dispatcher(uv_poll_t *poll, int status, int events)
{
    (void)status, (void)events;
    check(cushim_dispatcher_run(dispatcher, 0, NULL));
    if (answered == REQUESTS)
        uv_close((uv_handle_t *)poll, NULL);
}

static void serve(void)
{
    uv_loop_t *loop = uv_default_loop();
    uv_timer_t timer;
    uv_poll_t gpu;
    cushim_descriptor descriptor;
    check(cushim_dispatcher_create(&dispatcher));
    check(cushim_dispatcher_get_descriptor(dispatcher, &descriptor));
    uv_timer_init(loop, &timer);
    uv_timer_start(&timer, start_request, 1, 5);
    uv_poll_init(loop, &gpu, descriptor);
    uv_poll_start(&gpu, UV_READABLE, run_dispatcher);
    uv_run(loop, UV_RUN_DEFAULT); /* until both handles are closed */
    uv_loop_close(loop);
    cushim_dispatcher_destroy(&dispatcher);
}

int main(void)
{
    if (cushim_init() != CUDA_SUCCESS) {
        printf("No usable GPU: %s\n", cushim_diagnosis_get()->message);
        return EXIT_SUCCESS;
    }
    void *host;
    check(cushim_context_create_preferred(0, 0, &context));
    check(cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream));
    CUcontext before;
    check(cushim_context_enter(context, &before));
    check(CUSHIM_CALL(MemAlloc_v2, &memory, LENGTH));
    check(CUSHIM_CALL(MemAllocHost_v2, &host, (size_t)REQUESTS * LENGTH));
    for (int i = 0; i < REQUESTS; i++)
        requests[i].answer = (char *)host + i * LENGTH;
    serve();
    check(CUSHIM_CALL(MemFreeHost_v1, host));
    check(CUSHIM_CALL(MemFree_v2, memory));
    check(cushim_context_leave(before));
    check(cushim_stream_close(&stream));
    check(cushim_context_destroy(&context));
}
