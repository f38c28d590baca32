/* SPDX-License-Identifier: MIT */
/*
 * A program for `cushim trace`, linked to a driver, that works on the first two devices (or twice on the only one):
 *
 *   both processes     a child process for each device
 *   both threads       a thread for each device
 *   both capture       a capture on the first device, in which another thread allocates memory on the second one
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../trace/functions.h"

enum { WORDS = 1 << 18 };

static void check(CUresult result, const char *call)
{
    if (result == 0)
        return;
    printf("%s: %d\n", call, result);
    exit(result == 100 ? 77 : 1);
}
#define CHECK(call) check(call, #call)

/* Makes the primary context of a device current, and creates a stream. Returns the device. */
static int enter(int which, CUstream *out_stream)
{
    int count = 0;
    CUdevice device = 0;
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDeviceGetCount(&count));
    CHECK(cuDeviceGet(&device, which % count));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(out_stream, 1));
    return device;
}

/* Returns the sum of what the device has written. */
static long work(int which)
{
    unsigned *host = malloc(WORDS * sizeof *host);
    CUdeviceptr memory = 0;
    CUstream stream;
    long sum = 0;
    enter(which, &stream);
    CHECK(cuMemAlloc_v2(&memory, WORDS * sizeof *host));
    CHECK(cuMemsetD32Async(memory, (unsigned)which + 1, WORDS, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyDtoH_v2(host, memory, WORDS * sizeof *host));
    for (int i = 0; i < WORDS && host != NULL; i++)
        sum += host[i];
    free(host);
    return sum;
}

static void in_processes(void)
{
    for (int i = 0; i < 2; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            printf("process %d: %ld\n", i, work(i));
            exit(0);
        }
        if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
            exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    }
}

static long sums[2];

static void *work_in_thread(void *which)
{
    sums[(size_t)which] = work((int)(size_t)which);
    return NULL;
}

static void in_threads(void)
{
    pthread_t threads[2];
    for (size_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work_in_thread, (void *)i);
    for (size_t i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        printf("thread %zu: %ld\n", i, sums[i]);
    }
}

static void *allocate_on_second(void *unused)
{
    CUstream stream;
    CUdeviceptr memory = 0;
    int device = enter(1, &stream);
    printf("allocation on device %d: %d\n", device, cuMemAlloc_v2(&memory, 64));
    return unused;
}

static void with_capture(void)
{
    CUstream stream;
    CUgraph graph = NULL;
    pthread_t thread;
    enter(0, &stream);
    CHECK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    pthread_create(&thread, NULL, allocate_on_second, NULL);
    pthread_join(thread, NULL);
    printf("end of the capture on device 0: %d\n", cuStreamEndCapture(stream, &graph));
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    setvbuf(stdout, NULL, _IONBF, 0);
    if (strcmp(mode, "processes") == 0)
        in_processes();
    else if (strcmp(mode, "threads") == 0)
        in_threads();
    else if (strcmp(mode, "capture") == 0)
        with_capture();
    else
        return 2;
    return 0;
}
