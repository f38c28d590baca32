/* SPDX-License-Identifier: MIT */
/*
 * host_function.c - hands each result to another thread as soon as the GPU has it, and shuts down without losing any.
 *
 * A host function runs on a thread of the driver, where only short work is allowed, so it only marks its job as done.
 * The destroy function hands the job to the other thread. It runs exactly once, even if the host function does not run
 * because the work before it failed. Therefore every job reaches the other thread.
 *
 * With a GPU it prints:
 *
 *     job 0: 00000000
 *     job 1: 11111111
 *     job 2: 22222222
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

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
    bool done;
    char *result;
};

/* The jobs that have arrived. The array has room for all of them, so adding one never waits. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t came = PTHREAD_COND_INITIALIZER;
static struct job *queue[JOBS];
static int count;

static void CUDA_CB job_done(void *user)
{
    ((struct job *)user)->done = true;
}

static void job_release(void *user)
{
    pthread_mutex_lock(&lock);
    queue[count++] = user;
    pthread_cond_signal(&came);
    pthread_mutex_unlock(&lock);
}

/* The other thread. Every job arrives, done or not, so the thread can count them and return after the last one. */
static void *print_jobs(void *unused)
{
    for (int i = 0; i < JOBS; i++) {
        pthread_mutex_lock(&lock);
        while (count == i)
            pthread_cond_wait(&came, &lock);
        pthread_mutex_unlock(&lock);
        printf("job %d: %.*s\n", i, SIZE, queue[i]->done ? queue[i]->result : "failed");
    }
    return unused;
}

int main(void)
{
    struct cushim_context *context;
    struct cushim_stream *stream;
    struct job jobs[JOBS] = {{false, NULL}};
    CUdeviceptr memory;
    void *host;
    pthread_t thread;
    if (cushim_init() != CUDA_SUCCESS) {
        printf("No usable GPU: %s\n", cushim_diagnosis_get()->message);
        return EXIT_SUCCESS;
    }
    check(cushim_context_create(0, 0, &context));
    check(cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream));
    check(CUSHIM_CALL(CtxSetCurrent_v1, cushim_context_handle(context)));
    check(CUSHIM_CALL(MemAlloc_v2, &memory, SIZE));
    check(CUSHIM_CALL(MemAllocHost_v2, &host, (size_t)JOBS * SIZE));
    if (pthread_create(&thread, NULL, print_jobs, NULL) != 0)
        return EXIT_FAILURE;
    for (int i = 0; i < JOBS; i++) {
        jobs[i].result = (char *)host + i * SIZE;
        check(CUSHIM_CALL(MemsetD8Async_v1, memory, (unsigned char)('0' + i), SIZE, cushim_stream_handle(stream)));
        check(CUSHIM_CALL(MemcpyDtoHAsync_v2, jobs[i].result, memory, SIZE, cushim_stream_handle(stream)));
        check(cushim_stream_launch_host(stream, job_done, &jobs[i], job_release));
    }
    pthread_join(thread, NULL); /* after this, no thread of the driver uses our data */
    check(cushim_stream_close(&stream));
    check(cushim_context_destroy(&context)); /* also frees the memory of the context */
}
