/* SPDX-License-Identifier: MIT */
/* The scenes of the subject failing. */
#include "failing.h"

static CUresult create_primary(void)
{
    struct cushim_context *made = NULL;
    CUresult result = cushim_context_create_primary(0, &made);
    act.wrote = made != NULL;
    cushim_context_destroy(&made);
    return result;
}

static CUresult create_context(void)
{
    struct cushim_context *made = NULL;
    CUresult result = cushim_context_create(0, 0, &made);
    act.wrote = made != NULL;
    cushim_context_destroy(&made);
    return result;
}

static CUresult borrow_context(void)
{
    struct cushim_context *made = NULL;
    CUresult result = cushim_context_borrow(the_context, &made);
    act.wrote = made != NULL;
    cushim_context_destroy(&made);
    return result;
}

static CUresult query_range(void)
{
    int least = 99;
    int greatest = 99;
    CUresult result = cushim_context_priority_range(act.context, &least, &greatest);
    act.wrote = least != 99 || greatest != 99;
    return result;
}

static CUresult create_stream(void)
{
    struct cushim_stream *made = NULL;
    CUresult result = cushim_stream_create(act.context, CU_STREAM_NON_BLOCKING, 0, &made);
    act.wrote = made != NULL;
    cushim_stream_destroy(&made);
    return result;
}

static CUresult borrow_stream(void)
{
    struct cushim_stream *made = NULL;
    CUresult result = cushim_stream_borrow(cushim_stream_handle(act.stream), act.context, &made);
    act.wrote = made != NULL;
    cushim_stream_destroy(&made);
    return result;
}

static CUresult adopt_stream(void)
{
    struct cushim_stream *made = NULL;
    CUstream handle = NULL;
    CUresult result = cushim_stream_adopt(cushim_stream_handle(act.stream), act.context, &made);
    act.wrote = made != NULL;
    if (made != NULL)
        cushim_stream_release(&made, &handle);
    return result;
}

/* All properties of a stream that remembers none of them yet. */
static CUresult ask_stream(void)
{
    struct cushim_stream *made = NULL;
    unsigned flags = 99;
    int priority = 99;
    CUdevice device = 99;
    CUcontext context = NULL;
    CUresult result = cushim_stream_borrow(cushim_stream_handle(act.stream), NULL, &made);
    if (result != CUDA_SUCCESS)
        return result;
    result = cushim_stream_flags(made, &flags);
    act.wrote = result != CUDA_SUCCESS && flags != 99;
    if (result == CUDA_SUCCESS && (result = cushim_stream_priority(made, &priority)) != CUDA_SUCCESS)
        act.wrote = priority != 99;
    if (result == CUDA_SUCCESS && (result = cushim_stream_device(made, &device)) != CUDA_SUCCESS)
        act.wrote = device != 99;
    if (result == CUDA_SUCCESS && (result = cushim_stream_driver_context(made, &context, NULL)) != CUDA_SUCCESS)
        act.wrote = context != NULL;
    if (result == CUDA_SUCCESS)
        act.wrote = true;
    cushim_stream_destroy(&made);
    return result;
}

static CUresult create_event(void)
{
    struct cushim_event *made = NULL;
    CUresult result = cushim_event_create(act.context, CU_EVENT_DISABLE_TIMING, &made);
    act.wrote = made != NULL;
    cushim_event_destroy(&made);
    return result;
}

static CUresult create_graph(void)
{
    struct cushim_graph *made = NULL;
    CUresult result = cushim_graph_create(&made);
    act.wrote = made != NULL;
    cushim_graph_destroy(&made);
    return result;
}

static CUresult instantiate(void)
{
    struct cushim_graph_exec *made = NULL;
    CUresult result = cushim_graph_instantiate(act.graph, act.context, 0, &made);
    act.wrote = made != NULL;
    cushim_graph_exec_destroy(&made);
    return result;
}

static CUresult capture(void)
{
    struct cushim_graph *made = NULL;
    CUresult result = cushim_stream_capture(act.stream, RELAXED, body_adds_work, NULL, &made);
    act.wrote = made != NULL;
    cushim_graph_destroy(&made);
    return result;
}

static CUresult capture_executable(void)
{
    struct cushim_graph_exec *made = NULL;
    CUresult result = cushim_stream_capture_executable(act.stream, RELAXED, 0, body_adds_work, NULL, &made);
    act.wrote = made != NULL;
    cushim_graph_exec_destroy(&made);
    return result;
}

static CUresult begin_and_end(void)
{
    struct cushim_capture *open = NULL;
    struct cushim_graph *made = NULL;
    CUresult result = cushim_capture_begin(act.stream, RELAXED, &open);
    if (result != CUDA_SUCCESS) {
        act.wrote = open != NULL;
        return result;
    }
    result = cushim_capture_end(&open, &made);
    act.wrote = made != NULL;
    cushim_graph_destroy(&made);
    return result;
}

static CUresult begin_and_destroy(void)
{
    struct cushim_stream *made = NULL;
    struct cushim_capture *open = NULL;
    CUresult result = cushim_stream_create(act.context, CU_STREAM_NON_BLOCKING, 0, &made);
    if (result == CUDA_SUCCESS)
        result = cushim_capture_begin(made, RELAXED, &open);
    CUresult destroyed = cushim_stream_close(&made);
    if (open == NULL)
        return result;
    CUresult ended = cushim_capture_end(&open, NULL);
    act.wrote = true;
    /* The capture was lost, as expected; any other code is the failure under test. */
    return destroyed != CUDA_ERROR_STREAM_CAPTURE_INVALIDATED ? destroyed
           : ended != CUDA_ERROR_STREAM_CAPTURE_INVALIDATED   ? ended
                                                              : CUDA_SUCCESS;
}

static CUresult capture_to_graph(void)
{
    struct cushim_graph *graph = NULL;
    CUresult result = cushim_graph_create(&graph);
    if (result == CUDA_SUCCESS)
        result = cushim_stream_capture_to_graph(act.stream, graph, NULL, NULL, 0, RELAXED, body_adds_work, NULL);
    cushim_graph_destroy(&graph);
    act.wrote = result == CUDA_SUCCESS;
    return result;
}

static CUresult ask_capture(void)
{
    struct cushim_capture_info info = {.valid = 99};
    struct cushim_capture_info *copy = NULL;
    CUresult result = cushim_stream_capture_info(act.stream, NULL, NULL, 0, &info);
    act.wrote = result == CUDA_SUCCESS || info.valid != 99;
    if (result != CUDA_SUCCESS)
        return result;
    result = cushim_stream_capture_info_copy(act.stream, &copy);
    act.wrote = copy != NULL;
    cushim_capture_info_destroy(&copy);
    return result;
}

static void CUDA_CB do_nothing(void *user)
{
    (void)user;
}

static void CUDA_CB do_nothing_back(CUstream stream, CUresult status, void *user)
{
    (void)stream;
    (void)status;
    (void)user;
}

static CUresult launch_host(void)
{
    act.releasing = true;
    CUresult result = cushim_stream_launch_host(act.stream, do_nothing, &act.releases, count_release);
    act.wrote = result == CUDA_SUCCESS;
    return result;
}

static CUresult add_callback(void)
{
    act.releasing = true;
    CUresult result = cushim_stream_add_callback(act.stream, do_nothing_back, &act.releases, count_release);
    act.wrote = result == CUDA_SUCCESS;
    return result;
}

static CUresult body_gives_away(struct cushim_stream *stream, void *user)
{
    (void)user;
    act.releasing = true;
    return cushim_stream_launch_host(stream, do_nothing, &act.releases, count_release);
}

static CUresult capture_host(void)
{
    struct cushim_graph *made = NULL;
    CUresult result = cushim_stream_capture(act.stream, RELAXED, body_gives_away, NULL, &made);
    act.wrote = made != NULL;
    cushim_graph_destroy(&made);
    return result;
}

const struct named_scene scenes[] = {
    {"create-primary", create_primary, true, S(DevicePrimaryCtxRetain_v1)},
    {"create-context", create_context, true, 0},
    {"borrow-context", borrow_context, true, 0},
    {"query-range", query_range, true, 0},
    {"create-stream", create_stream, true, 0},
    {"borrow-stream", borrow_stream, false, 0},
    {"adopt-stream", adopt_stream, false, 0},
    {"ask-stream", ask_stream, true, S(StreamGetCtx_v2)},
    {"create-event", create_event, true, 0},
    {"create-graph", create_graph, true, S(GraphCreate_v1)},
    {"instantiate", instantiate, true, S(GraphCreate_v1)},
    {"capture", capture, true, S(StreamBeginCapture_v2)},
    {"capture-executable", capture_executable, true, S(StreamBeginCapture_v2)},
    {"begin-and-end", begin_and_end, true, S(StreamBeginCapture_v2)},
    {"begin-and-destroy", begin_and_destroy, true, S(StreamBeginCapture_v2)},
    {"capture-to-graph", capture_to_graph, true, S(StreamBeginCaptureToGraph_v1)},
    {"ask-capture", ask_capture, true, 0},
    {"launch-host", launch_host, true, 0},
    {"add-callback", add_callback, true, 0},
    {"capture-host", capture_host, true, S(UserObjectCreate_v1)},
    {NULL, NULL, false, 0},
};
