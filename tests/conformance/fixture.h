/* SPDX-License-Identifier: MIT */
/* What most checks stand on: a device, a context, streams, and ways to hold work back without depending on time. */
#ifndef CONFORMANCE_FIXTURE_H
#define CONFORMANCE_FIXTURE_H

#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

/* The device, and its primary context (a plain one before CUDA 7.0), current on the main thread. */
extern CUdevice the_device;
extern CUcontext the_context;

/* Whether a stream argument of 0 means the per-thread default stream. */
extern bool per_thread;

/* cuInit, the device, the context. */
CUresult fixture_open(void);
/* Puts the thread's state back: the context current, nothing above it, the capture mode global. */
void fixture_restore(void);

/* A stream that does not wait for the legacy stream, and one that does. NULL on failure, which is then said. */
CUstream stream_new(void);
CUstream stream_blocking(void);
/* Waits for the work, then destroys. */
void stream_end(CUstream stream);

CUevent event_new(void);

/* `count` bytes of memory of the device, filled with `fill`. */
CUdeviceptr memory_new(size_t count, unsigned char fill);

/* Memory of the host that the device sees, zeroed. *out_device is its address there. */
void *host_new(size_t count, CUdeviceptr *out_device);
void host_free(void *host);

/* A green context with all of the device's multiprocessors. */
CUgreenCtx green_new(void);

/*
 * A gate holds a stream back until it is opened: the stream's work behind it is pending, however fast the machine is.
 * It is a status callback that waits, so no other callback may be relied on while it is closed: a driver may run them
 * one at a time.
 */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool open;
    atomic_int passed; /* how often it was passed */
};
bool gate_close(struct gate *gate, CUstream stream);
void gate_open(struct gate *gate);

/* Runs `work(user)` on another thread and waits for it. The context is current there; with `on_bare_thread`, none. */
void on_thread(void (*work)(void *user), void *user);
void on_bare_thread(void (*work)(void *user), void *user);

/* Begins a capture in relaxed mode, which every driver that captures has; modes have a subject of their own. */
CUresult capture_begin(CUstream stream);
/* Ends it and destroys the graph. */
CUresult capture_end(CUstream stream);
/* none, active, invalidated, or the code of the failed question. */
const char *capture_status(CUstream stream);

/* Host functions and callbacks that count their calls in an atomic_int. */
void CUDA_CB count_host_function(void *user);
void CUDA_CB count_callback(CUstream stream, CUresult status, void *user);

/* Ten milliseconds: only for what nothing else can be waited for. */
void pause_shortly(void);

/* Adds a host function that does nothing: one node in a capture. */
CUresult add_work(CUstream stream);

#endif
