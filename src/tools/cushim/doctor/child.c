/* SPDX-License-Identifier: MIT */
#include "child.h"

#include "platform.h"

#if defined(_WIN32)
#    include <errno.h>
#    include <stdlib.h>

void *child_memory_create(size_t size)
{
    return calloc(1, size);
}

void child_memory_destroy(void *memory, size_t size)
{
    (void)size;
    free(memory);
}

struct child child_start(void (*work)(void *memory), void *memory)
{
    (void)work;
    (void)memory;
    return (struct child){.error = ENOSYS};
}

bool child_has_ended(struct child *child)
{
    return child->has_ended;
}

bool child_stop(struct child *child)
{
    return child->has_ended;
}

bool child_wait(struct child *child, int milliseconds)
{
    (void)milliseconds;
    return child->has_ended;
}

void child_take_output(struct child *child)
{
    (void)child;
}

const char *child_signal_name(int signal)
{
    (void)signal;
    return "";
}

struct child_state child_describe(const struct child *child)
{
    (void)child;
    return (struct child_state){.letter = '?'};
}
#else
#    include <errno.h>
#    include <fcntl.h>
#    include <signal.h>
#    include <stdio.h>
#    include <stdlib.h>
#    include <string.h>
#    include <sys/mman.h>
#    include <sys/resource.h>
#    include <sys/wait.h>
#    include <unistd.h>
#    if defined(__linux__)
#        include <sys/prctl.h>
#    endif

#    include "calls.h"
#    include "cushim/cushim.h"
#    include "os.h"

#    if !defined(__WALL)
#        define __WALL 0
#    endif

void *child_memory_create(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

void child_memory_destroy(void *memory, size_t size)
{
    munmap(memory, size);
}

/* ---- What the child writes ---- */

/* A driver that writes to stdout must not spoil a JSON document, and a process that it leaves behind must not keep the
 * output of this program open. Without a pipe, the child writes where this process does. */
static bool output_open(const struct child_memory *memory, int ends[2])
{
    if (!memory->is_quiet || pipe(ends) != 0)
        return false;
    for (int i = 0; i < 2; i++)
        (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return true;
}

/* In the child. A descriptor that is closed stays closed. */
static void output_redirect(const int ends[2])
{
    for (int file = STDOUT_FILENO; file <= STDERR_FILENO; file++) {
        if (file != ends[0] && file != ends[1] && fcntl(file, F_GETFD) >= 0)
            (void)dup2(ends[1], file);
    }
    close(ends[0]);
    close(ends[1]);
}

/* What does not fit is lost. */
void child_take_output(struct child *child)
{
    char text[4096];
    struct child_memory *memory = child->memory;
    for (ssize_t count; child->output >= 0 && (count = read(child->output, text, sizeof text)) > 0;) {
        size_t used = strlen(memory->output), room = sizeof memory->output - 1 - used;
        memcpy(memory->output + used, text, (size_t)count < room ? (size_t)count : room);
    }
    if (child->has_ended && child->output >= 0) {
        close(child->output);
        child->output = -1;
    }
}

/* ---- The child ---- */

static void child_enter(void (*work)(void *memory), struct child_memory *memory, pid_t parent)
{
    static const struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
#    if defined(__linux__)
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#    endif
    while (!memory->may_begin && getppid() == parent)
        platform_sleep(1);
    work(memory);
    memory->has_ended = true;
    _exit(0);
}

struct child child_start(void (*work)(void *memory), void *memory)
{
    struct child child = {.memory = memory, .pid = -1, .output = -1};
    int ends[2];
    bool has_output = output_open(memory, ends);
    pid_t parent = getpid();
    signal(SIGCHLD, SIG_DFL); /* if it is ignored, waitpid() gets no status */
    fflush(NULL);
    child.pid = fork();
    if (child.pid == 0) {
        if (has_output)
            output_redirect(ends);
        child_enter(work, memory, parent);
    }
    if (child.pid < 0)
        child.error = errno;
    if (has_output)
        close(ends[1]);
    if (has_output && child.pid > 0)
        child.output = ends[0];
    else if (has_output)
        close(ends[0]);
    return child;
}

/* A sandbox can refuse to wait for a child. It then has ended when its work has, and its status is unknown. */
bool child_has_ended(struct child *child)
{
    int status = 0;
    pid_t ended = child->has_ended ? 0 : waitpid((pid_t)child->pid, &status, WNOHANG);
    if (ended == (pid_t)child->pid && !WIFSTOPPED(status)) {
        child->has_ended = true;
        child->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    } else if (ended < 0 && errno != EINTR) {
        child->has_ended = child->memory->has_ended || (kill((pid_t)child->pid, 0) != 0 && errno == ESRCH);
    }
    child_take_output(child);
    return child->has_ended;
}

bool child_wait(struct child *child, int milliseconds)
{
    enum { LONGEST_PAUSE = 20 };
    const uint64_t end = cushim_clock_ns() / 1000000 + (uint64_t)milliseconds;
    for (int pause = 1; !child_has_ended(child) && cushim_clock_ns() / 1000000 < end; pause += pause < LONGEST_PAUSE)
        platform_sleep(pause);
    return child->has_ended;
}

bool child_stop(struct child *child)
{
    enum { TRIES = 2000 };
    kill((pid_t)child->pid, SIGKILL);
    for (int i = 0; i < TRIES && !child->has_ended; i++) {
        int status = 0;
        pid_t ended = waitpid(-1, &status, __WALL | WNOHANG); /* also each thread, if they were traced */
        if (ended == (pid_t)child->pid && !WIFSTOPPED(status))
            child->has_ended = true;
        else if (ended < 0 && errno != EINTR)
            break; /* this process may not wait */
        else if (ended <= 0)
            platform_sleep(1);
    }
    child_take_output(child);
    if (child->output >= 0)
        close(child->output);
    child->output = -1;
    return child->has_ended;
}

const char *child_signal_name(int signal)
{
    return strsignal(signal);
}

/* Reads a file of the process, such as "stat". */
static bool child_read(const struct child *child, const char *name, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/%s", child->pid, name);
    return calls_proc_is_own() && cush_os_file_read(path, text, size);
}

struct child_state child_describe(const struct child *child)
{
    struct child_state state = {.letter = '?'};
    char text[512], function[64];
    /* The name of the process, in parentheses, can contain any characters. */
    const char *name_end = child_read(child, "stat", text, sizeof text) ? strrchr(text, ')') : NULL;
    if (name_end != NULL && name_end[1] == ' ')
        state.letter = name_end[2];
    long number;
    unsigned long long argument;
    if (child_read(child, "syscall", text, sizeof text) && sscanf(text, "%ld %llx", &number, &argument) == 2)
        calls_describe(child->pid, number, argument, state.call, sizeof state.call);
    if (child_read(child, "wchan", function, sizeof function) && strcmp(function, "0") != 0)
        snprintf(state.function, sizeof state.function, "%s", function);
    return state;
}
#endif
