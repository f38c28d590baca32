/* SPDX-License-Identifier: MIT */
/*
 * two_streams.cpp - two_streams.c in C++: forks work to a second stream and joins it again.
 *
 *     left    fill all -+- fill the left half -------+- copy to the host
 *                       |                            |
 *     right             +- fill the right half ------+
 *
 * Each object ends with its variable, in any order, also when an exception leaves the function. A stream then waits for
 * its work, which uses the memory that was declared before it.
 *
 * With a GPU it prints:
 *
 *     LLLLLLLLLLLLLLLLRRRRRRRRRRRRRRRR
 */
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "cushim/cushim.hpp"

static const size_t SIZE = 1 << 24, HALF = SIZE / 2, SHOWN = 32;

/* Memory of the GPU in the current context. */
class device_memory {
public:
    explicit device_memory(size_t size) { cushim::check(CUSHIM_CALL(MemAlloc_v2, &address_, size)); }
    ~device_memory() { (void)CUSHIM_CALL(MemFree_v2, address_); }
    device_memory(const device_memory &) = delete;
    device_memory &operator=(const device_memory &) = delete;

    CUdeviceptr address() const { return address_; }

private:
    CUdeviceptr address_;
};

static std::vector<char> fill(const cushim::context &context)
{
    const device_memory memory(SIZE);
    std::vector<char> host(SIZE);
    cushim::stream left, right;
    cushim::check(cushim_stream_create(context.get(), CU_STREAM_NON_BLOCKING, 0, left.out()));
    cushim::check(cushim_stream_create(context.get(), CU_STREAM_NON_BLOCKING, 0, right.out()));
    const CUstream to_left = cushim_stream_handle(left.get()), to_right = cushim_stream_handle(right.get());

    cushim::check(CUSHIM_CALL(MemsetD8Async_v1, memory.address(), '?', SIZE, to_left));
    cushim::check(cushim_stream_wait_for(right.get(), left.get()));
    cushim::check(CUSHIM_CALL(MemsetD8Async_v1, memory.address(), 'L', HALF, to_left));
    cushim::check(CUSHIM_CALL(MemsetD8Async_v1, memory.address() + HALF, 'R', HALF, to_right));
    cushim::check(cushim_stream_wait_for(left.get(), right.get()));
    cushim::check(CUSHIM_CALL(MemcpyDtoHAsync_v2, host.data(), memory.address(), SIZE, to_left));
    cushim::check(cushim_stream_synchronize(left.get())); // the destructor waits, too, but cannot report an error
    return host;
}

int main()
{
    if (cushim_init() != CUDA_SUCCESS) {
        std::printf("No usable GPU: %s\n", cushim_diagnosis_get()->message);
        return 0;
    }
    try {
        cushim::context context;
        cushim::check(cushim_context_create(0, 0, context.out()));
        cushim::check(CUSHIM_CALL(CtxSetCurrent_v1, cushim_context_handle(context.get())));
        const std::vector<char> host = fill(context);
        const auto left = std::count(host.begin(), host.begin() + HALF, 'L');
        const auto right = std::count(host.begin() + HALF, host.end(), 'R');
        std::printf("%s\n", std::string(host.data() + HALF - SHOWN / 2, SHOWN).c_str());
        return left == HALF && right == HALF ? 0 : 1;
    } catch (const cushim::error &error) {
        std::printf("error %d: %s\n", static_cast<int>(error.code()), error.what());
        return 1;
    }
}
