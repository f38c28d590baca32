/* SPDX-License-Identifier: MIT */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include "../os.h"
#include "../common/atomic.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#    include <sys/auxv.h>
#endif

static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;
static bool has_fork_handlers;
static unsigned long fork_count;
atomic_uint cush_os_searches_started, cush_os_searches_ended;
static _Thread_local bool load_lock_is_mine;
static int cancel_state; /* of the thread that holds the lock, from before it took the lock */

/*
 * A fork() waits about 5 seconds for a load. The load may itself wait for the fork(): other fork handlers hold locks,
 * perhaps those of a driver, and in older C libraries (glibc before 2.36, musl) the fork() holds the lock of
 * pthread_atfork() and dlclose(). After this time the child has an unfinished load of which nothing is published. It
 * resets the lock, because the thread that holds it does not exist in the child.
 */
enum { FORK_PAUSES = 1000, FORK_PAUSE_NANOSECONDS = 5000000 };
static _Thread_local bool fork_has_lock;

/* macOS has no pthread_mutex_timedlock(). A sleep is a cancellation point, and fork() is none. */
static CUSHIM_COLD void load_lock_before_fork(void)
{
    struct timespec rest;
    int state;
    if (load_lock_is_mine || fork_has_lock)
        return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    for (int i = 0; !(fork_has_lock = pthread_mutex_trylock(&load_lock) == 0) && i < FORK_PAUSES; i++) {
        rest = (struct timespec){.tv_nsec = FORK_PAUSE_NANOSECONDS};
        while (nanosleep(&rest, &rest) != 0)
            continue; /* a signal does not shorten the wait */
    }
    pthread_setcancelstate(state, NULL);
}

static void load_lock_after_fork(void)
{
    if (!fork_has_lock || load_lock_is_mine)
        return;
    fork_has_lock = false;
    pthread_mutex_unlock(&load_lock);
}

static CUSHIM_COLD void load_lock_after_fork_in_child(void)
{
    static const pthread_mutex_t free_lock = PTHREAD_MUTEX_INITIALIZER;
    if (!fork_has_lock && !load_lock_is_mine)
        load_lock = free_lock;
    load_lock_after_fork();
    fork_count++;
    atomic_store(&cush_os_searches_started, 0);
    atomic_store(&cush_os_searches_ended, 0);
}

/* Two threads can both register the handlers, which then do their work once. pthread_once() would wake waiting threads,
 * a system call that a process without threads never makes. */
static void load_lock_register_handlers(void)
{
    if (CUSHIM_LOAD_ACQUIRE(&has_fork_handlers))
        return;
    /* This fails only without memory. Then a fork() during a load is not safe. */
    (void)pthread_atfork(load_lock_before_fork, load_lock_after_fork, load_lock_after_fork_in_child);
    CUSHIM_STORE_RELEASE(&has_fork_handlers, true);
}

void cush_os_load_lock(void)
{
    load_lock_register_handlers();
    if (!fork_has_lock)
        pthread_mutex_lock(&load_lock);
    /* A thread that is cancelled while it opens a file would never release the lock. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    load_lock_is_mine = true;
}

void cush_os_load_unlock(void)
{
    int restored = cancel_state;
    load_lock_is_mine = false;
    if (!fork_has_lock)
        pthread_mutex_unlock(&load_lock);
    pthread_setcancelstate(restored, NULL);
}

bool cush_os_load_lock_is_mine(void)
{
    return load_lock_is_mine;
}

const char *cush_os_environment(const char *name)
{
    return getenv(name);
}

int cush_os_environment_copy(const char *name, char *value, size_t size)
{
    const char *found = getenv(name);
    snprintf(value, size, "%s", found != NULL ? found : "");
    return found != NULL ? (int)strlen(found) : -1;
}

bool cush_os_privileged(void)
{
#if defined(__linux__)
    return getauxval(AT_SECURE) != 0;
#else
    return getuid() != geteuid() || getgid() != getegid();
#endif
}

unsigned long cush_os_process(void)
{
    return (unsigned long)getpid();
}

unsigned long cush_os_fork_count(void)
{
    return fork_count;
}

/* By the fork handler, or by the flag PF_FORKNOEXEC of the kernel, which an emulator or a sandbox may not show. It is
 * the 7th field after the name of the program, which can contain anything. */
bool cush_os_is_forked(void)
{
    enum { FORK_WITHOUT_EXEC = 0x40, FIELDS = 7 };
    char text[512];
    if (fork_count > 0)
        return true;
    const char *field = cush_os_file_read("/proc/self/stat", text, sizeof text) ? strrchr(text, ')') : NULL;
    for (int i = 0; i < FIELDS && field != NULL; i++)
        field = strchr(field + 1, ' ');
    return field != NULL && (strtoull(field, NULL, 10) & FORK_WITHOUT_EXEC) != 0;
}
