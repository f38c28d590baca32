/* SPDX-License-Identifier: MIT */
/* Completions, as far as streams meet them: what they stand for, and that they harm no capture. */
#include "layer.h"

static void completed(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_completion *completion = NULL;
    struct gate gate;
    CUresult status = CUDA_ERROR_UNKNOWN;
    if (!gate_close(&gate, cushim_stream_handle(stream)))
        return;
    done("code", cushim_stream_completion(stream, &completion));
    rule("pending", cushim_completion_poll(completion), CUDA_ERROR_NOT_READY);
    rule("deadline", cushim_completion_wait(completion, cushim_clock() + 1000000), CUDA_ERROR_TIMEOUT);
    gate_open(&gate);
    done("wait", cushim_completion_wait(completion, CUSHIM_FOREVER));
    rule_number("passed", atomic_load(&gate.passed), 1);
    done("status", cushim_completion_status(completion, &status));
    rule("status-is", status, CUDA_SUCCESS);
    cushim_completion_destroy(&completion);
    rule_fact("gone", completion == NULL);
    layer_stream_end(stream);
}

static void descriptor(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_completion *completion = NULL;
    cushim_descriptor first;
    cushim_descriptor second;
    need("completion", cushim_stream_completion(stream, &completion));
    done("code", cushim_completion_descriptor(completion, &first));
    done("again", cushim_completion_descriptor(completion, &second));
    rule_fact("same", first == second);
    cushim_completion_destroy(&completion);
    layer_stream_end(stream);
}

/* In a capture: refused without harm, but a notification is captured, and fires at each launch. */
static void captured(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_completion *completion = NULL;
    struct cushim_completion *notification = NULL;
    struct cushim_capture *capture = NULL;
    struct cushim_graph *graph = NULL;
    struct cushim_graph_exec *exec = NULL;
    need("begin", cushim_capture_begin(stream, RELAXED, &capture));
    rule("completion", cushim_stream_completion(stream, &completion), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    done("notification", cushim_stream_notification(stream, &notification));
    rule_status("survives", stream, "active");
    done("end", cushim_capture_end(&capture, &graph));
    need("instantiate", cushim_graph_instantiate(graph, NULL, 0, &exec));
    for (int i = 0; i < 3; i++)
        need("launch", cushim_graph_exec_launch(exec, stream));
    done("synchronize", cushim_stream_synchronize(stream));
    rule_number("count", (long long)cushim_completion_count(notification), 3);
    cushim_completion_destroy(&notification);
    cushim_graph_exec_destroy(&exec);
    cushim_graph_destroy(&graph);
    layer_stream_end(stream);
}

static void notified(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_completion *notification = NULL;
    done("code", cushim_stream_notification(stream, &notification));
    done("wait", cushim_completion_wait(notification, CUSHIM_FOREVER));
    cushim_completion_destroy(&notification);
    layer_stream_end(stream);
}

struct work {
    CUresult result;
    atomic_int calls;
    atomic_int releases;
};

static CUresult enqueue(struct cushim_stream *stream, void *user)
{
    struct work *work = user;
    (void)body_adds_work(stream, NULL);
    atomic_fetch_add(&work->calls, 1);
    return work->result;
}

static void release(void *user)
{
    atomic_fetch_add(&((struct work *)user)->releases, 1);
}

static void enqueued(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_completion *completion = NULL;
    struct work work = {.result = CUDA_SUCCESS};
    struct work failing = {.result = CUDA_ERROR_ASSERT};
    done("code", cushim_stream_enqueue(stream, enqueue, &work, release, &completion));
    done("wait", cushim_completion_wait(completion, CUSHIM_FOREVER));
    rule_number("calls", atomic_load(&work.calls), 1);
    rule_number("releases", atomic_load(&work.releases), 1);
    cushim_completion_destroy(&completion);
    rule("body-fails", cushim_stream_enqueue(stream, enqueue, &failing, release, &completion), CUDA_ERROR_ASSERT);
    rule_fact("untouched", completion == NULL);
    done("synchronize", cushim_stream_synchronize(stream));
    for (int i = 0; i < 200 && atomic_load(&failing.releases) == 0; i++)
        pause_shortly();
    rule_number("released-once", atomic_load(&failing.releases), 1);
    layer_stream_end(stream);
}

static const struct check checks[] = {
    {"completion.completed", completed, 0, {0}},
    {"completion.descriptor", descriptor, 0, {0}},
    {"completion.captured", captured, 0, {S(UserObjectCreate_v1)}},
    {"completion.notified", notified, 0, {0}},
    {"completion.enqueued", enqueued, 0, {0}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_completion = {"completion", checks};
