/* SPDX-License-Identifier: MIT */
/*
 * fault FAULT... -- COMMAND ARGUMENT...: runs a command on a machine that was changed for this command only.
 * fault FAULT... -- prove: starts the driver there, and prints what each step returned. README.md lists the faults.
 *
 * The exit status is that of the command, 128 plus the signal that ended it, or 125 if a fault cannot be made here.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT = 125, MAX_RULES = 256 };

static void fail(const char *what, const char *fault)
{
    printf("cannot make %s: %s: %s\n", fault, what, strerror(errno));
    fflush(stdout);
    _exit(CANNOT);
}

static void check(bool holds, const char *what, const char *fault)
{
    if (!holds)
        fail(what, fault);
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

/* ---- Mounts ---- */

static void write_file(const char *path, const char *format, ...)
{
    char text[64];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file >= 0 && write(file, text, (size_t)length) < 0)
        perror(path);
    if (file >= 0)
        close(file);
}

static void unshare_mounts(const char *fault)
{
    static bool done;
    unsigned user = geteuid(), group = getegid();
    if (done)
        return;
    if (unshare(CLONE_NEWNS) != 0) {
        check(unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0, "unshare", fault);
        write_file("/proc/self/setgroups", "deny");
        write_file("/proc/self/uid_map", "0 %u 1", user);
        write_file("/proc/self/gid_map", "0 %u 1", group);
    }
    check(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0, "mount", fault);
    done = true;
}

/* A /dev without the names that begin with `without`. */
static void mount_dev(const char *without, const char *fault)
{
    char from[512], to[512], target[512], place[] = "/tmp/fault-dev-XXXXXX";
    struct dirent *entry;
    unshare_mounts(fault);
    check(mkdtemp(place) != NULL && mount("none", place, "tmpfs", 0, "mode=755") == 0, "mount", fault);
    DIR *directory = opendir("/dev");
    check(directory != NULL, "/dev", fault);
    while ((entry = readdir(directory)) != NULL) {
        struct stat status;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0
            || strncmp(entry->d_name, without, strlen(without)) == 0)
            continue;
        snprintf(from, sizeof from, "/dev/%.250s", entry->d_name);
        snprintf(to, sizeof to, "%s/%.250s", place, entry->d_name);
        ssize_t length;
        if (lstat(from, &status) != 0)
            continue;
        if (S_ISLNK(status.st_mode)) {
            if ((length = readlink(from, target, sizeof target - 1)) > 0) {
                target[length] = '\0';
                check(symlink(target, to) == 0, to, fault);
            }
            continue;
        }
        if (S_ISDIR(status.st_mode))
            mkdir(to, 0755);
        else
            close(open(to, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
        mount(from, to, NULL, MS_BIND | MS_REC, NULL);
    }
    closedir(directory);
    check(mount(place, "/dev", NULL, MS_BIND | MS_REC, NULL) == 0, "mount", fault);
}

static void mount_over(const char *path, const char *from, unsigned long flags, const char *fault)
{
    unshare_mounts(fault);
    check(mount(from, path, NULL, MS_BIND, NULL) == 0, path, fault);
    if (flags != 0)
        check(mount("none", path, NULL, MS_REMOUNT | MS_BIND | flags, NULL) == 0, path, fault);
}

static void mount_proc(const char *options, const char *fault)
{
    unshare_mounts(fault);
    check(mount("proc", "/proc", "proc", 0, options) == 0, "/proc", fault);
}

static void mount_empty(const char *path, const char *fault)
{
    unshare_mounts(fault);
    check(mount("none", path, "tmpfs", 0, NULL) == 0, path, fault);
}

/* A copy of a device file with another owner and mode, or with another number. */
static void mount_node(const char *path, int mode, unsigned major_number, unsigned minor_bits, const char *fault)
{
    struct stat status;
    char copy[64];
    check(stat(path, &status) == 0, path, fault);
    unshare_mounts(fault);
    snprintf(copy, sizeof copy, "/tmp/fault-node-%d", (int)getpid());
    dev_t number =
        makedev(major_number != 0 ? major_number : major(status.st_rdev), minor(status.st_rdev) ^ minor_bits);
    check(mknod(copy, S_IFCHR | 0600, number) == 0, "mknod", fault);
    chmod(copy, (mode_t)mode);
    check(mount(copy, path, NULL, MS_BIND, NULL) == 0, path, fault);
    unlink(copy);
}

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
        {"socket", {SYS_socket, -1}},
        {"connect", {SYS_connect, -1}},
        {"pipe", {SYS_pipe2, -1}},
        {"ptrace", {SYS_ptrace, -1}},
        {"wait", {SYS_wait4, SYS_waitid, -1}},
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

static int wait_for(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* The parent becomes the supervisor and never returns; the child goes on under the filter. */
static void refuse_opens(void)
{
    int channel[2];
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

/* ---- The other faults ---- */

static void limit(int which, rlim_t value, const char *fault)
{
    check(setrlimit(which, &(struct rlimit){value, value}) == 0, "setrlimit", fault);
}

/* A directory of MPS whose control socket nobody, or somebody who does not answer, has. */
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
}

static void become(unsigned user, const char *fault)
{
    check(setgroups(0, NULL) == 0 && setgid(user) == 0 && setuid(user) == 0, "setuid", fault);
}

static void unshare_user(const char *fault)
{
    unsigned user = geteuid(), group = getegid();
    check(unshare(CLONE_NEWUSER) == 0, "unshare", fault);
    write_file("/proc/self/setgroups", "deny");
    write_file("/proc/self/uid_map", "%u %u 1", user, user);
    write_file("/proc/self/gid_map", "%u %u 1", group, group);
}

/* An error number, or "kill" or "kill-thread". */
static unsigned seccomp_result(const char *text)
{
    return strcmp(text, "kill") == 0          ? SECCOMP_RET_KILL_PROCESS
           : strcmp(text, "kill-thread") == 0 ? SECCOMP_RET_KILL_THREAD
                                              : SECCOMP_RET_ERRNO | (unsigned)atoi(text);
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
    write_file("/proc/self/timens_offsets", "boottime 86400 0\n");
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

/* Returns the text after "NAME=" if the fault begins so. */
static const char *value_of(const char *fault, const char *name)
{
    size_t length = strlen(name);
    return strncmp(fault, name, length) == 0 && fault[length] == '=' ? fault + length + 1 : NULL;
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

static bool make_mount(const char *fault)
{
    const char *value;
    if ((value = value_of(fault, "dev-without")) != NULL)
        mount_dev(value, fault);
    else if ((value = value_of(fault, "null")) != NULL)
        mount_over(value, "/dev/null", 0, fault);
    else if ((value = value_of(fault, "file")) != NULL)
        mount_over(value, "/etc/passwd", 0, fault);
    else if ((value = value_of(fault, "nodev")) != NULL)
        mount_over(value, value, MS_NODEV, fault);
    else if ((value = value_of(fault, "proc")) != NULL)
        mount_proc(value, fault);
    else if ((value = value_of(fault, "noexec")) != NULL)
        mount_over(value, value, MS_NOEXEC, fault);
    else if ((value = value_of(fault, "read-only")) != NULL)
        mount_over(value, value, MS_RDONLY, fault);
    else if ((value = value_of(fault, "empty")) != NULL)
        mount_empty(value, fault);
    else if ((value = value_of(fault, "private")) != NULL)
        mount_node(value, 0600, 0, 0, fault);
    else if ((value = value_of(fault, "stale")) != NULL)
        mount_node(value, 0666, 250, 0, fault);
    else if ((value = value_of(fault, "minor")) != NULL)
        mount_node(value, 0666, 0, 1, fault);
    return value != NULL;
}

static void make_other(const char *fault)
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
            return;
        }
    }
    if (strcmp(fault, "landlock=ioctl") == 0) {
        landlock_other(1 << 15, 0, 0, fault);
    } else if (strcmp(fault, "landlock=net") == 0) {
        landlock_other(0, 3, 3, fault); /* TCP; abstract sockets and signals outside */
    } else if ((value = value_of(fault, "uid")) != NULL) {
        become((unsigned)atoi(value), fault);
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
        if (!make_limit(arguments[i]) && !make_mount(arguments[i]))
            make_other(arguments[i]);
    }
    if (i + 1 >= count)
        return CANNOT;
    if (refused_count > 0)
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
