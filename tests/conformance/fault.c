/* SPDX-License-Identifier: MIT */
/* A context with a sticky error: the result of every call after a kernel with a fault. Each check ends its process. */
#include "kernels.h"

static void make_calls_after_fault(CUstream stream, CUstream other, CUevent event)
{
    CUstream fresh = NULL;
    CUevent fresh_event = NULL;
    CUdeviceptr memory = 0;
    CUcontext context = NULL;
    CUdevice device;
    unsigned flags = 0;
    int priority = 0;
    observe("query", cu->StreamQuery_v1(stream));
    observe("synchronize-again", cu->StreamSynchronize_v1(stream));
    observe("other-query", cu->StreamQuery_v1(other));
    observe("other-synchronize", cu->StreamSynchronize_v1(other));
    observe("context-synchronize", cu->CtxSynchronize_v1());
    observe("flags", cu->StreamGetFlags_v1(other, &flags));
    observe("priority", cu->StreamGetPriority_v1(other, &priority));
    observe("event-query", cu->EventQuery_v1(event));
    observe("event-synchronize", cu->EventSynchronize_v1(event));
    observe("event-record", cu->EventRecord_v1(event, other));
    observe("wait", cu->StreamWaitEvent_v1(other, event, 0));
    observe("create", cu->StreamCreate_v1(&fresh, 0));
    observe("event-create", cu->EventCreate_v1(&fresh_event, 0));
    observe("alloc", cu->MemAlloc_v2(&memory, 64));
    observe("context-current", cu->CtxGetCurrent_v1(&context));
    observe("context-device", cu->CtxGetDevice_v1(&device));
    observe("context-set", cu->CtxSetCurrent_v1(the_context));
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
        observe("is-capturing", cu->StreamIsCapturing_v1(other, &status));
    if (require_slot("info", S(StreamGetCaptureInfo_v3)))
        observe("info", cu->StreamGetCaptureInfo_v3(other, &status, NULL, NULL, NULL, NULL, NULL));
    observe_number("capture-status", (long long)status);
    if (require_slot("event-elapsed", S(EventElapsedTime_v2))) {
        CUresult result = cu->EventElapsedTime_v2(&time, before, before);
        observe_format("event-elapsed", "%d %s", (int)result, time == -1 ? "untouched" : "a time");
    }
    if (require_slot("event-record-v2", S(EventRecordWithFlags_v1)))
        observe("event-record-v2", cu->EventRecordWithFlags_v1(before, other, 0));
    if (require_slot("context-device-v2", S(CtxGetDevice_v2)))
        observe("context-device-v2", cu->CtxGetDevice_v2(&device, the_context));
    observe_number("context-device-v2-is", device);
    if (require_slot("context-synchronize-v2", S(CtxSynchronize_v2)))
        observe("context-synchronize-v2", cu->CtxSynchronize_v2(the_context));
    if (require_slot("stream", S(StreamGetDevice_v1)))
        observe_stream("stream", other);
    if (require_slot("id", S(StreamGetId_v1)))
        observe("id", cu->StreamGetId_v1(other, &id));
    if (require_slot("begin-capture", S(StreamBeginCapture_v2)))
        observe("begin-capture", cu->StreamBeginCapture_v2(other, CU_STREAM_CAPTURE_MODE_RELAXED));
    if (require_slot("graph-create", S(GraphCreate_v1)))
        observe("graph-create", cu->GraphCreate_v1(&graph, 0));
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
static void fault_with(const char *kernel)
{
    struct report report = {0, CUDA_SUCCESS};
    atomic_int host_calls = 0;
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
    observe("synchronize", cu->StreamSynchronize_v1(stream));
    make_calls_after_fault(stream, other, event);
    for (int i = 0; i < 100 && atomic_load(&report.calls) == 0; i++)
        pause_shortly();
    observe_number("callback-calls", atomic_load(&report.calls));
    observe("callback-status", report.status);
    if (with_host_function)
        observe_number("host-function-called", atomic_load(&host_calls));
    observe("callback-after", cu->StreamAddCallback_v1(stream, record_status, &report, 0));
    if (require_slot("host-function-after", S(LaunchHostFunc_v1)))
        observe("host-function-after", cu->LaunchHostFunc_v1(other, count_host_function, &host_calls));
    make_newer_calls_after_fault(other, before);
    observe("launch-after", kernel_launch(function, other, NULL));
    observe("event-destroy", cu->EventDestroy_v2(event));
    observe("destroy", cu->StreamDestroy_v2(stream));
    observe("destroy-other", cu->StreamDestroy_v2(other));
}

CHECK(illegal_address, "fault.address", .flags = CHECK_ALONE, .needs = {S(LaunchKernel_v1)})
{
    fault_with("conformance_fault");
}

CHECK(trap, "fault.trap", .flags = CHECK_ALONE, .needs = {S(LaunchKernel_v1)})
{
    fault_with("conformance_trap");
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
