/* SPDX-License-Identifier: MIT */
/*
 * host_function.c - hand each result to another thread as soon as the GPU has it, and shut down so that none is lost.
 *
 * A host function runs on a thread of the driver's, where only short work is welcome: it says that its job is done.
 * The release function, which runs exactly once, also where the host function does not because the work before it
 * failed, hands the job over: so every job comes to the other thread.
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
    bool done;
    char *result;
};

/* The jobs that came. There is room for all: nobody who adds one ever waits. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t came = PTHREAD_COND_INITIALIZER;
static struct job *queue[JOBS];
static int count;

static void CUDA_CB finish(void *user)
{
    ((struct job *)user)->done = true;
}

static void hand_over(void *user)
{
    pthread_mutex_lock(&lock);
    queue[count++] = user;
    pthread_cond_signal(&came);
    pthread_mutex_unlock(&lock);
}

/* The other thread: as every job comes, done or not, it knows when it has seen the last. */
static void *print_all(void *unused)
{
    for (int i = 0; i < JOBS; i++) {
        pthread_mutex_lock(&lock);
        while (count == i)
            pthread_cond_wait(&came, &lock);
        pthread_mutex_unlock(&lock);
        printf("job %d: %.*s\n", i, SIZE, queue[i]->done ? queue[i]->result : "is lost");
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
        printf("No GPU today. %s\n", cushim_get_diagnosis()->message);
        return EXIT_SUCCESS;
    }
    check(cushim_context_create(0, 0, &context));
    check(cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream));
    check(CALL(CtxSetCurrent_v1, cushim_context_handle(context)));
    check(CALL(MemAlloc_v2, &memory, SIZE));
    check(CALL(MemAllocHost_v2, &host, (size_t)JOBS * SIZE));
    if (pthread_create(&thread, NULL, print_all, NULL) != 0)
        return EXIT_FAILURE;
    for (int i = 0; i < JOBS; i++) {
        jobs[i].result = (char *)host + i * SIZE;
        check(CALL(MemsetD8Async_v1, memory, (unsigned char)('0' + i), SIZE, cushim_stream_handle(stream)));
        check(CALL(MemcpyDtoHAsync_v2, jobs[i].result, memory, SIZE, cushim_stream_handle(stream)));
        check(cushim_stream_launch_host(stream, finish, &jobs[i], hand_over));
    }
    pthread_join(thread, NULL); /* every job came: no thread of the driver's has anything of ours */
    check(cushim_stream_close(&stream));
    check(cushim_context_destroy(&context)); /* and with it its memory */
}
