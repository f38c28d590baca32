/* SPDX-License-Identifier: MIT */
#include "operations.h"

static int number_of(struct cushim_event **slot)
{
    return (int)(slot - objects->events);
}

static struct cushim_event **free_event(void)
{
    for (int i = 0; i < EVENTS; i++)
        if (objects->events[i] == NULL)
            return &objects->events[i];
    return NULL;
}

void op_event_create(void)
{
    struct cushim_event **slot = free_event();
    unsigned flags = choose(2) * CU_EVENT_BLOCKING_SYNC | choose(2) * CU_EVENT_DISABLE_TIMING;
    if (slot == NULL)
        return;
    note("event %d, flags %u", number_of(slot), flags);
    CUresult result = noted(cushim_event_create(pick_context()->context, flags, slot));
    check((result == CUDA_SUCCESS) == (*slot != NULL), "a result was not written, or in spite of a failure");
    check(result == CUDA_SUCCESS || faults || atomic_load(&broken), "no event was made");
}

void op_event_borrow(void)
{
    struct cushim_event **slot = free_event();
    if (slot == NULL)
        return;
    note("event %d", number_of(slot));
    noted(cushim_event_borrow(objects->driver_events[choose(2)], NULL, slot));
}

void op_event_destroy(void)
{
    struct cushim_event **slot = pick_event();
    if (slot == NULL)
        return;
    note("event %d", number_of(slot));
    noted(cushim_event_destroy(slot));
    check(*slot == NULL, "the variable is not NULL");
}

/* A graph keeps the event of an external record or wait, which therefore must outlive all graphs. */
static unsigned choose_external(const struct cushim_event *event, unsigned flag)
{
    CUevent handle = cushim_event_handle(event);
    bool lasts = handle == objects->driver_events[0] || handle == objects->driver_events[1];
    return one_in(8) && lasts ? flag : 0;
}

void op_event_record(void)
{
    struct cushim_event **slot = pick_event();
    struct stream_slot *stream = pick_stream();
    if (slot == NULL || stream == NULL)
        return;
    unsigned flags = choose_external(*slot, CU_EVENT_RECORD_EXTERNAL);
    note("event %d, stream %d, flags %u", number_of(slot), (int)(stream - objects->streams), flags);
    noted(cushim_event_record(*slot, stream->stream, flags));
}

/* Not on a shared stream, which this could bring into a capture. */
void op_event_wait(void)
{
    struct cushim_event **slot = pick_event();
    struct stream_slot *stream = pick_own_stream();
    if (slot == NULL || stream == NULL)
        return;
    unsigned flags = choose_external(*slot, CU_EVENT_WAIT_EXTERNAL);
    note("event %d, stream %d, flags %u", number_of(slot), (int)(stream - objects->streams), flags);
    noted(cushim_stream_wait_event(stream->stream, *slot, flags));
}

void op_event_query(void)
{
    struct cushim_event **slot = pick_event();
    if (slot == NULL)
        return;
    note("event %d", number_of(slot));
    noted(one_in(2) ? cushim_event_query(*slot) : cushim_event_synchronize(*slot));
}

void op_event_elapsed(void)
{
    struct cushim_event **start = pick_event();
    struct cushim_event **end = pick_event();
    float milliseconds = -77;
    if (start == NULL || end == NULL)
        return;
    note("events %d and %d", number_of(start), number_of(end));
    if (noted(cushim_event_elapsed(*start, *end, &milliseconds)) != CUDA_SUCCESS)
        check(milliseconds == -77, "a time was written in spite of a failure");
}
