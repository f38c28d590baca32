/* SPDX-License-Identifier: MIT */
/* Work and the resources it uses: they are released once, and not before the GPU is done, whatever fails. */
#include "enqueue.h"

#include "completion_callback.h"

static void CUDA_CB work_done(CUstream stream, CUresult status, void *user)
{
    (void)stream;
    (void)status;
    atomic_store(&((struct work *)user)->done, 1);
}

void work_release(void *user)
{
    struct work *work = user;
    work->thread = pthread_self();
    if (!atomic_load(&work->done))
        atomic_fetch_add(&work->early, 1);
    atomic_fetch_add(&work->released, 1);
}

CUresult work_enqueue(struct cushim_stream *stream, void *user)
{
    struct work *work = user;
    if (work->gated)
        gate_close(&work->gate, cushim_stream_handle(stream));
    CUresult result = cushim_stream_add_callback(stream, work_done, work, NULL);
    return result != CUDA_SUCCESS ? result : work->result;
}

void rule_work(const char *key, struct work *work, int count)
{
    rule_number(key_of(key, "released", NULL), atomic_load(&work->released), count);
    rule_number(key_of(key, "early", NULL), atomic_load(&work->early), 0);
}

void work_settle(struct work *work)
{
    for (int i = 0; i < 500 && atomic_load(&work->released) == 0; i++)
        pause_shortly();
}

static void ordinary(void)
{
    struct work work = {.gated = true};
    struct cushim_completion *completion = NULL;
    struct cushim_stream *stream = layer_stream();
    done("code", cushim_stream_enqueue(stream, work_enqueue, &work, work_release, &completion));
    rule("pending", cushim_completion_poll(completion), CUDA_ERROR_NOT_READY);
    rule_work("pending", &work, 0);
    gate_open(&work.gate);
    done("synchronize", cushim_stream_synchronize(stream));
    rule_work("done-not-polled", &work, 0);
    rule("wait", cushim_completion_wait(completion, soon()), CUDA_SUCCESS);
    rule_work("learnt", &work, 1);
    rule_fact("on-this-thread", pthread_equal(work.thread, pthread_self()));
    rule("poll", cushim_completion_poll(completion), CUDA_SUCCESS);
    cushim_completion_destroy(&completion);
    rule_work("destroyed", &work, 1);
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
    done("detached", cushim_stream_enqueue(streams[0], work_enqueue, &detached, work_release, &completion));
    cushim_completion_detach(&completion);
    done("destroyed", cushim_stream_enqueue(streams[1], work_enqueue, &destroyed, work_release, &completion));
    cushim_completion_destroy(&completion);
    done("unwanted", cushim_stream_enqueue(streams[2], work_enqueue, &unwanted, work_release, NULL));
    rule_work("detached-before", &detached, 0);
    rule_work("destroyed-before", &destroyed, 0);
    rule_work("unwanted-before", &unwanted, 0);
    gate_open(&detached.gate);
    gate_open(&destroyed.gate);
    gate_open(&unwanted.gate);
    work_settle(&detached);
    work_settle(&destroyed);
    work_settle(&unwanted);
    rule_work("detached-after", &detached, 1);
    rule_work("destroyed-after", &destroyed, 1);
    rule_work("unwanted-after", &unwanted, 1);
    done("not-polled", cushim_stream_enqueue(streams[3], work_enqueue, &not_polled, work_release, &completion));
    done("synchronize", cushim_stream_synchronize(streams[3]));
    cushim_completion_destroy(&completion);
    work_settle(&not_polled);
    rule_work("not-polled-after", &not_polled, 1);
    for (int i = 0; i < 4; i++)
        layer_stream_end(streams[i]);
}

static void body_fails(void)
{
    struct work work = {.gated = true, .result = CUDA_ERROR_UNKNOWN};
    struct cushim_completion *completion = NULL;
    struct cushim_stream *stream = layer_stream();
    rule("code", cushim_stream_enqueue(stream, work_enqueue, &work, work_release, &completion), CUDA_ERROR_UNKNOWN);
    rule_fact("untouched", completion == NULL);
    rule_work("pending", &work, 0);
    gate_open(&work.gate);
    work_settle(&work);
    rule_work("done", &work, 1);
    layer_stream_end(stream);
}

/* The driver refuses the callback of the completion: the call waits for the work. */
static void registration_fails(void)
{
    struct work work = {.gated = false};
    struct cushim_completion *completion = NULL;
    struct cushim_stream *stream = layer_stream();
    watch_begin();
    need("count", cushim_stream_enqueue(stream, work_enqueue, &work, work_release, &completion));
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
        CUresult result = cushim_stream_enqueue(stream, work_enqueue, &tried, work_release, &completion);
        bool failed = watch_failed(&slot);
        watch_end();
        if (result == CUDA_SUCCESS) {
            need("wait-tried", cushim_completion_wait(completion, soon()));
            cushim_completion_destroy(&completion);
        } else {
            untouched += completion == NULL && failed;
            refusals++;
        }
        work_settle(&tried);
        released += atomic_load(&tried.released);
    }
    rule_fact("some-were-refused", refusals > 0);
    rule_number("refused-and-untouched", untouched - refusals, 0);
    rule_number("released", released - calls, 0);
    layer_stream_end(stream);
}

static CUresult enqueue_and_refuse(struct cushim_stream *stream, void *user)
{
    CUresult result = work_enqueue(stream, user);
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
    rule("code", cushim_stream_enqueue(stream, enqueue_and_refuse, &work, work_release, &completion),
         CUDA_ERROR_OUT_OF_MEMORY);
    watch_end();
    rule_fact("untouched", completion == NULL);
    rule_work("running", &work, 0);
    gate_open(&work.gate);
    completion = completion_new(stream);
    work_settle(&work);
    rule_work("next-call", &work, 1);
    cushim_completion_destroy(&completion);
    layer_stream_end(stream);
}

/* Without a current context a special stream does not exist: the driver refuses everything, and no work is running. */
static void without_context(void)
{
    struct work work = {.done = 1};
    struct cushim_completion *completion = NULL;
    struct cushim_stream *stream = NULL;
    need("borrow", cushim_stream_borrow(NULL, NULL, &stream));
    need("none", cu->CtxSetCurrent_v1(NULL));
    rule("code", cushim_stream_enqueue(stream, body_does_nothing, &work, work_release, &completion),
         CUDA_ERROR_INVALID_CONTEXT);
    rule_fact("untouched", completion == NULL);
    rule_work("immediately", &work, 1);
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
        CUresult result = cushim_stream_enqueue(stream, work_enqueue, &work, work_release, &completion);
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
    refused("null-stream", cushim_stream_enqueue(NULL, work_enqueue, &work, work_release, &completion),
            CUDA_ERROR_INVALID_HANDLE, "cushim_stream_enqueue");
    refused("null-body", cushim_stream_enqueue(stream, NULL, &work, work_release, &completion),
            CUDA_ERROR_INVALID_VALUE, "cushim_stream_enqueue");
    rule_number("released", atomic_load(&work.released), 2);
    done("without-release", cushim_stream_enqueue(stream, work_enqueue, &work, NULL, &completion));
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
    struct cushim_dispatcher *dispatcher = dispatcher_new();
    struct cushim_stream *stream = layer_stream();
    done("code", cushim_stream_enqueue(stream, work_enqueue, &work, work_release, &completion));
    done("set-callback", cushim_completion_set_callback(completion, dispatcher, note_order, &work, NULL));
    gate_open(&work.gate);
    rule("wait", cushim_completion_wait(completion, soon()), CUDA_SUCCESS);
    rule_work("waited", &work, 0);
    rule_number("run", (long long)dispatcher_run_something(dispatcher), 1);
    rule_work("run", &work, 1);
    cushim_completion_destroy(&completion);
    cushim_dispatcher_destroy(&dispatcher);
    layer_stream_end(stream);
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
    {NULL, NULL, 0, {0}},
};

const struct subject subject_enqueue = {"enqueue", checks};
