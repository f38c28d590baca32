/* SPDX-License-Identifier: MIT */
/* A program with unit.cpp twice. The first of them has exceptions, so the one of its body must arrive. */
#include <stdexcept>

bool run_with(bool is_to_throw);
bool run_without(bool is_to_throw);
void throw_if(bool is_to_throw);

void throw_if(bool is_to_throw)
{
    if (is_to_throw)
        throw std::runtime_error("of a body");
}

int main()
{
    bool is_caught = false;
    try {
        (void)run_with(true);
    } catch (const std::runtime_error &) {
        is_caught = true;
    }
    return is_caught && run_with(false) && run_without(false) ? 0 : 1;
}
