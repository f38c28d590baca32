/* SPDX-License-Identifier: MIT */
/* The event object: event.c. */
#ifndef CUSHIM_EVENT_OBJECT_H
#define CUSHIM_EVENT_OBJECT_H

#include "cushim/event.h"

struct cushim_event {
    CUevent handle;
    struct cushim_context *context; /* or NULL */
    bool owned;
};

#endif
