/* SPDX-License-Identifier: MIT */
/* Captures that are invalidated, not joined, or without some of the work. */
#include "driver.h"

/*
 * A wait for no event in a capture.
 *
 * title: Captures that were lost
 * finds: cuStreamWaitEvent invalidated the capture of stream 1 .*: the event does not exist; .*
 */
SCENARIO(null_event)
{
    cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    cuStreamWaitEvent(stream, is_wrong ? NULL : event, 0);
    cuMemsetD8Async(memory, 0, 1024, stream);
    end_capture();
}

/*
 * A synchronization in a capture invalidates it. An event that got the handle of one that another capture recorded did
 * not: the failed wait for it has wrong flags.
 *
 * title: Captures that were lost
 * finds: cuStreamSynchronize invalidated the capture of stream 1 .*: no mode permits it on a stream of the capture;
 *     .*
 */
SCENARIO(reused_event)
{
    cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    cuEventRecord(event, stream);
    end_capture();
    cuEventDestroy_v2(event);
    cuEventCreate(&event, 2);
    cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    cuStreamWaitEvent(stream, event, 1 << 20); /* fails and does not invalidate the capture */
    if (is_wrong)
        cuStreamSynchronize(stream);
    cuMemsetD8Async(memory, 0, 1024, stream);
    end_capture();
}

/*
 * A stream joins a capture, gets work, and is joined back by an event that is older than its last work.
 *
 * title: Captures with streams that were not joined
 * finds: cuStreamEndCapture returned CUDA_ERROR_STREAM_CAPTURE_UNJOINED: stream 2 joined the capture of stream 1 at
 *     \S+ s, and stream 1 does not wait for the last work in stream 2 \(cuMemsetD8Async at \S+ s by thread \d+\):
 *     record an event in stream 2 after that work, and make stream 1 wait for the event .*
 */
SCENARIO(unjoined)
{
    CUevent joined;
    cuEventCreate(&joined, 2);
    cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    cuMemsetD8Async(memory, 0, 512, stream);
    cuEventRecord(event, stream);
    cuStreamWaitEvent(side, event, 0);
    cuMemsetD8Async(memory + 512, 0, 256, side);
    cuEventRecord(joined, side);
    cuMemsetD8Async(memory + 768, 0, 256, side);
    if (!is_wrong)
        cuEventRecord(joined, side);
    cuStreamWaitEvent(stream, joined, 0);
    end_capture();
    cuEventDestroy_v2(joined);
}

static void *work(void *of_stream)
{
    cuCtxSetCurrent(context);
    cuMemsetD8Async(memory, 0, 256, *(CUstream *)of_stream);
    return NULL;
}

/*
 * During a capture, work in a stream that does not belong to it. The correct program does it in another thread, and in
 * a stream that has joined the capture.
 *
 * title: Work that captures missed
 * finds: cuMemsetD8Async, the first of 2 such calls, ran in stream 2 while this thread captured stream 1: it is not
 *     in the graph, and a launch of the graph does not repeat it; make stream 2 join the capture \(cuEventRecord in
 *     stream 1, cuStreamWaitEvent in stream 2\), use stream 1, or call it before cuStreamBeginCapture
 */
SCENARIO(missed_work)
{
    CUstream third;
    cuStreamCreate(&third, 1);
    cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    cuMemsetD8Async(memory, 0, 512, stream);
    if (!is_wrong) {
        cuEventRecord(event, stream);
        cuStreamWaitEvent(side, event, 0);
    }
    cuMemsetD8Async(memory + 512, 0, 256, side);
    cuMemsetD8Async(memory + 768, 0, 256, side);
    if (!is_wrong) {
        cuEventRecord(event, side);
        cuStreamWaitEvent(stream, event, 0);
    }
    on_thread(work, &third);
    end_capture();
    cuStreamDestroy_v2(third);
}

/*
 * The legacy stream cannot join a capture.
 *
 * title: Work that captures missed
 * finds: cuMemsetD8Async ran in the legacy stream while this thread captured stream 1: it is not in the graph, and a
 *     launch of the graph does not repeat it; use stream 1, or call it before cuStreamBeginCapture
 */
SCENARIO(missed_default)
{
    cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    cuMemsetD8Async(memory, 0, 512, stream);
    cuMemsetD8Async(memory + 512, 0, 256, is_wrong ? NULL : stream);
    end_capture();
}

/* It is exported for programs that are built for per-thread default streams. */
CUresult CUDAAPI cuMemcpyHtoD_v2_ptds(CUdeviceptr to, const void *from, size_t size);

/*
 * A synchronous copy cannot be in a graph.
 *
 * title: Work that captures missed
 * finds: cuMemcpyHtoD_v2 ran in the per-thread stream of thread \d+ while this thread captured stream 1: it is not in
 *     the graph, and a launch of the graph does not repeat it; use an asynchronous function in stream 1, or call it
 *     before cuStreamBeginCapture
 */
SCENARIO(missed_copy)
{
    static const char bytes[256];
    if (!is_wrong)
        cuMemcpyHtoD_v2_ptds(memory + 512, bytes, sizeof bytes);
    cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    cuMemsetD8Async(memory, 0, 512, stream);
    if (is_wrong)
        cuMemcpyHtoD_v2_ptds(memory + 512, bytes, sizeof bytes);
    end_capture();
}
