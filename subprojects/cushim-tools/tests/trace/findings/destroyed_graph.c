/* SPDX-License-Identifier: MIT */
/*
 * A launch of an executable graph that was destroyed. Its graph can be destroyed before.
 *
 * title: Why calls failed
 * finds: cuGraphLaunch returned CUDA_ERROR_INVALID_VALUE: executable graph 1 was destroyed [\d.]+ \w+ before, by
 *     thread \d+, in cuGraphExecDestroy: destroy it after its last use
 */
#include "driver.h"

static void run(bool is_wrong)
{
    CUgraph graph;
    CUgraphExec executable;
    cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    cuMemsetD8Async(memory, 0, 16, stream);
    cuStreamEndCapture(stream, &graph);
    cuGraphInstantiateWithFlags(&executable, graph, 0);
    cuGraphDestroy(graph);
    if (is_wrong)
        cuGraphExecDestroy(executable);
    cuGraphLaunch(executable, stream);
    cuStreamSynchronize(stream);
    if (!is_wrong)
        cuGraphExecDestroy(executable);
}
