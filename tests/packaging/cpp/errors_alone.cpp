/* SPDX-License-Identifier: MIT */
/* What cushim.hpp has in a subset without the stream layer, on a machine without a driver. */
#include <cstring>

#include "cushim/cushim.hpp"

int main()
{
    try {
        cushim::check(cushim_init());
    } catch (const cushim::error &error) {
        return std::strcmp(error.what(), cushim_error_last()->message) == 0 ? 0 : 1;
    }
    return 1;
}
