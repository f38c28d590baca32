/* SPDX-License-Identifier: MIT */
#include "expect.hpp"

#include <type_traits>

template <typename Owner> constexpr bool is_moved_alone()
{
    return std::is_nothrow_move_constructible<Owner>::value && std::is_nothrow_move_assignable<Owner>::value
           && !std::is_copy_constructible<Owner>::value && !std::is_copy_assignable<Owner>::value
           && sizeof(Owner) == sizeof(void *);
}
static_assert(is_moved_alone<cushim::context>() && is_moved_alone<cushim::stream>() && is_moved_alone<cushim::event>()
                  && is_moved_alone<cushim::graph>() && is_moved_alone<cushim::graph_exec>()
                  && is_moved_alone<cushim::capture>() && is_moved_alone<cushim::completion>(),
              "owners are as large as a pointer, and can be moved and not copied");

/* How often the driver has been asked to end something. */
static std::atomic<int> streams, events, graphs, executables, captures, contexts;
static struct cushim_dispatch_table below;

static CUresult CUDAAPI end_stream(CUstream stream)
{
    streams++;
    return below.StreamDestroy_v2(stream);
}

static CUresult CUDAAPI end_event(CUevent event)
{
    events++;
    return below.EventDestroy_v2(event);
}

static CUresult CUDAAPI end_graph(CUgraph graph)
{
    graphs++;
    return below.GraphDestroy_v1(graph);
}

static CUresult CUDAAPI end_executable(CUgraphExec exec)
{
    executables++;
    return below.GraphExecDestroy_v1(exec);
}

static CUresult CUDAAPI end_capture(CUstream stream, CUgraph *graph)
{
    captures++;
    return below.StreamEndCapture_v1(stream, graph);
}

static CUresult CUDAAPI end_context(CUcontext context)
{
    contexts++;
    return below.CtxDestroy_v2(context);
}

static CUresult install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                        const enum cushim_slot_state *, enum cushim_default_stream kind, void *)
{
    if (kind != CUSHIM_DEFAULT_STREAM_LEGACY) // the stream layer uses this table alone
        return CUDA_SUCCESS;
    below = *next;
    table->StreamDestroy_v2 = end_stream;
    table->EventDestroy_v2 = end_event;
    table->GraphDestroy_v1 = end_graph;
    table->GraphExecDestroy_v1 = end_executable;
    table->StreamEndCapture_v1 = end_capture;
    table->CtxDestroy_v2 = end_context;
    return CUDA_SUCCESS;
}

static struct cushim_layer layer = CUSHIM_LAYER("ends", install, nullptr);

static void test_owner_when_destroyed_then_its_object_is_ended_once()
{
    SUCCEEDS(cushim_layer_add(&layer));
    streams = events = graphs = executables = captures = contexts = 0;
    {
        fixture with;
        cushim::event event;
        cushim::graph graph;
        cushim::graph_exec exec;
        cushim::capture capture;
        cushim::capture_info info;
        cushim::completion completion;
        cushim::dispatcher dispatcher;
        SUCCEEDS(cushim_event_create(with.context.get(), 0, event.out()));
        SUCCEEDS(cushim_graph_create(graph.out()));
        SUCCEEDS(cushim_graph_instantiate(graph.get(), with.context.get(), 0, exec.out()));
        SUCCEEDS(cushim_completion_create(with.stream.get(), 0, completion.out()));
        SUCCEEDS(cushim_capture_begin(with.stream.get(), CU_STREAM_CAPTURE_MODE_RELAXED, capture.out()));
        SUCCEEDS(cushim_capture_info_create(with.stream.get(), info.out()));
        SUCCEEDS(cushim_dispatcher_create(dispatcher.out()));
        EXPECT(streams == 0 && events == 0 && graphs == 0 && executables == 0 && captures == 0 && contexts == 0);
    }
    EXPECT(streams == 1);
    EXPECT(events == 2); // one of the completion
    EXPECT(graphs == 2); // one of the capture
    EXPECT(executables == 1);
    EXPECT(captures == 1);
    EXPECT(contexts == 1);
}

static void test_owner_when_moved_then_one_owner_has_the_object()
{
    fixture with;
    struct cushim_stream *object = with.stream.get();
    cushim::stream second(std::move(with.stream));
    EXPECT(!with.stream && second.get() == object);
    cushim::stream third;
    third = std::move(second);
    EXPECT(!second && third.get() == object);
    cushim::stream &same = third;
    third = std::move(same);
    EXPECT(third.get() == object);
    with.stream = std::move(third);
    SUCCEEDS(cushim_stream_query(with.stream.get()));
}

static void test_owner_when_released_then_the_caller_owns_the_object()
{
    fixture with;
    struct cushim_stream *object = with.stream.release();
    EXPECT(!with.stream && object != nullptr);
    with.stream.reset();
    SUCCEEDS(cushim_stream_query(object));
    with.stream.reset(object);
    EXPECT(with.stream.get() == object);
}

static void test_owner_when_an_object_is_created_again_then_the_first_is_ended()
{
    fixture with;
    gate work;
    work.close(with.stream.get());
    work.open();
    SUCCEEDS(cushim_stream_create(with.context.get(), CU_STREAM_NON_BLOCKING, 0, with.stream.out()));
    EXPECT(work.is_passed());
    EXPECT_CODE(cushim_stream_create(nullptr, 0, 0, with.stream.out()), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT(!with.stream);
}

static void test_owner_when_ended_by_a_function_of_c_then_it_is_empty()
{
    fixture with;
    SUCCEEDS(cushim_stream_close(with.stream.inout()));
    EXPECT(!with.stream);
}

static void test_stream_when_destroyed_then_its_work_is_done()
{
    gate work;
    {
        fixture with;
        cushim::stream stream(std::move(with.stream));
        work.close(stream.get());
        work.open();
    }
    EXPECT(work.is_passed());
}

static void test_borrowed_stream_when_destroyed_then_its_work_goes_on()
{
    fixture with;
    gate work;
    work.close(with.stream.get());
    {
        cushim::stream borrowed;
        SUCCEEDS(cushim_stream_borrow(cushim_stream_handle(with.stream.get()), with.context.get(), borrowed.out()));
    }
    EXPECT(!work.is_passed());
    work.open();
    SUCCEEDS(cushim_stream_synchronize(with.stream.get()));
}

static void test_capture_when_destroyed_then_the_stream_can_be_used()
{
    fixture with;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    {
        cushim::capture capture;
        SUCCEEDS(cushim_capture_begin(with.stream.get(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, capture.out()));
    }
    SUCCEEDS(cushim_stream_get_capture_status(with.stream.get(), &status));
    EXPECT(status == CU_STREAM_CAPTURE_STATUS_NONE);
}

extern const test owner_tests[];
const test owner_tests[] = {
    TEST(test_owner_when_destroyed_then_its_object_is_ended_once),
    TEST(test_owner_when_moved_then_one_owner_has_the_object),
    TEST(test_owner_when_released_then_the_caller_owns_the_object),
    TEST(test_owner_when_an_object_is_created_again_then_the_first_is_ended),
    TEST(test_owner_when_ended_by_a_function_of_c_then_it_is_empty),
    TEST(test_stream_when_destroyed_then_its_work_is_done),
    TEST(test_borrowed_stream_when_destroyed_then_its_work_goes_on),
    TEST(test_capture_when_destroyed_then_the_stream_can_be_used),
    {nullptr, nullptr},
};
