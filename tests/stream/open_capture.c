/* SPDX-License-Identifier: MIT */
/* Open captures: which thread may end one, and what happens if its stream is destroyed. */
#include "support.h"

CHECK(ended, "open_capture.ended", .needs = {S(StreamBeginCapture_v2)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_capture *capture = NULL;
    struct cushim_graph *graph = NULL;
    watch_begin();
    expect_success("begin", cushim_capture_begin(stream, RELAXED, &capture));
    expect_status("status", stream, "active");
    expect_success("work", body_adds_work(stream, NULL));
    expect_success("end", cushim_capture_end(&capture, &graph));
    expect_true("gone", capture == NULL);
    expect_number("nodes", graph_nodes(cushim_graph_handle(graph)), 1);
    expect_status("status-after", stream, "none");
    expect_error("end-again", cushim_capture_end(&capture, &graph), CUDA_ERROR_INVALID_HANDLE);
    expect_error("end-null", cushim_capture_end(NULL, &graph), CUDA_ERROR_INVALID_HANDLE);
    expect_true("graph-stays", graph != NULL);
    cushim_graph_destroy(&graph);
    expect_success("begin-for-nothing", cushim_capture_begin(stream, RELAXED, &capture));
    expect_success("end-for-nothing", cushim_capture_end(&capture, NULL));
    expect_number("alive", watch_alive(), 0);
    watch_end();
}

CHECK(argument, "open_capture.argument", .needs = {S(StreamBeginCapture_v2)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_capture *capture = NULL;
    struct cushim_capture *second = NULL;
    expect_error("null-stream", cushim_capture_begin(NULL, RELAXED, &capture), CUDA_ERROR_INVALID_HANDLE);
    expect_error("null-output", cushim_capture_begin(stream, RELAXED, NULL), CUDA_ERROR_INVALID_VALUE);
    expect_error("no-mode", cushim_capture_begin(stream, (CUstreamCaptureMode)-1, &capture), CUDA_ERROR_INVALID_VALUE);
    require("begin", cushim_capture_begin(stream, RELAXED, &capture));
    expect_driver_error("capturing-already", cushim_capture_begin(stream, RELAXED, &second), CUDA_ERROR_ILLEGAL_STATE);
    expect_true("untouched", second == NULL);
    expect_capture_ends(stream, &capture);
}

CHECK(invalidated, "open_capture.invalidated", .needs = {S(StreamBeginCapture_v2)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_graph *graph = NULL;
    struct cushim_capture *capture = test_capture_begin(stream, RELAXED);
    expect_driver_error("query", cushim_stream_query(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    expect_driver_error("end", cushim_capture_end(&capture, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    expect_true("gone", capture == NULL && graph == NULL);
    expect_success("usable", cushim_stream_query(stream));
}

/* Two capture objects for one stream: the capture of the first was ended through the driver, and the second is another
 * capture. */
CHECK(replaced, "open_capture.replaced", .needs = {S(StreamBeginCapture_v2)})
{
    struct cushim_stream *stream = test_stream_new();
    struct cushim_capture *second = NULL;
    struct cushim_capture *third = NULL;
    struct cushim_graph *graph = NULL;
    struct cushim_capture *first = test_capture_begin(stream, RELAXED);
    require("end-at-driver", capture_end(cushim_stream_handle(stream)));
    require("begin-second", cushim_capture_begin(stream, RELAXED, &second));
    expect_error("end-first", cushim_capture_end(&first, &graph), CUDA_ERROR_ILLEGAL_STATE);
    expect_true("first-is-gone", first == NULL && graph == NULL);
    expect_status("second-survives", stream, "active");
    require("end-second-at-driver", capture_end(cushim_stream_handle(stream)));
    require("begin-third", cushim_capture_begin(stream, RELAXED, &third));
    expect_success("end-third", cushim_capture_end(&third, NULL));
    expect_success("destroy", cushim_stream_destroy(&stream));
    expect_error("end-second-of-no-stream", cushim_capture_end(&second, &graph), CUDA_ERROR_ILLEGAL_STATE);
}

struct errand {
    struct cushim_capture **capture;
    CUresult result;
};

static void end_there(void *user)
{
    struct errand *errand = user;
    errand->result = cushim_capture_end(errand->capture, NULL);
}

static void other_thread_in(CUstreamCaptureMode mode)
{
    const char *name = mode_names[mode];
    struct cushim_stream *stream = fixture_stream();
    struct cushim_capture *capture = NULL;
    struct errand errand = {&capture, CUDA_SUCCESS};
    bool may = mode == CU_STREAM_CAPTURE_MODE_RELAXED;
    require("begin", cushim_capture_begin(stream, mode, &capture));
    on_thread(end_there, &errand);
    expect(key_of(name, "end-there", NULL), errand.result, may ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    expect_true(key_of(name, "ended", NULL), (capture == NULL) == may);
    expect_status(key_of(name, "status", NULL), stream, may ? "none" : "active");
    if (!may)
        expect_success(key_of(name, "end-here", NULL), cushim_capture_end(&capture, NULL));
}

CHECK(other_thread_relaxed, "open_capture.other-thread-relaxed", .needs = {S(StreamBeginCapture_v2)})
{
    other_thread_in(CU_STREAM_CAPTURE_MODE_RELAXED);
}

CHECK(other_thread, "open_capture.other-thread", .needs = {S(ThreadExchangeStreamCaptureMode_v1)})
{
    other_thread_in(CU_STREAM_CAPTURE_MODE_GLOBAL);
    other_thread_in(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
}

/* In another thread, the per-thread handle means another stream, so even a relaxed capture must be ended by the thread
 * that began it. */
CHECK(other_thread_special, "open_capture.other-thread-special", .needs = {S(StreamBeginCapture_v2)})
{
    struct cushim_capture *capture = NULL;
    struct errand errand = {&capture, CUDA_SUCCESS};
    struct cushim_stream *stream = fixture_borrowed(CU_STREAM_PER_THREAD);
    require("begin", cushim_capture_begin(stream, RELAXED, &capture));
    on_thread(end_there, &errand);
    expect("end-there", errand.result, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    expect_status("survives", stream, "active");
    expect_success("end-here", cushim_capture_end(&capture, NULL));
}

static void capture_there(void *user)
{
    struct cushim_capture *capture = NULL;
    struct cushim_stream *stream = user;
    expect_success("begin-there", cushim_capture_begin(stream, RELAXED, &capture));
    expect_success("end-there", cushim_capture_end(&capture, NULL));
}

/* Two threads use one object for their per-thread streams, and each has its own capture. */
CHECK(special_shared, "open_capture.special-shared", .needs = {S(StreamBeginCapture_v2)})
{
    struct cushim_graph *graph = NULL;
    struct cushim_stream *stream = fixture_borrowed(CU_STREAM_PER_THREAD);
    struct cushim_capture *capture = test_capture_begin(stream, RELAXED);
    on_thread(capture_there, stream);
    expect_status("survives", stream, "active");
    expect_success("end-here", cushim_capture_end(&capture, &graph));
    expect_true("graph", graph != NULL);
    cushim_graph_destroy(&graph);
}

static void expect_lost(const char *name, struct cushim_capture **capture)
{
    struct cushim_graph *graph = NULL;
    expect_error(key_of(name, "end", NULL), cushim_capture_end(capture, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    expect_true(key_of(name, "token-is-gone", NULL), *capture == NULL && graph == NULL);
}

/* Another thread ends its own capture; the capture of this thread still belongs to the object. */
CHECK(special_shared_destroyed, "open_capture.special-shared-destroyed", .needs = {S(StreamBeginCapture_v2)})
{
    struct cushim_stream *stream = NULL;
    CUstream handle = NULL;
    require("borrow", cushim_stream_borrow(CU_STREAM_PER_THREAD, NULL, &stream));
    struct cushim_capture *capture = test_capture_begin(stream, RELAXED);
    on_thread(capture_there, stream);
    expect_error("release", cushim_stream_release(&stream, &handle), CUDA_ERROR_ILLEGAL_STATE);
    expect_success("destroy", cushim_stream_destroy(&stream));
    expect_true("ended", capture_status(CU_STREAM_PER_THREAD)[0] == 'n');
    expect_lost("destroyed", &capture);
}

/* Two objects for one stream: the capture of the first was ended through the driver, and that of the second was
 * invalidated, in which state the driver reports no id. */
CHECK(special_replaced, "open_capture.special-replaced", .needs = {S(StreamBeginCapture_v2)})
{
    struct cushim_capture *later = NULL;
    struct cushim_stream *first = fixture_borrowed(CU_STREAM_PER_THREAD);
    struct cushim_stream *second = fixture_borrowed(CU_STREAM_PER_THREAD);
    struct cushim_capture *capture = test_capture_begin(first, RELAXED);
    require("end-at-driver", capture_end(CU_STREAM_PER_THREAD));
    require("begin-later", cushim_capture_begin(second, RELAXED, &later));
    expect_driver_error("query", cushim_stream_query(second), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    expect_error("end", cushim_capture_end(&capture, NULL), CUDA_ERROR_ILLEGAL_STATE);
    expect_status("later-stays", second, "invalidated");
    expect_driver_error("end-later", cushim_capture_end(&later, NULL), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static struct cushim_context *other_context_new(void)
{
    struct cushim_context *context = NULL;
    if (expect_success("create-other-context", cushim_context_create(the_ordinal, 0, &context)))
        require("set-other-current", cu->CtxSetCurrent_v1(cushim_context_handle(context)));
    return context;
}

static CUresult body_changes_context(struct cushim_stream *stream, void *user)
{
    CUresult result = body_adds_work(stream, NULL);
    return result != CUDA_SUCCESS ? result : cu->CtxSetCurrent_v1(cushim_context_handle(user));
}

/* In another context, too, the per-thread handle means another stream. The capture ends in the context in which it
 * began. */
CHECK(other_context_special, "open_capture.other-context-special", .needs = {S(StreamBeginCapture_v2)})
{
    struct cushim_stream *stream = NULL;
    struct cushim_graph *graph = NULL;
    require("borrow", cushim_stream_borrow(CU_STREAM_PER_THREAD, NULL, &stream));
    struct cushim_capture *capture = test_capture_begin(stream, RELAXED);
    require("work", body_adds_work(stream, NULL));
    struct cushim_context *other = other_context_new();
    expect_success("end", cushim_capture_end(&capture, &graph));
    expect_current("current-stays", cushim_context_handle(other));
    expect_number("nodes", graph_nodes(cushim_graph_handle(graph)), 1);
    cushim_graph_destroy(&graph);
    require("set-current", cu->CtxSetCurrent_v1(the_context));
    expect_status("after-end", stream, "none");
    expect_success("scoped", cushim_stream_capture(stream, RELAXED, body_changes_context, other, &graph));
    expect_current("current-is-that-of-the-body", cushim_context_handle(other));
    cushim_graph_destroy(&graph);
    require("set-current-again", cu->CtxSetCurrent_v1(the_context));
    expect_status("after-scoped", stream, "none");
    require("begin-again", cushim_capture_begin(stream, RELAXED, &capture));
    require("set-none-current", cu->CtxSetCurrent_v1(NULL));
    expect_success("destroy", cushim_stream_destroy(&stream));
    expect_current("none-stays", NULL);
    expect_lost("destroyed", &capture);
    require("set-current-at-last", cu->CtxSetCurrent_v1(the_context));
    expect_true("after-destroy", capture_status(CU_STREAM_PER_THREAD)[0] == 'n');
    expect_success("destroy-other-context", cushim_context_destroy(&other));
}

CHECK(stream_destroyed, "open_capture.stream-destroyed", .needs = {S(StreamBeginCapture_v2)})
{
    struct cushim_stream *stream = test_stream_new();
    CUstream handle = NULL;
    watch_begin();
    struct cushim_capture *capture = test_capture_begin(stream, RELAXED);
    require("work", body_adds_work(stream, NULL));
    expect_error("release", cushim_stream_release(&stream, &handle), CUDA_ERROR_ILLEGAL_STATE);
    expect_true("release-did-nothing", stream != NULL && handle == NULL);
    expect_status("survives", stream, "active");
    expect_success("destroy", cushim_stream_destroy(&stream));
    expect_lost("destroyed", &capture);
    expect_number("graphs", watch_objects.graphs, 0);
    expect_number("captures", watch_objects.captures, 0);
    watch_end();
}

CHECK(stream_closed, "open_capture.stream-closed", .needs = {S(StreamBeginCapture_v2)})
{
    struct cushim_stream *stream = test_stream_new();
    watch_begin();
    struct cushim_capture *capture = test_capture_begin(stream, RELAXED);
    expect_error("close", cushim_stream_close(&stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    expect_true("gone", stream == NULL);
    expect_number("destroyed", watch_calls_of(S(StreamDestroy_v2)), 1);
    expect_lost("closed", &capture);
    expect_number("graphs", watch_objects.graphs, 0);
    watch_end();
}

/* A borrowed stream stays usable after its object was destroyed. */
CHECK(borrowed_destroyed, "open_capture.borrowed-destroyed", .needs = {S(StreamBeginCapture_v2)})
{
    struct cushim_stream *stream = NULL;
    CUstream handle = stream_new();
    require("borrow", cushim_stream_borrow(handle, NULL, &stream));
    struct cushim_capture *capture = test_capture_begin(stream, RELAXED);
    expect_success("destroy", cushim_stream_destroy(&stream));
    observe_text("status", capture_status(handle));
    expect_lost("borrowed", &capture);
    expect_success("usable", cu->StreamSynchronize_v1(handle));
}

/* Destroying a borrowed object does not end a capture that functions of the driver began. */
/* recognised by its id */
CHECK(borrowed_other_capture, "open_capture.borrowed-other-capture", .needs = {S(ThreadExchangeStreamCaptureMode_v1)})
{
    struct cushim_stream *stream = NULL;
    CUstream handle = stream_new();
    require("borrow", cushim_stream_borrow(handle, NULL, &stream));
    struct cushim_capture *capture = test_capture_begin(stream, RELAXED);
    require("end-at-driver", capture_end(handle));
    require("begin-at-driver", capture_begin(handle));
    expect_success("destroy", cushim_stream_destroy(&stream));
    expect_true("survives", capture_status(handle)[0] == 'a');
    expect_error("end", cushim_capture_end(&capture, NULL), CUDA_ERROR_ILLEGAL_STATE);
    expect_success("end-at-driver", capture_end(handle));
}

struct open_capture {
    struct cushim_capture *capture;
    struct cushim_stream *stream;
};

static void begin_there(void *user)
{
    struct open_capture *open = user;
    open->stream = test_stream_new();
    expect_success("begin-there", cushim_capture_begin(open->stream, CU_STREAM_CAPTURE_MODE_GLOBAL, &open->capture));
}

/* Another thread began the capture and has ended; this thread destroys the stream. */
CHECK(destroyed_elsewhere, "open_capture.destroyed-elsewhere", .needs = {S(ThreadExchangeStreamCaptureMode_v1)})
{
    struct open_capture open = {NULL, NULL};
    on_thread(begin_there, &open);
    expect_success("destroy", cushim_stream_destroy(&open.stream));
    expect_lost("elsewhere", &open.capture);
}
