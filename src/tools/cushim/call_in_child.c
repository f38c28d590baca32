/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <stdio.h>

#include "doctor/child.h"

struct child_call {
    struct child_memory child;
    volatile bool writes;
    volatile int result;
    int (*function)(const struct options *options);
    const struct options *options;
};

static struct child_call *own_call; /* of this process, if it is the child */

void call_writes(void)
{
    if (own_call != NULL)
        own_call->writes = true;
}

static void call_make(void *memory)
{
    struct child_call *call = memory;
    own_call = call;
    call->result = call->function(call->options);
    if (!text_flush())
        call->result = STATUS_UNUSABLE;
}

static bool call_is_late(const struct child_call *call, uint64_t end)
{
    return !call->writes && cushim_clock_ns() >= end;
}

/* Waits for the child, and leaves one that does not end. */
static enum call_end call_wait(struct child_call *call, struct child *child, uint64_t end)
{
    call->child.may_begin = true;
    while (!child_has_ended(child)) {
        if (call_is_late(call, end)) {
            (void)child_stop(child);
            return CALL_LATE;
        }
        platform_sleep(1);
    }
    return call->child.has_ended ? CALL_RETURNED : CALL_ENDED;
}

enum call_end call_in_child(int (*function)(const struct options *), const struct options *options, int seconds,
                            int *out_result, int *out_signal)
{
    const uint64_t end = cushim_clock_ns() + (uint64_t)seconds * 1000000000;
    struct child_call *call = child_memory_create(sizeof *call);
    enum call_end how = CALL_NOT_MADE;
    if (call == NULL)
        return how;
    call->function = function;
    call->options = options;
    struct child child = child_start(call_make, call);
    if (child.error == 0) {
        how = call_wait(call, &child, end);
        *out_result = call->result;
        *out_signal = child.signal;
    }
    child_memory_destroy(call, sizeof *call);
    return how;
}
