/* SPDX-License-Identifier: MIT */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* dladdr, RTLD_NOLOAD */
#endif
#include "../os_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "file_check.h"

const char cush_os_library_driver_name[] = "libcuda.so.1";

#if defined(CUSHIM_ELF_SECTION)
/*
 * Tells packagers' tools of the optional dependency, which no DT_NEEDED shows: an ELF note as systemd's "dlopen()
 * Metadata for ELF Files" defines it. readelf -p .note.dlopen prints it.
 */
#    define NOTE_JSON                                                                                                  \
        "[{\"soname\":[\"libcuda.so.1\"],\"feature\":\"cuda\",\"description\":\"GPU computing with NVIDIA's driver\"," \
        "\"priority\":\"suggested\"}]"

CUSHIM_ELF_SECTION(".note.dlopen")
static const _Alignas(4) struct {
    uint32_t name_size, json_size, type;
    char name[4];
    _Alignas(4) char json[sizeof NOTE_JSON];
} dlopen_note = {4, sizeof NOTE_JSON, 0x407c0c0a, "FDO", NOTE_JSON};
#endif

/* RTLD_NOW: a library that lacks something is refused here, not in the middle of a call. */
enum { OPEN_FLAGS = RTLD_NOW | RTLD_LOCAL };

/* What the dynamic loader's words mean; it has nothing else for the cause. They name the library that is absent, which
 * may be one that `name` needs. */
static enum os_library_result classify(const char *words, const char *name)
{
    if (strstr(words, strerror(ENOENT)) != NULL && strstr(words, name) != NULL && strstr(words, "needed by") == NULL)
        return OS_LIBRARY_ABSENT;
    if (strstr(words, strerror(EACCES)) != NULL)
        return OS_LIBRARY_UNREADABLE;
#if defined(__linux__) && !defined(__GLIBC__)
    /* All that NVIDIA builds for Linux needs glibc. What is not a library at all is another matter. */
    return strstr(words, strerror(ENOEXEC)) != NULL ? OS_LIBRARY_UNLOADABLE : OS_LIBRARY_OTHER_LIBC;
#else
    return strstr(words, strerror(ENOENT)) != NULL ? OS_LIBRARY_NEEDS_LIBRARY : OS_LIBRARY_UNLOADABLE;
#endif
}

/* A program that is linked statically to musl has a dlopen() that always fails. */
static bool can_open_libraries(void)
{
    void *program = dlopen(NULL, RTLD_LAZY);
    if (program == NULL)
        dlerror(); /* leave no words behind for the program's next dlerror() */
    else
        dlclose(program);
    return program != NULL;
}

/* The loader's words begin with the path, which the reader knows. */
static const char *library_error_without_path(const char *words, const char *name)
{
    size_t length = strlen(name);
    return strncmp(words, name, length) == 0 && strncmp(words + length, ": ", 2) == 0 ? words + length + 2 : words;
}

enum os_library_result cush_os_library_open(const char *name, void **out_library, char *error, size_t error_size)
{
    bool is_damaged = false;
    const char *fault = strchr(name, '/') != NULL ? cush_file_check(name, &is_damaged) : NULL;
    if (fault != NULL) {
        snprintf(error, error_size, "%s", fault);
        return is_damaged ? OS_LIBRARY_DAMAGED : OS_LIBRARY_UNLOADABLE;
    }
    void *library = dlopen(name, OPEN_FLAGS);
    if (library != NULL) {
        *out_library = library;
        return OS_LIBRARY_OPEN;
    }
    const char *words = dlerror();
    if (words == NULL)
        words = "cannot be opened";
    snprintf(error, error_size, "%s", library_error_without_path(words, name));
    enum os_library_result result = classify(words, name);
    return result == OS_LIBRARY_ABSENT || can_open_libraries() ? result : OS_LIBRARY_STATIC_PROGRAM;
}

void *cush_os_library_open_mapped(const char *name)
{
    bool is_damaged;
    if (strchr(name, '/') != NULL && cush_file_check(name, &is_damaged) != NULL)
        return NULL;
    void *library = dlopen(name, OPEN_FLAGS | RTLD_NOLOAD);
    if (library == NULL)
        dlerror(); /* leave no words behind for the program's next dlerror() */
    return library;
}

void cush_os_library_close(void *library)
{
    dlclose(library);
}

/* The mapped object that contains an address. */
struct own_object {
    uintptr_t address;
    const char *name;
};

static int find_own_object(struct dl_phdr_info *object, size_t size, void *found)
{
    struct own_object *own = found;
    (void)size;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        uintptr_t start = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
        if (object->dlpi_phdr[i].p_type == PT_LOAD && own->address - start < object->dlpi_phdr[i].p_memsz) {
            own->name = object->dlpi_name;
            return 1;
        }
    }
    return 0;
}

/*
 * The dynamic loader finds the object again by the name under which it mapped it, even if that file is gone. In glibc
 * the program itself has no name, and it is never unmapped; a static program has nothing to unmap, and musl unmaps
 * nothing. dladdr() would search the symbols of the object, and would name the program by argv[0], which may be
 * anything.
 */
void cush_os_library_pin_self(void)
{
    static bool pinned;
    struct own_object own = {.address = (uintptr_t)&pinned, .name = NULL};
    if (pinned)
        return;
    pinned = true;
    dl_iterate_phdr(find_own_object, &own);
    if (own.name == NULL || own.name[0] == '\0')
        return;
    /* Lazy, so that nothing is bound anew. The handle stays open. */
    if (dlopen(own.name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) == NULL)
        dlerror();
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

static bool library_find_address(cushim_fn function, Dl_info *info)
{
    union {
        cushim_fn function;
        void *object;
    } address = {function};
    return function != NULL && dladdr(address.object, info) != 0;
}

void cush_os_library_path(void *library, cushim_fn address, char *path, size_t size)
{
    const struct link_map *map;
    Dl_info info;
    const char *file = "";
    if (library != NULL && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0)
        file = map->l_name;
    else if (library_find_address(address, &info) && info.dli_fname != NULL) /* goes through the library's symbols */
        file = info.dli_fname;
    snprintf(path, size, "%s", file);
}

const char *cush_os_library_symbol_name(void *library, cushim_fn address)
{
    Dl_info info;
    struct link_map *map;
    if (!library_find_address(address, &info) || info.dli_sname == NULL)
        return NULL;
    /* A library's handle is asked for a name together with what it needs, libc say, which is not meant. A handle
     * without a file is the whole program's. */
    bool has_file = dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map->l_name[0] != '\0';
    if (has_file && strcmp(map->l_name, info.dli_fname) != 0)
        return NULL;
    /* dladdr gives the nearest name; it is the address's own only if the library resolves it back to the same place. */
    return cush_os_library_symbol(library, info.dli_sname) == address ? info.dli_sname : NULL;
}
