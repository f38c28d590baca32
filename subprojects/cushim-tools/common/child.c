/* SPDX-License-Identifier: MIT */
#include "child.h"

#include "platform.h"

#if defined(_WIN32)
#    include <errno.h>
#    include <stdio.h>
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

void child_answers(struct child_memory *memory)
{
    (void)memory;
}

const char *child_signal_name(int signal)
{
    (void)signal;
    return "";
}

void child_describe_stack(char *text, size_t size)
{
    snprintf(text, size, "%s", "");
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

#    include "system_calls.h"
#    include "cushim/cushim.h"
#    include "machine.h"

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
 * output of this program open. So the child has pipes, one for the driver and one for its answer. */
struct pipes {
    int output[2], answer[2]; /* -1: not open */
};

static void end_close(int *end)
{
    if (*end >= 0)
        close(*end);
    *end = -1;
}

static bool pipe_open(int ends[2])
{
    if (pipe(ends) != 0)
        return false;
    return fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0 && fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0
           && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
}

static void pipes_close(struct pipes *pipes, int which)
{
    end_close(&pipes->output[which]);
    end_close(&pipes->answer[which]);
}

static bool has_filter(void)
{
    char mode[16];
    return cush_os_thread_status("Seccomp", mode, sizeof mode) && mode[0] == '2';
}

/* A filter of seccomp that ends a process for pipe(2) must not end this one. */
static bool pipe_is_deadly(void)
{
    static int is_deadly = -1;
    int ends[2], status = 0;
    if (is_deadly >= 0)
        return is_deadly != 0;
    pid_t child = has_filter() ? fork() : -1;
    if (child == 0)
        _exit(pipe(ends) != 0);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    is_deadly = child > 0 && WIFSIGNALED(status);
    return is_deadly != 0;
}

/* Without a pipe, a quiet child writes where this process does. Returns false if a relayed one has no pipes. */
static bool pipes_open(const struct child_memory *memory, struct pipes *pipes)
{
    *pipes = (struct pipes){{-1, -1}, {-1, -1}};
    if (!memory->is_quiet && !memory->is_relayed)
        return true;
    if (!pipe_is_deadly() && (pipe_open(pipes->output) && (!memory->is_relayed || pipe_open(pipes->answer))))
        return true;
    pipes_close(pipes, 0);
    pipes_close(pipes, 1);
    return !memory->is_relayed;
}

/* In the child. */
static void output_redirect(struct child_memory *memory, struct pipes *pipes)
{
    for (int file = STDOUT_FILENO; pipes->output[1] >= 0 && file <= STDERR_FILENO; file++)
        (void)dup2(pipes->output[1], file);
    memory->answer_pipe = pipes->answer[1];
    pipes->answer[1] = -1;
    pipes_close(pipes, 0);
    pipes_close(pipes, 1);
}

void child_answers(struct child_memory *memory)
{
    fflush(stdout);
    if (memory->answer_pipe >= 0)
        (void)dup2(memory->answer_pipe, STDOUT_FILENO);
    end_close(&memory->answer_pipe);
}

/* What does not fit is lost. */
static void output_keep(struct child *child, const char *text, size_t size)
{
    struct child_memory *memory = child->memory;
    size_t used = strlen(memory->output), room = sizeof memory->output - 1 - used;
    if (memory->is_relayed)
        fwrite(text, 1, size, stderr);
    else
        memcpy(memory->output + used, text, size < room ? size : room);
}

static void answer_keep(struct child *child, const char *text, size_t size)
{
    if (size > child->answer_capacity - child->answer_size) {
        size_t room = 2 * child->answer_capacity + size;
        char *answer = realloc(child->answer, room);
        if (answer == NULL) {
            child->error = ENOMEM;
            end_close(&child->answer_pipe); /* the child cannot continue its answer */
            return;
        }
        child->answer = answer;
        child->answer_capacity = room;
    }
    memcpy(child->answer + child->answer_size, text, size);
    child->answer_size += size;
}

/* Takes what a pipe contains. A process that the driver has left behind may write faster than this one reads. */
static void pipe_take(struct child *child, const int *end, void (*keep)(struct child *, const char *, size_t))
{
    enum { MAX_READS = 1024 };
    char text[4096];
    ssize_t count;
    for (int i = 0; i < MAX_READS && *end >= 0 && (count = read(*end, text, sizeof text)) > 0; i++)
        keep(child, text, (size_t)count);
}

void child_take_output(struct child *child)
{
    pipe_take(child, &child->output, output_keep);
    pipe_take(child, &child->answer_pipe, answer_keep);
    if (child->has_ended) {
        end_close(&child->output);
        end_close(&child->answer_pipe);
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
    struct child child = {.memory = memory, .pid = -1, .output = -1, .answer_pipe = -1};
    struct pipes pipes;
    signal(SIGCHLD, SIG_DFL); /* if it is ignored, waitpid() gets no status */
    fflush(NULL);
    if (!pipes_open(memory, &pipes)) {
        child.error = EMFILE;
        return child;
    }
    pid_t parent = getpid();
    child.pid = fork();
    if (child.pid == 0) {
        output_redirect(memory, &pipes);
        child_enter(work, memory, parent);
    }
    if (child.pid < 0)
        child.error = errno;
    pipes_close(&pipes, 1);
    if (child.pid < 0)
        pipes_close(&pipes, 0);
    child.output = pipes.output[0];
    child.answer_pipe = pipes.answer[0];
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
    const uint64_t begin = cushim_clock_ns() / 1000000;
    uint64_t waited = 0;
    while (!child_has_ended(child) && waited < (uint64_t)milliseconds) {
        const uint64_t pause = 1 + waited / 16;
        platform_sleep(pause < LONGEST_PAUSE ? (int)pause : LONGEST_PAUSE);
        waited = cushim_clock_ns() / 1000000 - begin;
    }
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
    end_close(&child->output);
    end_close(&child->answer_pipe);
    return child->has_ended;
}

const char *child_signal_name(int signal)
{
    return strsignal(signal);
}

void child_describe_stack(char *text, size_t size)
{
    enum { SMALL = 1 << 20 };
    struct rlimit limit;
    text[0] = '\0';
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < SMALL)
        snprintf(text, size, " The limit of the stack (ulimit -s) is small: %llu KiB.",
                 (unsigned long long)limit.rlim_cur >> 10);
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
