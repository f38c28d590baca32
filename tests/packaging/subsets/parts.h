/* SPDX-License-Identifier: MIT */
/* The functions of one part of the program in parts_main.c, without cushim's names. */
#ifndef PARTS_H
#define PARTS_H

#include "cushim.h"

struct part {
    void (*load)(int limit);
    int (*version)(void);
    CUresult (*add_layer)(void);
    CUresult (*init)(void);
    CUresult (*count_devices)(int *out_count);
    int (*calls)(void);
    const void *(*table)(void);
    CUresult (*fail)(const char **out_message);
    int slots;
};

extern const struct part first_part, second_part, whole_part;

#endif
