/* SPDX-License-Identifier: MIT */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* dladdr, RTLD_NOLOAD */
#endif
#include "../os.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "file_check.h"

const bool cush_os_has_driver = true;
const char cush_os_library_driver_name[] = "libcuda.so.1";
const char cush_os_library_list_separator = ':';

#if defined(CUSHIM_ELF_SECTION)
/*
 * An ELF note for packaging tools about the optional dependency, which no DT_NEEDED shows. systemd's specification
 * "dlopen() Metadata for ELF Files" defines it. readelf -p .note.dlopen prints it.
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

#if !defined(__GLIBC__)
#    define HAS_MUSL true
#else
#    define HAS_MUSL false
#endif

/* RTLD_NOW: a library with an undefined symbol is refused here, not during a later call. */
enum { OPEN_FLAGS = RTLD_NOW | RTLD_LOCAL };

/* Finds the cause of an error in the message of dlerror(), the only source of it. The message names the library that is
 * absent, which may be one that `name` needs. */
static enum os_library_result library_classify_error(const char *message, const char *name)
{
    if (strstr(message, strerror(ENOENT)) != NULL && strstr(message, name) != NULL
        && strstr(message, "needed by") == NULL)
        return OS_LIBRARY_ABSENT;
    if (strstr(message, "GLIBC_") != NULL) /* a version that the C library of this process lacks */
        return OS_LIBRARY_OTHER_LIBC;
    if (strstr(message, "executable stack") != NULL) /* before EACCES, which can be the cause */
        return OS_LIBRARY_EXECUTABLE_STACK;
    if (strstr(message, strerror(EACCES)) != NULL)
        return OS_LIBRARY_UNREADABLE;
    /* Every library that NVIDIA builds for Linux needs glibc. A file that is not a library, or that the kernel does not
     * map, has another reason. */
    if (HAS_MUSL)
        return strstr(message, strerror(ENOEXEC)) != NULL || strstr(message, strerror(EPERM)) != NULL
                       || strstr(message, strerror(ENOMEM)) != NULL
                   ? OS_LIBRARY_UNLOADABLE
                   : OS_LIBRARY_OTHER_LIBC;
    return strstr(message, strerror(ENOENT)) != NULL ? OS_LIBRARY_NEEDS_LIBRARY : OS_LIBRARY_UNLOADABLE;
}

/* A program that is linked statically to musl has a dlopen() that always fails. */
static bool library_opening_works(void)
{
    void *program = dlopen(NULL, RTLD_LAZY);
    if (program == NULL)
        dlerror(); /* clear the message, which the program's next dlerror() would return */
    else
        dlclose(program);
    return program != NULL;
}

static const char *text_without_start(const char *text, const char *start)
{
    size_t length = strlen(start);
    return strncmp(text, start, length) == 0 && strncmp(text + length, ": ", 2) == 0 ? text + length + 2 : text;
}

/* The message of dlerror() begins with the path and the failure, which the attempt already contains. */
static const char *library_error_without_path(const char *message, const char *name)
{
    static const char musl[] = "Error loading shared library ";
    if (strncmp(message, musl, sizeof musl - 1) == 0)
        message += sizeof musl - 1;
    const char *rest = text_without_start(message, name);
    return rest != message ? text_without_start(rest, "cannot open shared object file") : message;
}

enum os_library_result cush_os_library_open(const char *name, void **out_library, char *error, size_t error_size)
{
    enum os_library_result checked;
    const char *fault = strchr(name, '/') != NULL ? cush_file_check(name, &checked) : NULL;
    if (fault != NULL) {
        snprintf(error, error_size, "%s", fault);
        return checked;
    }
    void *library = dlopen(name, OPEN_FLAGS);
    if (library != NULL) {
        *out_library = library;
        return OS_LIBRARY_OPEN;
    }
    const char *message = dlerror();
    if (message == NULL)
        message = "cannot be opened";
    snprintf(error, error_size, "%s", library_error_without_path(message, name));
    enum os_library_result result = library_classify_error(message, name);
    return result == OS_LIBRARY_ABSENT || library_opening_works() ? result : OS_LIBRARY_STATIC_PROGRAM;
}

void *cush_os_library_open_mapped(const char *name)
{
    enum os_library_result unused;
    if (strchr(name, '/') != NULL && cush_file_check(name, &unused) != NULL)
        return NULL;
    void *library = dlopen(name, OPEN_FLAGS | RTLD_NOLOAD);
    if (library == NULL)
        dlerror(); /* clear the message, which the program's next dlerror() would return */
    return library;
}

void cush_os_library_close(void *library)
{
    dlclose(library);
}

/* Which of the mapped objects is sought, and its path. */
struct library_search {
    const char *start;
    size_t index;
    char path[OS_PATH_SIZE];
};

static CUSHIM_COLD int library_search_find(struct dl_phdr_info *object, size_t size, void *user)
{
    struct library_search *search = user;
    const char *slash = object->dlpi_name != NULL ? strrchr(object->dlpi_name, '/') : NULL;
    (void)size;
    if (slash == NULL || strncmp(slash + 1, search->start, strlen(search->start)) != 0 || search->index-- > 0)
        return 0;
    snprintf(search->path, sizeof search->path, "%s", object->dlpi_name);
    return 1;
}

/* glibc compares a name with those of the open objects before it looks for a file: here, there is always one. */
CUSHIM_COLD void *cush_os_library_open_again(const char *start, size_t index)
{
    struct library_search search = {.start = start, .index = index, .path = ""};
    if (dl_iterate_phdr(library_search_find, &search) == 0)
        return NULL;
    void *library = dlopen(search.path, RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL)
        dlerror(); /* clear the message, which the program's next dlerror() would return */
    return library;
}

void cush_os_library_make_global(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
    if (library != NULL)
        dlclose(library); /* it stays open, and global, for its other user */
    else
        dlerror(); /* clear the message, which the program's next dlerror() would return */
}

static bool object_contains(const struct dl_phdr_info *object, uintptr_t address)
{
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        uintptr_t start = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
        if (object->dlpi_phdr[i].p_type == PT_LOAD && address - start < object->dlpi_phdr[i].p_memsz)
            return true;
    }
    return false;
}

/* The mapped object that contains an address. */
struct own_object {
    uintptr_t address;
    const char *name;
};

static int own_object_find(struct dl_phdr_info *object, size_t size, void *found)
{
    struct own_object *own = found;
    (void)size;
    if (!object_contains(object, own->address))
        return 0;
    own->name = object->dlpi_name;
    return 1;
}

/*
 * The dynamic loader finds the object again by the name under which it mapped the object, even if the file no longer
 * exists. In glibc the program itself has no name and is never unmapped. A static program has nothing to unmap, and
 * musl never unmaps. dladdr() would search the symbols of the object and would name the program by argv[0], which can
 * be any text.
 */
CUSHIM_COLD bool cush_os_library_pin_self(void)
{
    static bool pinned = HAS_MUSL;
    struct own_object own = {.address = (uintptr_t)&pinned, .name = NULL};
    if (pinned)
        return true;
    dl_iterate_phdr(own_object_find, &own);
    /* Lazy, so that no symbol is bound again. The handle stays open. */
    pinned =
        own.name == NULL || own.name[0] == '\0' || dlopen(own.name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) != NULL;
    if (!pinned)
        dlerror();
    return pinned;
}

struct object_visit {
    void (*use)(const char *path, enum os_object kind, void *user);
    void *user;
};

/* The program has no path here, or, in musl, whatever it was started with. */
static CUSHIM_COLD int object_visit(struct dl_phdr_info *object, size_t size, void *user)
{
    static const char own[] = "";
    const struct object_visit *visit = user;
    (void)size;
    if (object->dlpi_name != NULL && object->dlpi_name[0] == '/')
        visit->use(object->dlpi_name, object_contains(object, (uintptr_t)own) ? OS_OBJECT_OWN : OS_OBJECT_LIBRARY,
                   visit->user);
    return 0;
}

void cush_os_library_each(void (*use)(const char *path, enum os_object kind, void *user), void *user)
{
    struct object_visit visit = {use, user};
    char program[OS_PATH_SIZE];
    if (cush_os_file_real_path("/proc/self/exe", program))
        use(program, OS_OBJECT_PROGRAM, user);
    dl_iterate_phdr(object_visit, &visit);
}

#if defined(__GLIBC__)
/* RPATH and RUNPATH, LD_LIBRARY_PATH at the start of the process, and the default directories. */
static void directories_of_loader(void *object, void (*use)(const char *directory, void *user), void *user)
{
    Dl_serinfo size, *all = NULL;
    if (dlinfo(object, RTLD_DI_SERINFOSIZE, &size) == 0)
        all = malloc(size.dls_size);
    if (all != NULL && dlinfo(object, RTLD_DI_SERINFOSIZE, all) == 0 && dlinfo(object, RTLD_DI_SERINFO, all) == 0) {
        for (unsigned i = 0; i < all->dls_cnt; i++)
            use(all->dls_serpath[i].dls_name, user);
    }
    free(all);
}

/* The cache has the paths of the libraries as strings. It is not read by fopen(), which in a program can be another one
 * than that of the C library. */
static void directories_of_cache(const char *start, void (*use)(const char *directory, void *user), void *user)
{
    static const char path[] = "/etc/ld.so.cache";
    struct stat status;
    size_t size = stat(path, &status) == 0 ? (size_t)status.st_size + 1 : 0;
    char *cache = size > 0 ? calloc(1, size) : NULL;
    bool is_read = cache != NULL && cush_os_file_read(path, cache, size);
    for (char *text = cache, *next; is_read && text < cache + size; text = next) {
        char *slash = text[0] == '/' ? strrchr(text, '/') : NULL;
        next = text + strlen(text) + 1;
        if (slash == NULL || strncmp(slash + 1, start, strlen(start)) != 0)
            continue;
        *slash = '\0';
        use(text, user);
    }
    free(cache);
}
#endif

void cush_os_library_each_directory(const char *start, void (*use)(const char *directory, void *user), void *user)
{
#if defined(__GLIBC__)
    struct own_object own = {.address = (uintptr_t)&cush_os_library_list_separator, .name = NULL};
    dl_iterate_phdr(own_object_find, &own);
    void *object = dlopen(own.name != NULL && own.name[0] != '\0' ? own.name : NULL, RTLD_LAZY | RTLD_NOLOAD);
    if (object != NULL) {
        directories_of_loader(object, use, user);
        dlclose(object);
    }
    dlerror(); /* clear the message, which the program's next dlerror() would return */
    directories_of_cache(start, use, user);
#else
    (void)start, (void)use, (void)user;
#endif
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

CUSHIM_COLD void cush_os_library_path(void *library, cushim_fn address, char *path, size_t size)
{
    const struct link_map *map;
    Dl_info info;
    const char *file = "";
    if (library != NULL && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0)
        file = map->l_name;
    else if (library_find_address(address, &info) && info.dli_fname != NULL) /* searches the symbols of the library */
        file = info.dli_fname;
    snprintf(path, size, "%s", file);
}

CUSHIM_COLD const char *cush_os_library_symbol_name(void *library, cushim_fn address)
{
    Dl_info info;
    struct link_map *map;
    if (!library_find_address(address, &info) || info.dli_sname == NULL)
        return NULL;
    /* dlsym() also searches the libraries that `library` needs, such as libc; their names do not count. A handle
     * without a file is that of the program. */
    bool has_file = dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map->l_name[0] != '\0';
    if (has_file && strcmp(map->l_name, info.dli_fname) != 0)
        return NULL;
    /* dladdr() returns the nearest name. It is the name of this address only if dlsym() returns the address for it. */
    return cush_os_library_symbol(library, info.dli_sname) == address ? info.dli_sname : NULL;
}
