/* SPDX-License-Identifier: MIT */
/* Runs the tests of cushim.hpp on the driver of CUSHIM_DRIVER. Without an argument, all of them; otherwise, those whose
 * names contain it. */
#include <cstring>

#include "expect.hpp"

extern const test owner_tests[];
extern const test body_tests[];
extern const test later_tests[];
extern const test error_tests[];

int failures;
std::atomic<int> counted::alive;
std::atomic<int> counted::calls;

static int run(const test *tests, const char *wanted)
{
    int count = 0;
    for (; tests->run != nullptr; tests++) {
        if (std::strstr(tests->name, wanted) == nullptr)
            continue;
        const int before = failures;
        tests->run();
        EXPECT(becomes_true([] { return counted::alive == 0; }));
        std::printf("%s %s\n", failures == before ? "ok    " : "FAILED", tests->name);
        counted::alive = 0;
        count++;
    }
    return count;
}

int main(int argc, char **argv)
{
    const char *wanted = argc > 1 ? argv[1] : "";
    const int count =
        run(owner_tests, wanted) + run(body_tests, wanted) + run(later_tests, wanted) + run(error_tests, wanted);
    std::printf("%d tests, C++ %ld, %s exceptions\n", count, static_cast<long>(__cplusplus),
                CUSHIM_EXCEPTIONS ? "with" : "without");
    return failures == 0 && count > 0 ? 0 : 1;
}
