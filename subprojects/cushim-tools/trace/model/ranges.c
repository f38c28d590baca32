/* SPDX-License-Identifier: MIT */
#include "ranges.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A program can begin ranges and never end them: of more than MAX_OPEN, the oldest one is forgotten. */
enum { MAX_OPEN = 64, MAX_PATH_LENGTH = 500 };

/* A range that has begun. */
struct open_range {
    uint64_t domain, number; /* the number is 0 if it was pushed */
    const char *name, *path; /* the path ends with the name */
    unsigned lane;
    size_t index; /* in `all`, or SIZE_MAX */
};

struct range_thread {
    struct trace_key key;
    struct open_range *open; /* MAX_OPEN */
    size_t count;
};

/* Without memory, returns "", and `has_failed` is set. */
static const char *name_keep(struct trace_ranges *ranges, const char *name)
{
    const char *kept = trace_text_keep(&ranges->names, name, strlen(name));
    ranges->has_failed |= kept == NULL;
    return kept != NULL ? kept : "";
}

/* The paths from one range of a thread on. */
static void paths_make(struct trace_ranges *ranges, const struct range_thread *thread, size_t first)
{
    char path[MAX_PATH_LENGTH];
    for (size_t i = first; i < thread->count; i++) {
        struct open_range *open = &thread->open[i];
        open->path = open->name;
        if (i > 0) {
            snprintf(path, sizeof path, "%s > %s", thread->open[i - 1].path, open->name);
            open->path = name_keep(ranges, path);
        }
    }
}

/* The first lane that no open range of the thread has. */
static unsigned lane_find(const struct range_thread *thread)
{
    bool is_taken[MAX_OPEN + 1] = {false};
    unsigned lane = 0;
    for (size_t i = 0; i < thread->count; i++)
        is_taken[thread->open[i].lane] = true;
    while (is_taken[lane])
        lane++;
    return lane;
}

/* Returns its index, or SIZE_MAX. */
static size_t range_keep(struct trace_ranges *ranges, const struct trace_range_note *note, const char *name,
                         unsigned lane)
{
    if (!ranges->keeps_all)
        return SIZE_MAX;
    if (ranges->count == TRACE_MAX_RANGES) {
        ranges->left_out++;
        return SIZE_MAX;
    }
    if ((ranges->count & (ranges->count - 1)) == 0) { /* a power of two */
        size_t capacity = ranges->count == 0 ? 1 : 2 * ranges->count;
        struct trace_range *grown = realloc(ranges->all, capacity * sizeof *grown);
        ranges->has_failed |= grown == NULL;
        if (grown == NULL)
            return SIZE_MAX;
        ranges->all = grown;
    }
    bool is_mark = note->what == TRACE_RANGE_MARK;
    ranges->all[ranges->count] = (struct trace_range){
        note->process, note->thread, lane, is_mark, note->time, is_mark ? note->time : UINT64_MAX, name};
    return ranges->count++;
}

static void range_begin(struct trace_ranges *ranges, struct range_thread *thread, const struct trace_range_note *note)
{
    if (thread->count == MAX_OPEN) {
        memmove(thread->open, thread->open + 1, --thread->count * sizeof *thread->open);
        paths_make(ranges, thread, 0);
    }
    const char *name = name_keep(ranges, note->name[0] != '\0' ? note->name : "(no name)");
    unsigned lane = lane_find(thread);
    size_t index = range_keep(ranges, note, name, lane);
    if (note->what == TRACE_RANGE_MARK)
        return;
    if (thread->open == NULL && (thread->open = calloc(MAX_OPEN, sizeof *thread->open)) == NULL) {
        ranges->has_failed = true;
        return;
    }
    thread->open[thread->count++] = (struct open_range){note->domain, note->number, name, name, lane, index};
    paths_make(ranges, thread, thread->count - 1);
}

/* A number is that of one range of the process. */
static bool is_end_of(const struct trace_range_note *note, const struct open_range *open)
{
    return note->what == TRACE_RANGE_END ? note->number != 0 && open->number == note->number
                                         : open->number == 0 && open->domain == note->domain;
}

/* Ends the last range of the thread to which the note applies. Returns false if it has none. */
static bool range_end(struct trace_ranges *ranges, struct range_thread *thread, const struct trace_range_note *note)
{
    size_t i = thread->count;
    while (i > 0 && !is_end_of(note, &thread->open[i - 1]))
        i--;
    if (i == 0)
        return false;
    if (thread->open[i - 1].index != SIZE_MAX)
        ranges->all[thread->open[i - 1].index].end = note->time;
    memmove(&thread->open[i - 1], &thread->open[i], (thread->count - i) * sizeof *thread->open);
    thread->count--;
    paths_make(ranges, thread, i - 1);
    return true;
}

void trace_range_read(void *user, const struct trace_range_note *note)
{
    struct trace_ranges *ranges = user;
    ranges->threads.size = sizeof(struct range_thread);
    struct range_thread *thread =
        trace_table_add(&ranges->threads, (struct trace_key){(uint64_t)note->thread, (uint32_t)note->process, 1});
    ranges->has_failed |= thread == NULL;
    if (thread == NULL)
        return;
    if (note->what != TRACE_RANGE_POP && note->what != TRACE_RANGE_END) {
        range_begin(ranges, thread, note);
        return;
    }
    bool has_ended = range_end(ranges, thread, note);
    for (thread = NULL;
         note->what == TRACE_RANGE_END && !has_ended && (thread = trace_table_next(&ranges->threads, thread)) != NULL;)
        has_ended = thread->key.process == note->process && range_end(ranges, thread, note);
}

const char *trace_range_path(const struct trace_ranges *ranges, size_t process, long thread)
{
    const struct range_thread *found =
        trace_table_find(&ranges->threads, (struct trace_key){(uint64_t)thread, (uint32_t)process, 1});
    return found != NULL && found->count > 0 ? found->open[found->count - 1].path : NULL;
}

void trace_ranges_free(struct trace_ranges *ranges)
{
    for (const struct range_thread *thread = NULL; (thread = trace_table_next(&ranges->threads, thread)) != NULL;)
        free(thread->open);
    free(ranges->threads.entries);
    trace_texts_free(&ranges->names);
    free(ranges->all);
}
