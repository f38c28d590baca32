/* SPDX-License-Identifier: MIT */
/* Events: the work that they represent. */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>

static void event_forget(struct event *event)
{
    if (event->op != NULL)
        op_unref(event->op);
    event->op = NULL;
    if (event->capture != NULL)
        capture_unref(event->capture);
    event->capture = NULL;
    node_set_clear(&event->dependencies);
}

static void event_free(void *object)
{
    struct event *event = object;
    event_forget(event);
    object_unref(event->context);
    free(event);
}

struct event *event_new(struct context *context, unsigned flags)
{
    struct event *event = object_new(OBJECT_EVENT, sizeof *event, event_free);
    if (event == NULL || !handle_publish(event)) {
        free(event);
        return NULL;
    }
    event->context = context_primary(context);
    object_ref(event->context);
    event->generation = event->context->generation;
    event->flags = flags;
    return event;
}

void event_set_op(struct event *event, struct op *op)
{
    op_ref(op);
    event_forget(event);
    event->op = op;
}

CUresult event_find(CUevent handle, struct event **out_event)
{
    struct event *event = handle_find(OBJECT_EVENT, handle);
    if (event == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    *out_event = event;
    /* NVIDIA's driver 580 crashes here; so does softcuda, on purpose. */
    if (context_has_successor(event->context, event->generation)) {
        fprintf(stderr, "softcuda: a call on an event whose context was destroyed, after another one was created\n");
        abort();
    }
    return context_state(event->context, event->generation);
}

void event_set_capture(struct event *event, struct capture *capture, const struct node_set *captured)
{
    capture_ref(capture);
    event_forget(event);
    event->capture = capture;
    event->dependencies = *captured;
}
