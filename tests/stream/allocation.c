/* SPDX-License-Identifier: MIT */
/* Replaces malloc(), calloc() and free() in this program and in the library that is linked into it (the linker's option
 * --wrap), so that one allocation can fail and the blocks in use are counted. */
#include <stdlib.h>

#include "support.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void __wrap_free(void *block);

static _Thread_local int countdown = -1;
static _Thread_local bool failed;
static atomic_long blocks;

static bool is_to_fail(void)
{
    if (countdown < 0)
        return false;
    failed = countdown-- == 0;
    return failed;
}

static void *count(void *block)
{
    blocks += block != NULL;
    return block;
}

void *__wrap_malloc(size_t size)
{
    return is_to_fail() ? NULL : count(__real_malloc(size));
}

void *__wrap_calloc(size_t number, size_t size)
{
    return is_to_fail() ? NULL : count(__real_calloc(number, size));
}

void __wrap_free(void *block)
{
    blocks -= block != NULL;
    __real_free(block);
}

void allocation_fail(int number)
{
    failed = false;
    countdown = number;
}

bool allocation_failed(void)
{
    countdown = -1;
    return failed;
}

long allocation_count(void)
{
    return blocks;
}
