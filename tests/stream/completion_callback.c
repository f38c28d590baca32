/* SPDX-License-Identifier: MIT */
/* Callbacks of completions, through a dispatcher and inline: they are called and released exactly once. */
#include "completion_callback.h"

#include <string.h>

void take_note(CUresult status, void *user)
{
    struct note *note = user;
    atomic_store(&note->status, status);
    note->thread = pthread_self();
    atomic_fetch_add(&note->calls, 1);
}

void release_note(void *user)
{
    struct note *note = user;
    atomic_store(&note->released_at, atomic_load(&note->calls));
    atomic_fetch_add(&note->releases, 1);
}

void expect_note(const char *key, struct note *note, int calls, int releases)
{
    expect_number(key_of(key, "calls", NULL), atomic_load(&note->calls), calls);
    expect_number(key_of(key, "releases", NULL), atomic_load(&note->releases), releases);
}

struct cushim_dispatcher *dispatcher_new(void)
{
    struct cushim_dispatcher *dispatcher = NULL;
    require("dispatcher", cushim_dispatcher_create(&dispatcher));
    return dispatcher;
}

size_t dispatcher_run(struct cushim_dispatcher *dispatcher)
{
    size_t count = 99;
    require("run", cushim_dispatcher_run(dispatcher, 0, &count));
    return count;
}

size_t dispatcher_run_something(struct cushim_dispatcher *dispatcher)
{
    size_t count = 0;
    for (int i = 0; i < 500 && count == 0; i++) {
        count = dispatcher_run(dispatcher);
        if (count == 0)
            pause_shortly();
    }
    return count;
}

CHECK(dispatched, "completion_callback.dispatched")
{
    struct note note = {0};
    struct note late = {0};
    cushim_descriptor descriptor;
    struct cushim_dispatcher *dispatcher = dispatcher_new();
    struct cushim_stream *stream = fixture_stream();
    require("descriptor", cushim_dispatcher_get_descriptor(dispatcher, &descriptor));
    struct gate *gate = gate_new(cushim_stream_handle(stream));
    struct cushim_completion *completion = notifying_new(stream);
    expect_success("set-callback",
                   cushim_completion_set_callback(completion, dispatcher, take_note, &note, release_note));
    expect_number("nothing-due", (long long)dispatcher_run(dispatcher), 0);
    expect_true("silent", silent(descriptor));
    gate_open(gate);
    expect("wait", wait_status(completion, soon()), CUDA_SUCCESS);
    expect_success("synchronize", cushim_stream_synchronize(stream));
    expect_number("not-called-elsewhere", atomic_load(&note.calls), 0);
    expect_true("readable", readable(descriptor));
    expect_number("due", (long long)dispatcher_run(dispatcher), 1);
    expect_note("called", &note, 1, 1);
    expect_number("released-after", atomic_load(&note.released_at), 1);
    expect_true("on-this-thread", pthread_equal(note.thread, pthread_self()));
    expect_number("status", atomic_load(&note.status), CUDA_SUCCESS);
    expect_true("silent-again", silent(descriptor));
    expect_error("second", cushim_completion_set_callback(completion, dispatcher, take_note, &late, release_note),
                 CUDA_ERROR_ILLEGAL_STATE);
    expect_note("second", &late, 0, 1);
    cushim_completion_destroy(&completion);
    completion = notifying_new(stream);
    expect("wait-late", wait_status(completion, soon()), CUDA_SUCCESS);
    expect_success("set-callback-late",
                   cushim_completion_set_callback(completion, dispatcher, take_note, &late, release_note));
    expect_number("due-late", (long long)dispatcher_run(dispatcher), 1);
    expect_note("late", &late, 1, 2);
    cushim_completion_destroy(&completion);
    cushim_dispatcher_destroy(&dispatcher);
    expect_true("dispatcher-is-null", dispatcher == NULL);
}

CHECK(called_inline, "completion_callback.called-inline")
{
    struct note note = {0};
    struct note late = {0};
    struct cushim_stream *stream = fixture_stream();
    struct gate *gate = gate_new(cushim_stream_handle(stream));
    struct cushim_completion *completion = notifying_new(stream);
    expect_success("set-callback", cushim_completion_set_inline_callback(completion, take_note, &note, release_note));
    expect_note("before", &note, 0, 0);
    gate_open(gate);
    wait_for_count(&note.releases, 1);
    expect_note("called", &note, 1, 1);
    expect_true("on-another-thread", !pthread_equal(note.thread, pthread_self()));
    cushim_completion_destroy(&completion);
    completion = notifying_new(stream);
    expect("wait-late", wait_status(completion, soon()), CUDA_SUCCESS);
    expect_success("set-callback-late",
                   cushim_completion_set_inline_callback(completion, take_note, &late, release_note));
    expect_note("late", &late, 1, 1);
    cushim_completion_detach(&completion);
}

CHECK(detached, "completion_callback.detached")
{
    struct note destroyed = {0};
    struct note detached = {0};
    struct note due = {0};
    struct cushim_dispatcher *dispatcher = dispatcher_new();
    struct cushim_stream *stream = fixture_stream();
    struct gate *gate = gate_new(cushim_stream_handle(stream));
    struct cushim_completion *first = notifying_new(stream);
    struct cushim_completion *second = notifying_new(stream);
    struct cushim_completion *third = notifying_new(stream);
    expect_success("set-callback-first",
                   cushim_completion_set_callback(first, dispatcher, take_note, &destroyed, release_note));
    expect_success("set-callback-second",
                   cushim_completion_set_callback(second, dispatcher, take_note, &detached, release_note));
    expect_success("set-callback-third",
                   cushim_completion_set_callback(third, dispatcher, take_note, &due, release_note));
    cushim_completion_destroy(&first);
    expect_note("destroyed", &destroyed, 0, 1);
    cushim_completion_detach(&second);
    expect_note("detached", &detached, 0, 0);
    gate_open(gate);
    expect_success("synchronize", cushim_stream_synchronize(stream));
    cushim_completion_destroy(&third);
    expect_note("destroyed-when-due", &due, 0, 1);
    expect_number("run", (long long)dispatcher_run_something(dispatcher), 1);
    expect_note("detached-later", &detached, 1, 1);
    expect_note("destroyed-later", &destroyed, 0, 1);
    cushim_dispatcher_destroy(&dispatcher);
}

CHECK(dispatcher_destroyed, "completion_callback.dispatcher-destroyed")
{
    struct note due = {0};
    struct note pending = {0};
    struct cushim_dispatcher *dispatcher = dispatcher_new();
    struct cushim_stream *stream = fixture_stream();
    struct cushim_completion *first = notifying_new(stream);
    expect("wait", wait_status(first, soon()), CUDA_SUCCESS);
    expect_success("set-callback-due",
                   cushim_completion_set_callback(first, dispatcher, take_note, &due, release_note));
    struct gate *gate = gate_new(cushim_stream_handle(stream));
    struct cushim_completion *second = notifying_new(stream);
    expect_success("set-callback-pending",
                   cushim_completion_set_callback(second, dispatcher, take_note, &pending, release_note));
    cushim_dispatcher_destroy(&dispatcher);
    expect_note("due", &due, 0, 1);
    expect_note("pending", &pending, 0, 0);
    gate_open(gate);
    expect("wait-pending", wait_status(second, soon()), CUDA_SUCCESS);
    wait_for_count(&pending.releases, 1); /* the completion fires a moment before */
    cushim_completion_destroy(&second);
    expect_note("pending-later", &pending, 0, 1);
    cushim_completion_destroy(&first);
}

#if !defined(_WIN32)
/* The lowest number that is free is the next descriptor, so one that was not closed would be seen. */
CHECK(descriptors_closed, "completion_callback.descriptors-closed", .flags = CHECK_ALONE)
{
    cushim_descriptor first[2];
    struct cushim_stream *stream = test_stream_new();
    for (int round = 0; round < 2; round++) {
        cushim_descriptor now[2];
        struct cushim_dispatcher *dispatcher = dispatcher_new();
        struct cushim_completion *completion = notifying_new(stream);
        require("dispatcher", cushim_dispatcher_get_descriptor(dispatcher, &now[0]));
        require("completion", cushim_completion_get_descriptor(completion, &now[1]));
        require("set", cushim_completion_set_callback(completion, dispatcher, ignore_status, NULL, NULL));
        expect_number(key_of(ordinals[round], "run", NULL), (long long)dispatcher_run_something(dispatcher), 1);
        cushim_completion_destroy(&completion);
        cushim_dispatcher_destroy(&dispatcher);
        /* The thread of the driver drops its reference a moment after the completion has fired. */
        for (int i = 0; i < 10; i++)
            pause_shortly();
        if (round == 0)
            memcpy(first, now, sizeof now);
        else
            expect_true("closed", memcmp(first, now, sizeof now) == 0);
    }
    test_stream_close(stream);
}
#endif

CHECK(argument, "completion_callback.argument")
{
    struct note note = {0};
    size_t count;
    cushim_descriptor descriptor;
    struct cushim_dispatcher *none = NULL;
    struct cushim_dispatcher *dispatcher = dispatcher_new();
    struct cushim_stream *stream = fixture_stream();
    struct cushim_completion *completion = notifying_new(stream);
    expect_error("create-null", cushim_dispatcher_create(NULL), CUDA_ERROR_INVALID_VALUE);
    expect_error("run-null", cushim_dispatcher_run(NULL, 0, &count), CUDA_ERROR_INVALID_HANDLE);
    expect_error("descriptor-null", cushim_dispatcher_get_descriptor(NULL, &descriptor), CUDA_ERROR_INVALID_HANDLE);
    expect_error("descriptor-null-output", cushim_dispatcher_get_descriptor(dispatcher, NULL),
                 CUDA_ERROR_INVALID_VALUE);
    expect_success("run-without-count", cushim_dispatcher_run(dispatcher, 0, NULL));
    cushim_dispatcher_destroy(NULL);
    cushim_dispatcher_destroy(&none);
    expect_error("null-completion", cushim_completion_set_callback(NULL, dispatcher, take_note, &note, release_note),
                 CUDA_ERROR_INVALID_HANDLE);
    expect_error("null-dispatcher", cushim_completion_set_callback(completion, NULL, take_note, &note, release_note),
                 CUDA_ERROR_INVALID_HANDLE);
    expect_error("null-function", cushim_completion_set_callback(completion, dispatcher, NULL, &note, release_note),
                 CUDA_ERROR_INVALID_VALUE);
    expect_error("inline-null-completion", cushim_completion_set_inline_callback(NULL, take_note, &note, release_note),
                 CUDA_ERROR_INVALID_HANDLE);
    expect_error("inline-null-function", cushim_completion_set_inline_callback(completion, NULL, &note, release_note),
                 CUDA_ERROR_INVALID_VALUE);
    expect_note("refused", &note, 0, 5);
    cushim_completion_destroy(&completion);
    cushim_dispatcher_destroy(&dispatcher);
}

/* A captured completion: the callback is called for each launch and released when the completion is destroyed. */
CHECK(captured, "completion_callback.captured", .needs = {S(UserObjectCreate_v1)})
{
    struct note note = {0};
    struct cushim_dispatcher *dispatcher = dispatcher_new();
    struct cushim_stream *stream = fixture_stream();
    struct cushim_completion *completion = NULL;
    struct cushim_graph_exec *executable = NULL;
    if (!expect_success("capture",
                        cushim_stream_capture_executable(stream, CU_STREAM_CAPTURE_MODE_RELAXED, 0,
                                                         body_captures_completion, &completion, &executable)))
        return;
    expect_success("set-callback",
                   cushim_completion_set_callback(completion, dispatcher, take_note, &note, release_note));
    for (int i = 0; i < 5; i++)
        require("launch", cushim_graph_exec_launch(executable, stream));
    expect_success("synchronize", cushim_stream_synchronize(stream));
    expect_number("run", (long long)dispatcher_run(dispatcher), 5);
    expect_success("launch-again", cushim_graph_exec_launch(executable, stream));
    expect_success("synchronize-again", cushim_stream_synchronize(stream));
    expect_number("run-again", (long long)dispatcher_run(dispatcher), 1);
    expect_note("called", &note, 6, 0);
    cushim_completion_destroy(&completion);
    expect_note("destroyed", &note, 6, 1);
    expect_success("launch-after-destroy", cushim_graph_exec_launch(executable, stream));
    expect_success("synchronize-after-destroy", cushim_stream_synchronize(stream));
    expect_number("run-after-destroy", (long long)dispatcher_run(dispatcher), 0);
    expect_note("in-the-end", &note, 6, 1);
    expect_success("executable-destroy", cushim_graph_exec_destroy(&executable));
    cushim_dispatcher_destroy(&dispatcher);
}
