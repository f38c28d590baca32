/* SPDX-License-Identifier: MIT */
#if !defined(_WIN32)
#    define _POSIX_C_SOURCE 200809L
#endif
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(_WIN32)
#    include <windows.h>
#endif

int the_ordinal;
CUdevice the_device;
CUcontext the_context;

void pause_shortly(void)
{
#if defined(_WIN32)
    Sleep(10);
#else
    nanosleep(&(struct timespec){0, 10000000}, NULL);
#endif
}

static bool has(enum cushim_slot slot)
{
    struct cushim_slot_info info;
    return cushim_slot_get_info(slot, cu_kind, &info) == CUDA_SUCCESS && info.state != CUSHIM_STATE_MISSING;
}

CUresult fixture_open(void)
{
    const char *ordinal = getenv("CONFORMANCE_DEVICE");
    CUresult result = cu->Init_v1(0);
    the_ordinal = ordinal != NULL ? atoi(ordinal) : 0;
    if (result == CUDA_SUCCESS)
        result = cu->DeviceGet_v1(&the_device, the_ordinal);
    if (result != CUDA_SUCCESS)
        return result;
    if (!has(S(DevicePrimaryCtxRetain_v1)))
        return cu->CtxCreate_v2(&the_context, 0, the_device);
    result = cu->DevicePrimaryCtxRetain_v1(&the_context, the_device);
    return result != CUDA_SUCCESS ? result : cu->CtxSetCurrent_v1(the_context);
}

void fixture_restore(void)
{
    CUcontext popped = NULL;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (the_context == NULL)
        return;
    while (cu->CtxPopCurrent_v2(&popped) == CUDA_SUCCESS)
        ;
    (void)cu->CtxSetCurrent_v1(the_context);
    if (has(S(ThreadExchangeStreamCaptureMode_v1)))
        (void)cu->ThreadExchangeStreamCaptureMode_v1(&mode);
}

/* The objects of the check. */
static struct {
    void (*end)(void *object);
    void *object;
} deferred[256];
static size_t deferred_count;

void defer(void (*end)(void *object), void *object)
{
    if (object == NULL || !require("room", deferred_count < 256 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY))
        return;
    deferred[deferred_count].end = end;
    deferred[deferred_count++].object = object;
}

void *disown(void *object)
{
    for (size_t i = 0; i < deferred_count; i++) {
        if (deferred[i].object == object)
            deferred[i].object = NULL;
    }
    return object;
}

CUdeviceptr disown_memory(CUdeviceptr memory)
{
    return (CUdeviceptr)(size_t)disown((void *)(size_t)memory);
}

void keep_objects(void)
{
    deferred_count = 0;
}

void destroy_objects(void)
{
    if (deferred_count > 0)
        require("settle", cu->CtxSynchronize_v1());
    while (deferred_count > 0) {
        deferred_count--;
        if (deferred[deferred_count].object != NULL)
            deferred[deferred_count].end(deferred[deferred_count].object);
    }
}

static void end_stream(void *stream)
{
    require("synchronize", cu->StreamSynchronize_v1(stream));
    require("destroy", cu->StreamDestroy_v2(stream));
}

static CUstream stream_with(unsigned flags)
{
    CUstream stream = NULL;
    require("stream", cu->StreamCreate_v1(&stream, flags));
    defer(end_stream, stream);
    return stream;
}

CUstream stream_new(void)
{
    return stream_with(CU_STREAM_NON_BLOCKING);
}

CUstream stream_blocking(void)
{
    return stream_with(CU_STREAM_DEFAULT);
}

void stream_end(CUstream stream)
{
    end_stream(disown(stream));
}

static void end_event(void *event)
{
    require("event-destroy", cu->EventDestroy_v2(event));
}

static CUevent event_with(unsigned flags)
{
    CUevent event = NULL;
    require("event", cu->EventCreate_v1(&event, flags));
    defer(end_event, event);
    return event;
}

CUevent event_new(void)
{
    return event_with(CU_EVENT_DISABLE_TIMING);
}

CUevent event_timed(void)
{
    return event_with(CU_EVENT_DEFAULT);
}

static void end_graph(void *graph)
{
    require("graph-destroy", cu->GraphDestroy_v1(graph));
}

CUgraph graph_new(void)
{
    CUgraph graph = NULL;
    require("graph", cu->GraphCreate_v1(&graph, 0));
    defer(end_graph, graph);
    return graph;
}

static void end_exec(void *executable)
{
    require("exec-destroy", cu->GraphExecDestroy_v1(executable));
}

CUgraphExec exec_new(CUgraph graph)
{
    CUgraphExec executable = NULL;
    require("instantiate", cu->GraphInstantiateWithFlags_v1(&executable, graph, 0));
    defer(end_exec, executable);
    return executable;
}

static void end_memory(void *memory)
{
    require("free", cu->MemFree_v2((CUdeviceptr)(size_t)memory));
}

CUdeviceptr memory_new(size_t count, unsigned char fill)
{
    CUdeviceptr memory = 0;
    if (require("memory", cu->MemAlloc_v2(&memory, count)))
        require("fill", cu->MemsetD8_v2(memory, fill, count));
    require("settle", cu->CtxSynchronize_v1());
    defer(end_memory, (void *)(size_t)memory);
    return memory;
}

static void end_host(void *host)
{
    require("host-free", cu->MemFreeHost_v1(host));
}

void *host_new(size_t count, CUdeviceptr *out_device)
{
    void *host = NULL;
    if (!require("host-memory",
                 cu->MemHostAlloc_v1(&host, count, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP)))
        return NULL;
    defer(end_host, host);
    memset(host, 0, count);
    if (out_device != NULL)
        require("device-pointer", cu->MemHostGetDevicePointer_v2(out_device, host, 0));
    return host;
}

void host_free(void *host)
{
    end_host(disown(host));
}

static void end_context(void *context)
{
    require("context-destroy", cu->CtxDestroy_v2(context));
}

CUcontext context_second(void)
{
    CUcontext context = NULL;
    require("context", cu->CtxCreate_v2(&context, 0, the_device));
    defer(end_context, context);
    return context;
}

const struct special_stream specials[3] = {
    {"zero", NULL}, {"legacy", CU_STREAM_LEGACY}, {"per-thread", CU_STREAM_PER_THREAD}};

const char *const context_names[] = {"none", "primary", "second"};

void contexts_new(CUcontext out_contexts[CONTEXT_COUNT])
{
    CUcontext popped = NULL;
    out_contexts[CONTEXT_NONE] = NULL;
    out_contexts[CONTEXT_PRIMARY] = the_context;
    out_contexts[CONTEXT_SECOND] = context_second();
    require("pop", cu->CtxPopCurrent_v2(&popped));
}

const char *context_word(CUcontext context)
{
    return context == NULL               ? "none"
           : context == the_context      ? "primary"
           : context == UNTOUCHED_HANDLE ? "untouched"
                                         : "other";
}

const char *device_word(CUdevice device)
{
    return device == the_device ? "is" : device == UNTOUCHED_DEVICE ? "untouched" : "other";
}

const char *current_word(void)
{
    CUcontext context = UNTOUCHED_HANDLE;
    require("current", cu->CtxGetCurrent_v1(&context));
    return context_word(context);
}

void observe_stream(const char *key, CUstream stream)
{
    CUdevice device = UNTOUCHED_DEVICE;
    CUcontext context = UNTOUCHED_HANDLE;
    CUgreenCtx green = UNTOUCHED_HANDLE;
    CUresult of_device = cu->StreamGetDevice_v1(stream, &device);
    CUresult of_context = cu->StreamGetCtx_v2(stream, &context, &green);
    observe_format(key, "%d device %s, %d context %s green %s, current %s", (int)of_device, device_word(device),
                   (int)of_context, context_word(context),
                   green == NULL               ? "none"
                   : green == UNTOUCHED_HANDLE ? "untouched"
                                               : "there",
                   current_word());
}

static void end_green(void *green)
{
    require("green-destroy", cu->GreenCtxDestroy_v1(green));
}

CUgreenCtx green_new(void)
{
    CUdevResource all;
    CUdevResourceDesc description = NULL;
    CUgreenCtx green = NULL;
    memset(&all, 0, sizeof all);
    require("resource", cu->DeviceGetDevResource_v1(the_device, &all, CU_DEV_RESOURCE_TYPE_SM));
    require("description", cu->DevResourceGenerateDesc_v1(&description, &all, 1));
    require("green", cu->GreenCtxCreate_v1(&green, description, the_device, CU_GREEN_CTX_DEFAULT_STREAM));
    defer(end_green, green);
    return green;
}

static void CUDA_CB wait_at_gate(CUstream stream, CUresult status, void *user)
{
    struct gate *gate = user;
    pthread_mutex_lock(&gate->lock);
    while (!gate->open)
        pthread_cond_wait(&gate->changed, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
    atomic_fetch_add(&gate->passed, 1);
}

bool gate_close(struct gate *gate, CUstream stream)
{
    pthread_mutex_init(&gate->lock, NULL);
    pthread_cond_init(&gate->changed, NULL);
    gate->open = false;
    atomic_init(&gate->passed, 0);
    return require("gate", cu->StreamAddCallback_v1(stream, wait_at_gate, gate, 0));
}

struct gate *gate_new(CUstream stream)
{
    static struct gate gates[16]; /* a callback may use a gate until its stream is destroyed */
    static unsigned next;
    struct gate *gate = &gates[next++ % 16];
    gate_close(gate, stream);
    return gate;
}

int gate_passed(struct gate *gate)
{
    return atomic_load(&gate->passed);
}

void gate_open(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->open = true;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}

struct job {
    void (*work)(void *user);
    void *user;
    CUcontext context;
};

static void *thread_main(void *user)
{
    struct job *job = user;
    if (job->context != NULL)
        require("thread-context", cu->CtxSetCurrent_v1(job->context));
    job->work(job->user);
    return NULL;
}

static void run_on_new_thread(struct job *job)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, thread_main, job) == 0)
        pthread_join(thread, NULL);
    else
        require("thread", CUDA_ERROR_OPERATING_SYSTEM);
}

void on_thread(void (*work)(void *user), void *user)
{
    struct job job = {work, user, the_context};
    run_on_new_thread(&job);
}

void on_bare_thread(void (*work)(void *user), void *user)
{
    struct job job = {work, user, NULL};
    run_on_new_thread(&job);
}

CUresult capture_begin(CUstream stream)
{
    CUresult result = cu->StreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    require("begin-capture", result);
    return result;
}

CUstream stream_capturing(void)
{
    CUstream stream = stream_new();
    capture_begin(stream);
    return stream;
}

CUresult capture_end(CUstream stream)
{
    CUgraph graph = NULL;
    CUresult result = cu->StreamEndCapture_v1(stream, &graph);
    if (graph != NULL)
        end_graph(graph);
    return result;
}

CUresult capture_end_with(CUstream stream, CUgraph *out_graph)
{
    CUresult result = cu->StreamEndCapture_v1(stream, out_graph);
    defer(end_graph, *out_graph);
    return result;
}

int graph_nodes(CUgraph graph)
{
    size_t count = 0;
    return require("nodes", cu->GraphGetNodes_v1(graph, NULL, &count)) ? (int)count : -1;
}

int graph_edges(CUgraph graph)
{
    size_t count = 0;
    return require("edges", cu->GraphGetEdges_v2(graph, NULL, NULL, NULL, &count)) ? (int)count : -1;
}

const char *capture_status(CUstream stream)
{
    static _Thread_local char failure[16];
    CUstreamCaptureStatus status;
    CUresult result = cu->StreamIsCapturing_v1(stream, &status);
    if (result != CUDA_SUCCESS) {
        snprintf(failure, sizeof failure, "%d", (int)result);
        return failure;
    }
    return status == CU_STREAM_CAPTURE_STATUS_NONE     ? "none"
           : status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? "active"
                                                       : "invalidated";
}

void CUDA_CB count_host_function(void *user)
{
    atomic_fetch_add((atomic_int *)user, 1);
}

void CUDA_CB count_callback(CUstream stream, CUresult status, void *user)
{
    atomic_fetch_add((atomic_int *)user, 1);
}

static void CUDA_CB do_nothing(void *user)
{
}

CUresult add_work(CUstream stream)
{
    return cu->LaunchHostFunc_v1(stream, do_nothing, NULL);
}
