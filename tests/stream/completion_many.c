/* SPDX-License-Identifier: MIT */
/* Waiting for any and for all of several completions. */
#include "completion.h"

enum { COUNT = 4 };

struct scene {
    struct cushim_stream *streams[COUNT];
    unsigned *held[COUNT];
    struct cushim_completion *completions[COUNT];
};

/* Completions of work that is held back, each in a stream of its own. */
static void scene_open(struct scene *scene)
{
    for (int i = 0; i < COUNT; i++) {
        scene->streams[i] = layer_stream();
        scene->held[i] = stream_block(scene->streams[i]);
        scene->completions[i] = completion_new(scene->streams[i]);
    }
}

static void scene_end(struct scene *scene)
{
    for (int i = 0; i < COUNT; i++) {
        cushim_completion_destroy(&scene->completions[i]);
        layer_stream_end(scene->streams[i]);
        host_free(scene->held[i]);
    }
}

static void any(void)
{
    static const size_t order[COUNT] = {2, 0, 3, 1};
    struct scene scene;
    size_t index = 99;
    scene_open(&scene);
    uint64_t begun = cushim_time_ns();
    refused("deadline", cushim_completion_wait_any(scene.completions, COUNT, begun + 20000000, &index),
            CUDA_ERROR_TIMEOUT, "cushim_completion_wait_any");
    rule_fact("not-before-the-deadline", cushim_time_ns() >= begun + 20000000);
    refused("deadline-in-the-past", cushim_completion_wait_any(scene.completions, COUNT, 0, &index), CUDA_ERROR_TIMEOUT,
            "cushim_completion_wait_any");
    rule_number("untouched", (long long)index, 99);
    for (int i = 0; i < COUNT; i++) {
        stream_unblock(scene.held[order[i]]);
        rule(key_of(turns[i], "wait", NULL), cushim_completion_wait_any(scene.completions, COUNT, soon(), &index),
             CUDA_SUCCESS);
        rule_number(key_of(turns[i], "index", NULL), (long long)index, (long long)order[i]);
        rule(key_of(turns[i], "poll", NULL), cushim_completion_poll(scene.completions[index]), CUDA_SUCCESS);
        cushim_completion_destroy(&scene.completions[index]); /* NULL from now on, and passed over */
    }
    refused("nothing-left", cushim_completion_wait_any(scene.completions, COUNT, soon(), &index),
            CUDA_ERROR_INVALID_VALUE, "cushim_completion_wait_any");
    scene_end(&scene);
}

static void all(void)
{
    struct scene scene;
    scene_open(&scene);
    for (int i = 0; i < COUNT - 1; i++)
        stream_unblock(scene.held[i]);
    refused("deadline", cushim_completion_wait_all(scene.completions, COUNT, cushim_time_ns() + 20000000),
            CUDA_ERROR_TIMEOUT, "cushim_completion_wait_all");
    cushim_completion_destroy(&scene.completions[1]);
    rule("three-fire", cushim_completion_wait_all(scene.completions, COUNT - 1, soon()), CUDA_SUCCESS);
    stream_unblock(scene.held[COUNT - 1]);
    rule("wait", cushim_completion_wait_all(scene.completions, COUNT, CUSHIM_FOREVER), CUDA_SUCCESS);
    for (int i = 0; i < COUNT; i++)
        rule(key_of(turns[i], "fired", NULL),
             scene.completions[i] == NULL ? CUDA_SUCCESS : cushim_completion_poll(scene.completions[i]), CUDA_SUCCESS);
    rule("again", cushim_completion_wait_all(scene.completions, COUNT, 0), CUDA_SUCCESS);
    scene_end(&scene);
}

static void argument(void)
{
    struct cushim_completion *none[2] = {NULL, NULL};
    size_t index = 99;
    refused("any-null", cushim_completion_wait_any(NULL, 2, 0, &index), CUDA_ERROR_INVALID_VALUE,
            "cushim_completion_wait_any");
    refused("any-empty", cushim_completion_wait_any(none, 0, 0, &index), CUDA_ERROR_INVALID_VALUE,
            "cushim_completion_wait_any");
    refused("any-null-output", cushim_completion_wait_any(none, 2, 0, NULL), CUDA_ERROR_INVALID_VALUE,
            "cushim_completion_wait_any");
    refused("all-null", cushim_completion_wait_all(NULL, 2, 0), CUDA_ERROR_INVALID_VALUE, "cushim_completion_wait_all");
    rule("all-empty", cushim_completion_wait_all(NULL, 0, 0), CUDA_SUCCESS);
    rule("all-passed-over", cushim_completion_wait_all(none, 2, 0), CUDA_SUCCESS);
    rule_number("untouched", (long long)index, 99);
}

enum { THREADS = 4, ROUNDS = 50 };

struct crew {
    struct scene *scene;
    atomic_int waiting;
    atomic_int wrong;
};

/* Waits until all completions of the scene have fired, each time for any of the rest. */
static void *wait_for_each(void *user)
{
    struct crew *crew = user;
    struct cushim_completion *rest[COUNT];
    size_t index;
    for (int i = 0; i < COUNT; i++)
        rest[i] = crew->scene->completions[i];
    atomic_fetch_add(&crew->waiting, 1);
    for (int i = 0; i < COUNT; i++) {
        if (cushim_completion_wait_any(rest, COUNT, soon(), &index) != CUDA_SUCCESS
            || cushim_completion_poll(rest[index]) != CUDA_SUCCESS) {
            atomic_fetch_add(&crew->wrong, 1);
            return NULL;
        }
        rest[index] = NULL;
    }
    return NULL;
}

static void *wait_for_all(void *user)
{
    struct crew *crew = user;
    atomic_fetch_add(&crew->waiting, 1);
    if (cushim_completion_wait_all(crew->scene->completions, COUNT, soon()) != CUDA_SUCCESS)
        atomic_fetch_add(&crew->wrong, 1);
    return NULL;
}

/* Threads wait for the same completions, in both ways. */
static void threads(void)
{
    int wrong = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct scene scene;
        struct crew crew = {.scene = &scene};
        pthread_t ids[THREADS];
        scene_open(&scene);
        for (int i = 0; i < THREADS; i++)
            pthread_create(&ids[i], NULL, i % 2 == 0 ? wait_for_each : wait_for_all, &crew);
        while (round % 2 == 0 && atomic_load(&crew.waiting) < THREADS)
            pause_shortly();
        for (int i = 0; i < COUNT; i++)
            stream_unblock(scene.held[i]);
        for (int i = 0; i < THREADS; i++)
            pthread_join(ids[i], NULL);
        wrong += atomic_load(&crew.wrong);
        scene_end(&scene);
    }
    rule_number("wrong", wrong, 0);
}

/* All are waited for, also after one has failed. */
static void status(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_completion *completions[3] = {completion_new(stream), NULL, NULL};
    CUfunction function = NULL;
    size_t index = 99;
    rule("first", cushim_completion_wait(completions[0], soon()), CUDA_SUCCESS);
    need("kernel", kernel_get("conformance_fault", &function));
    if (!need("fault", kernel_launch(function, cushim_stream_handle(stream), NULL)))
        return;
    completions[1] = completion_new(stream);
    completions[2] = completion_new(stream);
    refused("all", cushim_completion_wait_all(completions, 3, soon()), CUDA_ERROR_ILLEGAL_ADDRESS,
            "cushim_completion_wait_all");
    rule("last-has-fired", cushim_completion_poll(completions[2]), CUDA_ERROR_ILLEGAL_ADDRESS);
    cushim_completion_destroy(&completions[0]);
    rule("any", cushim_completion_wait_any(completions, 3, soon(), &index), CUDA_SUCCESS);
    rule_number("index", (long long)index, 1);
    cushim_completion_destroy(&completions[1]);
    cushim_completion_destroy(&completions[2]);
    saw("destroy", cushim_stream_destroy(&stream));
}

static const struct check checks[] = {
    {"completion_many.any", any, 0, {0}},
    {"completion_many.all", all, 0, {0}},
    {"completion_many.argument", argument, 0, {0}},
    {"completion_many.threads", threads, 0, {0}},
    {"completion_many.status", status, CHECK_ALONE, {0}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_completion_many = {"completion_many", checks};
