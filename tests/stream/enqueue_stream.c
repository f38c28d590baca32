/* SPDX-License-Identifier: MIT */
/* Work on a stream that its body destroys, releases or brings into a capture, and on a stream that cannot take any. */
#include "enqueue.h"

static CUresult destroy_stream(struct cushim_stream *stream, void *user)
{
    CUresult result = work_enqueue(stream, user);
    return result != CUDA_SUCCESS ? result : cushim_stream_destroy(&stream);
}

/* A body destroys the stream: the driver's stream stays alive until the callback of the completion is registered. */
static void destroyed_by_body(const char *name, struct cushim_stream *stream)
{
    struct work work = {.gated = true};
    struct cushim_completion *completion = NULL;
    done(key_of(name, "code", NULL), cushim_stream_enqueue(stream, destroy_stream, &work, work_release, &completion));
    rule(key_of(name, "pending", NULL), cushim_completion_poll(completion), CUDA_ERROR_NOT_READY);
    gate_open(&work.gate);
    done(key_of(name, "wait", NULL), cushim_completion_wait(completion, soon()));
    rule_work(name, &work, 1);
    rule_current(key_of(name, "current-stays", NULL), the_context);
    cushim_completion_destroy(&completion);
}

static void stream_destroyed(void)
{
    struct cushim_stream *stream = NULL;
    CUstream borrowed = stream_new();
    CUcontext other = NULL;
    destroyed_by_body("own", layer_stream());
    need("borrow", cushim_stream_borrow(borrowed, NULL, &stream));
    destroyed_by_body("borrowed", stream);
    stream_end(borrowed);
    need("adopt", cushim_stream_adopt(stream_new(), NULL, &stream));
    destroyed_by_body("adopted", stream);
    /* Another context is current, so that waiting for the current context would not be enough. */
    need("borrow", cushim_stream_adopt(stream_new(), NULL, &stream));
    need("context", cu->CtxCreate_v2(&other, 0, the_device));
    struct work work = {.gated = true};
    done("other-context", cushim_stream_enqueue(stream, destroy_stream, &work, work_release, NULL));
    rule_work("other-context-pending", &work, 0);
    gate_open(&work.gate);
    work_settle(&work);
    rule_work("other-context-done", &work, 1);
    need("context-end", cu->CtxDestroy_v2(other));
}

/* Another stream captures at the same time; that capture goes on. */
static void stream_destroyed_beside_capture(void)
{
    struct cushim_stream *other = layer_stream();
    struct cushim_capture *capture = NULL;
    struct cushim_graph *graph = NULL;
    need("begin", cushim_capture_begin(other, CU_STREAM_CAPTURE_MODE_GLOBAL, &capture));
    destroyed_by_body("own", layer_stream());
    rule_status("status", other, "active");
    done("end", cushim_capture_end(&capture, &graph));
    cushim_graph_destroy(&graph);
    layer_stream_end(other);
}

static CUresult release_stream(struct cushim_stream *stream, void *user)
{
    CUresult *result = user;
    CUstream handle = NULL;
    *result = cushim_stream_release(&stream, &handle);
    return CUDA_SUCCESS;
}

static void stream_released(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_completion *completion = NULL;
    CUresult result = CUDA_SUCCESS;
    done("code", cushim_stream_enqueue(stream, release_stream, &result, NULL, &completion));
    rule("refused", result, CUDA_ERROR_ILLEGAL_STATE);
    done("wait", cushim_completion_wait(completion, soon()));
    cushim_completion_destroy(&completion);
    layer_stream_end(stream);
}

static void capturing(void)
{
    struct work work = {.gated = false};
    struct cushim_completion *completion = NULL;
    struct cushim_capture *capture = NULL;
    struct cushim_graph *graph = NULL;
    struct cushim_stream *stream = layer_stream();
    need("begin", cushim_capture_begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED, &capture));
    refused("completion", cushim_stream_completion(stream, &completion), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
            "cushim_stream_completion");
    refused("enqueue", cushim_stream_enqueue(stream, work_enqueue, &work, work_release, &completion),
            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "cushim_stream_enqueue");
    rule_number("released", atomic_load(&work.released), 1);
    rule_fact("untouched", completion == NULL);
    rule_status("status", stream, "active");
    done("end", cushim_capture_end(&capture, &graph));
    done("graph-destroy", cushim_graph_destroy(&graph));
    layer_stream_end(stream);
}

static CUresult leave_capturing(struct cushim_stream *stream, void *user)
{
    (void)user;
    return cu->StreamBeginCapture_v2(cushim_stream_handle(stream), CU_STREAM_CAPTURE_MODE_RELAXED);
}

static void left_capturing(void)
{
    struct work work = {.gated = false, .done = 1};
    struct cushim_completion *completion = NULL;
    struct cushim_stream *stream = layer_stream();
    refused("code", cushim_stream_enqueue(stream, leave_capturing, &work, work_release, &completion),
            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "cushim_stream_enqueue");
    rule_status("status", stream, "none");
    work_settle(&work);
    rule_number("released", atomic_load(&work.released), 1);
    layer_stream_end(stream);
}

struct joining {
    struct work work; /* the first member, because work_release() receives its address */
    struct cushim_event *event;
};

static CUresult join_capture(struct cushim_stream *stream, void *user)
{
    struct joining *joining = user;
    CUresult result = work_enqueue(stream, &joining->work);
    return result != CUDA_SUCCESS ? result : cushim_stream_wait_event(stream, joining->event, 0);
}

/*
 * A body brings the stream into a capture of another stream, after work that is running: nothing is released before
 * that work is done, and the next call releases it when the capture has ended.
 */
static void joins_capture(void)
{
    struct cushim_context *context = context_new();
    struct cushim_stream *origin = layer_stream();
    struct cushim_stream *stream = layer_stream();
    struct cushim_completion *completion = NULL;
    struct cushim_capture *capture = NULL;
    struct joining joining = {.work = {.gated = true}};
    need("event", cushim_event_create(context, CU_EVENT_DISABLE_TIMING, &joining.event));
    need("begin", cushim_capture_begin(origin, RELAXED, &capture));
    need("record", cushim_event_record(joining.event, origin, 0));
    refused("code", cushim_stream_enqueue(stream, join_capture, &joining, work_release, &completion),
            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "cushim_stream_enqueue");
    rule_fact("untouched", completion == NULL);
    rule_work("running", &joining.work, 0);
    gate_open(&joining.work.gate);
    (void)cushim_capture_end(&capture, NULL);
    completion = completion_new(origin);
    work_settle(&joining.work);
    rule_work("next-call", &joining.work, 1);
    cushim_completion_destroy(&completion);
    cushim_event_destroy(&joining.event);
    layer_stream_end(origin);
    layer_stream_end(stream);
    cushim_context_destroy(&context);
}

/* The legacy stream refuses every call while a blocking stream is capturing, and this error is not the status of its
 * work. The library first queries whether it is so; here that query fails, as if the capture began right after it. */
static void completion_implicit(void)
{
    struct cushim_context *context = context_new();
    struct cushim_stream *stream = NULL;
    struct cushim_stream *legacy = NULL;
    struct cushim_capture *capture = NULL;
    struct cushim_completion *completion = NULL;
    need("create", cushim_stream_create(context, CU_STREAM_DEFAULT, 0, &stream));
    need("borrow", cushim_stream_borrow(CU_STREAM_LEGACY, NULL, &legacy));
    need("begin", cushim_capture_begin(stream, RELAXED, &capture));
    watch_begin();
    watch_fail_slot(S(StreamIsCapturing_v1), CUDA_ERROR_UNKNOWN);
    rule("code", cushim_stream_completion(legacy, &completion), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    rule_fact("asked-in-vain", watch_failed(NULL));
    watch_end();
    rule_fact("untouched", completion == NULL);
    cushim_completion_destroy(&completion);
    (void)cushim_capture_end(&capture, NULL);
    cushim_stream_destroy(&legacy);
    layer_stream_end(stream);
    cushim_context_destroy(&context);
}

static const struct check checks[] = {
    {"enqueue_stream.stream-destroyed", stream_destroyed, 0, {0}},
    {"enqueue_stream.stream-destroyed-beside-capture",
     stream_destroyed_beside_capture,
     0,
     {S(ThreadExchangeStreamCaptureMode_v1)}},
    {"enqueue_stream.stream-released", stream_released, 0, {0}},
    {"enqueue_stream.joins-capture", joins_capture, 0, {S(StreamEndCapture_v1)}},
    {"enqueue_stream.capturing", capturing, 0, {S(StreamEndCapture_v1)}},
    {"enqueue_stream.left-capturing", left_capturing, 0, {S(StreamEndCapture_v1)}},
    {"enqueue_stream.completion-implicit", completion_implicit, 0, {S(StreamBeginCapture_v2)}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_enqueue_stream = {"enqueue_stream", checks};
