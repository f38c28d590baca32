/* SPDX-License-Identifier: MIT */
/* The properties of a stream are right, need no driver call once they are known, and never invalidate a capture. */
#include "support.h"

/* The properties of one stream. */
struct answers {
    unsigned flags;
    int priority;
    CUdevice device;
    CUcontext context;
    CUgreenCtx green;
    unsigned long long id;
};

/* Queries every property that this driver reports, and checks each code. */
static struct answers properties_query(const char *name, struct cushim_stream *stream, CUresult expected)
{
    struct answers answers = {99, 99, 99, NULL, NULL, 0};
    /* The code of the properties that may be queried during a capture, too. */
    CUresult allowed = expected == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED ? CUDA_SUCCESS : expected;
    expect(key_of(name, "flags", NULL), cushim_stream_get_flags(stream, &answers.flags), expected);
    expect(key_of(name, "priority", NULL), cushim_stream_get_priority(stream, &answers.priority), allowed);
    bool knows = cushim_stream_context(stream) != NULL;
    if (knows || require_slot(key_of(name, "device", NULL), S(StreamGetDevice_v1)))
        expect(key_of(name, "device", NULL), cushim_stream_get_device(stream, &answers.device),
               knows ? CUDA_SUCCESS : expected);
    if (knows || require_slot(key_of(name, "context", NULL), S(StreamGetCtx_v2)))
        expect(key_of(name, "context", NULL),
               cushim_stream_get_driver_context(stream, &answers.context, &answers.green),
               knows ? CUDA_SUCCESS : allowed);
    if (require_slot(key_of(name, "id", NULL), S(StreamGetId_v1)))
        expect(key_of(name, "id", NULL), cushim_stream_get_id(stream, &answers.id), expected);
    return answers;
}

static void compare(const char *name, CUstream handle, const struct answers *answers, bool with_context)
{
    unsigned flags = 0;
    int priority = 0;
    unsigned long long id = 0;
    require("flags", cu->StreamGetFlags_v1(handle, &flags));
    expect_true(key_of(name, "flags", "is-the-driver's"), answers->flags == flags);
    require("priority", cu->StreamGetPriority_v1(handle, &priority));
    expect_true(key_of(name, "priority", "is-the-driver's"), answers->priority == priority);
    if (with_context) {
        expect_number(key_of(name, "device", "is"), answers->device, the_device);
        expect_true(key_of(name, "context", "is"), answers->context == the_context && answers->green == NULL);
    }
    if (!is_missing(S(StreamGetId_v1))) {
        require("id", cu->StreamGetId_v1(handle, &id));
        expect_true(key_of(name, "id", "is-the-driver's"), answers->id == id);
    }
}

/* The number of driver calls for properties that do not change. */
static int remembered_calls(void)
{
    return watch_calls() - watch_calls_of(S(StreamGetPriority_v1));
}

CHECK(created, "property.created")
{
    struct cushim_context *context = fixture_context();
    struct cushim_stream *stream = NULL;
    CUcontext only = NULL;
    CUgreenCtx green = (CUgreenCtx)&only;
    require("create", cushim_stream_create(context, CU_STREAM_NON_BLOCKING, -100, &stream));
    watch_begin();
    struct answers answers = properties_query("own", stream, CUDA_SUCCESS);
    expect_success("context-alone", cushim_stream_get_driver_context(stream, &only, NULL));
    expect_success("green-alone", cushim_stream_get_driver_context(stream, NULL, &green));
    expect_true("parts", only == the_context && green == NULL);
    expect_number("calls", remembered_calls(), 0);
    watch_end();
    compare("own", cushim_stream_handle(stream), &answers, true);
    test_stream_close(stream);
}

static void queried_once(const char *name, struct cushim_stream *stream, bool with_context)
{
    watch_begin();
    struct answers first = properties_query(name, stream, CUDA_SUCCESS);
    int calls = remembered_calls();
    expect_true(key_of(name, "queried", NULL), calls > 0);
    struct answers second = properties_query(key_of(name, "again", NULL), stream, CUDA_SUCCESS);
    expect_number(key_of(name, "queried-once", NULL), remembered_calls() - calls, 0);
    watch_end();
    compare(name, cushim_stream_handle(stream), &first, with_context || !is_missing(S(StreamGetCtx_v2)));
    expect_true(key_of(name, "same-again", NULL), first.flags == second.flags && first.priority == second.priority
                                                      && first.device == second.device
                                                      && first.context == second.context && first.id == second.id);
}

CHECK(others, "property.others")
{
    struct cushim_context *context = fixture_context();
    struct cushim_stream *stream = NULL;
    CUstream handle = stream_blocking();
    require("borrow", cushim_stream_borrow(handle, context, &stream));
    queried_once("borrowed", stream, true);
    require("destroy", cushim_stream_destroy(&stream));
    require("borrow", cushim_stream_borrow(handle, NULL, &stream));
    queried_once("without-context", stream, false);
    require("destroy", cushim_stream_destroy(&stream));
    require("adopt", cushim_stream_adopt(disown(handle), NULL, &stream));
    queried_once("adopted", stream, false);
    test_stream_close(stream);
}

/* Before CUDA 9.2 the driver does not report the context of a stream. */
CHECK(context_on_old, "property.context-on-old", .flags = CHECK_ON_OLD, .needs = {S(StreamGetCtx_v2)})
{
    CUdevice device = -1;
    CUcontext context = NULL;
    CUstream handle = stream_new();
    struct cushim_stream *stream = fixture_borrowed(handle);
    expect_driver_error("device", cushim_stream_get_device(stream, &device), CUDA_ERROR_NOT_SUPPORTED);
    expect_driver_error("context", cushim_stream_get_driver_context(stream, &context, NULL), CUDA_ERROR_NOT_SUPPORTED);
    expect_true("untouched", device == -1 && context == NULL);
}

CHECK(id_on_old, "property.id-on-old", .flags = CHECK_ON_OLD, .needs = {S(StreamGetId_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    unsigned long long id = 77;
    expect_driver_error("code", cushim_stream_get_id(stream, &id), CUDA_ERROR_NOT_SUPPORTED);
    expect_number("untouched", (long long)id, 77);
}

/* A special stream is a different stream in each context, so its object remembers nothing. */
CHECK(special, "property.special", .needs = {S(DevicePrimaryCtxRetain_v1)})
{
    struct cushim_stream *stream = fixture_borrowed(CU_STREAM_LEGACY);
    watch_begin();
    struct answers answers = properties_query("legacy", stream, CUDA_SUCCESS);
    int calls = watch_calls();
    (void)properties_query("legacy-again", stream, CUDA_SUCCESS);
    expect_number("queried-each-time", watch_calls() - 2 * calls, 0);
    watch_end();
    compare("legacy", CU_STREAM_LEGACY, &answers, !is_missing(S(StreamGetCtx_v2)));
}

CHECK(id_is_unique, "property.id-is-unique", .needs = {S(StreamGetId_v1)})
{
    unsigned long long first = 0;
    unsigned long long second = 0;
    struct cushim_stream *stream = test_stream_new();
    expect_success("first", cushim_stream_get_id(stream, &first));
    test_stream_close(stream);
    stream = test_stream_new();
    expect_success("second", cushim_stream_get_id(stream, &second));
    expect_true("differ", first != second);
    test_stream_close(stream);
}

/* A priority is not remembered, because it can change. */
CHECK(changed_priority, "property.changed-priority", .needs = {S(StreamSetAttribute_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    CUlaunchAttributeValue value = {{0}};
    int least = 0;
    int greatest = 0;
    int before = 99;
    int after = 99;
    int told = 99;
    require("range", cu->CtxGetStreamPriorityRange_v1(&least, &greatest));
    expect_success("before", cushim_stream_get_priority(stream, &before));
    value.priority = greatest;
    if (cushim_stream_set_attribute(stream, (CUstreamAttrID)CU_LAUNCH_ATTRIBUTE_PRIORITY, &value) == CUDA_SUCCESS) {
        expect_success("after", cushim_stream_get_priority(stream, &after));
        require("driver", cu->StreamGetPriority_v1(cushim_stream_handle(stream), &told));
        expect_number("is", after - told, 0);
    } else {
        not_applicable(NULL, "a driver with the priority as an attribute");
    }
}

struct changes {
    struct cushim_stream *stream;
    atomic_bool over;
};

static void *ask_for_priority(void *user)
{
    struct changes *changes = user;
    int priority;
    while (!atomic_load(&changes->over))
        (void)cushim_stream_get_priority(changes->stream, &priority);
    return NULL;
}

/* The thread that sets the attribute reads the value that it set, while another thread queries it, too. */
CHECK(changed_priority_during_query, "property.changed-priority-during-query", .needs = {S(StreamSetAttribute_v1)})
{
    struct changes changes = {.stream = test_stream_new()};
    pthread_t asker;
    CUlaunchAttributeValue value = {{0}};
    int least = 0;
    int greatest = 0;
    int stale = 0;
    require("range", cu->CtxGetStreamPriorityRange_v1(&least, &greatest));
    CUresult result = cushim_stream_set_attribute(changes.stream, (CUstreamAttrID)CU_LAUNCH_ATTRIBUTE_PRIORITY, &value);
    if (result != CUDA_SUCCESS || pthread_create(&asker, NULL, ask_for_priority, &changes) != 0) {
        not_applicable(NULL, "a driver with the priority as an attribute");
    } else {
        for (int i = 0; i < 20000 && result == CUDA_SUCCESS; i++) {
            int priority = 99;
            value.priority = i % 2 == 0 ? greatest : least;
            result = cushim_stream_set_attribute(changes.stream, (CUstreamAttrID)CU_LAUNCH_ATTRIBUTE_PRIORITY, &value);
            require("priority", cushim_stream_get_priority(changes.stream, &priority));
            stale += priority != value.priority;
        }
        atomic_store(&changes.over, true);
        pthread_join(asker, NULL);
        expect("set", result, CUDA_SUCCESS);
        expect_number("stale", stale, 0);
    }
    test_stream_close(changes.stream);
}

/* On a driver without ids, the code is CUDA_ERROR_NOT_SUPPORTED, also in a capture. */
CHECK(id_in_capture, "property.id-in-capture-on-old", .flags = CHECK_ON_OLD,
      .needs = {S(StreamGetId_v1), S(StreamEndCapture_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    unsigned long long id = 0;
    struct cushim_capture *capture = test_capture_begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    expect_driver_error("code", cushim_stream_get_id(stream, &id), CUDA_ERROR_NOT_SUPPORTED);
    require("end", cushim_capture_end(&capture, NULL));
}

CHECK(argument, "property.argument")
{
    struct cushim_stream *stream = test_stream_new();
    expect_error("flags", cushim_stream_get_flags(stream, NULL), CUDA_ERROR_INVALID_VALUE);
    expect_error("priority", cushim_stream_get_priority(stream, NULL), CUDA_ERROR_INVALID_VALUE);
    expect_error("device", cushim_stream_get_device(stream, NULL), CUDA_ERROR_INVALID_VALUE);
    expect_error("id", cushim_stream_get_id(stream, NULL), CUDA_ERROR_INVALID_VALUE);
    expect_error("context", cushim_stream_get_driver_context(stream, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    test_stream_close(stream);
    int number = 0;
    unsigned flags = 0;
    unsigned long long id = 0;
    CUcontext context = NULL;
    expect_error("null-flags", cushim_stream_get_flags(NULL, &flags), CUDA_ERROR_INVALID_HANDLE);
    expect_error("null-priority", cushim_stream_get_priority(NULL, &number), CUDA_ERROR_INVALID_HANDLE);
    expect_error("null-device", cushim_stream_get_device(NULL, &number), CUDA_ERROR_INVALID_HANDLE);
    expect_error("null-id", cushim_stream_get_id(NULL, &id), CUDA_ERROR_INVALID_HANDLE);
    expect_error("null-context", cushim_stream_get_driver_context(NULL, &context, NULL), CUDA_ERROR_INVALID_HANDLE);
    expect_true("nothing-has-no-context", cushim_stream_context(NULL) == NULL);
    expect_true("nothing-is-not-owned", !cushim_stream_is_owned(NULL));
}

/* During a capture: in each mode that the driver has, on this and on another thread. */

struct question {
    const char *name;
    struct cushim_stream *stream;
    CUresult expected;
};

static void ask_there(void *user)
{
    const struct question *question = user;
    (void)properties_query(question->name, question->stream, question->expected);
}

static void ask_capturing(const char *name, struct cushim_stream *stream, CUresult expected)
{
    struct question here = {key_of(name, "here", NULL), stream, expected};
    ask_there(&here);
    expect_status(key_of(name, "survives", NULL), stream, "active");
    struct question there = {key_of(name, "there", NULL), stream, expected};
    on_thread(ask_there, &there);
    expect_status(key_of(name, "survives-that-too", NULL), stream, "active");
}

static void capture_in(CUstreamCaptureMode mode)
{
    const char *name = mode_names[mode];
    struct cushim_stream *stream = fixture_stream();
    struct cushim_capture *capture = NULL;
    struct cushim_graph *graph = NULL;
    struct cushim_stream *known = fixture_borrowed(cushim_stream_handle(stream));
    struct cushim_stream *unknown = fixture_borrowed(cushim_stream_handle(stream));
    (void)properties_query(key_of(name, "before", NULL), known, CUDA_SUCCESS);
    if (expect_success(key_of(name, "begin", NULL), cushim_capture_begin(stream, mode, &capture))) {
        ask_capturing(key_of(name, "own", NULL), stream, CUDA_SUCCESS);
        ask_capturing(key_of(name, "known", NULL), known, CUDA_SUCCESS);
        ask_capturing(key_of(name, "unknown", NULL), unknown, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        expect_success(key_of(name, "end", NULL), cushim_capture_end(&capture, &graph));
        (void)properties_query(key_of(name, "after", NULL), unknown, CUDA_SUCCESS);
        require("graph", cushim_graph_destroy(&graph));
    }
}

CHECK(capture_relaxed, "property.capture-relaxed", .needs = {S(StreamBeginCapture_v2)})
{
    capture_in(CU_STREAM_CAPTURE_MODE_RELAXED);
}

/* CUDA 10.1, which brought the modes */
CHECK(capture_others, "property.capture-others", .needs = {S(ThreadExchangeStreamCaptureMode_v1)})
{
    capture_in(CU_STREAM_CAPTURE_MODE_GLOBAL);
    capture_in(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
}

/* Other streams are queried, and one is created, while this thread captures in the strictest mode. */
CHECK(beside_capture, "property.beside-capture", .needs = {S(StreamBeginCapture_v2)})
{
    bool modes = is_native(S(StreamBeginCapture_v2));
    struct cushim_stream *stream = fixture_stream();
    struct cushim_capture *capture = NULL;
    struct cushim_stream *other = NULL;
    CUstream handle = stream_new();
    require("borrow", cushim_stream_borrow(handle, NULL, &other));
    expect_success(
        "begin",
        cushim_capture_begin(stream, modes ? CU_STREAM_CAPTURE_MODE_GLOBAL : CU_STREAM_CAPTURE_MODE_RELAXED, &capture));
    (void)properties_query("other", other, CUDA_SUCCESS);
    require("destroy", cushim_stream_destroy(&other));
    other = test_stream_new();
    (void)properties_query("created-during-capture", other, CUDA_SUCCESS);
    expect_success("destroy", cushim_stream_destroy(&other));
    expect_capture_ends(stream, &capture);
}
