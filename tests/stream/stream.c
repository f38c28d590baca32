/* SPDX-License-Identifier: MIT */
/* Streams are created, adopted, borrowed, released, closed and destroyed. */
#include "support.h"

static void created_with(const char *name, unsigned flags, int priority, int expected_priority)
{
    struct cushim_context *context = fixture_context();
    struct cushim_stream *stream = NULL;
    unsigned found_flags = 99;
    int found_priority = 99;
    if (expect_success(key_of(name, "code", NULL), cushim_stream_create(context, flags, priority, &stream))) {
        CUstream handle = cushim_stream_handle(stream);
        expect_true(key_of(name, "owned", NULL), cushim_stream_is_owned(stream));
        expect_true(key_of(name, "context", NULL), cushim_stream_context(stream) == context);
        require("flags", cu->StreamGetFlags_v1(handle, &found_flags));
        expect_number(key_of(name, "flags", NULL), found_flags, flags);
        require("priority", cu->StreamGetPriority_v1(handle, &found_priority));
        expect_number(key_of(name, "priority", NULL), found_priority - expected_priority, 0);
        expect_success(key_of(name, "query", NULL), cushim_stream_query(stream));
        expect_success(key_of(name, "destroy", NULL), cushim_stream_destroy(&stream));
        expect_true(key_of(name, "destroyed-is-null", NULL), stream == NULL);
    }
}

CHECK(created, "stream.created")
{
    int least = 0;
    int greatest = 0;
    require("range", cu->CtxGetStreamPriorityRange_v1(&least, &greatest));
    created_with("default", CU_STREAM_DEFAULT, least, least);
    created_with("non-blocking", CU_STREAM_NON_BLOCKING, greatest, greatest);
    created_with("above", CU_STREAM_NON_BLOCKING, greatest - 100, greatest);
    created_with("below", CU_STREAM_DEFAULT, least + 100, least);
}

CHECK(create_argument, "stream.create-argument")
{
    struct cushim_context *context = fixture_context();
    struct cushim_stream *stream = NULL;
    expect_error("null-context", cushim_stream_create(NULL, 0, 0, &stream), CUDA_ERROR_INVALID_CONTEXT);
    expect_error("null-output", cushim_stream_create(context, 0, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    expect_driver_error("unknown-flags", cushim_stream_create(context, 0x80, 0, &stream), CUDA_ERROR_INVALID_VALUE);
    expect_true("untouched", stream == NULL);
    expect_current("current-stays", the_context);
}

/* Another context is current, or none. */
CHECK(create_elsewhere, "stream.create-elsewhere")
{
    struct cushim_context *context = fixture_context();
    struct cushim_stream *stream = NULL;
    CUcontext other = NULL;
    require("other", cu->CtxCreate_v2(&other, 0, the_device));
    expect_success("beside-another", cushim_stream_create(context, 0, 0, &stream));
    expect_current("other-is-current", other);
    expect_success("destroy", cushim_stream_destroy(&stream));
    expect_current("other-is-current-still", other);
    expect_driver_error("refused", cushim_stream_create(context, 0x80, 0, &stream), CUDA_ERROR_INVALID_VALUE);
    expect_current("other-is-current-after-refusal", other);
    require("other-destroy", cu->CtxDestroy_v2(other));
    require("none", cu->CtxSetCurrent_v1(NULL));
    expect_success("without-current", cushim_stream_create(context, 0, 0, &stream));
    expect_current("none-is-current", NULL);
    expect_success("query-without-current", cushim_stream_query(stream));
    expect_success("synchronize-without-current", cushim_stream_synchronize(stream));
    expect_success("close-without-current", cushim_stream_close(&stream));
    expect_current("none-is-current-still", NULL);
}

CHECK(adopted, "stream.adopted")
{
    struct cushim_context *context = fixture_context();
    struct cushim_stream *stream = NULL;
    CUstream handle = stream_new();
    watch_begin();
    expect_success("adopt", cushim_stream_adopt(disown(handle), context, &stream));
    expect_number("calls", watch_calls(), 0);
    expect_true("handle", cushim_stream_handle(stream) == handle);
    expect_true("owned", cushim_stream_is_owned(stream));
    expect_true("context", cushim_stream_context(stream) == context);
    expect_success("query", cushim_stream_query(stream));
    expect_success("destroy", cushim_stream_destroy(&stream));
    expect_number("destroyed", watch_calls_of(S(StreamDestroy_v2)), 1);
    watch_end();
    expect_success("adopt-without-context", cushim_stream_adopt(disown(stream_new()), NULL, &stream));
    expect_true("no-context", cushim_stream_context(stream) == NULL);
    expect_success("close", cushim_stream_close(&stream));
    expect_true("closed-is-null", stream == NULL);
}

CHECK(borrowed, "stream.borrowed")
{
    struct cushim_stream *stream = NULL;
    CUstream handle = stream_new();
    watch_begin();
    expect_success("borrow", cushim_stream_borrow(handle, NULL, &stream));
    expect_true("not-owned", !cushim_stream_is_owned(stream));
    expect_success("query", cushim_stream_query(stream));
    expect_success("destroy", cushim_stream_destroy(&stream));
    expect_success("borrow-again", cushim_stream_borrow(handle, NULL, &stream));
    expect_success("close", cushim_stream_close(&stream));
    expect_number("never-destroyed", watch_calls_of(S(StreamDestroy_v2)), 0);
    watch_end();
    expect_success("still-there", cu->StreamQuery_v1(handle));
}

CHECK(wrap_argument, "stream.wrap-argument")
{
    struct cushim_context *context = fixture_context();
    struct cushim_stream *stream = NULL;
    CUstream handle = stream_new();
    expect_error("adopt-null-output", cushim_stream_adopt(handle, context, NULL), CUDA_ERROR_INVALID_VALUE);
    expect_error("adopt-zero", cushim_stream_adopt(NULL, context, &stream), CUDA_ERROR_INVALID_HANDLE);
    expect_error("adopt-legacy", cushim_stream_adopt(CU_STREAM_LEGACY, NULL, &stream), CUDA_ERROR_INVALID_HANDLE);
    expect_error("adopt-per-thread", cushim_stream_adopt(CU_STREAM_PER_THREAD, NULL, &stream),
                 CUDA_ERROR_INVALID_HANDLE);
    expect_error("borrow-null-output", cushim_stream_borrow(handle, context, NULL), CUDA_ERROR_INVALID_VALUE);
    expect_error("borrow-special-with-context", cushim_stream_borrow(CU_STREAM_LEGACY, context, &stream),
                 CUDA_ERROR_INVALID_CONTEXT);
    expect_true("untouched", stream == NULL);
    expect_success("still-there", cu->StreamQuery_v1(handle));
}

CHECK(released, "stream.released")
{
    struct cushim_stream *stream = test_stream_new();
    CUstream expected = cushim_stream_handle(stream);
    CUstream handle = NULL;
    watch_begin();
    expect_error("null-output", cushim_stream_release(&stream, NULL), CUDA_ERROR_INVALID_VALUE);
    expect_true("still-there", stream != NULL);
    expect_success("release", cushim_stream_release(&stream, &handle));
    expect_true("gone", stream == NULL);
    expect_true("handle", handle == expected);
    expect_number("calls", watch_calls(), 0);
    expect_error("again", cushim_stream_release(&stream, &handle), CUDA_ERROR_INVALID_HANDLE);
    expect_error("null", cushim_stream_release(NULL, &handle), CUDA_ERROR_INVALID_HANDLE);
    expect_true("untouched", handle == expected);
    watch_end();
    expect_success("usable", cu->StreamQuery_v1(handle));
    stream_end(handle);
}

static void special_of(const char *name, CUstream handle)
{
    struct cushim_stream *stream = NULL;
    unsigned flags = 99;
    expect_success(key_of(name, "borrow", NULL), cushim_stream_borrow(handle, NULL, &stream));
    expect_true(key_of(name, "not-owned", NULL), !cushim_stream_is_owned(stream));
    expect_success(key_of(name, "synchronize", NULL), cushim_stream_synchronize(stream));
    expect_success(key_of(name, "query", NULL), cushim_stream_query(stream));
    expect_success(key_of(name, "flags", NULL), cushim_stream_get_flags(stream, &flags));
    require("none", cu->CtxSetCurrent_v1(NULL));
    expect_driver_error(key_of(name, "query-without-current", NULL), cushim_stream_query(stream),
                        CUDA_ERROR_INVALID_CONTEXT);
    expect_driver_error(key_of(name, "flags-without-current", NULL), cushim_stream_get_flags(stream, &flags),
                        CUDA_ERROR_INVALID_CONTEXT);
    require("set", cu->CtxSetCurrent_v1(the_context));
    expect_success(key_of(name, "destroy", NULL), cushim_stream_destroy(&stream));
}

CHECK(special_zero, "stream.special-zero")
{
    special_of("zero", NULL);
}

/* CUDA 7.0, which brought the handles */
CHECK(special, "stream.special", .needs = {S(DevicePrimaryCtxRetain_v1)})
{
    special_of("legacy", CU_STREAM_LEGACY);
    special_of("per-thread", CU_STREAM_PER_THREAD);
}

CHECK(ended_twice, "stream.ended-twice")
{
    struct cushim_stream *stream = test_stream_new();
    expect_success("destroy", cushim_stream_destroy(&stream));
    expect_success("destroy-again", cushim_stream_destroy(&stream));
    expect_success("destroy-null", cushim_stream_destroy(NULL));
    expect_success("close-again", cushim_stream_close(&stream));
    expect_success("close-null", cushim_stream_close(NULL));
    expect_true("handle", cushim_stream_handle(stream) == NULL);
    expect_true("owned", !cushim_stream_is_owned(stream));
    expect_true("context", cushim_stream_context(stream) == NULL);
}

CHECK(nothing, "stream.null")
{
    CUstream handle = (CUstream)0x5a;
    unsigned flags = 99;
    expect_error("query", cushim_stream_query(NULL), CUDA_ERROR_INVALID_HANDLE);
    expect_error("synchronize", cushim_stream_synchronize(NULL), CUDA_ERROR_INVALID_HANDLE);
    expect_error("release", cushim_stream_release(NULL, &handle), CUDA_ERROR_INVALID_HANDLE);
    expect_error("flags", cushim_stream_get_flags(NULL, &flags), CUDA_ERROR_INVALID_HANDLE);
    expect_true("untouched", handle == (CUstream)0x5a && flags == 99);
}

CHECK(destroy_does_not_wait, "stream.destroy-does-not-wait")
{
    struct cushim_stream *stream = test_stream_new();
    struct gate *gate = gate_new(cushim_stream_handle(stream));
    expect_success("code", cushim_stream_destroy(&stream));
    expect_number("not-passed", gate_passed(gate), 0);
    gate_open(gate);
    for (int i = 0; i < 500 && gate_passed(gate) == 0; i++)
        pause_shortly();
    expect_number("passed-after", gate_passed(gate), 1);
}

CHECK(close_waits, "stream.close-waits")
{
    struct cushim_stream *stream = test_stream_new();
    pthread_t thread;
    struct gate *gate = gate_new(cushim_stream_handle(stream));
    pthread_create(&thread, NULL, open_soon, gate);
    expect_success("code", cushim_stream_close(&stream));
    expect_number("passed", gate_passed(gate), 1);
    expect_true("gone", stream == NULL);
    pthread_join(thread, NULL);
}

static void destroy_there(void *stream)
{
    expect_success("code", cushim_stream_destroy(stream));
}

CHECK(ended_elsewhere, "stream.ended-elsewhere")
{
    struct cushim_stream *stream = test_stream_new();
    watch_begin();
    on_bare_thread(destroy_there, &stream);
    expect_true("gone", stream == NULL);
    expect_number("destroyed", watch_calls_of(S(StreamDestroy_v2)), 1);
    watch_end();
}
