/* SPDX-License-Identifier: MIT */
/* Open captures: which thread may end one, and what happens if its stream is destroyed. */
#include "support.h"

static void ended(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_capture *capture = NULL;
    struct cushim_graph *graph = NULL;
    watch_begin();
    done("begin", cushim_capture_begin(stream, RELAXED, &capture));
    rule_status("status", stream, "active");
    done("work", body_adds_work(stream, NULL));
    done("end", cushim_capture_end(&capture, &graph));
    rule_fact("gone", capture == NULL);
    rule_number("nodes", node_count(cushim_graph_handle(graph)), 1);
    rule_status("status-after", stream, "none");
    refused("end-again", cushim_capture_end(&capture, &graph), CUDA_ERROR_INVALID_HANDLE, "cushim_capture_end");
    refused("end-null", cushim_capture_end(NULL, &graph), CUDA_ERROR_INVALID_HANDLE, "cushim_capture_end");
    rule_fact("graph-stays", graph != NULL);
    cushim_graph_destroy(&graph);
    done("begin-for-nothing", cushim_capture_begin(stream, RELAXED, &capture));
    done("end-for-nothing", cushim_capture_end(&capture, NULL));
    rule_number("alive", watch_alive(), 0);
    watch_end();
    layer_stream_end(stream);
}

static void argument(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_capture *capture = NULL;
    struct cushim_capture *second = NULL;
    refused("null-stream", cushim_capture_begin(NULL, RELAXED, &capture), CUDA_ERROR_INVALID_HANDLE,
            "cushim_capture_begin");
    refused("null-output", cushim_capture_begin(stream, RELAXED, NULL), CUDA_ERROR_INVALID_VALUE,
            "cushim_capture_begin");
    refused("no-mode", cushim_capture_begin(stream, (CUstreamCaptureMode)-1, &capture), CUDA_ERROR_INVALID_VALUE,
            "cushim_capture_begin");
    need("begin", cushim_capture_begin(stream, RELAXED, &capture));
    passed_on("capturing-already", cushim_capture_begin(stream, RELAXED, &second), CUDA_ERROR_ILLEGAL_STATE);
    rule_fact("untouched", second == NULL);
    rule_status("survives", stream, "active");
    done("end", cushim_capture_end(&capture, NULL));
    layer_stream_end(stream);
}

static void invalidated(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_capture *capture = NULL;
    struct cushim_graph *graph = NULL;
    need("begin", cushim_capture_begin(stream, RELAXED, &capture));
    passed_on("query", cushim_stream_query(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    passed_on("end", cushim_capture_end(&capture, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    rule_fact("gone", capture == NULL && graph == NULL);
    done("usable", cushim_stream_query(stream));
    layer_stream_end(stream);
}

/* Two capture objects for one stream: the capture of the first was ended through the driver, and the second is another
 * capture. */
static void replaced(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_capture *first = NULL;
    struct cushim_capture *second = NULL;
    struct cushim_capture *third = NULL;
    struct cushim_graph *graph = NULL;
    need("begin", cushim_capture_begin(stream, RELAXED, &first));
    need("end-at-driver", capture_end(cushim_stream_handle(stream)));
    need("begin-second", cushim_capture_begin(stream, RELAXED, &second));
    refused("end-first", cushim_capture_end(&first, &graph), CUDA_ERROR_ILLEGAL_STATE, "cushim_capture_end");
    rule_fact("first-is-gone", first == NULL && graph == NULL);
    rule_status("second-survives", stream, "active");
    need("end-second-at-driver", capture_end(cushim_stream_handle(stream)));
    need("begin-third", cushim_capture_begin(stream, RELAXED, &third));
    done("end-third", cushim_capture_end(&third, NULL));
    done("destroy", cushim_stream_destroy(&stream));
    refused("end-second-of-no-stream", cushim_capture_end(&second, &graph), CUDA_ERROR_ILLEGAL_STATE,
            "cushim_capture_end");
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
    struct cushim_stream *stream = layer_stream();
    struct cushim_capture *capture = NULL;
    struct errand errand = {&capture, CUDA_SUCCESS};
    bool may = mode == CU_STREAM_CAPTURE_MODE_RELAXED;
    need("begin", cushim_capture_begin(stream, mode, &capture));
    on_thread(end_there, &errand);
    rule(key_of(name, "end-there", NULL), errand.result, may ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    rule_fact(key_of(name, "ended", NULL), (capture == NULL) == may);
    rule_status(key_of(name, "status", NULL), stream, may ? "none" : "active");
    if (!may)
        done(key_of(name, "end-here", NULL), cushim_capture_end(&capture, NULL));
    layer_stream_end(stream);
}

static void other_thread_relaxed(void)
{
    other_thread_in(CU_STREAM_CAPTURE_MODE_RELAXED);
}

static void other_thread(void)
{
    other_thread_in(CU_STREAM_CAPTURE_MODE_GLOBAL);
    other_thread_in(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
}

/* In another thread, the per-thread handle means another stream, so even a relaxed capture must be ended by the thread
 * that began it. */
static void other_thread_special(void)
{
    struct cushim_stream *stream = NULL;
    struct cushim_capture *capture = NULL;
    struct errand errand = {&capture, CUDA_SUCCESS};
    need("borrow", cushim_stream_borrow(CU_STREAM_PER_THREAD, NULL, &stream));
    need("begin", cushim_capture_begin(stream, RELAXED, &capture));
    on_thread(end_there, &errand);
    rule("end-there", errand.result, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    rule_status("survives", stream, "active");
    done("end-here", cushim_capture_end(&capture, NULL));
    cushim_stream_destroy(&stream);
}

static void capture_there(void *user)
{
    struct cushim_capture *capture = NULL;
    struct cushim_stream *stream = user;
    done("begin-there", cushim_capture_begin(stream, RELAXED, &capture));
    done("end-there", cushim_capture_end(&capture, NULL));
}

/* Two threads use one object for their per-thread streams, and each has its own capture. */
static void special_shared(void)
{
    struct cushim_stream *stream = NULL;
    struct cushim_capture *capture = NULL;
    struct cushim_graph *graph = NULL;
    need("borrow", cushim_stream_borrow(CU_STREAM_PER_THREAD, NULL, &stream));
    need("begin", cushim_capture_begin(stream, RELAXED, &capture));
    on_thread(capture_there, stream);
    rule_status("survives", stream, "active");
    done("end-here", cushim_capture_end(&capture, &graph));
    rule_fact("graph", graph != NULL);
    cushim_graph_destroy(&graph);
    cushim_stream_destroy(&stream);
}

static void rule_lost(const char *name, struct cushim_capture **capture)
{
    struct cushim_graph *graph = NULL;
    refused(key_of(name, "end", NULL), cushim_capture_end(capture, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
            "cushim_capture_end");
    rule_fact(key_of(name, "token-is-gone", NULL), *capture == NULL && graph == NULL);
}

/* Another thread ends its own capture; the capture of this thread still belongs to the object. */
static void special_shared_destroyed(void)
{
    struct cushim_stream *stream = NULL;
    struct cushim_capture *capture = NULL;
    CUstream handle = NULL;
    need("borrow", cushim_stream_borrow(CU_STREAM_PER_THREAD, NULL, &stream));
    need("begin", cushim_capture_begin(stream, RELAXED, &capture));
    on_thread(capture_there, stream);
    refused("release", cushim_stream_release(&stream, &handle), CUDA_ERROR_ILLEGAL_STATE, "cushim_stream_release");
    done("destroy", cushim_stream_destroy(&stream));
    rule_fact("ended", capture_status(CU_STREAM_PER_THREAD)[0] == 'n');
    rule_lost("destroyed", &capture);
}

/* Two objects for one stream: the capture of the first was ended through the driver, and that of the second was
 * invalidated, in which state the driver reports no id. */
static void special_replaced(void)
{
    struct cushim_stream *first = NULL;
    struct cushim_stream *second = NULL;
    struct cushim_capture *capture = NULL;
    struct cushim_capture *later = NULL;
    need("borrow", cushim_stream_borrow(CU_STREAM_PER_THREAD, NULL, &first));
    need("borrow-again", cushim_stream_borrow(CU_STREAM_PER_THREAD, NULL, &second));
    need("begin", cushim_capture_begin(first, RELAXED, &capture));
    need("end-at-driver", capture_end(CU_STREAM_PER_THREAD));
    need("begin-later", cushim_capture_begin(second, RELAXED, &later));
    passed_on("query", cushim_stream_query(second), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    refused("end", cushim_capture_end(&capture, NULL), CUDA_ERROR_ILLEGAL_STATE, "cushim_capture_end");
    rule_status("later-stays", second, "invalidated");
    passed_on("end-later", cushim_capture_end(&later, NULL), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    cushim_stream_destroy(&first);
    cushim_stream_destroy(&second);
}

static struct cushim_context *other_context_new(void)
{
    struct cushim_context *context = NULL;
    if (done("create-other-context", cushim_context_create(0, 0, &context)))
        need("set-other-current", cu->CtxSetCurrent_v1(cushim_context_handle(context)));
    return context;
}

static CUresult body_changes_context(struct cushim_stream *stream, void *user)
{
    CUresult result = body_adds_work(stream, NULL);
    return result != CUDA_SUCCESS ? result : cu->CtxSetCurrent_v1(cushim_context_handle(user));
}

/* In another context, too, the per-thread handle means another stream. The capture ends in the context in which it
 * began. */
static void other_context_special(void)
{
    struct cushim_stream *stream = NULL;
    struct cushim_capture *capture = NULL;
    struct cushim_graph *graph = NULL;
    need("borrow", cushim_stream_borrow(CU_STREAM_PER_THREAD, NULL, &stream));
    need("begin", cushim_capture_begin(stream, RELAXED, &capture));
    need("work", body_adds_work(stream, NULL));
    struct cushim_context *other = other_context_new();
    done("end", cushim_capture_end(&capture, &graph));
    rule_current("current-stays", cushim_context_handle(other));
    rule_number("nodes", node_count(cushim_graph_handle(graph)), 1);
    cushim_graph_destroy(&graph);
    need("set-current", cu->CtxSetCurrent_v1(the_context));
    rule_status("after-end", stream, "none");
    done("scoped", cushim_stream_capture(stream, RELAXED, body_changes_context, other, &graph));
    rule_current("current-is-that-of-the-body", cushim_context_handle(other));
    cushim_graph_destroy(&graph);
    need("set-current-again", cu->CtxSetCurrent_v1(the_context));
    rule_status("after-scoped", stream, "none");
    need("begin-again", cushim_capture_begin(stream, RELAXED, &capture));
    need("set-none-current", cu->CtxSetCurrent_v1(NULL));
    done("destroy", cushim_stream_destroy(&stream));
    rule_current("none-stays", NULL);
    rule_lost("destroyed", &capture);
    need("set-current-at-last", cu->CtxSetCurrent_v1(the_context));
    rule_fact("after-destroy", capture_status(CU_STREAM_PER_THREAD)[0] == 'n');
    done("destroy-other-context", cushim_context_destroy(&other));
}

static void stream_destroyed(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_capture *capture = NULL;
    CUstream handle = NULL;
    watch_begin();
    need("begin", cushim_capture_begin(stream, RELAXED, &capture));
    need("work", body_adds_work(stream, NULL));
    refused("release", cushim_stream_release(&stream, &handle), CUDA_ERROR_ILLEGAL_STATE, "cushim_stream_release");
    rule_fact("release-did-nothing", stream != NULL && handle == NULL);
    rule_status("survives", stream, "active");
    done("destroy", cushim_stream_destroy(&stream));
    rule_lost("destroyed", &capture);
    rule_number("graphs", watch_graphs(), 0);
    rule_number("captures", watch_captures(), 0);
    watch_end();
}

static void stream_closed(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_capture *capture = NULL;
    watch_begin();
    need("begin", cushim_capture_begin(stream, RELAXED, &capture));
    refused("close", cushim_stream_close(&stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "cushim_stream_close");
    rule_fact("gone", stream == NULL);
    rule_number("destroyed", watch_calls_of(S(StreamDestroy_v2)), 1);
    rule_lost("closed", &capture);
    rule_number("graphs", watch_graphs(), 0);
    watch_end();
}

/* A borrowed stream stays usable after its object was destroyed. */
static void borrowed_destroyed(void)
{
    struct cushim_stream *stream = NULL;
    struct cushim_capture *capture = NULL;
    CUstream handle = stream_new();
    need("borrow", cushim_stream_borrow(handle, NULL, &stream));
    need("begin", cushim_capture_begin(stream, RELAXED, &capture));
    done("destroy", cushim_stream_destroy(&stream));
    saw_text("status", capture_status(handle));
    rule_lost("borrowed", &capture);
    done("usable", cu->StreamSynchronize_v1(handle));
    stream_end(handle);
}

/* Destroying a borrowed object does not end a capture that functions of the driver began. */
static void borrowed_other_capture(void)
{
    struct cushim_stream *stream = NULL;
    struct cushim_capture *capture = NULL;
    CUstream handle = stream_new();
    need("borrow", cushim_stream_borrow(handle, NULL, &stream));
    need("begin", cushim_capture_begin(stream, RELAXED, &capture));
    need("end-at-driver", capture_end(handle));
    need("begin-at-driver", capture_begin(handle));
    done("destroy", cushim_stream_destroy(&stream));
    rule_fact("survives", capture_status(handle)[0] == 'a');
    refused("end", cushim_capture_end(&capture, NULL), CUDA_ERROR_ILLEGAL_STATE, "cushim_capture_end");
    done("end-at-driver", capture_end(handle));
    stream_end(handle);
}

struct open_capture {
    struct cushim_capture *capture;
    struct cushim_stream *stream;
};

static void begin_there(void *user)
{
    struct open_capture *open = user;
    open->stream = layer_stream();
    done("begin-there", cushim_capture_begin(open->stream, CU_STREAM_CAPTURE_MODE_GLOBAL, &open->capture));
}

/* Another thread began the capture and has ended; this thread destroys the stream. */
static void destroyed_elsewhere(void)
{
    struct open_capture open = {NULL, NULL};
    on_thread(begin_there, &open);
    done("destroy", cushim_stream_destroy(&open.stream));
    rule_lost("elsewhere", &open.capture);
}

static const struct check checks[] = {
    {"open_capture.ended", ended, 0, {S(StreamBeginCapture_v2)}},
    {"open_capture.argument", argument, 0, {S(StreamBeginCapture_v2)}},
    {"open_capture.invalidated", invalidated, 0, {S(StreamBeginCapture_v2)}},
    {"open_capture.replaced", replaced, 0, {S(StreamBeginCapture_v2)}},
    {"open_capture.other-thread-relaxed", other_thread_relaxed, 0, {S(StreamBeginCapture_v2)}},
    {"open_capture.other-thread", other_thread, 0, {S(ThreadExchangeStreamCaptureMode_v1)}},
    {"open_capture.other-thread-special", other_thread_special, 0, {S(StreamBeginCapture_v2)}},
    {"open_capture.special-shared", special_shared, 0, {S(StreamBeginCapture_v2)}},
    {"open_capture.special-shared-destroyed", special_shared_destroyed, 0, {S(StreamBeginCapture_v2)}},
    {"open_capture.special-replaced", special_replaced, 0, {S(StreamBeginCapture_v2)}},
    {"open_capture.other-context-special", other_context_special, 0, {S(StreamBeginCapture_v2)}},
    {"open_capture.stream-destroyed", stream_destroyed, 0, {S(StreamBeginCapture_v2)}},
    {"open_capture.stream-closed", stream_closed, 0, {S(StreamBeginCapture_v2)}},
    {"open_capture.borrowed-destroyed", borrowed_destroyed, 0, {S(StreamBeginCapture_v2)}},
    {"open_capture.borrowed-other-capture",
     borrowed_other_capture,
     0,
     {S(ThreadExchangeStreamCaptureMode_v1)}}, /* recognised by its id */
    {"open_capture.destroyed-elsewhere", destroyed_elsewhere, 0, {S(ThreadExchangeStreamCaptureMode_v1)}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_open_capture = {"open_capture", checks};
