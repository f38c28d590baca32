/* SPDX-License-Identifier: MIT */
/* Streams are created, adopted, borrowed, released, closed and destroyed. */
#include "support.h"

static void created_with(const char *name, unsigned flags, int priority, int expected_priority)
{
    struct cushim_context *context = context_new();
    struct cushim_stream *stream = NULL;
    unsigned found_flags = 99;
    int found_priority = 99;
    if (done(key_of(name, "code", NULL), cushim_stream_create(context, flags, priority, &stream))) {
        CUstream handle = cushim_stream_handle(stream);
        rule_fact(key_of(name, "owned", NULL), cushim_stream_is_owned(stream));
        rule_fact(key_of(name, "context", NULL), cushim_stream_context(stream) == context);
        need("flags", cu->StreamGetFlags_v1(handle, &found_flags));
        rule_number(key_of(name, "flags", NULL), found_flags, flags);
        need("priority", cu->StreamGetPriority_v1(handle, &found_priority));
        rule_number(key_of(name, "priority", NULL), found_priority - expected_priority, 0);
        done(key_of(name, "query", NULL), cushim_stream_query(stream));
        done(key_of(name, "destroy", NULL), cushim_stream_destroy(&stream));
        rule_fact(key_of(name, "destroyed-is-null", NULL), stream == NULL);
    }
    cushim_context_destroy(&context);
}

static void created(void)
{
    int least = 0;
    int greatest = 0;
    need("range", cu->CtxGetStreamPriorityRange_v1(&least, &greatest));
    created_with("default", CU_STREAM_DEFAULT, least, least);
    created_with("non-blocking", CU_STREAM_NON_BLOCKING, greatest, greatest);
    created_with("above", CU_STREAM_NON_BLOCKING, greatest - 100, greatest);
    created_with("below", CU_STREAM_DEFAULT, least + 100, least);
}

static void create_argument(void)
{
    struct cushim_context *context = context_new();
    struct cushim_stream *stream = NULL;
    refused("null-context", cushim_stream_create(NULL, 0, 0, &stream), CUDA_ERROR_INVALID_CONTEXT,
            "cushim_stream_create");
    refused("null-output", cushim_stream_create(context, 0, 0, NULL), CUDA_ERROR_INVALID_VALUE, "cushim_stream_create");
    passed_on("unknown-flags", cushim_stream_create(context, 0x80, 0, &stream), CUDA_ERROR_INVALID_VALUE);
    rule_fact("untouched", stream == NULL);
    rule_current("current-stays", the_context);
    cushim_context_destroy(&context);
}

/* Another context is current, or none. */
static void create_elsewhere(void)
{
    struct cushim_context *context = context_new();
    struct cushim_stream *stream = NULL;
    CUcontext other = NULL;
    need("other", cu->CtxCreate_v2(&other, 0, the_device));
    done("beside-another", cushim_stream_create(context, 0, 0, &stream));
    rule_current("other-is-current", other);
    done("destroy", cushim_stream_destroy(&stream));
    rule_current("other-is-current-still", other);
    passed_on("refused", cushim_stream_create(context, 0x80, 0, &stream), CUDA_ERROR_INVALID_VALUE);
    rule_current("other-is-current-after-refusal", other);
    need("other-destroy", cu->CtxDestroy_v2(other));
    need("none", cu->CtxSetCurrent_v1(NULL));
    done("without-current", cushim_stream_create(context, 0, 0, &stream));
    rule_current("none-is-current", NULL);
    done("query-without-current", cushim_stream_query(stream));
    done("synchronize-without-current", cushim_stream_synchronize(stream));
    done("close-without-current", cushim_stream_close(&stream));
    rule_current("none-is-current-still", NULL);
    cushim_context_destroy(&context);
}

static void adopted(void)
{
    struct cushim_context *context = context_new();
    struct cushim_stream *stream = NULL;
    CUstream handle = stream_new();
    watch_begin();
    done("adopt", cushim_stream_adopt(handle, context, &stream));
    rule_number("calls", watch_calls(), 0);
    rule_fact("handle", cushim_stream_handle(stream) == handle);
    rule_fact("owned", cushim_stream_is_owned(stream));
    rule_fact("context", cushim_stream_context(stream) == context);
    cushim_context_destroy(&context);
    done("query", cushim_stream_query(stream));
    done("destroy", cushim_stream_destroy(&stream));
    rule_number("destroyed", watch_calls_of(S(StreamDestroy_v2)), 1);
    watch_end();
    handle = stream_new();
    done("adopt-without-context", cushim_stream_adopt(handle, NULL, &stream));
    rule_fact("no-context", cushim_stream_context(stream) == NULL);
    done("close", cushim_stream_close(&stream));
    rule_fact("closed-is-null", stream == NULL);
}

static void borrowed(void)
{
    struct cushim_stream *stream = NULL;
    CUstream handle = stream_new();
    watch_begin();
    done("borrow", cushim_stream_borrow(handle, NULL, &stream));
    rule_fact("not-owned", !cushim_stream_is_owned(stream));
    done("query", cushim_stream_query(stream));
    done("destroy", cushim_stream_destroy(&stream));
    done("borrow-again", cushim_stream_borrow(handle, NULL, &stream));
    done("close", cushim_stream_close(&stream));
    rule_number("never-destroyed", watch_calls_of(S(StreamDestroy_v2)), 0);
    watch_end();
    done("still-there", cu->StreamQuery_v1(handle));
    stream_end(handle);
}

static void wrap_argument(void)
{
    struct cushim_context *context = context_new();
    struct cushim_stream *stream = NULL;
    CUstream handle = stream_new();
    refused("adopt-null-output", cushim_stream_adopt(handle, context, NULL), CUDA_ERROR_INVALID_VALUE,
            "cushim_stream_adopt");
    refused("adopt-zero", cushim_stream_adopt(NULL, context, &stream), CUDA_ERROR_INVALID_HANDLE,
            "cushim_stream_adopt");
    refused("adopt-legacy", cushim_stream_adopt(CU_STREAM_LEGACY, NULL, &stream), CUDA_ERROR_INVALID_HANDLE,
            "cushim_stream_adopt");
    refused("adopt-per-thread", cushim_stream_adopt(CU_STREAM_PER_THREAD, NULL, &stream), CUDA_ERROR_INVALID_HANDLE,
            "cushim_stream_adopt");
    refused("borrow-null-output", cushim_stream_borrow(handle, context, NULL), CUDA_ERROR_INVALID_VALUE,
            "cushim_stream_borrow");
    refused("borrow-special-with-context", cushim_stream_borrow(CU_STREAM_LEGACY, context, &stream),
            CUDA_ERROR_INVALID_CONTEXT, "cushim_stream_borrow");
    rule_fact("untouched", stream == NULL);
    done("still-there", cu->StreamQuery_v1(handle));
    cushim_context_destroy(&context);
    stream_end(handle);
}

static void released(void)
{
    struct cushim_stream *stream = layer_stream();
    CUstream expected = cushim_stream_handle(stream);
    CUstream handle = NULL;
    watch_begin();
    refused("null-output", cushim_stream_release(&stream, NULL), CUDA_ERROR_INVALID_VALUE, "cushim_stream_release");
    rule_fact("still-there", stream != NULL);
    done("release", cushim_stream_release(&stream, &handle));
    rule_fact("gone", stream == NULL);
    rule_fact("handle", handle == expected);
    rule_number("calls", watch_calls(), 0);
    refused("again", cushim_stream_release(&stream, &handle), CUDA_ERROR_INVALID_HANDLE, "cushim_stream_release");
    refused("null", cushim_stream_release(NULL, &handle), CUDA_ERROR_INVALID_HANDLE, "cushim_stream_release");
    rule_fact("untouched", handle == expected);
    watch_end();
    done("usable", cu->StreamQuery_v1(handle));
    stream_end(handle);
}

static void special_of(const char *name, CUstream handle)
{
    struct cushim_stream *stream = NULL;
    unsigned flags = 99;
    done(key_of(name, "borrow", NULL), cushim_stream_borrow(handle, NULL, &stream));
    rule_fact(key_of(name, "not-owned", NULL), !cushim_stream_is_owned(stream));
    done(key_of(name, "synchronize", NULL), cushim_stream_synchronize(stream));
    done(key_of(name, "query", NULL), cushim_stream_query(stream));
    done(key_of(name, "flags", NULL), cushim_stream_flags(stream, &flags));
    need("none", cu->CtxSetCurrent_v1(NULL));
    passed_on(key_of(name, "query-without-current", NULL), cushim_stream_query(stream), CUDA_ERROR_INVALID_CONTEXT);
    passed_on(key_of(name, "flags-without-current", NULL), cushim_stream_flags(stream, &flags),
              CUDA_ERROR_INVALID_CONTEXT);
    need("set", cu->CtxSetCurrent_v1(the_context));
    done(key_of(name, "destroy", NULL), cushim_stream_destroy(&stream));
}

static void special_zero(void)
{
    special_of("zero", NULL);
}

static void special(void)
{
    special_of("legacy", CU_STREAM_LEGACY);
    special_of("per-thread", CU_STREAM_PER_THREAD);
}

static void ended_twice(void)
{
    struct cushim_stream *stream = layer_stream();
    done("destroy", cushim_stream_destroy(&stream));
    done("destroy-again", cushim_stream_destroy(&stream));
    done("destroy-null", cushim_stream_destroy(NULL));
    done("close-again", cushim_stream_close(&stream));
    done("close-null", cushim_stream_close(NULL));
    rule_fact("handle", cushim_stream_handle(stream) == NULL);
    rule_fact("owned", !cushim_stream_is_owned(stream));
    rule_fact("context", cushim_stream_context(stream) == NULL);
}

static void nothing(void)
{
    CUstream handle = (CUstream)0x5a;
    unsigned flags = 99;
    refused("query", cushim_stream_query(NULL), CUDA_ERROR_INVALID_HANDLE, "cushim_stream_query");
    refused("synchronize", cushim_stream_synchronize(NULL), CUDA_ERROR_INVALID_HANDLE, "cushim_stream_synchronize");
    refused("release", cushim_stream_release(NULL, &handle), CUDA_ERROR_INVALID_HANDLE, "cushim_stream_release");
    refused("flags", cushim_stream_flags(NULL, &flags), CUDA_ERROR_INVALID_HANDLE, "cushim_stream_flags");
    rule_fact("untouched", handle == (CUstream)0x5a && flags == 99);
}

static void destroy_does_not_wait(void)
{
    struct cushim_stream *stream = layer_stream();
    struct gate gate;
    if (!gate_close(&gate, cushim_stream_handle(stream)))
        return;
    done("code", cushim_stream_destroy(&stream));
    rule_number("not-passed", atomic_load(&gate.passed), 0);
    gate_open(&gate);
    for (int i = 0; i < 500 && atomic_load(&gate.passed) == 0; i++)
        pause_shortly();
    rule_number("passed-after", atomic_load(&gate.passed), 1);
}

static void *open_soon(void *gate)
{
    pause_shortly();
    gate_open(gate);
    return NULL;
}

static void close_waits(void)
{
    struct cushim_stream *stream = layer_stream();
    struct gate gate;
    pthread_t thread;
    if (!gate_close(&gate, cushim_stream_handle(stream)))
        return;
    pthread_create(&thread, NULL, open_soon, &gate);
    done("code", cushim_stream_close(&stream));
    rule_number("passed", atomic_load(&gate.passed), 1);
    rule_fact("gone", stream == NULL);
    pthread_join(thread, NULL);
}

static void destroy_there(void *stream)
{
    done("code", cushim_stream_destroy(stream));
}

static void ended_elsewhere(void)
{
    struct cushim_stream *stream = layer_stream();
    watch_begin();
    on_bare_thread(destroy_there, &stream);
    rule_fact("gone", stream == NULL);
    rule_number("destroyed", watch_calls_of(S(StreamDestroy_v2)), 1);
    watch_end();
}

static const struct check checks[] = {
    {"stream.created", created, 0, {0}},
    {"stream.create-argument", create_argument, 0, {0}},
    {"stream.create-elsewhere", create_elsewhere, 0, {0}},
    {"stream.adopted", adopted, 0, {0}},
    {"stream.borrowed", borrowed, 0, {0}},
    {"stream.wrap-argument", wrap_argument, 0, {0}},
    {"stream.released", released, 0, {0}},
    {"stream.special-zero", special_zero, 0, {0}},
    {"stream.special", special, 0, {S(DevicePrimaryCtxRetain_v1)}}, /* CUDA 7.0, which brought the handles */
    {"stream.ended-twice", ended_twice, 0, {0}},
    {"stream.null", nothing, 0, {0}},
    {"stream.destroy-does-not-wait", destroy_does_not_wait, 0, {0}},
    {"stream.close-waits", close_waits, 0, {0}},
    {"stream.ended-elsewhere", ended_elsewhere, 0, {0}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_stream = {"stream", checks};
