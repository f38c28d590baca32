/* SPDX-License-Identifier: MIT */
/*
 * The calls of the C library that must not pass through the program, for the libraries of cushim in it: the one of
 * exec and the trace layer. A preloaded library can put functions of its own in front of those of the C library. One
 * that limits memory gives the program its own cuInit from dlsym(): if cushim got it, too, each of them would call the
 * other. One that watches files would see those of cushim.
 *
 * Within these libraries, the names below are defined here, and exported by none of them. README.md says why the other
 * calls stay those of the program.
 */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A shared object as its dynamic section describes it. */
struct elf_object {
    ElfW(Addr) base;
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *hashes;             /* DT_GNU_HASH */
    const ElfW(Half) * symbol_versions; /* or NULL */
};

/* In most systems the dynamic loader has added the base. */
static const void *elf_object_part(const struct elf_object *object, ElfW(Addr) address)
{
    return (const void *)(address < object->base ? object->base + address : address);
}

static struct elf_object elf_object_read(ElfW(Addr) base, const ElfW(Dyn) * entry)
{
    struct elf_object object = {.base = base};
    for (; entry->d_tag != DT_NULL; entry++) {
        const void *part = elf_object_part(&object, entry->d_un.d_ptr);
        if (entry->d_tag == DT_SYMTAB)
            object.symbols = part;
        else if (entry->d_tag == DT_STRTAB)
            object.strings = part;
        else if (entry->d_tag == DT_GNU_HASH)
            object.hashes = part;
        else if (entry->d_tag == DT_VERSYM)
            object.symbol_versions = part;
    }
    return object;
}

/* Returns the function in its newest version, or 0. */
static uintptr_t elf_object_find(const struct elf_object *object, const char *name)
{
    enum { HIDDEN = 0x8000 };
    uint32_t hash = 5381;
    for (const char *at = name; *at != '\0'; at++)
        hash = hash * 33 + (unsigned char)*at;
    const uint32_t buckets = object->hashes[0], first = object->hashes[1];
    const size_t filter_size = object->hashes[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *bucket = object->hashes + 4 + filter_size, *chain = bucket + buckets;
    for (uint32_t i = bucket[hash % buckets]; i >= first; i++) {
        const ElfW(Sym) *symbol = &object->symbols[i];
        bool is_hidden = object->symbol_versions != NULL && (object->symbol_versions[i] & HIDDEN) != 0;
        if ((chain[i - first] | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF && !is_hidden
            && strcmp(object->strings + symbol->st_name, name) == 0)
            return object->base + symbol->st_value;
        if ((chain[i - first] & 1) != 0)
            break;
    }
    return 0;
}

struct own_function {
    const char *name;
    uintptr_t address;
};

/* Before glibc 2.34, the functions of the dynamic loader are in libdl. */
static int own_function_look(struct dl_phdr_info *info, size_t size, void *user)
{
    struct own_function *wanted = user;
    const char *slash = strrchr(info->dlpi_name, '/'), *file = slash != NULL ? slash + 1 : info->dlpi_name;
    (void)size;
    if (strcmp(file, "libc.so.6") != 0 && strcmp(file, "libdl.so.2") != 0)
        return 0;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_DYNAMIC)
            continue;
        struct elf_object object =
            elf_object_read(info->dlpi_addr, (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
        if (object.hashes != NULL && object.symbols != NULL && object.strings != NULL)
            wanted->address = elf_object_find(&object, wanted->name);
    }
    return wanted->address != 0;
}

/* Threads that are here at the same time find the same. */
static uintptr_t own_find(atomic_uintptr_t *kept, const char *name)
{
    struct own_function wanted = {.name = name, .address = atomic_load_explicit(kept, memory_order_relaxed)};
    if (wanted.address == 0) {
        dl_iterate_phdr(own_function_look, &wanted);
        atomic_store_explicit(kept, wanted.address, memory_order_relaxed);
    }
    return wanted.address;
}

/* ---- the dynamic loader ---- */

#define OWN_CALL(type, name, parameters, arguments, failure)                                                           \
    type name parameters                                                                                               \
    {                                                                                                                  \
        static atomic_uintptr_t kept;                                                                                  \
        uintptr_t own = own_find(&kept, #name);                                                                        \
        return own != 0 ? ((type(*) parameters)own)arguments : (failure);                                              \
    }

OWN_CALL(void *, dlopen, (const char *path, int mode), (path, mode), NULL)
OWN_CALL(void *, dlsym, (void *library, const char *name), (library, name), NULL)
OWN_CALL(int, dlclose, (void *library), (library), -1)
OWN_CALL(char *, dlerror, (void), (), NULL)
OWN_CALL(int, dladdr, (const void *address, Dl_info *info), (address, info), 0)
OWN_CALL(int, dlinfo, (void *library, int request, void *information), (library, request, information), -1)

/* ---- files, on systems whose calls take such arguments ---- */

#if defined(__LP64__)

/* syscall() itself can be replaced, too. */
static long own_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    static atomic_uintptr_t kept;
    uintptr_t own = own_find(&kept, "syscall");
    return own != 0 ? ((long (*)(long, ...))own)(number, a, b, c, d, e, f) : syscall(number, a, b, c, d, e, f);
}

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
    va_end(more);
    return (int)own_syscall(SYS_openat, AT_FDCWD, (long)path, flags, (long)mode, 0, 0);
}

int close(int file)
{
    return (int)own_syscall(SYS_close, file, 0, 0, 0, 0, 0);
}

ssize_t read(int file, void *data, size_t size)
{
    return own_syscall(SYS_read, file, (long)data, (long)size, 0, 0, 0);
}

ssize_t write(int file, const void *data, size_t size)
{
    return own_syscall(SYS_write, file, (long)data, (long)size, 0, 0, 0);
}

ssize_t pread(int file, void *data, size_t size, off_t at)
{
    return own_syscall(SYS_pread64, file, (long)data, (long)size, at, 0, 0);
}

ssize_t pwrite(int file, const void *data, size_t size, off_t at)
{
    return own_syscall(SYS_pwrite64, file, (long)data, (long)size, at, 0, 0);
}

int ftruncate(int file, off_t size)
{
    return (int)own_syscall(SYS_ftruncate, file, size, 0, 0, 0, 0);
}

void *mmap(void *address, size_t size, int protection, int flags, int file, off_t at)
{
    return (void *)own_syscall(SYS_mmap, (long)address, (long)size, protection, flags, file, at);
}
#endif
