/* SPDX-License-Identifier: MIT */
/*
 * The memory of completions: slabs that are never returned to the system, and a list of the free completions. The head
 * of a list contains a count of its changes, so that an exchange cannot mistake an old head for the current one. The
 * count has 43 bits: it overflows after days of changes alone.
 */
#include "completion_pool.h"

#include <stdlib.h>

enum { SLAB_SIZE = 1024, SLABS = 1024, INDEX_BITS = 21 };

#define INDEX_MASK ((UINT64_C(1) << INDEX_BITS) - 1)

_Static_assert(INDEX_MASK > (uint64_t)SLABS * SLAB_SIZE, "an index plus one must fit");

static _Atomic(struct cushim_completion *) slabs[SLABS];
static atomic_uint completion_pool_slab_count;

/* The free completions: those without an event, and those with one, by the id of its context. */
enum { EVENT_LISTS = 64 };
static struct completion_list free_lists[1 + EVENT_LISTS];

static struct completion_list *free_list_of(unsigned long long id)
{
    return &free_lists[id == 0 ? 0 : 1 + id % EVENT_LISTS];
}

struct cushim_completion *cush_completion_pool_at(unsigned index)
{
    return atomic_load_explicit(&slabs[index / SLAB_SIZE], memory_order_acquire) + index % SLAB_SIZE;
}

void cush_completion_list_put(struct completion_list *list, struct cushim_completion *first,
                              struct cushim_completion *last)
{
    uint64_t head = atomic_load(&list->head);
    uint64_t changed;
    do {
        atomic_store_explicit(&last->next, (unsigned)(head & INDEX_MASK), memory_order_relaxed);
        changed = ((head >> INDEX_BITS) + 1) << INDEX_BITS | (first->index + 1);
    } while (!atomic_compare_exchange_weak(&list->head, &head, changed));
}

struct cushim_completion *cush_completion_list_take(struct completion_list *list)
{
    uint64_t head = atomic_load(&list->head);
    while ((head & INDEX_MASK) != 0) {
        struct cushim_completion *first = cush_completion_pool_at((unsigned)(head & INDEX_MASK) - 1);
        uint64_t next = atomic_load_explicit(&first->next, memory_order_relaxed);
        if (atomic_compare_exchange_weak(&list->head, &head, ((head >> INDEX_BITS) + 1) << INDEX_BITS | next))
            return first;
    }
    return NULL;
}

bool cush_completion_list_is_empty(const struct completion_list *list)
{
    return (atomic_load(&list->head) & INDEX_MASK) == 0;
}

/* Adds a slab and returns its first completion; the others become free. */
static struct cushim_completion *completion_pool_grow(void)
{
    cush_os_watch_forks();
    struct cushim_completion *slab = calloc(SLAB_SIZE, sizeof *slab);
    if (slab == NULL)
        return NULL;
    unsigned number = atomic_load(&completion_pool_slab_count);
    do {
        if (number == SLABS) {
            free(slab);
            return NULL;
        }
    } while (!atomic_compare_exchange_weak(&completion_pool_slab_count, &number, number + 1));
    for (unsigned i = 0; i < SLAB_SIZE; i++) {
        slab[i].index = number * SLAB_SIZE + i;
        atomic_init(&slab[i].next, slab[i].index + 2);
    }
    atomic_store_explicit(&slabs[number], slab, memory_order_release);
    cush_completion_list_put(&free_lists[0], &slab[1], &slab[SLAB_SIZE - 1]);
    return &slab[0];
}

void cush_completion_pool_each(void (*visit)(struct cushim_completion *completion, void *user), void *user)
{
    for (unsigned i = 0; i < SLABS; i++) {
        struct cushim_completion *slab = atomic_load_explicit(&slabs[i], memory_order_acquire);
        for (unsigned j = 0; slab != NULL && j < SLAB_SIZE; j++)
            visit(&slab[j], user);
    }
}

/* Returns a free completion without an event. */
static struct cushim_completion *completion_pool_get_plain(void)
{
    struct cushim_completion *completion = cush_completion_list_take(&free_lists[0]);
    return completion != NULL ? completion : completion_pool_grow();
}

struct cushim_completion *cush_completion_pool_get(unsigned long long id)
{
    struct cushim_completion *completion = id != 0 ? cush_completion_list_take(free_list_of(id)) : NULL;
    if (completion == NULL)
        completion = completion_pool_get_plain();
    for (unsigned i = 0; i < EVENT_LISTS && completion == NULL; i++)
        completion = cush_completion_list_take(&free_lists[1 + i]);
    return completion;
}

void cush_completion_pool_put(struct cushim_completion *completion)
{
    cush_completion_list_put(free_list_of(completion->event.handle != NULL ? completion->event.id : 0), completion,
                             completion);
}
