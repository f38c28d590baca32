/* SPDX-License-Identifier: MIT */
/* Callbacks of completions, through a dispatcher and inline: they are called and released exactly once. */
#if !defined(_WIN32)
#    define _GNU_SOURCE
#    include <signal.h>
#    include <time.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "completion.h"

struct note {
    atomic_int calls;
    atomic_int releases;
    atomic_int status;
    atomic_int released_at; /* the number of calls at the first release */
    pthread_t thread;
};

static void take_note(CUresult status, void *user)
{
    struct note *note = user;
    atomic_store(&note->status, status);
    note->thread = pthread_self();
    atomic_fetch_add(&note->calls, 1);
}

static void release_note(void *user)
{
    struct note *note = user;
    atomic_store(&note->released_at, atomic_load(&note->calls));
    atomic_fetch_add(&note->releases, 1);
}

static void rule_note(const char *key, struct note *note, int calls, int releases)
{
    rule_number(key_of(key, "calls", NULL), atomic_load(&note->calls), calls);
    rule_number(key_of(key, "releases", NULL), atomic_load(&note->releases), releases);
}

static struct cushim_dispatcher *dispatcher_new(void)
{
    struct cushim_dispatcher *dispatcher = NULL;
    need("dispatcher", cushim_dispatcher_create(&dispatcher));
    return dispatcher;
}

static size_t dispatcher_run(struct cushim_dispatcher *dispatcher)
{
    size_t count = 99;
    need("run", cushim_dispatcher_run(dispatcher, &count));
    return count;
}

/* Runs the dispatcher until a callback is due: the completion fires a moment earlier. */
static size_t run_something(struct cushim_dispatcher *dispatcher)
{
    size_t count = 0;
    for (int i = 0; i < 500 && count == 0; i++) {
        count = dispatcher_run(dispatcher);
        if (count == 0)
            pause_shortly();
    }
    return count;
}

static void dispatched(void)
{
    struct gate gate;
    struct note note = {0};
    struct note late = {0};
    cushim_descriptor descriptor;
    struct cushim_dispatcher *dispatcher = dispatcher_new();
    struct cushim_stream *stream = layer_stream();
    need("descriptor", cushim_dispatcher_descriptor(dispatcher, &descriptor));
    gate_close(&gate, cushim_stream_handle(stream));
    struct cushim_completion *completion = completion_new(stream);
    done("set-callback", cushim_completion_set_callback(completion, dispatcher, take_note, &note, release_note));
    rule_number("nothing-due", (long long)dispatcher_run(dispatcher), 0);
    rule_fact("silent", silent(descriptor));
    gate_open(&gate);
    rule("wait", cushim_completion_wait(completion, soon()), CUDA_SUCCESS);
    done("synchronize", cushim_stream_synchronize(stream));
    rule_number("not-called-elsewhere", atomic_load(&note.calls), 0);
    rule_fact("readable", readable(descriptor));
    rule_number("due", (long long)dispatcher_run(dispatcher), 1);
    rule_note("called", &note, 1, 1);
    rule_number("released-after", atomic_load(&note.released_at), 1);
    rule_fact("on-this-thread", pthread_equal(note.thread, pthread_self()));
    rule_number("status", atomic_load(&note.status), CUDA_SUCCESS);
    rule_fact("silent-again", silent(descriptor));
    refused("second", cushim_completion_set_callback(completion, dispatcher, take_note, &late, release_note),
            CUDA_ERROR_ILLEGAL_STATE, "cushim_completion_set_callback");
    rule_note("second", &late, 0, 1);
    cushim_completion_destroy(&completion);
    completion = completion_new(stream);
    rule("wait-late", cushim_completion_wait(completion, soon()), CUDA_SUCCESS);
    done("set-callback-late", cushim_completion_set_callback(completion, dispatcher, take_note, &late, release_note));
    rule_number("due-late", (long long)dispatcher_run(dispatcher), 1);
    rule_note("late", &late, 1, 2);
    cushim_completion_destroy(&completion);
    cushim_dispatcher_destroy(&dispatcher);
    rule_fact("dispatcher-is-null", dispatcher == NULL);
    layer_stream_end(stream);
}

static void called_inline(void)
{
    struct gate gate;
    struct note note = {0};
    struct note late = {0};
    struct cushim_stream *stream = layer_stream();
    gate_close(&gate, cushim_stream_handle(stream));
    struct cushim_completion *completion = completion_new(stream);
    done("set-callback", cushim_completion_set_inline_callback(completion, take_note, &note, release_note));
    rule_note("before", &note, 0, 0);
    gate_open(&gate);
    for (int i = 0; i < 500 && atomic_load(&note.releases) == 0; i++)
        pause_shortly();
    rule_note("called", &note, 1, 1);
    rule_fact("on-another-thread", !pthread_equal(note.thread, pthread_self()));
    cushim_completion_destroy(&completion);
    completion = completion_new(stream);
    rule("wait-late", cushim_completion_wait(completion, soon()), CUDA_SUCCESS);
    done("set-callback-late", cushim_completion_set_inline_callback(completion, take_note, &late, release_note));
    rule_note("late", &late, 1, 1);
    cushim_completion_detach(&completion);
    layer_stream_end(stream);
}

static void detached(void)
{
    struct gate gate;
    struct note destroyed = {0};
    struct note detached = {0};
    struct note due = {0};
    struct cushim_dispatcher *dispatcher = dispatcher_new();
    struct cushim_stream *stream = layer_stream();
    gate_close(&gate, cushim_stream_handle(stream));
    struct cushim_completion *first = completion_new(stream);
    struct cushim_completion *second = completion_new(stream);
    struct cushim_completion *third = completion_new(stream);
    done("set-callback-first", cushim_completion_set_callback(first, dispatcher, take_note, &destroyed, release_note));
    done("set-callback-second", cushim_completion_set_callback(second, dispatcher, take_note, &detached, release_note));
    done("set-callback-third", cushim_completion_set_callback(third, dispatcher, take_note, &due, release_note));
    cushim_completion_destroy(&first);
    rule_note("destroyed", &destroyed, 0, 1);
    cushim_completion_detach(&second);
    rule_note("detached", &detached, 0, 0);
    gate_open(&gate);
    done("synchronize", cushim_stream_synchronize(stream));
    cushim_completion_destroy(&third);
    rule_note("destroyed-when-due", &due, 0, 1);
    rule_number("run", (long long)run_something(dispatcher), 1);
    rule_note("detached-later", &detached, 1, 1);
    rule_note("destroyed-later", &destroyed, 0, 1);
    cushim_dispatcher_destroy(&dispatcher);
    layer_stream_end(stream);
}

static void dispatcher_destroyed(void)
{
    struct gate gate;
    struct note due = {0};
    struct note pending = {0};
    struct cushim_dispatcher *dispatcher = dispatcher_new();
    struct cushim_stream *stream = layer_stream();
    struct cushim_completion *first = completion_new(stream);
    rule("wait", cushim_completion_wait(first, soon()), CUDA_SUCCESS);
    done("set-callback-due", cushim_completion_set_callback(first, dispatcher, take_note, &due, release_note));
    gate_close(&gate, cushim_stream_handle(stream));
    struct cushim_completion *second = completion_new(stream);
    done("set-callback-pending", cushim_completion_set_callback(second, dispatcher, take_note, &pending, release_note));
    cushim_dispatcher_destroy(&dispatcher);
    rule_note("due", &due, 0, 1);
    rule_note("pending", &pending, 0, 0);
    gate_open(&gate);
    rule("wait-pending", cushim_completion_wait(second, soon()), CUDA_SUCCESS);
    done("synchronize", cushim_stream_synchronize(stream));
    cushim_completion_destroy(&second);
    rule_note("pending-later", &pending, 0, 1);
    cushim_completion_destroy(&first);
    layer_stream_end(stream);
}

static void argument(void)
{
    struct note note = {0};
    size_t count;
    cushim_descriptor descriptor;
    struct cushim_dispatcher *none = NULL;
    struct cushim_dispatcher *dispatcher = dispatcher_new();
    struct cushim_stream *stream = layer_stream();
    struct cushim_completion *completion = completion_new(stream);
    refused("create-null", cushim_dispatcher_create(NULL), CUDA_ERROR_INVALID_VALUE, "cushim_dispatcher_create");
    refused("run-null", cushim_dispatcher_run(NULL, &count), CUDA_ERROR_INVALID_HANDLE, "cushim_dispatcher_run");
    refused("descriptor-null", cushim_dispatcher_descriptor(NULL, &descriptor), CUDA_ERROR_INVALID_HANDLE,
            "cushim_dispatcher_descriptor");
    refused("descriptor-null-output", cushim_dispatcher_descriptor(dispatcher, NULL), CUDA_ERROR_INVALID_VALUE,
            "cushim_dispatcher_descriptor");
    done("run-without-count", cushim_dispatcher_run(dispatcher, NULL));
    cushim_dispatcher_destroy(NULL);
    cushim_dispatcher_destroy(&none);
    refused("null-completion", cushim_completion_set_callback(NULL, dispatcher, take_note, &note, release_note),
            CUDA_ERROR_INVALID_HANDLE, "cushim_completion_set_callback");
    refused("null-dispatcher", cushim_completion_set_callback(completion, NULL, take_note, &note, release_note),
            CUDA_ERROR_INVALID_HANDLE, "cushim_completion_set_callback");
    refused("null-function", cushim_completion_set_callback(completion, dispatcher, NULL, &note, release_note),
            CUDA_ERROR_INVALID_VALUE, "cushim_completion_set_callback");
    refused("inline-null-completion", cushim_completion_set_inline_callback(NULL, take_note, &note, release_note),
            CUDA_ERROR_INVALID_HANDLE, "cushim_completion_set_inline_callback");
    refused("inline-null-function", cushim_completion_set_inline_callback(completion, NULL, &note, release_note),
            CUDA_ERROR_INVALID_VALUE, "cushim_completion_set_inline_callback");
    rule_note("refused", &note, 0, 5);
    cushim_completion_destroy(&completion);
    cushim_dispatcher_destroy(&dispatcher);
    layer_stream_end(stream);
}

static struct cushim_dispatcher *to_destroy;

static void destroy_dispatcher(CUresult status, void *user)
{
    take_note(status, user);
    cushim_dispatcher_destroy(&to_destroy);
}

/* The first callback destroys the dispatcher; the second callback is not called any more. */
static void destroyed_by_callback(void)
{
    struct note notes[2] = {{0}, {0}};
    size_t count = 0;
    struct cushim_stream *stream = layer_stream();
    to_destroy = dispatcher_new();
    struct cushim_dispatcher *dispatcher = to_destroy;
    struct cushim_completion *first = completion_new(stream);
    struct cushim_completion *second = completion_new(stream);
    rule("wait", cushim_completion_wait(second, soon()), CUDA_SUCCESS);
    done("set-callback-first",
         cushim_completion_set_callback(first, dispatcher, destroy_dispatcher, &notes[0], release_note));
    done("set-callback-second", cushim_completion_set_callback(second, dispatcher, take_note, &notes[1], release_note));
    done("run", cushim_dispatcher_run(dispatcher, &count));
    rule_number("count", (long long)count, 1);
    rule_note("first", &notes[0], 1, 1);
    rule_note("second", &notes[1], 0, 1);
    cushim_completion_destroy(&first);
    cushim_completion_destroy(&second);
    layer_stream_end(stream);
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
    (void)status;
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

static void rule_own(const char *key, const struct own *own)
{
    rule_fact(key_of(key, "is-null", NULL), own->completion == NULL);
    rule_number(key_of(key, "releases", NULL), atomic_load(&((struct own *)own)->releases), 2);
    rule_number(key_of(key, "releases-while-running", NULL), own->releases_while_running, 0);
}

static void ends_own_completion(void)
{
    struct gate gate;
    struct own dispatched_own = {NULL, false, 0, 0};
    struct own late = {NULL, false, 0, 0};
    struct own early = {NULL, false, 0, 0};
    struct cushim_dispatcher *dispatcher = dispatcher_new();
    struct cushim_stream *stream = layer_stream();
    done("dispatched",
         cushim_stream_enqueue(stream, body_does_nothing, &dispatched_own, release_own, &dispatched_own.completion));
    done("set-callback", cushim_completion_set_callback(dispatched_own.completion, dispatcher, end_own_completion,
                                                        &dispatched_own, release_own));
    rule_number("run", (long long)run_something(dispatcher), 1);
    rule_own("dispatched", &dispatched_own);
    done("late", cushim_stream_enqueue(stream, body_does_nothing, &late, release_own, &late.completion));
    done("synchronize", cushim_stream_synchronize(stream));
    for (int i = 0; i < 500 && cushim_completion_count(late.completion) == 0; i++)
        pause_shortly();
    done("inline-late", cushim_completion_set_inline_callback(late.completion, end_own_completion, &late, release_own));
    rule_own("late", &late);
    gate_close(&gate, cushim_stream_handle(stream));
    done("early", cushim_stream_enqueue(stream, body_does_nothing, &early, release_own, &early.completion));
    done("inline-early",
         cushim_completion_set_inline_callback(early.completion, end_own_completion, &early, release_own));
    gate_open(&gate);
    layer_stream_end(stream);
    for (int i = 0; i < 500 && atomic_load(&early.releases) < 2; i++)
        pause_shortly();
    rule_own("early", &early);
    cushim_dispatcher_destroy(&dispatcher);
}

static CUresult body_captures_completion(struct cushim_stream *stream, void *user)
{
    return cushim_stream_capturable_completion(stream, user);
}

/* A captured completion: the callback is called for each launch and released when the completion is destroyed. */
static void captured(void)
{
    struct note note = {0};
    struct cushim_dispatcher *dispatcher = dispatcher_new();
    struct cushim_stream *stream = layer_stream();
    struct cushim_completion *completion = NULL;
    struct cushim_graph_exec *executable = NULL;
    if (!done("capture", cushim_stream_capture_executable(stream, CU_STREAM_CAPTURE_MODE_RELAXED, 0,
                                                          body_captures_completion, &completion, &executable)))
        return;
    done("set-callback", cushim_completion_set_callback(completion, dispatcher, take_note, &note, release_note));
    for (int i = 0; i < 5; i++)
        need("launch", cushim_graph_exec_launch(executable, stream));
    done("synchronize", cushim_stream_synchronize(stream));
    rule_number("run", (long long)dispatcher_run(dispatcher), 5);
    done("launch-again", cushim_graph_exec_launch(executable, stream));
    done("synchronize-again", cushim_stream_synchronize(stream));
    rule_number("run-again", (long long)dispatcher_run(dispatcher), 1);
    rule_note("called", &note, 6, 0);
    cushim_completion_destroy(&completion);
    rule_note("destroyed", &note, 6, 1);
    done("launch-after-destroy", cushim_graph_exec_launch(executable, stream));
    done("synchronize-after-destroy", cushim_stream_synchronize(stream));
    rule_number("run-after-destroy", (long long)dispatcher_run(dispatcher), 0);
    rule_note("in-the-end", &note, 6, 1);
    done("executable-destroy", cushim_graph_exec_destroy(&executable));
    cushim_dispatcher_destroy(&dispatcher);
    layer_stream_end(stream);
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
    struct cushim_stream *stream = layer_stream();
    struct cushim_graph_exec *executable = NULL;
    to_destroy = dispatcher_new();
    if (!done(key_of(key, "capture", NULL),
              cushim_stream_capture_executable(stream, CU_STREAM_CAPTURE_MODE_RELAXED, 0, body_captures_completion,
                                               &notified, &executable)))
        return;
    done(key_of(key, "set-callback", NULL),
         cushim_completion_set_callback(notified, to_destroy, function, &note, release_note));
    for (int i = 0; i < 3; i++)
        need("launch", cushim_graph_exec_launch(executable, stream));
    done(key_of(key, "synchronize", NULL), cushim_stream_synchronize(stream));
    done(key_of(key, "run", NULL), cushim_dispatcher_run(to_destroy, &count));
    rule_number(key_of(key, "count", NULL), (long long)count, 1);
    rule_note(key, &note, 1, 1);
    cushim_completion_destroy(&notified);
    cushim_dispatcher_destroy(&to_destroy);
    done(key_of(key, "executable-destroy", NULL), cushim_graph_exec_destroy(&executable));
    layer_stream_end(stream);
    rule_note(key_of(key, "in-the-end", NULL), &note, 1, 1);
}

static void captured_ended(void)
{
    captured_ended_by("completion", destroy_captured);
    captured_ended_by("dispatcher", destroy_dispatcher);
}

struct job {
    struct cushim_completion *completion;
    int unused;
};

/* Overwrites the job, as free() could: nothing may read it afterwards. */
/* A callback destroys its completion while another thread is still in the call that sets the callback. */

#if !defined(_WIN32)

enum { RACE_MAKERS = 2, RACE_COMPLETIONS = 60000 };

struct racer;

struct race {
    struct cushim_dispatcher *dispatcher;
    bool is_inline;
    atomic_int makers;
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
    (void)status;
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
    struct cushim_stream *stream = layer_stream();
    for (int i = 0; i < RACE_COMPLETIONS; i++) {
        struct racer *racer = &racers[i];
        racer->race = race;
        need("completion", cushim_stream_completion(stream, &racer->completion));
        if (race->is_inline)
            need("set", cushim_completion_set_inline_callback(racer->completion, race_call, racer, race_release));
        else
            need("set",
                 cushim_completion_set_callback(racer->completion, race->dispatcher, race_call, racer, race_release));
    }
    for (int i = 0; i < 1500 && !race_is_over(race); i++)
        pause_shortly();
    layer_stream_end(stream);
    return NULL;
}

static void *race_run(void *user)
{
    struct race *race = user;
    for (int i = 0; i < 10000000 && !race_is_over(race); i++)
        need("run", cushim_dispatcher_run(race->dispatcher, NULL));
    return NULL;
}

/* Delays a maker at an arbitrary instruction, so that the other threads overtake it there. */
static void race_stall(int signal)
{
    const struct timespec moment = {.tv_nsec = 20000};
    (void)signal;
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
    rule_number(key_of(name, "wrong", NULL), atomic_load(&race.wrong), 0);
    rule_number(key_of(name, "calls", NULL), atomic_load(&race.calls), RACE_MAKERS * RACE_COMPLETIONS);
    rule_number(key_of(name, "releases", NULL), atomic_load(&race.releases), RACE_MAKERS * RACE_COMPLETIONS);
    cushim_dispatcher_destroy(&race.dispatcher);
    /* The callbacks that were not called yet would use it. */
    if (race_is_over(&race))
        free(racers);
}

static void destroyed_while_set(void)
{
    struct sigaction stall = {.sa_handler = race_stall};
    sigaction(SIGUSR1, &stall, NULL);
    race_with("dispatched", false);
    race_with("inline", true);
}

#endif

static void release_job(void *user)
{
    struct job *job = user;
    job->completion = (struct cushim_completion *)&job->unused;
}

static void never_called(CUresult status, void *user)
{
    (void)status;
    (void)user;
    rule_fact("never-called", false);
}

static void released_with_its_variable(void)
{
    struct job job = {NULL, 0};
    struct gate gate;
    struct cushim_dispatcher *dispatcher = dispatcher_new();
    struct cushim_stream *stream = layer_stream();
    gate_close(&gate, cushim_stream_handle(stream));
    job.completion = completion_new(stream);
    done("set-callback", cushim_completion_set_callback(job.completion, dispatcher, never_called, &job, release_job));
    cushim_completion_destroy(&job.completion);
    rule_fact("untouched", job.completion == (struct cushim_completion *)&job.unused);
    gate_open(&gate);
    cushim_dispatcher_destroy(&dispatcher);
    layer_stream_end(stream);
}

static const struct check checks[] = {
    {"completion_callback.dispatched", dispatched, 0, {0}},
    {"completion_callback.called-inline", called_inline, 0, {0}},
    {"completion_callback.detached", detached, 0, {0}},
    {"completion_callback.dispatcher-destroyed", dispatcher_destroyed, 0, {0}},
    {"completion_callback.argument", argument, 0, {0}},
    {"completion_callback.destroyed-by-callback", destroyed_by_callback, 0, {0}},
    {"completion_callback.ends-own-completion", ends_own_completion, 0, {0}},
    {"completion_callback.captured", captured, 0, {S(UserObjectCreate_v1)}},
    {"completion_callback.captured-ended", captured_ended, 0, {S(UserObjectCreate_v1)}},
    {"completion_callback.released-with-its-variable", released_with_its_variable, 0, {0}},
#if !defined(_WIN32)
    {"completion_callback.destroyed-while-set", destroyed_while_set, CHECK_ALONE, {0}},
#endif
    {NULL, NULL, 0, {0}},
};

const struct subject subject_completion_callback = {"completion_callback", checks};
