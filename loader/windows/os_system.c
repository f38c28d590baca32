/* SPDX-License-Identifier: MIT */
#include "../os.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "../common/atomic.h"
#include "cushim/attributes.h"
#include "unicode.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

/* Windows has no fork(). */
static SRWLOCK load_lock = SRWLOCK_INIT;
atomic_uint cush_os_searches_started, cush_os_searches_ended;

/* The thread that holds the lock; 0 is not the id of a thread. A thread only compares it with its own id. */
static DWORD load_lock_owner;

void cush_os_load_lock(void)
{
    AcquireSRWLockExclusive(&load_lock);
    CUSHIM_STORE_RELEASE(&load_lock_owner, GetCurrentThreadId());
}

void cush_os_load_unlock(void)
{
    CUSHIM_STORE_RELEASE(&load_lock_owner, (DWORD)0);
    ReleaseSRWLockExclusive(&load_lock);
}

bool cush_os_load_lock_is_mine(void)
{
    return CUSHIM_LOAD_ACQUIRE(&load_lock_owner) == GetCurrentThreadId();
}

/* The last value of each variable; cushim reads only a few names. Guarded by the load lock. */
enum { MAX_VARIABLES = 8 };
static struct {
    const char *name;
    char *value;
} variables[MAX_VARIABLES];

/* Returns the value in the environment of the process, or NULL. Each C runtime may have a copy of the environment. */
static char *environment_read(const char *name)
{
    wchar_t wide_name[64];
    if (!cush_unicode_to_utf16(name, wide_name, sizeof wide_name / sizeof wide_name[0]))
        return NULL;
    DWORD size = GetEnvironmentVariableW(wide_name, NULL, 0);
    wchar_t *wide = size != 0 ? malloc(size * sizeof *wide) : NULL;
    char *value = size != 0 ? malloc(3 * (size_t)size) : NULL; /* UTF-8 takes three bytes at most for each unit */
    bool got = wide != NULL && value != NULL && GetEnvironmentVariableW(wide_name, wide, size) < size
               && cush_unicode_to_utf8(wide, value, 3 * (size_t)size);
    free(wide);
    if (got)
        return value;
    free(value);
    return NULL;
}

const char *cush_os_environment(const char *name)
{
    size_t i = 0;
    while (i < MAX_VARIABLES - 1 && variables[i].name != NULL && strcmp(variables[i].name, name) != 0)
        i++;
    free(variables[i].value);
    variables[i].name = name;
    variables[i].value = environment_read(name);
    return variables[i].value;
}

int cush_os_environment_copy(const char *name, char *value, size_t size)
{
    char *found = environment_read(name);
    size_t length = found != NULL ? strlen(found) : 0;
    size_t kept = length < size ? length : size - 1;
    memcpy(value, found != NULL ? found : "", kept);
    value[kept] = '\0';
    int result = found != NULL ? (int)length : -1;
    free(found);
    return result;
}

bool cush_os_privileged(void)
{
    return false; /* Windows has no programs that run with the rights of their file instead of those of their user */
}

unsigned long cush_os_process(void)
{
    return GetCurrentProcessId();
}

unsigned long cush_os_fork_count(void)
{
    return 0;
}

bool cush_os_is_forked(void)
{
    return false;
}

const bool cush_os_has_device_nodes = false;

/* A driver for Windows asks nothing of the process that could be refused. */
struct os_obstacle cush_os_obstacle_find(const char *root, CUresult code, unsigned others)
{
    (void)others;
    (void)root;
    (void)code;
    return (struct os_obstacle){.reason = CUSHIM_REASON_NONE, .message = ""};
}

bool cush_os_file_is_open(const char *path)
{
    (void)path;
    return false;
}
