/* SPDX-License-Identifier: MIT */
/* Capture modes: cuThreadExchangeStreamCaptureMode, and which calls a thread may make during which capture. */
#include <stdio.h>

#include "fixture.h"

static const char *const mode_names[] = {"global", "thread-local", "relaxed"};

CHECK(exchange, "mode.exchange", .needs = {S(ThreadExchangeStreamCaptureMode_v1)})
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    expect("code", cu->ThreadExchangeStreamCaptureMode_v1(&mode), CUDA_SUCCESS);
    expect_number("default-is-global", (long long)mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    require("exchange", cu->ThreadExchangeStreamCaptureMode_v1(&mode));
    expect_number("gives-previous", (long long)mode, CU_STREAM_CAPTURE_MODE_RELAXED);
    mode = (CUstreamCaptureMode)3;
    expect("unknown", cu->ThreadExchangeStreamCaptureMode_v1(&mode), CUDA_SUCCESS);
    expect_number("unknown-gives", (long long)mode, 1);
    mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    require("exchange", cu->ThreadExchangeStreamCaptureMode_v1(&mode));
    expect_number("was", (long long)mode, 3);
    require("no-context", cu->CtxSetCurrent_v1(NULL));
    expect("no-context", cu->ThreadExchangeStreamCaptureMode_v1(&mode), CUDA_SUCCESS);
}

CHECK(exchange_null, "mode.exchange-null", .flags = CHECK_ALONE, .needs = {S(ThreadExchangeStreamCaptureMode_v1)})
{
    observe("code", cu->ThreadExchangeStreamCaptureMode_v1(NULL));
}

static void exchange_with_global(void *user)
{
    CUstreamCaptureMode *mode = user;
    *mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    require("exchange", cu->ThreadExchangeStreamCaptureMode_v1(mode));
}

CHECK(exchange_is_per_thread, "mode.exchange-is-per-thread", .needs = {S(ThreadExchangeStreamCaptureMode_v1)})
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUstreamCaptureMode there = (CUstreamCaptureMode)99;
    require("exchange", cu->ThreadExchangeStreamCaptureMode_v1(&mode));
    on_thread(exchange_with_global, &there);
    expect_number("there", (long long)there, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

/* An unsafe call (cuMemAlloc) in a thread with one mode, during a capture with another. */
struct unsafe {
    CUstreamCaptureMode thread_mode;
    CUresult result;
};

static void call_unsafe(void *user)
{
    struct unsafe *unsafe = user;
    CUdeviceptr memory = 0;
    CUstreamCaptureMode mode = unsafe->thread_mode;
    require("exchange", cu->ThreadExchangeStreamCaptureMode_v1(&mode));
    unsafe->result = cu->MemAlloc_v2(&memory, 64);
    require("exchange", cu->ThreadExchangeStreamCaptureMode_v1(&mode));
    if (unsafe->result == CUDA_SUCCESS) {
        mode = CU_STREAM_CAPTURE_MODE_RELAXED;
        require("exchange", cu->ThreadExchangeStreamCaptureMode_v1(&mode));
        (void)cu->MemFree_v2(memory);
        require("exchange", cu->ThreadExchangeStreamCaptureMode_v1(&mode));
    }
}

CHECK(unsafe_calls, "mode.unsafe", .needs = {S(ThreadExchangeStreamCaptureMode_v1)})
{
    CUstream stream = stream_new();
    for (int capture = 0; capture < 3; capture++) {
        for (int thread = 0; thread < 3; thread++) {
            for (int elsewhere = 0; elsewhere < 2; elsewhere++) {
                char key[64];
                char value[32];
                struct unsafe unsafe = {(CUstreamCaptureMode)thread, CUDA_ERROR_UNKNOWN};
                require("begin", cu->StreamBeginCapture_v2(stream, (CUstreamCaptureMode)capture));
                if (elsewhere)
                    on_thread(call_unsafe, &unsafe);
                else
                    call_unsafe(&unsafe);
                snprintf(key, sizeof key, "capture-%s.thread-%s.%s", mode_names[capture], mode_names[thread],
                         elsewhere ? "another" : "same");
                snprintf(value, sizeof value, "%d %s", (int)unsafe.result, capture_status(stream));
                observe_text(key, value);
                (void)capture_end(stream);
            }
        }
    }
}

struct ending {
    CUstream stream;
    CUresult result;
    CUgraph graph;
};

static void end_there(void *user)
{
    struct ending *ending = user;
    ending->graph = UNTOUCHED_HANDLE;
    ending->result = cu->StreamEndCapture_v1(ending->stream, &ending->graph);
}

CHECK(end_elsewhere, "mode.end-elsewhere", .needs = {S(ThreadExchangeStreamCaptureMode_v1)})
{
    for (int mode = 0; mode < 3; mode++) {
        CUstream stream = stream_new();
        struct ending ending = {stream, CUDA_ERROR_UNKNOWN, NULL};
        const char *name = mode_names[mode];
        require("begin", cu->StreamBeginCapture_v2(stream, (CUstreamCaptureMode)mode));
        on_thread(end_there, &ending);
        expect(key_of(name, "there", NULL), ending.result,
               mode == CU_STREAM_CAPTURE_MODE_RELAXED ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
        observe_text(key_of(name, "graph", NULL), ending.graph == NULL               ? "null"
                                                  : ending.graph == UNTOUCHED_HANDLE ? "untouched"
                                                                                     : "graph");
        observe_text(key_of(name, "status", NULL), capture_status(stream));
        expect(key_of(name, "here", NULL), capture_end(stream), CUDA_ERROR_ILLEGAL_STATE);
        if (ending.graph != NULL && ending.graph != UNTOUCHED_HANDLE)
            require("destroy", cu->GraphDestroy_v1(ending.graph));
        expect(key_of(name, "usable", NULL), cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    }
}

struct remote_work {
    CUstream stream;
    CUresult result;
};

static void work_there(void *user)
{
    struct remote_work *remote = user;
    remote->result = add_work(remote->stream);
}

/* Any thread may add work to a capture, whatever its mode. */
CHECK(work_elsewhere, "mode.work-elsewhere", .needs = {S(ThreadExchangeStreamCaptureMode_v1)})
{
    for (int mode = 0; mode < 3; mode++) {
        CUstream stream = stream_new();
        struct remote_work remote = {stream, CUDA_ERROR_UNKNOWN};
        require("begin", cu->StreamBeginCapture_v2(stream, (CUstreamCaptureMode)mode));
        on_thread(work_there, &remote);
        expect(key_of(mode_names[mode], "work", NULL), remote.result, CUDA_SUCCESS);
        on_bare_thread(work_there, &remote);
        expect(key_of(mode_names[mode], "work-without-context", NULL), remote.result, CUDA_SUCCESS);
        expect(key_of(mode_names[mode], "end", NULL), capture_end(stream), CUDA_SUCCESS);
    }
}

/* A thread that switches to relaxed mode may query another stream, even during a global capture. */
CHECK(swap_and_query, "mode.swap-and-query", .needs = {S(ThreadExchangeStreamCaptureMode_v1)})
{
    CUstream stream = stream_new();
    CUstream other = stream_new();
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    require("begin", cu->StreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    expect("exchange", cu->ThreadExchangeStreamCaptureMode_v1(&mode), CUDA_SUCCESS);
    expect("query", cu->StreamQuery_v1(other), CUDA_SUCCESS);
    expect("synchronize", cu->StreamSynchronize_v1(other), CUDA_SUCCESS);
    expect_text("status", capture_status(stream), "active");
    require("exchange", cu->ThreadExchangeStreamCaptureMode_v1(&mode));
    expect("end", capture_end(stream), CUDA_SUCCESS);
}

/* This thread has a relaxed capture, and a global one exists: the stricter mode applies. */
CHECK(two_modes, "mode.two", .needs = {S(ThreadExchangeStreamCaptureMode_v1)})
{
    CUstream relaxed = stream_new();
    CUstream global = stream_new();
    CUstream other = stream_new();
    require("begin", cu->StreamBeginCapture_v2(relaxed, CU_STREAM_CAPTURE_MODE_RELAXED));
    require("begin", cu->StreamBeginCapture_v2(global, CU_STREAM_CAPTURE_MODE_GLOBAL));
    expect("query", cu->StreamQuery_v1(other), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    expect_text("relaxed-status", capture_status(relaxed), "active");
    expect_text("global-status", capture_status(global), "invalidated");
    expect("end-global", capture_end(global), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    expect("query-then", cu->StreamQuery_v1(other), CUDA_SUCCESS);
    expect("end-relaxed", capture_end(relaxed), CUDA_SUCCESS);
}
