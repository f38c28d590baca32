/* SPDX-License-Identifier: MIT */
/*
 * fault FAULT... -- COMMAND ARGUMENT...: runs a command on a machine that was changed for this command only.
 * fault FAULT... -- prove: starts the driver there, and prints what each step returned. README.md lists the faults.
 *
 * The exit status is that of the command, 128 plus the signal that ended it, or 125 if a fault cannot be made here.
 */
#define _GNU_SOURCE
#include "fault.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

void fail(const char *what, const char *fault)
{
    printf("cannot make %s: %s: %s\n", fault, what, strerror(errno));
    fflush(stdout);
    _exit(CANNOT);
}

void check(bool holds, const char *what, const char *fault)
{
    if (!holds)
        fail(what, fault);
}

int wait_for(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool write_file(const char *path, const char *format, ...)
{
    char text[64];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    bool is_written = file >= 0 && write(file, text, (size_t)length) == length;
    if (file >= 0)
        close(file);
    return is_written;
}

const char *value_of(const char *fault, const char *name)
{
    size_t length = strlen(name);
    return strncmp(fault, name, length) == 0 && fault[length] == '=' ? fault + length + 1 : NULL;
}

/* ---- prove ---- */

typedef int (*function_fn)();

static int step(void *library, const char *name, const char *versioned, function_fn *function)
{
    union {
        void *object;
        function_fn function;
    } symbol = {dlsym(library, versioned)};
    if (symbol.object == NULL)
        symbol.object = dlsym(library, name);
    *function = symbol.function;
    return symbol.object != NULL;
}

static int report(const char *name, int code)
{
    printf("%s %d", name, code);
    if (code == 0)
        printf(", ");
    fflush(stdout);
    return code;
}

static int prove(void)
{
    function_fn init, get_count, context_create, allocate, stream_create;
    void *context = NULL, *stream = NULL;
    unsigned long long memory = 0;
    int count = 0;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return printf("no driver: %s", dlerror()) < 0;
    if (!step(library, "cuInit", "cuInit", &init) || !step(library, "cuDeviceGetCount", "cuDeviceGetCount", &get_count)
        || !step(library, "cuCtxCreate", "cuCtxCreate_v2", &context_create)
        || !step(library, "cuMemAlloc", "cuMemAlloc_v2", &allocate)
        || !step(library, "cuStreamCreate", "cuStreamCreate", &stream_create))
        return printf("not a driver") < 0;
    if (report("cuInit", init(0)) != 0 || report("count", get_count(&count)) != 0
        || (count == 0 && report("no GPU", 100)) || report("context", context_create(&context, 0, 0)) != 0
        || report("alloc", allocate(&memory, (size_t)1 << 20)) != 0 || report("stream", stream_create(&stream, 0)) != 0)
        return 1;
    printf("works");
    return 0;
}

/* ---- The other faults ---- */

static void limit(int which, rlim_t value, const char *fault)
{
    check(setrlimit(which, &(struct rlimit){value, value}) == 0, "setrlimit", fault);
}

/* A directory of MPS whose control socket nobody, or somebody who does not answer, has. The command goes on in a child;
 * this process waits for it, and removes the directory. */
static void mps_stale(bool listens, const char *fault)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char place[] = "/tmp/fault-mps-XXXXXX";
    check(mkdtemp(place) != NULL, "mkdtemp", fault);
    chmod(place, 0777);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/control", place);
    int file = socket(AF_UNIX, SOCK_SEQPACKET, 0); /* it stays open in the command */
    check(bind(file, (struct sockaddr *)&address, sizeof address) == 0, "bind", fault);
    if (listens)
        check(listen(file, 5) == 0, "listen", fault);
    else
        close(file);
    setenv("CUDA_MPS_PIPE_DIRECTORY", place, 1);
    pid_t child = fork();
    check(child >= 0, "fork", fault);
    if (child == 0)
        return;
    int status = wait_for(child);
    unlink(address.sun_path);
    rmdir(place);
    _exit(status);
}

static void become(unsigned user, const char *fault)
{
    check(setgroups(0, NULL) == 0 && setgid(user) == 0 && setuid(user) == 0, "setuid", fault);
}

static void unshare_user(const char *fault)
{
    unsigned user = geteuid(), group = getegid();
    check(unshare(CLONE_NEWUSER) == 0, "unshare", fault);
    (void)write_file("/proc/self/setgroups", "deny");
    check(write_file("/proc/self/uid_map", "%u %u 1", user, user)
              && write_file("/proc/self/gid_map", "%u %u 1", group, group),
          "uid_map", fault);
}

/* The command goes on in a child, which is the first process in a new namespace. This process waits for it. */
static void enter_in_child(const char *fault)
{
    pid_t child = fork();
    check(child >= 0, "fork", fault);
    if (child > 0)
        _exit(wait_for(child));
}

static void unshare_processes(bool has_proc, const char *fault)
{
    check(unshare(CLONE_NEWPID) == 0, "unshare", fault);
    enter_in_child(fault);
    if (has_proc)
        mount_proc("", fault);
}

/* In this namespace, the machine seems to have slept for a day. */
static void unshare_time(const char *fault)
{
    enum { NEW_TIME = 0x80 };
    check(unshare(NEW_TIME) == 0, "unshare", fault);
    check(write_file("/proc/self/timens_offsets", "boottime 86400 0\n"), "timens_offsets", fault);
    enter_in_child(fault);
}

/* The command is traced by this process, as by a debugger. */
static void become_tracer(const char *fault)
{
    enum { SEIZE = 0x4206, FOLLOW = 2 | 4 | 8 /* fork, vfork, clone */ };
    int ready[2], status;
    char byte = 'x';
    check(pipe(ready) == 0, "pipe", fault);
    pid_t child = fork(), stopped;
    check(child >= 0, "fork", fault);
    if (child == 0) {
        check(read(ready[0], &byte, 1) == 1, "read", fault);
        close(ready[0]);
        close(ready[1]);
        return;
    }
    check(syscall(SYS_ptrace, SEIZE, child, 0L, (long)FOLLOW) == 0, "ptrace", fault);
    check(write(ready[1], &byte, 1) == 1, "write", fault);
    while ((stopped = waitpid(-1, &status, __WALL)) > 0) {
        if (stopped == child && !WIFSTOPPED(status))
            _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
        bool is_signal = WIFSTOPPED(status) && status >> 16 == 0 && WSTOPSIG(status) != SIGTRAP;
        syscall(SYS_ptrace, 7L /* PTRACE_CONT */, stopped, 0L, is_signal ? (long)WSTOPSIG(status) : 0L);
    }
    _exit(CANNOT);
}

static bool make_limit(const char *fault)
{
    static const struct {
        const char *name;
        int which;
        rlim_t unit;
    } limits[] = {
        {"as", RLIMIT_AS, 1 << 20},     {"nofile", RLIMIT_NOFILE, 1},   {"nproc", RLIMIT_NPROC, 1},
        {"stack", RLIMIT_STACK, 1},     {"memlock", RLIMIT_MEMLOCK, 1}, {"fsize", RLIMIT_FSIZE, 1},
        {"data", RLIMIT_DATA, 1 << 20}, {"core", RLIMIT_CORE, 1},       {"cpu", RLIMIT_CPU, 1},
    };
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        const char *value = value_of(fault, limits[i].name);
        if (value != NULL) {
            limit(limits[i].which, strtoull(value, NULL, 10) * limits[i].unit, fault);
            return true;
        }
    }
    return false;
}

static void make_other(const char *fault)
{
    const char *value;
    if ((value = value_of(fault, "uid")) != NULL) {
        become((unsigned)atoi(value), fault);
    } else if (strcmp(fault, "unshare=net") == 0) {
        check(unshare(CLONE_NEWNET) == 0, "unshare", fault);
    } else if (strcmp(fault, "unshare=user") == 0) {
        unshare_user(fault);
    } else if (strcmp(fault, "mps=stale") == 0 || strcmp(fault, "mps=silent") == 0) {
        mps_stale(strcmp(fault, "mps=silent") == 0, fault);
    } else if ((value = value_of(fault, "close")) != NULL) {
        close(atoi(value));
    } else if (strcmp(fault, "signals=ignored") == 0) {
        for (int i = 1; i < 32; i++)
            signal(i, SIG_IGN);
    } else if (strcmp(fault, "unshare=pid") == 0 || strcmp(fault, "unshare=pid+proc") == 0) {
        unshare_processes(strcmp(fault, "unshare=pid") != 0, fault);
    } else if (strcmp(fault, "unshare=time") == 0) {
        unshare_time(fault);
    } else if (strcmp(fault, "machine") == 0) {
        make_machine(fault);
    } else if (strcmp(fault, "traced") == 0) {
        become_tracer(fault);
    } else if (strcmp(fault, "no-new-privs") == 0) {
        check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "prctl", fault);
    } else if (fault[0] >= 'A' && fault[0] <= 'Z' && strchr(fault, '=') != NULL) {
        putenv((char *)(uintptr_t)fault);
    } else if (strcmp(fault, "none") != 0) {
        errno = EINVAL;
        fail("unknown", fault);
    }
}

int main(int count, char **arguments)
{
    int i = 1;
    for (; i < count && strcmp(arguments[i], "--") != 0; i++) {
        if (!make_limit(arguments[i]) && !make_mount(arguments[i]) && !make_sandbox(arguments[i]))
            make_other(arguments[i]);
    }
    if (i + 1 >= count)
        return CANNOT;
    refuse_opens();
    if (strcmp(arguments[i + 1], "prove") == 0 && i == 1) {
        int status = prove();
        printf("\n");
        return status;
    }
    /* The dynamic loader reads its variables only when a program starts. */
    char *again[] = {arguments[0], arguments[i], arguments[i + 1], NULL};
    bool proves = strcmp(arguments[i + 1], "prove") == 0;
    execv(proves ? again[0] : arguments[i + 1], proves ? again : arguments + i + 1);
    fail("exec", arguments[i + 1]);
    return CANNOT;
}
