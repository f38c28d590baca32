/* SPDX-License-Identifier: MIT */
#if !defined(_WIN32)
#    define _POSIX_C_SOURCE 200809L
#endif
#include "fixture.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#if defined(_WIN32)
#    include <windows.h>
#endif

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
    return cushim_query_slot(slot, cu_kind, &info) == CUDA_SUCCESS && info.state != CUSHIM_STATE_MISSING;
}

CUresult fixture_open(void)
{
    CUresult result = cu->Init_v1(0);
    if (result == CUDA_SUCCESS)
        result = cu->DeviceGet_v1(&the_device, 0);
    if (result != CUDA_SUCCESS)
        return result;
    if (!has(S(DevicePrimaryCtxRetain_v1)))
        return cu->CtxCreate_v2(&the_context, 0, the_device);
    result = cu->DevicePrimaryCtxRetain_v1(&the_context, the_device);
    return result != CUDA_SUCCESS ? result : cu->CtxSetCurrent_v1(the_context);
}

void fixture_restore(void)
{
    CUcontext current = NULL;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (the_context == NULL)
        return;
    if (cu->CtxGetCurrent_v1(&current) != CUDA_SUCCESS || current != the_context)
        (void)cu->CtxSetCurrent_v1(the_context);
    if (has(S(ThreadExchangeStreamCaptureMode_v1)))
        (void)cu->ThreadExchangeStreamCaptureMode_v1(&mode);
}

CUstream stream_new(void)
{
    CUstream stream = NULL;
    need("stream", cu->StreamCreate_v1(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

CUstream stream_blocking(void)
{
    CUstream stream = NULL;
    need("stream", cu->StreamCreate_v1(&stream, CU_STREAM_DEFAULT));
    return stream;
}

void stream_end(CUstream stream)
{
    need("synchronize", cu->StreamSynchronize_v1(stream));
    need("destroy", cu->StreamDestroy_v2(stream));
}

CUevent event_new(void)
{
    CUevent event = NULL;
    need("event", cu->EventCreate_v1(&event, CU_EVENT_DISABLE_TIMING));
    return event;
}

CUdeviceptr memory_new(size_t count, unsigned char fill)
{
    CUdeviceptr memory = 0;
    if (need("memory", cu->MemAlloc_v2(&memory, count)))
        need("fill", cu->MemsetD8_v2(memory, fill, count));
    need("settle", cu->CtxSynchronize_v1());
    return memory;
}

void *host_new(size_t count, CUdeviceptr *out_device)
{
    void *host = NULL;
    if (!need("host-memory", cu->MemHostAlloc_v1(&host, count, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP)))
        return NULL;
    memset(host, 0, count);
    if (out_device != NULL)
        need("device-pointer", cu->MemHostGetDevicePointer_v2(out_device, host, 0));
    return host;
}

void host_free(void *host)
{
    need("host-free", cu->MemFreeHost_v1(host));
}

const char *const context_names[] = {"none", "primary", "second"};

bool contexts_new(CUcontext out_contexts[CONTEXT_COUNT])
{
    CUcontext popped = NULL;
    out_contexts[CONTEXT_NONE] = NULL;
    out_contexts[CONTEXT_PRIMARY] = the_context;
    return need("context", cu->CtxCreate_v2(&out_contexts[CONTEXT_SECOND], 0, the_device))
           && need("pop", cu->CtxPopCurrent_v2(&popped));
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
    need("current", cu->CtxGetCurrent_v1(&context));
    return context_word(context);
}

void saw_stream(const char *key, CUstream stream)
{
    CUdevice device = UNTOUCHED_DEVICE;
    CUcontext context = UNTOUCHED_HANDLE;
    CUgreenCtx green = UNTOUCHED_HANDLE;
    CUresult of_device = cu->StreamGetDevice_v1(stream, &device);
    CUresult of_context = cu->StreamGetCtx_v2(stream, &context, &green);
    saw_words(key, "%d device %s, %d context %s green %s, current %s", (int)of_device, device_word(device),
              (int)of_context, context_word(context),
              green == NULL               ? "none"
              : green == UNTOUCHED_HANDLE ? "untouched"
                                          : "there",
              current_word());
}

CUgreenCtx green_new(void)
{
    CUdevResource all;
    CUdevResourceDesc description = NULL;
    CUgreenCtx green = NULL;
    memset(&all, 0, sizeof all);
    need("resource", cu->DeviceGetDevResource_v1(the_device, &all, CU_DEV_RESOURCE_TYPE_SM));
    need("description", cu->DevResourceGenerateDesc_v1(&description, &all, 1));
    need("green", cu->GreenCtxCreate_v1(&green, description, the_device, CU_GREEN_CTX_DEFAULT_STREAM));
    return green;
}

static void CUDA_CB wait_at_gate(CUstream stream, CUresult status, void *user)
{
    struct gate *gate = user;
    (void)stream;
    (void)status;
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
    return need("gate", cu->StreamAddCallback_v1(stream, wait_at_gate, gate, 0));
}

void gate_open(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->open = true;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}

struct errand {
    void (*work)(void *user);
    void *user;
    CUcontext context;
};

static void *thread_main(void *user)
{
    struct errand *errand = user;
    if (errand->context != NULL)
        need("thread-context", cu->CtxSetCurrent_v1(errand->context));
    errand->work(errand->user);
    return NULL;
}

static void run_on_new_thread(struct errand *errand)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, thread_main, errand) == 0)
        pthread_join(thread, NULL);
    else
        need("thread", CUDA_ERROR_OPERATING_SYSTEM);
}

void on_thread(void (*work)(void *user), void *user)
{
    struct errand errand = {work, user, the_context};
    run_on_new_thread(&errand);
}

void on_bare_thread(void (*work)(void *user), void *user)
{
    struct errand errand = {work, user, NULL};
    run_on_new_thread(&errand);
}

CUresult capture_begin(CUstream stream)
{
    CUresult result = cu->StreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    need("begin-capture", result);
    return result;
}

CUresult capture_end(CUstream stream)
{
    CUgraph graph = NULL;
    CUresult result = cu->StreamEndCapture_v1(stream, &graph);
    if (graph != NULL)
        need("graph-destroy", cu->GraphDestroy_v1(graph));
    return result;
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
    (void)stream;
    (void)status;
    atomic_fetch_add((atomic_int *)user, 1);
}

static void CUDA_CB do_nothing(void *user)
{
    (void)user;
}

CUresult add_work(CUstream stream)
{
    return cu->LaunchHostFunc_v1(stream, do_nothing, NULL);
}
