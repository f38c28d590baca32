/* SPDX-License-Identifier: MIT */
/*
 * A preloaded library that makes allocations fail: in the environment, NO_MEMORY_AFTER is the number of those that
 * succeed before, and NO_MEMORY_ONCE lets those after the first failure succeed. A failure creates the file
 * NO_MEMORY_FILE.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static int fails(void)
{
    static long left = -2; /* -2: the variable has not been read; -1: no further one fails */
    if (left == -2)
        left = atol(getenv("NO_MEMORY_AFTER"));
    if (left != 0) {
        left -= left > 0;
        return 0;
    }
    left = getenv("NO_MEMORY_ONCE") != NULL ? -1 : 0;
    close(creat(getenv("NO_MEMORY_FILE"), 0600));
    return 1;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails() ? NULL : __libc_realloc(old, size);
}
