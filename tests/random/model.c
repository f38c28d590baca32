/* SPDX-License-Identifier: MIT */
/*
 * In which order work must be done. Each thread counts its work in each stream, and knows for each piece which work of
 * its other streams is before it: vector clocks. A function that runs too early, twice or never is a failure.
 */
#include <stdlib.h>
#include <time.h>

#include "random.h"

static struct marker *markers[MAX_THREADS * MARKERS];
static atomic_uint count;

struct marker *marker_new(struct lines *lines, enum kind kind, const char *name)
{
    static _Thread_local unsigned own;
    struct marker *marker = own < MARKERS ? calloc(1, sizeof *marker) : NULL;
    if (marker == NULL)
        return NULL;
    own++;
    marker->kind = kind;
    marker->name = name;
    marker->lines = lines;
    markers[atomic_fetch_add(&count, 1)] = marker;
    return marker;
}

void clock_merge(struct clock *clock, const struct clock *other)
{
    for (int i = 0; i < LINES; i++)
        if (clock->of[i] < other->of[i])
            clock->of[i] = other->of[i];
}

void clock_check(const struct lines *lines, const struct clock *clock, const char *what)
{
    for (int i = 0; i < LINES && !atomic_load(&broken); i++) {
        unsigned done = atomic_load(&lines->done[i]);
        if (done < clock->of[i])
            fail("%s before work %u of line %d, where %u are done", what, clock->of[i], i, done);
    }
}

static void check_recipe(const struct recipe *recipe, unsigned launch, unsigned nodes, const char *what)
{
    for (unsigned i = 0; i < recipe->count && !atomic_load(&broken); i++)
        if ((nodes >> i & 1) != 0 && atomic_load(&recipe->nodes[i]->calls) < launch)
            fail("%s before node %u of launch %u", what, i, launch);
}

static void node_call(struct marker *node, unsigned calls)
{
    if (calls > LAUNCHES)
        fail("a node was called %u times", calls);
    clock_check(node->lines, &node->recipe->before[calls - 1], "a node was called");
    check_recipe(node->recipe, calls, node->needs, "a node was called");
}

static void work_call(struct marker *work)
{
    if (work->recipe != NULL)
        check_recipe(work->recipe, work->launch, ~0u, "work was done");
    if (work->word != NULL && *work->word != work->number && !atomic_load(&broken))
        fail("work was done, and the memory before it was not written");
    if (atomic_exchange(&work->lines->done[work->line], work->number) >= work->number)
        fail("newer work of line %u was done first", work->line);
}

void marker_function(void *user)
{
    struct marker *marker = user;
    unsigned calls = atomic_fetch_add(&marker->calls, 1) + 1;
    if (atomic_load(&marker->releases) != 0)
        fail("a function of %s was called after its release", marker->name);
    if (marker->kind == NODE) {
        node_call(marker, calls);
        return;
    }
    if (calls > 1 || atomic_load(&marker->cancelled))
        fail("a function of %s was called twice, or after its completion was destroyed", marker->name);
    if (marker->microseconds != 0)
        nanosleep(&(struct timespec){0, marker->microseconds * 1000}, NULL);
    clock_check(marker->lines, &marker->before, marker->name);
    if (marker->kind == WORK)
        work_call(marker);
}

void CUDA_CB marker_host_function(void *user)
{
    marker_function(user);
}

static void check_status(const struct marker *marker, CUresult status)
{
    if (status != CUDA_SUCCESS && !atomic_load(&broken))
        fail("a function of %s got the status %d", marker->name, (int)status);
}

void CUDA_CB marker_callback(CUstream stream, CUresult status, void *user)
{
    (void)stream;
    check_status(user, status);
    marker_function(user);
}

void marker_fired(CUresult status, void *user)
{
    struct marker *marker = user;
    check_status(marker, status);
    marker_function(marker);
    struct cushim_completion *own = atomic_exchange(&marker->own, NULL);
    if (marker->detaches)
        cushim_completion_detach(&own);
    else
        cushim_completion_destroy(&own);
}

void marker_release(void *user)
{
    struct marker *marker = user;
    if (atomic_fetch_add(&marker->releases, 1) != 0)
        fail("the user data of %s was destroyed twice", marker->name);
    if (marker->kind == BODY)
        clock_check(marker->lines, &marker->before, "the user data of a body was destroyed");
}

void (*marker_choose_release(struct marker *marker))(void *user)
{
    marker->has_release = !one_in(4);
    return marker->has_release ? marker_release : NULL;
}

void marker_given(struct marker *marker, CUresult result)
{
    if (result == CUDA_SUCCESS) {
        atomic_store(&marker->given, true);
        return;
    }
    struct cushim_completion *own = atomic_exchange(&marker->own, NULL);
    cushim_completion_detach(&own);
    check(atomic_load(&marker->calls) == 0, "a refused function was called");
    check(atomic_load(&marker->releases) == marker->has_release, "a refused function was not released");
}

static bool is_open(struct marker *marker)
{
    return atomic_load(&marker->given)
           && ((marker->has_release && atomic_load(&marker->releases) == 0)
               || ((marker->kind == WORK || atomic_load(&marker->must_call)) && atomic_load(&marker->calls) == 0
                   && !atomic_load(&broken)));
}

void markers_drop_completions(void)
{
    for (unsigned i = 0; i < markers_count(); i++) {
        struct cushim_completion *own = atomic_exchange(&markers[i]->own, NULL);
        cushim_completion_detach(&own);
    }
}

void markers_finish(void)
{
    uint64_t end = cushim_clock_ns() + PATIENCE;
    for (unsigned i = 0; i < markers_count(); i++) {
        while (is_open(markers[i]) && cushim_clock_ns() < end)
            nanosleep(&(struct timespec){0, 200000}, NULL);
        if (is_open(markers[i]))
            fail("a function of %s was never called, or its user data never destroyed", markers[i]->name);
    }
}

unsigned markers_count(void)
{
    return atomic_load(&count);
}
