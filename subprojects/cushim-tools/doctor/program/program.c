/* SPDX-License-Identifier: MIT */
/* Runs a program with the auditor of exec and the trace layer, examines the machine, and explains what was seen. */
#include "program.h"

#include <linux/memfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../exec/settings.h"
#include "../../trace/file/format.h"
#include "../../trace/file/recording.h"
#include "../../exec/launch.h"

enum status program_explain(const struct options *options, int notes, int trace, int ended, bool *out_uses_gpu)
{
    /* Not static, so that the other commands start where the memory for data is limited. */
    struct doctor *machine = calloc(1, sizeof *machine);
    if (machine == NULL) {
        text_complain("there is not enough memory");
        return STATUS_UNUSABLE;
    }
    struct program program = {.arguments = options->program, .is_watched = options->watch};
    program.exit_status = WIFSIGNALED(ended) ? 128 + WTERMSIG(ended) : WEXITSTATUS(ended);
    struct judgement judgement = {.program = &program, .machine = machine};
    struct options without_program = *options;
    without_program.watch = false;
    enum status status = doctor_find_problems(machine, &without_program);
    if (status != STATUS_USABLE) {
        free(machine);
        return status;
    }
    program_read_notes(&program, notes);
    if (trace >= 0)
        program_read_calls(&program, trace);
    if (program.has_failed) {
        text_complain("there is not enough memory");
        status = STATUS_UNUSABLE;
    } else {
        program_judge(&judgement);
        (options->json ? program_write : program_print)(&judgement);
    }
    *out_uses_gpu = judgement.uses_gpu;
    program_free(&program);
    doctor_end(machine);
    free(machine);
    return status;
}

int program_notes_make(char *path, size_t size)
{
    /* glibc has memfd_create() from 2.27 on; the released programs are for 2.17. */
    int file = (int)syscall(SYS_memfd_create, "notes", MFD_CLOEXEC);
    snprintf(path, size, "/proc/%ld/fd/%d", (long)getpid(), file);
    return file;
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
    char notes_path[64], trace_path[PLATFORM_PATH_SIZE], layer[PLATFORM_PATH_SIZE];
    const char *directory = getenv("TMPDIR");
    bool has_started, uses_gpu = false;
    if (getenv(EXEC_VARIABLE) != NULL)
        return text_refuse("doctor: this process already runs under cushim exec");
    int notes = program_notes_make(notes_path, sizeof notes_path);
    snprintf(trace_path, sizeof trace_path, "%s/cushim-doctor.%ld", directory != NULL ? directory : "/tmp",
             (long)getpid());
    if (!trace_layer_find(layer, sizeof layer)) {
        text_complain("doctor: the trace layer was not found beside this program");
        return STATUS_UNUSABLE;
    }
    const char *why =
        recording_start(&recording, trace_path, (uint64_t)MEBIBYTES << 20, true, false, options->program[0]);
    if (why != NULL) {
        text_complain("doctor: cannot write %s: %s", trace_path, why);
        return STATUS_UNUSABLE;
    }
    watched.names[watched.name_count++] = layer; /* the list has room for it */
    watched.notes = notes_path;
    watched.quiet = true;
    if (options->watch)
        watched.before_program = program_watch;
    int ended = supervise(&watched, &has_started);
    enum status status = STATUS_UNUSABLE;
    if (ended == -1)
        text_complain("doctor: cannot start a process");
    else if (has_started && !answer_elsewhere(options->trace.file))
        text_complain("doctor: cannot write %s", options->trace.file);
    else if (has_started)
        status = program_explain(options, notes, recording.file, ended, &uses_gpu);
    recording_discard(&recording);
    if (ended == -1 || (has_started && status != STATUS_USABLE))
        return status;
    fflush(stdout);
    if (!has_started || !options->check)
        return (enum status)supervise_end(ended);
    return uses_gpu ? STATUS_USABLE : STATUS_UNUSABLE;
}
