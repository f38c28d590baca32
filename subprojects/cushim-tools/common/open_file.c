/* SPDX-License-Identifier: MIT */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* O_TMPFILE */
#endif
#include "open_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

bool open_file_name(int file, char name[OPEN_FILE_NAME_SIZE])
{
    struct stat status;
    if (fstat(file, &status) != 0)
        return false;
    snprintf(name, OPEN_FILE_NAME_SIZE, "/proc/%ld/fd/%d:%llx:%llx", (long)getpid(), file,
             (unsigned long long)status.st_dev, (unsigned long long)status.st_ino);
    return true;
}

/* Opening a file of a stranger can have an effect, so it is compared before; and after, because a path can change. */
static int open_same(const char *path, int flags, dev_t device, ino_t inode)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return -1;
    bool is_same = status.st_dev == device && status.st_ino == inode;
    int file = is_same ? open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    if (is_same && file < 0)
        return -1;
    if (is_same && fstat(file, &status) == 0 && status.st_dev == device && status.st_ino == inode)
        return file;
    if (file >= 0)
        close(file);
    errno = ESTALE;
    return -1;
}

int open_file_open(const char *name, const char *other_path, int flags)
{
    char path[OPEN_FILE_NAME_SIZE];
    char *end = NULL;
    size_t length = strcspn(name, ":");
    if (length >= sizeof path || name[length] == '\0') {
        errno = EINVAL;
        return -1;
    }
    memcpy(path, name, length);
    path[length] = '\0';
    dev_t device = (dev_t)strtoull(name + length + 1, &end, 16);
    ino_t inode = *end == ':' ? (ino_t)strtoull(end + 1, NULL, 16) : 0;
    int file = open_same(path, flags, device, inode);
    return file < 0 && other_path != NULL ? open_same(other_path, flags, device, inode) : file;
}

/* glibc has memfd_create() from 2.27 on; the released programs are for 2.17. */
int open_file_make(void)
{
    int file = (int)syscall(SYS_memfd_create, "cushim", MFD_CLOEXEC);
    const char *directory = getenv("TMPDIR");
    return file >= 0 ? file : open(directory != NULL ? directory : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}
