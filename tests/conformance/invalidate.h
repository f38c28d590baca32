/* SPDX-License-Identifier: MIT */
/* The arguments of the calls in invalidate_calls.inc. */
#ifndef CONFORMANCE_INVALIDATE_H
#define CONFORMANCE_INVALIDATE_H

#include "kernels.h"

struct invalidation {
    /* The target of the call: the capturing stream or another one. */
    CUstream stream;
    /* A third stream, idle; an event recorded and complete before the capture; one never recorded; one of this
     * capture. */
    CUstream spare;
    CUevent outside;
    CUevent unrecorded;
    CUevent captured;
    CUevent timed;
    void *victim; /* the object that the call destroys */
    /* Created by the call; destroyed afterwards. */
    CUdeviceptr new_memory;
    void *new_host;
    CUstream new_stream;
    CUevent new_event;
    CUcontext new_context;
    CUgraph new_graph;
    CUgraphExec new_executable;
    CUuserObject new_object;
    /* Shared by all trials. */
    CUdeviceptr memory;
    CUdeviceptr managed;
    unsigned char *pinned;
    CUgraph graph;
    CUgraphExec executable;
    CUfunction function;
    atomic_int calls;
    /* Output buffers that nobody reads. */
    unsigned flags;
    int number;
    float time;
    size_t size;
    size_t other_size;
    unsigned long long id;
    cuuint64_t capture_id;
    CUdevice device;
    CUcontext context;
    CUgreenCtx green;
    CUgraph told_graph;
    CUstreamCaptureStatus status;
    CUstreamCaptureMode mode;
    CUlaunchAttributeValue attribute;
    CUmemoryPool pool;
    CUfunction loaded;
    CUkernel kernel;
    const char *name;
    CUdeviceptr pointer;
    CUfunc_cache cache;
    CUgraphExecUpdateResultInfo update;
};

#endif
