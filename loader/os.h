/* SPDX-License-Identifier: MIT */
/*
 * What the loader uses of the operating system. windows/ implements the functions; or posix/ those that do not depend
 * on NVIDIA's driver, with linux/, or with other/ for a system that has no driver.
 */
#ifndef CUSHIM_LOADER_OS_H
#define CUSHIM_LOADER_OS_H

#include <stdbool.h>
#include <stddef.h>

#include "cushim/diagnosis.h"
#include "cushim/lookup.h"
#include "cushim/system.h"
#include "common/atomic.h"
#include "os_file.h"
#include "os_obstacle.h"

/* ---- os_library.c: the dynamic loader ---- */

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
    OS_LIBRARY_EMPTY,            /* its file has no bytes */
    OS_LIBRARY_OTHER_PROCESSOR,  /* it is built for another processor than this process */
    OS_LIBRARY_OTHER_LIBC,       /* it needs a C library other than that of this process, or a newer one */
    OS_LIBRARY_EXECUTABLE_STACK, /* it needs an executable stack, which this process does not get */
    OS_LIBRARY_STATIC_PROGRAM,   /* this process cannot open any library */
    OS_LIBRARY_UNLOADABLE        /* another error */
};

/*
 * Opens `name`: a path, or a plain name that the dynamic loader searches. After OS_LIBRARY_OPEN the caller must close
 * *out_library. Otherwise `error` contains the message of the dynamic loader.
 */
CUSHIM_COLD enum os_library_result cush_os_library_open(const char *name, void **out_library, char *error,
                                                        size_t error_size);

/* Opens `name` only if this process already has it open; returns NULL if not. So it shows whether a path is a library
 * that is in use. */
void *cush_os_library_open_mapped(const char *name);

void cush_os_library_close(void *library);

/*
 * Opens a library that this process has open and whose file name begins with `start`: "libcuda.so" has every version of
 * the driver. `index` counts them. Returns NULL past the last one. With glibc, the call makes no system call. On
 * Windows, the name is that of the library.
 */
void *cush_os_library_open_again(const char *start, size_t index);

/* What an object of this process is. */
enum os_object {
    OS_OBJECT_PROGRAM,
    OS_OBJECT_OWN, /* it contains this copy of cushim */
    OS_OBJECT_LIBRARY
};

/*
 * Calls a function with the full path of each object of this process whose path is known, with slashes. The program
 * comes first. The function must not open or close a library, and should return soon: the dynamic loader can be
 * locked.
 */
CUSHIM_COLD void cush_os_library_each(void (*use)(const char *path, enum os_object kind, void *user), void *user);

/*
 * Calls a function with each directory in which the dynamic loader looks for a library that the object with this copy
 * of cushim opens by a name. Of the directories in its cache, only those that have a library whose name begins with
 * `start`. Opens no library. With another C library than glibc, the directories are not known.
 */
CUSHIM_COLD void cush_os_library_each_directory(const char *start, void (*use)(const char *directory, void *user),
                                                void *user);

/* Adds the symbols of an open library to the global scope of the process, where dlsym(RTLD_DEFAULT) finds them. `path`
 * is that of its file. */
void cush_os_library_make_global(const char *path);

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

/* ---- os_system.c: the load lock, the environment and the process ---- */

/*
 * The only lock of the loader; it guards loading. A fork() waits for a limited time until the lock is free, and
 * afterwards the lock is free in both processes. A fork() on the thread that holds the lock (in the constructor of a
 * library) does not wait. The fork handlers of other components can take the lock that their fork() has; after a fork()
 * that waited in vain, such a handler must not call cushim.
 */
void cush_os_load_lock(void);
void cush_os_load_unlock(void);

/* Returns whether this thread holds the load lock. */
bool cush_os_load_lock_is_mine(void);

/* Returns the value of an environment variable, or NULL. `name` is a constant, and the caller holds the load lock. The
 * value is valid until the environment changes or until the next call with the same name. */
const char *cush_os_environment(const char *name);

/* Copies the value of an environment variable as far as it fits, and returns the length of the value, or -1 if it is
 * not set. Needs no lock. */
int cush_os_environment_copy(const char *name, char *value, size_t size);

/* Returns whether the process has more rights than its user. Then the environment variables are ignored. */
bool cush_os_privileged(void);

/* Returns the number of this process. */
unsigned long cush_os_process(void);

/* Returns how many forks, counted since the first load, lead to this process, without a system call. */
unsigned long cush_os_fork_count(void);

/* How many searches for the cause of a failed start the threads of this process have begun and ended. The child of a
 * fork() begins with 0: it does not have the other threads. */
extern atomic_uint cush_os_searches_started, cush_os_searches_ended;

/* Whether NVIDIA has a driver for the system. Where it has none, nothing is searched for. */
extern const bool cush_os_has_driver;

/* Returns whether this process is the child of a fork() and has not called exec since. */
bool cush_os_is_forked(void);

/* Whether the system has a file for each device (/dev/nvidia0), which shows that the device exists and who may use
 * it. */
extern const bool cush_os_has_device_nodes;

#endif
