/* SPDX-License-Identifier: MIT */
#include "platform.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#if defined(_WIN32)
#    include <io.h>
#    include <process.h>
#    include <windows.h>
#    include <shellapi.h>

bool platform_on_terminal(void)
{
    return _isatty(_fileno(stdout)) != 0;
}

/* A console handles escape sequences only after a program has enabled this mode. */
bool platform_has_colours(void)
{
    HANDLE console = GetStdHandle(STD_OUTPUT_HANDLE);
    DWORD mode;
    return platform_on_terminal() && GetConsoleMode(console, &mode)
           && SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

/* Without enough memory, the arguments stay unchanged. */
void platform_start(int *argc, char ***argv)
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

static bool stat_mode(const char *path, unsigned *out_mode)
{
    struct _stat64 status;
    if (_stat64(path, &status) != 0)
        return false;
    *out_mode = status.st_mode;
    return true;
}

bool platform_real_path(const char *path, char *real, size_t size)
{
    return _fullpath(real, path, size) != NULL;
}

platform_fn platform_symbol(const char *path, const char *name)
{
    wchar_t wide[PLATFORM_PATH_SIZE];
    if (path == NULL || MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, PLATFORM_PATH_SIZE) == 0)
        return NULL;
    HMODULE library = GetModuleHandleW(wide);
    return library != NULL ? (platform_fn)(void (*)(void))GetProcAddress(library, name) : NULL;
}

void platform_sleep(int milliseconds)
{
    Sleep((DWORD)milliseconds);
}

bool platform_own_directory(char *directory, size_t size)
{
    wchar_t wide[PLATFORM_PATH_SIZE];
    DWORD length = GetModuleFileNameW(NULL, wide, PLATFORM_PATH_SIZE);
    if (length == 0 || length == PLATFORM_PATH_SIZE
        || WideCharToMultiByte(CP_UTF8, 0, wide, -1, directory, (int)size, NULL, NULL) == 0)
        return false;
    char *slash = strrchr(directory, '\\');
    if (slash != NULL)
        *slash = '\0';
    return slash != NULL;
}

void platform_run_again(const char *const *arguments, const char *variable, const char *value)
{
    char path[PLATFORM_PATH_SIZE];
    DWORD length = GetModuleFileNameA(NULL, path, sizeof path);
    if (length == 0 || length == sizeof path || !SetEnvironmentVariableA(variable, value))
        return;
    fflush(NULL);
    intptr_t status = _spawnv(_P_WAIT, path, arguments);
    if (status != -1)
        exit((int)status);
}

void platform_run(const char *path, char *const *arguments)
{
    (void)path;
    (void)arguments;
    errno = ENOEXEC; /* the commands of other programs are scripts */
}
#else
#    include <dlfcn.h>
#    include <fcntl.h>
#    include <time.h>
#    include <unistd.h>

#    include "machine.h"

bool platform_on_terminal(void)
{
    return isatty(STDOUT_FILENO) != 0;
}

bool platform_has_colours(void)
{
    const char *terminal = getenv("TERM");
    return platform_on_terminal() && terminal != NULL && strcmp(terminal, "") != 0 && strcmp(terminal, "dumb") != 0;
}

/* No file of this program gets the number of stdin, stdout or stderr, which others read and write. What is opened for
 * one that is closed can neither be read nor written, and is closed in other programs. */
static void open_standard_files(void)
{
#    if defined(O_PATH)
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++) {
        if (fcntl(file, F_GETFD) < 0)
            (void)open("/", O_PATH | O_CLOEXEC);
    }
#    endif
}

void platform_start(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    open_standard_files();
}

bool platform_has_system_files(void)
{
    return true;
}

static bool stat_mode(const char *path, unsigned *out_mode)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return false;
    *out_mode = status.st_mode;
    return true;
}

bool platform_real_path(const char *path, char *real, size_t size)
{
    char found[OS_PATH_SIZE];
    if (!cush_os_file_real_path(path, found) || strlen(found) >= size)
        return false;
    strcpy(real, found);
    return true;
}

platform_fn platform_symbol(const char *path, const char *name)
{
    union {
        void *object;
        platform_fn function;
    } symbol = {NULL};
    void *library = path != NULL ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
    if (library == NULL)
        return NULL;
    symbol.object = dlsym(library, name);
    dlclose(library); /* it stays mapped: the loader has it open */
    return symbol.function;
}

void platform_sleep(int milliseconds)
{
    nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000L}, NULL);
}

static const char own_file[] = "/proc/self/exe";

bool platform_own_directory(char *directory, size_t size)
{
    if (!platform_real_path(own_file, directory, size))
        return false;
    char *slash = strrchr(directory, '/');
    *slash = '\0';
    return true;
}

void platform_run_again(const char *const *arguments, const char *variable, const char *value)
{
    /* The prototype of execv() lacks the const, but the function does not write. */
    const union {
        const char *const *constant;
        char *const *writable;
    } passed = {arguments};
    fflush(NULL);
    if (setenv(variable, value, 1) == 0) /* analyzer: every reason has a name */
        execv(own_file, passed.writable);
}

void platform_run(const char *path, char *const *arguments)
{
    fflush(NULL);
    execv(path, arguments);
}
#endif

bool platform_exists(const char *path)
{
    unsigned mode;
    return stat_mode(path, &mode);
}

bool platform_is_directory(const char *path)
{
    unsigned mode;
    return stat_mode(path, &mode) && (mode & S_IFMT) == S_IFDIR;
}

bool platform_is_file(const char *path)
{
    unsigned mode;
    return stat_mode(path, &mode) && (mode & S_IFMT) == S_IFREG;
}
