/* SPDX-License-Identifier: MIT */
#include "recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format.h"
#include "open_file.h"
#include "quiet_text.h"

/* "dir/.app.trace.XXXXXX" for "dir/app.trace" */
static bool hidden_name(const char *path, char *hidden, size_t size)
{
    const char *slash = strrchr(path, '/');
    size_t directory = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    int length = snprintf(hidden, size, "%.*s.%.200s.XXXXXX", (int)directory, path, path + directory);
    return length > 0 && (size_t)length < size;
}

static bool environment_set(const struct recording *recording)
{
    char hidden[PLATFORM_PATH_SIZE], name[OPEN_FILE_NAME_SIZE];
    if (!open_file_name(recording->file, name) || setenv(TRACE_FILE_VARIABLE, name, 1) != 0)
        return false;
    if (recording->hidden[0] == '\0') /* for messages */
        snprintf(hidden, sizeof hidden, "%.*s", (int)strcspn(name, ":"), name);
    else if (!platform_real_path(recording->hidden, hidden, sizeof hidden))
        return false;
    return setenv(TRACE_VARIABLE, hidden, 1) == 0;
}

static const char *recording_begin(struct recording *recording, uint64_t size, bool keeps_newest, bool wants_stacks,
                                   bool wants_arguments, const char *command)
{
    if (recording->file < 0)
        return strerror(errno);
    if (trace_file_make(recording->file, size, keeps_newest, wants_stacks, wants_arguments, command)
        && environment_set(recording))
        return NULL;
    const char *why = strerror(errno);
    recording_discard(recording);
    return why;
}

const char *recording_start(struct recording *recording, const char *path, uint64_t size, bool keeps_newest,
                            bool wants_stacks, bool wants_arguments, const char *command)
{
    if (path[0] == '\0')
        return strerror(ENOENT);
    /* The file to which a symbolic link leads. */
    recording->was_there = platform_real_path(path, recording->path, sizeof recording->path)
                           && stat(recording->path, &recording->before) == 0;
    if (recording->was_there && !S_ISREG(recording->before.st_mode))
        return "this is not a regular file";
    if (!recording->was_there)
        snprintf(recording->path, sizeof recording->path, "%s", path);
    if (!hidden_name(recording->path, recording->hidden, sizeof recording->hidden))
        return strerror(ENAMETOOLONG);
    recording->file = mkostemp(recording->hidden, O_CLOEXEC);
    return recording_begin(recording, size, keeps_newest, wants_stacks, wants_arguments, command);
}

const char *recording_start_unnamed(struct recording *recording, uint64_t size, const char *command)
{
    recording->file = open_file_make();
    recording->hidden[0] = '\0';
    return recording_begin(recording, size, true, false, false, command);
}

bool trace_layer_find(char *path, size_t size)
{
    static const char *const directories[] = {"../trace", CUSHIM_TRACE_DIRECTORY};
    char own[PLATFORM_PATH_SIZE], file[2 * PLATFORM_PATH_SIZE];
    if (!platform_own_directory(own, sizeof own))
        return false;
    for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++) {
        snprintf(file, sizeof file, "%s/%s/trace.so", own, directories[i]);
        if (platform_real_path(file, path, size))
            return true;
    }
    return false;
}

void recording_discard(const struct recording *recording)
{
    if (recording->hidden[0] != '\0')
        unlink(recording->hidden);
    close(recording->file);
}

static const char *file_cut(int file)
{
    void *mapped = mmap(NULL, TRACE_HEADER_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED)
        return strerror(errno);
    struct trace_header *header = mapped;
    /* Children of the program can still run. What they took is kept. */
    uint64_t taken = atomic_fetch_add(&header->taken, TRACE_CLOSED) & (TRACE_FULL - 1);
    if (taken > header->chunk_count)
        taken = header->chunk_count;
    munmap(mapped, TRACE_HEADER_SIZE);
    return quiet_resize(file, (off_t)(TRACE_CHUNKS_AT + taken * TRACE_CHUNK_SIZE)) ? NULL : strerror(errno);
}

/* Makes a copy under a new hidden name, because the program has removed or replaced the file. */
static bool file_copy(struct recording *recording)
{
    static char bytes[64 << 10];
    off_t at = 0;
    ssize_t length = -1;
    if (!hidden_name(recording->path, recording->hidden, sizeof recording->hidden))
        return false;
    int copy = mkostemp(recording->hidden, O_CLOEXEC);
    while (copy >= 0 && (length = pread(recording->file, bytes, sizeof bytes, at)) > 0
           && quiet_write(copy, bytes, (size_t)length))
        at += length;
    if (copy >= 0 && length != 0)
        unlink(recording->hidden);
    if (copy >= 0)
        close(copy);
    return copy >= 0 && length == 0;
}

static bool is_same(const struct stat *one, const struct stat *other)
{
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

/* A new file can have the number of one that was removed. */
static bool is_unchanged(const struct stat *before, const struct stat *now)
{
    return is_same(before, now) && before->st_ctim.tv_sec == now->st_ctim.tv_sec
           && before->st_ctim.tv_nsec == now->st_ctim.tv_nsec;
}

const char *recording_finish(struct recording *recording)
{
    struct stat own, now;
    char path[PLATFORM_PATH_SIZE];
    const char *why = file_cut(recording->file);
    if (why != NULL)
        return why;
    bool is_hidden = fstat(recording->file, &own) == 0 && lstat(recording->hidden, &now) == 0 && is_same(&own, &now);
    if (!is_hidden && !file_copy(recording))
        return strerror(errno);
    /* It replaces only what it was asked to replace. */
    if (recording->was_there && stat(recording->path, &now) == 0 && is_unchanged(&recording->before, &now))
        return rename(recording->hidden, recording->path) == 0 ? NULL : strerror(errno);
    snprintf(path, sizeof path, "%s", recording->path);
    for (unsigned number = 2; link(recording->hidden, path) != 0; number++) {
        int length = snprintf(path, sizeof path, "%s.%u", recording->path, number);
        if (errno != EEXIST || length < 0 || (size_t)length >= sizeof path)
            return strerror(errno);
    }
    unlink(recording->hidden);
    memcpy(recording->path, path, sizeof path);
    return NULL;
}
