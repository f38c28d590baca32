/* SPDX-License-Identifier: MIT */
#ifndef SOFT_EVENT_H
#define SOFT_EVENT_H

#include "soft.h"

#include "graph.h"

struct event {
    struct object object;
    struct context *context; /* a reference */
    uint64_t life;
    unsigned flags;
    struct op *op;           /* of the latest record; a reference, or NULL */
    struct capture *capture; /* of the latest record in a capture; a reference, or NULL */
    struct frontier frontier;
};

/* Makes the event represent `op`, and forgets any capture. */
void event_set_op(struct event *event, struct op *op);

/* Makes the event represent the work that was captured so far. Takes over the references in `frontier`. */
void event_set_capture(struct event *event, struct capture *capture, const struct frontier *frontier);

/* The event of a handle. Fails if it is invalid (400) or its context is destroyed (709); with the sticky error, also
 * returns the event. */
CUresult event_find(CUevent handle, struct event **out_event);

#endif
