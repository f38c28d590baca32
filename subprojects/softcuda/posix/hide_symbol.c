/* SPDX-License-Identifier: MIT */
/*
 * dlsym finds a name in the symbol table of the library and skips a symbol that is undefined there. So the symbol to
 * hide is made undefined, in a page that is writable only during the change.
 */
#include "hide_symbol.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct table {
    ElfW(Sym) * symbols;
    const char *strings;
};

/* Finds the program header of the library that contains this code. */
static int find_own(struct dl_phdr_info *info, size_t size, void *result)
{
    (void)size;
    struct table *table = result;
    uintptr_t here = (uintptr_t)&find_own;
    const ElfW(Dyn) *dynamic = NULL;
    bool own = false;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        ElfW(Addr) start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD && here >= start && here - start < header->p_memsz)
            own = true;
        if (header->p_type == PT_DYNAMIC)
            dynamic = (const ElfW(Dyn) *)start;
    }
    if (!own)
        return 0;
    for (; dynamic != NULL && dynamic->d_tag != DT_NULL; dynamic++) {
        /* Some systems have stored addresses there already, others leave offsets. */
        ElfW(Addr) address = dynamic->d_un.d_ptr;
        if (address < info->dlpi_addr)
            address += info->dlpi_addr;
        if (dynamic->d_tag == DT_SYMTAB)
            table->symbols = (ElfW(Sym) *)address;
        if (dynamic->d_tag == DT_STRTAB)
            table->strings = (const char *)address;
    }
    return 1;
}

bool os_hide_symbol(const char *name)
{
    struct table table = {NULL, NULL};
    dl_iterate_phdr(find_own, &table);
    if (table.symbols == NULL || table.strings == NULL)
        return false;
    /* In every ELF file of a current linker, the string table follows the symbol table. */
    for (ElfW(Sym) *symbol = table.symbols; (const char *)(symbol + 1) <= table.strings; symbol++) {
        if (symbol->st_value == 0 || strcmp(table.strings + symbol->st_name, name) != 0)
            continue;
        size_t page = (size_t)sysconf(_SC_PAGESIZE);
        char *first = (char *)((uintptr_t)symbol / page * page);
        size_t length = (size_t)((char *)(symbol + 1) - first);
        if (mprotect(first, length, PROT_READ | PROT_WRITE) != 0)
            return false;
        symbol->st_value = 0;
        symbol->st_shndx = SHN_UNDEF;
        mprotect(first, length, PROT_READ);
        return true;
    }
    return false;
}
