/* SPDX-License-Identifier: MIT */
#include "expect.hpp"

#include <memory>
#include <new>

/* A graph with one node, a counted function, and the number of its copies. */
struct captured : fixture {
    cushim::graph graph;

    captured()
    {
        SUCCEEDS(cushim::stream_capture(
            stream.get(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
            [](struct cushim_stream *to) { return cushim::stream_launch_host(to, counted()); }, graph.out()));
        EXPECT(counted::alive == 1);
    }

    cushim::graph_exec instantiate()
    {
        cushim::graph_exec exec;
        SUCCEEDS(cushim_graph_instantiate(graph.get(), context.get(), 0, exec.out()));
        return exec;
    }

    void launch(const cushim::graph_exec &exec)
    {
        SUCCEEDS(cushim_graph_exec_launch(exec.get(), stream.get()));
        SUCCEEDS(cushim_stream_synchronize(stream.get()));
    }
};

static bool is_destroyed()
{
    return becomes_true([] { return counted::alive == 0; });
}

static void test_captured_function_when_launched_twice_then_is_called_twice_and_destroyed_once()
{
    captured with;
    cushim::graph_exec exec = with.instantiate();
    with.launch(exec);
    with.launch(exec);
    EXPECT(counted::calls == 2 && counted::alive == 1);
    exec.reset();
    EXPECT(counted::alive == 1);
    with.graph.reset();
    EXPECT(is_destroyed());
    EXPECT(counted::calls == 2);
}

static void test_captured_function_when_the_graph_is_destroyed_first_then_lives_as_long_as_the_executable()
{
    captured with;
    cushim::graph_exec exec = with.instantiate();
    with.graph.reset();
    EXPECT(counted::alive == 1);
    with.launch(exec);
    EXPECT(counted::calls == 1);
    exec.reset();
    EXPECT(is_destroyed());
}

static void test_captured_function_when_the_graph_is_cloned_then_lives_as_long_as_the_clone()
{
    captured with;
    CUgraph handle = nullptr;
    cushim::graph clone;
    SUCCEEDS(cushim_table()->GraphClone_v1(&handle, cushim_graph_handle(with.graph.get())));
    SUCCEEDS(cushim_graph_adopt(handle, clone.out()));
    with.graph = std::move(clone);
    EXPECT(counted::alive == 1);
    cushim::graph_exec exec = with.instantiate();
    with.launch(exec);
    EXPECT(counted::calls == 1);
    exec.reset();
    with.graph.reset();
    EXPECT(is_destroyed());
}

static void test_captured_function_when_never_launched_then_is_destroyed_and_not_called()
{
    captured with;
    with.graph.reset();
    EXPECT(is_destroyed());
    EXPECT(counted::calls == 0);
}

static void test_function_when_it_owns_memory_then_is_moved_and_keeps_that()
{
    fixture with;
    std::atomic<int> seen(0);
    struct reads {
        std::unique_ptr<int> number;
        std::atomic<int> *seen;
        void operator()() { *seen = ++*number; }
    };
    SUCCEEDS(cushim::stream_launch_host(with.stream.get(), reads{std::unique_ptr<int>(new int(41)), &seen}));
    SUCCEEDS(cushim_stream_synchronize(with.stream.get()));
    EXPECT(seen == 42);
}

static std::atomic<int> plain_calls;
static void plain()
{
    plain_calls++;
}

static void test_function_when_it_is_an_ordinary_one_then_is_called()
{
    fixture with;
    SUCCEEDS(cushim::stream_launch_host(with.stream.get(), plain));
    SUCCEEDS(cushim_stream_synchronize(with.stream.get()));
    EXPECT(plain_calls == 1);
}

static void test_callback_when_the_work_is_done_then_gets_its_status()
{
    fixture with;
    std::atomic<CUresult> status(CUDA_ERROR_UNKNOWN);
    SUCCEEDS(cushim::stream_add_callback(with.stream.get(), [&](CUresult result) { status = result; }));
    SUCCEEDS(cushim_stream_synchronize(with.stream.get()));
    EXPECT(status == CUDA_SUCCESS);
}

static void test_completion_when_it_fires_then_its_callback_is_called_and_destroyed()
{
    fixture with;
    cushim::dispatcher dispatcher;
    SUCCEEDS(cushim_dispatcher_create(dispatcher.out()));
    for (bool is_inline : {false, true}) {
        cushim::completion completion;
        counted::calls = 0;
        SUCCEEDS(cushim_completion_create(with.stream.get(), CUSHIM_COMPLETION_NOTIFYING, completion.out()));
        SUCCEEDS(is_inline ? cushim::completion_set_inline_callback(completion.get(), counted())
                           : cushim::completion_set_callback(completion.get(), dispatcher.get(), counted()));
        SUCCEEDS(is_inline ? cushim_completion_wait(completion.get(), CUSHIM_FOREVER, nullptr)
                           : cushim_dispatcher_run(dispatcher.get(), CUSHIM_FOREVER, nullptr));
        EXPECT(becomes_true([] { return counted::calls == 1; }));
        EXPECT(is_destroyed());
    }
}

/* Gives a function to each of the functions that keep one, where all are refused. */
static const int WAYS = 5;
static CUresult give(int way)
{
    const counted function;
    switch (way) {
    case 0:
        return cushim::stream_launch_host(nullptr, function);
    case 1:
        return cushim::stream_add_callback(nullptr, function);
    case 2:
        return cushim::completion_set_callback(nullptr, nullptr, function);
    case 3:
        return cushim::completion_set_inline_callback(nullptr, function);
    default:
        return cushim::stream_enqueue(
            nullptr, [function](struct cushim_stream *) { function(); }, nullptr);
    }
}

static void test_function_when_refused_then_is_destroyed_before_the_return()
{
    counted::calls = 0;
    for (int way = 0; way < WAYS; way++) {
        EXPECT_CODE(give(way), CUDA_ERROR_INVALID_HANDLE);
        EXPECT(counted::alive == 0 && counted::calls == 0);
    }
}

static bool is_out_of_memory;

void *operator new(std::size_t size, const std::nothrow_t &) noexcept
{
    return is_out_of_memory ? nullptr : ::operator new(size);
}

static void test_function_when_the_host_is_out_of_memory_then_the_code_says_so()
{
    for (int way = 0; way < WAYS; way++) {
        is_out_of_memory = true;
        const CUresult result = give(way);
        is_out_of_memory = false;
        EXPECT_CODE(result, CUDA_ERROR_OUT_OF_MEMORY);
        EXPECT(cushim_error_last()->code == CUDA_ERROR_OUT_OF_MEMORY && *cushim_error_last()->message != '\0');
        EXPECT(counted::alive == 0);
    }
}

extern const test later_tests[];
const test later_tests[] = {
    TEST(test_captured_function_when_launched_twice_then_is_called_twice_and_destroyed_once),
    TEST(test_captured_function_when_the_graph_is_destroyed_first_then_lives_as_long_as_the_executable),
    TEST(test_captured_function_when_the_graph_is_cloned_then_lives_as_long_as_the_clone),
    TEST(test_captured_function_when_never_launched_then_is_destroyed_and_not_called),
    TEST(test_function_when_it_owns_memory_then_is_moved_and_keeps_that),
    TEST(test_function_when_it_is_an_ordinary_one_then_is_called),
    TEST(test_callback_when_the_work_is_done_then_gets_its_status),
    TEST(test_completion_when_it_fires_then_its_callback_is_called_and_destroyed),
    TEST(test_function_when_refused_then_is_destroyed_before_the_return),
    TEST(test_function_when_the_host_is_out_of_memory_then_the_code_says_so),
    {nullptr, nullptr},
};
