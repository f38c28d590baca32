/* SPDX-License-Identifier: MIT */
#include "crowd.h"

#include <pthread.h>

#include "test_list.h"

enum { MAX_THREADS = 64 };

struct member {
    pthread_barrier_t *start;
    void (*work)(int index);
    int index;
};

static void *run_member(void *argument)
{
    struct member *member = argument;
    pthread_barrier_wait(member->start);
    member->work(member->index);
    return NULL;
}

void crowd_run(int count, void (*work)(int index))
{
    pthread_barrier_t start;
    pthread_t threads[MAX_THREADS];
    struct member members[MAX_THREADS];
    assert_in_range(count, 1, MAX_THREADS);
    assert_int_equal(pthread_barrier_init(&start, NULL, (unsigned)count), 0);
    for (int i = 0; i < count; i++) {
        members[i] = (struct member){&start, work, i};
        assert_int_equal(pthread_create(&threads[i], NULL, run_member, &members[i]), 0);
    }
    for (int i = 0; i < count; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    pthread_barrier_destroy(&start);
}
