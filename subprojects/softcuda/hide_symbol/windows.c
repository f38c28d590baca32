/* SPDX-License-Identifier: MIT */
/* GetProcAddress finds a name in the export directory and returns NULL for a function without an address. */
#include "hide_symbol.h"

#include <string.h>
#include <windows.h>

bool os_hide_symbol(const char *name)
{
    MEMORY_BASIC_INFORMATION region;
    static const char here = 0;
    if (VirtualQuery(&here, &region, sizeof region) == 0)
        return false;
    char *base = region.AllocationBase;
    const IMAGE_DOS_HEADER *dos = (const void *)base;
    const IMAGE_NT_HEADERS *headers = (const void *)(base + dos->e_lfanew);
    const IMAGE_EXPORT_DIRECTORY *exports =
        (const void *)(base + headers->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_EXPORT].VirtualAddress);
    const DWORD *names = (const void *)(base + exports->AddressOfNames);
    const WORD *ordinals = (const void *)(base + exports->AddressOfNameOrdinals);
    DWORD *functions = (void *)(base + exports->AddressOfFunctions);
    for (DWORD i = 0; i < exports->NumberOfNames; i++) {
        if (strcmp(base + names[i], name) != 0)
            continue;
        DWORD *function = &functions[ordinals[i]];
        DWORD before;
        if (!VirtualProtect(function, sizeof *function, PAGE_READWRITE, &before))
            return false;
        *function = 0;
        VirtualProtect(function, sizeof *function, before, &before);
        return true;
    }
    return false;
}
