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

#include "settings.h"

static struct exec_settings settings;
static char shim_path[4096];
static struct stat shim_file;

/* The cookie of an object that is our library. Others have the address of their link map. */
enum { COOKIE_SHIM = 1 };

static bool shim_opens_driver; /* the next driver is the one that our library asked for */
static bool has_other_driver;

unsigned la_version(unsigned version)
{
    settings = exec_settings_read();
    if (settings.shim == NULL)
        return 0; /* the dynamic loader unloads this auditor */
    snprintf(shim_path, sizeof shim_path, "%s/libcuda.so.1", settings.shim);
    if (stat(shim_path, &shim_file) != 0)
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

char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag)
{
    (void)flag;
    if (*cookie == COOKIE_SHIM) {
        if (settings.driver != NULL && strcmp(name, settings.driver) == 0)
            shim_opens_driver = true;
        return (char *)name;
    }
    return is_driver_name(name) ? shim_path : (char *)name;
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

unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
    struct stat file;
    (void)namespace;
    if (strcmp(soname_of(map), "libcuda.so.1") != 0)
        return 0; /* no calls between objects are audited, so that they cost nothing */
    if (stat(map->l_name, &file) == 0 && file.st_dev == shim_file.st_dev && file.st_ino == shim_file.st_ino)
        *cookie = COOKIE_SHIM;
    else if (shim_opens_driver)
        shim_opens_driver = false;
    else
        has_other_driver = true;
    return 0;
}

void cushim_exec_end(void);
void cushim_exec_end(void)
{
    static const char line[] =
        "cushim: exec: this process also opened a CUDA driver under another name, which cushim does not reach\n";
    if (has_other_driver)
        (void)!write(STDERR_FILENO, line, sizeof line - 1);
}
