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
#include <sys/shm.h>
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

/* By this, the doctor learns whether processes go on when the program ends: a byte, or nothing if none does. */
static int watch_ends[2] = {-1, -1};
static const struct exec_images *watch_images;
enum watch_answer { WATCH_LEFT = 'l', WATCH_UNKNOWN = 'u' };

struct watch_state {
    pid_t program;
    bool has_ended;
    int answer; /* -1 after the answer */
};

static void watch_answer(struct watch_state *state, enum watch_answer answer)
{
    const char byte = (char)answer;
    if (state->answer < 0)
        return;
    (void)!write(state->answer, &byte, 1);
    close(state->answer);
    state->answer = -1;
}

static long thread_number(long thread, const char *key, long otherwise)
{
    char number[32];
    return cush_os_process_status(thread, key, number, sizeof number) ? atol(number) : otherwise;
}

/* The process of a thread. */
static long thread_process(pid_t thread)
{
    return thread_number(thread, "Tgid", thread);
}

static void read_link(const char *link, char *path, size_t size)
{
    ssize_t length = readlink(link, path, size - 1);
    path[length > 0 ? length : 0] = '\0';
}

static void read_program(long process, char *path, size_t size)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/%ld/exe", process);
    read_link(link, path, size);
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
    if ((thread->number == SYS_execve || thread->number == SYS_execveat) && !has_failed)
        return; /* became() */
    read_path(thread, path, sizeof path);
    if (pattern_matches(telling, path) || library_of(path) != NULL)
        exec_note(thread_process(thread->id), thread->number == SYS_execve ? EXEC_NOTE_RUN : EXEC_NOTE_TRIED, path,
                  has_failed ? calls_error_name((int)-result) : "");
}

static void note_beginning(long process, enum exec_note kind)
{
    char path[PLATFORM_PATH_SIZE], parent[32];
    read_program(process, path, sizeof path);
    snprintf(parent, sizeof parent, "%ld", thread_number(process, "PPid", 0));
    exec_note(process, kind, path, parent);
}

/* The first one is the process that is about to become the program. */
static void began(struct follower *follower, pid_t id)
{
    const struct watch_state *state = follower->user;
    if (id != state->program && thread_process(id) == id)
        note_beginning(id, EXEC_NOTE_FORKED);
}

static void became(struct follower *follower, pid_t id)
{
    char path[PLATFORM_PATH_SIZE];
    (void)follower;
    read_program(id, path, sizeof path);
    if (path[0] != '\0')
        exec_note(id, EXEC_NOTE_RUN, path, "");
}

static void lost(struct follower *follower, pid_t id)
{
    (void)follower;
    note_beginning(thread_process(id), EXEC_NOTE_ALONE);
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

/* Whether a thread is about to run a file that gains rights, which it would not get while it is followed. */
static bool gains_rights(const struct followed *thread)
{
    char name[PLATFORM_PATH_SIZE] = "", path[PLATFORM_PATH_SIZE + 64], from[32] = "cwd";
    bool is_at = thread->number == SYS_execveat;
    if (!thread->is_inside || (!is_at && thread->number != SYS_execve))
        return false;
    follow_read_text(thread->id, thread->arguments[is_at ? 1 : 0], name, sizeof name);
    if (name[0] == '/')
        snprintf(from, sizeof from, "root");
    else if (is_at && (int)thread->arguments[0] != AT_FDCWD)
        snprintf(from, sizeof from, "fd/%d", (int)thread->arguments[0]);
    snprintf(path, sizeof path, "/proc/%ld/%s%s%s", (long)thread->id, from, name[0] != '\0' ? "/" : "", name);
    if (!exec_target_gains_rights(thread->id, path))
        return false;
    if (name[0] == '\0')
        read_link(path, name, sizeof name);
    exec_note(thread_process(thread->id), EXEC_NOTE_LEFT, name, "");
    return true;
}

static bool may_follow(struct follower *follower, const struct followed *thread)
{
    struct watch_state *state = follower->user;
    if (wants_to_be_alone(thread)) {
        exec_note(0, EXEC_NOTE_ALONE, "", "");
        leave_others(follower, thread->id);
    } else if (!gains_rights(thread)) {
        return true;
    }
    if (thread_process(thread->id) == state->program)
        watch_answer(state, WATCH_UNKNOWN);
    return false;
}

static void ended(struct follower *follower, pid_t id, int status)
{
    struct watch_state *state = follower->user;
    (void)status;
    state->has_ended = state->has_ended || id == state->program;
}

/* Handles what the processes do that are followed. Without an event, those that are left run. */
static void follow_all(struct follower *follower)
{
    struct watch_state *state = follower->user;
    for (;;) {
        int status;
        bool may_wait = !state->has_ended || state->answer < 0;
        pid_t id = waitpid(-1, &status, __WALL | (may_wait ? 0 : WNOHANG));
        if (id < 0 && errno != EINTR)
            return;
        if (id == 0)
            watch_answer(state, WATCH_LEFT);
        if (id > 0 && !follow_handle(follower, id, status)) {
            exec_note(0, EXEC_NOTE_ALONE, "", "");
            return;
        }
    }
}

/* Until the last process that it follows has ended. It holds no descriptor that somebody waits for longer. */
static void follow(pid_t program, int answer)
{
    struct watch_state state = {.program = program, .answer = watch_ends[1]};
    struct follower follower = {.user = &state,
                                .may_follow = may_follow,
                                .call_ended = note_try,
                                .began = began,
                                .became = became,
                                .lost = lost,
                                .ended = ended};
    sigset_t all;
    int error = follow_start(program, true);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    (void)!write(answer, &error, sizeof error);
    for (int descriptor = (int)sysconf(_SC_OPEN_MAX) < 4096 ? (int)sysconf(_SC_OPEN_MAX) : 4096; descriptor-- > 0;) {
        if (descriptor != state.answer)
            close(descriptor);
    }
    if (watch_images != NULL)
        (void)shmdt(watch_images); /* of which the doctor asks who uses them */
    if (error == 0)
        follow_all(&follower);
    _exit(0);
}

void program_watch_start(const struct exec_images *images)
{
    watch_images = images;
    if (pipe2(watch_ends, O_CLOEXEC) != 0)
        watch_ends[0] = watch_ends[1] = -1;
}

bool program_watch_has_left(void)
{
    char byte = 0;
    ssize_t count;
    if (watch_ends[0] < 0)
        return false;
    close(watch_ends[1]);
    do
        count = read(watch_ends[0], &byte, 1);
    while (count < 0 && errno == EINTR);
    close(watch_ends[0]);
    return count == 1 && byte == WATCH_LEFT;
}

/* Returns 0 or an errno. */
static int watch_begin(const char *notes)
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

int program_watch(const char *notes)
{
    int error = watch_begin(notes);
    if (error != 0) {
        exec_notes_start(notes);
        exec_note(0, EXEC_NOTE_ALONE, "", "");
    }
    return error;
}
