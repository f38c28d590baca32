/* SPDX-License-Identifier: MIT */
/*
 * first_use.cpp - the example of the README in C++: how many GPUs there are, or why there is none.
 *
 * With a GPU it prints:
 *
 *     GPUs: ...
 */
#include <cstdio>

#include "cushim/cushim.hpp"

int main()
{
    try {
        int count = 0;
        cushim::check(cushim_init());
        cushim::check(CUSHIM_CALL(DeviceGetCount_v1, &count));
        std::printf("GPUs: %d\n", count);
    } catch (const cushim::error &error) {
        std::printf("No GPU today. %s %s\n", error.what(), cushim_diagnosis_get()->advice);
    }
}
