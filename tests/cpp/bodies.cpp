/* SPDX-License-Identifier: MIT */
#include "expect.hpp"

#include <string>

static const CUstreamCaptureMode MODE = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;

static CUstreamCaptureStatus status_of(const cushim::stream &stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    SUCCEEDS(cushim_stream_get_capture_status(stream.get(), &status));
    return status;
}

static size_t count_nodes(const cushim::graph &graph)
{
    size_t count = 0;
    SUCCEEDS(cushim_table()->GraphGetNodes_v1(cushim_graph_handle(graph.get()), nullptr, &count));
    return count;
}

/* Calls a body by each function that takes one. Those of captures come first. */
static const int CAPTURES = 3, WAYS = 5;
template <typename Body> CUresult call(int way, struct cushim_stream *stream, Body &&body)
{
    cushim::graph graph;
    cushim::graph_exec exec;
    switch (way) {
    case 0:
        return cushim::stream_capture(stream, MODE, body, graph.out());
    case 1:
        return cushim::stream_capture_executable(stream, MODE, 0, body, exec.out());
    case 2:
        SUCCEEDS(cushim_graph_create(graph.out()));
        return cushim::stream_capture_to_graph(stream, graph.get(), nullptr, nullptr, 0, MODE, body);
    case 3:
        return cushim::stream_run(stream, body);
    default:
        return cushim::stream_enqueue(stream, body, nullptr);
    }
}

static void test_body_when_it_returns_a_code_then_the_call_returns_it()
{
    fixture with;
    for (int way = 0; way < WAYS; way++) {
        const auto fail = [](struct cushim_stream *) { return CUDA_ERROR_ASSERT; };
        EXPECT_CODE(call(way, with.stream.get(), fail), CUDA_ERROR_ASSERT);
        EXPECT(status_of(with.stream) == CU_STREAM_CAPTURE_STATUS_NONE);
    }
}

static void test_body_when_it_returns_nothing_then_the_call_succeeds()
{
    fixture with;
    for (int way = 0; way < WAYS; way++) {
        bool is_capturing = false;
        SUCCEEDS(call(way, with.stream.get(), [&](struct cushim_stream *stream) {
            EXPECT(stream == with.stream.get());
            is_capturing = status_of(with.stream) == CU_STREAM_CAPTURE_STATUS_ACTIVE;
        }));
        EXPECT(is_capturing == (way < CAPTURES));
    }
}

static void test_body_when_the_call_is_refused_then_it_is_not_called()
{
    for (int way = 0; way < WAYS; way++)
        EXPECT_CODE(call(way, nullptr, [](struct cushim_stream *) { EXPECT(false); }), CUDA_ERROR_INVALID_HANDLE);
}

/* A body with a name and a state of its own, which is not copied unless it must be. */
struct recorder {
    int calls;

    CUresult operator()(struct cushim_stream *stream)
    {
        calls++;
        return cushim::stream_launch_host(stream, counted());
    }
};

static void test_capture_when_given_a_function_object_then_it_is_not_copied()
{
    fixture with;
    recorder record = {0};
    cushim::graph graph;
    SUCCEEDS(cushim::stream_capture(with.stream.get(), MODE, record, graph.out()));
    EXPECT(record.calls == 1);
    EXPECT(count_nodes(graph) == 1);
}

static void test_enqueue_when_the_gpu_is_done_then_the_body_is_destroyed()
{
    fixture with;
    gate work;
    const counted owned;
    cushim::completion completion;
    SUCCEEDS(cushim::stream_enqueue(
        with.stream.get(), [owned, &work](struct cushim_stream *stream) { work.close(stream); }, completion.out()));
    EXPECT_CODE(cushim_completion_poll(completion.get(), nullptr), CUDA_ERROR_NOT_READY);
    EXPECT(counted::alive == 2);
    work.open();
    SUCCEEDS(cushim_completion_wait(completion.get(), CUSHIM_FOREVER, nullptr));
    EXPECT(counted::alive == 1);
}

#if CUSHIM_EXCEPTIONS
static void test_body_when_it_throws_then_the_call_ends_and_throws_that_exception()
{
    fixture with;
    for (int way = 0; way < WAYS; way++) {
        bool is_caught = false;
        try {
            (void)call(way, with.stream.get(), [](struct cushim_stream *stream) -> CUresult {
                SUCCEEDS(cushim::stream_launch_host(stream, counted()));
                throw std::runtime_error("of the body");
            });
        } catch (const std::runtime_error &error) {
            is_caught = error.what() == std::string("of the body");
        }
        EXPECT(is_caught);
        EXPECT(status_of(with.stream) == CU_STREAM_CAPTURE_STATUS_NONE);
        SUCCEEDS(call(way, with.stream.get(), [](struct cushim_stream *) {}));
    }
}

static void test_body_when_it_throws_what_is_not_an_object_then_that_arrives()
{
    fixture with;
    for (int way = 0; way < WAYS; way++) {
        int caught = 0;
        try {
            (void)call(way, with.stream.get(), [way](struct cushim_stream *) { throw way + 1; });
        } catch (int number) {
            caught = number;
        }
        EXPECT(caught == way + 1);
    }
}

static void test_bodies_when_nested_then_the_exception_passes_both()
{
    fixture with;
    cushim::stream second;
    SUCCEEDS(cushim_stream_create(with.context.get(), CU_STREAM_NON_BLOCKING, 0, second.out()));
    bool is_caught = false;
    try {
        (void)call(0, with.stream.get(), [&](struct cushim_stream *) {
            cushim::check(call(0, second.get(), [](struct cushim_stream *) { cushim::check(CUDA_ERROR_ASSERT); }));
        });
    } catch (const cushim::error &error) {
        is_caught = error.code() == CUDA_ERROR_ASSERT;
    }
    EXPECT(is_caught);
    EXPECT(status_of(with.stream) == CU_STREAM_CAPTURE_STATUS_NONE
           && status_of(second) == CU_STREAM_CAPTURE_STATUS_NONE);
}

static void test_run_when_the_body_throws_then_the_work_is_done_first()
{
    fixture with;
    gate work;
    try {
        (void)cushim::stream_run(with.stream.get(), [&](struct cushim_stream *stream) {
            work.close(stream);
            work.open();
            throw 1;
        });
    } catch (int) {
        EXPECT(work.is_passed());
    }
}

static void test_enqueue_when_the_body_throws_then_it_lives_until_the_gpu_is_done()
{
    fixture with;
    gate work;
    const counted owned;
    struct cushim_completion *completion = nullptr;
    bool is_caught = false;
    try {
        (void)cushim::stream_enqueue(
            with.stream.get(),
            [owned, &work](struct cushim_stream *stream) {
                work.close(stream);
                throw 1;
            },
            &completion);
    } catch (int) {
        is_caught = true;
    }
    EXPECT(is_caught && completion == nullptr);
    EXPECT(counted::alive == 2);
    work.open();
    EXPECT(becomes_true([] { return counted::alive == 1; }));
}
#endif

extern const test body_tests[];
const test body_tests[] = {
    TEST(test_body_when_it_returns_a_code_then_the_call_returns_it),
    TEST(test_body_when_it_returns_nothing_then_the_call_succeeds),
    TEST(test_body_when_the_call_is_refused_then_it_is_not_called),
    TEST(test_capture_when_given_a_function_object_then_it_is_not_copied),
    TEST(test_enqueue_when_the_gpu_is_done_then_the_body_is_destroyed),
#if CUSHIM_EXCEPTIONS
    TEST(test_body_when_it_throws_then_the_call_ends_and_throws_that_exception),
    TEST(test_body_when_it_throws_what_is_not_an_object_then_that_arrives),
    TEST(test_bodies_when_nested_then_the_exception_passes_both),
    TEST(test_run_when_the_body_throws_then_the_work_is_done_first),
    TEST(test_enqueue_when_the_body_throws_then_it_lives_until_the_gpu_is_done),
#endif
    {nullptr, nullptr},
};
