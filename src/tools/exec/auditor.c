/* SPDX-License-Identifier: MIT */
/*
 * An auditor of glibc's dynamic loader (rtld-audit(7)): whatever a program opens as libcuda.so, by a plain name or by a
 * path, becomes our libcuda.so.1. It lives in a namespace of its own, with its own C library.
 */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exec.h"

static struct exec_settings settings;
static char own_path[4096]; /* of our libcuda.so.1 */
static struct stat own_file;

unsigned la_version(unsigned version)
{
    settings = exec_settings_read();
    if (settings.names == NULL)
        return 0; /* the dynamic loader unloads this auditor */
    snprintf(own_path, sizeof own_path, "%s/libcuda.so.1", settings.names);
    if (stat(own_path, &own_file) != 0)
        return 0;
    return version < LAV_CURRENT ? version : LAV_CURRENT;
}

/* libcuda.so, libcuda.so.1 or libcuda.so.550.163.01, in any directory. */
static bool is_driver_name(const char *name)
{
    static const char stem[] = "libcuda.so";
    const char *slash = strrchr(name, '/');
    const char *file = slash != NULL ? slash + 1 : name;
    if (strncmp(file, stem, sizeof stem - 1) != 0)
        return false;
    file += sizeof stem - 1;
    return file[0] == '\0' || (file[0] == '.' && file[strspn(file, "0123456789.")] == '\0');
}

/* Our library asks for the driver by a spelling that no program uses. Do not test the caller: dlopen() may be
 * wrapped, as in a program with AddressSanitizer. */
static bool is_own_request(const char *name)
{
    return settings.driver != NULL && strcmp(name, settings.driver) == 0;
}

char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag)
{
    union {
        const char *constant;
        char *writable; /* the dynamic loader does not write to it */
    } same = {name};
    (void)cookie;
    (void)flag;
    return is_driver_name(name) && !is_own_request(name) ? own_path : same.writable;
}

static const char *soname_of(const struct link_map *map)
{
    const char *strings = NULL;
    ElfW(Addr) offset = 0;
    for (const ElfW(Dyn) *entry = map->l_ld; entry != NULL && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_STRTAB) {
            ElfW(Addr) address = entry->d_un.d_ptr;
            strings = (const char *)(address < map->l_addr ? map->l_addr + address : address);
        }
        if (entry->d_tag == DT_SONAME)
            offset = entry->d_un.d_val;
    }
    return strings != NULL && offset != 0 ? strings + offset : "";
}

/* Our library, and the driver as our library opens it, are as they should be. A path that dlmopen() opens gets here
 * without la_objsearch(). */
unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
    struct stat file;
    (void)namespace;
    (void)cookie;
    bool is_own = stat(map->l_name, &file) == 0 && file.st_dev == own_file.st_dev && file.st_ino == own_file.st_ino;
    if (strcmp(soname_of(map), "libcuda.so.1") == 0 && !is_own && !is_own_request(map->l_name))
        dprintf(STDERR_FILENO, "cushim: exec: this process opened a CUDA driver that is not redirected: %s\n",
                map->l_name);
    return 0; /* no calls between objects are audited, so that they cost nothing */
}
