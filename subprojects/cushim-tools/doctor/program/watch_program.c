/* SPDX-License-Identifier: MIT */
/*
 * `--watch` with a program: what only its system calls show. A process that is no longer a child of the program follows
 * it, so that the program has no child that it does not know, and ends and stops as without the watch. It writes into
 * the same notes as the auditor.
 */
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../exec/settings.h"
#include "../../exec/launch.h"
#include "../follow.h"
#include "machine.h"

#if !defined(PR_SET_PTRACER)
#    define PR_SET_PTRACER 0x59616d61
#endif

/* Files by which programs find out whether there is a GPU. The libraries are those of libraries.c. */
static const char telling[] = "/dev/nvidia* /dev/dxg /dev/nvmap /proc/driver/nvidia* */nvidia-smi "
                              "/etc/OpenCL/vendors* /sys/module/nvidia*";

/* The process of a thread. */
static long thread_process(pid_t thread)
{
    char process[32];
    return cush_os_process_status(thread, "Tgid", process, sizeof process) ? atol(process) : thread;
}

static void read_path(const struct followed *thread, char *path, size_t size)
{
    const struct call *call = calls_find(thread->number);
    path[0] = '\0';
    if (call != NULL && call->argument == CALL_PATH)
        follow_read_text(thread->id, thread->arguments[call->index], path, size);
}

static void note_try(struct follower *follower, const struct followed *thread, int64_t result)
{
    enum { ERRORS = 4095 };
    char path[PLATFORM_PATH_SIZE];
    (void)follower;
    bool has_failed = result < 0 && result >= -ERRORS;
    if (thread->number == SYS_execve && !has_failed)
        return; /* became() */
    read_path(thread, path, sizeof path);
    if (pattern_matches(telling, path) || library_of(path) != NULL)
        exec_note(thread_process(thread->id), thread->number == SYS_execve ? EXEC_NOTE_RUN : EXEC_NOTE_TRIED, path,
                  has_failed ? calls_error_name((int)-result) : "");
}

/* The first one is the process that is about to become the program. */
static void became(struct follower *follower, pid_t id)
{
    static bool has_begun;
    char link[64], path[PLATFORM_PATH_SIZE] = "";
    (void)follower;
    snprintf(link, sizeof link, "/proc/%ld/exe", (long)id);
    if (has_begun && thread_process(id) == id && readlink(link, path, sizeof path - 1) > 0)
        exec_note(id, EXEC_NOTE_RUN, path, "");
    has_begun = true;
}

/* Whether a thread creates one that nobody is to follow. LeakSanitizer does: that thread then follows its own process,
 * which is possible only if nobody else does. */
static bool wants_to_be_alone(const struct followed *thread)
{
    return thread->is_inside && thread->number == SYS_clone && (thread->arguments[0] & CLONE_UNTRACED) != 0;
}

static void leave_others(struct follower *follower, pid_t thread)
{
    long process = thread_process(thread);
    for (size_t i = follower->count; i-- > 0;) {
        pid_t id = follower->threads[i].id;
        if (id != thread && thread_process(id) == process)
            follow_leave(follower, id);
    }
}

/* A process that is followed does not get the rights of a file: it goes on alone. That of execveat() is unknown. */
static bool may_follow(struct follower *follower, const struct followed *thread)
{
    char name[PLATFORM_PATH_SIZE], path[PLATFORM_PATH_SIZE + 64];
    if (wants_to_be_alone(thread)) {
        leave_others(follower, thread->id);
        return false;
    }
    if (!thread->is_inside || thread->number != SYS_execve)
        return !thread->is_inside || thread->number != SYS_execveat;
    read_path(thread, name, sizeof name);
    snprintf(path, sizeof path, "/proc/%ld/%s/%s", (long)thread->id, name[0] == '/' ? "root" : "cwd", name);
    if (!exec_target_gains_rights(thread->id, path))
        return true;
    exec_note(thread_process(thread->id), EXEC_NOTE_LEFT, name, "");
    return false;
}

static void ended(struct follower *follower, pid_t id, int status)
{
    (void)follower, (void)id, (void)status;
}

/* Until the last process that it follows has ended. It holds no descriptor that somebody waits for. */
static void follow(pid_t program, int answer)
{
    struct follower follower = {.may_follow = may_follow, .call_ended = note_try, .became = became, .ended = ended};
    sigset_t all;
    int status, error = follow_start(program, true);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    (void)!write(answer, &error, sizeof error);
    for (int descriptor = (int)sysconf(_SC_OPEN_MAX) < 4096 ? (int)sysconf(_SC_OPEN_MAX) : 4096; descriptor-- > 0;)
        close(descriptor);
    for (pid_t id; error == 0 && ((id = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR);) {
        if (id > 0 && !follow_handle(&follower, id, status))
            break;
    }
    _exit(0);
}

int program_watch(const char *notes)
{
    int ends[2], error = ECHILD;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    (void)prctl(PR_SET_PTRACER, -1L, 0L, 0L, 0L); /* some kernels let only ancestors follow */
    pid_t program = getpid(), child = fork();
    if (child == 0) {
        close(ends[0]);
        exec_notes_start(notes);
        if (fork() == 0)
            follow(program, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
    if (read(ends[0], &error, sizeof error) != (ssize_t)sizeof error)
        error = ECHILD;
    close(ends[0]);
    (void)prctl(PR_SET_PTRACER, 0L, 0L, 0L, 0L);
    return error;
}
