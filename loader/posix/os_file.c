/* SPDX-License-Identifier: MIT */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include "../os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

_Static_assert(OS_PATH_SIZE >= PATH_MAX, "realpath() writes up to PATH_MAX bytes");

enum { MAX_LINKS = 40 }; /* as many as Linux follows in one path */

/* A path below a root whose links are being resolved. `done` contains no links after the root. */
struct walk {
    char *done;
    size_t length, size;
    size_t root_length;
    char rest[OS_PATH_SIZE];
    unsigned links;
};

static void walk_up(struct walk *walk)
{
    while (walk->length > walk->root_length && walk->done[--walk->length] != '/')
        continue;
    walk->done[walk->length] = '\0';
}

/* Puts the target of the link `done` in front of `after`, the rest of the path. */
static bool walk_link(struct walk *walk, const char *target, size_t target_length, const char *after)
{
    size_t rest_length = strlen(after);
    if (++walk->links > MAX_LINKS || target_length + rest_length >= sizeof walk->rest)
        return false;
    memmove(walk->rest + target_length, after, rest_length + 1);
    memcpy(walk->rest, target, target_length);
    if (target[0] == '/') {
        walk->length = walk->root_length;
        walk->done[walk->length] = '\0';
    } else {
        walk_up(walk);
    }
    return true;
}

static bool walk_down(struct walk *walk, const char *name, size_t name_length)
{
    if (walk->length + 1 + name_length >= walk->size)
        return false;
    walk->done[walk->length++] = '/';
    memcpy(walk->done + walk->length, name, name_length);
    walk->length += name_length;
    walk->done[walk->length] = '\0';
    return true;
}

static bool walk_all(struct walk *walk)
{
    const char *name = walk->rest;
    while (*(name += strspn(name, "/")) != '\0') {
        char target[OS_PATH_SIZE];
        size_t length = strcspn(name, "/");
        const char *after = name + length;
        if (length == 2 && memcmp(name, "..", 2) == 0) {
            walk_up(walk);
        } else if (length != 1 || name[0] != '.') {
            if (!walk_down(walk, name, length))
                return false;
            ssize_t target_length = readlink(walk->done, target, sizeof target);
            if (target_length > 0) {
                if (!walk_link(walk, target, (size_t)target_length, after))
                    return false;
                after = walk->rest;
            }
        }
        name = after;
    }
    return true;
}

bool cush_os_path_below(const char *root, const char *path, char *full_path, size_t size)
{
    size_t root_length = strlen(root);
    size_t path_length = strlen(path);
    struct walk walk;
    if (root_length + path_length >= size || path_length >= sizeof walk.rest)
        return false;
    memcpy(full_path, root, root_length);
    memcpy(full_path + root_length, path, path_length + 1);
    if (root_length == 0)
        return true; /* the kernel resolves the links */
    walk = (struct walk){.done = full_path, .length = root_length, .size = size, .root_length = root_length};
    full_path[root_length] = '\0';
    memcpy(walk.rest, path, path_length + 1);
    return walk_all(&walk);
}

/* Container engines before 2021 refuse faccessat2(), which AT_EACCESS needs, with EPERM. A file that everybody may use
 * is not denied, whatever the answer is. */
enum os_file cush_os_file_state(const char *path, bool also_write)
{
    const int wanted = also_write ? R_OK | W_OK : R_OK;
    const mode_t of_all = also_write ? S_IROTH | S_IWOTH : S_IROTH;
    struct stat status;
    if (faccessat(AT_FDCWD, path, wanted, AT_EACCESS) == 0)
        return OS_FILE_READY;
    if (errno == ENOENT || errno == ENOTDIR)
        return OS_FILE_ABSENT;
    if ((errno == EPERM || errno == ENOSYS) && access(path, wanted) == 0)
        return OS_FILE_READY;
    if (stat(path, &status) != 0)
        return errno == EACCES ? OS_FILE_DENIED : OS_FILE_ABSENT;
    return (status.st_mode & of_all) == of_all ? OS_FILE_READY : OS_FILE_DENIED;
}

/* Returns a descriptor, or -1. Files in /proc and /sys are regular files, too. */
static int file_open_regular(const char *path)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* it may be a FIFO, or a terminal */
    if (file < 0 || (fstat(file, &status) == 0 && S_ISREG(status.st_mode)))
        return file;
    close(file);
    return -1;
}

bool cush_os_file_read(const char *path, char *text, size_t size)
{
    int file = file_open_regular(path);
    if (file < 0)
        return false;
    ssize_t length = read(file, text, size - 1);
    close(file);
    text[length > 0 ? length : 0] = '\0';
    return length >= 0;
}

bool cush_os_process_status(long process, const char *label, char *value, size_t size)
{
    char path[64] = "/proc/self/status", text[4096];
    size_t length = strlen(label);
    if (process != 0)
        snprintf(path, sizeof path, "/proc/%ld/status", process);
    if (!cush_os_file_read(path, text, sizeof text))
        return false;
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n') {
        if (strncmp(line, label, length) != 0 || line[length] != ':')
            continue;
        line += length + 1 + strspn(line + length + 1, " \t");
        snprintf(value, size, "%.*s", (int)strcspn(line, "\n"), line);
        return true;
    }
    return false;
}

void cush_os_file_each_line(const char *path, void (*use)(const char *line, void *user), void *user)
{
    char text[4096];
    size_t used = 0;
    int file = file_open_regular(path);
    for (ssize_t length = 1; file >= 0 && length > 0;) {
        length = read(file, text + used, sizeof text - 1 - used);
        used += length > 0 ? (size_t)length : 0;
        text[used] = '\0';
        char *line = text;
        for (char *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
            *end = '\0';
            use(line, user);
        }
        used = line == text && used == sizeof text - 1 ? 0 : used - (size_t)(line - text); /* a line is too long */
        memmove(text, line, used);
    }
    if (file >= 0)
        close(file);
}

bool cush_os_link_name(const char *path, char *name, size_t size)
{
    char target[512];
    ssize_t length = readlink(path, target, sizeof target - 1);
    target[length > 0 ? length : 0] = '\0';
    const char *slash = strrchr(target, '/');
    const char *last = slash != NULL ? slash + 1 : target;
    if (length <= 0 || strlen(last) >= size)
        return false;
    strcpy(name, last);
    return true;
}

/* glibc's realpath() asks faccessat2() about "..", and fails where that call is refused. Opening the file answers. */
bool cush_os_file_real_path(const char *path, char *real_path)
{
    if (realpath(path, real_path) != NULL)
        return true;
#if defined(O_PATH) /* Linux */
    int file = errno == EPERM ? open(path, O_PATH | O_CLOEXEC) : -1;
    if (file < 0)
        return false;
    char name[32];
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    ssize_t length = readlink(name, real_path, PATH_MAX - 1);
    close(file);
    real_path[length > 0 ? length : 0] = '\0';
    return length > 0;
#else
    return false;
#endif
}

bool cush_os_directory_find(const char *root, const char *path,
                            bool (*matches)(const char *root, const char *path, const char *name, void *user),
                            void *user)
{
    char full_path[OS_PATH_SIZE];
    DIR *directory = cush_os_path_below(root, path, full_path, sizeof full_path) ? opendir(full_path) : NULL;
    if (directory == NULL)
        return false;
    bool found = false;
    for (const struct dirent *entry; !found && (entry = readdir(directory)) != NULL;)
        found = matches(root, path, entry->d_name, user);
    closedir(directory);
    return found;
}

/* A write to a pipe without a reader raises SIGPIPE in this thread. */
static void write_without_signal(int file, const char *text, size_t size)
{
    sigset_t signals, before, pending;
    sigemptyset(&signals);
    sigaddset(&signals, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    if (write(file, text, size) < 0 && errno == EPIPE && !sigismember(&pending, SIGPIPE)) {
        int taken;
        sigpending(&pending);
        if (sigismember(&pending, SIGPIPE)) /* it is not if the program ignores it */
            sigwait(&signals, &taken);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void cush_os_file_append(const char *path, const char *text, size_t size)
{
    if (strcmp(path, "stderr") == 0) {
        write_without_signal(STDERR_FILENO, text, size);
        return;
    }
    int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
    if (file >= 0) {
        write_without_signal(file, text, size);
        close(file);
    }
}
