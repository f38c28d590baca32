/* SPDX-License-Identifier: MIT */
/* Work on a stream that its body destroys, releases or brings into a capture, and on a stream that cannot take any. */
#if !defined(_WIN32)
#    define _GNU_SOURCE
#    include <sys/mman.h>
#    include <sys/wait.h>
#    include <unistd.h>
#endif
#include <string.h>

#include "enqueue.h"

static CUresult destroy_stream(struct cushim_stream *stream, void *user)
{
    CUresult result = work_enqueue(stream, user);
    return result != CUDA_SUCCESS ? result : cushim_stream_destroy(&stream);
}

/* A body destroys the stream: the driver's stream stays alive until the callback of the completion is registered. */
static void destroyed_by_body(const char *name, struct cushim_stream *stream)
{
    struct work work = {.gated = true};
    struct cushim_completion *completion = NULL;
    expect_success(key_of(name, "code", NULL),
                   cushim_stream_enqueue(stream, destroy_stream, &work, work_release, &completion));
    expect(key_of(name, "pending", NULL), poll_status(completion), CUDA_ERROR_NOT_READY);
    gate_open(&work.gate);
    expect_success(key_of(name, "wait", NULL), wait_status(completion, soon()));
    expect_work(name, &work, 1);
    expect_current(key_of(name, "current-stays", NULL), the_context);
    cushim_completion_destroy(&completion);
}

CHECK(stream_destroyed, "enqueue_stream.stream-destroyed")
{
    struct cushim_stream *stream = NULL;
    CUstream borrowed = stream_new();
    CUcontext other = NULL;
    destroyed_by_body("own", test_stream_new());
    require("borrow", cushim_stream_borrow(borrowed, NULL, &stream));
    destroyed_by_body("borrowed", stream);
    stream_end(borrowed);
    require("adopt", cushim_stream_adopt(disown(stream_new()), NULL, &stream));
    destroyed_by_body("adopted", stream);
    /* Another context is current, so that waiting for the current context would not be enough. */
    require("borrow", cushim_stream_adopt(disown(stream_new()), NULL, &stream));
    require("context", cu->CtxCreate_v2(&other, 0, the_device));
    struct work work = {.gated = true};
    expect_success("other-context", cushim_stream_enqueue(stream, destroy_stream, &work, work_release, NULL));
    expect_work("other-context-pending", &work, 0);
    gate_open(&work.gate);
    work_settle(&work);
    expect_work("other-context-done", &work, 1);
    require("context-end", cu->CtxDestroy_v2(other));
}

/* Another stream captures at the same time; that capture goes on. */
CHECK(stream_destroyed_beside_capture, "enqueue_stream.stream-destroyed-beside-capture",
      .needs = {S(ThreadExchangeStreamCaptureMode_v1)})
{
    struct cushim_stream *other = fixture_stream();
    struct cushim_capture *capture = test_capture_begin(other, CU_STREAM_CAPTURE_MODE_GLOBAL);
    destroyed_by_body("own", test_stream_new());
    expect_status("status", other, "active");
    expect_success("end", cushim_capture_end(&capture, NULL));
}

static CUresult release_stream(struct cushim_stream *stream, void *user)
{
    CUresult *result = user;
    CUstream handle = NULL;
    *result = cushim_stream_release(&stream, &handle);
    return CUDA_SUCCESS;
}

CHECK(stream_released, "enqueue_stream.stream-released")
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_completion *completion = NULL;
    CUresult result = CUDA_SUCCESS;
    expect_success("code", cushim_stream_enqueue(stream, release_stream, &result, NULL, &completion));
    expect("refused", result, CUDA_ERROR_ILLEGAL_STATE);
    expect_success("wait", wait_status(completion, soon()));
    cushim_completion_destroy(&completion);
}

CHECK(capturing, "enqueue_stream.capturing", .needs = {S(StreamEndCapture_v1)})
{
    struct work work = {.gated = false};
    struct cushim_completion *completion = NULL;
    struct cushim_graph *graph = NULL;
    struct cushim_stream *stream = fixture_stream();
    struct cushim_capture *capture = test_capture_begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    for (int kind = 0; kind < KINDS; kind++)
        expect_error(kind_names[kind], cushim_completion_create(stream, kind_flags[kind], &completion),
                     CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    expect_error("enqueue", cushim_stream_enqueue(stream, work_enqueue, &work, work_release, &completion),
                 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    expect_number("released", atomic_load(&work.released), 1);
    expect_true("untouched", completion == NULL);
    expect_status("status", stream, "active");
    expect_success("end", cushim_capture_end(&capture, &graph));
    expect_success("graph-destroy", cushim_graph_destroy(&graph));
}

static CUresult leave_capturing(struct cushim_stream *stream, void *user)
{
    return cu->StreamBeginCapture_v2(cushim_stream_handle(stream), CU_STREAM_CAPTURE_MODE_RELAXED);
}

CHECK(left_capturing, "enqueue_stream.left-capturing", .needs = {S(StreamEndCapture_v1)})
{
    struct work work = {.gated = false, .done = 1};
    struct cushim_completion *completion = NULL;
    struct cushim_stream *stream = fixture_stream();
    expect_error("code", cushim_stream_enqueue(stream, leave_capturing, &work, work_release, &completion),
                 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    expect_status("status", stream, "none");
    work_settle(&work);
    expect_number("released", atomic_load(&work.released), 1);
}

struct joining {
    struct work work; /* the first member, because work_release() receives its address */
    struct cushim_event *event;
};

static CUresult join_capture(struct cushim_stream *stream, void *user)
{
    struct joining *joining = user;
    CUresult result = work_enqueue(stream, &joining->work);
    if (result == CUDA_SUCCESS)
        result = cushim_stream_wait_event(stream, joining->event, 0);
    return result != CUDA_SUCCESS ? result : CUDA_ERROR_UNKNOWN;
}

#if !defined(_WIN32)
/* Creates another completion in the child of a fork(), where CUDA does not work: it does not matter how that ends. */
static void create_in_child(struct cushim_stream *stream)
{
    pid_t child = fork();
    if (child == 0) {
        struct cushim_completion *completion = NULL;
        alarm(10);
        (void)cushim_completion_create(stream, 0, &completion);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

/* Memory that is shared with the child of a fork(). */
static void *shared_new(size_t size)
{
    void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    expect_true("shared", shared != MAP_FAILED);
    return shared;
}
#else
static void create_in_child(struct cushim_stream *stream)
{
}

static void *shared_new(size_t size)
{
    return host_new(size, NULL);
}
#endif

/* A body brings the stream into a capture of another stream, after work that is running: nobody knows when that work is
 * done, so it is never released. The capture is invalidated. */
CHECK(joins_capture, "enqueue_stream.joins-capture", .flags = CHECK_ALONE, .needs = {S(StreamEndCapture_v1)})
{
    struct cushim_context *context = context_new();
    struct cushim_stream *origin = test_stream_new();
    struct cushim_stream *stream = test_stream_new();
    struct cushim_completion *completion = NULL;
    struct joining *joining = shared_new(sizeof *joining);
    joining->work.gated = true;
    require("event", cushim_event_create(context, CU_EVENT_DISABLE_TIMING, &joining->event));
    struct cushim_capture *capture = test_capture_begin(origin, RELAXED);
    require("record", cushim_event_record(joining->event, origin, 0));
    expect_error("code", cushim_stream_enqueue(stream, join_capture, joining, work_release, &completion),
                 CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    expect_true("untouched", completion == NULL);
    gate_open(&joining->work.gate);
    expect("end", cushim_capture_end(&capture, NULL), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    create_in_child(origin);
    expect("next-completion", wait_status(completion = polled_new(stream), soon()), CUDA_SUCCESS);
    cushim_completion_destroy(&completion);
    cushim_event_destroy(&joining->event);
    test_stream_close(origin);
    test_stream_close(stream);
    cushim_context_destroy(&context);
    expect_work("never", &joining->work, 0);
}

static CUresult wait_for_event(struct cushim_stream *stream, void *user)
{
    return cushim_stream_wait_event(stream, user, 0);
}

/* After the call, the caller can take the driver's stream, although it is still in the capture of another stream. */
CHECK(joined_released, "enqueue_stream.joined-released", .needs = {S(StreamEndCapture_v1)})
{
    struct cushim_stream *origin = fixture_stream();
    struct cushim_stream *stream = test_stream_new();
    struct cushim_event *event = fixture_event(CU_EVENT_DISABLE_TIMING);
    CUstream handle = NULL;
    struct cushim_capture *capture = test_capture_begin(origin, RELAXED);
    require("record", cushim_event_record(event, origin, 0));
    expect_error("code", cushim_stream_enqueue(stream, wait_for_event, event, NULL, NULL),
                 CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    expect_status("still-joined", stream, "invalidated");
    expect_success("release", cushim_stream_release(&stream, &handle));
    expect("end", cushim_capture_end(&capture, NULL), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    expect("destroy", cu->StreamDestroy_v2(handle), CUDA_SUCCESS);
}

static void expect_cause(const char *key, CUresult result, CUresult expected, const char *cause)
{
    expect(key, result, expected);
    expect_true(key_of(key, "cause", NULL), strstr(cushim_error_last()->message, cause) != NULL);
}

static void every_call_is_refused(const char *name, struct cushim_stream *stream, const char *cause)
{
    const CUresult refused = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    struct cushim_completion *completion = NULL;
    atomic_int releases = 0;
    unsigned flags = 0;
    expect_cause(key_of(name, "completion", NULL), cushim_completion_create(stream, 0, &completion), refused, cause);
    expect_cause(key_of(name, "enqueue", NULL),
                 cushim_stream_enqueue(stream, body_does_nothing, &releases, count_release, NULL), refused, cause);
    expect_cause(key_of(name, "run", NULL), cushim_stream_run(stream, body_does_nothing, NULL), refused, cause);
    expect_cause(key_of(name, "callback", NULL),
                 cushim_stream_add_callback(stream, user_called_back, &releases, count_release), refused, cause);
    expect_cause(key_of(name, "flags", NULL), cushim_stream_get_flags(stream, &flags), refused, cause);
    expect_number(key_of(name, "released", NULL), atomic_load(&releases), 2);
}

/* While a blocking stream is capturing, the legacy stream is not: the message says which one it is. */
CHECK(refusal_cause, "enqueue_stream.refusal-cause", .needs = {S(StreamBeginCapture_v2)})
{
    struct cushim_stream *blocking = NULL;
    struct cushim_stream *borrowed = NULL;
    require("create", cushim_stream_create(fixture_context(), CU_STREAM_DEFAULT, 0, &blocking));
    require("borrow", cushim_stream_borrow(cushim_stream_handle(blocking), NULL, &borrowed)); /* knows no flags */
    struct cushim_capture *capture = test_capture_begin(blocking, RELAXED);
    every_call_is_refused("legacy", fixture_borrowed(CU_STREAM_LEGACY), "A blocking stream is capturing");
    every_call_is_refused("capturing", borrowed, "The stream is capturing");
    expect_capture_ends(blocking, &capture);
    (void)cushim_stream_destroy(&borrowed);
    test_stream_close(blocking);
}

struct beside {
    atomic_int releases; /* the first member, because count_release() receives its address */
    struct cushim_stream *blocking;
    struct cushim_capture *capture;
};

static CUresult begin_beside(struct cushim_stream *stream, void *user)
{
    struct beside *beside = user;
    return cushim_capture_begin(beside->blocking, RELAXED, &beside->capture);
}

/* A blocking stream begins to capture while the body for the legacy stream runs: the work can no longer be waited for,
 * and that capture goes on. */
CHECK(legacy_beside_capture, "enqueue_stream.legacy-beside-capture", .needs = {S(StreamBeginCapture_v2)})
{
    struct beside beside = {.releases = 0};
    require("create", cushim_stream_create(fixture_context(), CU_STREAM_DEFAULT, 0, &beside.blocking));
    expect_cause("code",
                 cushim_stream_enqueue(fixture_borrowed(CU_STREAM_LEGACY), begin_beside, &beside, count_release, NULL),
                 CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "a blocking stream is capturing");
    expect_capture_ends(beside.blocking, &beside.capture);
    test_stream_close(beside.blocking);
    expect_number("released", atomic_load(&beside.releases), 0);
}

CHECK(legacy_run_beside_capture, "enqueue_stream.legacy-run-beside-capture", .needs = {S(StreamBeginCapture_v2)})
{
    struct beside beside = {.releases = 0};
    require("create", cushim_stream_create(fixture_context(), CU_STREAM_DEFAULT, 0, &beside.blocking));
    expect_cause("code", cushim_stream_run(fixture_borrowed(CU_STREAM_LEGACY), begin_beside, &beside),
                 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "a blocking stream is capturing");
    expect_capture_ends(beside.blocking, &beside.capture);
    test_stream_close(beside.blocking);
}

/* The legacy stream refuses every call while a blocking stream is capturing, and this error is not the status of its
 * work. The library first queries whether it is so; here that query fails, as if the capture began right after it. */
CHECK(completion_implicit, "enqueue_stream.completion-implicit", .needs = {S(StreamBeginCapture_v2)})
{
    struct cushim_context *context = fixture_context();
    struct cushim_stream *stream = NULL;
    struct cushim_completion *completion = NULL;
    require("create", cushim_stream_create(context, CU_STREAM_DEFAULT, 0, &stream));
    struct cushim_stream *legacy = fixture_borrowed(CU_STREAM_LEGACY);
    struct cushim_capture *capture = test_capture_begin(stream, RELAXED);
    watch_begin();
    watch_fail_slot(S(StreamIsCapturing_v1), CUDA_ERROR_UNKNOWN);
    expect("code", cushim_completion_create(legacy, 0, &completion), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    expect_true("asked-in-vain", watch_failed(NULL));
    watch_end();
    expect_true("untouched", completion == NULL);
    cushim_completion_destroy(&completion);
    (void)cushim_capture_end(&capture, NULL);
    test_stream_close(stream);
}
