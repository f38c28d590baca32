/* SPDX-License-Identifier: MIT */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* ElfW */
#endif
#include "file_check.h"

#include <fcntl.h>
#include <link.h>
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

enum { MAX_SEGMENTS = 64 }; /* real drivers have fewer than 16 */

static bool file_is_truncated(int file, const ElfW(Ehdr) * header, uint64_t file_size)
{
    ElfW(Phdr) segments[MAX_SEGMENTS];
    size_t size = header->e_phnum * sizeof segments[0];
    if (header->e_phnum > MAX_SEGMENTS || header->e_phentsize != sizeof segments[0])
        return false;
    if (pread(file, segments, size, (off_t)header->e_phoff) != (ssize_t)size)
        return true;
    for (size_t i = 0; i < header->e_phnum; i++) {
        uint64_t start = segments[i].p_offset;
        uint64_t length = segments[i].p_filesz;
        if (segments[i].p_type == PT_LOAD && (start > file_size || length > file_size - start))
            return true;
    }
    return false;
}

static const char *fault_set(enum os_library_result result, const char *text, enum os_library_result *out_result)
{
    *out_result = result;
    return text;
}

static const char *file_find_fault(int file, enum os_library_result *out_result)
{
    struct stat status;
    ElfW(Ehdr) header;
    if (fstat(file, &status) != 0)
        return NULL;
    if (S_ISDIR(status.st_mode))
        return fault_set(OS_LIBRARY_UNLOADABLE, "this is a directory", out_result);
    if (!S_ISREG(status.st_mode))
        return fault_set(OS_LIBRARY_DAMAGED, "this is not a regular file", out_result);
    if (status.st_size == 0)
        return fault_set(OS_LIBRARY_EMPTY, "the file is empty", out_result);
    bool is_elf = pread(file, &header, sizeof header, 0) == (ssize_t)sizeof header
                  && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0
                  && header.e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32);
#if defined(OUR_MACHINE)
    if (is_elf && header.e_machine != OUR_MACHINE)
        return fault_set(OS_LIBRARY_OTHER_PROCESSOR, "it is built for another processor architecture", out_result);
#endif
    return is_elf && file_is_truncated(file, &header, (uint64_t)status.st_size)
               ? fault_set(OS_LIBRARY_DAMAGED, "the file is incomplete", out_result)
               : NULL;
}

/* Returns whether a name follows a "$", with or without braces, as glibc recognises it. */
static bool path_has_token(const char *dollar, const char *name)
{
    bool has_brace = dollar[1] == '{';
    const char *start = dollar + 1 + has_brace;
    size_t length = strlen(name);
    if (strncmp(start, name, length) != 0)
        return false;
    char next = start[length];
    return has_brace ? next == '}' : next != '_' && !(next >= 'A' && next <= 'Z') && !(next >= 'a' && next <= 'z');
}

static const char *path_find_token(const char *path)
{
    for (const char *dollar = path; (dollar = strchr(dollar, '$')) != NULL; dollar++) {
        if (path_has_token(dollar, "ORIGIN"))
            return "the dynamic loader would replace $ORIGIN in this path";
        if (path_has_token(dollar, "LIB"))
            return "the dynamic loader would replace $LIB in this path";
        if (path_has_token(dollar, "PLATFORM"))
            return "the dynamic loader would replace $PLATFORM in this path";
    }
    return NULL;
}

const char *cush_file_check(const char *path, enum os_library_result *out_result)
{
    const char *token = path_find_token(path);
    if (token != NULL)
        return fault_set(OS_LIBRARY_UNLOADABLE, token, out_result);
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return NULL;
    const char *fault = file_find_fault(file, out_result);
    close(file);
    return fault;
}
