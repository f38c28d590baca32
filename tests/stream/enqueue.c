/* SPDX-License-Identifier: MIT */
/* Work and the resources it uses: they are released once, and not before the GPU is done, whatever fails. */
#include "completion.h"

struct work {
    atomic_int done;     /* set by a host function at the end of the work */
    atomic_int released; /* how often */
    atomic_int early;    /* released before the work was done */
    pthread_t thread;
    struct gate gate;
    bool gated;
    CUresult result; /* of the body */
};

static void CUDA_CB work_done(CUstream stream, CUresult status, void *user)
{
    (void)stream;
    (void)status;
    atomic_store(&((struct work *)user)->done, 1);
}

static void release_work(void *user)
{
    struct work *work = user;
    work->thread = pthread_self();
    if (!atomic_load(&work->done))
        atomic_fetch_add(&work->early, 1);
    atomic_fetch_add(&work->released, 1);
}

static CUresult enqueue_work(struct cushim_stream *stream, void *user)
{
    struct work *work = user;
    if (work->gated)
        gate_close(&work->gate, cushim_stream_handle(stream));
    CUresult result = cushim_stream_add_callback(stream, work_done, work, NULL);
    return result != CUDA_SUCCESS ? result : work->result;
}

static void rule_released(const char *key, struct work *work, int count)
{
    rule_number(key_of(key, "released", NULL), atomic_load(&work->released), count);
    rule_number(key_of(key, "early", NULL), atomic_load(&work->early), 0);
}

/* Waits until the driver's thread has released the work. */
static void settle(struct work *work)
{
    for (int i = 0; i < 500 && atomic_load(&work->released) == 0; i++)
        pause_shortly();
}

static void ordinary(void)
{
    struct work work = {.gated = true};
    struct cushim_completion *completion = NULL;
    struct cushim_stream *stream = layer_stream();
    done("code", cushim_stream_enqueue(stream, enqueue_work, &work, release_work, &completion));
    rule("pending", cushim_completion_poll(completion), CUDA_ERROR_NOT_READY);
    rule_released("pending", &work, 0);
    gate_open(&work.gate);
    done("synchronize", cushim_stream_synchronize(stream));
    rule_released("done-not-polled", &work, 0);
    rule("wait", cushim_completion_wait(completion, soon()), CUDA_SUCCESS);
    rule_released("learnt", &work, 1);
    rule_fact("on-this-thread", pthread_equal(work.thread, pthread_self()));
    rule("poll", cushim_completion_poll(completion), CUDA_SUCCESS);
    cushim_completion_destroy(&completion);
    rule_released("destroyed", &work, 1);
    layer_stream_end(stream);
}

static void detached(void)
{
    struct work detached = {.gated = true};
    struct work destroyed = {.gated = true};
    struct work unwanted = {.gated = true};
    struct work not_polled = {.gated = false};
    struct cushim_completion *completion = NULL;
    struct cushim_stream *streams[4] = {layer_stream(), layer_stream(), layer_stream(), layer_stream()};
    done("detached", cushim_stream_enqueue(streams[0], enqueue_work, &detached, release_work, &completion));
    cushim_completion_detach(&completion);
    done("destroyed", cushim_stream_enqueue(streams[1], enqueue_work, &destroyed, release_work, &completion));
    cushim_completion_destroy(&completion);
    done("unwanted", cushim_stream_enqueue(streams[2], enqueue_work, &unwanted, release_work, NULL));
    rule_released("detached-before", &detached, 0);
    rule_released("destroyed-before", &destroyed, 0);
    rule_released("unwanted-before", &unwanted, 0);
    gate_open(&detached.gate);
    gate_open(&destroyed.gate);
    gate_open(&unwanted.gate);
    settle(&detached);
    settle(&destroyed);
    settle(&unwanted);
    rule_released("detached-after", &detached, 1);
    rule_released("destroyed-after", &destroyed, 1);
    rule_released("unwanted-after", &unwanted, 1);
    done("not-polled", cushim_stream_enqueue(streams[3], enqueue_work, &not_polled, release_work, &completion));
    done("synchronize", cushim_stream_synchronize(streams[3]));
    cushim_completion_destroy(&completion);
    settle(&not_polled);
    rule_released("not-polled-after", &not_polled, 1);
    for (int i = 0; i < 4; i++)
        layer_stream_end(streams[i]);
}

static void body_fails(void)
{
    struct work work = {.gated = true, .result = CUDA_ERROR_UNKNOWN};
    struct cushim_completion *completion = NULL;
    struct cushim_stream *stream = layer_stream();
    rule("code", cushim_stream_enqueue(stream, enqueue_work, &work, release_work, &completion), CUDA_ERROR_UNKNOWN);
    rule_fact("untouched", completion == NULL);
    rule_released("pending", &work, 0);
    gate_open(&work.gate);
    settle(&work);
    rule_released("done", &work, 1);
    layer_stream_end(stream);
}

/* The driver refuses the callback of the completion: the call waits for the work. */
static void registration_fails(void)
{
    struct work work = {.gated = false};
    struct cushim_completion *completion = NULL;
    struct cushim_stream *stream = layer_stream();
    watch_begin();
    need("count", cushim_stream_enqueue(stream, enqueue_work, &work, release_work, &completion));
    int calls = watch_calls();
    watch_end();
    rule("wait", cushim_completion_wait(completion, soon()), CUDA_SUCCESS);
    cushim_completion_destroy(&completion);
    int refusals = 0;
    int untouched = 0;
    int released = 0;
    for (int turn = 0; turn < calls; turn++) {
        struct work tried = {.gated = false};
        enum cushim_slot slot = CUSHIM_SLOT_COUNT;
        watch_begin();
        watch_fail(turn, CUDA_ERROR_OUT_OF_MEMORY);
        CUresult result = cushim_stream_enqueue(stream, enqueue_work, &tried, release_work, &completion);
        bool failed = watch_failed(&slot);
        watch_end();
        if (result == CUDA_SUCCESS) {
            need("wait-tried", cushim_completion_wait(completion, soon()));
            cushim_completion_destroy(&completion);
        } else {
            untouched += completion == NULL && failed;
            refusals++;
        }
        settle(&tried);
        released += atomic_load(&tried.released);
    }
    rule_fact("some-were-refused", refusals > 0);
    rule_number("refused-and-untouched", untouched - refusals, 0);
    rule_number("released", released - calls, 0);
    layer_stream_end(stream);
}

static CUresult enqueue_and_refuse(struct cushim_stream *stream, void *user)
{
    CUresult result = enqueue_work(stream, user);
    watch_fail_slot(S(EventRecord_v1), CUDA_ERROR_OUT_OF_MEMORY);
    watch_fail_slot(S(StreamAddCallback_v1), CUDA_ERROR_OUT_OF_MEMORY);
    watch_fail_slot(S(StreamSynchronize_v1), CUDA_ERROR_OUT_OF_MEMORY);
    return result;
}

/* The driver refuses the event and the callback of the completion, then to wait: the next call releases the work. */
static void waiting_fails(void)
{
    struct work work = {.gated = true};
    struct cushim_completion *completion = NULL;
    struct cushim_stream *stream = layer_stream();
    watch_begin();
    rule("code", cushim_stream_enqueue(stream, enqueue_and_refuse, &work, release_work, &completion),
         CUDA_ERROR_OUT_OF_MEMORY);
    watch_end();
    rule_fact("untouched", completion == NULL);
    rule_released("running", &work, 0);
    gate_open(&work.gate);
    completion = completion_new(stream);
    settle(&work);
    rule_released("next-call", &work, 1);
    cushim_completion_destroy(&completion);
    layer_stream_end(stream);
}

static CUresult enqueue_nothing(struct cushim_stream *stream, void *user)
{
    (void)stream;
    (void)user;
    return CUDA_SUCCESS;
}

/* Without a current context a special stream does not exist: the driver refuses everything, and no work is running. */
static void without_context(void)
{
    struct work work = {.done = 1};
    struct cushim_completion *completion = NULL;
    struct cushim_stream *stream = NULL;
    need("borrow", cushim_stream_borrow(NULL, NULL, &stream));
    need("none", cu->CtxSetCurrent_v1(NULL));
    rule("code", cushim_stream_enqueue(stream, enqueue_nothing, &work, release_work, &completion),
         CUDA_ERROR_INVALID_CONTEXT);
    rule_fact("untouched", completion == NULL);
    rule_released("immediately", &work, 1);
    need("current", cu->CtxSetCurrent_v1(the_context));
    cushim_stream_destroy(&stream);
}

static void no_memory(void)
{
    struct work work = {.gated = false};
    enum { MANY = 1100 }; /* more than a slab of completions */
    static struct cushim_completion *held[MANY];
    struct cushim_stream *stream = layer_stream();
    int made = 0;
    bool refusal = false;
    while (made < MANY && !refusal) {
        allocation_fail(0);
        CUresult result = cushim_stream_completion(stream, &held[made]);
        refusal = allocation_failed();
        if (refusal)
            refused("completion", result, CUDA_ERROR_OUT_OF_MEMORY, "cushim_stream_completion");
        else
            made++;
    }
    if (refusal) {
        struct cushim_completion *completion = NULL;
        allocation_fail(0);
        CUresult result = cushim_stream_enqueue(stream, enqueue_work, &work, release_work, &completion);
        rule_fact("failed", allocation_failed());
        refused("enqueue", result, CUDA_ERROR_OUT_OF_MEMORY, "cushim_stream_enqueue");
        rule_number("enqueue-released", atomic_load(&work.released), 1);
        rule_number("body-was-not-called", atomic_load(&work.done), 0);
        rule_fact("untouched", completion == NULL);
    }
    rule_fact("was-refused", refusal);
    for (int i = 0; i < made; i++) {
        need("wait", cushim_completion_wait(held[i], soon()));
        cushim_completion_destroy(&held[i]);
    }
    layer_stream_end(stream);
}

static void argument(void)
{
    struct work work = {.gated = false};
    struct cushim_completion *completion = NULL;
    struct cushim_stream *stream = layer_stream();
    refused("null-stream", cushim_stream_enqueue(NULL, enqueue_work, &work, release_work, &completion),
            CUDA_ERROR_INVALID_HANDLE, "cushim_stream_enqueue");
    refused("null-body", cushim_stream_enqueue(stream, NULL, &work, release_work, &completion),
            CUDA_ERROR_INVALID_VALUE, "cushim_stream_enqueue");
    rule_number("released", atomic_load(&work.released), 2);
    done("without-release", cushim_stream_enqueue(stream, enqueue_work, &work, NULL, &completion));
    rule("wait", cushim_completion_wait(completion, soon()), CUDA_SUCCESS);
    cushim_completion_destroy(&completion);
    layer_stream_end(stream);
}

static void note_order(CUresult status, void *user)
{
    struct work *work = user;
    (void)status;
    rule_number("function-goes-first", atomic_load(&work->released), 0);
}

/* With a callback on a dispatcher, the work is released after the callback. */
static void with_function(void)
{
    struct work work = {.gated = true};
    struct cushim_completion *completion = NULL;
    struct cushim_dispatcher *dispatcher = NULL;
    size_t count = 0;
    struct cushim_stream *stream = layer_stream();
    need("dispatcher", cushim_dispatcher_create(&dispatcher));
    done("code", cushim_stream_enqueue(stream, enqueue_work, &work, release_work, &completion));
    done("set-callback", cushim_completion_set_callback(completion, dispatcher, note_order, &work, NULL));
    gate_open(&work.gate);
    rule("wait", cushim_completion_wait(completion, soon()), CUDA_SUCCESS);
    rule_released("waited", &work, 0);
    for (int i = 0; i < 500 && count == 0; i++) { /* the completion fires a moment before its callback is due */
        need("run", cushim_dispatcher_run(dispatcher, &count));
        if (count == 0)
            pause_shortly();
    }
    rule_number("run", (long long)count, 1);
    rule_released("run", &work, 1);
    cushim_completion_destroy(&completion);
    cushim_dispatcher_destroy(&dispatcher);
    layer_stream_end(stream);
}

static CUresult destroy_stream(struct cushim_stream *stream, void *user)
{
    CUresult result = enqueue_work(stream, user);
    return result != CUDA_SUCCESS ? result : cushim_stream_destroy(&stream);
}

/* A body destroys the stream: the driver's stream stays alive until the callback of the completion is registered. */
static void destroyed_by_body(const char *name, struct cushim_stream *stream)
{
    struct work work = {.gated = true};
    struct cushim_completion *completion = NULL;
    done(key_of(name, "code", NULL), cushim_stream_enqueue(stream, destroy_stream, &work, release_work, &completion));
    rule(key_of(name, "pending", NULL), cushim_completion_poll(completion), CUDA_ERROR_NOT_READY);
    gate_open(&work.gate);
    done(key_of(name, "wait", NULL), cushim_completion_wait(completion, soon()));
    rule_released(name, &work, 1);
    rule_current(key_of(name, "current-stays", NULL), the_context);
    cushim_completion_destroy(&completion);
}

static void stream_destroyed(void)
{
    struct cushim_stream *stream = NULL;
    CUstream borrowed = stream_new();
    CUcontext other = NULL;
    destroyed_by_body("own", layer_stream());
    need("borrow", cushim_stream_borrow(borrowed, NULL, &stream));
    destroyed_by_body("borrowed", stream);
    stream_end(borrowed);
    need("adopt", cushim_stream_adopt(stream_new(), NULL, &stream));
    destroyed_by_body("adopted", stream);
    /* Another context is current, so that waiting for the current context would not be enough. */
    need("borrow", cushim_stream_adopt(stream_new(), NULL, &stream));
    need("context", cu->CtxCreate_v2(&other, 0, the_device));
    struct work work = {.gated = true};
    done("other-context", cushim_stream_enqueue(stream, destroy_stream, &work, release_work, NULL));
    rule_released("other-context-pending", &work, 0);
    gate_open(&work.gate);
    settle(&work);
    rule_released("other-context-done", &work, 1);
    need("context-end", cu->CtxDestroy_v2(other));
}

/* Another stream captures at the same time; that capture goes on. */
static void stream_destroyed_beside_capture(void)
{
    struct cushim_stream *other = layer_stream();
    struct cushim_capture *capture = NULL;
    struct cushim_graph *graph = NULL;
    need("begin", cushim_capture_begin(other, CU_STREAM_CAPTURE_MODE_GLOBAL, &capture));
    destroyed_by_body("own", layer_stream());
    rule_status("status", other, "active");
    done("end", cushim_capture_end(&capture, &graph));
    cushim_graph_destroy(&graph);
    layer_stream_end(other);
}

static CUresult release_stream(struct cushim_stream *stream, void *user)
{
    CUresult *result = user;
    CUstream handle = NULL;
    *result = cushim_stream_release(&stream, &handle);
    return CUDA_SUCCESS;
}

static void stream_released(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_completion *completion = NULL;
    CUresult result = CUDA_SUCCESS;
    done("code", cushim_stream_enqueue(stream, release_stream, &result, NULL, &completion));
    rule("refused", result, CUDA_ERROR_ILLEGAL_STATE);
    done("wait", cushim_completion_wait(completion, soon()));
    cushim_completion_destroy(&completion);
    layer_stream_end(stream);
}

static void capturing(void)
{
    struct work work = {.gated = false};
    struct cushim_completion *completion = NULL;
    struct cushim_capture *capture = NULL;
    struct cushim_graph *graph = NULL;
    struct cushim_stream *stream = layer_stream();
    need("begin", cushim_capture_begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED, &capture));
    refused("completion", cushim_stream_completion(stream, &completion), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
            "cushim_stream_completion");
    refused("enqueue", cushim_stream_enqueue(stream, enqueue_work, &work, release_work, &completion),
            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "cushim_stream_enqueue");
    rule_number("released", atomic_load(&work.released), 1);
    rule_fact("untouched", completion == NULL);
    rule_status("status", stream, "active");
    done("end", cushim_capture_end(&capture, &graph));
    done("graph-destroy", cushim_graph_destroy(&graph));
    layer_stream_end(stream);
}

static CUresult leave_capturing(struct cushim_stream *stream, void *user)
{
    (void)user;
    return cu->StreamBeginCapture_v2(cushim_stream_handle(stream), CU_STREAM_CAPTURE_MODE_RELAXED);
}

static void left_capturing(void)
{
    struct work work = {.gated = false, .done = 1};
    struct cushim_completion *completion = NULL;
    struct cushim_stream *stream = layer_stream();
    refused("code", cushim_stream_enqueue(stream, leave_capturing, &work, release_work, &completion),
            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "cushim_stream_enqueue");
    rule_status("status", stream, "none");
    settle(&work);
    rule_number("released", atomic_load(&work.released), 1);
    layer_stream_end(stream);
}

struct joining {
    struct work work; /* the first member, because release_work() receives its address */
    struct cushim_event *event;
};

static CUresult join_capture(struct cushim_stream *stream, void *user)
{
    struct joining *joining = user;
    CUresult result = enqueue_work(stream, &joining->work);
    return result != CUDA_SUCCESS ? result : cushim_stream_wait_event(stream, joining->event, 0);
}

/*
 * A body brings the stream into a capture of another stream, after work that is running: nothing is released before
 * that work is done, and the next call releases it when the capture has ended.
 */
static void joins_capture(void)
{
    struct cushim_context *context = context_new();
    struct cushim_stream *origin = layer_stream();
    struct cushim_stream *stream = layer_stream();
    struct cushim_completion *completion = NULL;
    struct cushim_capture *capture = NULL;
    struct joining joining = {.work = {.gated = true}};
    need("event", cushim_event_create(context, CU_EVENT_DISABLE_TIMING, &joining.event));
    need("begin", cushim_capture_begin(origin, RELAXED, &capture));
    need("record", cushim_event_record(joining.event, origin, 0));
    refused("code", cushim_stream_enqueue(stream, join_capture, &joining, release_work, &completion),
            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "cushim_stream_enqueue");
    rule_fact("untouched", completion == NULL);
    rule_released("running", &joining.work, 0);
    gate_open(&joining.work.gate);
    (void)cushim_capture_end(&capture, NULL);
    completion = completion_new(origin);
    settle(&joining.work);
    rule_released("next-call", &joining.work, 1);
    cushim_completion_destroy(&completion);
    cushim_event_destroy(&joining.event);
    layer_stream_end(origin);
    layer_stream_end(stream);
    cushim_context_destroy(&context);
}

static const struct check checks[] = {
    {"enqueue.ordinary", ordinary, 0, {0}},
    {"enqueue.detached", detached, 0, {0}},
    {"enqueue.body-fails", body_fails, 0, {0}},
    {"enqueue.registration-fails", registration_fails, 0, {0}},
    {"enqueue.waiting-fails", waiting_fails, 0, {0}},
    {"enqueue.without-context", without_context, 0, {0}},
    {"enqueue.no-memory", no_memory, CHECK_ALONE, {0}},
    {"enqueue.argument", argument, 0, {0}},
    {"enqueue.with-function", with_function, 0, {0}},
    {"enqueue.stream-destroyed", stream_destroyed, 0, {0}},
    {"enqueue.stream-destroyed-beside-capture",
     stream_destroyed_beside_capture,
     0,
     {S(ThreadExchangeStreamCaptureMode_v1)}},
    {"enqueue.stream-released", stream_released, 0, {0}},
    {"enqueue.joins-capture", joins_capture, 0, {S(StreamEndCapture_v1)}},
    {"enqueue.capturing", capturing, 0, {S(StreamEndCapture_v1)}},
    {"enqueue.left-capturing", left_capturing, 0, {S(StreamEndCapture_v1)}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_enqueue = {"enqueue", checks};
