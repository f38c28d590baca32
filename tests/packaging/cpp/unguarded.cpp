/* SPDX-License-Identifier: MIT */
/*
 * An exception that leaves
 *
 *   unguarded body                                a body of C, whose caller expects it; the capture stays open
 *   unguarded host|captured|inline|dispatched     a function of cushim.hpp that is called later
 */
#include <cstring>

#include "cushim/cushim.hpp"

static const CUstreamCaptureMode MODE = CU_STREAM_CAPTURE_MODE_RELAXED;

static CUresult throwing_body(struct cushim_stream *, void *)
{
    throw std::runtime_error("of a body of C");
}

static int call_body_of_c(struct cushim_stream *stream)
{
    cushim::graph graph;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    try {
        (void)cushim_stream_capture(stream, MODE, throwing_body, nullptr, graph.out());
    } catch (const std::runtime_error &) {
        cushim::check(cushim_stream_get_capture_status(stream, &status));
    }
    return status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? 0 : 1;
}

static void throw_later(const char *way, struct cushim_stream *stream)
{
    const auto function = [] { throw std::runtime_error("of a function that is called later"); };
    const auto callback = [](CUresult) { throw std::runtime_error("of a callback"); };
    cushim::graph_exec exec;
    cushim::dispatcher dispatcher;
    cushim::completion completion;
    if (std::strcmp(way, "host") == 0) {
        cushim::check(cushim::stream_launch_host(stream, function));
    } else if (std::strcmp(way, "captured") == 0) {
        const auto body = [&](struct cushim_stream *to) { return cushim::stream_launch_host(to, function); };
        cushim::check(cushim::stream_capture_executable(stream, MODE, 0, body, exec.out()));
        cushim::check(cushim_graph_exec_launch(exec.get(), stream));
    } else {
        cushim::check(cushim_completion_create(stream, CUSHIM_COMPLETION_NOTIFYING, completion.out()));
        cushim::check(cushim_dispatcher_create(dispatcher.out()));
        cushim::check(std::strcmp(way, "inline") == 0
                          ? cushim::completion_set_inline_callback(completion.get(), callback)
                          : cushim::completion_set_callback(completion.get(), dispatcher.get(), callback));
        cushim::check(cushim_dispatcher_run(dispatcher.get(), cushim_clock_ns() + 2000000000, nullptr));
    }
    cushim::check(cushim_stream_synchronize(stream));
}

int main(int, char **argv)
{
    cushim::context context;
    cushim::stream stream;
    cushim::check(cushim_context_create(0, 0, context.out()));
    cushim::check(cushim_stream_create(context.get(), CU_STREAM_NON_BLOCKING, 0, stream.out()));
    if (std::strcmp(argv[1], "body") == 0)
        return call_body_of_c(stream.get());
    try {
        throw_later(argv[1], stream.get());
    } catch (const std::runtime_error &) { // it passed functions of C
        return 1;
    }
    return 0;
}
