/* SPDX-License-Identifier: MIT */
/*
 * dispatcher.c - calls functions when the GPU is done, from the program's own event loop: no locks, no other threads.
 *
 * A dispatcher has one descriptor for any number of completions. Here the descriptor is in an epoll set, which only
 * Linux has. The program detaches each completion immediately; the callbacks are called nevertheless.
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

static void check(CUresult result)
{
    if (result != CUDA_SUCCESS) {
        printf("error %d: %s\n", (int)result, cushim_error_last()->message);
        exit(EXIT_FAILURE);
    }
}

struct job {
    int number;
    CUdeviceptr memory;
    void *result;
};

/* cushim_dispatcher_run() calls both functions. They may call anything. job_release() is called even if job_done()
 * never was. */
static void job_done(CUresult status, void *user)
{
    const struct job *job = user;
    check(status);
    printf("job %d: %.*s\n", job->number, SIZE, (const char *)job->result);
}

static void job_release(void *user)
{
    struct job *job = user;
    check(CUSHIM_CALL(MemFreeHost_v1, job->result));
    check(CUSHIM_CALL(MemFree_v2, job->memory));
    free(job);
}

static void job_start(struct cushim_stream *stream, struct cushim_dispatcher *dispatcher, int number)
{
    struct cushim_completion *completion;
    struct job *job = calloc(1, sizeof *job);
    if (job == NULL)
        exit(EXIT_FAILURE);
    job->number = number;
    check(CUSHIM_CALL(MemAlloc_v2, &job->memory, SIZE));
    check(CUSHIM_CALL(MemAllocHost_v2, &job->result, SIZE));
    check(
        CUSHIM_CALL(MemsetD8Async_v1, job->memory, (unsigned char)('+' + number), SIZE, cushim_stream_handle(stream)));
    check(CUSHIM_CALL(MemcpyDtoHAsync_v2, job->result, job->memory, SIZE, cushim_stream_handle(stream)));
    check(cushim_completion_create(stream, CUSHIM_COMPLETION_NOTIFYING, &completion));
    check(cushim_completion_set_callback(completion, dispatcher, job_done, job, job_release));
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
        printf("No usable GPU: %s\n", cushim_diagnosis_get()->message);
        return EXIT_SUCCESS;
    }
    check(cushim_context_create(0, 0, &context));
    check(cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream));
    check(CUSHIM_CALL(CtxSetCurrent_v1, cushim_context_handle(context)));
    check(cushim_dispatcher_create(&dispatcher));
    check(cushim_dispatcher_get_descriptor(dispatcher, &descriptor));
    epoll_ctl(loop, EPOLL_CTL_ADD, descriptor, &event);
    for (int i = 0; i < JOBS; i++)
        job_start(stream, dispatcher, i);
    for (size_t done = 0, count = 0; done < JOBS && epoll_wait(loop, &event, 1, -1) >= 0; done += count)
        check(cushim_dispatcher_run(dispatcher, 0, &count));
    close(loop);
    cushim_dispatcher_destroy(&dispatcher);
    check(cushim_stream_close(&stream));
    check(cushim_context_destroy(&context));
}
