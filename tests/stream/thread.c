/* SPDX-License-Identifier: MIT */
/* Many threads query one stream, create and destroy streams in one context, and capture, each in its own stream. */
#include <sched.h>

#include "support.h"

enum { THREADS = 8, ROUNDS = 20 };

struct crew {
    struct cushim_context *context;
    struct cushim_stream *stream;
    atomic_int ready;
    atomic_int wrong;
    unsigned flags;
    int priority;
    CUdevice device;
    struct user_data data;
};

static void count_wrong(struct crew *crew, bool right)
{
    if (!right)
        atomic_fetch_add(&crew->wrong, 1);
}

/* Waits until all threads are here. */
static void meet(struct crew *crew)
{
    atomic_fetch_add(&crew->ready, 1);
    while (atomic_load(&crew->ready) < THREADS)
        sched_yield();
}

static void run_crew(struct crew *crew, void *(*work)(void *))
{
    pthread_t threads[THREADS];
    atomic_store(&crew->ready, 0);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, crew);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void *query_often(void *user)
{
    struct crew *crew = user;
    meet(crew);
    for (int i = 0; i < ROUNDS; i++) {
        unsigned flags = 99;
        int priority = 99;
        CUdevice device = 99;
        CUcontext context = NULL;
        count_wrong(crew, cushim_stream_get_flags(crew->stream, &flags) == CUDA_SUCCESS && flags == crew->flags);
        count_wrong(crew,
                    cushim_stream_get_priority(crew->stream, &priority) == CUDA_SUCCESS && priority == crew->priority);
        if (is_missing(S(StreamGetCtx_v2)))
            continue;
        count_wrong(crew, cushim_stream_get_device(crew->stream, &device) == CUDA_SUCCESS && device == the_device);
        count_wrong(crew, cushim_stream_get_driver_context(crew->stream, &context, NULL) == CUDA_SUCCESS
                              && context == the_context);
    }
    return NULL;
}

/* The stream remembers no property yet. */
CHECK(queried, "thread.queried")
{
    struct crew crew = {.flags = 99};
    CUstream handle = stream_new();
    require("flags", cu->StreamGetFlags_v1(handle, &crew.flags));
    require("priority", cu->StreamGetPriority_v1(handle, &crew.priority));
    for (int i = 0; i < ROUNDS; i++) {
        require("borrow", cushim_stream_borrow(handle, NULL, &crew.stream));
        run_crew(&crew, query_often);
        require("destroy", cushim_stream_destroy(&crew.stream));
    }
    expect_number("wrong", atomic_load(&crew.wrong), 0);
}

static void *make(void *user)
{
    struct crew *crew = user;
    meet(crew);
    for (int i = 0; i < ROUNDS; i++) {
        struct cushim_stream *stream = NULL;
        struct cushim_event *event = NULL;
        count_wrong(crew, cushim_stream_create(crew->context, CU_STREAM_NON_BLOCKING, 0, &stream) == CUDA_SUCCESS);
        count_wrong(crew, cushim_event_create(crew->context, CU_EVENT_DISABLE_TIMING, &event) == CUDA_SUCCESS);
        count_wrong(crew, cushim_event_record(event, stream, 0) == CUDA_SUCCESS);
        count_wrong(crew, cushim_stream_wait_event(stream, event, 0) == CUDA_SUCCESS);
        count_wrong(crew, cushim_event_destroy(&event) == CUDA_SUCCESS);
        count_wrong(crew, cushim_stream_close(&stream) == CUDA_SUCCESS);
    }
    return NULL;
}

CHECK(created, "thread.created")
{
    struct crew crew = {.context = fixture_context()};
    run_crew(&crew, make);
    expect_number("wrong", atomic_load(&crew.wrong), 0);
}

/* The owner destroys the context while other threads still destroy objects in it. */
static void *end_last(void *user)
{
    struct crew *crew = user;
    struct cushim_stream *stream = NULL;
    count_wrong(crew, cushim_stream_create(crew->context, CU_STREAM_NON_BLOCKING, 0, &stream) == CUDA_SUCCESS);
    meet(crew);
    count_wrong(crew, cushim_stream_close(&stream) == CUDA_SUCCESS);
    return NULL;
}

CHECK(destroyed_together, "thread.destroyed-together")
{
    struct crew crew = {.context = NULL};
    struct cushim_stream *stream = NULL;
    require("context", cushim_context_create(the_ordinal, 0, &crew.context));
    run_crew(&crew, end_last);
    require("stream", cushim_stream_create(crew.context, 0, 0, &stream));
    require("destroy", cushim_context_destroy(&crew.context));
    expect_success("close", cushim_stream_close(&stream));
    expect_number("wrong", atomic_load(&crew.wrong), 0);
}

static void *capture(void *user)
{
    struct crew *crew = user;
    struct cushim_stream *stream = NULL;
    count_wrong(crew, cushim_stream_create(crew->context, CU_STREAM_NON_BLOCKING, 0, &stream) == CUDA_SUCCESS);
    meet(crew);
    for (int i = 0; i < ROUNDS; i++) {
        struct cushim_capture *token = NULL;
        struct cushim_graph *graph = NULL;
        atomic_int calls = 0;
        unsigned flags = 99;
        count_wrong(crew, cushim_capture_begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED, &token) == CUDA_SUCCESS);
        count_wrong(crew, body_adds_work(stream, &calls) == CUDA_SUCCESS);
        count_wrong(crew, cushim_stream_get_flags(stream, &flags) == CUDA_SUCCESS);
        count_wrong(crew, cushim_capture_end(&token, &graph) == CUDA_SUCCESS);
        count_wrong(crew, cushim_graph_destroy(&graph) == CUDA_SUCCESS);
    }
    count_wrong(crew, cushim_stream_close(&stream) == CUDA_SUCCESS);
    return NULL;
}

CHECK(captured, "thread.captured", .needs = {S(StreamBeginCapture_v2)})
{
    struct crew crew = {.context = fixture_context()};
    run_crew(&crew, capture);
    expect_number("wrong", atomic_load(&crew.wrong), 0);
}

/* Many threads add host functions to one stream: each is called and released once. */
static void *launch(void *user)
{
    struct crew *crew = user;
    meet(crew);
    for (int i = 0; i < ROUNDS; i++)
        count_wrong(crew,
                    cushim_stream_launch_host(crew->stream, user_called, &crew->data, user_released) == CUDA_SUCCESS);
    return NULL;
}

CHECK(launched, "thread.launched")
{
    struct crew crew = {.stream = fixture_stream()};
    run_crew(&crew, launch);
    expect_success("synchronize", cushim_stream_synchronize(crew.stream));
    expect_number("wrong", atomic_load(&crew.wrong), 0);
    expect_number("calls", atomic_load(&crew.data.calls), THREADS * ROUNDS);
    expect_number("releases", atomic_load(&crew.data.releases), THREADS * ROUNDS);
}
