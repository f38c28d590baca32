/* SPDX-License-Identifier: MIT */
/* On a machine without a driver, every function of the layer can be called, returns CUDA_ERROR_NO_DEVICE or an error of
 * its arguments, and writes no result. */
#include <stdio.h>

#include "cushim/cushim.h"

static int failures;

static void expect(const char *what, CUresult result, CUresult expected)
{
    if (result == expected && (expected == CUDA_SUCCESS || cushim_error_last()->code == expected))
        return;
    printf("%s: %d, expected %d\n", what, (int)result, (int)expected);
    failures++;
}

static void expect_none(const char *what, CUresult result)
{
    expect(what, result, CUDA_ERROR_NO_DEVICE);
}

static void expect_fact(const char *what, bool is)
{
    if (is)
        return;
    printf("this is not true: %s\n", what);
    failures++;
}

static int released;

static void release(void *user)
{
    released++;
}

static void CUDA_CB never(void *user)
{
    expect_fact((const char *)user, false);
}

static void CUDA_CB never_back(CUstream stream, CUresult status, void *user)
{
    never(user);
}

static CUresult body(struct cushim_stream *stream, void *user)
{
    ++*(int *)user;
    return CUDA_SUCCESS;
}

/* An invalid handle: without a driver nothing reads what it points to. */
static struct cushim_stream *invalid_stream(void)
{
    struct cushim_stream *stream = NULL;
    expect("cushim_stream_borrow", cushim_stream_borrow((CUstream)(size_t)0x100, NULL, &stream), CUDA_SUCCESS);
    return stream;
}

static void contexts(void)
{
    struct cushim_context *context = NULL;
    expect("cushim_context_create_primary", cushim_context_create_primary(0, &context), CUDA_ERROR_FILE_NOT_FOUND);
    expect("cushim_context_create", cushim_context_create(0, 0, &context), CUDA_ERROR_FILE_NOT_FOUND);
    expect("cushim_context_create_preferred", cushim_context_create_preferred(0, 0, &context),
           CUDA_ERROR_FILE_NOT_FOUND);
    expect_none("cushim_context_borrow", cushim_context_borrow((CUcontext)(size_t)0x100, &context));
    expect_none("cushim_context_borrow_green", cushim_context_borrow_green((CUgreenCtx)(size_t)0x100, &context));
    expect_fact("nothing was written", context == NULL);
    expect("no output", cushim_context_borrow_green((CUgreenCtx)(size_t)0x100, NULL), CUDA_ERROR_INVALID_VALUE);
}

static void questions(struct cushim_stream *stream)
{
    unsigned flags;
    int priority;
    CUdevice device;
    unsigned long long id;
    CUcontext context;
    CUlaunchAttributeValue value = {{0}};
    expect_none("cushim_stream_get_flags", cushim_stream_get_flags(stream, &flags));
    expect_none("cushim_stream_get_priority", cushim_stream_get_priority(stream, &priority));
    expect_none("cushim_stream_get_device", cushim_stream_get_device(stream, &device));
    expect_none("cushim_stream_get_id", cushim_stream_get_id(stream, &id));
    expect("cushim_stream_get_id", cushim_stream_get_id(NULL, &id), CUDA_ERROR_INVALID_HANDLE);
    expect_none("cushim_stream_get_driver_context", cushim_stream_get_driver_context(stream, &context, NULL));
    expect_none("cushim_stream_get_attribute",
                cushim_stream_get_attribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    expect_none("cushim_stream_set_attribute",
                cushim_stream_set_attribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    expect_none("cushim_stream_copy_attributes", cushim_stream_copy_attributes(stream, stream));
}

static void work(struct cushim_stream *stream)
{
    CUstreamBatchMemOpParams op = {CU_STREAM_MEM_OP_WRITE_VALUE_32};
    int calls = 0;
    expect_none("cushim_stream_query", cushim_stream_query(stream));
    expect_none("cushim_stream_synchronize", cushim_stream_synchronize(stream));
    expect_none("cushim_stream_run", cushim_stream_run(stream, body, &calls));
    expect_fact("the body was called once", calls == 1);
    expect_none("cushim_stream_launch_host", cushim_stream_launch_host(stream, never, "not called", release));
    expect_none("cushim_stream_add_callback", cushim_stream_add_callback(stream, never_back, "not called", release));
    expect_fact("both were released", released == 2);
    expect_none("cushim_stream_attach_memory", cushim_stream_attach_memory(stream, 0, 0, CU_MEM_ATTACH_GLOBAL));
    expect_none("cushim_stream_wait_value32", cushim_stream_wait_value32(stream, 0, 0, 0));
    expect_none("cushim_stream_wait_value64", cushim_stream_wait_value64(stream, 0, 0, 0));
    expect_none("cushim_stream_write_value32", cushim_stream_write_value32(stream, 0, 0, 0));
    expect_none("cushim_stream_write_value64", cushim_stream_write_value64(stream, 0, 0, 0));
    expect_none("cushim_stream_batch_memory_ops", cushim_stream_batch_memory_ops(stream, 1, &op, 0));
}

static void events(struct cushim_stream *stream)
{
    struct cushim_event *event = NULL;
    float time;
    expect("cushim_event_borrow", cushim_event_borrow((CUevent)(size_t)0x100, NULL, &event), CUDA_SUCCESS);
    expect_none("cushim_event_record", cushim_event_record(event, stream, 0));
    expect_none("cushim_event_query", cushim_event_query(event));
    expect_none("cushim_event_synchronize", cushim_event_synchronize(event));
    expect_none("cushim_event_elapsed", cushim_event_elapsed(event, event, &time));
    expect_none("cushim_stream_wait_event", cushim_stream_wait_event(stream, event, 0));
    expect("cushim_event_destroy", cushim_event_destroy(&event), CUDA_SUCCESS);
}

static void captures(struct cushim_stream *stream)
{
    struct cushim_graph *graph = NULL;
    struct cushim_graph *borrowed = NULL;
    struct cushim_graph_exec *exec = NULL;
    struct cushim_capture *capture = NULL;
    struct cushim_capture_info info;
    struct cushim_capture_info *copy = NULL;
    CUstreamCaptureStatus status;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    int calls = 0;
    expect_none("cushim_graph_create", cushim_graph_create(&graph));
    expect("cushim_graph_borrow", cushim_graph_borrow((CUgraph)(size_t)0x100, &borrowed), CUDA_SUCCESS);
    expect_none("cushim_graph_instantiate", cushim_graph_instantiate(borrowed, NULL, 0, &exec));
    expect_none("cushim_stream_capture", cushim_stream_capture(stream, mode, body, &calls, &graph));
    expect_none("cushim_stream_capture_executable",
                cushim_stream_capture_executable(stream, mode, 0, body, &calls, &exec));
    expect_none("cushim_stream_capture_to_graph",
                cushim_stream_capture_to_graph(stream, borrowed, NULL, NULL, 0, mode, body, &calls));
    expect_none("cushim_capture_begin", cushim_capture_begin(stream, mode, &capture));
    expect_none("cushim_stream_get_capture_status", cushim_stream_get_capture_status(stream, &status));
    expect_none("cushim_stream_get_capture_info", cushim_stream_get_capture_info(stream, NULL, NULL, 0, &info));
    expect_none("cushim_capture_info_create", cushim_capture_info_create(stream, &copy));
    expect_none("cushim_stream_update_capture_dependencies",
                cushim_stream_update_capture_dependencies(stream, NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    expect_none("cushim_capture_mode_exchange", cushim_capture_mode_exchange(&mode));
    expect_fact("the body was not called", calls == 0);
    expect_fact("nothing was written", graph == NULL && exec == NULL && capture == NULL && copy == NULL);
    expect("cushim_graph_destroy", cushim_graph_destroy(&borrowed), CUDA_SUCCESS);
}

int main(void)
{
    struct cushim_stream *stream;
    struct cushim_stream *adopted = NULL;
    (void)cushim_load(&(struct cushim_load_options){.path = "none"});
    contexts();
    stream = invalid_stream();
    questions(stream);
    work(stream);
    events(stream);
    captures(stream);
    expect("cushim_dispatcher_run", cushim_dispatcher_run(NULL, 0, NULL), CUDA_ERROR_INVALID_HANDLE);
    expect_none("cushim_stream_close", cushim_stream_close(&stream));
    expect("cushim_stream_adopt", cushim_stream_adopt((CUstream)(size_t)0x100, NULL, &adopted), CUDA_SUCCESS);
    expect_none("cushim_stream_destroy", cushim_stream_destroy(&adopted));
    return failures != 0;
}
