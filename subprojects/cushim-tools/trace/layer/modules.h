/* SPDX-License-Identifier: MIT */
/* The parts of this process that can be executed, found by an address in them. */
#ifndef CUSHIM_TRACE_MODULES_H
#define CUSHIM_TRACE_MODULES_H

#include "../file/format.h"

enum { MAX_MODULES = 512 };

/* Begin with zeroed memory. Threads share it, and nothing in it is changed after it was found. */
struct modules {
    _Atomic uint32_t count; /* of the parts that were begun */
    struct module_range {
        uint64_t start;
        _Atomic uint64_t end; /* 0 until the part is complete */
    } ranges[MAX_MODULES];
    struct module {
        uint64_t words[TRACE_MODULE_WORDS]; /* of its metadata record */
        uint32_t length;
        char path[TRACE_TEXT_MAX]; /* empty if the part is of no file */
    } all[MAX_MODULES];
};

/* Returns the index of the part that has an address, or -1. */
int modules_find(const struct modules *modules, uint64_t address);

/* Finds those of some addresses that are not known yet. It takes no lock and allocates nothing. */
void modules_add(struct modules *modules, const uint64_t *addresses, size_t count);

#endif
