/* SPDX-License-Identifier: MIT */
/* The scenarios of a program, each listed where it is written. */
#ifndef TRACE_SCENARIO_H
#define TRACE_SCENARIO_H

#include <stdbool.h>

extern struct scenario {
    const char *name;
    void (*run)(bool is_wrong);
    struct scenario *next;
} * scenarios;

/* Begins a scenario: SCENARIO(name) { ... } */
#define SCENARIO(function)                                                                                             \
    static void function(bool is_wrong);                                                                               \
    __attribute__((constructor)) static void function##_add(void)                                                      \
    {                                                                                                                  \
        static struct scenario one = {#function, function, NULL};                                                      \
        one.next = scenarios;                                                                                          \
        scenarios = &one;                                                                                              \
    }                                                                                                                  \
    static void function(bool is_wrong)

#endif
