/* SPDX-License-Identifier: MIT */
/* Runs a program with the auditor of exec and the trace layer, examines the machine, and explains what was seen. */
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../exec/settings.h"
#include "../../trace/file/format.h"
#include "../../trace/file/recording.h"
#include "../../exec/launch.h"

enum status program_explain(const struct options *options, const struct program_run *run, bool *out_uses_gpu)
{
    /* Not static, so that the other commands start where the memory for data is limited. */
    struct doctor *machine = calloc(1, sizeof *machine);
    if (machine == NULL || !reason_start()) {
        text_complain("there is not enough memory");
        free(machine);
        return STATUS_UNUSABLE;
    }
    struct program program = {.arguments = options->program, .run = run};
    program.is_watch_wanted = program.is_watched = options->watch;
    program.exit_status = WIFSIGNALED(run->status) ? 128 + WTERMSIG(run->status) : WEXITSTATUS(run->status);
    struct judgement judgement = {.program = &program, .machine = machine};
    struct options without_program = *options;
    without_program.watch = false;
    enum status status = doctor_find_problems(machine, &without_program);
    if (status != STATUS_USABLE) {
        reason_end();
        free(machine);
        return status;
    }
    program_read_notes(&program, run->notes);
    program_read_calls(&program, run->trace);
    if (program.has_failed) {
        text_complain("there is not enough memory");
        status = STATUS_UNUSABLE;
    } else {
        program_judge(&judgement);
        signal(SIGXFSZ, SIG_IGN); /* a limit of the size of files must not end this program without a message */
        (options->json ? program_write : program_print)(&judgement);
    }
    *out_uses_gpu = judgement.uses_gpu;
    reason_end();
    program_free(&program);
    doctor_end(machine);
    free(machine);
    return status;
}

bool program_run_start(struct program_run *run, struct options *options)
{
    run->notes = open_file_make();
    if (run->notes < 0 || !open_file_name(run->notes, run->name)) {
        text_complain("cannot make a file for what the program does: %s", strerror(errno));
        return false;
    }
    run->images = exec_images_make(run->setting, sizeof run->setting);
    options->notes = run->name;
    options->images = run->images != NULL ? run->setting : NULL;
    return true;
}

int program_run_wait(struct program_run *run, const struct options *options, bool *out_started)
{
    run->status = supervise(options, out_started, &run->last);
    trace_file_note_sleep(run->trace);
    run->has_left = options->watch && program_watch_has_left();
    run->has_left = run->has_left || (run->images != NULL && exec_images_are_used(run->setting));
    return run->status;
}

/* Whether the file of -o can be written: that is known before the program runs. A FIFO need not have a reader yet. */
static bool answer_is_possible(const char *file, bool *out_is_new)
{
    *out_is_new = !platform_exists(file);
    int answer = open(file, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
    bool is_possible = answer >= 0 || errno == ENXIO;
    if (!is_possible)
        text_complain("doctor: cannot write %s: %s", file, strerror(errno));
    else if (answer >= 0)
        close(answer);
    return is_possible;
}

/* stdout is the program's: the answer goes to stderr, or to a file. */
static bool answer_elsewhere(const char *file)
{
    fflush(stdout);
    bool done = file != NULL ? freopen(file, "w", stdout) != NULL : dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
    text_start();
    return done;
}

/* The program runs before the machine is examined: the start of a driver can make device files that the program would
 * not have found. */
enum status program_command(const struct options *options)
{
    enum { MEBIBYTES = 64 }; /* what matters is at the begin or, if the program goes on for long, at the end */
    struct options watched = *options;
    static struct recording recording;
    char layer[PLATFORM_PATH_SIZE];
    const char *file = options->trace.file, *layers[] = {layer};
    struct program_run run;
    bool has_started, is_new = false, uses_gpu = false;
    if (getenv(EXEC_VARIABLE) != NULL)
        return text_refuse("doctor: this process already runs under cushim exec");
    if (!trace_layer_find(layer, sizeof layer)) {
        text_complain("doctor: the trace layer was not found beside this program");
        return STATUS_UNUSABLE;
    }
    if (!program_run_start(&run, &watched))
        return STATUS_UNUSABLE;
    const char *why = recording_start_unnamed(&recording, (uint64_t)MEBIBYTES << 20, options->program[0]);
    if (why != NULL) {
        text_complain("doctor: cannot make a file for the calls of the program: %s", why);
        return STATUS_UNUSABLE;
    }
    if (file != NULL && !answer_is_possible(file, &is_new))
        return STATUS_UNUSABLE;
    watched.names = layers; /* the conditions are for the machine, which program_explain() examines */
    watched.name_count = 1;
    run.trace = recording.file;
    watched.quiet = true;
    (void)setenv(TRACE_QUIET_VARIABLE, "1", 1);
    if (options->watch) {
        program_watch_start(run.images);
        watched.before_program = program_watch;
    }
    int ended = program_run_wait(&run, &watched, &has_started);
    enum status status = STATUS_UNUSABLE;
    if (ended == -1)
        text_complain("doctor: cannot start a process");
    else if (has_started && !answer_elsewhere(file))
        text_complain("doctor: cannot write %s", file);
    else if (has_started)
        status = program_explain(options, &run, &uses_gpu);
    recording_discard(&recording);
    if (!has_started && is_new)
        unlink(file);
    if (ended == -1 || (has_started && status != STATUS_USABLE))
        return status;
    fflush(stdout);
    if (!has_started || !options->check)
        return (enum status)supervise_end(ended);
    return uses_gpu ? STATUS_USABLE : STATUS_UNUSABLE;
}
