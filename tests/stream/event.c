/* SPDX-License-Identifier: MIT */
/* Events are created, borrowed, recorded, queried and waited for, and the time between them is measured. */
#include "support.h"

static struct cushim_event *new_event(unsigned flags)
{
    struct cushim_context *context = context_new();
    struct cushim_event *event = NULL;
    need("event", cushim_event_create(context, flags, &event));
    cushim_context_destroy(&context);
    return event;
}

static void created(void)
{
    struct cushim_context *context = context_new();
    struct cushim_event *event = NULL;
    watch_begin();
    need("none", cu->CtxSetCurrent_v1(NULL));
    done("default", cushim_event_create(context, CU_EVENT_DEFAULT, &event));
    rule_current("none-is-current", NULL);
    rule_fact("handle", cushim_event_handle(event) != NULL);
    done("never-recorded-is-done", cushim_event_query(event));
    done("synchronize", cushim_event_synchronize(event));
    done("destroy", cushim_event_destroy(&event));
    rule_fact("gone", event == NULL && cushim_event_handle(event) == NULL);
    done("destroy-again", cushim_event_destroy(&event));
    done("destroy-null", cushim_event_destroy(NULL));
    done("blocking-sync", cushim_event_create(context, CU_EVENT_BLOCKING_SYNC, &event));
    done("blocking-sync-destroy", cushim_event_destroy(&event));
    done("interprocess", cushim_event_create(context, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS, &event));
    done("interprocess-destroy", cushim_event_destroy(&event));
    rule_number("alive", watch_alive(), 0);
    watch_end();
    need("set", cu->CtxSetCurrent_v1(the_context));
    cushim_context_destroy(&context);
}

static void argument(void)
{
    struct cushim_context *context = context_new();
    struct cushim_event *event = NULL;
    refused("null-context", cushim_event_create(NULL, 0, &event), CUDA_ERROR_INVALID_CONTEXT, "cushim_event_create");
    refused("null-output", cushim_event_create(context, 0, NULL), CUDA_ERROR_INVALID_VALUE, "cushim_event_create");
    passed_on("unknown-flags", cushim_event_create(context, 0x100, &event), CUDA_ERROR_INVALID_VALUE);
    refused("borrow-null", cushim_event_borrow(NULL, context, &event), CUDA_ERROR_INVALID_HANDLE,
            "cushim_event_borrow");
    refused("borrow-null-output", cushim_event_borrow((CUevent)&event, context, NULL), CUDA_ERROR_INVALID_VALUE,
            "cushim_event_borrow");
    rule_fact("untouched", event == NULL);
    rule_current("current-stays", the_context);
    refused("query", cushim_event_query(NULL), CUDA_ERROR_INVALID_HANDLE, "cushim_event_query");
    refused("synchronize", cushim_event_synchronize(NULL), CUDA_ERROR_INVALID_HANDLE, "cushim_event_synchronize");
    cushim_context_destroy(&context);
}

static void borrowed(void)
{
    CUevent handle = event_new();
    struct cushim_event *event = NULL;
    struct cushim_stream *stream = layer_stream();
    watch_begin();
    done("borrow", cushim_event_borrow(handle, NULL, &event));
    rule_fact("handle", cushim_event_handle(event) == handle);
    done("record", cushim_event_record(event, stream, 0));
    done("synchronize", cushim_event_synchronize(event));
    done("destroy", cushim_event_destroy(&event));
    rule_number("never-destroyed", watch_calls_of(S(EventDestroy_v2)), 0);
    watch_end();
    done("still-there", cu->EventQuery_v1(handle));
    need("event-destroy", cu->EventDestroy_v2(handle));
    layer_stream_end(stream);
}

static void recorded(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_event *event = new_event(CU_EVENT_DISABLE_TIMING);
    struct gate gate;
    if (gate_close(&gate, cushim_stream_handle(stream))) {
        done("record", cushim_event_record(event, stream, 0));
        rule("pending", cushim_event_query(event), CUDA_ERROR_NOT_READY);
        gate_open(&gate);
        done("synchronize", cushim_event_synchronize(event));
        rule_number("passed", atomic_load(&gate.passed), 1);
        done("query", cushim_event_query(event));
    }
    refused("null-event", cushim_event_record(NULL, stream, 0), CUDA_ERROR_INVALID_HANDLE, "cushim_event_record");
    refused("null-stream", cushim_event_record(event, NULL, 0), CUDA_ERROR_INVALID_HANDLE, "cushim_event_record");
    passed_on("unknown-flags", cushim_event_record(event, stream, 8), CUDA_ERROR_INVALID_VALUE);
    done("destroy", cushim_event_destroy(&event));
    layer_stream_end(stream);
}

/* External events exist only in captures, from CUDA 11.1. */
static void external(void)
{
    bool known =
        cushim_query_slot_state(S(EventRecordWithFlags_v1), CUSHIM_DEFAULT_STREAM_LEGACY) == CUSHIM_STATE_NATIVE;
    struct cushim_stream *stream = layer_stream();
    struct cushim_event *event = new_event(0);
    struct cushim_capture *capture = NULL;
    struct cushim_graph *graph = NULL;
    passed_on("outside", cushim_event_record(event, stream, CU_EVENT_RECORD_EXTERNAL),
              known ? CUDA_ERROR_ILLEGAL_STATE : CUDA_ERROR_NOT_SUPPORTED);
    need("begin", cushim_capture_begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED, &capture));
    rule("record", cushim_event_record(event, stream, CU_EVENT_RECORD_EXTERNAL),
         known ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED);
    rule("wait", cushim_stream_wait_event(stream, event, CU_EVENT_WAIT_EXTERNAL),
         known ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED);
    rule_status("survives", stream, "active");
    done("end", cushim_capture_end(&capture, &graph));
    rule_number("nodes", node_count(cushim_graph_handle(graph)), known ? 2 : 0);
    cushim_graph_destroy(&graph);
    cushim_event_destroy(&event);
    layer_stream_end(stream);
}

static void elapsed(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_event *start = new_event(0);
    struct cushim_event *end = new_event(0);
    struct cushim_event *untimed = new_event(CU_EVENT_DISABLE_TIMING);
    struct gate gate;
    float time = -1;
    passed_on("never-recorded", cushim_event_elapsed(start, end, &time), CUDA_ERROR_INVALID_HANDLE);
    done("record", cushim_event_record(start, stream, 0));
    done("record-untimed", cushim_event_record(untimed, stream, 0));
    if (gate_close(&gate, cushim_stream_handle(stream))) {
        done("record-end", cushim_event_record(end, stream, 0));
        rule("pending", cushim_event_elapsed(start, end, &time), CUDA_ERROR_NOT_READY);
        rule_fact("untouched", time == -1);
        pause_shortly();
        gate_open(&gate);
    }
    done("synchronize", cushim_event_synchronize(end));
    done("code", cushim_event_elapsed(start, end, &time));
    rule_fact("in-milliseconds", time >= 5 && time < 5000);
    time = -1;
    passed_on("untimed", cushim_event_elapsed(start, untimed, &time), CUDA_ERROR_INVALID_HANDLE);
    refused("null-start", cushim_event_elapsed(NULL, end, &time), CUDA_ERROR_INVALID_HANDLE, "cushim_event_elapsed");
    refused("null-end", cushim_event_elapsed(start, NULL, &time), CUDA_ERROR_INVALID_HANDLE, "cushim_event_elapsed");
    refused("null-output", cushim_event_elapsed(start, end, NULL), CUDA_ERROR_INVALID_VALUE, "cushim_event_elapsed");
    rule_fact("still-untouched", time == -1);
    cushim_event_destroy(&start);
    cushim_event_destroy(&end);
    cushim_event_destroy(&untimed);
    layer_stream_end(stream);
}

/* Querying an event, or waiting for it, invalidates a capture depending on its mode, as event.h documents. */
static void query_beside_capture(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_event *event = new_event(CU_EVENT_DISABLE_TIMING);
    for (int mode = CU_STREAM_CAPTURE_MODE_GLOBAL; mode <= CU_STREAM_CAPTURE_MODE_RELAXED; mode++) {
        bool allowed = mode == CU_STREAM_CAPTURE_MODE_RELAXED;
        struct cushim_capture *capture = NULL;
        need("begin", cushim_capture_begin(stream, (CUstreamCaptureMode)mode, &capture));
        rule(key_of(mode_names[mode], "query", NULL), cushim_event_query(event),
             allowed ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        rule_status(key_of(mode_names[mode], "then", NULL), stream, allowed ? "active" : "invalidated");
        rule(key_of(mode_names[mode], "end", NULL), cushim_capture_end(&capture, NULL),
             allowed ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    }
    cushim_event_destroy(&event);
    layer_stream_end(stream);
}

static const struct check checks[] = {
    {"event.created", created, 0, {0}},
    {"event.argument", argument, 0, {0}},
    {"event.borrowed", borrowed, 0, {0}},
    {"event.recorded", recorded, 0, {0}},
    {"event.external", external, 0, {S(StreamBeginCapture_v2)}},
    {"event.elapsed", elapsed, 0, {0}},
    {"event.query-beside-capture", query_beside_capture, 0, {S(ThreadExchangeStreamCaptureMode_v1)}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_event = {"event", checks};
