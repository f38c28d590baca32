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
    saw("query", cu->StreamQuery_v1(stream));
    saw("synchronize-again", cu->StreamSynchronize_v1(stream));
    saw("other-query", cu->StreamQuery_v1(other));
    saw("other-synchronize", cu->StreamSynchronize_v1(other));
    saw("context-synchronize", cu->CtxSynchronize_v1());
    saw("flags", cu->StreamGetFlags_v1(other, &flags));
    saw("priority", cu->StreamGetPriority_v1(other, &priority));
    saw("event-query", cu->EventQuery_v1(event));
    saw("event-synchronize", cu->EventSynchronize_v1(event));
    saw("event-record", cu->EventRecord_v1(event, other));
    saw("wait", cu->StreamWaitEvent_v1(other, event, 0));
    saw("create", cu->StreamCreate_v1(&fresh, 0));
    saw("event-create", cu->EventCreate_v1(&fresh_event, 0));
    saw("alloc", cu->MemAlloc_v2(&memory, 64));
    saw("context-current", cu->CtxGetCurrent_v1(&context));
    saw("context-device", cu->CtxGetDevice_v1(&device));
    saw("context-set", cu->CtxSetCurrent_v1(the_context));
}

/* `before` was recorded before the fault. */
static void make_newer_calls_after_fault(CUstream other, CUevent before)
{
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)99;
    CUdevice device = 99;
    float time = -1;
    unsigned long long id;
    CUgraph graph = NULL;
    if (have("is-capturing", S(StreamIsCapturing_v1)))
        saw("is-capturing", cu->StreamIsCapturing_v1(other, &status));
    if (have("info", S(StreamGetCaptureInfo_v3)))
        saw("info", cu->StreamGetCaptureInfo_v3(other, &status, NULL, NULL, NULL, NULL, NULL));
    saw_number("capture-status", (long long)status);
    if (have("event-elapsed", S(EventElapsedTime_v2))) {
        CUresult result = cu->EventElapsedTime_v2(&time, before, before);
        saw_words("event-elapsed", "%d %s", (int)result, time == -1 ? "untouched" : "a time");
    }
    if (have("event-record-v2", S(EventRecordWithFlags_v1)))
        saw("event-record-v2", cu->EventRecordWithFlags_v1(before, other, 0));
    if (have("context-device-v2", S(CtxGetDevice_v2)))
        saw("context-device-v2", cu->CtxGetDevice_v2(&device, the_context));
    saw_number("context-device-v2-is", device);
    if (have("context-synchronize-v2", S(CtxSynchronize_v2)))
        saw("context-synchronize-v2", cu->CtxSynchronize_v2(the_context));
    if (have("stream", S(StreamGetDevice_v1)))
        saw_stream("stream", other);
    if (have("id", S(StreamGetId_v1)))
        saw("id", cu->StreamGetId_v1(other, &id));
    if (have("begin-capture", S(StreamBeginCapture_v2)))
        saw("begin-capture", cu->StreamBeginCapture_v2(other, CU_STREAM_CAPTURE_MODE_RELAXED));
    if (have("graph-create", S(GraphCreate_v1)))
        saw("graph-create", cu->GraphCreate_v1(&graph, 0));
}

struct report {
    atomic_int calls;
    CUresult status;
};

static void CUDA_CB record_status(CUstream stream, CUresult status, void *user)
{
    struct report *report = user;
    (void)stream;
    report->status = status;
    atomic_fetch_add(&report->calls, 1);
}

/* A callback and a host function behind the fault. The gate ensures that both are registered before the fault
 * happens. */
static void fault_with(const char *kernel)
{
    struct gate gate;
    struct report report = {0, CUDA_SUCCESS};
    CUevent before = NULL;
    atomic_int host_calls = 0;
    CUfunction function = NULL;
    CUstream stream = stream_new();
    CUstream other = stream_new();
    CUevent event = event_new();
    need("event", cu->EventCreate_v1(&before, CU_EVENT_DEFAULT));
    need("record", cu->EventRecord_v1(before, other));
    need("synchronize", cu->StreamSynchronize_v1(other));
    if (!need("kernel", kernel_get(kernel, &function)) || !gate_close(&gate, stream))
        return;
    rule("launch", kernel_launch(function, stream, NULL), CUDA_SUCCESS);
    need("record", cu->EventRecord_v1(event, stream));
    need("callback", cu->StreamAddCallback_v1(stream, record_status, &report, 0));
    bool with_host_function = have("host-function-called", S(LaunchHostFunc_v1));
    if (with_host_function)
        need("host-function", cu->LaunchHostFunc_v1(stream, count_host_function, &host_calls));
    gate_open(&gate);
    saw("synchronize", cu->StreamSynchronize_v1(stream));
    make_calls_after_fault(stream, other, event);
    for (int i = 0; i < 100 && atomic_load(&report.calls) == 0; i++)
        pause_shortly();
    saw_number("callback-calls", atomic_load(&report.calls));
    saw("callback-status", report.status);
    if (with_host_function)
        saw_number("host-function-called", atomic_load(&host_calls));
    saw("callback-after", cu->StreamAddCallback_v1(stream, record_status, &report, 0));
    if (have("host-function-after", S(LaunchHostFunc_v1)))
        saw("host-function-after", cu->LaunchHostFunc_v1(other, count_host_function, &host_calls));
    make_newer_calls_after_fault(other, before);
    saw("launch-after", kernel_launch(function, other, NULL));
    saw("event-destroy", cu->EventDestroy_v2(event));
    saw("destroy", cu->StreamDestroy_v2(stream));
    saw("destroy-other", cu->StreamDestroy_v2(other));
}

static void illegal_address(void)
{
    fault_with("conformance_fault");
}

static void trap(void)
{
    fault_with("conformance_trap");
}

/* Whether a second context of the process on the same device still works, and what a reset restores. */
static void other_context(void)
{
    CUcontext second = NULL;
    CUcontext popped = NULL;
    CUfunction function = NULL;
    CUstream stream = stream_new();
    if (!need("kernel", kernel_get("conformance_fault", &function))
        || !need("context", cu->CtxCreate_v2(&second, 0, the_device)))
        return;
    CUstream elsewhere = stream_new();
    need("pop", cu->CtxPopCurrent_v2(&popped));
    need("launch", kernel_launch(function, stream, NULL));
    saw("synchronize", cu->StreamSynchronize_v1(stream));
    saw("elsewhere-query", cu->StreamQuery_v1(elsewhere));
    saw("elsewhere-synchronize", cu->StreamSynchronize_v1(elsewhere));
    saw("elsewhere-set", cu->CtxSetCurrent_v1(second));
    CUstream fresh = NULL;
    saw("elsewhere-create", cu->StreamCreate_v1(&fresh, 0));
    saw("elsewhere-destroy", cu->StreamDestroy_v2(elsewhere));
}

static void after_reset(void)
{
    CUcontext again = NULL;
    CUfunction function = NULL;
    CUstream stream = stream_new();
    CUstream fresh = NULL;
    if (!need("kernel", kernel_get("conformance_fault", &function)))
        return;
    need("launch", kernel_launch(function, stream, NULL));
    saw("synchronize", cu->StreamSynchronize_v1(stream));
    saw("reset", cu->DevicePrimaryCtxReset_v1(the_device));
    saw("retain", cu->DevicePrimaryCtxRetain_v1(&again, the_device));
    saw("set", cu->CtxSetCurrent_v1(again));
    saw("create", cu->StreamCreate_v1(&fresh, 0));
    saw("query-fresh", cu->StreamQuery_v1(fresh));
}

/* A fault in the launch of a graph. */
static void in_graph(void)
{
    CUfunction function = NULL;
    CUgraph graph = NULL;
    CUgraphExec executable = NULL;
    CUstream stream = stream_new();
    if (!need("kernel", kernel_get("conformance_fault", &function)))
        return;
    capture_begin(stream);
    rule("captured-launch", kernel_launch(function, stream, NULL), CUDA_SUCCESS);
    rule("end", cu->StreamEndCapture_v1(stream, &graph), CUDA_SUCCESS);
    rule("instantiate", cu->GraphInstantiateWithFlags_v1(&executable, graph, 0), CUDA_SUCCESS);
    rule("nothing-ran", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    rule("launch", cu->GraphLaunch_v1(executable, stream), CUDA_SUCCESS);
    saw("synchronize", cu->StreamSynchronize_v1(stream));
    saw("launch-again", cu->GraphLaunch_v1(executable, stream));
    saw("exec-destroy", cu->GraphExecDestroy_v1(executable));
    saw("graph-destroy", cu->GraphDestroy_v1(graph));
}

static const struct check checks[] = {
    {"fault.address", illegal_address, CHECK_ALONE, {S(LaunchKernel_v1)}},
    {"fault.trap", trap, CHECK_ALONE, {S(LaunchKernel_v1)}},
    {"fault.other-context", other_context, CHECK_ALONE, {S(LaunchKernel_v1)}},
    {"fault.reset", after_reset, CHECK_ALONE, {S(DevicePrimaryCtxReset_v1)}},
    {"fault.graph", in_graph, CHECK_ALONE, {S(GraphInstantiateWithFlags_v1), S(StreamBeginCapture_v2)}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_fault = {"fault", checks};
