/* SPDX-License-Identifier: MIT */
/* Completions and dispatchers that have callbacks are destroyed: by a callback, with a variable that its release
 * overwrites, and while the callback is being set. */
#if !defined(_WIN32)
#    define _GNU_SOURCE
#    include <signal.h>
#    include <time.h>
#endif
#include <stdlib.h>

#include "completion_callback.h"

static struct cushim_dispatcher *to_destroy;

static void destroy_dispatcher(CUresult status, void *user)
{
    take_note(status, user);
    cushim_dispatcher_destroy(&to_destroy);
}

/* The first callback destroys the dispatcher; the second callback is not called any more. */
CHECK(destroyed_by_callback, "completion_destroy.destroyed-by-callback")
{
    struct note notes[2] = {{0}, {0}};
    size_t count = 0;
    struct cushim_stream *stream = fixture_stream();
    to_destroy = dispatcher_new();
    struct cushim_dispatcher *dispatcher = to_destroy;
    struct cushim_completion *first = notifying_new(stream);
    struct cushim_completion *second = notifying_new(stream);
    expect("wait", wait_status(second, soon()), CUDA_SUCCESS);
    expect_success("set-callback-first",
                   cushim_completion_set_callback(first, dispatcher, destroy_dispatcher, &notes[0], release_note));
    expect_success("set-callback-second",
                   cushim_completion_set_callback(second, dispatcher, take_note, &notes[1], release_note));
    expect_success("run", cushim_dispatcher_run(dispatcher, 0, &count));
    expect_number("count", (long long)count, 1);
    expect_note("first", &notes[0], 1, 1);
    expect_note("second", &notes[1], 0, 1);
    cushim_completion_destroy(&first);
    cushim_completion_destroy(&second);
}

struct own {
    struct cushim_completion *completion;
    bool running;
    atomic_int releases;
    int releases_while_running;
};

static void end_own_completion(CUresult status, void *user)
{
    struct own *own = user;
    own->running = true;
    cushim_completion_destroy(&own->completion);
    own->running = false;
}

static void release_own(void *user)
{
    struct own *own = user;
    own->releases_while_running += own->running;
    atomic_fetch_add(&own->releases, 1);
}

static void expect_own(const char *key, const struct own *own)
{
    expect_true(key_of(key, "is-null", NULL), own->completion == NULL);
    expect_number(key_of(key, "releases", NULL), atomic_load(&((struct own *)own)->releases), 2);
    expect_number(key_of(key, "releases-while-running", NULL), own->releases_while_running, 0);
}

CHECK(ends_own_completion, "completion_destroy.ends-own-completion")
{
    struct own dispatched_own = {NULL, false, 0, 0};
    struct own late = {NULL, false, 0, 0};
    struct own early = {NULL, false, 0, 0};
    struct cushim_dispatcher *dispatcher = dispatcher_new();
    struct cushim_stream *stream = test_stream_new();
    expect_success("dispatched", cushim_stream_enqueue(stream, body_does_nothing, &dispatched_own, release_own,
                                                       &dispatched_own.completion));
    expect_success("set-callback", cushim_completion_set_callback(dispatched_own.completion, dispatcher,
                                                                  end_own_completion, &dispatched_own, release_own));
    expect_number("run", (long long)dispatcher_run_something(dispatcher), 1);
    expect_own("dispatched", &dispatched_own);
    expect_success("late", cushim_stream_enqueue(stream, body_does_nothing, &late, release_own, &late.completion));
    expect_success("synchronize", cushim_stream_synchronize(stream));
    for (int i = 0; i < 500 && cushim_completion_count(late.completion) == 0; i++)
        pause_shortly();
    expect_success("inline-late",
                   cushim_completion_set_inline_callback(late.completion, end_own_completion, &late, release_own));
    expect_own("late", &late);
    struct gate *gate = gate_new(cushim_stream_handle(stream));
    expect_success("early", cushim_stream_enqueue(stream, body_does_nothing, &early, release_own, &early.completion));
    expect_success("inline-early",
                   cushim_completion_set_inline_callback(early.completion, end_own_completion, &early, release_own));
    gate_open(gate);
    test_stream_close(stream);
    wait_for_count(&early.releases, 2);
    expect_own("early", &early);
    cushim_dispatcher_destroy(&dispatcher);
}

static struct cushim_completion *notified;

static void destroy_captured(CUresult status, void *user)
{
    take_note(status, user);
    cushim_completion_destroy(&notified);
}

/* Three calls are due; the first call destroys the object that the key names, and no further call is made. */
static void captured_ended_by(const char *key, void (*function)(CUresult status, void *user))
{
    struct note note = {0};
    size_t count = 99;
    struct cushim_stream *stream = test_stream_new();
    struct cushim_graph_exec *executable = NULL;
    to_destroy = dispatcher_new();
    if (!expect_success(key_of(key, "capture", NULL),
                        cushim_stream_capture_executable(stream, CU_STREAM_CAPTURE_MODE_RELAXED, 0,
                                                         body_captures_completion, &notified, &executable)))
        return;
    expect_success(key_of(key, "set-callback", NULL),
                   cushim_completion_set_callback(notified, to_destroy, function, &note, release_note));
    for (int i = 0; i < 3; i++)
        require("launch", cushim_graph_exec_launch(executable, stream));
    expect_success(key_of(key, "synchronize", NULL), cushim_stream_synchronize(stream));
    expect_success(key_of(key, "run", NULL), cushim_dispatcher_run(to_destroy, 0, &count));
    expect_number(key_of(key, "count", NULL), (long long)count, 1);
    expect_note(key, &note, 1, 1);
    cushim_completion_destroy(&notified);
    cushim_dispatcher_destroy(&to_destroy);
    expect_success(key_of(key, "executable-destroy", NULL), cushim_graph_exec_destroy(&executable));
    test_stream_close(stream);
    expect_note(key_of(key, "in-the-end", NULL), &note, 1, 1);
}

CHECK(captured_ended, "completion_destroy.captured-ended", .needs = {S(UserObjectCreate_v1)})
{
    captured_ended_by("completion", destroy_captured);
    captured_ended_by("dispatcher", destroy_dispatcher);
}

struct job {
    struct cushim_completion *completion;
    int unused;
};

/* Overwrites the job, as free() could: nothing may read it afterwards. */
static void release_job(void *user)
{
    struct job *job = user;
    job->completion = (struct cushim_completion *)&job->unused;
}

static void never_called(CUresult status, void *user)
{
    expect_true("never-called", false);
}

CHECK(released_with_its_variable, "completion_destroy.released-with-its-variable")
{
    struct job job = {NULL, 0};
    struct cushim_dispatcher *dispatcher = dispatcher_new();
    struct cushim_stream *stream = fixture_stream();
    struct gate *gate = gate_new(cushim_stream_handle(stream));
    job.completion = notifying_new(stream);
    expect_success("set-callback",
                   cushim_completion_set_callback(job.completion, dispatcher, never_called, &job, release_job));
    cushim_completion_destroy(&job.completion);
    expect_true("untouched", job.completion == (struct cushim_completion *)&job.unused);
    gate_open(gate);
    cushim_dispatcher_destroy(&dispatcher);
}

#if !defined(_WIN32)

/* A callback destroys its completion while another thread is still in the call that sets the callback. */

enum { RACE_MAKERS = 2, RACE_COMPLETIONS = 60000, RACE_SECONDS = 15 };

struct racer;

struct race {
    struct cushim_dispatcher *dispatcher;
    bool is_inline;
    atomic_int makers, ended_makers;
    struct racer *racers[RACE_MAKERS];
    atomic_int wrong; /* callbacks that were called twice */
    atomic_int calls, releases;
};

struct racer {
    struct race *race;
    struct cushim_completion *completion;
    atomic_int calls;
};

static void race_call(CUresult status, void *user)
{
    struct racer *racer = user;
    if (atomic_fetch_add(&racer->calls, 1) != 0)
        atomic_fetch_add(&racer->race->wrong, 1);
    atomic_fetch_add(&racer->race->calls, 1);
    cushim_completion_destroy(&racer->completion);
}

static void race_release(void *user)
{
    atomic_fetch_add(&((struct racer *)user)->race->releases, 1);
}

static bool race_is_over(struct race *race)
{
    return atomic_load(&race->releases) >= RACE_MAKERS * RACE_COMPLETIONS;
}

static void *race_make(void *user)
{
    struct race *race = user;
    struct racer *racers = race->racers[atomic_fetch_add(&race->makers, 1)];
    struct cushim_stream *stream = test_stream_new();
    for (int i = 0; i < RACE_COMPLETIONS; i++) {
        struct racer *racer = &racers[i];
        racer->race = race;
        if (i % 1000 == 0)
            check_goes_on();
        require("completion", cushim_completion_create(stream, CUSHIM_COMPLETION_NOTIFYING, &racer->completion));
        if (race->is_inline)
            require("set", cushim_completion_set_inline_callback(racer->completion, race_call, racer, race_release));
        else
            require("set", cushim_completion_set_callback(racer->completion, race->dispatcher, race_call, racer,
                                                          race_release));
    }
    const time_t end = time(NULL) + RACE_SECONDS; /* the signals of race_stall() make each pause shorter */
    while (!race_is_over(race) && time(NULL) < end)
        pause_shortly();
    atomic_fetch_add(&race->ended_makers, 1);
    test_stream_close(stream);
    return NULL;
}

static void *race_run(void *user)
{
    struct race *race = user;
    while (!race_is_over(race) && atomic_load(&race->ended_makers) < RACE_MAKERS)
        require("run", cushim_dispatcher_run(race->dispatcher, 0, NULL));
    return NULL;
}

/* Delays a maker at an arbitrary instruction, so that the other threads overtake it there. */
static void race_stall(int signal)
{
    const struct timespec moment = {.tv_nsec = 20000};
    nanosleep(&moment, NULL);
}

static void race_with(const char *name, bool is_inline)
{
    struct race race = {.dispatcher = dispatcher_new(), .is_inline = is_inline};
    pthread_t threads[RACE_MAKERS + 1];
    struct racer *racers = calloc((size_t)RACE_MAKERS * RACE_COMPLETIONS, sizeof *racers);
    if (racers == NULL)
        return;
    for (int i = 0; i < RACE_MAKERS; i++)
        race.racers[i] = racers + (size_t)i * RACE_COMPLETIONS;
    for (int i = 0; i < RACE_MAKERS + 1; i++)
        pthread_create(&threads[i], NULL, i < RACE_MAKERS ? race_make : race_run, &race);
    for (int i = 0; i < 100000 && !race_is_over(&race); i++)
        race_stall(pthread_kill(threads[i % RACE_MAKERS], SIGUSR1));
    for (int i = 0; i < RACE_MAKERS + 1; i++)
        pthread_join(threads[i], NULL);
    expect_number(key_of(name, "wrong", NULL), atomic_load(&race.wrong), 0);
    expect_number(key_of(name, "calls", NULL), atomic_load(&race.calls), RACE_MAKERS * RACE_COMPLETIONS);
    expect_number(key_of(name, "releases", NULL), atomic_load(&race.releases), RACE_MAKERS * RACE_COMPLETIONS);
    cushim_dispatcher_destroy(&race.dispatcher);
    /* The callbacks that were not called yet would use it. */
    if (race_is_over(&race))
        free(racers);
}

CHECK(destroyed_while_set, "completion_destroy.destroyed-while-set", .flags = CHECK_ALONE)
{
    struct sigaction stall = {.sa_handler = race_stall};
    sigaction(SIGUSR1, &stall, NULL);
    race_with("dispatched", false);
    race_with("inline", true);
}

#endif
