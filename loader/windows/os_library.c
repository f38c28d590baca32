/* SPDX-License-Identifier: MIT */
#include "../os.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unicode.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <psapi.h> /* after windows.h */

/* A mapped DLL. Offsets are relative to the base, and nothing beyond `size` is read. */
struct image {
    const unsigned char *base;
    size_t size;
};

/* Returns `count` items of `size` bytes at an offset, or NULL if they are not within the image. */
static const void *image_at(const struct image *image, size_t offset, size_t count, size_t size)
{
    return offset <= image->size && count <= (image->size - offset) / size ? image->base + offset : NULL;
}

/* The headers come first, in at least one page, and contain the size of the image. */
static const IMAGE_DATA_DIRECTORY *image_find_directory(struct image *image)
{
    image->size = 4096;
    const IMAGE_DOS_HEADER *dos = image_at(image, 0, 1, sizeof *dos);
    if (dos->e_magic != IMAGE_DOS_SIGNATURE || dos->e_lfanew < 0)
        return NULL;
    const IMAGE_NT_HEADERS *headers = image_at(image, (size_t)dos->e_lfanew, 1, sizeof *headers);
    if (headers == NULL || headers->Signature != IMAGE_NT_SIGNATURE
        || headers->OptionalHeader.Magic != IMAGE_NT_OPTIONAL_HDR_MAGIC
        || headers->OptionalHeader.NumberOfRvaAndSizes <= IMAGE_DIRECTORY_ENTRY_EXPORT)
        return NULL;
    image->size = headers->OptionalHeader.SizeOfImage;
    return &headers->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_EXPORT];
}

/* Returns the name at an offset if it ends within the image, else NULL. */
static const char *image_read_name(const struct image *image, size_t offset)
{
    const char *name = image_at(image, offset, 1, 1);
    return name != NULL && memchr(name, '\0', image->size - offset) != NULL ? name : NULL;
}

/* Returns the first exported name of exactly this address in the DLL `module`, or NULL. The string is in the DLL. */
static const char *exports_find_name(const void *module, cushim_fn address)
{
    struct image image = {module, 0};
    const IMAGE_DATA_DIRECTORY *where = image_find_directory(&image);
    const IMAGE_EXPORT_DIRECTORY *list =
        where != NULL ? image_at(&image, where->VirtualAddress, 1, sizeof *list) : NULL;
    if (list == NULL || where->VirtualAddress == 0)
        return NULL;
    const DWORD *functions = image_at(&image, list->AddressOfFunctions, list->NumberOfFunctions, sizeof *functions);
    const DWORD *name_offsets = image_at(&image, list->AddressOfNames, list->NumberOfNames, sizeof *name_offsets);
    const WORD *numbers = image_at(&image, list->AddressOfNameOrdinals, list->NumberOfNames, sizeof *numbers);
    if (functions == NULL || name_offsets == NULL || numbers == NULL)
        return NULL;
    uintptr_t offset = (uintptr_t)address - (uintptr_t)image.base;
    for (DWORD i = 0; i < list->NumberOfNames; i++) {
        /* An export that forwards to another library points into the export directory, where no code is. */
        if (numbers[i] < list->NumberOfFunctions && functions[numbers[i]] == offset)
            return image_read_name(&image, name_offsets[i]);
    }
    return NULL;
}

const bool cush_os_has_driver = true;
const char cush_os_library_driver_name[] = "nvcuda.dll";
const char cush_os_library_list_separator = ';';

static bool library_name_is_plain(const char *name)
{
    return strpbrk(name, "/\\") == NULL;
}

/*
 * Writes the path of `name`. A plain name means a file in System32 and in no other directory: the current directory and
 * PATH are never searched. A name that contains a slash is a path, which may be relative.
 */
static bool library_find_path(const char *name, wchar_t path[WIDE_PATH_SIZE])
{
    wchar_t wide[WIDE_PATH_SIZE];
    if (!cush_unicode_to_utf16(name, wide, WIDE_PATH_SIZE))
        return false;
    if (!library_name_is_plain(name)) {
        /* LoadLibraryEx requires backslashes and an absolute path. */
        DWORD length = GetFullPathNameW(wide, WIDE_PATH_SIZE, path, NULL);
        return length > 0 && length < WIDE_PATH_SIZE;
    }
    UINT length = GetSystemDirectoryW(path, WIDE_PATH_SIZE);
    if (strchr(name, ':') != NULL || length == 0 || length + 1 + wcslen(wide) >= WIDE_PATH_SIZE)
        return false;
    path[length] = L'\\';
    wcscpy(path + length + 1, wide);
    return true;
}

/* Writes the system's message for an error, in the user's language, and its number. In it "%1" stands for the file. */
static void library_format_error(DWORD code, const char *name, char *error, size_t size)
{
    wchar_t wide[256];
    char message[3 * 256] = "";
    DWORD flags = FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS | FORMAT_MESSAGE_MAX_WIDTH_MASK;
    DWORD length = FormatMessageW(flags, NULL, code, 0, wide, sizeof wide / sizeof wide[0], NULL);
    while (length > 0 && wide[length - 1] == L' ')
        wide[--length] = L'\0';
    if (length > 0)
        cush_unicode_to_utf8(wide, message, sizeof message);
    const char *mark = strstr(message, "%1");
    int before = mark != NULL ? (int)(mark - message) : 0;
    snprintf(error, size, "%.*s%s%s%s(error %lu)", before, message, mark != NULL ? name : "",
             mark != NULL ? mark + 2 : message, message[0] != '\0' ? " " : "", (unsigned long)code);
}

enum os_library_result cush_os_library_open(const char *name, void **out_library, char *error, size_t error_size)
{
    wchar_t path[WIDE_PATH_SIZE];
    if (!library_find_path(name, path)) {
        snprintf(error, error_size, "a file cannot have this name");
        return OS_LIBRARY_ABSENT;
    }
    /* A plain name is passed without its directory, so that a copy counts which the process already has open. */
    const wchar_t *wanted = library_name_is_plain(name) ? wcsrchr(path, L'\\') + 1 : path;
    DWORD search = LOAD_LIBRARY_SEARCH_SYSTEM32 | (library_name_is_plain(name) ? 0 : LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR);
    DWORD mode = 0;
    SetThreadErrorMode(SEM_FAILCRITICALERRORS | SEM_NOOPENFILEERRORBOX, &mode); /* no message box about a broken file */
    HMODULE library = LoadLibraryExW(wanted, NULL, search);
    DWORD code = GetLastError();
    SetThreadErrorMode(mode, NULL);
    if (library != NULL) {
        *out_library = library;
        return OS_LIBRARY_OPEN;
    }
    DWORD attributes = GetFileAttributesW(path);
    bool exists = attributes != INVALID_FILE_ATTRIBUTES;
    if (exists && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0) {
        snprintf(error, error_size, "this is a directory");
        return OS_LIBRARY_UNLOADABLE;
    }
    if (exists && code == ERROR_MOD_NOT_FOUND) {
        snprintf(error, error_size, "a library that it needs was not found (error %lu)", (unsigned long)code);
        return OS_LIBRARY_NEEDS_LIBRARY;
    }
    library_format_error(code, name, error, error_size);
    if (!exists)
        return OS_LIBRARY_ABSENT;
    return code == ERROR_ACCESS_DENIED ? OS_LIBRARY_UNREADABLE : OS_LIBRARY_UNLOADABLE;
}

void *cush_os_library_open_mapped(const char *name)
{
    wchar_t path[WIDE_PATH_SIZE];
    HMODULE library;
    if (!library_find_path(name, path))
        return NULL;
    const wchar_t *wanted = library_name_is_plain(name) ? wcsrchr(path, L'\\') + 1 : path;
    return GetModuleHandleExW(0, wanted, &library) ? library : NULL;
}

void *cush_os_library_open_again(const char *start, size_t index)
{
    return index == 0 ? cush_os_library_open_mapped(start) : NULL;
}

void cush_os_library_close(void *library)
{
    FreeLibrary(library);
}

void cush_os_library_make_global(const char *path)
{
    (void)path; /* each name belongs to one library */
}

bool cush_os_library_pin_self(void)
{
    HMODULE self;
    return GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
                              (const wchar_t *)(const void *)cush_os_library_driver_name, &self);
}

void cush_os_library_each_directory(const char *start, void (*use)(const char *directory, void *user), void *user)
{
    (void)start, (void)use, (void)user;
}

cushim_fn cush_os_library_symbol(void *library, const char *name)
{
    return (cushim_fn)GetProcAddress(library, name);
}

/* Returns the library that contains an address, or NULL. */
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
    wchar_t wide[WIDE_PATH_SIZE];
    HMODULE holder = library != NULL ? library : library_of_address(address);
    DWORD length = holder != NULL ? GetModuleFileNameW(holder, wide, WIDE_PATH_SIZE) : 0;
    path[0] = '\0';
    if (length > 0 && length < WIDE_PATH_SIZE)
        cush_unicode_to_utf8(wide, path, size);
}

const char *cush_os_library_symbol_name(void *library, cushim_fn address)
{
    /* A library can export the function of another one. The name is right if the library returns the address for it. */
    HMODULE holder = library_of_address(address);
    const char *name = holder != NULL ? exports_find_name(holder, address) : NULL;
    return name != NULL && cush_os_library_symbol(library, name) == address ? name : NULL;
}

/* Windows lists the program first. */
void cush_os_library_each(void (*use)(const char *path, enum os_object kind, void *user), void *user)
{
    enum { MAX_MODULES = 1024 };
    HMODULE *modules = malloc(MAX_MODULES * sizeof *modules);
    DWORD size = 0;
    if (modules == NULL || !K32EnumProcessModules(GetCurrentProcess(), modules, MAX_MODULES * sizeof *modules, &size))
        size = 0;
    const void *own = library_of_address((cushim_fn)cush_os_library_each);
    for (size_t i = 0; i < MAX_MODULES && i < size / sizeof *modules; i++) {
        char path[OS_PATH_SIZE];
        cush_os_library_path(modules[i], NULL, path, sizeof path);
        for (char *slash = path; (slash = strchr(slash, '\\')) != NULL;)
            *slash = '/';
        if (path[0] != '\0')
            use(path, i == 0 ? OS_OBJECT_PROGRAM : modules[i] == own ? OS_OBJECT_OWN : OS_OBJECT_LIBRARY, user);
    }
    free(modules);
}
