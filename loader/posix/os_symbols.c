/* SPDX-License-Identifier: MIT */
/*
 * With glibc, most of what a load costs beyond dlopen() is dlsym(): its lock, its error frame and its search of the
 * dependencies, some 100 to 170 ns for each of 400 names. So the library's own GNU hash table is read instead, in a
 * third of the time. dlsym() is asked for whatever is not plain, and for everything where somebody has taken its place:
 * tools that stand between programs and their driver do so, and are to be obeyed.
 */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* dlinfo, dl_iterate_phdr */
#endif
#include "../os_symbols.h"

#include <string.h>

#if defined(__GLIBC__)

#    include <dlfcn.h>
#    include <link.h>
#    include <stdint.h>
#    include <stdlib.h>

/* ---- Is dlsym() the loader's own? ---- */

static bool holds(const struct dl_phdr_info *object, uintptr_t address)
{
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && address - object->dlpi_addr - segment->p_vaddr < segment->p_memsz)
            return true;
    }
    return false;
}

/* Who replaces dlsym() leaves dlinfo() alone, so the two are then in different objects. In this code's own object are
 * neither, but where an executable has its addresses stand for theirs, and then nothing can be told. */
static int judge(struct dl_phdr_info *object, size_t size, void *out_is_original)
{
    (void)size;
    bool one = holds(object, (uintptr_t)dlsym);
    bool other = holds(object, (uintptr_t)dlinfo);
    *(bool *)out_is_original = one && other && !holds(object, (uintptr_t)judge);
    return one || other;
}

static bool dlsym_is_original(void)
{
    bool is_original = false;
    dl_iterate_phdr(judge, &is_original);
    return is_original && getenv("LD_AUDIT") == NULL; /* an auditor may answer for dlsym(), too */
}

/* ---- The table ---- */

/* The loader has made addresses of the offsets in a dynamic section, but where it cannot write. */
static const void *at(const struct link_map *map, ElfW(Addr) address)
{
    return (const void *)(address < map->l_addr ? map->l_addr + address : address);
}

void cush_os_symbols_open(struct os_symbols *symbols, void *library)
{
    const struct link_map *map;
    memset(symbols, 0, sizeof *symbols);
    symbols->library = library;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || !dlsym_is_original())
        return;
    const void *table = NULL;
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        switch (entry->d_tag) {
        case DT_SYMTAB:
            table = at(map, entry->d_un.d_ptr);
            break;
        case DT_STRTAB:
            symbols->names = at(map, entry->d_un.d_ptr);
            break;
        case DT_VERSYM:
            symbols->versions = at(map, entry->d_un.d_ptr);
            break;
        case DT_GNU_HASH:
            symbols->hash = at(map, entry->d_un.d_ptr);
            break;
        default:
            break;
        }
    }
    symbols->base = (const char *)map->l_addr;
    if (symbols->names != NULL && symbols->hash != NULL)
        symbols->table = table;
}

/* A function that this library has, not hidden behind a version, and not chosen by the loader at run time. */
static bool is_plain(const struct os_symbols *symbols, uint32_t index)
{
    enum { HIDDEN = 0x8000 };
    const ElfW(Sym) *symbol = (const ElfW(Sym) *)symbols->table + index;
    const ElfW(Half) *versions = symbols->versions;
    return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL
           && ELF64_ST_VISIBILITY(symbol->st_other) == STV_DEFAULT && symbol->st_shndx != SHN_UNDEF
           && symbol->st_shndx != SHN_ABS && (versions == NULL || (versions[index] & HIDDEN) == 0);
}

/* The symbol's index, or 0, which is none's. The table: a head, a Bloom filter, the buckets, and for each symbol a hash
 * whose last bit ends the bucket. */
static uint32_t find(const struct os_symbols *symbols, const char *name)
{
    const uint32_t *head = symbols->hash;
    uint32_t bucket_count = head[0];
    uint32_t first = head[1];
    const uint32_t *buckets = head + 4 + head[2] * (sizeof(ElfW(Addr)) / sizeof *head);
    const uint32_t *hashes = buckets + bucket_count;

    if (bucket_count == 0)
        return 0;
    uint32_t hash = 5381;
    for (const char *c = name; *c != '\0'; c++)
        hash = hash * 33 + (unsigned char)*c;
    uint32_t index = buckets[hash % bucket_count];
    if (index < first)
        return 0;
    for (;; index++) {
        uint32_t other = hashes[index - first];
        const ElfW(Sym) *symbol = (const ElfW(Sym) *)symbols->table + index;
        if ((hash | 1) == (other | 1) && strcmp(symbols->names + symbol->st_name, name) == 0)
            return index;
        if ((other & 1) != 0)
            return 0;
    }
}

cushim_fn cush_os_symbols_find(const struct os_symbols *symbols, const char *name)
{
    uint32_t index = symbols->table != NULL ? find(symbols, name) : 0;
    if (index == 0 || !is_plain(symbols, index))
        return cush_os_library_symbol(symbols->library, name);
    return (cushim_fn)(uintptr_t)(symbols->base + ((const ElfW(Sym) *)symbols->table)[index].st_value);
}

#else

void cush_os_symbols_open(struct os_symbols *symbols, void *library)
{
    memset(symbols, 0, sizeof *symbols);
    symbols->library = library;
}

cushim_fn cush_os_symbols_find(const struct os_symbols *symbols, const char *name)
{
    return cush_os_library_symbol(symbols->library, name);
}

#endif
