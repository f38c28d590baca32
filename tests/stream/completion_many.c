/* SPDX-License-Identifier: MIT */
/* Waiting for any and for all of several completions. */
#include "completion.h"

enum { COUNT = 4 };

struct scenario {
    struct cushim_stream *streams[COUNT];
    unsigned *held[COUNT];
    struct cushim_completion *completions[COUNT];
};

/* The kinds of the completions in an array. */
enum { MIXED = KINDS, ARRAYS };
static const char *const array_names[ARRAYS] = {"polled", "notifying", "mixed"};

/* Completions of work that is held back, each in a stream of its own. */
static void scenario_open(struct scenario *scenario, int array)
{
    for (int i = 0; i < COUNT; i++) {
        scenario->streams[i] = test_stream_new();
        scenario->held[i] = stream_block(scenario->streams[i]);
        scenario->completions[i] = completion_new(scenario->streams[i], kind_flags[array == MIXED ? i % KINDS : array]);
    }
}

static void scenario_close(struct scenario *scenario)
{
    for (int i = 0; i < COUNT; i++) {
        cushim_completion_destroy(&scenario->completions[i]);
        test_stream_close(scenario->streams[i]);
        host_free(scenario->held[i]);
    }
}

static void wait_for_any(int array)
{
    static const size_t order[COUNT] = {2, 0, 3, 1};
    const char *name = array_names[array];
    struct scenario scenario;
    size_t index = 99;
    scenario_open(&scenario, array);
    uint64_t begun = cushim_clock_ns();
    expect_error(key_of(name, "deadline", NULL),
                 cushim_completion_wait_any(scenario.completions, COUNT, begun + 20000000, &index), CUDA_ERROR_TIMEOUT);
    expect_true(key_of(name, "not-before-the-deadline", NULL), cushim_clock_ns() >= begun + 20000000);
    expect_error(key_of(name, "deadline-in-the-past", NULL),
                 cushim_completion_wait_any(scenario.completions, COUNT, 0, &index), CUDA_ERROR_TIMEOUT);
    expect_number(key_of(name, "untouched", NULL), (long long)index, 99);
    for (int i = 0; i < COUNT; i++) {
        stream_unblock(scenario.held[order[i]]);
        expect(key_of(name, ordinals[i], "wait"),
               cushim_completion_wait_any(scenario.completions, COUNT, soon(), &index), CUDA_SUCCESS);
        expect_number(key_of(name, ordinals[i], "index"), (long long)index, (long long)order[i]);
        expect(key_of(name, ordinals[i], "poll"), poll_status(scenario.completions[index]), CUDA_SUCCESS);
        cushim_completion_destroy(&scenario.completions[index]); /* NULL from now on, and passed over */
    }
    expect_error(key_of(name, "nothing-left", NULL),
                 cushim_completion_wait_any(scenario.completions, COUNT, soon(), &index), CUDA_ERROR_INVALID_VALUE);
    scenario_close(&scenario);
}

CHECK(any, "completion_many.any")
{
    for (int array = 0; array < ARRAYS; array++)
        wait_for_any(array);
}

static void wait_for_all_of(int array)
{
    const char *name = array_names[array];
    struct scenario scenario;
    CUresult status = CUDA_ERROR_UNKNOWN;
    scenario_open(&scenario, array);
    for (int i = 0; i < COUNT - 1; i++)
        stream_unblock(scenario.held[i]);
    expect_error(key_of(name, "deadline", NULL),
                 cushim_completion_wait_all(scenario.completions, COUNT, cushim_clock_ns() + 20000000, &status),
                 CUDA_ERROR_TIMEOUT);
    expect(key_of(name, "untouched", NULL), status, CUDA_ERROR_UNKNOWN);
    cushim_completion_destroy(&scenario.completions[1]);
    expect_success(key_of(name, "three-fire", NULL),
                   cushim_completion_wait_all(scenario.completions, COUNT - 1, soon(), &status));
    expect(key_of(name, "status", NULL), status, CUDA_SUCCESS);
    stream_unblock(scenario.held[COUNT - 1]);
    expect(key_of(name, "wait", NULL), wait_all_status(scenario.completions, COUNT, CUSHIM_FOREVER), CUDA_SUCCESS);
    for (int i = 0; i < COUNT; i++)
        expect(key_of(name, ordinals[i], "fired"),
               scenario.completions[i] == NULL ? CUDA_SUCCESS : poll_status(scenario.completions[i]), CUDA_SUCCESS);
    expect_success(key_of(name, "again", NULL), cushim_completion_wait_all(scenario.completions, COUNT, 0, NULL));
    scenario_close(&scenario);
}

CHECK(all, "completion_many.all")
{
    for (int array = 0; array < ARRAYS; array++)
        wait_for_all_of(array);
}

CHECK(argument, "completion_many.argument")
{
    struct cushim_completion *none[2] = {NULL, NULL};
    size_t index = 99;
    expect_error("any-null", cushim_completion_wait_any(NULL, 2, 0, &index), CUDA_ERROR_INVALID_VALUE);
    expect_error("any-empty", cushim_completion_wait_any(none, 0, 0, &index), CUDA_ERROR_INVALID_VALUE);
    expect_error("any-null-output", cushim_completion_wait_any(none, 2, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    expect_error("all-null", cushim_completion_wait_all(NULL, 2, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    expect("all-empty", wait_all_status(NULL, 0, 0), CUDA_SUCCESS);
    expect("all-passed-over", wait_all_status(none, 2, 0), CUDA_SUCCESS);
    expect_number("untouched", (long long)index, 99);
}

enum { THREADS = 4, ROUNDS = 50 };

struct crew {
    struct scenario *scenario;
    atomic_int waiting;
    atomic_int wrong;
};

/* Waits until all completions of the scenario have fired, each time for any of the rest. */
static void *wait_for_each(void *user)
{
    struct crew *crew = user;
    struct cushim_completion *rest[COUNT];
    size_t index;
    for (int i = 0; i < COUNT; i++)
        rest[i] = crew->scenario->completions[i];
    atomic_fetch_add(&crew->waiting, 1);
    for (int i = 0; i < COUNT; i++) {
        if (cushim_completion_wait_any(rest, COUNT, soon(), &index) != CUDA_SUCCESS
            || poll_status(rest[index]) != CUDA_SUCCESS) {
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
    if (wait_all_status(crew->scenario->completions, COUNT, soon()) != CUDA_SUCCESS)
        atomic_fetch_add(&crew->wrong, 1);
    return NULL;
}

/* Threads wait for the same completions, in both ways. */
CHECK(threads, "completion_many.threads")
{
    int wrong = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct scenario scenario;
        struct crew crew = {.scenario = &scenario};
        pthread_t ids[THREADS];
        scenario_open(&scenario, round % ARRAYS);
        for (int i = 0; i < THREADS; i++)
            pthread_create(&ids[i], NULL, i % 2 == 0 ? wait_for_each : wait_for_all, &crew);
        while (round % 2 == 0 && atomic_load(&crew.waiting) < THREADS)
            pause_shortly();
        for (int i = 0; i < COUNT; i++)
            stream_unblock(scenario.held[i]);
        for (int i = 0; i < THREADS; i++)
            pthread_join(ids[i], NULL);
        wrong += atomic_load(&crew.wrong);
        scenario_close(&scenario);
    }
    expect_number("wrong", wrong, 0);
}

/* All are waited for, also after one has failed. */
static void status_of(int array)
{
    const char *name = array_names[array];
    struct cushim_stream *stream = test_stream_new();
    struct cushim_completion *completions[3] = {completion_new(stream, kind_flags[array]), NULL, NULL};
    CUfunction function = NULL;
    size_t index = 99;
    expect(key_of(name, "first", NULL), wait_status(completions[0], soon()), CUDA_SUCCESS);
    require("kernel", kernel_get("conformance_fault", &function));
    if (!require("fault", kernel_launch(function, cushim_stream_handle(stream), NULL)))
        return;
    completions[1] = completion_new(stream, kind_flags[array]);
    completions[2] = completion_new(stream, kind_flags[array]);
    expect(key_of(name, "all", NULL), wait_all_status(completions, 3, soon()), CUDA_ERROR_ILLEGAL_ADDRESS);
    expect(key_of(name, "last-has-fired", NULL), poll_status(completions[2]), CUDA_ERROR_ILLEGAL_ADDRESS);
    cushim_completion_destroy(&completions[0]);
    expect(key_of(name, "any", NULL), cushim_completion_wait_any(completions, 3, soon(), &index), CUDA_SUCCESS);
    expect_number(key_of(name, "index", NULL), (long long)index, 1);
    cushim_completion_destroy(&completions[1]);
    cushim_completion_destroy(&completions[2]);
    observe(key_of(name, "destroy", NULL), cushim_stream_destroy(&stream));
}

CHECK(status_polled, "completion_many.status-polled", .flags = CHECK_ALONE)
{
    status_of(POLLED);
}

CHECK(status_notifying, "completion_many.status-notifying", .flags = CHECK_ALONE)
{
    status_of(NOTIFYING);
}
