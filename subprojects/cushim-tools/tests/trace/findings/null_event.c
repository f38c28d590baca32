/* SPDX-License-Identifier: MIT */
/*
 * A wait for no event in a capture.
 *
 * title: Captures that were lost
 * finds: cuStreamWaitEvent invalidated the capture of stream 1 .*: the event does not exist; .*
 */
#include "driver.h"

static void run(bool is_wrong)
{
    cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    cuStreamWaitEvent(stream, is_wrong ? NULL : event, 0);
    cuMemsetD8Async(memory, 0, 1024, stream);
    end_capture();
}
