/* SPDX-License-Identifier: MIT */
/* A context with a sticky error: the result of every call after a kernel with a fault. Each check ends its process. */
#include "kernels.h"

static CUresult sticky; /* the error of the fault */

static void make_calls_after_fault(CUstream stream, CUstream other, CUevent event)
{
    CUstream fresh = NULL;
    CUevent fresh_event = NULL;
    CUdeviceptr memory = 0;
    CUcontext context = NULL;
    CUdevice device;
    unsigned flags = 0;
    int priority = 0;
    expect("query", cu->StreamQuery_v1(stream), sticky);
    expect("synchronize-again", cu->StreamSynchronize_v1(stream), sticky);
    expect("other-query", cu->StreamQuery_v1(other), sticky);
    expect("other-synchronize", cu->StreamSynchronize_v1(other), sticky);
    expect("context-synchronize", cu->CtxSynchronize_v1(), sticky);
    expect("flags", cu->StreamGetFlags_v1(other, &flags), sticky);
    expect("priority", cu->StreamGetPriority_v1(other, &priority), sticky);
    expect("event-query", cu->EventQuery_v1(event), sticky);
    expect("event-synchronize", cu->EventSynchronize_v1(event), sticky);
    expect("event-record", cu->EventRecord_v1(event, other), sticky);
    expect("wait", cu->StreamWaitEvent_v1(other, event, 0), sticky);
    expect("create", cu->StreamCreate_v1(&fresh, 0), sticky);
    expect("event-create", cu->EventCreate_v1(&fresh_event, 0), sticky);
    expect("alloc", cu->MemAlloc_v2(&memory, 64), sticky);
    expect("context-current", cu->CtxGetCurrent_v1(&context), CUDA_SUCCESS);
    expect("context-device", cu->CtxGetDevice_v1(&device), CUDA_SUCCESS);
    expect("context-set", cu->CtxSetCurrent_v1(the_context), CUDA_SUCCESS);
}

/* `before` was recorded before the fault. */
static void make_newer_calls_after_fault(CUstream other, CUevent before)
{
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)99;
    CUdevice device = 99;
    float time = -1;
    unsigned long long id;
    CUgraph graph = NULL;
    if (require_slot("is-capturing", S(StreamIsCapturing_v1)))
        expect("is-capturing", cu->StreamIsCapturing_v1(other, &status), sticky);
    if (require_slot("info", S(StreamGetCaptureInfo_v3)))
        expect("info", cu->StreamGetCaptureInfo_v3(other, &status, NULL, NULL, NULL, NULL, NULL), sticky);
    expect_number("capture-status", (long long)status, 99);
    if (require_slot("event-elapsed", S(EventElapsedTime_v2))) {
        CUresult result = cu->EventElapsedTime_v2(&time, before, before);
        observe_format("event-elapsed", "%d %s", (int)result, time == -1 ? "untouched" : "a time");
    }
    if (require_slot("event-record-v2", S(EventRecordWithFlags_v1)))
        expect("event-record-v2", cu->EventRecordWithFlags_v1(before, other, 0), sticky);
    if (require_slot("context-device-v2", S(CtxGetDevice_v2)))
        expect("context-device-v2", cu->CtxGetDevice_v2(&device, the_context), CUDA_SUCCESS);
    expect_number("context-device-v2-is", device, the_device);
    if (require_slot("context-synchronize-v2", S(CtxSynchronize_v2)))
        expect("context-synchronize-v2", cu->CtxSynchronize_v2(the_context), sticky);
    if (require_slot("stream", S(StreamGetDevice_v1)))
        observe_stream("stream", other);
    if (require_slot("id", S(StreamGetId_v1)))
        expect("id", cu->StreamGetId_v1(other, &id), sticky);
    if (require_slot("begin-capture", S(StreamBeginCapture_v2)))
        expect("begin-capture", cu->StreamBeginCapture_v2(other, CU_STREAM_CAPTURE_MODE_RELAXED), sticky);
    if (require_slot("graph-create", S(GraphCreate_v1)))
        expect("graph-create", cu->GraphCreate_v1(&graph, 0), CUDA_SUCCESS);
}

struct report {
    atomic_int calls;
    CUresult status;
};

static void CUDA_CB record_status(CUstream stream, CUresult status, void *user)
{
    struct report *report = user;
    report->status = status;
    atomic_fetch_add(&report->calls, 1);
}

/* A callback and a host function behind the fault. The gate ensures that both are registered before the fault
 * happens. */
static void fault_with(const char *kernel, CUresult error)
{
    struct report report = {0, CUDA_SUCCESS};
    atomic_int host_calls = 0;
    sticky = error;
    CUfunction function = kernel_new(kernel);
    CUstream stream = stream_new();
    CUstream other = stream_new();
    CUevent event = event_new();
    CUevent before = event_timed();
    require("record", cu->EventRecord_v1(before, other));
    require("synchronize", cu->StreamSynchronize_v1(other));
    struct gate *gate = gate_new(stream);
    expect("launch", kernel_launch(function, stream, NULL), CUDA_SUCCESS);
    require("record", cu->EventRecord_v1(event, stream));
    require("callback", cu->StreamAddCallback_v1(stream, record_status, &report, 0));
    bool with_host_function = require_slot("host-function-called", S(LaunchHostFunc_v1));
    if (with_host_function)
        require("host-function", cu->LaunchHostFunc_v1(stream, count_host_function, &host_calls));
    gate_open(gate);
    expect("synchronize", cu->StreamSynchronize_v1(stream), sticky);
    make_calls_after_fault(stream, other, event);
    for (int i = 0; i < 100 && atomic_load(&report.calls) == 0; i++)
        pause_shortly();
    expect_number("callback-calls", atomic_load(&report.calls), 1);
    expect("callback-status", report.status, sticky);
    if (with_host_function)
        expect_number("host-function-called", atomic_load(&host_calls), 0);
    expect("callback-after", cu->StreamAddCallback_v1(stream, record_status, &report, 0), sticky);
    if (require_slot("host-function-after", S(LaunchHostFunc_v1)))
        expect("host-function-after", cu->LaunchHostFunc_v1(other, count_host_function, &host_calls), sticky);
    make_newer_calls_after_fault(other, before);
    expect("launch-after", kernel_launch(function, other, NULL), sticky);
    expect("event-destroy", cu->EventDestroy_v2(event), sticky);
    expect("destroy", cu->StreamDestroy_v2(stream), sticky);
    expect("destroy-other", cu->StreamDestroy_v2(other), sticky);
}

CHECK(illegal_address, "fault.address", .flags = CHECK_ALONE, .needs = {S(LaunchKernel_v1)})
{
    fault_with("conformance_fault", CUDA_ERROR_ILLEGAL_ADDRESS);
}

CHECK(trap, "fault.trap", .flags = CHECK_ALONE, .needs = {S(LaunchKernel_v1)})
{
    fault_with("conformance_trap", CUDA_ERROR_LAUNCH_FAILED);
}

/* Whether a second context of the process on the same device still works, and what a reset restores. */
CHECK(other_context, "fault.other-context", .flags = CHECK_ALONE, .needs = {S(LaunchKernel_v1)})
{
    CUcontext popped = NULL;
    CUfunction function = kernel_new("conformance_fault");
    CUstream stream = stream_new();
    CUcontext second = context_second();
    CUstream elsewhere = stream_new();
    require("pop", cu->CtxPopCurrent_v2(&popped));
    require("launch", kernel_launch(function, stream, NULL));
    expect("synchronize", cu->StreamSynchronize_v1(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    expect("elsewhere-query", cu->StreamQuery_v1(elsewhere), CUDA_ERROR_ILLEGAL_ADDRESS);
    expect("elsewhere-synchronize", cu->StreamSynchronize_v1(elsewhere), CUDA_ERROR_ILLEGAL_ADDRESS);
    expect("elsewhere-set", cu->CtxSetCurrent_v1(second), CUDA_SUCCESS);
    CUstream fresh = NULL;
    expect("elsewhere-create", cu->StreamCreate_v1(&fresh, 0), CUDA_ERROR_ILLEGAL_ADDRESS);
    expect("elsewhere-destroy", cu->StreamDestroy_v2(elsewhere), CUDA_ERROR_ILLEGAL_ADDRESS);
}

CHECK(after_reset, "fault.reset", .flags = CHECK_ALONE, .needs = {S(DevicePrimaryCtxReset_v1)})
{
    CUcontext again = NULL;
    CUfunction function = kernel_new("conformance_fault");
    CUstream stream = stream_new();
    CUstream fresh = NULL;
    require("launch", kernel_launch(function, stream, NULL));
    expect("synchronize", cu->StreamSynchronize_v1(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    expect("reset", cu->DevicePrimaryCtxReset_v1(the_device), CUDA_SUCCESS);
    expect("retain", cu->DevicePrimaryCtxRetain_v1(&again, the_device), CUDA_ERROR_ILLEGAL_ADDRESS);
    expect("set", cu->CtxSetCurrent_v1(again), CUDA_SUCCESS);
    expect("create", cu->StreamCreate_v1(&fresh, 0), CUDA_ERROR_INVALID_CONTEXT);
    expect("query-fresh", cu->StreamQuery_v1(fresh), CUDA_ERROR_INVALID_HANDLE);
}

/* A fault in the launch of a graph. */
CHECK(in_graph, "fault.graph", .flags = CHECK_ALONE,
      .needs = {S(GraphInstantiateWithFlags_v1), S(StreamBeginCapture_v2)})
{
    CUfunction function = kernel_new("conformance_fault");
    CUgraph graph = NULL;
    CUgraphExec executable = NULL;
    CUstream stream = stream_capturing();
    expect("captured-launch", kernel_launch(function, stream, NULL), CUDA_SUCCESS);
    expect("end", cu->StreamEndCapture_v1(stream, &graph), CUDA_SUCCESS);
    expect("instantiate", cu->GraphInstantiateWithFlags_v1(&executable, graph, 0), CUDA_SUCCESS);
    expect("nothing-ran", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    expect("launch", cu->GraphLaunch_v1(executable, stream), CUDA_SUCCESS);
    expect("synchronize", cu->StreamSynchronize_v1(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    expect("launch-again", cu->GraphLaunch_v1(executable, stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    expect("exec-destroy", cu->GraphExecDestroy_v1(executable), CUDA_SUCCESS);
    expect("graph-destroy", cu->GraphDestroy_v1(graph), CUDA_SUCCESS);
}
