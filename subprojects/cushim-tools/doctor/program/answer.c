/* SPDX-License-Identifier: MIT */
/* The answer: the cause, what to do, and then what was seen. */
#include "program.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

CUSHIM_PRINTF(1, 2)
static void put_note(const char *format, ...)
{
    char text[4 * PLATFORM_PATH_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    text_put(TONE_PLAIN, "", 2);
    text_paragraph(TONE_PLAIN, 4, text);
}

static void print_process(const struct watched_process *process)
{
    struct sought sought;
    const struct trial *trials = process->trials.items;
    for (const struct stack_library *library = library_next(NULL); library != NULL; library = library_next(library)) {
        if (library_sought(process, library, &sought))
            put_note("%s, %s %s: %s", sought.names, library_passes_on(sought.by) ? "through" : "by",
                     library_file(sought.by), sought.file != NULL ? sought.file : "not found");
    }
    for (size_t i = 0; i < process->trials.count; i++)
        put_note("%s: %s", trials[i].path, trials[i].error[0] != '\0' ? trials[i].error : "found");
}

void program_print(const struct judgement *judgement)
{
    const struct finding *problem = program_machine_problem(judgement);
    text_break_lines();
    puts("");
    text_paragraph(TONE_STRONG, 0, judgement->message);
    text_paragraph(TONE_PLAIN, 0, judgement->advice);
    puts("");
    if (judgement->process != NULL)
        print_process(judgement->process);
    if (problem != NULL && strstr(judgement->advice, problem->message) == NULL)
        put_note("this machine: %s", problem->message);
    if (problem != NULL && problem->evidence[0] != '\0')
        put_note("%s", problem->evidence);
    for (size_t i = 0; i < VARIABLES; i++) {
        if (getenv(variables[i]) != NULL)
            put_note("environment: %s=%s", variables[i], getenv(variables[i]));
    }
    text_put(TONE_PLAIN, "", 2);
    text_paragraph(
        TONE_FAINT, 2,
        judgement->program->is_watched ? "This holds for this run."
        : judgement->program->is_watch_wanted
            ? "This holds for this run, which was not watched as a whole. It may have used device files, programs that "
              "are static or not of glibc, and programs with more rights than their user, which were not seen."
            : "This holds for this run. Not seen are device files, programs that are static or not of glibc, and "
              "those with more rights than their user; use --watch for device files and static programs.");
}

static void write_libraries(struct json *json, const struct watched_process *process)
{
    struct sought sought;
    char name[PLATFORM_PATH_SIZE];
    json_open_array(json, "libraries");
    for (const struct stack_library *library = library_next(NULL); library != NULL; library = library_next(library)) {
        if (!library_sought(process, library, &sought))
            continue;
        json_open_object(json, NULL);
        json_string(json, "stem", library->stem);
        json_open_array(json, "names");
        for (const char *rest = sought.names; text_next_item(&rest, ",", name, sizeof name);)
            json_string(json, NULL, name + strspn(name, " "));
        json_close_array(json);
        json_string(json, "by", sought.by);
        json_boolean(json, "linked", sought.is_linked);
        json_string(json, "found", sought.file);
        json_close_object(json);
    }
    json_close_array(json);
}

static void write_process(struct json *json, const struct watched_process *process)
{
    const struct program_calls *calls = &process->calls;
    const struct trial *trials = process->trials.items;
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
    json_string(json, "caller", calls->init_caller);
    json_close_object(json);
    write_libraries(json, process);
    json_open_array(json, "operations");
    for (size_t i = 0; i < process->trials.count; i++) {
        json_open_object(json, NULL);
        json_string(json, "kind", trials[i].is_run ? "run" : "file");
        json_string(json, "path", trials[i].path);
        json_string(json, "error", trials[i].error[0] != '\0' ? trials[i].error : NULL);
        json_close_object(json);
    }
    json_close_array(json);
    json_close_object(json);
}

void program_write(const struct judgement *judgement)
{
    struct json json = {0};
    const struct watched_process *processes = judgement->program->processes.items;
    json_open_object(&json, NULL);
    json_integer(&json, "version", 1);
    json_string(&json, "cause", judgement->cause);
    json_string(&json, "message", judgement->message);
    json_string(&json, "advice", judgement->advice);
    json_boolean(&json, "uses_gpu", judgement->uses_gpu);
    json_integer(&json, "exit_status", judgement->program->exit_status);
    doctor_write_findings(&json, "machine", judgement->machine);
    doctor_write_system(&json, judgement->machine);
    json_open_array(&json, "processes");
    for (size_t i = 0; i < judgement->program->processes.count; i++)
        write_process(&json, &processes[i]);
    json_close_array(&json);
    json_string(&json, "able", judgement->able[0] != '\0' ? judgement->able : NULL);
    json_open_object(&json, "environment");
    for (size_t i = 0; i < VARIABLES; i++) {
        if (getenv(variables[i]) != NULL)
            json_string(&json, variables[i], getenv(variables[i]));
    }
    json_close_object(&json);
    json_close_object(&json);
}
