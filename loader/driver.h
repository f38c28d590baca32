/* SPDX-License-Identifier: MIT */
/* The loaded driver and its tables, and how its entry points are found: by the exact name, else by cuGetProcAddress. */
#ifndef CUSHIM_LOADER_DRIVER_H
#define CUSHIM_LOADER_DRIVER_H

#include "symbols.h"

/* An open driver, with the version limit and the hidden functions that apply to it. */
struct driver {
    void *library;
    int own_version; /* the version that it reports */
    int version;     /* the lower one of own_version and the version limit */
    bool limited;    /* version < own_version */
    struct hidden_set hidden;
    const char *root; /* below which it was searched, or "" */
    /* The driver's own functions of the two slots that start.c always adapts; NULL: it lacks or hides them. */
    CUresult(CUDAAPI *init)(unsigned);
    CUresult(CUDAAPI *error_text)(CUresult, const char **);
    struct {
        CUresult(CUDAAPI *v1)(const char *, void **, int, cuuint64_t);
        CUresult(CUDAAPI *v2)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
        int is_trusted; /* 0: not checked yet; 1: yes; -1: no */
    } proc_address;
};

/* A table as an array: slot n of entry_points.h is slots[n]. */
union table {
    struct cushim_dispatch_table named;
    cushim_fn slots[CUSHIM_SLOT_COUNT];
};

/* How a slot of a driver table came to be. Small, since a load writes one for every slot. */
struct slot_origin {
    unsigned char state; /* enum cushim_slot_state */
    unsigned char rule;  /* which one of a polyfill's, for cush_polyfills_via() */
};

/* All three are filled once, before the driver tables become current, and then never written. Polyfills call their
 * slots. */
extern union table cush_driver_tables[CUSHIM_DEFAULT_STREAM_COUNT];
extern struct slot_origin cush_driver_origins[CUSHIM_DEFAULT_STREAM_COUNT][CUSHIM_SLOT_COUNT];
extern struct driver cush_loaded_driver;

static inline bool cush_driver_is_kind(enum cushim_default_stream kind)
{
    return (unsigned)kind < CUSHIM_DEFAULT_STREAM_COUNT;
}

/* Whether a driver that obeys version limit and hidden functions has this entry point. */
bool cush_resolve_allows(const struct driver *driver, size_t index);

/* The function of an entry point, or NULL. Looks neither at the version limit nor at hidden functions. */
CUSHIM_COLD cushim_fn cush_resolve_entry(struct driver *driver, size_t index, enum cushim_default_stream kind);

/* What the driver itself answers for a function at a version, if its answers can be trusted; else NULL. */
cushim_fn cush_resolve_by_proc_address(struct driver *driver, const char *function, int version,
                                       enum cushim_default_stream kind);

/* Whether the driver has a cuGetProcAddress that can be trusted. */
CUSHIM_COLD bool cush_resolve_has_proc_address(struct driver *driver);

/*
 * ---- driver_log.c: what the driver says about the failed calls of a thread ----
 *
 * Since CUDA 12.9 a driver calls registered functions with its explanation of an error, on the thread of the failed
 * call and before that call returns. Its last line names the code and the function. So cushim does nothing for a call
 * that succeeds.
 */

/* Registers a function for the log of the driver in the driver tables, unless that driver has no log or hides it. It
 * needs no cuInit. This copy of cushim must stay mapped. The caller holds the load lock. */
void cush_driver_log_register(void);

/* For tests: unregisters that function before the driver is closed. */
void cush_driver_log_unregister(void);

/*
 * Returns the lines that the driver logged about the last failed driver call of this thread, and forgets them. Returns
 * NULL if that was not a call of `slot`, or did not return `code`. The text is valid until the next call on this
 * thread.
 */
const char *cush_driver_log_take(CUresult code, enum cushim_slot slot);

#endif
