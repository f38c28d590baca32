/* SPDX-License-Identifier: MIT */
/*
 * dlsym() finds a name in the symbol table of the library, unless the symbol is undefined there, or has a version that
 * is not the default one. The calls of a program that was linked without versions find a symbol that has the first
 * version in any case. So a symbol with that version loses the default, and other symbols become undefined, in a page
 * that is writable only during the change.
 */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* dl_iterate_phdr */
#endif
#include "hide_symbol.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The versions of a library begin with this number, and this bit marks one that is not the default. */
enum { FIRST_VERSION = 2, NOT_DEFAULT = 0x8000 };

/* The symbol table of the library that contains this code. */
struct symbol_table {
    ElfW(Sym) * symbols;
    size_t count;
    const char *strings;
    ElfW(Half) * versions; /* NULL if the library defines no versions */
    int protection;        /* of its pages */
};

/* A library has one of two hash tables, or both. */
static size_t count_of_hash(const uint32_t *hash)
{
    return hash[1];
}

/* GNU's table has no count. It has chains of the symbols from a first one to the last, and bit 0 ends a chain. */
static size_t count_of_gnu_hash(const uint32_t *hash)
{
    uint32_t buckets = hash[0], first = hash[1], words = hash[2];
    const uint32_t *bucket = hash + 4 + words * (sizeof(ElfW(Addr)) / sizeof *hash);
    const uint32_t *chain = bucket + buckets;
    uint32_t last = 0;
    for (uint32_t i = 0; i < buckets; i++)
        last = bucket[i] > last ? bucket[i] : last;
    if (last < first)
        return first;
    while ((chain[last - first] & 1) == 0)
        last++;
    return (size_t)last + 1;
}

static void table_read(struct symbol_table *table, ElfW(Addr) base, const ElfW(Dyn) * dynamic)
{
    bool defines_versions = false;
    for (; dynamic->d_tag != DT_NULL; dynamic++) {
        /* Some systems have stored addresses there already, others leave offsets. */
        ElfW(Addr) address = dynamic->d_un.d_ptr < base ? base + dynamic->d_un.d_ptr : dynamic->d_un.d_ptr;
        if (dynamic->d_tag == DT_SYMTAB)
            table->symbols = (ElfW(Sym) *)address;
        if (dynamic->d_tag == DT_STRTAB)
            table->strings = (const char *)address;
        if (dynamic->d_tag == DT_VERSYM)
            table->versions = (ElfW(Half) *)address;
        if (dynamic->d_tag == DT_HASH)
            table->count = count_of_hash((const uint32_t *)address);
        if (dynamic->d_tag == DT_GNU_HASH && table->count == 0)
            table->count = count_of_gnu_hash((const uint32_t *)address);
        defines_versions |= dynamic->d_tag == DT_VERDEF;
    }
    if (!defines_versions)
        table->versions = NULL;
}

static bool is_within(const struct dl_phdr_info *info, const ElfW(Phdr) * header, uintptr_t address)
{
    return header->p_type == PT_LOAD && address - info->dlpi_addr - header->p_vaddr < header->p_memsz;
}

static int table_find(struct dl_phdr_info *info, size_t size, void *result)
{
    (void)size;
    struct symbol_table *table = result;
    bool is_own = false;
    for (int i = 0; i < info->dlpi_phnum; i++)
        is_own |= is_within(info, &info->dlpi_phdr[i], (uintptr_t)&table_find);
    for (int i = 0; is_own && i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            table_read(table, info->dlpi_addr, (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
    }
    for (int i = 0; is_own && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (is_within(info, header, (uintptr_t)table->symbols))
            table->protection = PROT_READ | ((header->p_flags & PF_X) != 0 ? PROT_EXEC : 0);
    }
    return is_own;
}

/* Changes the protection of the pages of an entry. */
static bool entry_protect(const void *entry, size_t size, int protection)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *first = (char *)((uintptr_t)entry / page * page);
    return mprotect(first, (size_t)((const char *)entry - first) + size, protection) == 0;
}

bool os_hide_symbol(const char *name)
{
    struct symbol_table table = {.protection = PROT_READ};
    dl_iterate_phdr(table_find, &table);
    for (size_t i = 0; i < table.count; i++) {
        ElfW(Sym) *symbol = &table.symbols[i];
        if (symbol->st_value == 0 || strcmp(table.strings + symbol->st_name, name) != 0)
            continue;
        bool has_version = table.versions != NULL && table.versions[i] == FIRST_VERSION;
        void *entry = has_version ? (void *)&table.versions[i] : symbol;
        size_t size = has_version ? sizeof table.versions[i] : sizeof *symbol;
        if (!entry_protect(entry, size, table.protection | PROT_WRITE))
            return false;
        if (has_version) {
            table.versions[i] |= NOT_DEFAULT;
        } else {
            symbol->st_value = 0;
            symbol->st_shndx = SHN_UNDEF;
        }
        return entry_protect(entry, size, table.protection);
    }
    return false;
}
