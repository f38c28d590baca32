/* SPDX-License-Identifier: MIT */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* ElfW */
#endif
#include "file_check.h"

#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
#    define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#    define OUR_MACHINE EM_AARCH64
#elif defined(__powerpc64__)
#    define OUR_MACHINE EM_PPC64
#elif defined(__i386__)
#    define OUR_MACHINE EM_386
#elif defined(__arm__)
#    define OUR_MACHINE EM_ARM
#endif

enum { MOST_SEGMENTS = 64 }; /* real drivers have fewer than 16 */

static const char *check_segments(int file, const ElfW(Ehdr) * header, uint64_t file_size)
{
    ElfW(Phdr) segments[MOST_SEGMENTS];
    size_t size = header->e_phnum * sizeof segments[0];
    if (header->e_phnum > MOST_SEGMENTS || header->e_phentsize != sizeof segments[0])
        return NULL;
    if (pread(file, segments, size, (off_t)header->e_phoff) != (ssize_t)size)
        return NULL;
    for (size_t i = 0; i < header->e_phnum; i++) {
        uint64_t start = segments[i].p_offset;
        uint64_t length = segments[i].p_filesz;
        if (segments[i].p_type == PT_LOAD && (start > file_size || length > file_size - start))
            return "the file is incomplete";
    }
    return NULL;
}

static const char *check_open_file(int file)
{
    struct stat status;
    ElfW(Ehdr) header;
    if (fstat(file, &status) != 0)
        return NULL;
    if (S_ISDIR(status.st_mode))
        return "this is a directory";
    if (!S_ISREG(status.st_mode))
        return "this is no regular file";
    bool is_ours = pread(file, &header, sizeof header, 0) == (ssize_t)sizeof header
                   && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0
                   && header.e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32);
#if defined(OUR_MACHINE)
    if (is_ours && header.e_machine != OUR_MACHINE)
        return "it is made for another processor";
#endif
    return is_ours ? check_segments(file, &header, (uint64_t)status.st_size) : NULL;
}

const char *cush_file_check(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return NULL;
    const char *fault = check_open_file(file);
    close(file);
    return fault;
}
