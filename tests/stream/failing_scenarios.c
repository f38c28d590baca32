/* SPDX-License-Identifier: MIT */
/* The scenarios of the subject failing. */
#include "failing.h"

/* A scenario that creates an object with one call, which writes `made`. */
#define CREATES(name, type, destroy, ...)                                                                              \
    static CUresult name(void)                                                                                         \
    {                                                                                                                  \
        struct type *made = NULL;                                                                                      \
        CUresult result = __VA_ARGS__;                                                                                 \
        attempt.wrote = made != NULL;                                                                                  \
        destroy(&made);                                                                                                \
        return result;                                                                                                 \
    }
CREATES(create_primary, cushim_context, cushim_context_destroy, cushim_context_create_primary(the_ordinal, &made))
CREATES(create_context, cushim_context, cushim_context_destroy, cushim_context_create(the_ordinal, 0, &made))
CREATES(borrow_context, cushim_context, cushim_context_destroy, cushim_context_borrow(the_context, &made))
CREATES(create_stream, cushim_stream, cushim_stream_destroy,
        cushim_stream_create(attempt.context, CU_STREAM_NON_BLOCKING, 0, &made))
CREATES(borrow_stream, cushim_stream, cushim_stream_destroy,
        cushim_stream_borrow(cushim_stream_handle(attempt.stream), attempt.context, &made))
CREATES(create_event, cushim_event, cushim_event_destroy,
        cushim_event_create(attempt.context, CU_EVENT_DISABLE_TIMING, &made))
CREATES(create_graph, cushim_graph, cushim_graph_destroy, cushim_graph_create(&made))
CREATES(instantiate, cushim_graph_exec, cushim_graph_exec_destroy,
        cushim_graph_instantiate(attempt.graph, attempt.context, 0, &made))
CREATES(capture, cushim_graph, cushim_graph_destroy,
        cushim_stream_capture(attempt.stream, RELAXED, body_adds_work, NULL, &made))
CREATES(capture_executable, cushim_graph_exec, cushim_graph_exec_destroy,
        cushim_stream_capture_executable(attempt.stream, RELAXED, 0, body_adds_work, NULL, &made))

static CUresult query_range(void)
{
    int least = 99;
    int greatest = 99;
    CUresult result = cushim_context_get_priority_range(attempt.context, &least, &greatest);
    attempt.wrote = least != 99 || greatest != 99;
    return result;
}

static CUresult adopt_stream(void)
{
    struct cushim_stream *made = NULL;
    CUstream handle = NULL;
    CUresult result = cushim_stream_adopt(cushim_stream_handle(attempt.stream), attempt.context, &made);
    attempt.wrote = made != NULL;
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
    CUresult result = cushim_stream_borrow(cushim_stream_handle(attempt.stream), NULL, &made);
    if (result != CUDA_SUCCESS)
        return result;
    result = cushim_stream_get_flags(made, &flags);
    attempt.wrote = result != CUDA_SUCCESS && flags != 99;
    if (result == CUDA_SUCCESS && (result = cushim_stream_get_priority(made, &priority)) != CUDA_SUCCESS)
        attempt.wrote = priority != 99;
    if (result == CUDA_SUCCESS && (result = cushim_stream_get_device(made, &device)) != CUDA_SUCCESS)
        attempt.wrote = device != 99;
    if (result == CUDA_SUCCESS && (result = cushim_stream_get_driver_context(made, &context, NULL)) != CUDA_SUCCESS)
        attempt.wrote = context != NULL;
    if (result == CUDA_SUCCESS)
        attempt.wrote = true;
    cushim_stream_destroy(&made);
    return result;
}

static CUresult begin_and_end(void)
{
    struct cushim_capture *open = NULL;
    struct cushim_graph *made = NULL;
    CUresult result = cushim_capture_begin(attempt.stream, RELAXED, &open);
    if (result != CUDA_SUCCESS) {
        attempt.wrote = open != NULL;
        return result;
    }
    result = cushim_capture_end(&open, &made);
    attempt.wrote = made != NULL;
    cushim_graph_destroy(&made);
    return result;
}

static CUresult begin_and_destroy(void)
{
    struct cushim_stream *made = NULL;
    struct cushim_capture *open = NULL;
    CUresult result = cushim_stream_create(attempt.context, CU_STREAM_NON_BLOCKING, 0, &made);
    if (result == CUDA_SUCCESS)
        result = cushim_capture_begin(made, RELAXED, &open);
    CUresult destroyed = cushim_stream_close(&made);
    if (open == NULL)
        return result;
    CUresult ended = cushim_capture_end(&open, NULL);
    attempt.wrote = true;
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
        result = cushim_stream_capture_to_graph(attempt.stream, graph, NULL, NULL, 0, RELAXED, body_adds_work, NULL);
    cushim_graph_destroy(&graph);
    attempt.wrote = result == CUDA_SUCCESS;
    return result;
}

static CUresult ask_capture(void)
{
    struct cushim_capture_info info = {.valid = 99};
    struct cushim_capture_info *copy = NULL;
    CUresult result = cushim_stream_get_capture_info(attempt.stream, NULL, NULL, 0, &info);
    attempt.wrote = result == CUDA_SUCCESS || info.valid != 99;
    if (result != CUDA_SUCCESS)
        return result;
    result = cushim_capture_info_create(attempt.stream, &copy);
    attempt.wrote = copy != NULL;
    cushim_capture_info_destroy(&copy);
    return result;
}

static void CUDA_CB do_nothing(void *user)
{
}

static void CUDA_CB do_nothing_back(CUstream stream, CUresult status, void *user)
{
}

static CUresult launch_host(void)
{
    attempt.releasing = true;
    CUresult result = cushim_stream_launch_host(attempt.stream, do_nothing, &attempt.releases, count_release);
    attempt.wrote = result == CUDA_SUCCESS;
    return result;
}

static CUresult add_callback(void)
{
    attempt.releasing = true;
    CUresult result = cushim_stream_add_callback(attempt.stream, do_nothing_back, &attempt.releases, count_release);
    attempt.wrote = result == CUDA_SUCCESS;
    return result;
}

static CUresult body_gives_away(struct cushim_stream *stream, void *user)
{
    attempt.releasing = true;
    return cushim_stream_launch_host(stream, do_nothing, &attempt.releases, count_release);
}

CREATES(capture_host, cushim_graph, cushim_graph_destroy,
        cushim_stream_capture(attempt.stream, RELAXED, body_gives_away, NULL, &made))

static void ignore_status(CUresult status, void *user)
{
}

static CUresult body_creates_completion(struct cushim_stream *stream, void *user)
{
    struct cushim_completion *completion = NULL;
    CUresult result = cushim_completion_create_captured(stream, &completion);
    attempt.releasing = result == CUDA_SUCCESS;
    if (result == CUDA_SUCCESS)
        result = cushim_completion_set_inline_callback(completion, ignore_status, &attempt.releases, count_release);
    cushim_completion_destroy(&completion);
    return result;
}

CREATES(capture_completion, cushim_graph, cushim_graph_destroy,
        cushim_stream_capture(attempt.stream, RELAXED, body_creates_completion, NULL, &made))

static CUresult wait_for(void)
{
    CUresult result = cushim_stream_wait_for(attempt.stream, attempt.stream);
    attempt.wrote = result == CUDA_SUCCESS;
    return result;
}

const struct scenario scenarios[] = {
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
    {"wait-for", wait_for, true, 0},
    {"launch-host", launch_host, true, 0},
    {"add-callback", add_callback, true, 0},
    {"capture-host", capture_host, true, S(UserObjectCreate_v1)},
    {"capture-completion", capture_completion, true, S(UserObjectCreate_v1)},
    {NULL, NULL, false, 0},
};
