/* SPDX-License-Identifier: MIT */
/*
 * Contexts: primary ones, one a device, that live again after a reset; plain ones, that do not; and green ones, which
 * have streams of their own and share all else with the primary one.
 */
#ifndef SOFT_CONTEXT_H
#define SOFT_CONTEXT_H

#include "soft.h"

struct context {
    struct object object;
    int device;
    bool primary;
    bool alive;
    unsigned retained; /* of a primary one */
    unsigned flags;
    uint64_t id;
    uint64_t life;                       /* changes when all that belongs to the context is lost */
    struct context *parent;              /* of a green one: the primary one, a reference */
    struct green *green;                 /* likewise, what it is called as a green context */
    struct context *greens, *next_green; /* of the primary one */
    struct stream *streams;
    struct stream *legacy;
    size_t blocking_captures; /* of streams that join the legacy one */
    size_t limits[16];
    CUfunc_cache cache;
    CUsharedconfig shared;
};

/* A published context with one reference, which does not live yet; NULL without memory. */
struct context *context_new(int device, bool primary);
/* Makes what a context that lives has; false without memory. */
bool context_start(struct context *context);
/* Waits for its work, then ends all that belongs to it. Handles of its streams and events stay, and say 709. */
void context_stop(struct context *context);
bool context_flags_are_valid(unsigned flags);

/* The context whose memory and events it uses: of a green one the primary one, else itself. */
struct context *context_home(struct context *context);

/* The calling thread's current context, usable or not; NULL where there is none. */
struct context *context_current(void);

/* Whether a host function or a callback makes this call. It may ask its stream, but not what is current. */
bool context_in_callback(void);

/* 0, 709 if the context was destroyed or reset since `life`, or its sticky error. */
CUresult context_state(const struct context *context, uint64_t life);

/* A kernel has failed: every context of the device says so from now on, and no reset helps. */
void context_poison(const struct context *context, CUresult error);
/* All devices are as new. */
void context_heal(void);
/* What became of the context's device. */
CUresult context_error(const struct context *context);

/* The current context, if there is one (201) in a good state. */
CUresult context_need(struct context **out_context);

/* The context of a handle (201 if it is none), in a good state. NULL means the current one. */
CUresult context_find(CUcontext handle, struct context **out_context);

/* Waits until all that was submitted to the context and to its green ones is done. Lets go of the lock meanwhile. */
void context_drain(struct context *context);

#endif
