/* SPDX-License-Identifier: MIT */
/*
 * event_loop_libuv.c - a program on libuv's event loop that waits for timers and for the GPU.
 *
 * A timer starts a request every few milliseconds. All completions are in one set, whose descriptor is one handle of
 * the loop, however many requests there are.
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

/* Slots are the driver's own functions. This macro adds a message to their error codes, as the stream layer does. */
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
static struct cushim_completion_set *set;
static CUdeviceptr memory;

static struct request {
    char name;
    char *answer; /* memory that the GPU writes */
} requests[REQUESTS];
static int started, answered;

static void start_request(uv_timer_t *timer)
{
    struct request *request = &requests[started];
    struct cushim_completion *completion;
    request->name = (char)('a' + started);
    check(CALL(MemsetD8Async_v1, memory, (unsigned char)request->name, LENGTH, cushim_stream_handle(stream)));
    check(CALL(MemcpyDtoHAsync_v2, request->answer, memory, LENGTH, cushim_stream_handle(stream)));
    check(cushim_stream_completion(stream, &completion));
    check(cushim_completion_set_add(set, completion, request));
    if (++started == REQUESTS)
        uv_close((uv_handle_t *)timer, NULL);
}

static void answer_requests(uv_poll_t *poll, int status, int events)
{
    struct cushim_completion *completion;
    void *user;
    (void)status, (void)events;
    while (cushim_completion_set_wait(set, 0, &completion, &user) == CUDA_SUCCESS) {
        struct request *request = user;
        check(cushim_completion_poll(completion)); /* the status of the work, including errors of the GPU */
        cushim_completion_destroy(&completion);
        printf("request %c: %.*s\n", request->name, LENGTH, request->answer);
        answered++;
    }
    if (answered == REQUESTS)
        uv_close((uv_handle_t *)poll, NULL);
}

static void serve(void)
{
    uv_loop_t *loop = uv_default_loop();
    uv_timer_t timer;
    uv_poll_t gpu;
    cushim_descriptor descriptor;
    check(cushim_completion_set_create(&set));
    check(cushim_completion_set_descriptor(set, &descriptor));
    uv_timer_init(loop, &timer);
    uv_timer_start(&timer, start_request, 1, 5);
    uv_poll_init(loop, &gpu, descriptor);
    uv_poll_start(&gpu, UV_READABLE, answer_requests);
    uv_run(loop, UV_RUN_DEFAULT); /* until both handles are closed */
    uv_loop_close(loop);
    cushim_completion_set_destroy(&set);
}

int main(void)
{
    if (cushim_init() != CUDA_SUCCESS) {
        printf("No usable GPU: %s\n", cushim_get_diagnosis()->message);
        return EXIT_SUCCESS;
    }
    void *host;
    check(cushim_context_create_preferred(0, &context));
    check(cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream));
    CUcontext before;
    check(cushim_context_enter(context, &before));
    check(CALL(MemAlloc_v2, &memory, LENGTH));
    check(CALL(MemAllocHost_v2, &host, (size_t)REQUESTS * LENGTH));
    for (int i = 0; i < REQUESTS; i++)
        requests[i].answer = (char *)host + i * LENGTH;
    serve();
    check(CALL(MemFreeHost_v1, host));
    check(CALL(MemFree_v2, memory));
    check(cushim_context_leave(before));
    check(cushim_stream_close(&stream));
    check(cushim_context_destroy(&context));
}
