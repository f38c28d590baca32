/* SPDX-License-Identifier: MIT */
/*
 * dispatcher.c - functions to call when the GPU is done, called by the program's own loop: no lock, no other thread.
 *
 * A dispatcher has one descriptor for any number of completions, here in epoll, which is Linux's. The completions are
 * given up at once: their functions are called all the same.
 *
 * With a GPU it prints:
 *
 *     job 0: ++++++++
 *     job 1: ,,,,,,,,
 *     job 2: --------
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "cushim/cushim.h"

enum { JOBS = 3, SIZE = 8 };

/* Slots are the driver's own functions; this adds the words to their codes, as the layer does. */
#define CALL(slot, ...) cushim_set_driver_error(cushim_table()->slot(__VA_ARGS__), CUSHIM_SLOT_##slot)

static void check(CUresult result)
{
    if (result != CUDA_SUCCESS) {
        printf("error %d: %s\n", (int)result, cushim_last_error()->message);
        exit(EXIT_FAILURE);
    }
}

struct job {
    int number;
    CUdeviceptr memory;
    void *result;
};

/* Both are called by cushim_dispatcher_run(), and may do anything; the second one also if the first never was. */
static void finish(CUresult status, void *user)
{
    const struct job *job = user;
    check(status);
    printf("job %d: %.*s\n", job->number, SIZE, (const char *)job->result);
}

static void release(void *user)
{
    struct job *job = user;
    check(CALL(MemFreeHost_v1, job->result));
    check(CALL(MemFree_v2, job->memory));
    free(job);
}

static void start(struct cushim_stream *stream, struct cushim_dispatcher *dispatcher, int number)
{
    struct cushim_completion *completion;
    struct job *job = calloc(1, sizeof *job);
    if (job == NULL)
        exit(EXIT_FAILURE);
    job->number = number;
    check(CALL(MemAlloc_v2, &job->memory, SIZE));
    check(CALL(MemAllocHost_v2, &job->result, SIZE));
    check(CALL(MemsetD8Async_v1, job->memory, (unsigned char)('+' + number), SIZE, cushim_stream_handle(stream)));
    check(CALL(MemcpyDtoHAsync_v2, job->result, job->memory, SIZE, cushim_stream_handle(stream)));
    check(cushim_stream_completion(stream, &completion));
    check(cushim_completion_set_callback(completion, dispatcher, finish, job, release));
    cushim_completion_detach(&completion);
}

int main(void)
{
    struct cushim_context *context;
    struct cushim_stream *stream;
    struct cushim_dispatcher *dispatcher;
    struct epoll_event event = {.events = EPOLLIN};
    int loop = epoll_create1(EPOLL_CLOEXEC);
    int descriptor;
    if (cushim_init() != CUDA_SUCCESS) {
        printf("No GPU today. %s\n", cushim_get_diagnosis()->message);
        return EXIT_SUCCESS;
    }
    check(cushim_context_create(0, 0, &context));
    check(cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream));
    check(CALL(CtxSetCurrent_v1, cushim_context_handle(context)));
    check(cushim_dispatcher_create(&dispatcher));
    check(cushim_dispatcher_descriptor(dispatcher, &descriptor));
    epoll_ctl(loop, EPOLL_CTL_ADD, descriptor, &event);
    for (int i = 0; i < JOBS; i++)
        start(stream, dispatcher, i);
    for (size_t done = 0, count = 0; done < JOBS && epoll_wait(loop, &event, 1, -1) >= 0; done += count)
        check(cushim_dispatcher_run(dispatcher, &count));
    close(loop);
    cushim_dispatcher_destroy(&dispatcher);
    check(cushim_stream_close(&stream));
    check(cushim_context_destroy(&context));
}
