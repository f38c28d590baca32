/* SPDX-License-Identifier: MIT */
/*
 * A synchronization in a capture invalidates it. An event that got the handle of one that another capture recorded did
 * not: the failed wait for it has wrong flags.
 *
 * title: Captures that were lost
 * finds: cuStreamSynchronize invalidated the capture of stream 1 .*: no mode permits it on a stream of the capture;
 *     .*
 */
#include "driver.h"

static void run(bool is_wrong)
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
