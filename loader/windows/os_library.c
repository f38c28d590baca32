/* SPDX-License-Identifier: MIT */
#include "../os_library.h"

#include <stdio.h>
#include <string.h>

#include "../os_file.h"
#include "exports.h"
#include "unicode.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

const char cush_os_library_driver_name[] = "nvcuda.dll";

static bool library_name_is_bare(const char *name)
{
    return strpbrk(name, "/\\") == NULL;
}

/*
 * Writes where `name` is: a bare name stands for a file in System32, and in no other directory. The current directory
 * and PATH are never searched. What contains a slash is a path, and may be a relative one.
 */
static bool library_find_path(const char *name, wchar_t place[OS_PATH_SIZE])
{
    wchar_t wide[OS_PATH_SIZE];
    if (!cush_unicode_to_utf16(name, wide, OS_PATH_SIZE))
        return false;
    if (!library_name_is_bare(name)) {
        /* Backslashes and an absolute path are what LoadLibraryEx wants. */
        DWORD length = GetFullPathNameW(wide, OS_PATH_SIZE, place, NULL);
        return length > 0 && length < OS_PATH_SIZE;
    }
    UINT length = GetSystemDirectoryW(place, OS_PATH_SIZE);
    if (strchr(name, ':') != NULL || length == 0 || length + 1 + wcslen(wide) >= OS_PATH_SIZE)
        return false;
    place[length] = L'\\';
    wcscpy(place + length + 1, wide);
    return true;
}

/* The system's words for an error, in the user's language, and its number; "%1" in them stands for the file. */
static void library_put_error_into_words(DWORD code, const char *name, char *error, size_t size)
{
    wchar_t wide[256];
    char words[3 * 256] = "";
    DWORD flags = FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS | FORMAT_MESSAGE_MAX_WIDTH_MASK;
    DWORD length = FormatMessageW(flags, NULL, code, 0, wide, sizeof wide / sizeof wide[0], NULL);
    while (length > 0 && wide[length - 1] == L' ')
        wide[--length] = L'\0';
    if (length > 0)
        cush_unicode_to_utf8(wide, words, sizeof words);
    const char *mark = strstr(words, "%1");
    int before = mark != NULL ? (int)(mark - words) : 0;
    snprintf(error, size, "%.*s%s%s%s(error %lu)", before, words, mark != NULL ? name : "",
             mark != NULL ? mark + 2 : words, words[0] != '\0' ? " " : "", (unsigned long)code);
}

enum os_library_result cush_os_library_open(const char *name, void **out_library, char *error, size_t error_size)
{
    wchar_t place[OS_PATH_SIZE];
    if (!library_find_path(name, place)) {
        snprintf(error, error_size, "this is no name that a file can have");
        return OS_LIBRARY_ABSENT;
    }
    /* Only a bare name is given as it is: then a copy that the process has open already counts. */
    const wchar_t *wanted = library_name_is_bare(name) ? wcsrchr(place, L'\\') + 1 : place;
    DWORD search = LOAD_LIBRARY_SEARCH_SYSTEM32 | (library_name_is_bare(name) ? 0 : LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR);
    DWORD mode = 0;
    SetThreadErrorMode(SEM_FAILCRITICALERRORS | SEM_NOOPENFILEERRORBOX, &mode); /* no message box about a broken file */
    HMODULE library = LoadLibraryExW(wanted, NULL, search);
    DWORD code = GetLastError();
    SetThreadErrorMode(mode, NULL);
    if (library != NULL) {
        *out_library = library;
        return OS_LIBRARY_OPEN;
    }
    DWORD attributes = GetFileAttributesW(place);
    bool there = attributes != INVALID_FILE_ATTRIBUTES;
    if (there && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0)
        snprintf(error, error_size, "this is a directory");
    else if (there && code == ERROR_MOD_NOT_FOUND)
        snprintf(error, error_size, "a library that it needs was not found (error %lu)", (unsigned long)code);
    else
        library_put_error_into_words(code, name, error, error_size);
    if (!there)
        return OS_LIBRARY_ABSENT;
    if (code == ERROR_MOD_NOT_FOUND)
        return OS_LIBRARY_NEEDS_LIBRARY;
    return code == ERROR_ACCESS_DENIED && (attributes & FILE_ATTRIBUTE_DIRECTORY) == 0 ? OS_LIBRARY_UNREADABLE
                                                                                       : OS_LIBRARY_UNLOADABLE;
}

void *cush_os_library_open_mapped(const char *name)
{
    wchar_t place[OS_PATH_SIZE];
    HMODULE library;
    if (!library_find_path(name, place))
        return NULL;
    const wchar_t *wanted = library_name_is_bare(name) ? wcsrchr(place, L'\\') + 1 : place;
    return GetModuleHandleExW(0, wanted, &library) ? library : NULL;
}

void cush_os_library_close(void *library)
{
    FreeLibrary(library);
}

void cush_os_library_pin_self(void)
{
    HMODULE self;
    (void)GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
                             (const wchar_t *)(const void *)cush_os_library_driver_name, &self);
}

cushim_fn cush_os_library_symbol(void *library, const char *name)
{
    return (cushim_fn)GetProcAddress(library, name);
}

/* The library that holds an address, or NULL. */
static HMODULE library_of_address(cushim_fn function)
{
    union {
        cushim_fn function;
        const wchar_t *object;
    } address = {function};
    HMODULE library = NULL;
    DWORD flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    return function != NULL && GetModuleHandleExW(flags, address.object, &library) ? library : NULL;
}

void cush_os_library_path(void *library, cushim_fn address, char *path, size_t size)
{
    wchar_t place[OS_PATH_SIZE];
    HMODULE holder = library != NULL ? library : library_of_address(address);
    DWORD length = holder != NULL ? GetModuleFileNameW(holder, place, OS_PATH_SIZE) : 0;
    path[0] = '\0';
    if (length > 0 && length < OS_PATH_SIZE)
        cush_unicode_to_utf8(place, path, size);
}

const char *cush_os_library_symbol_name(void *library, cushim_fn address)
{
    /* A library may hand on another's function; its name is exact if it leads back to the same place. */
    HMODULE holder = library_of_address(address);
    const char *name = holder != NULL ? cush_exports_name(holder, address) : NULL;
    return name != NULL && cush_os_library_symbol(library, name) == address ? name : NULL;
}
