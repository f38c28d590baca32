/* SPDX-License-Identifier: MIT */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "machine.h"

static const int forwarded[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGCONT};

/*
 * A process of this process group that blocks all signals. A signal that waits in it was sent to the group. The kernel
 * sends it to the members one after another, so it may take a moment.
 */
static pid_t witness_start(void)
{
    pid_t parent = getpid(), witness = fork();
    if (witness != 0)
        return witness;
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int descriptor = 0; descriptor < 3; descriptor++)
        close(descriptor); /* a reader of our output does not wait for this process */
    while (getppid() == parent)
        poll(NULL, 0, -1);
    _exit(0);
}

static void witness_end(pid_t witness)
{
    if (witness <= 0)
        return;
    kill(witness, SIGKILL);
    while (waitpid(witness, NULL, 0) < 0 && errno == EINTR)
        continue;
}

static bool witness_has(pid_t witness, int signal_number)
{
    char pending[32];
    poll(NULL, 0, 20);
    return witness > 0 && cush_os_process_status(witness, "ShdPnd", pending, sizeof pending)
           && (strtoull(pending, NULL, 16) >> (signal_number - 1) & 1) != 0;
}

/* What a child was that has ended, and for which nobody has waited yet. */
static void last_read(pid_t child, struct supervised *last)
{
    char path[64], line[256];
    unsigned user = geteuid();
    siginfo_t info = {.si_pid = 0};
    if (waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != child)
        return;
    snprintf(path, sizeof path, "/proc/%ld/status", (long)child);
    FILE *status = fopen(path, "re");
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        if (strncmp(line, "Name:\t", strlen("Name:\t")) == 0)
            snprintf(last->name, sizeof last->name, "%.*s", (int)strcspn(line + strlen("Name:\t"), "\n"),
                     line + strlen("Name:\t"));
        if (sscanf(line, "Uid: %*u %u", &user) == 1)
            last->has_other_user = user != geteuid();
    }
    if (status != NULL)
        fclose(status);
}

/*
 * Waits for the end of the child, and sends it what is meant for it. The child blocks the signals until this end of the
 * pair is shut down: one that the group got before the witness started is sent again, and is pending in the child once.
 */
static int supervise_wait(pid_t child, int pair_end, const sigset_t *signals, struct supervised *last)
{
    int status = 0;
    bool is_held = true;
    pid_t witness = witness_start();
    for (;;) {
        siginfo_t info;
        int number = is_held ? sigtimedwait(signals, &info, &(struct timespec){0, 0}) : sigwaitinfo(signals, &info);
        if (is_held && number < 0 && errno == EAGAIN) {
            shutdown(pair_end, SHUT_WR);
            is_held = false;
            continue;
        }
        last_read(child, last);
        pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child || (ended < 0 && errno != EINTR))
            break;
        if (number <= 0 || number == SIGCHLD || info.si_code == SI_KERNEL || info.si_pid == child)
            continue;
        if (!witness_has(witness, number)) {
            kill(child, number);
            continue;
        }
        witness_end(witness);
        witness = witness_start();
    }
    witness_end(witness);
    return status;
}

static void supervise_child(const struct options *options, int pair_end, const sigset_t *mask)
{
    char byte;
    while (read(pair_end, &byte, 1) < 0 && errno == EINTR)
        continue;
    sigprocmask(SIG_SETMASK, mask, NULL);
    int status = (int)command_exec(options);
    fflush(NULL);
    /* Otherwise, the other end sees only the end of the file. */
    _exit(write(pair_end, "", 1) == 1 ? status : 1);
}

int supervise(const struct options *options, bool *out_started, struct supervised *out_last)
{
    int ends[2];
    sigset_t signals, mask;
    char byte;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    for (size_t i = 0; i < sizeof forwarded / sizeof forwarded[0]; i++)
        sigaddset(&signals, forwarded[i]);
    *out_started = false;
    *out_last = (struct supervised){.has_other_user = false};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return -1;
    fflush(NULL);
    sigprocmask(SIG_BLOCK, &signals, &mask);
    void (*on_end)(int) = signal(SIGCHLD, SIG_DFL); /* without it, the kernel can forget how the child ended */
    pid_t child = fork();
    if (child == 0) {
        signal(SIGCHLD, on_end);
        close(ends[0]);
        supervise_child(options, ends[1], &mask);
    }
    int status = child > 0 ? supervise_wait(child, ends[0], &signals, out_last) : -1, error = errno;
    close(ends[1]);
    *out_started = child > 0 && read(ends[0], &byte, 1) == 0;
    close(ends[0]);
    while (sigtimedwait(&signals, NULL, &(struct timespec){0, 0}) > 0) /* meant for the program, which has ended */
        continue;
    sigprocmask(SIG_SETMASK, &mask, NULL);
    errno = error;
    return status;
}

int supervise_end(int status)
{
    const struct rlimit no_core = {0, 0};
    if (!text_flush()) { /* the status is that of the program */
        __fpurge(stdout);
        clearerr(stdout);
    }
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    setrlimit(RLIMIT_CORE, &no_core); /* one is enough */
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    return 1;
}
