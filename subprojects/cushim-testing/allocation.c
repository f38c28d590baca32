/* SPDX-License-Identifier: MIT */
/* Replaces the functions that allocate, so that one allocation can fail and the blocks in use are counted: in this
 * program and in the libraries that are linked into it (the linker's option --wrap for malloc, calloc and free), or
 * with ALLOCATION_OF_PROCESS in the whole process, with glibc. */
#include "allocation.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#if defined(ALLOCATION_OF_PROCESS)
#    define OWN(name) name
#    define REAL(name) __libc_##name
void *REAL(realloc)(void *old, size_t size);
void *REAL(memalign)(size_t alignment, size_t size);
#else
#    define OWN(name) __wrap_##name
#    define REAL(name) __real_##name
void *OWN(malloc)(size_t size);
void *OWN(calloc)(size_t count, size_t size);
void OWN(free)(void *block);
#endif
void *REAL(malloc)(size_t size);
void *REAL(calloc)(size_t count, size_t size);
void REAL(free)(void *block);

static _Thread_local int countdown = -1;
static _Thread_local bool failed;
static atomic_long blocks;

static bool is_to_fail(void)
{
    if (countdown < 0)
        return false;
    failed = countdown-- == 0;
    if (failed)
        errno = ENOMEM; /* pthread_create() of glibc relies on it */
    return failed;
}

static void *count(void *block)
{
    blocks += block != NULL;
    return block;
}

void *OWN(malloc)(size_t size)
{
    return is_to_fail() ? NULL : count(REAL(malloc)(size));
}

void *OWN(calloc)(size_t number, size_t size)
{
    return is_to_fail() ? NULL : count(REAL(calloc)(number, size));
}

void OWN(free)(void *block)
{
    blocks -= block != NULL;
    REAL(free)(block);
}

#if defined(ALLOCATION_OF_PROCESS)

void *realloc(void *old, size_t size)
{
    void *block = is_to_fail() ? NULL : REAL(realloc)(old, size);
    blocks += block != NULL && old == NULL;
    return block;
}

int posix_memalign(void **out_block, size_t alignment, size_t size)
{
    *out_block = is_to_fail() ? NULL : count(REAL(memalign)(alignment, size));
    return *out_block != NULL ? 0 : ENOMEM;
}

#endif

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
