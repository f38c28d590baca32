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
    struct op *op;           /* that of the latest record; a reference, or NULL */
    struct capture *capture; /* the one in which it was recorded last; a reference, or NULL */
    struct frontier frontier;
};

/* Makes `op` what the event stands for, and forgets any capture. */
void event_set_op(struct event *event, struct op *op);

/* The event of a handle (400), in a context that lives (709); the sticky error comes back together with it. */
CUresult event_find(CUevent handle, struct event **out_event);

#endif
