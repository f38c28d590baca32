/* SPDX-License-Identifier: MIT */
/*
 * at_exit - calls a slot while the process is ending: in a handler of atexit() and in a destructor. Prints lines of the
 * form "name=value".
 *
 *   at_exit [first]    with "first", these calls are the first ones, so they load the driver
 */
#include <stdio.h>
#include <stdlib.h>

#include "cushim/cushim.h"

static void print_state(const char *when)
{
    int version = -1;
    CUresult result = cushim_table()->DriverGetVersion_v1(&version);
    printf("%s=%d %d %d %s\n", when, (int)cushim_table()->StreamQuery_v1(NULL), (int)result, version,
           cushim_diagnosis_get()->reason_name);
    fflush(stdout);
}

static void print_state_at_exit(void)
{
    print_state("atexit");
}

__attribute__((destructor)) static void tell_in_destructor(void)
{
    print_state("destructor");
}

int main(int argc, char **argv)
{
    if (argc == 1)
        print_state("main");
    return atexit(print_state_at_exit);
}
