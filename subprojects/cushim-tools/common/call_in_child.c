/* SPDX-License-Identifier: MIT */
#include "in_child.h"

#include <stdio.h>
#include <stdlib.h>

#include "cushim/cushim.h"
#include "child.h"
#include "platform.h"
#include "selected_driver.h"

struct child_call {
    struct child_memory child;
    volatile int result;
    int (*function)(const struct options *options);
    const struct options *options;
};

static struct child_call *own_call; /* of this process, if it is the child */

void call_answers(void)
{
    if (own_call != NULL)
        child_answers(&own_call->child);
}

static void call_make(void *memory)
{
    struct child_call *call = memory;
    own_call = call;
    call->result = call->function(call->options);
    if (!text_flush())
        call->result = STATUS_UNUSABLE;
}

/* Waits for the child, and leaves one that does not end. */
static enum call_end call_wait(struct child_call *call, struct child *child, uint64_t end)
{
    call->child.may_begin = true;
    while (!child_has_ended(child)) {
        if (cushim_clock_ns() >= end) {
            (void)child_stop(child);
            return CALL_LATE;
        }
        platform_sleep(1);
    }
    return call->child.has_ended ? CALL_RETURNED : CALL_ENDED;
}

struct call_failure call_failure(enum call_end how, int seconds, int signal)
{
    struct call_failure failure;
    if (how == CALL_LATE)
        snprintf(failure.text, sizeof failure.text, "The driver did not return within %d s.", seconds);
    else
        snprintf(failure.text, sizeof failure.text, "The driver ended the process%s%s%s.", signal != 0 ? " (" : "",
                 signal != 0 ? child_signal_name(signal) : "", signal != 0 ? ")" : "");
    return failure;
}

enum call_end call_in_child(int (*function)(const struct options *), const struct options *options, int seconds,
                            int *out_result, int *out_signal)
{
    const uint64_t end = cushim_clock_ns() + (uint64_t)seconds * 1000000000;
    struct child_call *call = child_memory_create(sizeof *call);
    enum call_end how = CALL_NOT_MADE;
    if (call == NULL)
        return how;
    call->child.is_relayed = true;
    call->function = function;
    call->options = options;
    struct child child = child_start(call_make, call);
    if (child.error == 0) {
        how = call_wait(call, &child, end);
        *out_result = call->result;
        *out_signal = child.signal;
        if (child.error != 0) { /* the child has ended because nobody read its answer */
            how = CALL_RETURNED;
            *out_result = STATUS_UNUSABLE;
            text_complain("there is not enough memory");
        } else if (how == CALL_RETURNED) {
            text_write(child.answer, child.answer_size);
        }
        free(child.answer);
    }
    child_memory_destroy(call, sizeof *call);
    return how;
}

enum status call_command(int (*answer)(const struct options *), const struct options *options)
{
    int result = STATUS_UNUSABLE, signal = 0;
    enum call_end how = call_in_child(answer, options, CALL_SECONDS, &result, &signal);
    if (how == CALL_RETURNED)
        return (enum status)result;
    if (how != CALL_NOT_MADE)
        driver_refuse(call_failure(how, CALL_SECONDS, signal).text);
    return (enum status)answer(options);
}
