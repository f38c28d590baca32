/* SPDX-License-Identifier: MIT */
/* What the loader uses of the operating system. posix/ and windows/ implement the functions. */
#ifndef CUSHIM_LOADER_OS_H
#define CUSHIM_LOADER_OS_H

#include <stdbool.h>
#include <stddef.h>

#include "cushim/diagnosis.h"
#include "cushim/lookup.h"
#include "cushim/system.h"

/* ---- os_file.c: files, also below a root directory ---- */

/* The size of the longest path that is handled, with its terminating zero. */
#define OS_PATH_SIZE 4096

/*
 * Writes the full path of the file that `path` means in a container with this root ("": this machine). A symbolic link
 * with an absolute target starts again at the root, and ".." never leaves the root. The file need not exist. Returns
 * false if the path is too long or its links form a loop.
 */
bool cush_os_path_below(const char *root, const char *path, char *full_path, size_t size);

enum os_file { OS_FILE_ABSENT, OS_FILE_DENIED, OS_FILE_READY };

/* Returns whether `path` exists and can be read, and also written if requested. Opens nothing. A sandbox can refuse the
 * question and not the file, or the file and not the question: so it is no proof that opening the file fails. */
enum os_file cush_os_file_state(const char *path, bool also_write);

/* Reads the start of a file as text, at most size - 1 bytes. Returns false if the file cannot be read or is not a
 * regular file. */
bool cush_os_file_read(const char *path, char *text, size_t size);

/* Calls a function for each line of a regular file. */
void cush_os_file_each_line(const char *path, void (*use)(const char *line, void *user), void *user);

/* Writes the last name of the path to which a symbolic link leads. Returns false if it is not a link. */
bool cush_os_link_name(const char *path, char *name, size_t size);

/* Writes the path of a file with all links resolved; it has OS_PATH_SIZE bytes. Returns false if it does not exist. */
bool cush_os_file_real_path(const char *path, char *real_path);

/* Calls `matches` for each name in a directory below `root` until it returns true. Returns whether it did. */
bool cush_os_directory_find(const char *root, const char *path,
                            bool (*matches)(const char *root, const char *path, const char *name, void *user),
                            void *user);

/* Appends the text to a file with one write, or writes it to stderr if the path is "stderr". A failure has no effect:
 * it raises no signal (a pipe without a reader) and waits for nothing (a FIFO without a reader). */
void cush_os_file_append(const char *path, const char *text, size_t size);

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

/* ---- os_obstacle.c: why CUDA cannot be initialised ---- */

/* What the operating system refuses to a driver while CUDA initialises; CUSHIM_REASON_NONE: nothing that is known. */
struct os_obstacle {
    enum cushim_reason reason;
    char message[192]; /* "": that of the reason */
};

/*
 * Call it after a cuInit that returned `code`. Tries the operations that can be its cause, in the order of cuInit: it
 * opens /dev/nvidiactl and /dev/nvidia-uvm below `root`, creates descriptors, and so on. Undoes all of them. Where a
 * seccomp filter can end the process, it makes only system calls that every process makes.
 */
CUSHIM_COLD struct os_obstacle cush_os_obstacle_find(const char *root, CUresult code);

/* Returns whether this process has the file open, perhaps since before a fork(). */
bool cush_os_file_is_open(const char *path);

/* ---- os_system.c: the load lock, the environment and the process ---- */

/*
 * The only lock of the loader; it guards loading. A fork() waits for a limited time until the lock is free, and
 * afterwards the lock is free in both processes. A fork() on the thread that holds the lock (in the constructor of a
 * library) does not wait.
 */
void cush_os_load_lock(void);
void cush_os_load_unlock(void);

/* Returns whether this thread holds the load lock. */
bool cush_os_load_lock_is_mine(void);

/* Returns the value of an environment variable, or NULL. `name` is a constant, and the caller holds the load lock. The
 * value is valid until the environment changes or until the next call with the same name. */
const char *cush_os_environment(const char *name);

/* Returns whether the process has more rights than its user. Then the environment variables are ignored. */
bool cush_os_privileged(void);

/* Returns the number of this process. */
unsigned long cush_os_process(void);

/* Whether the system has a file for each device (/dev/nvidia0), which shows that the device exists and who may use
 * it. */
extern const bool cush_os_has_device_nodes;

#endif
