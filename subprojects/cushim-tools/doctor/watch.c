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
#    include "follow.h"

struct watcher {
    struct child child;
    const struct start *start;
    struct watch *watch;
    struct follower follower;
    long last_number; /* of the call that the first thread, which starts the driver, began last */
};

/* ---- What a call worked on ---- */

static void read_address(pid_t thread, uint64_t address, char *text, size_t size)
{
    long head = follow_read_word(thread, address);
    unsigned short family;
    char first;
    memcpy(&family, &head, sizeof family);
    memcpy(&first, (const char *)&head + sizeof family, 1);
    if (family != AF_UNIX) {
        snprintf(text, size, "an address of family %u", family);
        return;
    }
    text[0] = '@'; /* an abstract address begins with a null */
    follow_read_text(thread, address + sizeof family + (first == '\0'), text + (first == '\0'), size - (first == '\0'));
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

static void describe_argument(const struct watcher *watcher, const struct followed *thread, const struct call *call,
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
        follow_read_text(thread->id, value, text, size);
    /* fstatat(fd, "") examines the descriptor. */
    if (call->argument == CALL_PATH && text[0] == '\0' && call->index == 1)
        calls_descriptor_path(watcher->child.pid, (int)thread->arguments[0], text, size);
}

/* ---- The stops of a thread ---- */

static void call_ended(struct follower *follower, const struct followed *thread, int64_t result)
{
    enum { RESTARTED = 512 }; /* from here on, errors that no program sees */
    const struct watcher *watcher = follower->user;
    const struct call *call = calls_find(thread->number);
    char path[sizeof((struct operation *)NULL)->path], name[24];
    if (watcher->start->is_over)
        return;
    watcher->watch->operations.calls++;
    if (result < 0 && result > -RESTARTED) {
        if (call == NULL)
            snprintf(name, sizeof name, "%ld", thread->number);
        describe_argument(watcher, thread, call, path, sizeof path);
        operations_add(&watcher->watch->operations, call != NULL ? call->name : name, path, (int)-result);
    } else if (result >= 0 && call != NULL && strncmp(call->name, "open", 4) == 0) {
        describe_argument(watcher, thread, call, path, sizeof path);
        operations_opened(&watcher->watch->operations, path);
    }
}

/* Only threads of the child are followed: a traced set-user-ID program, such as nvidia-modprobe, loses its rights. */
static bool is_thread_of_child(struct follower *follower, const struct followed *thread)
{
    struct watcher *watcher = follower->user;
    char path[64], all[32];
    if (thread->is_inside && thread->id == (pid_t)watcher->child.pid)
        watcher->last_number = thread->number;
    snprintf(all, sizeof all, "/proc/%ld/task", watcher->child.pid);
    snprintf(path, sizeof path, "%s/%ld", all, (long)thread->id);
    return platform_exists(path) || !platform_exists(all) || !calls_proc_is_own();
}

static void thread_ended(struct follower *follower, pid_t id, int status)
{
    struct watcher *watcher = follower->user;
    if (id != (pid_t)watcher->child.pid)
        return;
    watcher->child.has_ended = true;
    watcher->child.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
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
        if (id > 0 && !follow_handle(&watcher->follower, id, status))
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
    follow_ask();
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
    memset(&watcher, 0, sizeof watcher);
    watcher.start = start;
    watcher.watch = watch;
    watcher.follower.user = &watcher;
    watcher.follower.may_follow = is_thread_of_child;
    watcher.follower.call_ended = call_ended;
    watcher.follower.ended = thread_ended;
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
    watch->error = follow_start((pid_t)watcher.child.pid, false);
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
