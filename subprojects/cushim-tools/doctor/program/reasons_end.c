/* SPDX-License-Identifier: MIT */
/* The evidence of rules.inc that is about the whole run: how it ended, what it has used, and what was not seen. */
#include "program.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "../follow.h"

bool reason_is_main(const struct judgement *judgement)
{
    const struct watched_process *first = judgement->program->processes.items;
    return judgement->process->pid == first->pid;
}

/* ---- the names of each process ---- */

/* A program that becomes another one, such as env, has no more to do with it; a script is known by its own name. */
static const char *name_of_main(const struct judgement *judgement)
{
    const struct watched_process *first = judgement->program->processes.items, *process = judgement->process;
    const char *name = library_file(judgement->program->arguments[0]);
    bool is_wrapped = process != NULL && process != first && strcmp(library_file(first->path), name) == 0;
    return is_wrapped ? library_file(process->path) : name;
}

/* "SIGSEGV" */
static void signal_write(int number, char *text, size_t size)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {{SIGSEGV, "SEGV"}, {SIGABRT, "ABRT"}, {SIGBUS, "BUS"},   {SIGILL, "ILL"}, {SIGFPE, "FPE"},
                 {SIGKILL, "KILL"}, {SIGTERM, "TERM"}, {SIGINT, "INT"},   {SIGHUP, "HUP"}, {SIGPIPE, "PIPE"},
                 {SIGALRM, "ALRM"}, {SIGQUIT, "QUIT"}, {SIGTRAP, "TRAP"}, {SIGSYS, "SYS"}, {SIGXCPU, "XCPU"},
                 {SIGXFSZ, "XFSZ"}, {SIGUSR1, "USR1"}, {SIGUSR2, "USR2"}};
    snprintf(text, size, "signal %d", number);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].number == number)
            snprintf(text, size, "SIG%s", names[i].name);
    }
}

/* How the program ended, as the rest of a sentence about a process: nothing if it ended well. */
static void set_end(const struct judgement *judgement)
{
    int status = judgement->program->run->status;
    bool is_main = judgement->process == NULL || reason_is_main(judgement);
    char signal_name[24], how[80] = "";
    signal_write(WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) - 128, signal_name, sizeof signal_name);
    if (WIFSIGNALED(status))
        snprintf(how, sizeof how, "is ended by %s", signal_name);
    else if (WEXITSTATUS(status) > 128 && WEXITSTATUS(status) < 128 + 32)
        snprintf(how, sizeof how, "ends with status %d, as after %s", WEXITSTATUS(status), signal_name);
    else if (status != 0)
        snprintf(how, sizeof how, "ends with status %d", WEXITSTATUS(status));
    if (how[0] != '\0')
        reason_set("ended", "%s%s %s", is_main ? ", and" : "; ", is_main ? "" : reason_value("main"), how);
    reason_set("how", "%s", how);
    reason_set("signal", "%s", signal_name);
    reason_set("decision", "%s",
               how[0] == '\0' ? "If it goes on without the GPU, it decided so itself: look for its "
                                "option or setting."
                              : "Its own messages can say why it ended so.");
}

/* The last failed call of a process, if its run ended badly. */
static void set_last_failure(const struct judgement *judgement)
{
    const struct program_calls *calls = &judgement->process->calls;
    const char *result = driver_code_name((CUresult)calls->failed_result);
    if (judgement->program->run->status == 0 || calls->failed_function == NULL)
        return;
    reason_set("failed", " after %s returned %s", calls->failed_function, result);
    reason_set("also", ", and %s returned %s", calls->failed_function, result);
}

void reason_begin(const struct judgement *judgement)
{
    char *const *arguments = judgement->program->arguments;
    const struct watched_process *process = judgement->process;
    reason_forget();
    reason_set("main", "%s", library_file(arguments[0]));
    reason_set("command", "%s%s", arguments[0], arguments[1] != NULL ? " ARGUMENTS" : "");
    if (process == NULL || reason_is_main(judgement))
        reason_set("program", "%s", name_of_main(judgement));
    else
        reason_set("program", "%s (process %ld)", library_file(process->path), process->pid);
    set_end(judgement);
    if (process != NULL && process->stand_in != NULL)
        reason_set("between", " %s is loaded before the driver, and can answer calls itself, which are not seen.",
                   library_file(process->stand_in));
    if (process != NULL)
        set_last_failure(judgement);
}

/* ---- it uses the GPU ---- */

bool reason_used(const struct judgement *judgement)
{
    const struct program_calls *calls = &judgement->process->calls;
    reason_set("launches", "%llu launch%s", (unsigned long long)calls->launches, calls->launches == 1 ? "" : "es");
    reason_set("copies", "%llu cop%s", (unsigned long long)calls->copies, calls->copies == 1 ? "y" : "ies");
    return calls->launches + calls->copies > 0;
}

/* A crash is an answer in place of what the program did not do. */
bool reason_used_then_killed(const struct judgement *judgement)
{
    return WIFSIGNALED(judgement->program->run->status) && reason_is_main(judgement) && reason_used(judgement);
}

bool reason_killed(const struct judgement *judgement)
{
    const struct program_calls *calls = &judgement->process->calls;
    struct sought sought;
    if (!WIFSIGNALED(judgement->program->run->status) || !reason_is_main(judgement)
        || !library_sought(judgement->process, library_of("libcuda.so"), &sought))
        return false;
    reason_set("done", "it %s",
               calls->contexts > 0   ? "makes a context"
               : calls->has_started  ? "starts the driver"
               : sought.file != NULL ? "opens the driver library"
                                     : "looks for the driver library");
    if (calls->count > 0)
        reason_set("last", "Its last call is %s. ", calls->last_function);
    return true;
}

/* ---- what was not seen ---- */

/* Why notes could not be written. */
static void set_loss(int error)
{
    if (error == EACCES || error == EPERM)
        reason_set("gap", "gave up its rights");
    else if (error == ENOENT || error == ENOTDIR || error == ELOOP || error == ESTALE)
        reason_set("gap", "changed its root directory, or has another /proc");
    else
        reason_set("gap", "could not note what it did (%s)", strerror(error));
}

/* Whether the program of a gap is not the one that was started, so that doctor can be started there. */
static bool is_elsewhere(const struct judgement *judgement, const struct gap *gap)
{
    const struct watched_process *first = judgement->program->processes.items;
    return gap->kind != GAP_LEFT && gap->kind != GAP_NO_IMAGE && gap->kind != GAP_ALONE
           && (gap->kind != GAP_NOTES || gap->process != first);
}

/* What would show it: nothing, or sentences that follow one. */
static void set_option(const struct judgement *judgement, const struct gap *gap)
{
    char *const *arguments = judgement->program->arguments;
    char watch[PLATFORM_PATH_SIZE] = "", start[PLATFORM_PATH_SIZE] = "";
    if (!judgement->program->is_watch_wanted)
        snprintf(watch, sizeof watch, " To see its system calls: cushim doctor --watch -- %s%s", arguments[0],
                 arguments[1] != NULL ? " ARGUMENTS" : "");
    if (is_elsewhere(judgement, gap))
        snprintf(start, sizeof start, " Start doctor where the program starts: %s ... cushim doctor -- PROGRAM.",
                 arguments[0]);
    if (gap->kind == GAP_CALLS && judgement->program->calls_refused != NULL)
        reason_set("option", " Give it more room, or remove the limit.");
    else if (gap->kind == GAP_OTHER)
        reason_set("option", " Its calls are seen if it opens libcuda.so.1 by that name, and if cushim can load the "
                             "driver: cushim probe.");
    else if (gap->kind == GAP_LEFT)
        reason_set("option",
                   " Run what it starts in the foreground, or wait for it: doctor answers when the program ends.");
    else if (gap->kind == GAP_ALONE)
        reason_set("option", " Run it with fewer threads and processes at the same time, or without --watch.");
    else
        reason_set("option", "%s%s", start, watch);
}

/* The program of a gap: of a process that could note nothing, only the name is known. */
static void set_gap_program(const struct judgement *judgement, const struct gap *gap)
{
    struct judgement of_gap = *judgement;
    of_gap.process = gap->process;
    reason_begin(&of_gap);
    if (gap->process == NULL)
        reason_set("program", "%.15s (process %ld)", gap->image->name, (long)gap->image->process);
    reason_set("gap_program", "%s", reason_value("program"));
}

bool reason_with_gap(const struct judgement *judgement)
{
    const char *refused = judgement->program->calls_refused;
    const struct supervised *last = &judgement->program->run->last;
    struct gap gap = gap_find(judgement->program, judgement->process);
    if (gap.kind == GAP_NONE)
        return false;
    set_gap_program(judgement, &gap);
    if (gap.kind == GAP_CALLS)
        reason_set("gap", "made driver calls, which %s", refused != NULL ? refused : "could not be recorded");
    else if (gap.kind == GAP_OTHER)
        reason_set("gap", "opened %s, a driver whose calls are not seen", gap.process->other);
    else if (gap.kind == GAP_NOTES)
        set_loss(gap.image->error);
    else if (gap.kind == GAP_RIGHTS)
        reason_set("gap", "became %s, which has more rights than its user", library_file(gap.process->left));
    else if (gap.kind == GAP_ALONE)
        reason_set("gap", "could not be watched beside %d other threads", MAX_FOLLOWED);
    else if (gap.kind == GAP_BECAME)
        reason_set("gap", "ended under the name %s%s: it became another program, or renamed itself", last->name,
                   last->has_other_user ? ", with other rights" : "");
    else if (gap.kind == GAP_NO_IMAGE)
        reason_set("gap", "had no shared memory in which to note its end");
    else if (gap.kind == GAP_LEFT)
        reason_set("gap", "left a process that still runs");
    else if (gap.kind == GAP_ELSEWHERE)
        reason_set("gap", "starts programs with other variables, or in another place");
    else
        reason_set("gap", "became another program, or ended without exit()");
    set_option(judgement, &gap);
    return true;
}
