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

static bool has(enum cushim_slot slot)
{
    return cushim_query_slot_state(slot, CUSHIM_DEFAULT_STREAM_LEGACY) != CUSHIM_STATE_MISSING;
}

/* Queries every property that this driver reports, and checks each code. */
static struct answers properties_query(const char *name, struct cushim_stream *stream, CUresult expected)
{
    struct answers answers = {99, 99, 99, NULL, NULL, 0};
    /* The code of the properties that may be queried during a capture, too. */
    CUresult allowed = expected == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED ? CUDA_SUCCESS : expected;
    rule(key_of(name, "flags", NULL), cushim_stream_flags(stream, &answers.flags), expected);
    rule(key_of(name, "priority", NULL), cushim_stream_priority(stream, &answers.priority), allowed);
    bool knows = cushim_stream_context(stream) != NULL;
    if (knows || have(key_of(name, "device", NULL), S(StreamGetDevice_v1)))
        rule(key_of(name, "device", NULL), cushim_stream_device(stream, &answers.device),
             knows ? CUDA_SUCCESS : expected);
    if (knows || have(key_of(name, "context", NULL), S(StreamGetCtx_v2)))
        rule(key_of(name, "context", NULL), cushim_stream_driver_context(stream, &answers.context, &answers.green),
             knows ? CUDA_SUCCESS : allowed);
    if (have(key_of(name, "id", NULL), S(StreamGetId_v1)))
        rule(key_of(name, "id", NULL), cushim_stream_id(stream, &answers.id), expected);
    return answers;
}

static void compare(const char *name, CUstream handle, const struct answers *answers, bool with_context)
{
    unsigned flags = 0;
    int priority = 0;
    unsigned long long id = 0;
    need("flags", cu->StreamGetFlags_v1(handle, &flags));
    rule_fact(key_of(name, "flags", "is-the-driver's"), answers->flags == flags);
    need("priority", cu->StreamGetPriority_v1(handle, &priority));
    rule_fact(key_of(name, "priority", "is-the-driver's"), answers->priority == priority);
    if (with_context) {
        rule_number(key_of(name, "device", "is"), answers->device, the_device);
        rule_fact(key_of(name, "context", "is"), answers->context == the_context && answers->green == NULL);
    }
    if (has(S(StreamGetId_v1))) {
        need("id", cu->StreamGetId_v1(handle, &id));
        rule_fact(key_of(name, "id", "is-the-driver's"), answers->id == id);
    }
}

/* The number of driver calls for properties that do not change. */
static int remembered_calls(void)
{
    return watch_calls() - watch_calls_of(S(StreamGetPriority_v1));
}

static void created(void)
{
    struct cushim_context *context = context_new();
    struct cushim_stream *stream = NULL;
    CUcontext only = NULL;
    CUgreenCtx green = (CUgreenCtx)&only;
    need("create", cushim_stream_create(context, CU_STREAM_NON_BLOCKING, -100, &stream));
    watch_begin();
    struct answers answers = properties_query("own", stream, CUDA_SUCCESS);
    done("context-alone", cushim_stream_driver_context(stream, &only, NULL));
    done("green-alone", cushim_stream_driver_context(stream, NULL, &green));
    rule_fact("parts", only == the_context && green == NULL);
    rule_number("calls", remembered_calls(), 0);
    watch_end();
    compare("own", cushim_stream_handle(stream), &answers, true);
    layer_stream_end(stream);
    cushim_context_destroy(&context);
}

static void queried_once(const char *name, struct cushim_stream *stream, bool with_context)
{
    watch_begin();
    struct answers first = properties_query(name, stream, CUDA_SUCCESS);
    int calls = remembered_calls();
    rule_fact(key_of(name, "queried", NULL), calls > 0);
    struct answers second = properties_query(key_of(name, "again", NULL), stream, CUDA_SUCCESS);
    rule_number(key_of(name, "queried-once", NULL), remembered_calls() - calls, 0);
    watch_end();
    compare(name, cushim_stream_handle(stream), &first, with_context || has(S(StreamGetCtx_v2)));
    rule_fact(key_of(name, "same-again", NULL), first.flags == second.flags && first.priority == second.priority
                                                    && first.device == second.device && first.context == second.context
                                                    && first.id == second.id);
}

static void others(void)
{
    struct cushim_context *context = context_new();
    struct cushim_stream *stream = NULL;
    CUstream handle = stream_blocking();
    need("borrow", cushim_stream_borrow(handle, context, &stream));
    queried_once("borrowed", stream, true);
    need("destroy", cushim_stream_destroy(&stream));
    need("borrow", cushim_stream_borrow(handle, NULL, &stream));
    queried_once("without-context", stream, false);
    need("destroy", cushim_stream_destroy(&stream));
    need("adopt", cushim_stream_adopt(handle, NULL, &stream));
    queried_once("adopted", stream, false);
    layer_stream_end(stream);
    cushim_context_destroy(&context);
}

/* Before CUDA 9.2 the driver does not report the context of a stream. */
static void context_on_old(void)
{
    struct cushim_stream *stream = NULL;
    CUstream handle;
    CUdevice device = -1;
    CUcontext context = NULL;
    if (has(S(StreamGetCtx_v2))) {
        lacks(NULL, "a driver that tells the context of a stream");
        return;
    }
    handle = stream_new();
    need("borrow", cushim_stream_borrow(handle, NULL, &stream));
    passed_on("device", cushim_stream_device(stream, &device), CUDA_ERROR_NOT_SUPPORTED);
    passed_on("context", cushim_stream_driver_context(stream, &context, NULL), CUDA_ERROR_NOT_SUPPORTED);
    rule_fact("untouched", device == -1 && context == NULL);
    need("destroy", cushim_stream_destroy(&stream));
    stream_end(handle);
}

static void id_on_old(void)
{
    struct cushim_stream *stream;
    unsigned long long id = 77;
    if (has(S(StreamGetId_v1))) {
        lacks(NULL, "a driver that has ids");
        return;
    }
    stream = layer_stream();
    passed_on("code", cushim_stream_id(stream, &id), CUDA_ERROR_NOT_SUPPORTED);
    rule_number("untouched", (long long)id, 77);
    layer_stream_end(stream);
}

/* A special stream is a different stream in each context, so its object remembers nothing. */
static void special(void)
{
    struct cushim_stream *stream = NULL;
    need("borrow", cushim_stream_borrow(CU_STREAM_LEGACY, NULL, &stream));
    watch_begin();
    struct answers answers = properties_query("legacy", stream, CUDA_SUCCESS);
    int calls = watch_calls();
    (void)properties_query("legacy-again", stream, CUDA_SUCCESS);
    rule_number("queried-each-time", watch_calls() - 2 * calls, 0);
    watch_end();
    compare("legacy", CU_STREAM_LEGACY, &answers, has(S(StreamGetCtx_v2)));
    cushim_stream_destroy(&stream);
}

static void id_is_unique(void)
{
    unsigned long long first = 0;
    unsigned long long second = 0;
    struct cushim_stream *stream = layer_stream();
    done("first", cushim_stream_id(stream, &first));
    layer_stream_end(stream);
    stream = layer_stream();
    done("second", cushim_stream_id(stream, &second));
    rule_fact("differ", first != second);
    layer_stream_end(stream);
}

/* A priority is not remembered, because it can change. */
static void changed_priority(void)
{
    struct cushim_stream *stream = layer_stream();
    CUlaunchAttributeValue value = {{0}};
    int least = 0;
    int greatest = 0;
    int before = 99;
    int after = 99;
    int told = 99;
    need("range", cu->CtxGetStreamPriorityRange_v1(&least, &greatest));
    done("before", cushim_stream_priority(stream, &before));
    value.priority = greatest;
    if (cushim_stream_set_attribute(stream, (CUstreamAttrID)CU_LAUNCH_ATTRIBUTE_PRIORITY, &value) == CUDA_SUCCESS) {
        done("after", cushim_stream_priority(stream, &after));
        need("driver", cu->StreamGetPriority_v1(cushim_stream_handle(stream), &told));
        rule_number("is", after - told, 0);
    } else {
        lacks(NULL, "a driver with the priority as an attribute");
    }
    layer_stream_end(stream);
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
        (void)cushim_stream_priority(changes->stream, &priority);
    return NULL;
}

/* The thread that sets the attribute reads the value that it set, while another thread queries it, too. */
static void changed_priority_during_query(void)
{
    struct changes changes = {.stream = layer_stream()};
    pthread_t asker;
    CUlaunchAttributeValue value = {{0}};
    int least = 0;
    int greatest = 0;
    int stale = 0;
    need("range", cu->CtxGetStreamPriorityRange_v1(&least, &greatest));
    CUresult result = cushim_stream_set_attribute(changes.stream, (CUstreamAttrID)CU_LAUNCH_ATTRIBUTE_PRIORITY, &value);
    if (result != CUDA_SUCCESS || pthread_create(&asker, NULL, ask_for_priority, &changes) != 0) {
        lacks(NULL, "a driver with the priority as an attribute");
    } else {
        for (int i = 0; i < 20000 && result == CUDA_SUCCESS; i++) {
            int priority = 99;
            value.priority = i % 2 == 0 ? greatest : least;
            result = cushim_stream_set_attribute(changes.stream, (CUstreamAttrID)CU_LAUNCH_ATTRIBUTE_PRIORITY, &value);
            need("priority", cushim_stream_priority(changes.stream, &priority));
            stale += priority != value.priority;
        }
        atomic_store(&changes.over, true);
        pthread_join(asker, NULL);
        rule("set", result, CUDA_SUCCESS);
        rule_number("stale", stale, 0);
    }
    layer_stream_end(changes.stream);
}

/* On a driver without ids, the code is CUDA_ERROR_NOT_SUPPORTED, also in a capture. */
static void id_in_capture(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_capture *capture = NULL;
    unsigned long long id = 0;
    if (cushim_query_slot_state(S(StreamGetId_v1), CUSHIM_DEFAULT_STREAM_LEGACY) != CUSHIM_STATE_MISSING) {
        lacks(NULL, "a driver without ids");
    } else {
        need("begin", cushim_capture_begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED, &capture));
        passed_on("code", cushim_stream_id(stream, &id), CUDA_ERROR_NOT_SUPPORTED);
        need("end", cushim_capture_end(&capture, NULL));
    }
    layer_stream_end(stream);
}

static void argument(void)
{
    struct cushim_stream *stream = layer_stream();
    refused("flags", cushim_stream_flags(stream, NULL), CUDA_ERROR_INVALID_VALUE, "cushim_stream_flags");
    refused("priority", cushim_stream_priority(stream, NULL), CUDA_ERROR_INVALID_VALUE, "cushim_stream_priority");
    refused("device", cushim_stream_device(stream, NULL), CUDA_ERROR_INVALID_VALUE, "cushim_stream_device");
    refused("id", cushim_stream_id(stream, NULL), CUDA_ERROR_INVALID_VALUE, "cushim_stream_id");
    refused("context", cushim_stream_driver_context(stream, NULL, NULL), CUDA_ERROR_INVALID_VALUE,
            "cushim_stream_driver_context");
    layer_stream_end(stream);
    int number = 0;
    unsigned flags = 0;
    unsigned long long id = 0;
    CUcontext context = NULL;
    refused("null-flags", cushim_stream_flags(NULL, &flags), CUDA_ERROR_INVALID_HANDLE, "cushim_stream_flags");
    refused("null-priority", cushim_stream_priority(NULL, &number), CUDA_ERROR_INVALID_HANDLE,
            "cushim_stream_priority");
    refused("null-device", cushim_stream_device(NULL, &number), CUDA_ERROR_INVALID_HANDLE, "cushim_stream_device");
    refused("null-id", cushim_stream_id(NULL, &id), CUDA_ERROR_INVALID_HANDLE, "cushim_stream_id");
    refused("null-context", cushim_stream_driver_context(NULL, &context, NULL), CUDA_ERROR_INVALID_HANDLE,
            "cushim_stream_driver_context");
    rule_fact("nothing-has-no-context", cushim_stream_context(NULL) == NULL);
    rule_fact("nothing-is-not-owned", !cushim_stream_is_owned(NULL));
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
    rule_status(key_of(name, "survives", NULL), stream, "active");
    struct question there = {key_of(name, "there", NULL), stream, expected};
    on_thread(ask_there, &there);
    rule_status(key_of(name, "survives-that-too", NULL), stream, "active");
}

static void capture_in(CUstreamCaptureMode mode)
{
    const char *name = mode_names[mode];
    struct cushim_stream *stream = layer_stream();
    struct cushim_stream *known = NULL;
    struct cushim_stream *unknown = NULL;
    struct cushim_capture *capture = NULL;
    struct cushim_graph *graph = NULL;
    need("borrow", cushim_stream_borrow(cushim_stream_handle(stream), NULL, &known));
    need("borrow", cushim_stream_borrow(cushim_stream_handle(stream), NULL, &unknown));
    (void)properties_query(key_of(name, "before", NULL), known, CUDA_SUCCESS);
    if (done(key_of(name, "begin", NULL), cushim_capture_begin(stream, mode, &capture))) {
        ask_capturing(key_of(name, "own", NULL), stream, CUDA_SUCCESS);
        ask_capturing(key_of(name, "known", NULL), known, CUDA_SUCCESS);
        ask_capturing(key_of(name, "unknown", NULL), unknown, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        done(key_of(name, "end", NULL), cushim_capture_end(&capture, &graph));
        (void)properties_query(key_of(name, "after", NULL), unknown, CUDA_SUCCESS);
        need("graph", cushim_graph_destroy(&graph));
    }
    cushim_stream_destroy(&known);
    cushim_stream_destroy(&unknown);
    layer_stream_end(stream);
}

static void capture_relaxed(void)
{
    capture_in(CU_STREAM_CAPTURE_MODE_RELAXED);
}

static void capture_others(void)
{
    capture_in(CU_STREAM_CAPTURE_MODE_GLOBAL);
    capture_in(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
}

/* Other streams are queried, and one is created, while this thread captures in the strictest mode. */
static void beside_capture(void)
{
    bool modes = cushim_query_slot_state(S(StreamBeginCapture_v2), CUSHIM_DEFAULT_STREAM_LEGACY) == CUSHIM_STATE_NATIVE;
    struct cushim_stream *stream = layer_stream();
    struct cushim_capture *capture = NULL;
    struct cushim_stream *other = NULL;
    CUstream handle = stream_new();
    need("borrow", cushim_stream_borrow(handle, NULL, &other));
    done("begin", cushim_capture_begin(stream, modes ? CU_STREAM_CAPTURE_MODE_GLOBAL : CU_STREAM_CAPTURE_MODE_RELAXED,
                                       &capture));
    (void)properties_query("other", other, CUDA_SUCCESS);
    need("destroy", cushim_stream_destroy(&other));
    other = layer_stream();
    (void)properties_query("created-during-capture", other, CUDA_SUCCESS);
    done("destroy", cushim_stream_destroy(&other));
    rule_status("survives", stream, "active");
    done("end", cushim_capture_end(&capture, NULL));
    stream_end(handle);
    layer_stream_end(stream);
}

static const struct check checks[] = {
    {"property.created", created, 0, {0}},
    {"property.others", others, 0, {0}},
    {"property.context-on-old", context_on_old, 0, {0}},
    {"property.id-on-old", id_on_old, 0, {0}},
    {"property.special", special, 0, {S(DevicePrimaryCtxRetain_v1)}},
    {"property.id-is-unique", id_is_unique, 0, {S(StreamGetId_v1)}},
    {"property.changed-priority", changed_priority, 0, {S(StreamSetAttribute_v1)}},
    {"property.changed-priority-during-query", changed_priority_during_query, 0, {S(StreamSetAttribute_v1)}},
    {"property.id-in-capture-on-old", id_in_capture, 0, {S(StreamEndCapture_v1)}},
    {"property.argument", argument, 0, {0}},
    {"property.capture-relaxed", capture_relaxed, 0, {S(StreamBeginCapture_v2)}},
    {"property.capture-others",
     capture_others,
     0,
     {S(ThreadExchangeStreamCaptureMode_v1)}}, /* CUDA 10.1, which brought the modes */
    {"property.beside-capture", beside_capture, 0, {S(StreamBeginCapture_v2)}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_property = {"property", checks};
