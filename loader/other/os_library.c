/* SPDX-License-Identifier: MIT */
/*
 * A POSIX system for which NVIDIA has no driver, such as macOS. Libraries are opened for layers alone. The functions
 * that only a driver needs find nothing.
 */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* for the tests on Linux: dladdr, RTLD_NOLOAD */
#endif
#include "../os.h"

#include <dlfcn.h>
#include <stdio.h>

const bool cush_os_has_driver = false;
const bool cush_os_has_device_nodes = false;
const char cush_os_library_driver_name[] = "libcuda.so.1";
const char cush_os_library_list_separator = ':';

enum os_library_result cush_os_library_open(const char *name, void **out_library, char *error, size_t error_size)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library != NULL) {
        *out_library = library;
        return OS_LIBRARY_OPEN;
    }
    const char *reason = dlerror();
    snprintf(error, error_size, "%s", reason != NULL ? reason : "cannot be opened");
    return OS_LIBRARY_UNLOADABLE;
}

void *cush_os_library_open_mapped(const char *name)
{
    (void)name;
    return NULL;
}

void *cush_os_library_open_again(const char *start, size_t index)
{
    (void)start;
    (void)index;
    return NULL;
}

void cush_os_library_each(void (*use)(const char *path, enum os_object kind, void *user), void *user)
{
    (void)use;
    (void)user;
}

void cush_os_library_close(void *library)
{
    dlclose(library);
}

void cush_os_library_make_global(const char *path)
{
    (void)path;
}

/* The handle stays open. Some systems lack the flags; there, opening an object that is mapped has the same effect. */
bool cush_os_library_pin_self(void)
{
    static bool is_pinned;
    Dl_info self;
    int flags = RTLD_LAZY;
#if defined(RTLD_NOLOAD) && defined(RTLD_NODELETE)
    flags |= RTLD_NOLOAD | RTLD_NODELETE;
#endif
    if (is_pinned || dladdr(&is_pinned, &self) == 0)
        return is_pinned;
    is_pinned = dlopen(self.dli_fname, flags) != NULL;
    if (!is_pinned)
        dlerror(); /* clear the message, which the program's next dlerror() would return */
    return is_pinned;
}

void cush_os_library_each_directory(const char *start, void (*use)(const char *directory, void *user), void *user)
{
    (void)start, (void)use, (void)user;
}

cushim_fn cush_os_library_symbol(void *library, const char *name)
{
    union {
        void *object;
        cushim_fn function;
    } address = {dlsym(library, name)};
    if (address.object == NULL)
        dlerror();
    return address.function;
}

void cush_os_library_path(void *library, cushim_fn address, char *path, size_t size)
{
    (void)library, (void)address, (void)size;
    path[0] = '\0';
}

const char *cush_os_library_symbol_name(void *library, cushim_fn address)
{
    (void)library, (void)address;
    return NULL;
}

struct os_obstacle cush_os_obstacle_find(const char *root, CUresult code, unsigned others)
{
    (void)root, (void)code, (void)others;
    return (struct os_obstacle){.reason = CUSHIM_REASON_NONE, .message = ""};
}

bool cush_os_file_is_open(const char *path)
{
    (void)path;
    return false;
}
