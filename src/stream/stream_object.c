/* SPDX-License-Identifier: MIT */
/* The object of a stream, apart from what is done with it. */
#include "objects.h"

#include <stdlib.h>

struct cushim_stream *cush_stream_new(CUstream handle, bool owned)
{
    struct cushim_stream *stream = calloc(1, sizeof *stream);
    if (stream != NULL) {
        atomic_init(&stream->references, 1);
        atomic_init(&stream->uses, 1);
        stream->handle = handle;
        stream->owned = owned;
    }
    return stream;
}

struct cushim_stream *cush_stream_ref(struct cushim_stream *stream)
{
    atomic_fetch_add_explicit(&stream->references, 1, memory_order_relaxed);
    return stream;
}

void cush_stream_unref(struct cushim_stream *stream)
{
    if (atomic_fetch_sub_explicit(&stream->references, 1, memory_order_acq_rel) == 1)
        free(stream);
}
