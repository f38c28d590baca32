/* SPDX-License-Identifier: MIT */
/*
 * A wait for no event in a capture.
 *
 * title: Captures that were lost
 * finds: cuStreamWaitEvent invalidated the capture of stream 1 .*: the event does not exist; .*
 */
#include "driver.h"

int main(int argc, char **argv)
{
    CUgraph graph;
    start();
    cuStreamBeginCapture_v2(stream, THREAD_LOCAL);
    cuStreamWaitEvent(stream, is_wrong(argc, argv) ? NULL : event, 0);
    cuMemsetD8Async(memory, 0, 1024, stream);
    cuStreamEndCapture(stream, &graph);
    if (graph != NULL)
        cuGraphDestroy(graph);
    end();
    return 0;
}
