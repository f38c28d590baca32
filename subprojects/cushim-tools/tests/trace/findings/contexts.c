/* SPDX-License-Identifier: MIT */
/* Calls while no context is current, or another one than that of their objects. */
#include "driver.h"

static bool is_right;

static void *work(void *unused)
{
    CUstream own = NULL;
    if (is_right)
        cuCtxSetCurrent(context);
    cuStreamCreate(&own, 1);
    if (own != NULL)
        cuStreamDestroy_v2(own);
    return unused;
}

/*
 * A call in a thread in which no context is current.
 *
 * title: Why calls failed
 * finds: cuStreamCreate returned CUDA_ERROR_INVALID_CONTEXT: no context is current on this thread; each thread has
 *     its own, and context 1 is current on thread \d+: call cuCtxSetCurrent in this thread before
 * driver: NULL is not a valid context
 */
SCENARIO(no_context)
{
    is_right = !is_wrong;
    on_thread(work, NULL);
}

/*
 * A call after the only context was popped.
 *
 * title: Why calls failed
 * finds: cuStreamCreate returned CUDA_ERROR_INVALID_CONTEXT: no context is current on this thread: context 1 was,
 *     until .* before, by thread \d+, in cuCtxPopCurrent_v2; call cuCtxSetCurrent before
 */
SCENARIO(popped_last_context)
{
    CUcontext popped;
    CUstream last = NULL;
    cuCtxPopCurrent_v2(&popped);
    if (!is_wrong)
        cuCtxPushCurrent_v2(popped);
    cuStreamCreate(&last, 1);
    cuCtxSetCurrent(context);
    if (last != NULL)
        cuStreamDestroy_v2(last);
}

/*
 * cuCtxSetCurrent(NULL) pops: the context below becomes current. Streams of the one that was popped cannot be used with
 * events of that.
 *
 * title: Why calls failed
 * finds: cuEventRecord returned CUDA_ERROR_INVALID_HANDLE: event \d+ was created in context 1, and stream \d+ in
 *     context 2: create both while the same context is current; which one is current at this call does not matter
 */
SCENARIO(popped_context)
{
    CUcontext second, third;
    CUstream of_second;
    cuCtxCreate_v2(&second, 0, device);
    cuStreamCreate(&of_second, 1);
    cuCtxCreate_v2(&third, 0, device);
    cuCtxSetCurrent(NULL);
    cuEventRecord(event, is_wrong ? of_second : stream);
    cuStreamDestroy_v2(of_second);
    cuCtxDestroy_v2(third);
    cuCtxDestroy_v2(second);
    cuCtxSetCurrent(context);
}

/*
 * An event and a stream of two contexts. Which context is current does not matter: in the wrong program, it is that of
 * the event, and in the right one, it is neither the stream's nor the event's.
 *
 * title: Why calls failed
 * finds: cuEventRecord returned CUDA_ERROR_INVALID_HANDLE: event \d+ was created in context 1, and stream \d+ in
 *     context 2: create both while the same context is current; which one is current at this call does not matter
 */
SCENARIO(event_of_other_context)
{
    CUcontext second;
    CUstream of_second;
    CUevent of_both;
    cuCtxCreate_v2(&second, 0, device);
    cuStreamCreate(&of_second, 1);
    cuEventCreate(&of_both, 2);
    cuCtxSetCurrent(context);
    cuEventRecord(is_wrong ? event : of_both, of_second);
    cuEventDestroy_v2(of_both);
    cuStreamDestroy_v2(of_second);
    cuCtxDestroy_v2(second);
    cuCtxSetCurrent(context);
}

static void *destroy(void *second)
{
    cuCtxDestroy_v2(second);
    return NULL;
}

/*
 * Another thread has destroyed the context that is current.
 *
 * title: Why calls failed
 * finds: cuStreamCreate returned CUDA_ERROR_CONTEXT_IS_DESTROYED: context 2, which is current on this thread, was
 *     destroyed .* before, by thread \d+, in cuCtxDestroy_v2: make another context current
 */
SCENARIO(destroyed_context)
{
    CUcontext second;
    CUstream last = NULL;
    cuCtxCreate_v2(&second, 0, device);
    if (!is_wrong) {
        cuStreamCreate(&last, 1);
        cuStreamDestroy_v2(last);
    }
    on_thread(destroy, second);
    if (is_wrong)
        cuStreamCreate(&last, 1);
    cuCtxSetCurrent(context);
}
