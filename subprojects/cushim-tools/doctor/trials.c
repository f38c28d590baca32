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

static bool open_device(struct trials *trials, const char *path)
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

static void try_DEVICE(struct trials *trials, const char *path)
{
    bool *is_open = strcmp(path, "/dev/nvidiactl") == 0 ? &trials->control_opened : &trials->uvm_opened;
    *is_open = open_device(trials, path);
}

static bool device_exists(const char *path)
{
    char below[OS_PATH_SIZE];
    return cush_os_path_below(root_of_trials, path, below, sizeof below) && platform_exists(below);
}

/* Other machines do without it. */
static void try_JETSON(struct trials *trials, const char *path)
{
    if (device_exists(path))
        (void)open_device(trials, path);
}

/* Each GPU, or the first one if there is none. */
static void try_GPU(struct trials *trials, const char *first)
{
    enum { MOST = 16 };
    int found = 0;
    char path[32];
    for (int i = 0; i < MOST; i++) {
        snprintf(path, sizeof path, "/dev/nvidia%d", i);
        if (!device_exists(path))
            continue;
        found++;
        trials->gpus_opened += open_device(trials, path);
    }
    if (found == 0)
        trials->gpus_opened += open_device(trials, first);
}

static void try_file(struct trials *trials, const char *path, int flags)
{
    int file = try_open(trials, path, flags);
    if (file >= 0)
        close(file);
}

/* ---- The rest ---- */

static void *thread_do_nothing(void *unused)
{
    return unused;
}

static void try_THREAD(struct trials *trials)
{
    pthread_t thread;
    trial_begin(trials, "clone");
    errno = pthread_create(&thread, NULL, thread_do_nothing, NULL);
    if (trial_end(trials, "clone3", "", errno == 0))
        pthread_join(thread, NULL);
}

/* The name of a thread is a file, which the driver writes. */
static void try_THREAD_NAME(struct trials *trials)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%ld/comm", (long)getpid());
    try_file(trials, path, O_RDWR);
}

static void try_PIPE(struct trials *trials)
{
    int ends[2];
    trial_begin(trials, "pipe2");
    if (trial_end(trials, "pipe2", "", pipe2(ends, O_CLOEXEC) == 0)) {
        close(ends[0]);
        close(ends[1]);
    }
}

static void try_MEMORY_FILE(struct trials *trials)
{
    trial_begin(trials, "memfd_create");
    int file = (int)syscall(SYS_memfd_create, "cushim", 0);
    if (trial_end(trials, "memfd_create", "", file >= 0))
        close(file);
}

static void try_events(struct trials *trials, int needed)
{
    int files[OS_CONTEXT_FILES], count = 0;
    trial_begin(trials, "eventfd");
    while (count < needed && (files[count] = eventfd(0, EFD_CLOEXEC)) >= 0)
        count++;
    trial_end(trials, "eventfd2", "", count == needed);
    while (count > 0)
        close(files[--count]);
}

static void try_EVENT(struct trials *trials)
{
    try_events(trials, 1);
}

static void try_FILES(struct trials *trials)
{
    try_events(trials, OS_START_FILES);
}

static void try_FILES_OF_CONTEXT(struct trials *trials)
{
    try_events(trials, OS_CONTEXT_FILES);
}

static void try_MAPS(struct trials *trials)
{
    try_file(trials, "/proc/self/maps", O_RDONLY);
}

static void try_ADDRESS_SPACE(struct trials *trials)
{
    const size_t size = (size_t)OS_START_ADDRESSES;
    char text[16];
    if (OS_START_ADDRESSES > SIZE_MAX)
        return;
    snprintf(text, sizeof text, "%u GiB", (unsigned)(OS_START_ADDRESSES >> 30));
    trial_begin(trials, "mmap");
    void *memory = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (trial_end(trials, "mmap", text, memory != MAP_FAILED))
        munmap(memory, size);
}

static void try_SOCKET(struct trials *trials)
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
#    define START_OPERATION(kind, name) try_##kind(trials);
#    define START_DEVICE(kind, path) try_##kind(trials, path);
#    define START_OPERATION_OF_CHILD(kind) try_##kind(trials);
#    include "start_operations.inc"
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
