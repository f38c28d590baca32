/* SPDX-License-Identifier: MIT */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* realpath, MAP_ANONYMOUS */
#endif
#include "platform.h"

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

long long platform_microseconds(void)
{
    LARGE_INTEGER now, frequency;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&frequency);
    return (long long)((double)now.QuadPart * 1e6 / (double)frequency.QuadPart);
}

bool platform_try(void (*work)(const void *input, char *text, size_t size), const void *input, char *text, size_t size)
{
    (void)work;
    (void)input;
    (void)size;
    text[0] = '\0';
    return true;
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
#else
#    include <dlfcn.h>
#    include <errno.h>
#    include <signal.h>
#    include <sys/mman.h>
#    include <sys/resource.h>
#    include <sys/wait.h>
#    include <time.h>
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
    char *found = realpath(path, NULL);
    bool fits = found != NULL && strlen(found) < size;
    if (fits)
        strcpy(real, found);
    free(found);
    return fits;
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

long long platform_microseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

enum { TRY_SECONDS = 10 };

static void become_trial(void)
{
    static const struct rlimit no_core = {0, 0};
    sigset_t alarm_only;
    setrlimit(RLIMIT_CORE, &no_core);
    signal(SIGALRM, SIG_DFL);
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &alarm_only, NULL);
    alarm(TRY_SECONDS);
}

static bool has_returned(pid_t child, char *how, size_t size)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(how, size, "does not return within %d seconds", TRY_SECONDS);
    else if (WIFSIGNALED(status))
        snprintf(how, size, "ends the process (%s)", strsignal(WTERMSIG(status)));
    else
        snprintf(how, size, "ends the process");
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool platform_try(void (*work)(const void *input, char *text, size_t size), const void *input, char *text, size_t size)
{
    text[0] = '\0';
    char *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return true;
    signal(SIGCHLD, SIG_DFL); /* if it is ignored, waitpid() gets no status */
    pid_t child = fork();
    if (child == 0) {
        become_trial();
        work(input, shared, size);
        _exit(0);
    }
    bool returned = child < 0 || has_returned(child, text, size);
    if (returned)
        memcpy(text, shared, size);
    munmap(shared, size);
    return returned;
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
    fflush(NULL);
    if (setenv(variable, value, 1) == 0)
        execv(own_file, (char *const *)arguments);
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
