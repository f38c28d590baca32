/* SPDX-License-Identifier: MIT */
/* What softcuda keeps for each thread that calls it. */
#include "engine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "os_thread.h"

static _Thread_local struct thread *self;
static struct thread *threads; /* a list of all, so that a leak checker finds them */
static uint64_t last_thread;

static void thread_end(void *value)
{
    struct thread *thread = value;
    os_lock();
    self = thread; /* the releases below may need the thread's data */
    stream_end_thread(thread);
    while (thread->depth > 0)
        object_unref(thread->stack[--thread->depth]);
    *thread->link = thread->next;
    if (thread->next != NULL)
        thread->next->link = thread->link;
    self = NULL;
    os_unlock();
    free(thread->stack);
    free(thread);
}

struct thread *thread_self(void)
{
    if (self == NULL) {
        struct thread *thread = calloc(1, sizeof *thread);
        if (thread == NULL)
            return NULL;
        thread->id = ++last_thread;
        thread->next = threads;
        thread->link = &threads;
        if (threads != NULL)
            threads->link = &thread->next;
        threads = thread;
        self = thread;
        os_at_thread_end(thread_end, thread);
    }
    return self;
}

void thread_explain(const char *format, ...)
{
    struct thread *thread = thread_self();
    va_list arguments;
    if (thread == NULL)
        return;
    va_start(arguments, format);
    vsnprintf(thread->explanation, sizeof thread->explanation, format, arguments);
    va_end(arguments);
}
