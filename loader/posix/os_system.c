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

static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static _Thread_local bool load_lock_is_mine;
static int cancel_state; /* of the thread that holds the lock, before it did */

/*
 * The seconds that a fork waits for a load. What the load waits for may be the fork itself: its other handlers hold
 * locks, a driver's perhaps, and in older C libraries (glibc before 2.36, musl) the fork holds the one of
 * pthread_atfork() and dlclose(). Then the child finds a load half done, of which nothing is published, and frees the
 * lock, whose holder it has not got.
 */
enum { FORK_PATIENCE = 5 };
static _Thread_local bool fork_has_lock;

static void load_lock_before_fork(void)
{
    struct timespec deadline;
    if (load_lock_is_mine)
        return;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += FORK_PATIENCE;
    fork_has_lock = pthread_mutex_timedlock(&load_lock, &deadline) == 0;
}

static void load_lock_after_fork(void)
{
    if (fork_has_lock)
        pthread_mutex_unlock(&load_lock);
    fork_has_lock = false;
}

static void load_lock_after_fork_in_child(void)
{
    static const pthread_mutex_t free_lock = PTHREAD_MUTEX_INITIALIZER;
    if (!fork_has_lock && !load_lock_is_mine)
        load_lock = free_lock;
    load_lock_after_fork();
}

static void load_lock_watch_forks(void)
{
    /* It fails only for lack of memory; then a fork in the middle of a load is the program's risk. */
    (void)pthread_atfork(load_lock_before_fork, load_lock_after_fork, load_lock_after_fork_in_child);
}

void cush_os_load_lock(void)
{
    pthread_once(&fork_once, load_lock_watch_forks);
    pthread_mutex_lock(&load_lock);
    /* A thread that is cancelled while it opens a file would take the lock with it. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    load_lock_is_mine = true;
}

void cush_os_load_unlock(void)
{
    int restored = cancel_state;
    load_lock_is_mine = false;
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

bool cush_os_privileged(void)
{
#if defined(__linux__)
    return getauxval(AT_SECURE) != 0;
#else
    return getuid() != geteuid() || getgid() != getegid();
#endif
}

const bool cush_os_has_device_nodes = true;
