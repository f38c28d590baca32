/* SPDX-License-Identifier: MIT */
/* Vector clocks: up to which of its works each stream precedes something. */
#ifndef CUSHIM_TRACE_CLOCKS_H
#define CUSHIM_TRACE_CLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The works of a stream are numbered from 1. With the lowest bit of the key, the entry is the work from which on the
 * order of the stream is in doubt. */
struct trace_tick {
    uint32_t key, index;
};

/* Begin with a zeroed struct; free with trace_clock_clear(). The ticks are sorted by their keys. */
struct trace_clock {
    struct trace_tick *ticks;
    uint32_t count, capacity;
};

static inline uint32_t trace_tick_key(uint32_t stream, bool is_doubt)
{
    return stream << 1 | (is_doubt ? 1 : 0);
}

static inline uint32_t trace_tick_stream(uint32_t key)
{
    return key >> 1;
}

/* What the host knows, by the numbers of the streams: up to which of its works each stream is complete. */
struct trace_horizon {
    uint32_t *complete, capacity;
    uint32_t version; /* counts the changes */
};

/* Whether the horizon has a tick. */
static inline bool trace_horizon_has(const struct trace_horizon *horizon, uint32_t stream, uint32_t index)
{
    return stream < horizon->capacity && horizon->complete[stream] >= index;
}

/* The functions that return bool return false if there is not enough memory. */

/* Returns the index of a key; 0: none. */
uint32_t trace_clock_find(const struct trace_clock *clock, uint32_t key);

/* Raises a key to an index. */
bool trace_clock_raise(struct trace_clock *clock, uint32_t key, uint32_t index);

/* Raises the keys to those of another clock, but for what the horizon has. */
bool trace_clock_join(struct trace_clock *clock, const struct trace_clock *other, const struct trace_horizon *horizon);

/* Removes what the horizon has. */
void trace_clock_forget(struct trace_clock *clock, const struct trace_horizon *horizon);

void trace_clock_clear(struct trace_clock *clock);

/* The horizon has everything of the clock from now on. */
bool trace_horizon_join(struct trace_horizon *horizon, const struct trace_clock *clock);

#endif
