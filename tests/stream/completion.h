/* SPDX-License-Identifier: MIT */
/* Functions that the tests of completions share. */
#ifndef STREAM_COMPLETION_H
#define STREAM_COMPLETION_H

#if defined(_WIN32)
#    include <windows.h>
#else
#    include <poll.h>
#endif

#include "support.h"

enum { MILLISECOND = 1000000 };

/* Returns a deadline that passes only if something is wrong. */
uint64_t soon(void);

bool readable(cushim_descriptor descriptor);
bool silent(cushim_descriptor descriptor);

/* Ordinal numbers, for keys. */
extern const char *const ordinals[6];

/* The two kinds of completions, and their flags. */
enum { POLLED, NOTIFYING, KINDS };
extern const char *const kind_names[KINDS];
extern const unsigned kind_flags[KINDS];

struct cushim_completion *completion_new(struct cushim_stream *stream, unsigned flags);
struct cushim_completion *polled_new(struct cushim_stream *stream);
struct cushim_completion *notifying_new(struct cushim_stream *stream);

/* Return the status of the work if the completion has fired, or the error of the call. */
CUresult poll_status(struct cushim_completion *completion);
CUresult wait_status(struct cushim_completion *completion, uint64_t deadline);
void wait_and_destroy(struct cushim_completion *completion);
CUresult wait_all_status(struct cushim_completion *const *completions, size_t count, uint64_t deadline);

/* A body that enqueues nothing. */
CUresult body_does_nothing(struct cushim_stream *stream, void *user);

/* A callback that does nothing. */
void ignore_status(CUresult status, void *user);

/* A body that captures a completion, and writes it to the struct cushim_completion * that `user` points to. */
CUresult body_captures_completion(struct cushim_stream *stream, void *user);

/*
 * Blocks a stream with a kernel until stream_unblock(); then host_free() frees what was returned. Callbacks of other
 * streams can run meanwhile: a driver may run them one at a time, and a gate is a callback. The first call in a context
 * waits for the work there.
 */
unsigned *stream_block(struct cushim_stream *stream);
void stream_unblock(unsigned *held);

#endif
