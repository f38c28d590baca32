/* SPDX-License-Identifier: MIT */
/* The scenes of the subject failing: it makes each of their allocations and driver calls fail. */
#ifndef STREAM_FAILING_H
#define STREAM_FAILING_H

#include "support.h"

/* The objects that a scene uses, and its results. */
extern struct act {
    struct cushim_context *context;
    struct cushim_stream *stream;
    struct cushim_graph *graph;
    atomic_int releases;
    bool releasing; /* whether the scene passed user data that must be released */
    bool wrote;     /* whether it wrote a result */
} act;

/* A scene calls functions of the layer, destroys what they created, and returns the code of the call under test. */
typedef CUresult (*scene)(void);

struct named_scene {
    const char *name;
    scene play;
    bool calls; /* whether the scene calls the driver */
    enum cushim_slot needs;
};

/* The list ends with a scene without a name. */
extern const struct named_scene scenes[];

#endif
