/* SPDX-License-Identifier: MIT */
#include "../os.h"

#include <string.h>

#include "unicode.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

/* Windows has no known paths, and no links to resolve below a root: the paths are only joined. */
bool cush_os_path_below(const char *root, const char *path, char *full_path, size_t size)
{
    size_t root_length = strlen(root);
    size_t path_length = strlen(path);
    if (root_length + path_length >= size)
        return false;
    memcpy(full_path, root, root_length);
    memcpy(full_path + root_length, path, path_length + 1);
    return true;
}

enum os_file cush_os_file_state(const char *path, bool also_write)
{
    wchar_t wide[WIDE_PATH_SIZE];
    if (!cush_unicode_to_utf16(path, wide, WIDE_PATH_SIZE))
        return OS_FILE_ABSENT;
    DWORD attributes = GetFileAttributesW(wide);
    if (attributes != INVALID_FILE_ATTRIBUTES)
        return also_write && (attributes & FILE_ATTRIBUTE_READONLY) != 0 ? OS_FILE_DENIED : OS_FILE_READY;
    return GetLastError() == ERROR_ACCESS_DENIED ? OS_FILE_DENIED : OS_FILE_ABSENT;
}

/* Apart, because of the size of the frame. */
static CUSHIM_COLD HANDLE directory_open(const char *root, const char *path, WIN32_FIND_DATAW *entry)
{
    char all[WIDE_PATH_SIZE];
    wchar_t wide[WIDE_PATH_SIZE];
    if (!cush_os_path_below(root, path, all, sizeof all - 2))
        return INVALID_HANDLE_VALUE;
    strcat(all, "/*");
    return cush_unicode_to_utf16(all, wide, WIDE_PATH_SIZE) ? FindFirstFileW(wide, entry) : INVALID_HANDLE_VALUE;
}

bool cush_os_directory_find(const char *root, const char *path,
                            bool (*matches)(const char *root, const char *path, const char *name, void *user),
                            void *user)
{
    WIN32_FIND_DATAW entry;
    HANDLE directory = directory_open(root, path, &entry);
    if (directory == INVALID_HANDLE_VALUE)
        return false;
    bool found = false;
    do {
        char name[3 * MAX_PATH];
        if (cush_unicode_to_utf8(entry.cFileName, name, sizeof name))
            found = matches(root, path, name, user);
    } while (!found && FindNextFileW(directory, &entry));
    FindClose(directory);
    return found;
}

/* The next functions are used only for device nodes and other files that Windows does not have. */
bool cush_os_file_is_device(const char *path, unsigned device_major, unsigned device_minor, bool may_be_plain)
{
    (void)path;
    (void)device_major;
    (void)device_minor;
    (void)may_be_plain;
    return false;
}

bool cush_os_file_read(const char *path, char *text, size_t size)
{
    (void)path;
    (void)text;
    (void)size;
    return false;
}

bool cush_os_thread_status(const char *label, char *value, size_t size)
{
    (void)label;
    (void)value;
    (void)size;
    return false;
}

bool cush_os_process_status(long process, const char *label, char *value, size_t size)
{
    (void)process;
    (void)label;
    (void)value;
    (void)size;
    return false;
}

void cush_os_file_each_line(const char *path, void (*use)(const char *line, void *user), void *user)
{
    (void)path;
    (void)use;
    (void)user;
}

bool cush_os_may_have_filter(void)
{
    return false;
}

bool cush_os_link_is_broken(const char *path)
{
    (void)path;
    return false;
}

bool cush_os_link_name(const char *path, char *name, size_t size)
{
    (void)path;
    (void)name;
    (void)size;
    return false;
}

bool cush_os_file_real_path(const char *path, char *real_path)
{
    (void)path;
    (void)real_path;
    return false;
}

void cush_os_file_append(const char *path, const char *text, size_t size)
{
    wchar_t wide[WIDE_PATH_SIZE];
    DWORD written;
    if (strcmp(path, "stderr") == 0) {
        WriteFile(GetStdHandle(STD_ERROR_HANDLE), text, (DWORD)size, &written, NULL);
        return;
    }
    if (!cush_unicode_to_utf16(path, wide, WIDE_PATH_SIZE))
        return;
    HANDLE file = CreateFileW(wide, FILE_APPEND_DATA, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_ALWAYS,
                              FILE_ATTRIBUTE_NORMAL, NULL);
    if (file != INVALID_HANDLE_VALUE) {
        WriteFile(file, text, (DWORD)size, &written, NULL);
        CloseHandle(file);
    }
}

bool cush_unicode_to_utf16(const char *text, wchar_t *out_text, size_t size)
{
    out_text[0] = L'\0';
    return MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, out_text, (int)size) > 0;
}

bool cush_unicode_to_utf8(const wchar_t *text, char *out_text, size_t size)
{
    int length = WideCharToMultiByte(CP_UTF8, 0, text, -1, out_text, (int)size, NULL, NULL);
    if (length <= 0)
        out_text[0] = '\0';
    return length > 0;
}
