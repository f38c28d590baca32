/* SPDX-License-Identifier: MIT */
#include "launch.h"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "machine.h"
#include "platform.h"

enum { MAX_SEGMENTS = 64, MAX_INTERPRETERS = 5 /* as the kernel follows */ };

static bool find_on_path(const char *program, char *path, size_t size)
{
    const char *directories = getenv("PATH");
    char directory[PLATFORM_PATH_SIZE];
    if (strchr(program, '/') != NULL || directories == NULL)
        return (size_t)snprintf(path, size, "%s", program) < size;
    while (text_next_item(&directories, ":", directory, sizeof directory)) {
        int whole = snprintf(path, size, "%s%s%s", directory, directory[0] != '\0' ? "/" : "", program);
        if ((size_t)whole < size && access(path, X_OK) == 0 && !platform_is_directory(path))
            return true;
    }
    return false;
}

bool exec_target_gains_rights(long process, const char *path)
{
    struct stat status;
    struct statvfs mount;
    char no_new[8];
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)
        || (statvfs(path, &mount) == 0 && (mount.f_flag & ST_NOSUID) != 0)
        || (cush_os_process_status(process, "NoNewPrivs", no_new, sizeof no_new) && strcmp(no_new, "1") == 0))
        return false;
    return ((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid())
           || ((status.st_mode & S_ISGID) != 0 && status.st_gid != getegid())
           || (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0);
}

static bool read_segments(int file, const ElfW(Ehdr) * header, ElfW(Phdr) * segments)
{
    size_t size = header->e_phnum * sizeof segments[0];
    return header->e_phnum <= MAX_SEGMENTS && pread(file, segments, size, (off_t)header->e_phoff) == (ssize_t)size;
}

static bool has_soname(int file, const ElfW(Phdr) * dynamic)
{
    ElfW(Dyn) entry = {.d_tag = DT_NULL};
    for (size_t at = 0; at < dynamic->p_filesz; at += sizeof entry) {
        if (pread(file, &entry, sizeof entry, (off_t)(dynamic->p_offset + at)) != (ssize_t)sizeof entry
            || entry.d_tag == DT_NULL || entry.d_tag == DT_SONAME)
            break;
    }
    return entry.d_tag == DT_SONAME;
}

/* A statically linked program names no dynamic loader. Neither does a library that can be run, such as the dynamic
 * loader itself. */
static bool is_static(int file, const ElfW(Ehdr) * header)
{
    ElfW(Phdr) segments[MAX_SEGMENTS];
    if (!read_segments(file, header, segments))
        return false;
    for (size_t i = 0; i < header->e_phnum; i++) {
        if (segments[i].p_type == PT_INTERP || (segments[i].p_type == PT_DYNAMIC && has_soname(file, &segments[i])))
            return false;
    }
    return true;
}

/* Of this program itself; the linker defines it. */
extern const ElfW(Ehdr) __ehdr_start;

#define OTHERS "; dynamically linked programs that it starts use the selected one"

static const char *obstacle_of(int file, const char *path)
{
    ElfW(Ehdr) header;
    if (pread(file, &header, sizeof header, 0) != (ssize_t)sizeof header
        || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return NULL; /* the kernel or a shell reports it */
    /* The dynamic loader then removes the variables, also for what the program starts. */
    if (exec_target_gains_rights(getpid(), path))
        return "has more rights than its user, so it and the programs that it starts use the machine's own driver";
    if (header.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        return sizeof(void *) == 8 ? "is a 32-bit program, so it uses the machine's own driver" OTHERS
                                   : "is a 64-bit program, so it uses the machine's own driver" OTHERS;
    if (header.e_machine != __ehdr_start.e_machine)
        return "is built for another processor architecture, so it uses the machine's own driver" OTHERS;
    return is_static(file, &header) ? "is statically linked, so it uses the machine's own driver" OTHERS : NULL;
}

/* Reads the path of the interpreter from the first line of a script. */
static bool read_interpreter(int file, char *path, size_t size)
{
    char line[256]; /* as much as the kernel reads */
    ssize_t length = pread(file, line, sizeof line - 1, 0);
    if (length < 2 || memcmp(line, "#!", 2) != 0)
        return false;
    line[length] = '\0';
    const char *start = line + 2 + strspn(line + 2, " \t");
    return (size_t)snprintf(path, size, "%.*s", (int)strcspn(start, " \t\n"), start) < size;
}

const char *exec_target_obstacle(const char *program)
{
    char path[PLATFORM_PATH_SIZE];
    const char *obstacle = NULL;
    bool is_script = find_on_path(program, path, sizeof path);
    for (int depth = 0; is_script && depth < MAX_INTERPRETERS; depth++) {
        int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (file < 0)
            return NULL; /* execvp() reports it */
        obstacle = obstacle_of(file, path);
        is_script = read_interpreter(file, path, sizeof path);
        close(file);
    }
    return obstacle;
}
