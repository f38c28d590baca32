/* SPDX-License-Identifier: MIT */
#include "clocks.h"

#include <stdlib.h>
#include <string.h>

/* Returns the place of the key, or of the first greater one. */
static uint32_t tick_place(const struct trace_clock *clock, uint32_t key)
{
    uint32_t low = 0, high = clock->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (clock->ticks[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t trace_clock_find(const struct trace_clock *clock, uint32_t key)
{
    uint32_t at = tick_place(clock, key);
    return at < clock->count && clock->ticks[at].key == key ? clock->ticks[at].index : 0;
}

static bool clock_reserve(struct trace_clock *clock, uint32_t count)
{
    uint32_t capacity = clock->capacity > 0 ? clock->capacity : 4;
    if (count <= clock->capacity)
        return true;
    while (capacity < count)
        capacity *= 2;
    struct trace_tick *grown = realloc(clock->ticks, capacity * sizeof *grown);
    if (grown == NULL)
        return false;
    clock->ticks = grown;
    clock->capacity = capacity;
    return true;
}

bool trace_clock_raise(struct trace_clock *clock, uint32_t key, uint32_t index)
{
    uint32_t at = tick_place(clock, key);
    if (at < clock->count && clock->ticks[at].key == key) {
        if (clock->ticks[at].index < index)
            clock->ticks[at].index = index;
        return true;
    }
    if (!clock_reserve(clock, clock->count + 1))
        return false;
    memmove(&clock->ticks[at + 1], &clock->ticks[at], (clock->count++ - at) * sizeof *clock->ticks);
    clock->ticks[at] = (struct trace_tick){key, index};
    return true;
}

static bool is_forgotten(const struct trace_horizon *horizon, const struct trace_tick *tick)
{
    return horizon != NULL && trace_horizon_has(horizon, trace_tick_stream(tick->key), tick->index);
}

bool trace_clock_join(struct trace_clock *clock, const struct trace_clock *other, const struct trace_horizon *horizon)
{
    uint32_t absent = 0, at = 0;
    if (other == clock)
        return true;
    for (uint32_t i = 0; i < other->count; i++) {
        const struct trace_tick *tick = &other->ticks[i];
        while (at < clock->count && clock->ticks[at].key < tick->key)
            at++;
        bool is_present = at < clock->count && clock->ticks[at].key == tick->key;
        if (is_present && clock->ticks[at].index < tick->index)
            clock->ticks[at].index = tick->index;
        absent += !is_present && !is_forgotten(horizon, tick);
    }
    if (absent == 0)
        return true;
    if (!clock_reserve(clock, clock->count + absent))
        return false;
    /* From the end on, so that no tick is overwritten before it has moved. */
    uint32_t from = clock->count, to = clock->count += absent;
    for (uint32_t i = other->count; i-- > 0 && to > from;) {
        const struct trace_tick *tick = &other->ticks[i];
        while (from > 0 && clock->ticks[from - 1].key > tick->key)
            clock->ticks[--to] = clock->ticks[--from];
        bool is_present = from > 0 && clock->ticks[from - 1].key == tick->key;
        if (!is_present && !is_forgotten(horizon, tick))
            clock->ticks[--to] = *tick;
    }
    return true;
}

void trace_clock_forget(struct trace_clock *clock, const struct trace_horizon *horizon)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < clock->count; i++) {
        if (!is_forgotten(horizon, &clock->ticks[i]))
            clock->ticks[kept++] = clock->ticks[i];
    }
    clock->count = kept;
}

void trace_clock_clear(struct trace_clock *clock)
{
    free(clock->ticks);
    *clock = (struct trace_clock){.ticks = NULL};
}

bool trace_horizon_join(struct trace_horizon *horizon, const struct trace_clock *clock)
{
    uint32_t last = clock->count > 0 ? trace_tick_stream(clock->ticks[clock->count - 1].key) : 0;
    if (last >= horizon->capacity) {
        uint32_t capacity = 2 * last + 16;
        uint32_t *grown = realloc(horizon->complete, capacity * sizeof *grown);
        if (grown == NULL)
            return false;
        memset(grown + horizon->capacity, 0, (capacity - horizon->capacity) * sizeof *grown);
        horizon->complete = grown;
        horizon->capacity = capacity;
    }
    for (uint32_t i = 0; i < clock->count; i++) {
        uint32_t *complete = &horizon->complete[trace_tick_stream(clock->ticks[i].key)];
        horizon->version += *complete < clock->ticks[i].index;
        if (*complete < clock->ticks[i].index)
            *complete = clock->ticks[i].index;
    }
    return true;
}
