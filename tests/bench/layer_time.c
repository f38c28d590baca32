/* SPDX-License-Identifier: MIT */
/*
 * layer_time.c - times calls of the stream layer against the driver's own functions, in alternating batches. Each line
 * is one pair of batches, in nanoseconds for a call: "name layer driver". layer_time.py runs it and judges the result.
 *
 *   layer_time [layer|driver NAME COUNT]     with arguments, it makes COUNT such calls instead, for layer_count.py
 *
 * The driver's functions are those that dlsym() finds in the library that cushim loaded. The program waits for enqueued
 * work between the batches, outside the measured time. Exit status 77: the machine has no GPU.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cushim/cushim.h"

enum { WARM_UP = 20, NODES = 1000 };

static struct cushim_context *context;
static struct cushim_stream *stream;
static struct cushim_event *event;
static struct cushim_graph_exec *exec;
static CUstream handle;
static CUevent event_handle;
static CUgraphExec exec_handle;
static CUdeviceptr memory;
static int failures;

/* The driver's functions, by their exported names; NULL if the driver is too old. */
#define DRIVER_FUNCTIONS                                                                                               \
    DRIVER_FUNCTION(cuStreamQuery, StreamQuery_v1)                                                                     \
    DRIVER_FUNCTION(cuStreamSynchronize, StreamSynchronize_v1)                                                         \
    DRIVER_FUNCTION(cuStreamGetFlags, StreamGetFlags_v1)                                                               \
    DRIVER_FUNCTION(cuStreamGetPriority, StreamGetPriority_v1)                                                         \
    DRIVER_FUNCTION(cuStreamGetId, StreamGetId_v1)                                                                     \
    DRIVER_FUNCTION(cuStreamGetDevice, StreamGetDevice_v1)                                                             \
    DRIVER_FUNCTION(cuGraphLaunch, GraphLaunch_v1)                                                                     \
    DRIVER_FUNCTION(cuEventRecord, EventRecord_v1)                                                                     \
    DRIVER_FUNCTION(cuStreamWaitEvent, StreamWaitEvent_v1)                                                             \
    DRIVER_FUNCTION(cuLaunchHostFunc, LaunchHostFunc_v1)                                                               \
    DRIVER_FUNCTION(cuStreamBeginCapture_v2, StreamBeginCapture_v2)                                                    \
    DRIVER_FUNCTION(cuMemsetD32Async, MemsetD32Async_v1)                                                               \
    DRIVER_FUNCTION(cuStreamEndCapture, StreamEndCapture_v1)                                                           \
    DRIVER_FUNCTION(cuGraphDestroy, GraphDestroy_v1)

static struct {
#define DRIVER_FUNCTION(symbol, slot) __typeof__(((struct cushim_dispatch_table *)NULL)->slot) slot;
    DRIVER_FUNCTIONS
#undef DRIVER_FUNCTION
} driver;

static unsigned flags;
static int priority;
static unsigned long long id;
static CUdevice device;

static void CUDA_CB nothing(void *user)
{
    (void)user;
}

/* Name, the driver's function, pairs, calls in a batch, the layer's call, the driver's call. */
#define COMPARISONS                                                                                                    \
    COMPARISON(query, StreamQuery_v1, 1000, 2000, cushim_stream_query(stream), driver.StreamQuery_v1(handle))          \
    COMPARISON(synchronize, StreamSynchronize_v1, 1000, 2000, cushim_stream_synchronize(stream),                       \
               driver.StreamSynchronize_v1(handle))                                                                    \
    COMPARISON(flags, StreamGetFlags_v1, 1000, 5000, cushim_stream_get_flags(stream, &flags),                          \
               driver.StreamGetFlags_v1(handle, &flags))                                                               \
    COMPARISON(priority, StreamGetPriority_v1, 1000, 5000, cushim_stream_get_priority(stream, &priority),              \
               driver.StreamGetPriority_v1(handle, &priority))                                                         \
    COMPARISON(id, StreamGetId_v1, 1000, 5000, cushim_stream_get_id(stream, &id), driver.StreamGetId_v1(handle, &id))  \
    COMPARISON(device, StreamGetDevice_v1, 1000, 5000, cushim_stream_get_device(stream, &device),                      \
               driver.StreamGetDevice_v1(handle, &device))                                                             \
    COMPARISON(launch, GraphLaunch_v1, 1000, 100, cushim_graph_exec_launch(exec, stream),                              \
               driver.GraphLaunch_v1(exec_handle, handle))                                                             \
    COMPARISON(record, EventRecord_v1, 500, 100, cushim_event_record(event, stream, 0),                                \
               driver.EventRecord_v1(event_handle, handle))                                                            \
    COMPARISON(wait_event, StreamWaitEvent_v1, 500, 100, cushim_stream_wait_event(stream, event, 0),                   \
               driver.StreamWaitEvent_v1(handle, event_handle, 0))                                                     \
    COMPARISON(launch_host, LaunchHostFunc_v1, 200, 50, cushim_stream_launch_host(stream, nothing, NULL, NULL),        \
               driver.LaunchHostFunc_v1(handle, nothing, NULL))                                                        \
    COMPARISON(launch_host_release, LaunchHostFunc_v1, 200, 50,                                                        \
               cushim_stream_launch_host(stream, nothing, NULL, nothing),                                              \
               driver.LaunchHostFunc_v1(handle, nothing, NULL))                                                        \
    COMPARISON(capture, StreamBeginCapture_v2, 400, 1, capture_with_layer(), capture_with_driver())

static struct cushim_graph *graph;
static CUgraph graph_handle;

static CUresult add_nodes(struct cushim_stream *captured, void *user)
{
    CUresult result = CUDA_SUCCESS;
    (void)captured, (void)user;
    for (int i = 0; i < NODES && result == CUDA_SUCCESS; i++)
        result = driver.MemsetD32Async_v1(memory, 1, 1, handle);
    return result;
}

static CUresult capture_with_layer(void)
{
    return cushim_stream_capture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, add_nodes, NULL, &graph);
}

static CUresult capture_with_driver(void)
{
    CUresult result = driver.StreamBeginCapture_v2(handle, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    if (result == CUDA_SUCCESS)
        result = add_nodes(stream, NULL);
    return result != CUDA_SUCCESS ? result : driver.StreamEndCapture_v1(handle, &graph_handle);
}

/* Cleans up after a batch, outside the measured time: work in the stream, the graph of a capture. */
static void batch_settle(void)
{
    failures += driver.StreamSynchronize_v1(handle) != CUDA_SUCCESS;
    if (graph != NULL)
        cushim_graph_destroy(&graph);
    if (graph_handle != NULL)
        driver.GraphDestroy_v1(graph_handle);
    graph_handle = NULL;
}

#define COMPARISON(name, needs, pairs, batch, layer, bare)                                                             \
    static void name##_by_layer(int count)                                                                             \
    {                                                                                                                  \
        for (int i = 0; i < count; i++)                                                                                \
            failures += (layer) != CUDA_SUCCESS;                                                                       \
    }                                                                                                                  \
    static void name##_by_driver(int count)                                                                            \
    {                                                                                                                  \
        for (int i = 0; i < count; i++)                                                                                \
            failures += (bare) != CUDA_SUCCESS;                                                                        \
    }
COMPARISONS
#undef COMPARISON

static const struct comparison {
    const char *name;
    int pairs, batch;
    void (*layer)(int count);
    void (*bare)(int count);
    const void *needs;
} comparisons[] = {
#define COMPARISON(name, needs, pairs, batch, layer, bare)                                                             \
    {#name, pairs, batch, name##_by_layer, name##_by_driver, &driver.needs},
    COMPARISONS
#undef COMPARISON
};

static double take_time(void (*calls)(int), int batch)
{
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    calls(batch);
    clock_gettime(CLOCK_MONOTONIC, &end);
    batch_settle();
    return ((double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec)) / batch;
}

static void compare(const struct comparison *it)
{
    for (int i = -WARM_UP; i < it->pairs; i++) {
        double layer = i % 2 == 0 ? take_time(it->layer, it->batch) : 0;
        double bare = take_time(it->bare, it->batch);
        if (i % 2 != 0)
            layer = take_time(it->layer, it->batch);
        if (i >= 0)
            printf("%s %.4f %.4f\n", it->name, layer, bare);
    }
}

static void check(CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "layer_time: %s: %s\n", what, cushim_error_last()->message);
    exit(1);
}

static CUresult stream_fill(struct cushim_stream *captured, void *user)
{
    (void)user;
    return cushim_table()->MemsetD32Async_v1(memory, 1, 1, cushim_stream_handle(captured));
}

static void bench_prepare(void)
{
    void *library = dlopen(cushim_diagnosis_get()->path, RTLD_NOW);
    void *found;
#define DRIVER_FUNCTION(symbol, slot)                                                                                  \
    found = dlsym(library, #symbol);                                                                                   \
    memcpy(&driver.slot, &found, sizeof found);
    DRIVER_FUNCTIONS
#undef DRIVER_FUNCTION
    check(cushim_context_create_primary(0, &context), "context");
    check(cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream), "stream");
    check(cushim_event_create(context, CU_EVENT_DISABLE_TIMING, &event), "event");
    check(cushim_table()->CtxSetCurrent_v1(cushim_context_handle(context)), "current");
    check(cushim_table()->MemAlloc_v2(&memory, 4), "memory");
    check(cushim_stream_capture_executable(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, 0, stream_fill, NULL, &exec),
          "graph");
    handle = cushim_stream_handle(stream);
    event_handle = cushim_event_handle(event);
    exec_handle = cushim_graph_exec_handle(exec);
}

static void bench_finish(void)
{
    check(cushim_graph_exec_destroy(&exec), "graph");
    check(cushim_table()->MemFree_v2(memory), "memory");
    check(cushim_event_destroy(&event), "event");
    check(cushim_stream_close(&stream), "stream");
    check(cushim_context_destroy(&context), "context");
}

int main(int argc, char **argv)
{
    if (cushim_init() != CUDA_SUCCESS) {
        fprintf(stderr, "no usable GPU: %s\n", cushim_error_last()->message);
        return 77;
    }
    bench_prepare();
    int compared = 0;
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
        const struct comparison *it = &comparisons[i];
        void *function;
        memcpy(&function, it->needs, sizeof function);
        if (function == NULL)
            continue;
        if (argc == 1)
            compare(it);
        else if (argc == 4 && strcmp(argv[2], it->name) == 0)
            (strcmp(argv[1], "layer") == 0 ? it->layer : it->bare)(atoi(argv[3]));
        else
            continue;
        compared++;
    }
    batch_settle();
    bench_finish();
    if (failures != 0)
        fprintf(stderr, "layer_time: %d calls failed\n", failures);
    if (compared == 0) {
        fprintf(stderr, "layer_time: unknown comparison\n");
        return 2;
    }
    return failures == 0 ? 0 : 1;
}
