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
