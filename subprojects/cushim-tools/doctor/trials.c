/* SPDX-License-Identifier: MIT */
#include "trials.h"

struct trials *trials_create(void)
{
    return child_memory_create(sizeof(struct trials));
}

void trials_destroy(struct trials *trials)
{
    if (trials != NULL)
        child_memory_destroy(trials, sizeof *trials);
}

#if !defined(__linux__)
void trials_run(struct trials *trials, const char *root, int seconds)
{
    (void)trials;
    (void)root;
    (void)seconds;
}
#else
#    include <errno.h>
#    include <fcntl.h>
#    include <pthread.h>
#    include <stdint.h>
#    include <stdio.h>
#    include <string.h>
#    include <sys/eventfd.h>
#    include <sys/mman.h>
#    include <sys/socket.h>
#    include <sys/stat.h>
#    include <sys/syscall.h>
#    include <unistd.h>

#    include "machine.h"
#    include "platform.h"

static const char *root_of_trials; /* of this process */

/* Keeps the result of an operation. Returns whether it succeeded. */
static bool trial_end(struct trials *trials, const char *call, const char *path, bool succeeded)
{
    if (!succeeded)
        operations_add(&trials->operations, call, path, errno);
    return succeeded;
}

static void trial_begin(struct trials *trials, const char *what)
{
    snprintf(trials->current, sizeof trials->current, "%s", what);
    trials->begun++;
}

/* ---- The files ---- */

/* Opens a file as the driver does. Returns the descriptor, or -1. */
static int try_open(struct trials *trials, const char *path, int flags)
{
    char below[OS_PATH_SIZE];
    bool is_device = strncmp(path, "/dev/", 5) == 0;
    trial_begin(trials, path);
    if (!cush_os_path_below(is_device ? root_of_trials : "", path, below, sizeof below))
        return -1;
    int file = open(below, flags | O_CLOEXEC);
    int error = errno;
    if (file < 0) {
        int direct = (int)syscall(SYS_openat, AT_FDCWD, below, flags | O_CLOEXEC);
        if (direct >= 0) {
            snprintf(trials->intercepted, sizeof trials->intercepted, "%s", path);
            close(direct);
        }
        errno = error;
    }
    trial_end(trials, "openat", path, file >= 0);
    return file;
}

static bool try_device(struct trials *trials, const char *path)
{
    /* The size of the blocks of memory that the driver library tells the kernel module once. 0 changes nothing: the
     * module accepts it, or answers that it knows another size (EBUSY). */
    static const unsigned long sys_params = 0xc00846d6;
    int file = try_open(trials, path, O_RDWR);
    if (file < 0)
        return false;
    struct stat status;
    uint64_t answer = 0;
    if (root_of_trials[0] == '\0' && strcmp(path, "/dev/nvidia-uvm") != 0) {
        bool is_device = fstat(file, &status) == 0 && S_ISCHR(status.st_mode);
        errno = ENOTTY;
        bool has_answered =
            is_device && (syscall(SYS_ioctl, file, sys_params, &answer) == 0 || errno == EINVAL || errno == EBUSY);
        trial_end(trials, "ioctl", path, has_answered);
    }
    close(file);
    return true;
}

static void try_gpus(struct trials *trials)
{
    enum { MOST = 16 };
    int found = 0;
    char path[32], below[OS_PATH_SIZE];
    for (int i = 0; i < MOST; i++) {
        snprintf(path, sizeof path, "/dev/nvidia%d", i);
        if (!cush_os_path_below(root_of_trials, path, below, sizeof below) || !platform_exists(below))
            continue;
        found++;
        trials->gpus_opened += try_device(trials, path);
    }
    if (found == 0)
        trials->gpus_opened += try_device(trials, "/dev/nvidia0");
}

/* ---- The rest ---- */

static void *thread_do_nothing(void *unused)
{
    return unused;
}

/* The name of a thread is a file, which the driver writes. */
static void try_thread(struct trials *trials)
{
    char path[64];
    pthread_t thread;
    trial_begin(trials, "clone");
    errno = pthread_create(&thread, NULL, thread_do_nothing, NULL);
    if (trial_end(trials, "clone3", "", errno == 0))
        pthread_join(thread, NULL);
    snprintf(path, sizeof path, "/proc/self/task/%ld/comm", (long)getpid());
    int file = try_open(trials, path, O_RDWR);
    if (file >= 0)
        close(file);
}

static void try_descriptors(struct trials *trials)
{
    trial_begin(trials, "eventfd");
    int event = eventfd(0, EFD_CLOEXEC);
    if (trial_end(trials, "eventfd2", "", event >= 0))
        close(event);
    int ends[2];
    trial_begin(trials, "pipe2");
    if (trial_end(trials, "pipe2", "", pipe2(ends, O_CLOEXEC) == 0)) {
        close(ends[0]);
        close(ends[1]);
    }
    trial_begin(trials, "memfd_create");
    int file = (int)syscall(SYS_memfd_create, "cushim", 0);
    if (trial_end(trials, "memfd_create", "", file >= 0))
        close(file);
}

static void try_many_descriptors(struct trials *trials)
{
    enum { NEEDED = 40 }; /* driver 580 makes no context with 32 */
    int files[NEEDED], count = 0;
    trial_begin(trials, "eventfd");
    while (count < NEEDED && (files[count] = eventfd(0, EFD_CLOEXEC)) >= 0)
        count++;
    trial_end(trials, "eventfd2", "", count == NEEDED);
    while (count > 0)
        close(files[--count]);
}

static void try_memory(struct trials *trials)
{
    static const size_t needed = sizeof(size_t) > 4 ? (size_t)1 << 32 : (size_t)1 << 28;
    trial_begin(trials, "mmap");
    int file = try_open(trials, "/proc/self/maps", O_RDONLY);
    if (file >= 0)
        close(file);
    void *memory = mmap(NULL, needed, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (trial_end(trials, "mmap", sizeof(size_t) > 4 ? "4 GiB" : "256 MiB", memory != MAP_FAILED))
        munmap(memory, needed);
}

static void try_socket(struct trials *trials)
{
    trial_begin(trials, "socket");
    int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (trial_end(trials, "socket", "", file >= 0))
        close(file);
}

static void trials_work(void *memory)
{
    struct trials *trials = memory;
    trials->tried = true;
    try_descriptors(trials);
    try_thread(trials);
    trials->control_opened = try_device(trials, "/dev/nvidiactl");
    try_gpus(trials);
    trials->uvm_opened = try_device(trials, "/dev/nvidia-uvm");
    try_memory(trials);
    try_socket(trials);
    try_many_descriptors(trials);
    trials->has_ended = true;
}

void trials_run(struct trials *trials, const char *root, int seconds)
{
    int begun;
    root_of_trials = root;
    trials->child.may_begin = trials->child.is_quiet = true;
    struct child child = child_start(trials_work, trials);
    if (child.error != 0) {
        errno = child.error;
        trials->tried = true;
        trial_end(trials, "fork", "", false);
        return;
    }
    do {
        begun = trials->begun;
    } while (!child_wait(&child, seconds * 1000) && trials->begun != begun);
    if (!child.has_ended)
        child_stop(&child);
    else
        trials->signal = child.signal;
}
#endif
