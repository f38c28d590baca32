/* SPDX-License-Identifier: MIT */
/*
 * A stream joins a capture, gets work, and is joined back by an event that is older than its last work.
 *
 * title: Captures with streams that were not joined
 * finds: cuStreamEndCapture returned CUDA_ERROR_STREAM_CAPTURE_UNJOINED: stream 2 joined the capture of stream 1 at
 *     \S+ s, and stream 1 does not wait for the last work in stream 2 \(cuMemsetD8Async at \S+ s by thread \d+\):
 *     record an event in stream 2 after that work, and make stream 1 wait for the event .*
 */
#include "driver.h"

static void run(bool is_wrong)
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
