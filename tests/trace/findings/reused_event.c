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

int main(int argc, char **argv)
{
    CUgraph graph;
    start();
    cuStreamBeginCapture_v2(stream, THREAD_LOCAL);
    cuEventRecord(event, stream);
    cuStreamEndCapture(stream, &graph);
    cuGraphDestroy(graph);
    cuEventDestroy_v2(event);
    cuEventCreate(&event, 2);
    cuStreamBeginCapture_v2(stream, THREAD_LOCAL);
    cuStreamWaitEvent(stream, event, 1 << 20); /* fails and does not invalidate the capture */
    if (is_wrong(argc, argv))
        cuStreamSynchronize(stream);
    cuMemsetD8Async(memory, 0, 1024, stream);
    cuStreamEndCapture(stream, &graph);
    if (graph != NULL)
        cuGraphDestroy(graph);
    end();
    return 0;
}
