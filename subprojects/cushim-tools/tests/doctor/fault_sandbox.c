/* SPDX-License-Identifier: MIT */
/* The faults that are sandboxes: Landlock, and filters of seccomp. */
#define _GNU_SOURCE
#include "fault.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_RULES = 256 };

/* ---- Landlock ---- */

enum { LANDLOCK_WRITE = 1 << 1, LANDLOCK_READ = 1 << 2, LANDLOCK_CREATE = 444, LANDLOCK_ADD, LANDLOCK_RESTRICT };

static void landlock_allow(int ruleset, const char *path, uint64_t rights, const char *fault)
{
    struct {
        uint64_t rights;
        int32_t directory;
    } rule = {rights, open(path, O_PATH | O_CLOEXEC)};
    struct stat status;
    if (rule.directory < 0 || fstat(rule.directory, &status) != 0)
        return;
    if (syscall(LANDLOCK_ADD, ruleset, 1, &rule, 0) != 0)
        fail("landlock_add_rule", fault);
    close(rule.directory);
}

/* Everything may be read, and /tmp written, except as the rights of /dev and /proc say. */
static void landlock(uint64_t dev, uint64_t proc, const char *fault)
{
    uint64_t rights = LANDLOCK_READ | LANDLOCK_WRITE;
    int ruleset = (int)syscall(LANDLOCK_CREATE, &rights, sizeof rights, 0);
    check(ruleset >= 0, "landlock_create_ruleset", fault);
    DIR *root = opendir("/");
    struct dirent *entry;
    while ((entry = readdir(root)) != NULL) {
        char path[300];
        snprintf(path, sizeof path, "/%s", entry->d_name);
        if (entry->d_name[0] == '.')
            continue;
        uint64_t allowed = strcmp(path, "/dev") == 0    ? dev
                           : strcmp(path, "/proc") == 0 ? proc
                           : strcmp(path, "/tmp") == 0  ? rights
                                                        : (uint64_t)LANDLOCK_READ;
        if (allowed != 0)
            landlock_allow(ruleset, path, allowed, fault);
    }
    closedir(root);
    check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(LANDLOCK_RESTRICT, ruleset, 0) == 0,
          "landlock_restrict_self", fault);
}

/* Rights other than those of files, of newer kernels: nothing is permitted. */
static void landlock_other(uint64_t files, uint64_t network, uint64_t scopes, const char *fault)
{
    uint64_t handled[] = {files, network, scopes};
    int ruleset = (int)syscall(LANDLOCK_CREATE, handled, sizeof handled, 0);
    check(ruleset >= 0, "landlock_create_ruleset", fault);
    check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(LANDLOCK_RESTRICT, ruleset, 0) == 0,
          "landlock_restrict_self", fault);
    close(ruleset);
}

/* ---- seccomp ---- */

static struct sock_filter rules[MAX_RULES];
static unsigned short rule_count;

static void rule(unsigned short code, unsigned value, unsigned char if_true, unsigned char if_false)
{
    rules[rule_count++] = (struct sock_filter){code, if_true, if_false, value};
}

static void rule_load(size_t offset)
{
    rule(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset, 0, 0);
}

static void rule_refuse(long number, unsigned result)
{
    rule(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1);
    rule(BPF_RET | BPF_K, result, 0, 0);
}

/* A filter for the calls of this name: `result` is what they do. */
static int seccomp_refuse(const char *name, unsigned result, unsigned flags, const char *fault)
{
    static const struct {
        const char *name;
        long numbers[4]; /* -1 ends the list */
    } groups[] = {
        {"memfd", {SYS_memfd_create, -1}},
        {"clone3", {435, -1}},
        {"mlock", {SYS_mlock, SYS_mlock2, SYS_mlockall, -1}},
        {"eventfd", {SYS_eventfd2, -1}},
        {"mempolicy", {SYS_set_mempolicy, SYS_get_mempolicy, SYS_mbind, -1}},
        {"affinity", {SYS_sched_getaffinity, SYS_sched_setaffinity, -1}},
        {"madvise", {SYS_madvise, -1}},
        {"prctl", {SYS_prctl, -1}},
        {"sysinfo", {SYS_sysinfo, -1}},
        {"statfs", {SYS_statfs, SYS_fstatfs, -1}},
        {"faccessat2", {439, -1}},
        {"socket", {SYS_socket, -1}},
        {"connect", {SYS_connect, -1}},
        {"pipe", {SYS_pipe2, -1}},
        {"ptrace", {SYS_ptrace, -1}},
        {"wait", {SYS_wait4, SYS_waitid, -1}},
        {"mprotect", {SYS_mprotect, -1}},
        {"getpid", {SYS_getpid, -1}},
        {"nanosleep", {SYS_nanosleep, SYS_clock_nanosleep, -1}},
        {"futex", {SYS_futex, -1}},
        {"getrandom", {SYS_getrandom, -1}},
        {"readlink", {SYS_readlinkat, -1}},
        {"open", {SYS_openat, 437 /* openat2 */, -1}},
    };
    rule_count = 0;
    rule_load(offsetof(struct seccomp_data, nr));
    if (strcmp(name, "thread") == 0) {
        /* clone3 is unknown, and clone refuses threads, not processes. */
        rule_refuse(435, SECCOMP_RET_ERRNO | ENOSYS);
        rule(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3);
        rule_load(offsetof(struct seccomp_data, args[0]));
        rule(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1);
        rule(BPF_RET | BPF_K, result, 0, 0);
    } else if (strcmp(name, "ioctl") == 0) {
        /* Requests of type 'F', those of the NVIDIA driver. */
        rule(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 4);
        rule_load(offsetof(struct seccomp_data, args[1]));
        rule(BPF_ALU | BPF_AND | BPF_K, 0xff00, 0, 0);
        rule_refuse('F' << 8, result);
    } else if (strcmp(name, "reserve") == 0) {
        /* Mappings of 4 GiB and more: the upper half of the size. */
        rule(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3);
        rule_load(offsetof(struct seccomp_data, args[1]) + (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 4 : 0));
        rule(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
        rule(BPF_RET | BPF_K, result, 0, 0);
    } else {
        size_t i = 0;
        while (i < sizeof groups / sizeof groups[0] && strcmp(groups[i].name, name) != 0)
            i++;
        errno = EINVAL;
        check(i < sizeof groups / sizeof groups[0], name, fault);
#if defined(SYS_eventfd)
        if (strcmp(name, "eventfd") == 0)
            rule_refuse(SYS_eventfd, result);
#endif
#if defined(SYS_open)
        if (strcmp(name, "open") == 0)
            rule_refuse(SYS_open, result);
#endif
        for (const long *number = groups[i].numbers; *number >= 0; number++)
            rule_refuse(*number, result);
    }
    rule(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    struct sock_fprog program = {rule_count, rules};
    long got = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
    if (got < 0 && errno == EACCES && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        got = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
    check(got >= 0, "seccomp", fault);
    return (int)got;
}

/* ---- open=PATH:ERRNO: a supervisor answers every open() of the command ---- */

static struct {
    char part[256];
    bool at_end;
    int error;
} refused[8];
static size_t refused_count;

static int refused_error(const char *path)
{
    for (size_t i = 0; i < refused_count; i++) {
        const char *found = strstr(path, refused[i].part);
        if (found != NULL && (!refused[i].at_end || found[strlen(refused[i].part)] == '\0'))
            return refused[i].error;
    }
    return 0;
}

static int read_path(const struct seccomp_notif *request, char *path, size_t size)
{
    char memory[64];
    bool is_at = true;
#if defined(SYS_open)
    is_at = request->data.nr != SYS_open;
#endif
    uint64_t address = request->data.args[is_at ? 1 : 0];
    snprintf(memory, sizeof memory, "/proc/%u/mem", request->pid);
    int file = open(memory, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    ssize_t length = pread(file, path, size - 1, (off_t)address);
    close(file);
    path[length > 0 ? length : 0] = '\0';
    return length > 0 ? 0 : -1;
}

static void supervise_one(int listener)
{
    struct seccomp_notif request = {0};
    struct seccomp_notif_resp response = {0};
    char path[4096];
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request) != 0)
        return;
    int error = read_path(&request, path, sizeof path) == 0 ? refused_error(path) : 0;
    response.id = request.id;
    response.error = -error;
    response.flags = error == 0 ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0;
    (void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

static void send_file(int channel, int file)
{
    char byte = 'x';
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr header;
    } control = {0};
    struct iovec vector = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    control.header =
        (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.header), &file, sizeof file);
    check(sendmsg(channel, &message, 0) == 1, "sendmsg", "open");
}

static int receive_file(int channel)
{
    char byte;
    int file = -1;
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr header;
    } control;
    struct iovec vector = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    if (recvmsg(channel, &message, MSG_CMSG_CLOEXEC) == 1 && message.msg_controllen > 0)
        memcpy(&file, CMSG_DATA(&control.header), sizeof file);
    return file;
}

/* The parent becomes the supervisor and never returns; the child goes on under the filter. */
void refuse_opens(void)
{
    int channel[2];
    if (refused_count == 0)
        return;
    check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) == 0, "socketpair", "open");
    pid_t child = fork();
    check(child >= 0, "fork", "open");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(channel[0]);
        int listener = seccomp_refuse("open", SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER, "open");
        send_file(channel[1], listener);
        close(listener);
        close(channel[1]);
        return;
    }
    close(channel[1]);
    int listener = receive_file(channel[0]);
    while (listener >= 0) {
        struct pollfd waiting = {listener, POLLIN, 0};
        int count = poll(&waiting, 1, 1000);
        if (count > 0 && (waiting.revents & POLLIN) != 0)
            supervise_one(listener);
        else if (count > 0)
            break; /* the last process under the filter has ended */
    }
    _exit(wait_for(child));
}

/* An error number, or "kill" or "kill-thread". */
static unsigned seccomp_result(const char *text)
{
    return strcmp(text, "kill") == 0          ? SECCOMP_RET_KILL_PROCESS
           : strcmp(text, "kill-thread") == 0 ? SECCOMP_RET_KILL_THREAD
                                              : SECCOMP_RET_ERRNO | (unsigned)atoi(text);
}

bool make_sandbox(const char *fault)
{
    static const struct {
        const char *name;
        uint64_t dev, proc;
    } landlocks[] = {
        {"landlock=nothing", 0, LANDLOCK_READ},
        {"landlock=dev", LANDLOCK_READ | LANDLOCK_WRITE, LANDLOCK_READ},
        {"landlock=dev+proc", LANDLOCK_READ | LANDLOCK_WRITE, LANDLOCK_READ | LANDLOCK_WRITE},
        {"landlock=proc", LANDLOCK_READ, LANDLOCK_READ | LANDLOCK_WRITE},
        {"landlock=dev-read", LANDLOCK_READ, LANDLOCK_READ},
    };
    const char *value;
    for (size_t i = 0; i < sizeof landlocks / sizeof landlocks[0]; i++) {
        if (strcmp(fault, landlocks[i].name) == 0) {
            landlock(landlocks[i].dev, landlocks[i].proc, fault);
            return true;
        }
    }
    if (strcmp(fault, "landlock=ioctl") == 0) {
        landlock_other(1 << 15, 0, 0, fault);
    } else if (strcmp(fault, "landlock=net") == 0) {
        landlock_other(0, 3, 3, fault); /* TCP; abstract sockets and signals outside */
    } else if ((value = value_of(fault, "seccomp")) != NULL) {
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(value, ":"), value);
        const char *error = strchr(value, ':');
        check(error != NULL, "no error number", fault);
        seccomp_refuse(name, seccomp_result(error + 1), 0, fault);
    } else if ((value = value_of(fault, "open")) != NULL) {
        const char *error = strrchr(value, ':');
        check(error != NULL && refused_count < 8, "no error number", fault);
        size_t length = (size_t)(error - value);
        bool at_end = length > 0 && value[length - 1] == '$';
        snprintf(refused[refused_count].part, sizeof refused[0].part, "%.*s", (int)(length - at_end), value);
        refused[refused_count].at_end = at_end;
        refused[refused_count++].error = atoi(error + 1);
    } else {
        return false;
    }
    return true;
}
