/* SPDX-License-Identifier: MIT */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include "../os_system.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#    include <sys/auxv.h>
#endif
#if defined(__GLIBC__)
#    if __GLIBC_PREREQ(2, 32)
#        include <sys/single_threaded.h>
#        define TELLS_SINGLE_THREADED
#    endif
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static _Thread_local bool lock_is_mine;
static int cancel_state; /* of the thread that holds the lock, before it did */

/*
 * The seconds that a fork waits for a load. What the load waits for may be the fork itself: its other handlers hold
 * locks, a driver's perhaps, and in older C libraries (glibc before 2.36, musl) the fork holds the one of
 * pthread_atfork() and dlclose(). Then the child finds a load half done, of which nothing is published, and frees the
 * lock, whose holder it has not got.
 */
enum { FORK_PATIENCE = 5 };
static _Thread_local bool fork_has_lock;

static void before_fork(void)
{
    struct timespec deadline;
    if (lock_is_mine)
        return;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += FORK_PATIENCE;
    fork_has_lock = pthread_mutex_timedlock(&lock, &deadline) == 0;
}

static void after_fork(void)
{
    if (fork_has_lock)
        pthread_mutex_unlock(&lock);
    fork_has_lock = false;
}

static void after_fork_in_child(void)
{
    static const pthread_mutex_t free_lock = PTHREAD_MUTEX_INITIALIZER;
    if (!fork_has_lock && !lock_is_mine)
        lock = free_lock;
    after_fork();
}

static void watch_forks(void)
{
    /* It fails only for lack of memory; then a fork in the middle of a load is the program's risk. */
    (void)pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

/* While a process has one thread, nobody can fork in the middle of a load but that very thread. */
static bool is_single_threaded(void)
{
#if defined(TELLS_SINGLE_THREADED)
    return __libc_single_threaded != 0;
#else
    return false;
#endif
}

void cushim_priv_os_load_lock(void)
{
    if (!is_single_threaded())
        pthread_once(&fork_once, watch_forks);
    pthread_mutex_lock(&lock);
    /* A thread that is cancelled while it opens a file would take the lock with it. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    lock_is_mine = true;
}

void cushim_priv_os_load_unlock(void)
{
    int restored = cancel_state;
    lock_is_mine = false;
    pthread_mutex_unlock(&lock);
    pthread_setcancelstate(restored, NULL);
}

bool cushim_priv_os_load_lock_is_mine(void)
{
    return lock_is_mine;
}

const char *cushim_priv_os_environment(const char *name)
{
    return getenv(name);
}

bool cushim_priv_os_privileged(void)
{
#if defined(__linux__)
    return getauxval(AT_SECURE) != 0;
#else
    return getuid() != geteuid() || getgid() != getegid();
#endif
}

const bool cushim_priv_os_has_device_nodes = true;
