/* SPDX-License-Identifier: MIT */
/* What the tests of cushim.hpp share: a table of tests, and checks that do not end a test. */
#ifndef CPP_EXPECT_HPP
#define CPP_EXPECT_HPP

#include <atomic>
#include <cstdio>

#include "cushim/cushim.hpp"

/* A test of the table `tests` that each file of tests has. */
struct test {
    const char *name;
    void (*run)();
};

#define TEST(name)                                                                                                     \
    {                                                                                                                  \
#        name, name                                                                                                    \
    }

/* The number of checks that failed. */
extern int failures;

inline bool report(bool is_right, const char *text, const char *file, int line)
{
    if (!is_right) {
        std::printf("%s:%d: not true: %s\n", file, line, text);
        failures++;
    }
    return is_right;
}

#define EXPECT(condition) report(condition, #condition, __FILE__, __LINE__)
#define EXPECT_CODE(call, code) report_code(call, code, #call, __FILE__, __LINE__)
#define SUCCEEDS(call) EXPECT_CODE(call, CUDA_SUCCESS)

inline bool report_code(CUresult result, CUresult expected, const char *text, const char *file, int line)
{
    if (result != expected)
        std::printf("%s: %s\n", cushim_error_string(result), cushim_error_last()->message);
    return report(result == expected, text, file, line);
}

/* Returns whether the condition becomes true within two seconds, for what another thread does. */
template <typename Condition> bool becomes_true(Condition condition)
{
    const uint64_t deadline = cushim_clock_ns() + 2000000000;
    while (!condition() && cushim_clock_ns() < deadline)
        continue;
    return condition();
}

/* A host function that holds up its stream until it is opened. */
class gate {
public:
    void close(struct cushim_stream *stream)
    {
        SUCCEEDS(cushim::stream_launch_host(stream, [this] {
            while (!is_open_)
                continue;
            is_passed_ = true;
        }));
    }

    void open() { is_open_ = true; }

    bool is_passed() const { return is_passed_; }

private:
    std::atomic<bool> is_open_{false};
    std::atomic<bool> is_passed_{false};
};

/* A function of which every copy is counted. */
class counted {
public:
    static std::atomic<int> alive;
    static std::atomic<int> calls;

    counted() noexcept { alive++; }
    counted(const counted &) noexcept { alive++; }
    counted(counted &&) noexcept { alive++; }
    counted &operator=(const counted &) = delete;
    ~counted() { alive--; }

    void operator()() const { calls++; }
    void operator()(CUresult) const { calls++; }
};

/* A stream of a new context. */
struct fixture {
    cushim::context context;
    cushim::stream stream;

    fixture()
    {
        counted::calls = 0;
        SUCCEEDS(cushim_context_create(0, 0, context.out()));
        SUCCEEDS(cushim_stream_create(context.get(), CU_STREAM_NON_BLOCKING, 0, stream.out()));
    }
};

#endif
