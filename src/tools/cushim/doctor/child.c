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

static void child_enter(void (*work)(void *memory), struct child_memory *memory)
{
    static const struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
#    if defined(__linux__)
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#    endif
    while (!memory->may_begin)
        platform_sleep(1);
    work(memory);
    memory->has_ended = true;
    _exit(0);
}

struct child child_start(void (*work)(void *memory), void *memory)
{
    struct child child = {.pid = -1};
    signal(SIGCHLD, SIG_DFL); /* if it is ignored, waitpid() gets no status */
    fflush(NULL);
    child.pid = fork();
    if (child.pid == 0)
        child_enter(work, memory);
    if (child.pid < 0)
        child.error = errno;
    return child;
}

bool child_has_ended(struct child *child)
{
    int status = 0;
    if (!child->has_ended && waitpid((pid_t)child->pid, &status, WNOHANG) == (pid_t)child->pid && !WIFSTOPPED(status)) {
        child->has_ended = true;
        child->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
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
        else if (ended <= 0)
            platform_sleep(1);
    }
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
    return cush_os_file_read(path, text, size);
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
