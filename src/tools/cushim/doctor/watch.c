/* SPDX-License-Identifier: MIT */
#include "watch.h"

#include <errno.h>

#if !defined(__linux__)
void watch_start(struct start *start, struct watch *watch, int seconds)
{
    (void)start;
    (void)seconds;
    watch->error = ENOSYS;
}
#else
#    include <sched.h>
#    include <signal.h>
#    include <stdio.h>
#    include <string.h>
#    include <sys/socket.h>
#    include <sys/syscall.h>
#    include <sys/wait.h>
#    include <unistd.h>

#    include "cushim/cushim.h"
#    include "calls.h"

/* Older headers lack some of these. */
enum request {
    REQUEST_PEEK_DATA = 2,
    REQUEST_DETACH = 17,
    REQUEST_SYSCALL = 24,
    REQUEST_EVENT_MESSAGE = 0x4201,
    REQUEST_SEIZE = 0x4206,
    REQUEST_INTERRUPT = 0x4207,
    REQUEST_LISTEN = 0x4208,
    REQUEST_SYSCALL_INFO = 0x420e
};
enum { OPTION_SYSGOOD = 1, OPTION_CLONE = 8, OPTION_EXITKILL = 1 << 20, EVENT_STOP = 128, SYSCALL_MARK = 0x80 };
enum { STOP_ENTRY = 1, STOP_EXIT = 2 };

/* What PTRACE_GET_SYSCALL_INFO writes. */
struct syscall_stop {
    unsigned char kind;
    unsigned char padding[3];
    uint32_t architecture;
    uint64_t instruction, stack;
    union {
        struct {
            uint64_t number, arguments[6];
        } entry;
        struct {
            int64_t result;
            unsigned char is_error;
        } exit;
    } of;
};

/* A thread that is watched, and the call in which it is. */
struct thread {
    pid_t id;
    bool is_inside;
    long number;
    uint64_t arguments[6];
};

enum { MAX_THREADS = 256 };

struct watcher {
    struct child child;
    const struct start *start;
    struct watch *watch;
    struct thread threads[MAX_THREADS];
    size_t count;
    long last_number; /* of the call that began last */
};

static long request_make(enum request request, pid_t thread, unsigned long long address, void *data)
{
    return syscall(SYS_ptrace, (long)request, (long)thread, (unsigned long)address, data);
}

static void request_continue(enum request request, pid_t thread, int signal)
{
    syscall(SYS_ptrace, (long)request, (long)thread, 0L, (long)signal);
}

/* ---- What a call worked on ---- */

static void thread_read_text(pid_t thread, uint64_t address, char *text, size_t size)
{
    for (size_t used = 0; used + 1 < size; used += sizeof(long)) {
        long word = 0;
        if (request_make(REQUEST_PEEK_DATA, thread, address + used, &word) != 0)
            word = 0;
        size_t length = size - 1 - used < sizeof word ? size - 1 - used : sizeof word;
        memcpy(text + used, &word, length);
        text[used + length] = '\0';
        if (memchr(&word, '\0', sizeof word) != NULL)
            return;
    }
}

static void read_address(pid_t thread, uint64_t address, char *text, size_t size)
{
    long head = 0;
    unsigned short family;
    char first;
    if (request_make(REQUEST_PEEK_DATA, thread, address, &head) != 0)
        head = 0;
    memcpy(&family, &head, sizeof family);
    memcpy(&first, (const char *)&head + sizeof family, 1);
    if (family != AF_UNIX) {
        snprintf(text, size, "an address of family %u", family);
        return;
    }
    text[0] = '@'; /* an abstract address begins with a null */
    thread_read_text(thread, address + sizeof family + (first == '\0'), text + (first == '\0'), size - (first == '\0'));
}

static void describe_size(uint64_t bytes, char *text, size_t size)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    for (; bytes >= 1024 && bytes % 1024 == 0 && unit < 4; unit++)
        bytes /= 1024;
    for (; bytes >= 10240 && unit < 4; unit++)
        bytes /= 1024;
    snprintf(text, size, "%llu %s", (unsigned long long)bytes, units[unit]);
}

static void describe_argument(const struct watcher *watcher, const struct thread *thread, const struct call *call,
                              char *text, size_t size)
{
    uint64_t value = call != NULL ? thread->arguments[call->index] : 0;
    text[0] = '\0';
    if (call == NULL || call->argument == CALL_NONE)
        return;
    if (call->argument == CALL_DESCRIPTOR)
        calls_descriptor_path(watcher->child.pid, (int)value, text, size);
    else if (call->argument == CALL_ADDRESS)
        read_address(thread->id, value, text, size);
    else if (call->argument == CALL_SIZE)
        describe_size(value, text, size);
    else
        thread_read_text(thread->id, value, text, size);
    /* fstatat(fd, "") examines the descriptor. */
    if (call->argument == CALL_PATH && text[0] == '\0' && call->index == 1)
        calls_descriptor_path(watcher->child.pid, (int)thread->arguments[0], text, size);
}

/* ---- The stops of a thread ---- */

static struct thread *thread_find(struct watcher *watcher, pid_t id)
{
    for (size_t i = 0; i < watcher->count; i++) {
        if (watcher->threads[i].id == id)
            return &watcher->threads[i];
    }
    if (watcher->count == MAX_THREADS)
        return NULL;
    watcher->threads[watcher->count] = (struct thread){.id = id};
    return &watcher->threads[watcher->count++];
}

static void thread_forget(struct watcher *watcher, pid_t id)
{
    struct thread *thread = thread_find(watcher, id);
    if (thread != NULL)
        *thread = watcher->threads[--watcher->count];
}

static void call_end(struct watcher *watcher, struct thread *thread, const struct syscall_stop *stop)
{
    enum { RESTARTED = 512 }; /* from here on, errors that no program sees */
    const struct call *call = calls_find(thread->number);
    char path[sizeof((struct operation *)NULL)->path], name[24];
    int64_t error = -stop->of.exit.result;
    if (watcher->start->is_over)
        return;
    watcher->watch->operations.calls++;
    if (stop->of.exit.is_error && error > 0 && error < RESTARTED) {
        if (call == NULL)
            snprintf(name, sizeof name, "%ld", thread->number);
        describe_argument(watcher, thread, call, path, sizeof path);
        operations_add(&watcher->watch->operations, call != NULL ? call->name : name, path, (int)error);
    } else if (!stop->of.exit.is_error && call != NULL && strncmp(call->name, "open", 4) == 0) {
        describe_argument(watcher, thread, call, path, sizeof path);
        operations_opened(&watcher->watch->operations, path);
    }
}

/* Returns false if the kernel cannot describe the stop. */
static bool call_stop(struct watcher *watcher, struct thread *thread)
{
    struct syscall_stop stop = {.kind = 0};
    if (request_make(REQUEST_SYSCALL_INFO, thread->id, sizeof stop, &stop) <= 0)
        return errno == ESRCH; /* it was killed */
    if (stop.kind == STOP_ENTRY) {
        thread->is_inside = true;
        thread->number = (long)stop.of.entry.number;
        memcpy(thread->arguments, stop.of.entry.arguments, sizeof thread->arguments);
        watcher->last_number = thread->number;
    } else if (stop.kind == STOP_EXIT && thread->is_inside) {
        thread->is_inside = false;
        call_end(watcher, thread, &stop);
    }
    return true;
}

/* Only threads of the child are followed: a traced set-user-ID program, such as nvidia-modprobe, loses its rights. */
static bool is_thread_of_child(const struct watcher *watcher, pid_t id)
{
    char path[64], all[32];
    snprintf(all, sizeof all, "/proc/%ld/task", watcher->child.pid);
    snprintf(path, sizeof path, "%s/%ld", all, (long)id);
    return platform_exists(path) || !platform_exists(all) || !calls_proc_is_own();
}

/* Handles what waitpid() has reported. Returns false if the watch must end. */
static bool handle(struct watcher *watcher, pid_t id, int status)
{
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
        thread_forget(watcher, id);
        if (id == (pid_t)watcher->child.pid) {
            watcher->child.has_ended = true;
            watcher->child.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        }
        return true;
    }
    struct thread *thread = thread_find(watcher, id);
    int signal = WSTOPSIG(status), event = (int)((unsigned)status >> 16);
    if (thread == NULL || !is_thread_of_child(watcher, id)) {
        request_continue(REQUEST_DETACH, id, 0);
        thread_forget(watcher, id);
    } else if (event == EVENT_STOP && signal != SIGTRAP) {
        request_continue(REQUEST_LISTEN, id, 0); /* a stop of the whole process, such as by SIGTSTP */
    } else if (event == 0 && signal == (SIGTRAP | SYSCALL_MARK)) {
        if (!call_stop(watcher, thread))
            return false;
        request_continue(REQUEST_SYSCALL, id, 0);
    } else {
        request_continue(REQUEST_SYSCALL, id, event == 0 ? signal : 0); /* every signal is passed on */
    }
    return true;
}

/* Between two calls of the driver there is little time, so a pause is short at first. */
static void pause_briefly(unsigned *idle)
{
    enum { SPINS = 100, SHORT = 200 };
    if (++*idle < SPINS)
        sched_yield();
    else if (*idle < SPINS + SHORT)
        usleep(50);
    else
        platform_sleep(5);
}

/* Handles the stops of the child until it has ended or the time is over. Returns 0, or why the watch must end. */
static int watch_child(struct watcher *watcher, int seconds)
{
    const uint64_t begin = cushim_clock_ns() / 1000000;
    bool has_said = seconds <= START_SOON;
    unsigned idle = 0;
    for (uint64_t passed = 0; !watcher->child.has_ended && passed < (uint64_t)seconds * 1000;
         passed = cushim_clock_ns() / 1000000 - begin) {
        int status;
        pid_t id = waitpid(-1, &status, __WALL | WNOHANG);
        if (id < 0 && errno != EINTR)
            return errno;
        if (id > 0 && !handle(watcher, id, status))
            return ENOSYS;
        idle = id > 0 ? 0 : idle;
        if (id > 0)
            continue;
        child_take_output(&watcher->child);
        pause_briefly(&idle);
        if (!has_said && passed >= START_SOON * 1000)
            start_say_waiting(seconds);
        has_said = has_said || passed >= START_SOON * 1000;
    }
    return 0;
}

static void trace_nothing(void *unused)
{
    (void)unused;
    syscall(SYS_ptrace, (long)REQUEST_SEIZE, 0L, 0L, 0L);
}

/* A filter that ends a process for ptrace(2), as that of systemd does, must not end this one. */
static bool ptrace_is_deadly(void)
{
    enum { MILLISECONDS = 1000 };
    struct child_memory *memory = child_memory_create(sizeof *memory);
    if (memory == NULL)
        return true;
    memory->may_begin = true;
    struct child child = child_start(trace_nothing, memory);
    bool is_deadly = child.error == 0 && child_wait(&child, MILLISECONDS) && child.signal != 0;
    child_memory_destroy(memory, sizeof *memory);
    return is_deadly;
}

void watch_start(struct start *start, struct watch *watch, int seconds)
{
    static struct watcher watcher;
    watcher = (struct watcher){.start = start, .watch = watch};
    start->child.may_begin = false;
    start->child.is_quiet = true;
    if (ptrace_is_deadly()) {
        watch->error = EPERM;
        return;
    }
    watcher.child = child_start(start_work, start);
    watch->error = watcher.child.error;
    if (watch->error != 0)
        return;
    pid_t pid = (pid_t)watcher.child.pid;
    long options = OPTION_SYSGOOD | OPTION_CLONE | OPTION_EXITKILL;
    if (syscall(SYS_ptrace, (long)REQUEST_SEIZE, (long)pid, 0L, options) != 0
        || syscall(SYS_ptrace, (long)REQUEST_INTERRUPT, (long)pid, 0L, 0L) != 0)
        watch->error = errno;
    start->child.may_begin = watch->error == 0;
    if (watch->error == 0)
        watch->error = watch_child(&watcher, seconds);
    if (watch->error != 0) {
        child_stop(&watcher.child);
        return;
    }
    const struct call *last = calls_find(watcher.last_number);
    if (watcher.child.has_ended && !start->child.has_ended && last != NULL)
        snprintf(watch->last_call, sizeof watch->last_call, "%s", last->name);
    start_end(start, &watcher.child);
}
#endif
