/* SPDX-License-Identifier: MIT */
/* What the scenarios of `races` share: two streams, two events and memory, and calls that must succeed. */
#ifndef TRACE_RACES_H
#define TRACE_RACES_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "functions.h"
#include "scenario.h"

enum { SIZE = 1 << 16, MARK = 0x5a };

extern CUcontext context;
extern CUstream a, b; /* do not block */
extern CUevent e, f;
extern CUdeviceptr m, n;

static inline void check(CUresult result, const char *file, int line)
{
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "%s:%d: %d\n", file, line, (int)result);
    exit(3);
}
#define CHECK(call) check((call), __FILE__, __LINE__)

static inline void record(CUevent event, CUstream stream)
{
    CHECK(cuEventRecord(event, stream));
}

static inline void await(CUstream stream, CUevent event)
{
    CHECK(cuStreamWaitEvent(stream, event, 0));
}

static inline void fill(CUdeviceptr to, CUstream stream)
{
    CHECK(cuMemsetD8Async(to, MARK, SIZE, stream));
}

static inline void copy(CUdeviceptr to, CUdeviceptr from, CUstream stream)
{
    CHECK(cuMemcpyDtoDAsync_v2(to, from, SIZE, stream));
}

static inline void synchronize(CUstream stream)
{
    CHECK(cuStreamSynchronize(stream));
}

static inline CUstream stream_create(unsigned flags)
{
    CUstream stream;
    CHECK(cuStreamCreate(&stream, flags));
    return stream;
}

static inline CUevent event_create(void)
{
    CUevent event;
    CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    return event;
}

static inline CUdeviceptr allocate(size_t size)
{
    CUdeviceptr address;
    CHECK(cuMemAlloc_v2(&address, size));
    return address;
}

static inline CUdeviceptr allocate_async(CUstream stream)
{
    CUdeviceptr address;
    CHECK(cuMemAllocAsync(&address, SIZE, stream));
    return address;
}

static inline char *pinned(void)
{
    void *address;
    CHECK(cuMemHostAlloc(&address, SIZE, 0));
    return address;
}

static inline CUgraphExec instantiated(CUgraph graph)
{
    CUgraphExec executable;
    CHECK(cuGraphInstantiateWithFlags(&executable, graph, 0));
    return executable;
}

#endif
