/* SPDX-License-Identifier: MIT */
/* What a test knows of a fake driver. */
#ifndef FAKE_H
#define FAKE_H

#include "symbols.h"

/* The fake of the newest version of the list. */
#define FAKE_TEXT_OF(number) #number
#define FAKE_TEXT(number) FAKE_TEXT_OF(number)
#define FAKE_OF_LIST_VERSION "fake_" FAKE_TEXT(CUSHIM_LIST_VERSION)

/* What a function of a fake returns unless it is hooked: it tells which one was called, and in which form. */
#define FAKE_CODE(row, per_thread) ((CUresult)(100000 + 2 * (row) + (per_thread)))

/* Of a driver newer than cushim's list: a driver function that it lacks, and a newer ABI version of one that it has. */
#define FAKE_FUTURE_VERSION (CUSHIM_LIST_VERSION + 10)
#define FAKE_FUTURE_FAMILY "cuFromTheFuture"
#define FAKE_FUTURE_CODE FAKE_CODE(ROW_COUNT, 0)
#define FAKE_FUTURE_ABI_FAMILY "cuStreamQuery"
#define FAKE_FUTURE_ABI_CODE(per_thread) FAKE_CODE(ROW_COUNT + 1, per_thread)

/* How a fake's cuGetProcAddress lies. */
enum fake_lie {
    FAKE_HONEST,
    FAKE_SAYS_FOUND,     /* what is not there is success, status "found", and NULL */
    FAKE_NO_STATUS,      /* the status is never written */
    FAKE_NEWEST,         /* the newest ABI, whatever version was asked for */
    FAKE_SAME,           /* one function for all */
    FAKE_ERROR,          /* always an error, with a pointer nevertheless */
    FAKE_LEGACY,         /* the legacy form, also where the per-thread one was asked for */
    FAKE_STATUS_IGNORED, /* status "not found", with a pointer nevertheless */
    FAKE_LATER,          /* honest, but what was never compared comes one version later than the list says */
    FAKE_LIE_COUNT
};

/*
 * A fake exports, beside the driver's functions:
 *   fake_hooks  struct cushim_dispatch_table: what to call instead of returning FAKE_CODE, where not NULL
 *   fake_first_hooks  the same as it is at first
 *   fake_calls  unsigned [ROW_COUNT][2]: how often each entry point was called, legacy and per-thread form
 *   fake_lie    enum fake_lie: how its cuGetProcAddress lies
 * A fake with a constructor calls fake_driver_constructed() of the program that loads it, if that exports one.
 */
typedef unsigned fake_call_counts[ROW_COUNT][2];

#endif
