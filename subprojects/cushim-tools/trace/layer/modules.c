/* SPDX-License-Identifier: MIT */
/*
 * /proc/self/maps is read in place of dl_iterate_phdr(): that needs a lock of the dynamic loader, which a thread of the
 * parent can hold when a child of fork() calls the driver.
 */
#include "modules.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int modules_find(const struct modules *modules, uint64_t address)
{
    uint32_t count = atomic_load_explicit(&modules->count, memory_order_acquire);
    for (uint32_t i = 0; i < count && i < MAX_MODULES; i++) {
        const struct module_range *range = &modules->ranges[i];
        uint64_t end = atomic_load_explicit(&range->end, memory_order_acquire);
        if (address < end && address >= range->start)
            return (int)i;
    }
    return -1;
}

/* A line of /proc/self/maps. */
struct line {
    uint64_t start, end, base; /* base: where the file would start */
    const char *path;
    size_t length;
};

static void module_add(struct modules *modules, const struct line *line)
{
    struct stat status = {.st_size = 0};
    char path[TRACE_TEXT_MAX + 1];
    uint32_t index = atomic_fetch_add(&modules->count, 1);
    if (index >= MAX_MODULES) {
        atomic_store(&modules->count, MAX_MODULES);
        return;
    }
    struct module *module = &modules->all[index];
    size_t left_out = line->length > TRACE_TEXT_MAX ? line->length - TRACE_TEXT_MAX : 0;
    module->length = (uint32_t)(line->length - left_out);
    memcpy(module->path, line->path + left_out, module->length);
    memcpy(path, module->path, module->length);
    path[module->length] = '\0';
    if (path[0] == '/')
        (void)stat(path, &status);
    const uint64_t words[] = {line->start, line->end, line->base, (uint64_t)status.st_size,
                              (uint64_t)status.st_mtim.tv_sec * 1000000000 + (uint64_t)status.st_mtim.tv_nsec};
    memcpy(module->words, words, sizeof words);
    modules->ranges[index].start = line->start;
    atomic_store_explicit(&modules->ranges[index].end, line->end, memory_order_release);
}

static const char *read_hexadecimal(const char *at, const char *end, uint64_t *out_value)
{
    for (*out_value = 0; at < end; at++) {
        int digit = *at >= '0' && *at <= '9' ? *at - '0' : *at >= 'a' && *at <= 'f' ? *at - 'a' + 10 : -1;
        if (digit < 0)
            break;
        *out_value = *out_value << 4 | (uint64_t)digit;
    }
    return at;
}

/* Reads "7f1200-7f1300 r-xp 00001000 fe:01 1234    /usr/lib/libfoo.so". A file starts with its first line. */
static void line_read(struct line *line, const char *at, const char *end)
{
    uint64_t offset = 0;
    at = read_hexadecimal(at, end, &line->start);
    at = read_hexadecimal(at + (at < end), end, &line->end);
    if (end - at > 6)
        at = read_hexadecimal(at + 6, end, &offset);
    for (int word = 0; word < 2 && at < end; word++) { /* the device and the inode */
        while (at < end && *at == ' ')
            at++;
        while (at < end && *at != ' ')
            at++;
    }
    while (at < end && *at == ' ')
        at++;
    line->path = at;
    line->length = (size_t)(end - at);
    if (offset == 0)
        line->base = line->start;
}

static void line_use(struct modules *modules, const struct line *line, const uint64_t *addresses, size_t count)
{
    bool has_address = false;
    for (size_t i = 0; i < count; i++)
        has_address |= addresses[i] >= line->start && addresses[i] < line->end;
    if (has_address && modules_find(modules, line->start) < 0)
        module_add(modules, line);
}

void modules_add(struct modules *modules, const uint64_t *addresses, size_t count)
{
    char text[4096];
    size_t length = 0;
    struct line line = {.start = 0};
    int file = atomic_load(&modules->count) < MAX_MODULES ? open("/proc/self/maps", O_RDONLY | O_CLOEXEC) : -1;
    for (ssize_t got; file >= 0 && (got = read(file, text + length, sizeof text - length)) > 0;) {
        const char *at = text, *end, *whole = text + length + got;
        for (; (end = memchr(at, '\n', (size_t)(whole - at))) != NULL; at = end + 1) {
            line_read(&line, at, end);
            line_use(modules, &line, addresses, count);
        }
        length = (size_t)(whole - at) < sizeof text ? (size_t)(whole - at) : 0;
        memmove(text, at, length);
    }
    if (file >= 0)
        close(file);
    /* An address of no part is not looked for again. */
    for (size_t i = 0; file >= 0 && i < count; i++) {
        if (modules_find(modules, addresses[i]) < 0)
            module_add(modules, &(struct line){addresses[i], addresses[i] + 1, addresses[i], "", 0});
    }
}
