/* SPDX-License-Identifier: MIT */
#include "thread.h"

#include <stdlib.h>

#include "context.h"
#include "os_thread.h"
#include "stream.h"

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
        struct thread *thread = calloc(1, sizeof(*thread));
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

uint64_t soft_next_id(void)
{
    static uint64_t last;
    return ++last;
}

bool soft_reserve(void **items, size_t *capacity, size_t count, size_t item_size)
{
    if (count <= *capacity)
        return true;
    size_t more = *capacity < 4 ? 4 : *capacity * 2;
    if (more < count)
        more = count;
    void *larger = realloc(*items, more * item_size);
    if (larger == NULL)
        return false;
    *items = larger;
    *capacity = more;
    return true;
}
