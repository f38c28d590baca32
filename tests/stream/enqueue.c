/* SPDX-License-Identifier: MIT */
/* Work and the resources it uses: they are released once, and not before the GPU is done, whatever fails. */
#include "enqueue.h"

#include "completion_callback.h"

static void CUDA_CB work_done(CUstream stream, CUresult status, void *user)
{
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

void expect_work(const char *key, struct work *work, int count)
{
    expect_number(key_of(key, "released", NULL), atomic_load(&work->released), count);
    expect_number(key_of(key, "early", NULL), atomic_load(&work->early), 0);
}

void work_settle(struct work *work)
{
    wait_for_count(&work->released, 1);
}

CHECK(ordinary, "enqueue.ordinary")
{
    struct work work = {.gated = true};
    struct cushim_completion *completion = NULL;
    struct cushim_stream *stream = fixture_stream();
    expect_success("code", cushim_stream_enqueue(stream, work_enqueue, &work, work_release, &completion));
    expect("pending", poll_status(completion), CUDA_ERROR_NOT_READY);
    expect_work("pending", &work, 0);
    gate_open(&work.gate);
    expect_success("synchronize", cushim_stream_synchronize(stream));
    expect_work("done-not-polled", &work, 0);
    expect("wait", wait_status(completion, soon()), CUDA_SUCCESS);
    expect_work("learnt", &work, 1);
    expect_true("on-this-thread", pthread_equal(work.thread, pthread_self()));
    expect("poll", poll_status(completion), CUDA_SUCCESS);
    cushim_completion_destroy(&completion);
    expect_work("destroyed", &work, 1);
}

CHECK(detached, "enqueue.detached")
{
    struct work detached = {.gated = true};
    struct work destroyed = {.gated = true};
    struct work unwanted = {.gated = true};
    struct work not_polled = {.gated = false};
    struct cushim_completion *completion = NULL;
    struct cushim_stream *streams[4] = {test_stream_new(), test_stream_new(), test_stream_new(), test_stream_new()};
    expect_success("detached", cushim_stream_enqueue(streams[0], work_enqueue, &detached, work_release, &completion));
    cushim_completion_detach(&completion);
    expect_success("destroyed", cushim_stream_enqueue(streams[1], work_enqueue, &destroyed, work_release, &completion));
    cushim_completion_destroy(&completion);
    expect_success("unwanted", cushim_stream_enqueue(streams[2], work_enqueue, &unwanted, work_release, NULL));
    expect_work("detached-before", &detached, 0);
    expect_work("destroyed-before", &destroyed, 0);
    expect_work("unwanted-before", &unwanted, 0);
    gate_open(&detached.gate);
    gate_open(&destroyed.gate);
    gate_open(&unwanted.gate);
    work_settle(&detached);
    work_settle(&destroyed);
    work_settle(&unwanted);
    expect_work("detached-after", &detached, 1);
    expect_work("destroyed-after", &destroyed, 1);
    expect_work("unwanted-after", &unwanted, 1);
    expect_success("not-polled",
                   cushim_stream_enqueue(streams[3], work_enqueue, &not_polled, work_release, &completion));
    expect_success("synchronize", cushim_stream_synchronize(streams[3]));
    cushim_completion_destroy(&completion);
    work_settle(&not_polled);
    expect_work("not-polled-after", &not_polled, 1);
    for (int i = 0; i < 4; i++)
        test_stream_close(streams[i]);
}

CHECK(body_fails, "enqueue.body-fails")
{
    struct work work = {.gated = true, .result = CUDA_ERROR_UNKNOWN};
    struct cushim_completion *completion = NULL;
    struct cushim_stream *stream = fixture_stream();
    expect("code", cushim_stream_enqueue(stream, work_enqueue, &work, work_release, &completion), CUDA_ERROR_UNKNOWN);
    expect_true("untouched", completion == NULL);
    expect_work("pending", &work, 0);
    gate_open(&work.gate);
    work_settle(&work);
    expect_work("done", &work, 1);
}

/* The driver refuses the callback of the completion: the call waits for the work. */
CHECK(registration_fails, "enqueue.registration-fails")
{
    struct work work = {.gated = false};
    struct cushim_completion *completion = NULL;
    struct cushim_stream *stream = fixture_stream();
    watch_begin();
    require("count", cushim_stream_enqueue(stream, work_enqueue, &work, work_release, &completion));
    int calls = watch_calls();
    watch_end();
    expect("wait", wait_status(completion, soon()), CUDA_SUCCESS);
    cushim_completion_destroy(&completion);
    int refusals = 0;
    int untouched = 0;
    int released = 0;
    for (int number = 0; number < calls; number++) {
        struct work tried = {.gated = false};
        enum cushim_slot slot = CUSHIM_SLOT_COUNT;
        watch_begin();
        watch_fail(number, CUDA_ERROR_OUT_OF_MEMORY);
        CUresult result = cushim_stream_enqueue(stream, work_enqueue, &tried, work_release, &completion);
        bool failed = watch_failed(&slot);
        watch_end();
        if (result == CUDA_SUCCESS) {
            require("wait-tried", wait_status(completion, soon()));
            cushim_completion_destroy(&completion);
        } else {
            untouched += completion == NULL && failed;
            refusals++;
        }
        work_settle(&tried);
        released += atomic_load(&tried.released);
    }
    expect_true("some-were-refused", refusals > 0);
    expect_number("refused-and-untouched", untouched - refusals, 0);
    expect_number("released", released - calls, 0);
}

static CUresult enqueue_and_refuse(struct cushim_stream *stream, void *user)
{
    CUresult result = work_enqueue(stream, user);
    watch_fail_slot(S(EventRecord_v1), CUDA_ERROR_OUT_OF_MEMORY);
    watch_fail_slot(S(StreamAddCallback_v1), CUDA_ERROR_OUT_OF_MEMORY);
    watch_fail_slot(S(StreamSynchronize_v1), CUDA_ERROR_OUT_OF_MEMORY);
    return result;
}

/* The driver refuses the event or the callback of the completion, and then to wait: the call tries again. */
CHECK(waiting_fails, "enqueue.waiting-fails")
{
    struct work work = {.gated = false};
    struct cushim_completion *completion = NULL;
    struct cushim_stream *stream = fixture_stream();
    watch_begin();
    expect("code", cushim_stream_enqueue(stream, enqueue_and_refuse, &work, work_release, &completion),
           CUDA_ERROR_OUT_OF_MEMORY);
    watch_end();
    expect_true("untouched", completion == NULL);
    expect_work("released", &work, 1);
}

/* Without a current context a special stream does not exist: the driver refuses everything, and no work is running. */
CHECK(without_context, "enqueue.without-context")
{
    struct work work = {.done = 1};
    struct cushim_completion *completion = NULL;
    struct cushim_stream *stream = fixture_borrowed(NULL);
    require("none", cu->CtxSetCurrent_v1(NULL));
    expect("code", cushim_stream_enqueue(stream, body_does_nothing, &work, work_release, &completion),
           CUDA_ERROR_INVALID_CONTEXT);
    expect_true("untouched", completion == NULL);
    expect_work("immediately", &work, 1);
    require("current", cu->CtxSetCurrent_v1(the_context));
}

CHECK(no_memory, "enqueue.no-memory", .flags = CHECK_ALONE)
{
    struct work work = {.gated = false};
    struct cushim_completion *completion = NULL;
    struct cushim_stream *stream = test_stream_new();
    for (int kind = 0; kind < KINDS; kind++) {
        allocation_fail(0);
        CUresult result = cushim_completion_create(stream, kind_flags[kind], &completion);
        expect_true(key_of(kind_names[kind], "failed", NULL), allocation_failed());
        expect_error(kind_names[kind], result, CUDA_ERROR_OUT_OF_MEMORY, "cushim_completion_create");
    }
    allocation_fail(0);
    CUresult result = cushim_stream_enqueue(stream, work_enqueue, &work, work_release, &completion);
    expect_true("failed", allocation_failed());
    expect_error("enqueue", result, CUDA_ERROR_OUT_OF_MEMORY, "cushim_stream_enqueue");
    expect_number("enqueue-released", atomic_load(&work.released), 1);
    expect_number("body-was-not-called", atomic_load(&work.done), 0);
    expect_true("untouched", completion == NULL);
    test_stream_close(stream);
}

CHECK(argument, "enqueue.argument")
{
    struct work work = {.gated = false};
    struct cushim_completion *completion = NULL;
    struct cushim_stream *stream = fixture_stream();
    expect_error("null-stream", cushim_stream_enqueue(NULL, work_enqueue, &work, work_release, &completion),
                 CUDA_ERROR_INVALID_HANDLE);
    expect_error("null-body", cushim_stream_enqueue(stream, NULL, &work, work_release, &completion),
                 CUDA_ERROR_INVALID_VALUE);
    expect_number("released", atomic_load(&work.released), 2);
    expect_success("without-release", cushim_stream_enqueue(stream, work_enqueue, &work, NULL, &completion));
    expect("wait", wait_status(completion, soon()), CUDA_SUCCESS);
    cushim_completion_destroy(&completion);
}

static void note_order(CUresult status, void *user)
{
    struct work *work = user;
    expect_number("function-goes-first", atomic_load(&work->released), 0);
}

/* With a callback on a dispatcher, the work is released after the callback. */
CHECK(with_function, "enqueue.with-function")
{
    struct work work = {.gated = true};
    struct cushim_completion *completion = NULL;
    struct cushim_dispatcher *dispatcher = dispatcher_new();
    struct cushim_stream *stream = fixture_stream();
    expect_success("code", cushim_stream_enqueue(stream, work_enqueue, &work, work_release, &completion));
    expect_success("set-callback", cushim_completion_set_callback(completion, dispatcher, note_order, &work, NULL));
    gate_open(&work.gate);
    expect("wait", wait_status(completion, soon()), CUDA_SUCCESS);
    expect_work("waited", &work, 0);
    expect_number("run", (long long)dispatcher_run_something(dispatcher), 1);
    expect_work("run", &work, 1);
    cushim_completion_destroy(&completion);
    cushim_dispatcher_destroy(&dispatcher);
}

/* The dispatcher is destroyed, so that the callback is not called: the work is released nevertheless. */
CHECK(with_destroyed_dispatcher, "enqueue.with-destroyed-dispatcher")
{
    struct work detached = {.gated = true};
    struct work kept = {.gated = true};
    struct cushim_completion *completions[2] = {NULL, NULL};
    struct cushim_dispatcher *dispatcher = dispatcher_new();
    struct cushim_stream *stream = fixture_stream();
    expect_success("detached", cushim_stream_enqueue(stream, work_enqueue, &detached, work_release, &completions[0]));
    expect_success("kept", cushim_stream_enqueue(stream, work_enqueue, &kept, work_release, &completions[1]));
    for (int i = 0; i < 2; i++)
        require("set-callback", cushim_completion_set_callback(completions[i], dispatcher, ignore_status, NULL, NULL));
    cushim_completion_detach(&completions[0]);
    cushim_dispatcher_destroy(&dispatcher);
    gate_open(&detached.gate);
    gate_open(&kept.gate);
    work_settle(&detached);
    expect_work("detached", &detached, 1);
    for (int i = 0; i < 500 && cushim_completion_count(completions[1]) == 0; i++)
        pause_shortly();
    pause_shortly(); /* the thread of the driver ends the callback */
    expect_work("kept", &kept, 0);
    cushim_completion_destroy(&completions[1]);
    expect_work("destroyed", &kept, 1);
}

/* The completion is destroyed while the dispatcher has its callback queued: the work is released immediately. */
CHECK(destroyed_while_queued, "enqueue.destroyed-while-queued")
{
    struct work work = {.gated = true};
    struct cushim_completion *completion = NULL;
    struct cushim_dispatcher *dispatcher = dispatcher_new();
    struct cushim_stream *stream = fixture_stream();
    cushim_descriptor descriptor;
    expect_success("enqueue", cushim_stream_enqueue(stream, work_enqueue, &work, work_release, &completion));
    require("descriptor", cushim_dispatcher_get_descriptor(dispatcher, &descriptor));
    require("set-callback", cushim_completion_set_callback(completion, dispatcher, ignore_status, NULL, NULL));
    gate_open(&work.gate);
    for (int i = 0; i < 500 && !readable(descriptor); i++)
        pause_shortly();
    expect_work("queued", &work, 0);
    cushim_completion_destroy(&completion);
    expect_work("destroyed", &work, 1);
    cushim_dispatcher_destroy(&dispatcher);
}
