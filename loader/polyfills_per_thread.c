/* SPDX-License-Identifier: MIT */
/* Every polyfill once more, for the table of the per-thread default stream. */
#define POLYFILL_PER_THREAD
#include "polyfills_capture.c"
#include "polyfills_context.c"
#include "polyfills_function.c"
#include "polyfills_graph.c"
#include "polyfills_stream.c"
