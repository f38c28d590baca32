/* SPDX-License-Identifier: MIT */
#include "support.h"

int main(int argc, char **argv)
{
    support_load(argc, argv);
    return test_list_run();
}
