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

/* Returns a deadline that passes only if something is wrong. */
uint64_t soon(void);

bool readable(cushim_descriptor descriptor);
bool silent(cushim_descriptor descriptor);

/* The names of turns, for keys. */
extern const char *const turns[6];

struct cushim_completion *completion_new(struct cushim_stream *stream);

/* A body that enqueues nothing. */
CUresult body_does_nothing(struct cushim_stream *stream, void *user);

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
