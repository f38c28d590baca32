/* SPDX-License-Identifier: MIT */
/* Callbacks of completions, through a dispatcher and inline: they are called and released exactly once. */
#include "completion_callback.h"

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

void rule_note(const char *key, struct note *note, int calls, int releases)
{
    rule_number(key_of(key, "calls", NULL), atomic_load(&note->calls), calls);
    rule_number(key_of(key, "releases", NULL), atomic_load(&note->releases), releases);
}

struct cushim_dispatcher *dispatcher_new(void)
{
    struct cushim_dispatcher *dispatcher = NULL;
    need("dispatcher", cushim_dispatcher_create(&dispatcher));
    return dispatcher;
}

size_t dispatcher_run(struct cushim_dispatcher *dispatcher)
{
    size_t count = 99;
    need("run", cushim_dispatcher_run(dispatcher, &count));
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
    rule_number("run", (long long)dispatcher_run_something(dispatcher), 1);
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

static const struct check checks[] = {
    {"completion_callback.dispatched", dispatched, 0, {0}},
    {"completion_callback.called-inline", called_inline, 0, {0}},
    {"completion_callback.detached", detached, 0, {0}},
    {"completion_callback.dispatcher-destroyed", dispatcher_destroyed, 0, {0}},
    {"completion_callback.argument", argument, 0, {0}},
    {"completion_callback.captured", captured, 0, {S(UserObjectCreate_v1)}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_completion_callback = {"completion_callback", checks};
