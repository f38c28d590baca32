/* SPDX-License-Identifier: MIT */
/*
 * A program whose report has known findings, linked to a driver: "captures", "contexts", "objects", "killed",
 * "replace", "graph-memory", "waits", "wait-often", "waits-of-others", "waits-again", "leave-work", "leave-much-work",
 * "exit-with-work" or "block".
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "functions.h"

static const CUstream legacy = CU_STREAM_LEGACY, per_thread = CU_STREAM_PER_THREAD;

static CUdevice device;
static CUcontext context;
static CUstream stream, other;
static CUevent event;

static void start(void)
{
    cuInit(0);
    cuDeviceGet(&device, 0);
    cuDevicePrimaryCtxRetain(&context, device);
    cuCtxSetCurrent(context);
    cuStreamCreate(&stream, 1);
    cuStreamCreate(&other, 1);
    cuEventCreate(&event, 2);
}

static void on_thread(void *(*function)(void *))
{
    pthread_t thread;
    pthread_create(&thread, NULL, function, NULL);
    pthread_join(thread, NULL);
}

static void end(CUstream captured)
{
    CUgraph graph = NULL;
    if (cuStreamEndCapture(captured, &graph) == 0)
        cuGraphDestroy(graph);
}

/* The other stream joins the capture. */
static void join_other(CUstreamCaptureMode mode)
{
    cuStreamBeginCapture_v2(stream, mode);
    cuEventRecord(event, stream);
    cuStreamWaitEvent(other, event, 0);
}

static void *query(void *unused)
{
    cuStreamQuery(stream);
    return unused;
}

/* Only the query is unsafe: the allocation is permitted in a relaxed thread. */
static void *exchange_modes(void *unused)
{
    CUdeviceptr memory;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    cuCtxSetCurrent(context);
    cuThreadExchangeStreamCaptureMode(&mode);
    if (cuMemAlloc_v2(&memory, 16) == 0)
        cuMemFree_v2(memory);
    cuThreadExchangeStreamCaptureMode(&mode);
    cuStreamQuery(other);
    return unused;
}

/* In a relaxed thread, this invalidates only the capture of its stream. */
static void *query_relaxed(void *unused)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    cuThreadExchangeStreamCaptureMode(&mode);
    cuStreamQuery(stream);
    return unused;
}

static void lose_captures(void)
{
    CUstream blocking;
    CUstreamCaptureStatus status;
    unsigned flags;
    float time;
    join_other(CU_STREAM_CAPTURE_MODE_RELAXED);
    cuStreamQuery(other);
    end(stream);
    cuStreamBeginCapture_v2(per_thread, CU_STREAM_CAPTURE_MODE_GLOBAL);
    cuStreamIsCapturing(per_thread, &status); /* proves that it is active, and then that it is lost */
    cuStreamQuery(per_thread);
    cuStreamIsCapturing(per_thread, &status);
    end(per_thread);
    cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    on_thread(exchange_modes);
    end(stream);
    cuStreamCreate(&blocking, 0);
    cuStreamBeginCapture_v2(blocking, CU_STREAM_CAPTURE_MODE_RELAXED);
    cuStreamIsCapturing(legacy, &status);
    cuStreamQuery(legacy);
    end(blocking);
    cuStreamDestroy_v2(blocking);
    cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED); /* two captures become one */
    cuStreamBeginCapture_v2(other, CU_STREAM_CAPTURE_MODE_RELAXED);
    cuEventRecord(event, stream);
    cuStreamWaitEvent(other, event, 0);
    end(stream);
    end(other);
    join_other(CU_STREAM_CAPTURE_MODE_GLOBAL);
    end(other);
    end(stream);
    cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL); /* an event of a capture that has ended */
    cuEventRecord(event, stream);
    end(stream);
    cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    cuStreamWaitEvent(stream, event, 0);
    end(stream);
    cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    cuEventRecord(event, stream);
    cuEventElapsedTime(&time, event, event);
    cuEventQuery(event);
    end(stream);
    for (int i = 0; i < 2; i++) { /* the first call is for the capture of its stream alone */
        cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
        cuStreamBeginCapture_v2(other, CU_STREAM_CAPTURE_MODE_GLOBAL);
        if (i == 0)
            cuStreamGetFlags(stream, &flags);
        else
            on_thread(query_relaxed);
        cuStreamQuery(other);
        end(stream);
        end(other);
    }
    cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    cuStreamQuery(stream);
    on_thread(query);
    end(stream);
}

/* The per-thread stream of each context has a capture at the same time. */
static void lose_captures_of_contexts(void)
{
    CUcontext second;
    cuStreamBeginCapture_v2(per_thread, CU_STREAM_CAPTURE_MODE_RELAXED);
    cuStreamQuery(per_thread);
    cuCtxCreate_v2(&second, 0, device);
    cuStreamBeginCapture_v2(per_thread, CU_STREAM_CAPTURE_MODE_RELAXED);
    cuStreamGetFlags(per_thread, &(unsigned){0});
    end(per_thread);
    cuCtxSetCurrent(context);
    end(per_thread);
    cuCtxDestroy_v2(second);
}

static void *destroy_stream(void *unused)
{
    cuStreamDestroy_v2(stream);
    return unused;
}

static void use_objects(void)
{
    const CUlaunchConfig config = {.hStream = stream}, legacy_config = {.hStream = NULL};
    CUcontext second;
    CUstream third, again;
    CUevent lasting;
    CUdeviceptr memory;
    float time;
    int version;
    on_thread(destroy_stream);
    cuStreamQuery(stream);
    cuStreamDestroy_v2(stream);
    cuLaunchKernelEx(&config, NULL, NULL, NULL);
    cuLaunchKernelEx(&legacy_config, NULL, NULL, NULL);
    cuLaunchKernelEx(NULL, NULL, NULL, NULL);
    cuMemAlloc_v2(&memory, 16);
    cuMemFree_v2(memory);
    cuMemFree_v2(memory);
    cuCtxCreate_v2(&second, 0, device);
    cuStreamCreate(&third, 1);
    cuEventRecord(event, third);
    cuCtxDestroy_v2(second);
    cuCtxSetCurrent(context);
    cuStreamQuery(third);
    cuStreamCreate(&again, 1); /* it can have the handle of a destroyed stream */
    cuStreamQuery(again);
    cuStreamQuery(NULL);
    cuEventElapsedTime(&time, event, event); /* it has no times */
    for (int i = 0; i < 100; i++) {
        cuEventCreate(&lasting, 2);
        cuMemAlloc_v2(&memory, 16);
        if (i % 4 != 0)
            cuMemFree_v2(memory);
        for (int j = 0; j < 10; j++)
            cuDriverGetVersion(&version);
    }
}

/* Each launch of the graph allocates the memory again. */
static void allocate_in_graph(void)
{
    CUdeviceptr memory;
    CUgraph graph;
    CUgraphExec executable;
    cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    cuMemAllocAsync(&memory, 64, stream);
    cuMemsetD8Async(memory, 0, 64, stream);
    cuStreamEndCapture(stream, &graph);
    cuGraphInstantiateWithFlags(&executable, graph, 0);
    cuGraphDestroy(graph);
    for (int i = 0; i < 2; i++) {
        cuGraphLaunch(executable, stream);
        cuMemFreeAsync(memory, stream);
    }
    cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED); /* the memory of a graph that is not launched */
    cuMemAllocAsync(&memory, 64, stream);
    end(stream);
    cuGraphExecDestroy(executable);
}

/* A driver can give both streams the same handle. */
static void replace_stream(void)
{
    CUstream first, second;
    cuStreamCreate(&first, 1);
    cuStreamSynchronize(first);
    cuStreamDestroy_v2(first);
    cuStreamCreate(&second, 1);
    cuStreamSynchronize(second);
    cuStreamSynchronize(legacy);
    cuStreamSynchronize(per_thread);
    printf("%lx %lx\n", (unsigned long)first, (unsigned long)second);
}

static void take_time(void *milliseconds)
{
    const struct timespec time = {0, *(const int *)milliseconds * 1000000L};
    nanosleep(&time, NULL);
}

static void wait_long(void)
{
    static const int longest = 600, longer = 80, shorter = 20; /* apart enough for a busy machine */
    CUdeviceptr memory;
    cuMemAlloc_v2(&memory, 16);
    cuMemsetD8Async(memory, 0, 16, stream);
    cuMemsetD8Async(memory, 0, 16, stream);
    cuMemsetD16Async(memory, 0, 8, stream);
    cuMemsetD32Async(memory, 0, 4, stream);
    cuLaunchHostFunc(stream, take_time, (void *)&longer);
    cuLaunchHostFunc(stream, take_time, (void *)&longer);
    cuStreamSynchronize(stream);
    cuLaunchHostFunc(other, take_time, (void *)&shorter);
    cuEventRecord(event, other);
    cuEventSynchronize(event);
    cuLaunchHostFunc(other, take_time, (void *)&shorter);
    cuStreamWaitEvent(stream, event, 0);
    cuCtxSynchronize();
    cuLaunchHostFunc(stream, take_time, (void *)&longest);
    cuStreamSynchronize(stream);
    cuMemFree_v2(memory);
}

static void wait_often(void)
{
    static const int each = 20;
    for (int i = 0; i < 5; i++) {
        cuLaunchHostFunc(stream, take_time, (void *)&each);
        cuStreamSynchronize(stream);
    }
}

static void *wait_in_thread(void *unused)
{
    static const int each = 60;
    CUstream own;
    cuCtxSetCurrent(context);
    cuStreamCreate(&own, 1);
    for (int i = 0; i < 5; i++) {
        cuLaunchHostFunc(own, take_time, (void *)&each);
        cuStreamSynchronize(own);
    }
    cuStreamDestroy_v2(own);
    return unused;
}

/* The work of other streams, of a capture, and of two threads at the same time. */
static void wait_for_others(void)
{
    static const int each = 300; /* a thread can come late on a busy machine */
    CUstream blocking;
    CUdeviceptr memory;
    pthread_t threads[2];
    cuStreamCreate(&blocking, 0);
    cuLaunchHostFunc(blocking, take_time, (void *)&each);
    cuStreamSynchronize(NULL);
    cuMemAlloc_v2(&memory, 16);
    cuMemsetD8Async(memory, 0, 16, NULL);
    cuLaunchHostFunc(blocking, take_time, (void *)&each);
    cuMemsetD8Async(memory, 0, 16, other);
    cuEventRecord(event, NULL);
    cuEventSynchronize(event);
    cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    cuMemsetD8Async(memory, 0, 16, stream);
    end(stream);
    cuLaunchHostFunc(stream, take_time, (void *)&each);
    cuStreamSynchronize(stream);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, wait_in_thread, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    cuMemFree_v2(memory);
    cuStreamDestroy_v2(blocking);
}

/* Each wait is for what no earlier one has waited for. The legacy stream waits for the blocking streams, and
 * cuCtxSynchronize() not for other contexts. */
static void wait_again(void)
{
    static const int each = 200;
    CUcontext other_context;
    CUstream first, second, of_other;
    CUdeviceptr memory;
    cuMemAlloc_v2(&memory, 16);
    cuStreamCreate(&first, 0);
    cuStreamCreate(&second, 0);
    for (int i = 0; i < 10; i++)
        cuMemsetD8Async(memory, 0, 16, first);
    cuMemsetD16Async(memory, 0, 8, second);
    cuStreamSynchronize(first);
    cuLaunchHostFunc(NULL, take_time, (void *)&each);
    cuStreamSynchronize(NULL);
    cuLaunchHostFunc(second, take_time, (void *)&each);
    cuStreamSynchronize(second);
    cuMemsetD32Async(memory, 0, 4, first);
    cuLaunchHostFunc(second, take_time, (void *)&each);
    cuEventRecord(event, NULL);
    cuEventSynchronize(event);
    cuStreamSynchronize(first);
    cuStreamSynchronize(second);
    cuCtxCreate_v2(&other_context, 0, device);
    cuStreamCreate(&of_other, 0);
    cuLaunchHostFunc(of_other, take_time, (void *)&each);
    cuLaunchHostFunc(of_other, take_time, (void *)&each);
    cuCtxSetCurrent(context);
    cuLaunchHostFunc(stream, take_time, (void *)&each);
    cuCtxSynchronize();
    cuStreamSynchronize(of_other);
    cuLaunchHostFunc(stream, take_time, (void *)&each);
    cuStreamSynchronize(stream);
    cuStreamDestroy_v2(first);
    cuStreamDestroy_v2(second);
    cuMemFree_v2(memory);
    cuCtxDestroy_v2(other_context);
}

static void do_nothing(void *unused)
{
    (void)unused;
}

/* The test makes a file of it in which these calls did not return. */
static void leave_work(void)
{
    CUmodule module;
    CUdeviceptr memory, again;
    cuMemAlloc_v2(&memory, 16);
    cuLaunchHostFunc(stream, do_nothing, NULL);
    cuStreamSynchronize(stream);
    cuLaunchHostFunc(other, do_nothing, NULL);
    cuEventRecord(event, other);
    cuStreamWaitEvent(stream, event, 0);
    cuMemsetD8Async(memory, 0, 16, stream);
    cuEventSynchronize(event);
    cuStreamSynchronize(stream);
    cuModuleLoadData(&module, ".version 7.0\n");
    cuMemFree_v2(memory);
    cuMemAlloc_v2(&again, 16);
    cuCtxSynchronize();
}

/* More work than the report keeps, and a wait for other work. The test makes a file of it as of leave_work(). */
static void leave_much_work(void)
{
    CUdeviceptr memory, of_other;
    cuMemAlloc_v2(&memory, 16);
    cuMemAlloc_v2(&of_other, 16);
    for (int i = 0; i < 600; i++)
        cuMemsetD8Async(of_other, 0, 16, other);
    cuMemsetD16Async(memory, 0, 8, stream);
    cuStreamSynchronize(stream);
    cuCtxSynchronize();
}

static void block(void *unused)
{
    (void)unused;
    for (;;)
        nanosleep(&(const struct timespec){1, 0}, NULL);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    start();
    if (strcmp(what, "captures") == 0)
        lose_captures();
    if (strcmp(what, "contexts") == 0)
        lose_captures_of_contexts();
    if (strcmp(what, "objects") == 0 || strcmp(what, "killed") == 0)
        use_objects();
    if (strcmp(what, "replace") == 0)
        replace_stream();
    if (strcmp(what, "graph-memory") == 0)
        allocate_in_graph();
    if (strcmp(what, "waits") == 0)
        wait_long();
    if (strcmp(what, "wait-often") == 0)
        wait_often();
    if (strcmp(what, "waits-of-others") == 0)
        wait_for_others();
    if (strcmp(what, "waits-again") == 0)
        wait_again();
    if (strcmp(what, "leave-much-work") == 0)
        leave_much_work();
    if (strcmp(what, "leave-work") == 0 || strcmp(what, "exit-with-work") == 0)
        leave_work();
    if (strcmp(what, "block") == 0) {
        cuLaunchHostFunc(stream, block, NULL);
        cuStreamSynchronize(stream);
    }
    if (strcmp(what, "killed") == 0 || strcmp(what, "leave-work") == 0 || strcmp(what, "leave-much-work") == 0)
        raise(SIGKILL);
    if (strcmp(what, "objects") != 0) {
        cuEventDestroy_v2(event);
        cuStreamDestroy_v2(stream);
        cuStreamDestroy_v2(other);
    }
    return 0;
}
