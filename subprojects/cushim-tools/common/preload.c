/* SPDX-License-Identifier: MIT */
/* Objects that the dynamic loader puts before every other one, and that define functions of the driver. */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include "selected_driver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "platform.h"

#if defined(__linux__)
#    include <dlfcn.h>
#    include <elf.h>
#    include <fcntl.h>
#    include <unistd.h>

/* Without stdio, which needs memory. */
static bool read_at(int file, uint64_t at, void *bytes, size_t size)
{
    return pread(file, bytes, size, (off_t)at) == (ssize_t)size;
}

/* "cuInit", but not "curl_easy_init" or "cudaMalloc". */
static bool is_driver_function(const char *name)
{
    return name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z';
}

/* Writes a function of the driver that the symbols of a section define; cuInit, if it is one of them. */
static void read_symbols(int file, const Elf64_Shdr *symbols, const Elf64_Shdr *strings, char *function, size_t size)
{
    Elf64_Sym symbol;
    char name[64];
    for (uint64_t i = 1; i < symbols->sh_size / sizeof symbol && strcmp(function, "cuInit") != 0; i++) {
        if (!read_at(file, symbols->sh_offset + i * sizeof symbol, &symbol, sizeof symbol))
            return;
        ssize_t length = symbol.st_shndx != SHN_UNDEF
                             ? pread(file, name, sizeof name - 1, (off_t)(strings->sh_offset + symbol.st_name))
                             : 0;
        name[length > 0 ? length : 0] = '\0';
        if (is_driver_function(name) && (function[0] == '\0' || strcmp(name, "cuInit") == 0))
            snprintf(function, size, "%s", name);
    }
}

static void read_object(int file, char *function, size_t size)
{
    Elf64_Ehdr header;
    Elf64_Shdr section, strings;
    if (!read_at(file, 0, &header, sizeof header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0
        || header.e_ident[EI_CLASS] != ELFCLASS64)
        return;
    for (uint64_t i = 0; i < header.e_shnum; i++) {
        if (read_at(file, header.e_shoff + i * sizeof section, &section, sizeof section)
            && section.sh_type == SHT_DYNSYM
            && read_at(file, header.e_shoff + section.sh_link * sizeof section, &strings, sizeof strings))
            read_symbols(file, &section, &strings, function, size);
    }
}

/* Adds an object that stands before the driver, or may do so. A name without a path is left out. */
static size_t preload_add(const char *root, const char *path, const char *through, struct preloaded *list, size_t count)
{
    char whole[OS_PATH_SIZE];
    struct preloaded *preloaded = &list[count];
    if (count == MAX_PRELOADED || path[0] != '/' || !cush_os_path_below(root, path, whole, sizeof whole)
        || (platform_exists(whole) && !platform_is_file(whole)))
        return count;
    *preloaded = (struct preloaded){.through = through};
    snprintf(preloaded->path, sizeof preloaded->path, "%.*s", (int)sizeof preloaded->path - 1, path);
    int file = open(whole, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    preloaded->error = file < 0 ? errno : 0;
    if (file >= 0) {
        read_object(file, preloaded->function, sizeof preloaded->function);
        close(file);
    }
    return count + (preloaded->error != 0 || preloaded->function[0] != '\0');
}

size_t preload_list(const char *root, const struct preloaded **out_list)
{
    static struct preloaded list[MAX_PRELOADED];
    static const char system[] = "/etc/ld.so.preload", variable[] = "LD_PRELOAD";
    char text[4096];
    char item[PLATFORM_PATH_SIZE], whole[OS_PATH_SIZE];
    size_t count = 0;
    *out_list = list;
    const char *rest = root == NULL || root[0] == '\0' ? getenv(variable) : NULL;
    root = root != NULL ? root : "";
    while (text_next_item(&rest, ": ", item, sizeof item))
        count = preload_add(root, item, variable, list, count);
    rest = cush_os_path_below(root, system, whole, sizeof whole) && cush_os_file_read(whole, text, sizeof text) ? text
                                                                                                                : NULL;
    while (text_next_item(&rest, " \t\n:", item, sizeof item))
        count = preload_add(root, item, system, list, count);
    return count;
}

/* A preloaded object can also give its own functions to dlsym(). */
bool preload_has_cuinit(char *path, size_t size)
{
    Dl_info info;
    char own[PLATFORM_PATH_SIZE], real[PLATFORM_PATH_SIZE];
    const char *driver = driver_diagnosis()->path;
    void *address =
        dlsym(RTLD_DEFAULT, "cuInit"); /* of the driver only if a program is linked to it: this one is not */
    if (driver == NULL || address == NULL || dladdr(address, &info) == 0 || info.dli_fname == NULL
        || !platform_real_path(info.dli_fname, own, sizeof own) || !platform_real_path(driver, real, sizeof real)
        || strcmp(own, real) == 0)
        return false;
    snprintf(path, size, "%s", own);
    return true;
}
#else
size_t preload_list(const char *root, const struct preloaded **out_list)
{
    (void)root;
    *out_list = NULL;
    return 0;
}

bool preload_has_cuinit(char *path, size_t size)
{
    (void)path, (void)size;
    return false;
}
#endif
