/* SPDX-License-Identifier: MIT */
/* A library for LD_PRELOAD that watches what a program does with files: it prints each file that is opened, and how
 * much is written. */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void print(const char *what, const char *name)
{
    char line[4200];
    int length = snprintf(line, sizeof line, "%s %s\n", what, name);
    syscall(SYS_write, STDERR_FILENO, line, length);
}

static int open_file(const char *path, int flags, mode_t mode)
{
    print("open", path);
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
    va_end(more);
    return open_file(path, flags, mode);
}

#if !defined(__USE_FILE_OFFSET64)
int open64(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
    va_end(more);
    return open_file(path, flags, mode);
}
#endif

ssize_t read(int file, void *data, size_t size)
{
    print("read", "");
    return syscall(SYS_read, file, data, size);
}

ssize_t write(int file, const void *data, size_t size)
{
    print("write", "");
    return syscall(SYS_write, file, data, size);
}

int close(int file)
{
    print("close", "");
    return (int)syscall(SYS_close, file);
}
