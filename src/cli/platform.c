/* SPDX-License-Identifier: MIT */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* realpath */
#endif
#include "platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#if defined(_WIN32)
#    include <io.h>
#    include <windows.h>
#    include <shellapi.h>

bool platform_on_terminal(void)
{
    return _isatty(_fileno(stdout)) != 0;
}

/* A console understands escape sequences once it is told to. */
bool platform_has_colours(void)
{
    HANDLE console = GetStdHandle(STD_OUTPUT_HANDLE);
    DWORD mode;
    return platform_on_terminal() && GetConsoleMode(console, &mode)
           && SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

/* Without enough memory they stay as they were. */
void platform_arguments(int *argc, char ***argv)
{
    int count;
    wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), &count);
    char **texts = wide != NULL ? calloc((size_t)count + 1, sizeof *texts) : NULL;
    bool complete = texts != NULL;
    for (int i = 0; complete && i < count; i++) {
        int size = WideCharToMultiByte(CP_UTF8, 0, wide[i], -1, NULL, 0, NULL, NULL);
        texts[i] = malloc((size_t)size + 1);
        complete = texts[i] != NULL && WideCharToMultiByte(CP_UTF8, 0, wide[i], -1, texts[i], size, NULL, NULL) > 0;
    }
    LocalFree(wide);
    if (complete) {
        *argc = count;
        *argv = texts;
    }
}

bool platform_has_system_files(void)
{
    return false;
}

static bool stat_mode(const char *path, unsigned *ret_mode)
{
    struct _stat64 status;
    if (_stat64(path, &status) != 0)
        return false;
    *ret_mode = status.st_mode;
    return true;
}

bool platform_real_path(const char *path, char *real, size_t size)
{
    return _fullpath(real, path, size) != NULL;
}
#else
#    include <unistd.h>

bool platform_on_terminal(void)
{
    return isatty(STDOUT_FILENO) != 0;
}

bool platform_has_colours(void)
{
    const char *terminal = getenv("TERM");
    return platform_on_terminal() && terminal != NULL && strcmp(terminal, "") != 0 && strcmp(terminal, "dumb") != 0;
}

void platform_arguments(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
}

bool platform_has_system_files(void)
{
    return true;
}

static bool stat_mode(const char *path, unsigned *ret_mode)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return false;
    *ret_mode = status.st_mode;
    return true;
}

bool platform_real_path(const char *path, char *real, size_t size)
{
    char *found = realpath(path, NULL);
    bool fits = found != NULL && strlen(found) < size;
    if (fits)
        strcpy(real, found);
    free(found);
    return fits;
}
#endif

bool platform_exists(const char *path)
{
    unsigned mode;
    return stat_mode(path, &mode);
}

bool platform_is_folder(const char *path)
{
    unsigned mode;
    return stat_mode(path, &mode) && (mode & S_IFMT) == S_IFDIR;
}
