/* SPDX-License-Identifier: MIT */
/*
 * Contexts: primary ones, one for each device, which become active again after a reset; ordinary ones, which do not;
 * and green ones, which have their own streams and share everything else with the primary one.
 */
#ifndef SOFT_CONTEXT_H
#define SOFT_CONTEXT_H

#include "soft.h"

struct context {
    struct object object;
    int device;
    bool primary;
    bool alive;
    unsigned retained; /* of a primary context */
    unsigned flags;
    uint64_t id;
    uint64_t life;                       /* changes when all objects of the context are destroyed */
    uint64_t ended_at;                   /* how many contexts had been created when it ended */
    struct context *parent;              /* of a green context: the primary one, a reference */
    struct green *green;                 /* of a green context: its handle as a green context */
    struct context *greens, *next_green; /* of the primary context */
    struct stream *streams;
    struct stream *legacy;
    size_t blocking_captures; /* of streams that synchronise with the legacy stream */
    size_t limits[16];
    CUfunc_cache cache;
    CUsharedconfig shared;
};

/* Creates a published, inactive context with one reference; NULL if out of memory. */
struct context *context_new(int device, bool primary);
/* Creates the objects of an active context; false if out of memory. */
bool context_start(struct context *context);
/* Waits for its work, then destroys all its objects. Handles of its streams and events stay known, and return 709. */
void context_stop(struct context *context);
bool context_flags_are_valid(unsigned flags);

/* The context that owns its memory and events: the primary one for a green context, else itself. */
struct context *context_home(struct context *context);

/* The calling thread's current context, usable or not; NULL if it has none. */
struct context *context_current(void);

/* Whether a host function or a callback makes this call. It may query its stream, but not the current context. */
bool context_in_callback(void);

/* Returns 0, 709 if the context was destroyed or reset since `life`, or its sticky error. */
CUresult context_state(const struct context *context, uint64_t life);

/* Whether another context was created since the context of that life ended. */
bool context_was_followed(const struct context *context, uint64_t life);

/* The current context. Fails if there is none (201), and with its sticky error. */
CUresult context_need(struct context **out_context);

/* The context of a handle; NULL means the current one. Fails if it is invalid (201), and with its sticky error. */
CUresult context_find(CUcontext handle, struct context **out_context);

/* Waits for all work that was submitted to the context and to its green contexts. Releases the lock meanwhile. */
void context_drain(struct context *context);

#endif
