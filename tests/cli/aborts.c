/* SPDX-License-Identifier: MIT */
/* A library that aborts the process that opens it. */
#include <stdlib.h>

__attribute__((constructor)) static void end_process(void)
{
    abort();
}
