/* SPDX-License-Identifier: MIT */
/* Querying a stream, waiting for it, and one stream waiting for another. */
#include "support.h"

static void pending(void)
{
    struct cushim_stream *stream = layer_stream();
    struct gate gate;
    done("idle", cushim_stream_query(stream));
    done("idle-synchronize", cushim_stream_synchronize(stream));
    if (gate_close(&gate, cushim_stream_handle(stream))) {
        rule("pending", cushim_stream_query(stream), CUDA_ERROR_NOT_READY);
        gate_open(&gate);
        done("synchronize", cushim_stream_synchronize(stream));
        rule_number("passed", atomic_load(&gate.passed), 1);
        done("then", cushim_stream_query(stream));
    }
    layer_stream_end(stream);
}

/* Work behind the wait runs after the work that the event stood for at the wait. A later record of the event changes
 * nothing. */
static void ordered(void)
{
    struct cushim_context *context = context_new();
    struct cushim_stream *first = layer_stream();
    struct cushim_stream *second = layer_stream();
    struct cushim_event *event = NULL;
    struct gate gate;
    need("event", cushim_event_create(context, CU_EVENT_DISABLE_TIMING, &event));
    if (gate_close(&gate, cushim_stream_handle(first))) {
        done("record", cushim_event_record(event, first, 0));
        done("wait", cushim_stream_wait_event(second, event, 0));
        rule("second-waits", cushim_stream_query(second), CUDA_ERROR_NOT_READY);
        gate_open(&gate);
        done("synchronize", cushim_stream_synchronize(second));
        rule_number("passed", atomic_load(&gate.passed), 1);
    }
    done("event-destroy", cushim_event_destroy(&event));
    layer_stream_end(first);
    layer_stream_end(second);
    cushim_context_destroy(&context);
}

/* Destroying an event does not affect work that waits for it. */
static void event_destroyed(void)
{
    struct cushim_context *context = context_new();
    struct cushim_stream *first = layer_stream();
    struct cushim_stream *second = layer_stream();
    struct cushim_event *event = NULL;
    struct gate gate;
    need("event", cushim_event_create(context, CU_EVENT_DISABLE_TIMING, &event));
    if (gate_close(&gate, cushim_stream_handle(first))) {
        need("record", cushim_event_record(event, first, 0));
        need("wait", cushim_stream_wait_event(second, event, 0));
        done("destroy", cushim_event_destroy(&event));
        rule("second-waits-still", cushim_stream_query(second), CUDA_ERROR_NOT_READY);
        gate_open(&gate);
        done("synchronize", cushim_stream_synchronize(second));
    }
    layer_stream_end(first);
    layer_stream_end(second);
    cushim_context_destroy(&context);
}

static void argument(void)
{
    struct cushim_context *context = context_new();
    struct cushim_stream *stream = layer_stream();
    struct cushim_event *event = NULL;
    need("event", cushim_event_create(context, 0, &event));
    done("never-recorded", cushim_stream_wait_event(stream, event, 0));
    done("is-no-wait", cushim_stream_query(stream));
    passed_on("unknown-flags", cushim_stream_wait_event(stream, event, 8), CUDA_ERROR_INVALID_VALUE);
    refused("null-event", cushim_stream_wait_event(stream, NULL, 0), CUDA_ERROR_INVALID_HANDLE,
            "cushim_stream_wait_event");
    refused("null-stream", cushim_stream_wait_event(NULL, event, 0), CUDA_ERROR_INVALID_HANDLE,
            "cushim_stream_wait_event");
    done("event-destroy", cushim_event_destroy(&event));
    layer_stream_end(stream);
    cushim_context_destroy(&context);
}

static void external_outside(void)
{
    struct cushim_context *context = context_new();
    struct cushim_stream *stream = layer_stream();
    struct cushim_event *event = NULL;
    need("event", cushim_event_create(context, 0, &event));
    passed_on("code", cushim_stream_wait_event(stream, event, CU_EVENT_WAIT_EXTERNAL), CUDA_ERROR_ILLEGAL_STATE);
    cushim_event_destroy(&event);
    layer_stream_end(stream);
    cushim_context_destroy(&context);
}

static void external_on_old(void)
{
    struct cushim_context *context = context_new();
    struct cushim_event *event = NULL;
    struct cushim_stream *stream = NULL;
    if (cushim_query_slot_state(S(EventRecordWithFlags_v1), CUSHIM_DEFAULT_STREAM_LEGACY) == CUSHIM_STATE_NATIVE) {
        lacks(NULL, "a driver that has the flag");
        cushim_context_destroy(&context);
        return;
    }
    stream = layer_stream();
    need("event", cushim_event_create(context, 0, &event));
    refused("code", cushim_stream_wait_event(stream, event, CU_EVENT_WAIT_EXTERNAL), CUDA_ERROR_NOT_SUPPORTED,
            "cushim_stream_wait_event");
    cushim_event_destroy(&event);
    layer_stream_end(stream);
    cushim_context_destroy(&context);
}

/* A stream waits for an event of another context. */
static void across_contexts(void)
{
    struct cushim_context *here = context_new();
    struct cushim_context *there = NULL;
    struct cushim_stream *first = layer_stream();
    struct cushim_stream *second = NULL;
    struct cushim_event *event = NULL;
    struct gate gate;
    need("event", cushim_event_create(here, CU_EVENT_DISABLE_TIMING, &event));
    done("context", cushim_context_create(0, 0, &there));
    done("stream", cushim_stream_create(there, CU_STREAM_NON_BLOCKING, 0, &second));
    if (gate_close(&gate, cushim_stream_handle(first))) {
        done("record", cushim_event_record(event, first, 0));
        done("wait", cushim_stream_wait_event(second, event, 0));
        rule("second-waits", cushim_stream_query(second), CUDA_ERROR_NOT_READY);
        gate_open(&gate);
        done("synchronize", cushim_stream_synchronize(second));
    }
    passed_on("record-in-another-context", cushim_event_record(event, second, 0), CUDA_ERROR_INVALID_HANDLE);
    layer_stream_end(first);
    layer_stream_end(second);
    done("event-destroy", cushim_event_destroy(&event));
    done("context-destroy", cushim_context_destroy(&there));
    cushim_context_destroy(&here);
    rule_current("current-stays", the_context);
}

/* A stream waits for an event of another device. */
static void across_devices(void)
{
    struct cushim_context *there = NULL;
    struct cushim_stream *here = layer_stream();
    struct cushim_stream *stream = NULL;
    struct cushim_event *event = NULL;
    struct gate gate;
    CUdevice device = -1;
    int devices = 0;
    need("count", cu->DeviceGetCount_v1(&devices));
    if (devices < 2) {
        lacks(NULL, "there is one device");
        layer_stream_end(here);
        return;
    }
    need("context", cushim_context_create(1, 0, &there));
    need("event", cushim_event_create(there, CU_EVENT_DISABLE_TIMING, &event));
    done("create", cushim_stream_create(there, CU_STREAM_NON_BLOCKING, 0, &stream));
    done("device", cushim_stream_device(stream, &device));
    rule_fact("device-is-the-other", device != the_device);
    if (gate_close(&gate, cushim_stream_handle(stream))) {
        done("record", cushim_event_record(event, stream, 0));
        done("wait", cushim_stream_wait_event(here, event, 0));
        rule("waits", cushim_stream_query(here), CUDA_ERROR_NOT_READY);
        gate_open(&gate);
        done("synchronize", cushim_stream_synchronize(here));
    }
    passed_on("record-here", cushim_event_record(event, here, 0), CUDA_ERROR_INVALID_HANDLE);
    layer_stream_end(here);
    layer_stream_end(stream);
    done("event-destroy", cushim_event_destroy(&event));
    done("context-destroy", cushim_context_destroy(&there));
    rule_current("current-stays", the_context);
}

static const struct check checks[] = {
    {"wait.pending", pending, 0, {0}},
    {"wait.ordered", ordered, 0, {0}},
    {"wait.event-destroyed", event_destroyed, 0, {0}},
    {"wait.argument", argument, 0, {0}},
    {"wait.external-outside", external_outside, 0, {S(GraphUpload_v1)}}, /* CUDA 11.1, which brought the flag */
    {"wait.external-on-old", external_on_old, 0, {0}},
    {"wait.across-contexts", across_contexts, 0, {0}},
    {"wait.across-devices", across_devices, 0, {0}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_wait = {"wait", checks};
