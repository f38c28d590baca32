/* SPDX-License-Identifier: MIT */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include "../os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h> /* has major() elsewhere */
#if defined(__linux__)
#    include <sys/sysmacros.h>
#endif
#include <unistd.h>

#include "../common/posix/quiet_file.h"

enum { MAX_LINKS = 40 }; /* as many as Linux follows in one path */

/* A path below a root whose links are being resolved. `done` contains no links after the root. The rest of the path
 * stands at the end of `rest`, so that the target of a link can be read in front of it. */
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

/* If `done` is a link, puts its target in front of *rest. Returns false if that is too long, or one link too many. */
static bool walk_link(struct walk *walk, char **rest)
{
    size_t room = (size_t)(*rest - walk->rest);
    ssize_t length = readlink(walk->done, walk->rest, room);
    if (length <= 0)
        return true;
    if (++walk->links > MAX_LINKS || (size_t)length == room)
        return false;
    if (walk->rest[0] == '/') {
        walk->length = walk->root_length;
        walk->done[walk->length] = '\0';
    } else {
        walk_up(walk);
    }
    *rest -= length;
    memmove(*rest, walk->rest, (size_t)length);
    return true;
}

static bool walk_all(struct walk *walk, char *rest)
{
    while (*(rest += strspn(rest, "/")) != '\0') {
        const char *name = rest;
        size_t length = strcspn(name, "/");
        rest += length;
        if (length == 2 && memcmp(name, "..", 2) == 0)
            walk_up(walk);
        else if ((length != 1 || name[0] != '.') && (!walk_down(walk, name, length) || !walk_link(walk, &rest)))
            return false;
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
    walk.done = full_path;
    walk.length = walk.root_length = root_length;
    walk.size = size;
    walk.links = 0;
    full_path[root_length] = '\0';
    char *rest = walk.rest + sizeof walk.rest - path_length - 1;
    memcpy(rest, path, path_length + 1);
    return walk_all(&walk, rest);
}

/* Container engines before 2021 refuse faccessat2(), which AT_EACCESS needs, with EPERM, and a filter can end the
 * process for it. The dynamic loader calls access(). */
static bool file_grants(const char *path, int wanted)
{
    if (!cush_os_may_have_filter()) {
        if (faccessat(AT_FDCWD, path, wanted, AT_EACCESS) == 0)
            return true;
        if (errno != EPERM && errno != ENOSYS)
            return false;
    }
    return access(path, wanted) == 0;
}

/* A file that everybody may use is not denied, whatever the answer to a question would be. */
enum os_file cush_os_file_state(const char *path, bool also_write)
{
    const int wanted = also_write ? R_OK | W_OK : R_OK;
    const mode_t of_all = also_write ? S_IROTH | S_IWOTH : S_IROTH;
    struct stat status;
    bool is_there = stat(path, &status) == 0;
    if (!is_there && (errno == EACCES || errno == ENOENT || errno == ENOTDIR))
        return errno == EACCES ? OS_FILE_DENIED : OS_FILE_ABSENT;
    if ((is_there && (status.st_mode & of_all) == of_all) || file_grants(path, wanted))
        return OS_FILE_READY;
    return is_there ? OS_FILE_DENIED : OS_FILE_ABSENT;
}

bool cush_os_file_is_device(const char *path, unsigned device_major, unsigned device_minor, bool may_be_plain)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return false;
    if (S_ISREG(status.st_mode))
        return may_be_plain;
    return S_ISCHR(status.st_mode) && (unsigned)major(status.st_rdev) == device_major
           && (unsigned)minor(status.st_rdev) == device_minor;
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

void cush_os_file_each_line(const char *path, void (*use)(const char *line, void *user), void *user)
{
    char text[3072];
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

/* A line that is sought in the status of a process. */
struct status_line {
    const char *label;
    char *value;
    size_t size;
    bool is_found;
};

static CUSHIM_COLD void status_read_line(const char *line, void *user)
{
    struct status_line *sought = user;
    size_t length = strlen(sought->label);
    if (sought->is_found || strncmp(line, sought->label, length) != 0 || line[length] != ':')
        return;
    line += length + 1;
    snprintf(sought->value, sought->size, "%s", line + strspn(line, " \t"));
    sought->is_found = true;
}

static CUSHIM_COLD bool status_read(const char *path, const char *label, char *value, size_t size)
{
    struct status_line sought = {.label = label, .value = value, .size = size, .is_found = false};
    cush_os_file_each_line(path, status_read_line, &sought);
    return sought.is_found;
}

/* The first name needs Linux 3.17. */
bool cush_os_thread_status(const char *label, char *value, size_t size)
{
    return status_read("/proc/thread-self/status", label, value, size)
           || status_read("/proc/self/status", label, value, size);
}

bool cush_os_process_status(long process, const char *label, char *value, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/status", process);
    return status_read(path, label, value, size);
}

/* Without /proc that is not known. */
bool cush_os_may_have_filter(void)
{
#if defined(__linux__)
    char mode[16];
    return !cush_os_thread_status("Seccomp", mode, sizeof mode) || mode[0] != '0';
#else
    return false;
#endif
}

bool cush_os_link_is_broken(const char *path)
{
    struct stat status; /* not by readlink(), for which a filter can end the process */
    return lstat(path, &status) == 0 && S_ISLNK(status.st_mode) && stat(path, &status) != 0;
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

/* glibc's realpath() asks faccessat2() about "..", and fails where that call is refused; and it takes memory. Opening
 * the file answers. */
bool cush_os_file_real_path(const char *path, char *real_path)
{
    char *found = realpath(path, NULL);
    if (found != NULL) {
        bool fits = strlen(found) < OS_PATH_SIZE;
        if (fits)
            strcpy(real_path, found);
        free(found);
        return fits;
    }
#if defined(O_PATH) /* Linux */
    int file = open(path, O_PATH | O_CLOEXEC);
    if (file < 0)
        return false;
    char name[32];
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    ssize_t length = readlink(name, real_path, OS_PATH_SIZE - 1);
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

void cush_os_file_append(const char *path, const char *text, size_t size)
{
    bool is_stderr = strcmp(path, "stderr") == 0;
    int file =
        is_stderr ? STDERR_FILENO : open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
    if (file >= 0)
        (void)quiet_write(file, text, size);
    if (file >= 0 && !is_stderr)
        close(file);
}
