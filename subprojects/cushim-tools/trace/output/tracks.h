/* SPDX-License-Identifier: MIT */
/* The tracks of a trace: threads and streams, their captures, and for which call a call waits. */
#ifndef CUSHIM_TRACE_TRACKS_H
#define CUSHIM_TRACE_TRACKS_H

#include "../model/model.h"

/* A call that others can wait for. */
struct trace_awaited {
    uint64_t number; /* by which the caller knows the call, from 1; 0: none */
    uint64_t begin;
    size_t process;
    long thread;
};

struct trace_capture {
    bool is_active, is_invalidated;
    uint64_t begin, end;
};

/* A process, or a thread or a stream of it. A new stream with the handle of a destroyed one is another track. */
struct trace_track {
    enum trace_kind { TRACE_PROCESSES = 1, TRACE_THREADS, TRACE_STREAMS, TRACE_KINDS } kind;
    size_t process;
    uint64_t id; /* the thread's number in the system, or that of the stream */
    struct trace_text name;
    struct trace_awaited last; /* work */
    struct trace_capture capture;
};

struct trace_tracks {
    struct trace_track *all; /* the first one is a process */
    size_t count;
    struct trace_table indices, events;
};

/* What a call is to the tracks. */
struct trace_effect {
    size_t thread, stream;         /* indices of tracks; stream is 0 if it has none */
    bool is_work;                  /* more than a query of its stream */
    struct trace_awaited from;     /* the record of the event or the last work of the stream for which it waits */
    struct trace_capture captured; /* the capture of the stream that it ended; `end` is 0 if it did not */
};

/* Begin with a zeroed struct. Returns false if there is not enough memory. Every call must be followed after
 * trace_model_read(), also those that are not selected: then their number is 0. */
bool trace_follow(struct trace_tracks *tracks, const struct trace_model *model, const struct trace_call *call,
                  uint64_t number, struct trace_effect *effect);
void trace_tracks_free(struct trace_tracks *tracks);

#endif
