/* SPDX-License-Identifier: MIT */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* dladdr, RTLD_NOLOAD */
#endif
#include "../os_library.h"

#include <dlfcn.h>
#include <errno.h>
#if defined(__GLIBC__)
#    include <gnu/lib-names.h>
#endif
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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

/*
 * Tells "there is no such library" from "there is one, but": the loader has only words for it. They name the library
 * that is absent, which may be one that `name` needs.
 */
static bool library_error_says_absent(const char *words, const char *name)
{
    return strstr(words, strerror(ENOENT)) != NULL && strstr(words, name) != NULL && strstr(words, "needed by") == NULL;
}

/* The loader's words begin with the path, which the reader knows. */
static const char *library_error_without_path(const char *words, const char *name)
{
    size_t length = strlen(name);
    return strncmp(words, name, length) == 0 && strncmp(words + length, ": ", 2) == 0 ? words + length + 2 : words;
}

/* How many libraries this process has ever mapped; 0 where that is not told. */
static unsigned long long library_count_mapped(void);

#if defined(__GLIBC__)
static int library_take_count(struct dl_phdr_info *object, size_t size, void *out_count)
{
    (void)size;
    *(unsigned long long *)out_count = object->dlpi_adds;
    return 1;
}

static unsigned long long library_count_mapped(void)
{
    unsigned long long count = 0;
    dl_iterate_phdr(library_take_count, &count);
    return count;
}
#else
static unsigned long long library_count_mapped(void)
{
    return 0;
}
#endif

/*
 * Whether a search for a bare name came to nothing, told without the loader's words: glibc's dlerror() takes an eighth
 * of the time of the search itself. A library that was mapped, and lacks something, counts. What cannot be mapped does
 * not: the known places show it, and on the library path it is worth the words.
 */
static bool library_found_nothing(const char *name, unsigned long long mapped_before)
{
    const char *library_path = getenv("LD_LIBRARY_PATH");
    return strchr(name, '/') == NULL && (library_path == NULL || library_path[0] == '\0') && mapped_before != 0
           && library_count_mapped() == mapped_before;
}

/* Leaves no words behind for the program's next dlerror(): what succeeds forgets them, and this is little work. */
static void library_forget_error(void)
{
#if defined(__GLIBC__)
    void *library = dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD);
    if (library != NULL)
        dlclose(library);
    else
#endif
        dlerror();
}

enum os_library_result cush_os_library_open(const char *name, bool brief, void **out_library, char *error,
                                            size_t error_size)
{
    const char *fault = strchr(name, '/') != NULL ? cush_file_check(name) : NULL;
    if (fault != NULL) {
        snprintf(error, error_size, "%s", fault);
        return OS_LIBRARY_UNLOADABLE;
    }
    unsigned long long mapped_before = brief ? library_count_mapped() : 0;
    void *library = dlopen(name, OPEN_FLAGS);
    if (library != NULL) {
        *out_library = library;
        return OS_LIBRARY_OPEN;
    }
    if (brief && library_found_nothing(name, mapped_before)) {
        library_forget_error();
        error[0] = '\0';
        return OS_LIBRARY_ABSENT;
    }
    const char *words = dlerror();
    if (words == NULL)
        words = "cannot be opened";
    snprintf(error, error_size, "%s", library_error_without_path(words, name));
    return library_error_says_absent(words, name) ? OS_LIBRARY_ABSENT : OS_LIBRARY_UNLOADABLE;
}

void *cush_os_library_open_mapped(const char *name)
{
    if (strchr(name, '/') != NULL && cush_file_check(name) != NULL)
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
    size_t length = strlen(file);
    if (length > size - 1)
        length = size - 1;
    memcpy(path, file, length);
    path[length] = '\0';
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
