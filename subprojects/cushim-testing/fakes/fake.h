/* SPDX-License-Identifier: MIT */
/* The interface between a test and a fake driver. */
#ifndef FAKE_H
#define FAKE_H

#include "symbols.h"

/* The fake of the newest version of the list. */
#define FAKE_TEXT_OF(number) #number
#define FAKE_TEXT(number) FAKE_TEXT_OF(number)
#define FAKE_OF_LIST_VERSION "fake_" FAKE_TEXT(CUSHIM_LIST_VERSION)

/* The result of a fake's function that is not hooked. It identifies the function and its form. */
#define FAKE_CODE(index, per_thread) ((CUresult)(100000 + 2 * (index) + (per_thread)))

/* Functions of a driver newer than cushim's list, of the next major version of CUDA: one that the list lacks, and a
 * newer ABI version of one that it has. */
#define FAKE_FUTURE_VERSION ((CUSHIM_LIST_VERSION / 1000 + 1) * 1000)
#define FAKE_FUTURE_FUNCTION "cuFromTheFuture"
#define FAKE_FUTURE_CODE FAKE_CODE(ENTRY_COUNT, 0)
#define FAKE_FUTURE_ABI_FUNCTION "cuStreamQuery"
#define FAKE_FUTURE_ABI_CODE(per_thread) FAKE_CODE(ENTRY_COUNT + 1, per_thread)

/* How the cuGetProcAddress of a fake misbehaves. */
enum fake_fault {
    FAKE_CORRECT,
    FAKE_SAYS_FOUND,     /* for an unknown name: success, status "found", and NULL */
    FAKE_NO_STATUS,      /* never writes the status */
    FAKE_NEWEST,         /* the newest ABI, whatever version was requested */
    FAKE_SAME,           /* the same function for every name */
    FAKE_ERROR,          /* always an error, but with a pointer */
    FAKE_LEGACY,         /* the legacy form, even if the per-thread variant was requested */
    FAKE_STATUS_IGNORED, /* status "not found", but with a pointer */
    FAKE_LATER,          /* correct, but has each entry point that no driver was asked for one version later */
    FAKE_FAULT_COUNT
};

/*
 * A fake exports these objects in addition to the driver's functions:
 *
 *   fake_hooks        struct cushim_dispatch_table: called instead of returning FAKE_CODE, where not NULL
 *   fake_first_hooks  the initial content of fake_hooks
 *   fake_calls        unsigned [ENTRY_COUNT][2]: the number of calls of each entry point, legacy and per-thread variant
 *   fake_fault          enum fake_fault: how its cuGetProcAddress misbehaves
 *
 * A fake with a constructor calls fake_driver_constructed() of the program that loads it, if the program exports that.
 */
typedef unsigned fake_call_counts[ENTRY_COUNT][2];

#endif
