/* SPDX-License-Identifier: MIT */
/* A unit that uses cushim.hpp, with a body that has the same name in each unit. RUN is its function. */
#include "cushim/cushim.hpp"

bool RUN(bool is_to_throw);
void throw_if(bool is_to_throw);

struct body {
    bool is_to_throw;

    CUresult operator()(struct cushim_stream *stream) const
    {
        throw_if(is_to_throw);
        return cushim::stream_launch_host(stream, body{false});
    }

    void operator()() const {}
};

bool RUN(bool is_to_throw)
{
    cushim::context context;
    cushim::stream stream;
    return cushim_context_create(0, 0, context.out()) == CUDA_SUCCESS
           && cushim_stream_create(context.get(), CU_STREAM_NON_BLOCKING, 0, stream.out()) == CUDA_SUCCESS
           && cushim::stream_run(stream.get(), body{is_to_throw}) == CUDA_SUCCESS
           && cushim_stream_close(stream.inout()) == CUDA_SUCCESS && *cushim::error(CUDA_ERROR_UNKNOWN).what() != '\0';
}
