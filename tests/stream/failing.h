/* SPDX-License-Identifier: MIT */
/* The scenarios of the subject failing, which makes each of their allocations and driver calls fail. */
#ifndef STREAM_FAILING_H
#define STREAM_FAILING_H

#include "support.h"

/* The objects that a scenario uses, and the results of one attempt. */
extern struct attempt {
    struct cushim_context *context;
    struct cushim_stream *stream;
    struct cushim_graph *graph;
    atomic_int releases;
    bool releasing; /* the scenario passed user data that must be released */
    bool wrote;     /* it wrote a result */
} attempt;

/* Calls functions of the stream layer, destroys what they created, and returns the code of the call under test. */
typedef CUresult (*scenario_fn)(void);

struct scenario {
    const char *name;
    scenario_fn run;
    bool calls; /* it calls the driver */
    enum cushim_slot needs;
};

/* Ends with a scenario without a name. */
extern const struct scenario scenarios[];

#endif
