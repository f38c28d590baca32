/* SPDX-License-Identifier: MIT */
#include "chunks.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "open_file.h"
#include "quiet_text.h"

struct trace_header *_Atomic file_header;
atomic_bool file_failed;
static const char *file_path, *file_link; /* the second one is NULL without the command */

/* ---- the file ---- */

bool file_set_path(const char *path, const char *link)
{
    file_path = strdup(path);
    file_link = link != NULL ? strdup(link) : NULL;
    return file_path != NULL && (link == NULL || file_link != NULL);
}

static const char other_version[] = "this file is not a trace of this version of cushim";

static bool fail_file(const char *why)
{
    if (secure_getenv(TRACE_QUIET_VARIABLE) == NULL)
        quiet_print(STDERR_FILENO, "cushim: trace: %s: %s; the calls of process %ld are not recorded\n", file_path, why,
                    (long)getpid());
    STORE(file_failed, 1);
    return false;
}

/* A recording that has ended can continue if no command made it: gives it its room again. */
static bool file_reopen(int descriptor, const struct trace_header *header)
{
    uint64_t taken = header->taken - TRACE_CLOSED;
    return quiet_resize(descriptor, (off_t)(TRACE_CHUNKS_AT + header->chunk_count * TRACE_CHUNK_SIZE))
           && pwrite(descriptor, &taken, sizeof taken, offsetof(struct trace_header, taken)) == sizeof taken;
}

/* Returns NULL, or what is wrong with the file. An empty file becomes a trace; an existing trace gets more calls. */
static const char *file_map(int descriptor, const struct trace_schema *schema)
{
    struct trace_header header;
    struct stat status;
    if (fstat(descriptor, &status) != 0
        || (status.st_size == 0
            && !trace_file_make(descriptor, (uint64_t)TRACE_DEFAULT_MEBIBYTES << 20, true, false, false,
                                program_invocation_name)))
        return strerror(errno);
    if (pread(descriptor, &header, sizeof header, 0) != (ssize_t)sizeof header || header.magic != TRACE_MAGIC
        || header.version != TRACE_VERSION)
        return other_version;
    if (schema != NULL && header.slot_count != 0 && header.slot_count != schema->slot_count)
        return other_version;
    if (header.taken >= TRACE_CLOSED && file_link != NULL)
        return "the recording has ended";
    if (header.taken >= TRACE_CLOSED && !file_reopen(descriptor, &header))
        return strerror(errno);
    void *mapped = mmap(NULL, TRACE_CHUNKS_AT + header.chunk_count * TRACE_CHUNK_SIZE, PROT_READ | PROT_WRITE,
                        MAP_SHARED, descriptor, 0);
    if (mapped == MAP_FAILED && errno == ENOMEM)
        return "the process has no room for the mapped file (ulimit -v; --size makes it smaller)";
    if (mapped == MAP_FAILED)
        return strerror(errno);
    STORE(file_header, mapped);
    return NULL;
}

/* With the command, the file that it has open, also if the program has moved or removed the path. A process in another
 * PID namespace finds it by the path. */
static int file_descriptor(void)
{
    return file_link != NULL ? open_file_open(file_link, file_path, O_RDWR)
                             : open(file_path, O_RDWR | O_CLOEXEC | O_CREAT, 0600);
}

bool file_open(const struct trace_schema *schema)
{
    int descriptor = file_descriptor();
    if (descriptor < 0)
        return fail_file(strerror(errno));
    flock(descriptor, LOCK_EX); /* other processes of the program may do the same */
    const char *why = file_map(descriptor, schema);
    flock(descriptor, LOCK_UN); /* the mapping would keep the lock */
    close(descriptor);
    return why == NULL || fail_file(why);
}

/* Makes sure that the disk has room for a part of the file: a write to a page without room would end the process
 * (SIGBUS). A sandbox can refuse the system calls that this needs, which says nothing about the disk. */
enum room { HAS_ROOM, IS_FULL, IS_REFUSED };
static enum room part_find_room(size_t at, size_t size)
{
    if (madvise((char *)LOAD(file_header) + at, size, MADV_POPULATE_WRITE) == 0)
        return HAS_ROOM;
    if (errno != EINVAL)
        return errno == EFAULT ? IS_FULL : IS_REFUSED;
    /* Linux before 5.14 */
    int descriptor = file_descriptor();
    int error = descriptor >= 0 ? posix_fallocate(descriptor, (off_t)at, (off_t)size) : errno;
    if (descriptor >= 0)
        close(descriptor);
    return error == 0 ? HAS_ROOM : error == ENOSPC || error == EDQUOT ? IS_FULL : IS_REFUSED;
}

/* Processes that do this at the same time write the same. The count comes last: a file with it is complete. */
bool file_describe(const struct trace_schema *schema)
{
    static char text[TRACE_CHUNKS_AT];
    struct trace_header *header = LOAD(file_header);
    char *at = (char *)header + TRACE_HEADER_SIZE;
    size_t states = 2 * (size_t)schema->slot_count, length = schema->write(text, sizeof text);
    uint32_t count = LOAD(header->slot_count);
    if (count != 0)
        return count == schema->slot_count || fail_file(other_version);
    enum room room = part_find_room(0, TRACE_HEADER_SIZE + states + length);
    if (room != HAS_ROOM)
        return fail_file(room == IS_FULL ? "the disk is full" : "the system refuses room in the file");
    memcpy(at, schema->states, states);
    memcpy(at + states, text, length);
    header->schema_at = (uint32_t)(TRACE_HEADER_SIZE + states);
    header->schema_size = (uint32_t)length;
    STORE(header->slot_count, schema->slot_count);
    return true;
}

/* ---- chunks ---- */

/* The program that a process has become can be another one than that which filled a chunk: both have one number in the
 * system, and different ones in the file. */
static uint64_t own_owner(uint32_t process)
{
    return (uint64_t)process << 32 | (uint32_t)getpid();
}

/* Whether a chunk can be taken: nobody fills it, or its process is gone, or has become another program. */
static bool chunk_claim(struct trace_chunk *chunk, uint64_t own)
{
    uint64_t owner = LOAD(chunk->owner);
    bool is_of_other = owner != 0 && (uint32_t)owner != (uint32_t)own;
    if (owner == own || (is_of_other && (kill((pid_t)(uint32_t)owner, 0) == 0 || errno != ESRCH)))
        return false;
    return atomic_compare_exchange_strong(&chunk->owner, &owner, own);
}

/* Begins a chunk that this process has claimed. */
static void chunk_begin(struct trace_chunk *chunk, uint64_t sequence, uint32_t process)
{
    atomic_fetch_add(&LOAD(file_header)->overwritten, chunk->calls);
    STORE(chunk->used, sizeof *chunk);
    chunk->calls = chunk->open = 0;
    chunk->process = process;
    chunk->pid = (uint32_t)getpid();
    STORE(chunk->sequence, sequence);
}

/*
 * The disk has no room for the chunk whose turn it is: the file ends before it. Every thread that sees the mark does
 * this, so that none waits for a process that was killed. The turn is lost, so that no thread that has not yet seen the
 * new end takes that chunk.
 */
static void chunks_truncate(struct trace_header *header, uint64_t taken)
{
    STORE(header->chunk_count, taken & ~TRACE_FULL);
    STORE(header->limit, TRACE_LIMIT_DISK);
    atomic_compare_exchange_strong(&header->taken, &taken, (taken & ~TRACE_FULL) + 1);
}

/* A chunk is taken only when the disk has room for it: readers read every chunk that was taken, and to read a page
 * without room would end them, too. */
struct trace_chunk *chunk_take(uint32_t process)
{
    struct trace_header *header = LOAD(file_header);
    uint64_t own = own_owner(process), tried = 0;
    for (;;) {
        uint64_t taken = LOAD(header->taken), count = LOAD(header->chunk_count); /* in this order */
        if (taken >= TRACE_CLOSED)
            return NULL;
        if ((taken & TRACE_FULL) != 0) {
            chunks_truncate(header, taken);
            continue;
        }
        if (count == 0 || tried > count || (taken >= count && !header->keeps_newest))
            return NULL;
        struct trace_chunk *chunk = chunk_at(taken % count);
        enum room room = part_find_room(TRACE_CHUNKS_AT + taken % count * TRACE_CHUNK_SIZE, TRACE_CHUNK_SIZE);
        if (room == IS_REFUSED) { /* other processes go on */
            STORE(header->is_refused, 1);
            return NULL;
        }
        bool has_room = room == HAS_ROOM;
        uint64_t next = has_room || taken >= count ? taken + 1 : taken | TRACE_FULL;
        if (!atomic_compare_exchange_strong(&header->taken, &taken, next))
            continue;
        if (has_room && chunk_claim(chunk, own)) {
            chunk_begin(chunk, taken + 1, process);
            return chunk;
        }
        tried++;
    }
}
