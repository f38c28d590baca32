/* SPDX-License-Identifier: MIT */
/* Finds one entry point in an open driver: by its exact name, else by cuGetProcAddress. */
#ifndef CUSHIM_RESOLVE_H
#define CUSHIM_RESOLVE_H

#include "os_symbols.h"
#include "request.h"

/* An open driver and what may be seen of it. */
struct driver {
    void *library;
    struct os_symbols symbols;
    int own_version; /* what it reports */
    int version;     /* the smaller of that and the cap */
    bool capped;     /* version < own_version */
    bool per_thread;
    struct mask mask;
    struct {
        CUresult(CUDAAPI *v1)(const char *, void **, int, cuuint64_t);
        CUresult(CUDAAPI *v2)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
        int is_honest; /* 0: not yet tried; 1: yes; -1: no */
    } ask;
};

/* Whether a driver that obeys cap and mask has this row. */
bool cushim_priv_resolve_allows(const struct driver *driver, size_t row);

/* The entry point of a row, or NULL. Looks neither at cap nor at mask. */
cushim_fn cushim_priv_resolve_row(struct driver *driver, size_t row, bool per_thread);

/* What the driver itself answers for a family at a version, if its answers can be trusted; else NULL. */
cushim_fn cushim_priv_resolve_by_asking(struct driver *driver, const char *family, int version, bool per_thread);

/* Whether the driver has a cuGetProcAddress that can be trusted. */
bool cushim_priv_resolve_can_ask(struct driver *driver);

#endif
