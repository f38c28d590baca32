/* SPDX-License-Identifier: MIT */
/* Sets that many threads use, and sets in a process that was forked. */
#if !defined(_WIN32)
#    include <sys/wait.h>
#    include <unistd.h>
#endif

#include "completion_set.h"

enum { MANY = 4000, THREADS = 4 };

static atomic_int outs[MANY];

struct crew {
    struct cushim_completion_set *set;
    atomic_int left;
    atomic_int wrong;
};

static void *take_out(void *user)
{
    struct crew *crew = user;
    while (atomic_fetch_sub(&crew->left, 1) > 0) {
        struct cushim_completion *completion = NULL;
        void *place = NULL;
        if (cushim_completion_set_wait(crew->set, soon(), &completion, &place) != CUDA_SUCCESS
            || cushim_completion_poll(completion) != CUDA_SUCCESS) {
            atomic_fetch_add(&crew->wrong, 1);
            break;
        }
        atomic_fetch_add((atomic_int *)place, 1);
        cushim_completion_destroy(&completion);
    }
    return NULL;
}

/* Makes the pool grow to as many completions as two rounds use: those of the round before may still be in use. */
static void fill_pool(struct cushim_stream *stream)
{
    static struct cushim_completion *completions[2 * MANY];
    for (int i = 0; i < 2 * MANY; i++)
        completions[i] = completion_new(stream);
    for (int i = 0; i < 2 * MANY; i++)
        cushim_completion_destroy(&completions[i]);
}

/* Threads take them out while others are added and fire. Nothing is allocated once the pool has grown. */
static void many(void)
{
    struct crew crew = {.set = set_new()};
    struct cushim_stream *stream = layer_stream();
    long blocks = 0;
    int wrong = 0;
    fill_pool(stream);
    for (int round = 0; round < 3; round++) {
        pthread_t threads[THREADS];
        for (int i = 0; i < MANY; i++)
            atomic_store(&outs[i], 0);
        atomic_store(&crew.left, MANY);
        if (round == 2)
            blocks = allocation_count();
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, take_out, &crew);
        for (int i = 0; i < MANY; i++)
            need("add", cushim_completion_set_add(crew.set, completion_new(stream), &outs[i]));
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        for (int i = 0; i < MANY; i++)
            wrong += atomic_load(&outs[i]) != 1;
    }
    rule_number("wrong", wrong + atomic_load(&crew.wrong), 0);
    rule_fact("nothing-is-allocated-in-the-steady-state", allocation_count() <= blocks);
    rule_nothing("empty", crew.set);
    cushim_completion_set_destroy(&crew.set);
    layer_stream_end(stream);
}

#if !defined(_WIN32)
static void forked(void)
{
    struct gate gate;
    int status = -1;
    struct cushim_completion *out = NULL;
    struct cushim_completion_set *set = set_new();
    struct cushim_stream *stream = layer_stream();
    gate_close(&gate, cushim_stream_handle(stream));
    struct cushim_completion *completion = completion_new(stream);
    done("add", cushim_completion_set_add(set, completion, NULL));
    pid_t child = fork();
    if (child == 0) {
        size_t index;
        alarm(10);
        bool right = cushim_completion_set_wait(set, CUSHIM_FOREVER, &out, NULL) == CUDA_ERROR_NOT_INITIALIZED
                     && cushim_completion_wait_any(&completion, 1, CUSHIM_FOREVER, &index) == CUDA_ERROR_NOT_INITIALIZED
                     && cushim_completion_wait_all(&completion, 1, CUSHIM_FOREVER) == CUDA_ERROR_NOT_INITIALIZED;
        cushim_completion_destroy(&completion);
        cushim_completion_set_destroy(&set);
        _exit(right ? 0 : 1);
    }
    waitpid(child, &status, 0);
    rule_number("child", status, 0);
    gate_open(&gate);
    rule_fact("parent", come_out(set, NULL) == completion);
    cushim_completion_destroy(&completion);
    cushim_completion_set_destroy(&set);
    layer_stream_end(stream);
}
#else
static void forked(void)
{
    lacks(NULL, "fork");
}
#endif

static const struct check checks[] = {
    {"completion_set_thread.many", many, 0, {0}},
    {"completion_set_thread.forked", forked, CHECK_ALONE, {0}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_completion_set_thread = {"completion_set_thread", checks};
