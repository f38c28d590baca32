/* SPDX-License-Identifier: MIT */
/* Tries what a driver does while CUDA initialises, as far as that disturbs nothing else in the process. */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include "../os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

const bool cush_os_has_device_nodes = true;

/* The operations from DEVICE on are of a device file. */
enum obstacle_kind { EVENT, THREAD_NAME, FILES, MAPS, ADDRESS_SPACE, SOCKET, DEVICE, JETSON, GPU };

/* There are no pointers in it, which would need relocations. */
static const struct obstacle_operation {
    char name[sizeof "write to /proc/self/task/*/comm"];
    unsigned char kind;
} obstacle_operations[] = {
#define START_OPERATION(kind, name) {name, kind},
#define START_DEVICE(kind, path) {"open " path, kind},
#define START_OPERATION_OF_CHILD(kind)
#include "../lists/start_operations.inc"
};

/* The device file, or NULL. */
static const char *obstacle_device(const struct obstacle_operation *operation)
{
    return operation->kind >= DEVICE ? operation->name + strlen("open ") : NULL;
}

/* Whether it is a system call that not every process makes: a seccomp filter can end the process for it. */
static bool obstacle_can_kill(const struct obstacle_operation *operation)
{
    return operation->kind == EVENT || operation->kind == SOCKET;
}

/* ---- The operations. Each returns the error number, or 0. Nothing stays open. ---- */

static int obstacle_close(int file)
{
    if (file < 0)
        return errno;
    close(file);
    return 0;
}

/* The driver names its threads here. The first name needs Linux 3.17. */
static int obstacle_try_thread_name(void)
{
    int error = obstacle_close(open("/proc/thread-self/comm", O_RDWR | O_CLOEXEC));
    return error != ENOENT ? error : obstacle_close(open("/proc/self/comm", O_RDWR | O_CLOEXEC));
}

/* Whether so many files can be opened. Their numbers are counted: to open them would take them from other threads. */
static CUSHIM_COLD bool obstacle_has_files(int wanted)
{
    enum { EXAMINED = 1 << 16 };
    struct rlimit limit;
    struct stat status;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > EXAMINED)
        return true;
    for (int i = 0; wanted > 0 && i < (int)limit.rlim_cur; i++)
        wanted -= fstat(i, &status) != 0;
    return wanted <= 0;
}

static int obstacle_try_address_space(void)
{
    if (OS_START_ADDRESSES > SIZE_MAX)
        return 0;
    void *start = mmap(NULL, (size_t)OS_START_ADDRESSES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return start == MAP_FAILED ? errno : munmap(start, (size_t)OS_START_ADDRESSES);
}

enum { NOT_A_DEVICE = -1 }; /* beside the error numbers */

/* A bind mount that got lost leaves a plain file or a directory. Below a root, a plain file stands for a device. */
static bool obstacle_is_device(const char *path, const struct stat *status)
{
    return S_ISCHR(status->st_mode) || (strncmp(path, "/dev/", 5) != 0 && !S_ISDIR(status->st_mode));
}

static int obstacle_try_device(const char *path)
{
    struct stat status;
    int file = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (file < 0)
        return errno == EISDIR ? NOT_A_DEVICE : errno;
    bool is_device = fstat(file, &status) != 0 || obstacle_is_device(path, &status);
    close(file);
    return is_device ? 0 : NOT_A_DEVICE;
}

/* Does not open the file: that of a GPU that does not answer can block. */
static int obstacle_try_gpu(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return errno == ELOOP ? ELOOP : 0;
    return obstacle_is_device(path, &status) ? 0 : NOT_A_DEVICE;
}

/* `path`: the device file. */
static CUSHIM_COLD int obstacle_try(enum obstacle_kind kind, const char *path)
{
    switch (kind) {
    case EVENT:
        return obstacle_close(eventfd(0, EFD_CLOEXEC));
    case THREAD_NAME:
        return obstacle_try_thread_name();
    case FILES:
        return obstacle_has_files(OS_START_FILES) ? 0 : EMFILE;
    case SOCKET:
        return obstacle_close(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    case ADDRESS_SPACE:
        return obstacle_try_address_space();
    case MAPS:
        return obstacle_close(open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
    case DEVICE:
    case JETSON:
        return obstacle_try_device(path);
    case GPU:
        break;
    }
    return obstacle_try_gpu(path);
}

/* Whether a driver that cannot do this returns this code (observed with driver 580). No refusal explains the codes that
 * a driver returns for a state of the GPU. */
static bool obstacle_can_give(const struct obstacle_operation *operation, CUresult code)
{
    switch (code) {
    case CUDA_ERROR_OPERATING_SYSTEM:
    case CUDA_ERROR_OUT_OF_MEMORY:
        return obstacle_device(operation) == NULL;
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_INVALID_DEVICE: /* also if the descriptors end before the files of the devices */
        return obstacle_device(operation) != NULL || operation->kind == FILES;
    case CUDA_ERROR_UNKNOWN:
    case CUDA_ERROR_NOT_INITIALIZED:
    case CUDA_ERROR_NOT_PERMITTED:
        return true;
    default:
        return false;
    }
}

struct device_search {
    char line[32]; /* the start of its line in /proc/devices */
    bool is_found;
};

static void devices_read_line(const char *line, void *user)
{
    struct device_search *search = user;
    search->is_found |= strncmp(line, search->line, strlen(search->line)) == 0;
}

/* Whether the kernel has a driver of NVIDIA with the number of the file. Then the file is not the fault. */
static CUSHIM_COLD bool obstacle_is_registered(const char *root, const char *path)
{
    char list[OS_PATH_SIZE];
    struct device_search search = {.is_found = false};
    struct stat status;
    if (stat(path, &status) != 0 || !cush_os_path_below(root, "/proc/devices", list, sizeof list))
        return false;
    snprintf(search.line, sizeof search.line, "%3u nvidia", (unsigned)major(status.st_rdev));
    cush_os_file_each_line(list, devices_read_line, &search);
    return search.is_found;
}

/* The machine can be short of memory without a limit. */
static bool obstacle_has_limit_of_memory(void)
{
    struct rlimit space, data;
    return getrlimit(RLIMIT_AS, &space) == 0 && getrlimit(RLIMIT_DATA, &data) == 0
           && (space.rlim_cur != RLIM_INFINITY || data.rlim_cur != RLIM_INFINITY);
}

/* `path`: the device file, or NULL. */
static enum cushim_reason obstacle_reason(const char *root, const char *path, int error)
{
    switch (error) {
    case EMFILE:
    case ENFILE:
    case EAGAIN:
        return CUSHIM_REASON_LIMIT;
    case ENOMEM:
        return obstacle_has_limit_of_memory() ? CUSHIM_REASON_LIMIT : CUSHIM_REASON_UNKNOWN;
    case EPERM:
    case ENOSYS:
        return CUSHIM_REASON_SANDBOX;
    case EACCES:
        return path != NULL && cush_os_file_state(path, true) == OS_FILE_DENIED ? CUSHIM_REASON_NODES_DENIED
                                                                                : CUSHIM_REASON_SANDBOX;
    case NOT_A_DEVICE:
        return CUSHIM_REASON_NODE_WRONG;
    case ELOOP:
        return path != NULL ? CUSHIM_REASON_NODE_WRONG : CUSHIM_REASON_UNKNOWN;
    case ENOENT: /* without /proc. Whether a device file has to exist depends on the machine */
        return path != NULL ? CUSHIM_REASON_NONE : CUSHIM_REASON_SANDBOX;
    default:
        break;
    }
    if (path == NULL || error == 0)
        return CUSHIM_REASON_NONE;
    /* The module is not loaded, or has another number than the file. */
    if ((error != ENXIO && error != ENODEV) || obstacle_is_registered(root, path))
        return CUSHIM_REASON_UNKNOWN;
    return strstr(path, "-uvm") != NULL ? CUSHIM_REASON_UNIFIED_MEMORY : CUSHIM_REASON_NODE_WRONG;
}

static const char *obstacle_verb(enum cushim_reason reason)
{
    return reason == CUSHIM_REASON_LIMIT          ? "a resource limit prevents"
           : reason == CUSHIM_REASON_SANDBOX      ? "a sandbox or a container prevents"
           : reason == CUSHIM_REASON_NODES_DENIED ? "the permissions of the file prevent"
                                                  : "fails";
}

struct os_obstacle cush_os_obstacle_find(const char *root, CUresult code, unsigned others)
{
    enum { HELD = 2 }; /* a search has a directory and one of its files open */
    const int held = HELD * (int)others;
    struct os_obstacle obstacle = {.reason = CUSHIM_REASON_NONE, .message = ""};
    for (size_t i = 0; i < sizeof obstacle_operations / sizeof obstacle_operations[0]; i++) {
        const struct obstacle_operation *operation = &obstacle_operations[i];
        const char *device = obstacle_device(operation);
        char path[OS_PATH_SIZE] = "";
        if (!obstacle_can_give(operation, code) || (obstacle_can_kill(operation) && cush_os_may_have_filter())
            || (device != NULL && !cush_os_path_below(root, device, path, sizeof path)))
            continue;
        int error = obstacle_try((enum obstacle_kind)operation->kind, path);
        if (error == EMFILE && obstacle_has_files(OS_START_FILES - held))
            continue; /* only while the others search */
        obstacle.reason = obstacle_reason(root, device != NULL ? path : NULL, error);
        if (obstacle.reason == CUSHIM_REASON_NONE)
            continue;
        snprintf(obstacle.message, sizeof obstacle.message, "The driver needs to %.40s, which %s: %s.", operation->name,
                 obstacle_verb(obstacle.reason),
                 error == NOT_A_DEVICE ? "it is a plain file or a directory, and not a device file" : strerror(error));
        break;
    }
    return obstacle;
}

bool cush_os_file_is_open(const char *path)
{
    char size[16]; /* of the table of descriptors */
    struct stat wanted, file;
    if (stat(path, &wanted) != 0 || !cush_os_thread_status("FDSize", size, sizeof size))
        return false;
    for (int i = (int)strtoull(size, NULL, 10); i-- > 0;) {
        if (fstat(i, &file) == 0 && file.st_ino == wanted.st_ino && file.st_dev == wanted.st_dev)
            return true;
    }
    return false;
}
