/* SPDX-License-Identifier: MIT */
/* The dynamic loader of the operating system. posix/ and windows/ implement the functions. */
#ifndef CUSHIM_LOADER_OS_LIBRARY_H
#define CUSHIM_LOADER_OS_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "cushim/loader.h"

/* The name by which the dynamic loader knows the driver. */
extern const char cush_os_library_driver_name[];

/* What separates the paths of a list in an environment variable. */
extern const char cush_os_library_list_separator;

/* The result of opening a library. */
enum os_library_result {
    OS_LIBRARY_OPEN,
    OS_LIBRARY_ABSENT,
    OS_LIBRARY_UNREADABLE,       /* this user may not read it, or a library that it needs */
    OS_LIBRARY_NEEDS_LIBRARY,    /* it needs a library that is absent */
    OS_LIBRARY_DAMAGED,          /* its file is truncated, or is not a regular file */
    OS_LIBRARY_OTHER_LIBC,       /* it needs a C library other than that of this process */
    OS_LIBRARY_EXECUTABLE_STACK, /* it needs an executable stack, which this process does not get */
    OS_LIBRARY_STATIC_PROGRAM,   /* this process cannot open any library */
    OS_LIBRARY_UNLOADABLE        /* another error */
};

/*
 * Opens `name`: a path, or a plain name that the dynamic loader searches. After OS_LIBRARY_OPEN the caller must close
 * *out_library. Otherwise `error` contains the message of the dynamic loader.
 */
enum os_library_result cush_os_library_open(const char *name, void **out_library, char *error, size_t error_size);

/* Opens `name` only if this process already has it open; returns NULL if not. So it shows whether a path is a library
 * that is in use. */
void *cush_os_library_open_mapped(const char *name);

void cush_os_library_close(void *library);

/*
 * Keeps the shared object that contains this copy of cushim mapped until the process ends. After a load, the driver's
 * threads may call into it, and the program may use its tables and diagnoses. Returns whether that is certain. The
 * caller holds the load lock.
 */
bool cush_os_library_pin_self(void);

/* Returns the address of a name; NULL if the library does not export it. On some systems the libraries that it needs
 * are searched, too. */
cushim_fn cush_os_library_symbol(void *library, const char *name);

/*
 * Writes the path of the file that contains `address`, or "" if it is not known. `library` is the open library that
 * contains the address, which saves a search, or NULL.
 */
void cush_os_library_path(void *library, cushim_fn address, char *path, size_t size);

/* Returns the name under which `library` itself exports exactly this address, or NULL. */
const char *cush_os_library_symbol_name(void *library, cushim_fn address);

#endif
