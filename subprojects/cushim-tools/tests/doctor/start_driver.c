/* SPDX-License-Identifier: MIT */
/*
 * A driver that makes the system calls of driver 580, in its order, and fails as it does where the system refuses one:
 * see CAUSES.md. It uses /dev/nvidiactl, /dev/nvidia0 and /dev/nvidia-uvm, which can be any character devices.
 *
 * In the environment, FAKE_CODE is what cuInit returns if nothing was refused, FAKE_CONTEXT what cuCtxCreate returns,
 * FAKE_MODE the compute mode of the GPU. Four variables name a place: FAKE_CRASH ends the process there with the signal
 * FAKE_SIGNAL, FAKE_EXIT with exit(0), FAKE_HANG never returns and blocks all signals, and FAKE_WAIT waits in state D.
 * The places are load, cuInit, again (the second cuInit), cuCtxCreate and cuCtxDestroy. FAKE_LINES is how many lines
 * cuInit writes to stdout, and FAKE_DAEMON is a file for the number of each process that cuInit leaves behind. It also
 * fails if the variable is set that FAKE_VARIABLE names, needs the file or library FAKE_OPEN, fills the file
 * FAKE_CREATE, and uses FAKE_TOUCH MiB of memory; with FAKE_THREAD, one of its threads has ended before. With
 * FAKE_FILES, it writes how many descriptors are open; with FAKE_BUSY, its thread makes one system call after another.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    OPERATING_SYSTEM = 304,
    UNKNOWN = 999
};

static int setting(const char *name, int otherwise)
{
    const char *value = getenv(name);
    return value != NULL ? atoi(value) : otherwise;
}

static bool is_place(const char *variable, const char *place)
{
    const char *value = getenv(variable);
    return value != NULL && strcmp(value, place) == 0;
}

/* The parent of vfork() is in state D until the child has ended. */
static void wait_in_kernel(void)
{
    if (vfork() != 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
        pause();
}

static void misbehave(const char *place)
{
    if (is_place("FAKE_CRASH", place))
        raise(setting("FAKE_SIGNAL", SIGABRT));
    if (is_place("FAKE_EXIT", place))
        exit(0);
    if (is_place("FAKE_WAIT", place))
        wait_in_kernel();
    if (!is_place("FAKE_HANG", place))
        return;
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    int ends[2];
    char byte;
    while (pipe(ends) != 0 || read(ends[0], &byte, 1) != 1) {
    }
}

/* It has the output of its parent, as every process. */
static void leave_process(const char *path)
{
    FILE *file = fopen(path, "a");
    pid_t process = fork();
    if (process == 0) {
        setsid();
        for (;;)
            pause();
    }
    fprintf(file, "%d\n", (int)process);
    fclose(file);
}

static void count_files(void)
{
    int count = -3; /* ".", ".." and the directory itself */
    DIR *directory = opendir("/proc/self/fd");
    while (directory != NULL && readdir(directory) != NULL)
        count++;
    fprintf(stderr, "%d descriptors are open\n", count);
    closedir(directory);
}

static void disturb(void)
{
    if (getenv("FAKE_FILES") != NULL)
        count_files();
    const char *path = getenv("FAKE_DAEMON");
    for (int i = setting("FAKE_LINES", 0); i > 0; i--)
        printf("%d more lines of the driver\n", i);
    fflush(stdout);
    if (path != NULL)
        leave_process(path);
}

__attribute__((constructor)) static void load(void)
{
    misbehave("load");
}

static void *thread_wait(void *busy)
{
    for (;;)
        (void)(busy != NULL ? getppid() : pause());
    return busy;
}

static void *thread_end(void *unused)
{
    return unused;
}

/* What fails in every start. */
static void look_around(void)
{
    static const char *const files[] = {"/dev/shm/cuda_injection_path_shm",
                                        "/nonexistent/.nv/nvidia-application-profiles-rc",
                                        "/etc/nvidia/nvidia-application-profiles-rc", "/proc/driver/nvidia/params"};
    char text[64];
    struct stat status;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        int file = open(files[i], O_RDONLY | O_CLOEXEC);
        if (file >= 0)
            close(file);
    }
    (void)!readlink("/proc", text, sizeof text);
    (void)stat("/dev/char/195:255", &status);
    (void)stat("/usr/bin/nvidia-modprobe", &status);
    (void)mkdir("/root", 0700);
    int memory = (int)syscall(SYS_memfd_create, "fake", 0);
    if (memory >= 0)
        close(memory);
}

static int start_thread(void)
{
    int ends[2];
    pthread_t thread;
    if (eventfd(0, EFD_CLOEXEC) < 0 || pthread_create(&thread, NULL, thread_wait, getenv("FAKE_BUSY")) != 0)
        return OPERATING_SYSTEM;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%ld/comm", (long)getpid());
    int comm = open(path, O_RDWR);
    if (comm < 0 || pipe2(ends, O_CLOEXEC) != 0)
        return OPERATING_SYSTEM;
    close(comm);
    return SUCCESS;
}

/* /dev/random answers an unknown request with EINVAL. */
static int open_device(const char *path)
{
    unsigned long long answer = 0;
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file >= 0 && syscall(SYS_ioctl, file, 0xc00846d6UL, &answer) != 0 && errno != EINVAL) {
        close(file);
        return -1;
    }
    return file;
}

/* What some drivers need and others do not. Returns whether it is there. */
static bool use_other(void)
{
    static const char text[65536];
    const char *needed = getenv("FAKE_OPEN"), *created = getenv("FAKE_CREATE");
    size_t size = (size_t)setting("FAKE_TOUCH", 0) << 20;
    pthread_t thread;
    if (getenv("FAKE_THREAD") != NULL && pthread_create(&thread, NULL, thread_end, NULL) == 0) {
        pthread_join(thread, NULL);
        usleep(100000); /* so that a watcher takes note of its end */
    }
    if (needed != NULL && strchr(needed, '/') == NULL && dlopen(needed, RTLD_NOW) == NULL)
        return false;
    if (needed != NULL && strchr(needed, '/') != NULL && open(needed, O_RDONLY | O_CLOEXEC) < 0)
        return false;
    int file = created != NULL ? open(created, O_CREAT | O_WRONLY | O_CLOEXEC, 0600) : -1;
    if (created != NULL && (file < 0 || write(file, text, sizeof text) != (ssize_t)sizeof text))
        return false;
    char *memory = size > 0 ? malloc(size) : NULL;
    if (memory != NULL)
        memset(memory, 1, size);
    return size == 0 || (memory != NULL && memory[size - 1] == 1);
}

static int visible_check(void)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (visible == NULL)
        return SUCCESS;
    visible += strspn(visible, " ");
    return strcmp(visible, "0,0") == 0 ? INVALID_DEVICE : visible[0] == '0' ? SUCCESS : NO_DEVICE;
}

static int start(void)
{
    static const size_t range = (size_t)6 << 30, own = (size_t)64 << 20;
    look_around();
    int code = start_thread();
    if (code != SUCCESS)
        return code;
    if (!use_other())
        return setting("FAKE_CODE", NO_DEVICE);
    if (open_device("/dev/nvidiactl") < 0)
        return NO_DEVICE;
    if (open_device("/dev/nvidia0") < 0)
        return errno == ENXIO ? INVALID_DEVICE : NO_DEVICE;
    const char *variable = getenv("FAKE_VARIABLE");
    if (variable != NULL && getenv(variable) != NULL)
        return UNKNOWN;
    code = visible_check();
    if (code != SUCCESS)
        return code;
    if (open_device("/dev/nvidia-uvm") < 0)
        return UNKNOWN;
    int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    void *memory = mmap(NULL, range, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (maps < 0 || memory == MAP_FAILED
        || mmap(NULL, own, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
        return OUT_OF_MEMORY;
    close(maps);
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) < 0 ? OPERATING_SYSTEM : setting("FAKE_CODE", SUCCESS);
}

/* Waits for an answer of the MPS control daemon if it accepts connections, as driver 580 does. */
static void ask_mps(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *directory = getenv("CUDA_MPS_PIPE_DIRECTORY");
    char byte;
    if (directory == NULL)
        return;
    snprintf(address.sun_path, sizeof address.sun_path, "%s/control", directory);
    int file = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    if (connect(file, (struct sockaddr *)&address, sizeof address) == 0)
        (void)recvmsg(file, &(struct msghdr){.msg_iov = &(struct iovec){&byte, 1}, .msg_iovlen = 1}, 0);
    close(file);
}

int cuInit(unsigned flags)
{
    static int code = -1;
    misbehave(code < 0 ? "cuInit" : "again");
    if (code < 0) {
        disturb();
        ask_mps();
        code = start();
    }
    return flags == 0 ? code : INVALID_VALUE;
}

int cuDriverGetVersion(int *version)
{
    *version = 13000;
    return SUCCESS;
}

int cuGetErrorName(int code, const char **name)
{
    static char text[32];
    snprintf(text, sizeof text, "FAKE_ERROR_%d", code);
    *name = text;
    return SUCCESS;
}

int cuDeviceGetCount(int *count)
{
    *count = 1;
    return SUCCESS;
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return SUCCESS;
}

int cuDeviceGetName(char *name, int length, int device)
{
    snprintf(name, (size_t)length, "Fake GPU %d", device);
    return SUCCESS;
}

int cuDeviceGetPCIBusId(char *address, int length, int device)
{
    const char *own = getenv("FAKE_BUS_ID");
    snprintf(address, (size_t)length, "%s", own != NULL ? own : "");
    return own != NULL && device == 0 ? SUCCESS : INVALID_DEVICE;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    enum { COMPUTE_MODE = 20 };
    (void)device;
    *value = attribute == COMPUTE_MODE ? setting("FAKE_MODE", 0) : 9;
    return SUCCESS;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    (void)device;
    *bytes = (size_t)140 << 30;
    return SUCCESS;
}

/* A context opens the device many times. */
int cuCtxCreate_v2(void **context, unsigned flags, int device)
{
    enum { FILES = 26 };
    (void)flags;
    (void)device;
    misbehave("cuCtxCreate");
    for (int i = 0; i < FILES; i++) {
        if (open_device("/dev/nvidia0") < 0)
            return setting("FAKE_CONTEXT", OPERATING_SYSTEM);
    }
    *context = context;
    return setting("FAKE_CONTEXT", SUCCESS);
}

int cuCtxDestroy_v2(void *context)
{
    (void)context;
    misbehave("cuCtxDestroy");
    return SUCCESS;
}

int cuMemAlloc_v2(unsigned long long *pointer, size_t size)
{
    *pointer = size;
    return SUCCESS;
}

int cuMemFree_v2(unsigned long long pointer)
{
    (void)pointer;
    return SUCCESS;
}

int cuStreamCreate(void **stream, unsigned flags)
{
    (void)flags;
    *stream = stream;
    return SUCCESS;
}

int cuStreamDestroy_v2(void *stream)
{
    (void)stream;
    return SUCCESS;
}
