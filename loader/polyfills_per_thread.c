/* SPDX-License-Identifier: MIT */
/* Every polyfill with a stream once more, for the table of the per-thread default stream. */
#include "polyfills.h"

#undef POLYFILL_KIND
#undef POLYFILL
#define POLYFILL_KIND CUSHIM_DEFAULT_STREAM_PER_THREAD
#define POLYFILL(name) cush_polyfill_per_thread_##name
#include "polyfills_stream.c"
