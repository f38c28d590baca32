/* SPDX-License-Identifier: MIT */
/* Events and graphs that are destroyed, or in a state in which a call cannot use them. */
#include "driver.h"

/*
 * A wait for an event that was destroyed.
 *
 * title: Why calls failed
 * finds: cuStreamWaitEvent returned CUDA_ERROR_INVALID_HANDLE: event 2 was destroyed [\d.]+ \w+ before, by thread \d+,
 *     in cuEventDestroy_v2: destroy it after its last use
 */
SCENARIO(destroyed_event)
{
    CUevent ready;
    cuEventCreate(&ready, 2);
    cuEventRecord(ready, stream);
    if (is_wrong)
        cuEventDestroy_v2(ready);
    cuStreamWaitEvent(side, ready, 0);
    if (!is_wrong)
        cuEventDestroy_v2(ready);
}

/*
 * A launch of an executable graph that was destroyed. Its graph can be destroyed before.
 *
 * title: Why calls failed
 * finds: cuGraphLaunch returned CUDA_ERROR_INVALID_VALUE: executable graph 1 was destroyed [\d.]+ \w+ before, by
 *     thread \d+, in cuGraphExecDestroy: destroy it after its last use
 */
SCENARIO(destroyed_graph)
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

/*
 * The time between two events, of which the second one was created without timing.
 *
 * title: Times that events do not have
 * finds: cuEventElapsedTime returned CUDA_ERROR_INVALID_HANDLE: event 3 does not record its time, because
 *     cuEventCreate created it with CU_EVENT_DISABLE_TIMING at \d\.\d{6} s: create it without this flag
 */
SCENARIO(untimed_event)
{
    CUevent from, to;
    float milliseconds;
    cuEventCreate(&from, 0);
    cuEventCreate(&to, is_wrong ? 2 : 0);
    cuEventRecord(from, stream);
    cuEventRecord(to, stream);
    cuEventSynchronize(to);
    cuEventElapsedTime(&milliseconds, from, to);
    cuEventDestroy_v2(to);
    cuEventDestroy_v2(from);
}

/*
 * The time between two events, of which the first one was not recorded. A wait for such an event succeeds.
 *
 * title: Times that events do not have
 * finds: cuEventElapsedTime returned CUDA_ERROR_INVALID_HANDLE: event 2 was never recorded: record both events
 *     \(cuEventRecord\) and wait for the second one \(cuEventSynchronize\) before
 */
SCENARIO(unrecorded_event)
{
    CUevent from, to;
    float milliseconds;
    cuEventCreate(&from, 0);
    cuEventCreate(&to, 0);
    if (!is_wrong)
        cuEventRecord(from, stream);
    cuStreamWaitEvent(side, from, 0);
    cuEventRecord(to, stream);
    cuEventSynchronize(from);
    cuEventSynchronize(to);
    cuEventElapsedTime(&milliseconds, from, to);
    cuEventDestroy_v2(to);
    cuEventDestroy_v2(from);
}
