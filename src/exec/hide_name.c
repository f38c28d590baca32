/* SPDX-License-Identifier: MIT */
/* The dynamic loader skips a symbol that is undefined in the symbol table. So the symbol to hide is made undefined, in
 * a page that is writable only during the change. */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* dladdr, ElfW */
#endif
#include "hide_name.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct symbols {
    ElfW(Sym) * first;
    const char *strings;
};

static struct symbols symbols_of_this_library(void)
{
    struct symbols symbols = {NULL, NULL};
    Dl_info info;
    if (dladdr(_DYNAMIC, &info) == 0)
        return symbols;
    ElfW(Addr) base = (ElfW(Addr))info.dli_fbase;
    for (const ElfW(Dyn) *entry = _DYNAMIC; entry->d_tag != DT_NULL; entry++) {
        /* glibc has stored addresses here, musl leaves offsets. */
        ElfW(Addr) address = entry->d_un.d_ptr < base ? base + entry->d_un.d_ptr : entry->d_un.d_ptr;
        if (entry->d_tag == DT_SYMTAB)
            symbols.first = (ElfW(Sym) *)address;
        if (entry->d_tag == DT_STRTAB)
            symbols.strings = (const char *)address;
    }
    return symbols;
}

static void symbol_make_undefined(ElfW(Sym) * symbol)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *first = (char *)((uintptr_t)symbol / page * page);
    size_t length = (size_t)((char *)(symbol + 1) - first);
    if (mprotect(first, length, PROT_READ | PROT_WRITE) != 0)
        return;
    symbol->st_value = 0;
    symbol->st_shndx = SHN_UNDEF;
    mprotect(first, length, PROT_READ);
}

void exec_hide_name(const char *name)
{
    struct symbols symbols = symbols_of_this_library();
    if (symbols.first == NULL)
        return;
    /* In every ELF file of a current linker, the string table follows the symbol table. */
    for (ElfW(Sym) *symbol = symbols.first; (const char *)(symbol + 1) <= symbols.strings; symbol++) {
        if (symbol->st_value != 0 && strcmp(symbols.strings + symbol->st_name, name) == 0)
            symbol_make_undefined(symbol);
    }
}
