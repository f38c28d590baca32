/* SPDX-License-Identifier: MIT */
/*
 * During a capture, work in a stream that does not belong to it. The correct program does it in another thread, and in
 * a stream that has joined the capture.
 *
 * title: Work that captures missed
 * finds: cuMemsetD8Async, the first of 2 such calls, ran in stream 2 while this thread captured stream 1: it is not
 *     in the graph, and a launch of the graph does not repeat it; make stream 2 join the capture \(cuEventRecord in
 *     stream 1, cuStreamWaitEvent in stream 2\), use stream 1, or call it before cuStreamBeginCapture
 */
#include "driver.h"

static void *work(void *of_stream)
{
    cuCtxSetCurrent(context);
    cuMemsetD8Async(memory, 0, 256, *(CUstream *)of_stream);
    return NULL;
}

static void run(bool is_wrong)
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
