/* SPDX-License-Identifier: MIT */
/* The operating system's loader: open, symbol, close, path-of. posix/ and windows/ implement it. */
#ifndef CUSHIM_LOADER_OS_LIBRARY_H
#define CUSHIM_LOADER_OS_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "cushim/loader.h"

/* The name by which the dynamic loader knows the driver. */
extern const char cush_os_library_driver_name[];

/* How an opening went. */
enum os_library_result {
    OS_LIBRARY_OPEN,
    OS_LIBRARY_ABSENT,
    OS_LIBRARY_UNREADABLE,     /* this user may not read it, or something that it needs */
    OS_LIBRARY_NEEDS_LIBRARY,  /* it needs a library that is absent */
    OS_LIBRARY_DAMAGED,        /* its file is cut short, or is not a regular file */
    OS_LIBRARY_OTHER_LIBC,     /* it needs another C library than this process has */
    OS_LIBRARY_STATIC_PROGRAM, /* this process cannot open any library */
    OS_LIBRARY_UNLOADABLE      /* for another reason */
};

/*
 * Opens `name`: a path, or a bare name that the system searches. On OS_LIBRARY_OPEN, *out_library is to be closed; else
 * `error` holds the loader's words.
 */
enum os_library_result cush_os_library_open(const char *name, void **out_library, char *error, size_t error_size);

/* Opens `name` only if this process has it open already; NULL if not. Tells whether a path is a library that is in
 * use. */
void *cush_os_library_open_mapped(const char *name);

void cush_os_library_close(void *library);

/*
 * Keeps the shared object that contains this copy of cushim mapped until the process ends. After a load, the driver's
 * threads may call into it, and the program may hold its tables and diagnoses. Called by the holder of the load lock.
 */
void cush_os_library_pin_self(void);

/* NULL where the library does not export that name, nor (on some systems) one that it needs. */
cushim_fn cush_os_library_symbol(void *library, const char *name);

/*
 * Writes the file that holds `address`; an empty string if it cannot be told. `library` may say in which of our open
 * libraries the address is, which spares a search; or NULL.
 */
void cush_os_library_path(void *library, cushim_fn address, char *path, size_t size);

/* The name under which `library` itself exports exactly this address, or NULL. */
const char *cush_os_library_symbol_name(void *library, cushim_fn address);

#endif
