/* SPDX-License-Identifier: MIT */
/* A library that ends the process when it is opened. */
#include <stdlib.h>

__attribute__((constructor)) static void end_process(void)
{
    abort();
}
