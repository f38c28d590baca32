/* SPDX-License-Identifier: MIT */
#include "program.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../exec/exec.h"
#include "../../../trace/file/format.h"
#include "../../recording.h"
#include "../../supervise.h"

enum { COLUMNS = 80, NAMES = 512 };

/* The variables that decide what a program finds. */
static const char *const variables[] = {"CUDA_VISIBLE_DEVICES",
                                        "NVIDIA_VISIBLE_DEVICES",
                                        "NVIDIA_DRIVER_CAPABILITIES",
                                        "LD_LIBRARY_PATH",
                                        "LD_PRELOAD",
                                        "CUDA_HOME",
                                        "CUDA_DISABLE_PTX_JIT",
                                        "CUDA_FORCE_PTX_JIT",
                                        "JAX_PLATFORMS"};
enum { VARIABLES = sizeof variables / sizeof variables[0] };

/* Writes a paragraph of at most 80 columns; a word that is longer stands alone. */
static void put_wrapped(enum tone tone, size_t indent, const char *text)
{
    size_t column = indent;
    text_put(TONE_PLAIN, "", indent);
    for (char word[PLATFORM_PATH_SIZE]; text_next_item(&text, " ", word, sizeof word);) {
        size_t length = strlen(word);
        if (column > indent && column + 1 + length > COLUMNS) {
            puts("");
            text_put(TONE_PLAIN, "", indent);
            column = indent;
        }
        text_print(tone, column > indent ? " %s" : "%s", word);
        column += length + (column > indent);
    }
    puts("");
}

CUSHIM_PRINTF(1, 2)
static void put_note(const char *format, ...)
{
    char text[4 * PLATFORM_PATH_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put_wrapped(TONE_PLAIN, 2, text);
}

static void print_libraries(const struct watched_process *process)
{
    char names[NAMES];
    const char *by, *file;
    for (const struct stack_library *library = library_next(NULL); library != NULL; library = library_next(library)) {
        if (library_sought(process, library, names, sizeof names, &by, &file))
            put_note("%s, %s %s: %s", names, library_passes_on(by) ? "through" : "by", library_file(by),
                     file != NULL ? file : "not found");
    }
}

static void program_print(const struct judgement *judgement)
{
    const struct finding *machine = &judgement->machine->findings[0];
    puts("");
    put_wrapped(TONE_STRONG, 0, judgement->message);
    put_wrapped(TONE_PLAIN, 0, judgement->advice);
    puts("");
    if (judgement->process != NULL)
        print_libraries(judgement->process);
    if (machine->verdict <= VERDICT_PROBLEM && strstr(judgement->message, machine->message) == NULL)
        put_note("this machine: %s", machine->message);
    for (size_t i = 0; i < VARIABLES; i++) {
        if (getenv(variables[i]) != NULL)
            put_note("%s=%s", variables[i], getenv(variables[i]));
    }
    put_wrapped(TONE_FAINT, 2,
                "This is the first obstacle, in this run. Programs that are static, or not of glibc, and "
                "those with more rights than their user are not seen.");
}

static void write_process(struct json *json, const struct watched_process *process)
{
    const struct program_calls *calls = &process->calls;
    json_open_object(json, NULL);
    json_integer(json, "pid", process->pid);
    json_known(json, "parent", process->parent);
    json_string(json, "program", process->path);
    json_integer(json, "calls", (long long)calls->count);
    json_integer(json, "failed", (long long)calls->failed);
    json_integer(json, "contexts", (long long)calls->contexts);
    json_integer(json, "launches", (long long)calls->launches);
    json_integer(json, "copies", (long long)calls->copies);
    json_open_object(json, "init");
    json_string(json, "result", calls->has_init ? driver_code_name((CUresult)calls->init_result) : NULL);
    json_string(json, "caller", calls->has_init ? calls->init_caller : NULL);
    json_close_object(json);
    json_open_array(json, "libraries");
    char names[NAMES];
    const char *by, *file;
    for (const struct stack_library *library = library_next(NULL); library != NULL; library = library_next(library)) {
        if (!library_sought(process, library, names, sizeof names, &by, &file))
            continue;
        json_open_object(json, NULL);
        json_string(json, "stem", library->stem);
        json_string(json, "names", names);
        json_string(json, "by", by);
        json_string(json, "found", file);
        json_close_object(json);
    }
    json_close_array(json);
    json_close_object(json);
}

static void program_write(const struct judgement *judgement)
{
    struct json json = {0};
    json_open_object(&json, NULL);
    json_string(&json, "cause", judgement->cause);
    json_string(&json, "message", judgement->message);
    json_string(&json, "advice", judgement->advice);
    json_boolean(&json, "uses_gpu", judgement->uses_gpu);
    json_integer(&json, "exit_status", judgement->program->exit_status);
    doctor_write_findings(&json, "machine", judgement->machine);
    json_open_array(&json, "processes");
    for (size_t i = 0; i < judgement->program->count; i++)
        write_process(&json, &judgement->program->processes[i]);
    json_close_array(&json);
    json_open_object(&json, "environment");
    for (size_t i = 0; i < VARIABLES; i++) {
        if (getenv(variables[i]) != NULL)
            json_string(&json, variables[i], getenv(variables[i]));
    }
    json_close_object(&json);
    json_close_object(&json);
}

enum status program_explain(const struct options *options, int notes, int trace, int ended, bool *out_uses_gpu)
{
    static struct doctor machine;
    struct program program = {.arguments = options->program};
    struct judgement judgement = {.program = &program, .machine = &machine};
    program.exit_status = WIFSIGNALED(ended) ? 128 + WTERMSIG(ended) : WEXITSTATUS(ended);
    enum status status = doctor_find_problems(&machine, options);
    if (status != STATUS_USABLE)
        return status;
    if (program_read_notes(&program, notes) && (trace < 0 || program_read_calls(&program, trace))) {
        program_judge(&judgement);
        if (options->json)
            program_write(&judgement);
        else
            program_print(&judgement);
    } else {
        text_complain("there is not enough memory");
        status = STATUS_UNUSABLE;
    }
    *out_uses_gpu = judgement.uses_gpu;
    program_free(&program);
    doctor_end(&machine);
    return status;
}

int program_notes_make(char *path, size_t size)
{
    int file = memfd_create("notes", MFD_CLOEXEC);
    snprintf(path, size, "/proc/%ld/fd/%d", (long)getpid(), file);
    return file;
}

static int become_program(const void *options)
{
    return (int)command_exec(options);
}

/* stdout is the program's. */
static void answer_on_stderr(void)
{
    fflush(stdout);
    (void)dup2(STDERR_FILENO, STDOUT_FILENO);
    text_start();
}

/* The program runs before the machine is examined: the start of a driver can make device files that the program would
 * not have found. */
enum status program_command(const struct options *options)
{
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
    const char *why = recording_start(&recording, trace_path, (uint64_t)TRACE_DEFAULT_MEBIBYTES << 20, true, false,
                                      options->program[0]);
    if (why != NULL) {
        text_complain("doctor: cannot write %s: %s", trace_path, why);
        return STATUS_UNUSABLE;
    }
    watched.names[watched.name_count++] = layer; /* the list has room for it */
    watched.notes = notes_path;
    watched.quiet = true;
    int ended = supervise(become_program, &watched, &has_started);
    enum status status = STATUS_UNUSABLE;
    if (ended == -1)
        text_complain("doctor: cannot start a process");
    else if (has_started) {
        answer_on_stderr();
        status = program_explain(options, notes, recording.file, ended, &uses_gpu);
    }
    recording_discard(&recording);
    if (ended == -1 || (has_started && status != STATUS_USABLE))
        return status;
    fflush(stdout);
    return has_started && options->check ? (uses_gpu ? STATUS_USABLE : STATUS_UNUSABLE)
                                         : (enum status)supervise_end(ended);
}
