/* SPDX-License-Identifier: MIT */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include "../os_system.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#if defined(__linux__)
#    include <sys/auxv.h>
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static _Thread_local bool lock_is_mine;
static int cancel_state; /* of the thread that holds the lock, before it did */

static void before_fork(void)
{
    if (!lock_is_mine)
        pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    if (!lock_is_mine)
        pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
    /* It fails only for lack of memory; then a fork in the middle of a load is the program's risk. */
    (void)pthread_atfork(before_fork, after_fork, after_fork);
}

void cushim_priv_os_load_lock(void)
{
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

enum os_file cushim_priv_os_file_state(const char *path, bool also_write)
{
    if (faccessat(AT_FDCWD, path, also_write ? R_OK | W_OK : R_OK, AT_EACCESS) == 0)
        return OS_FILE_READY;
    return errno == EACCES || errno == EPERM || errno == EROFS ? OS_FILE_DENIED : OS_FILE_ABSENT;
}

bool cushim_priv_os_file_read(const char *path, char *text, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return false;
    ssize_t length = read(file, text, size - 1);
    close(file);
    text[length > 0 ? length : 0] = '\0';
    return length >= 0;
}

bool cushim_priv_os_folder_find(const char *path, bool (*matches)(const char *folder, const char *name))
{
    DIR *folder = opendir(path);
    if (folder == NULL)
        return false;
    bool found = false;
    for (const struct dirent *entry; !found && (entry = readdir(folder)) != NULL;)
        found = matches(path, entry->d_name);
    closedir(folder);
    return found;
}
