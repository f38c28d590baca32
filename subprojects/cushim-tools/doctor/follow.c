/* SPDX-License-Identifier: MIT */
#include "system_calls.h"

#if defined(__linux__)
#    include "follow.h"

#    include <errno.h>
#    include <signal.h>
#    include <string.h>
#    include <sys/syscall.h>
#    include <sys/wait.h>
#    include <unistd.h>

/* Older headers lack some of these. */
enum request {
    REQUEST_PEEK_DATA = 2,
    REQUEST_DETACH = 17,
    REQUEST_SYSCALL = 24,
    REQUEST_SEIZE = 0x4206,
    REQUEST_INTERRUPT = 0x4207,
    REQUEST_LISTEN = 0x4208,
    REQUEST_SYSCALL_INFO = 0x420e
};
enum { OPTION_SYSGOOD = 1, OPTION_FORK = 2, OPTION_VFORK = 4, OPTION_CLONE = 8, OPTION_EXEC = 16 };
enum { OPTION_EXITKILL = 1 << 20, EVENT_EXEC = 4, EVENT_STOP = 128, SYSCALL_MARK = 0x80 };
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

static long request_make(enum request request, pid_t thread, unsigned long long address, void *data)
{
    return syscall(SYS_ptrace, (long)request, (long)thread, (unsigned long)address, data);
}

static void request_continue(enum request request, pid_t thread, int signal)
{
    syscall(SYS_ptrace, (long)request, (long)thread, 0L, (long)signal);
}

int follow_start(pid_t process, bool children)
{
    long options =
        OPTION_SYSGOOD | OPTION_CLONE | (children ? OPTION_FORK | OPTION_VFORK | OPTION_EXEC : OPTION_EXITKILL);
    return syscall(SYS_ptrace, (long)REQUEST_SEIZE, (long)process, 0L, options) == 0
                   && syscall(SYS_ptrace, (long)REQUEST_INTERRUPT, (long)process, 0L, 0L) == 0
               ? 0
               : errno;
}

void follow_ask(void)
{
    syscall(SYS_ptrace, (long)REQUEST_SEIZE, 0L, 0L, 0L);
}

long follow_read_word(pid_t thread, uint64_t address)
{
    long word = 0;
    return request_make(REQUEST_PEEK_DATA, thread, address, &word) == 0 ? word : 0;
}

void follow_read_text(pid_t thread, uint64_t address, char *text, size_t size)
{
    for (size_t used = 0; used + 1 < size; used += sizeof(long)) {
        long word = follow_read_word(thread, address + used);
        size_t length = size - 1 - used < sizeof word ? size - 1 - used : sizeof word;
        memcpy(text + used, &word, length);
        text[used + length] = '\0';
        if (memchr(&word, '\0', sizeof word) != NULL)
            return;
    }
}

static struct followed *thread_find(struct follower *follower, pid_t id)
{
    for (size_t i = 0; i < follower->count; i++) {
        if (follower->threads[i].id == id)
            return &follower->threads[i];
    }
    if (follower->count == MAX_FOLLOWED)
        return NULL;
    follower->threads[follower->count] = (struct followed){.id = id};
    return &follower->threads[follower->count++];
}

static void thread_forget(struct follower *follower, pid_t id)
{
    struct followed *thread = thread_find(follower, id);
    if (thread != NULL)
        *thread = follower->threads[--follower->count];
}

void follow_leave(struct follower *follower, pid_t id)
{
    int status = 0;
    (void)request_make(REQUEST_INTERRUPT, id, 0, NULL);
    if (waitpid(id, &status, __WALL) == id && WIFSTOPPED(status)) {
        bool is_signal = (unsigned)status >> 16 == 0 && WSTOPSIG(status) != (SIGTRAP | SYSCALL_MARK);
        request_continue(REQUEST_DETACH, id, is_signal ? WSTOPSIG(status) : 0);
    }
    thread_forget(follower, id);
}

/* Returns false if the kernel cannot describe the stop. */
static bool call_stop(struct follower *follower, struct followed *thread)
{
    struct syscall_stop stop = {.kind = 0};
    if (request_make(REQUEST_SYSCALL_INFO, thread->id, sizeof stop, &stop) <= 0)
        return errno == ESRCH; /* it was killed */
    if (stop.kind == STOP_ENTRY) {
        thread->is_inside = true;
        thread->number = (long)stop.of.entry.number;
        memcpy(thread->arguments, stop.of.entry.arguments, sizeof thread->arguments);
    } else if (stop.kind == STOP_EXIT && thread->is_inside) {
        thread->is_inside = false;
        follower->call_ended(follower, thread, stop.of.exit.result);
    }
    return true;
}

bool follow_handle(struct follower *follower, pid_t id, int status)
{
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
        thread_forget(follower, id);
        follower->ended(follower, id, status);
        return true;
    }
    size_t known = follower->count;
    struct followed *thread = thread_find(follower, id);
    int signal = WSTOPSIG(status), event = (int)((unsigned)status >> 16);
    bool is_call = event == 0 && signal == (SIGTRAP | SYSCALL_MARK);
    if (thread != NULL && is_call && !call_stop(follower, thread))
        return false;
    if (follower->count > known && follower->began != NULL)
        follower->began(follower, id);
    if (event == EVENT_EXEC && follower->became != NULL)
        follower->became(follower, id);
    if (thread == NULL && follower->lost != NULL)
        follower->lost(follower, id);
    if (event == EVENT_EXEC && thread != NULL)
        thread->is_inside = false; /* what it was called with is gone */
    if (thread == NULL || !follower->may_follow(follower, thread)) {
        request_continue(REQUEST_DETACH, id, 0);
        thread_forget(follower, id);
    } else if (event == EVENT_STOP && signal != SIGTRAP) {
        request_continue(REQUEST_LISTEN, id, 0); /* a stop of the whole process, such as by SIGTSTP */
    } else {
        request_continue(REQUEST_SYSCALL, id, event == 0 && !is_call ? signal : 0); /* every signal is passed on */
    }
    return true;
}
#endif
