/* SPDX-License-Identifier: MIT */
/* What the notes of the auditor and the trace of a program show, by process. */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../../exec/exec.h"
#include "../../../trace/report/answers.h"

/* Makes room for one more element. The arrays grow by doubling. */
static bool grow(void **array, size_t count, size_t size)
{
    enum { FIRST = 8 };
    if (count != 0 && (count < FIRST || (count & (count - 1)) != 0))
        return true;
    void *larger = realloc(*array, (count == 0 ? FIRST : 2 * count) * size);
    if (larger != NULL)
        *array = larger;
    return larger != NULL;
}

static struct watched_process *process_add(struct program *program, long pid, long parent, const char *path)
{
    void *processes = program->processes;
    bool has_room = grow(&processes, program->count, sizeof *program->processes);
    program->processes = processes;
    if (!has_room)
        return NULL;
    struct watched_process *process = &program->processes[program->count++];
    *process = (struct watched_process){.pid = pid, .parent = parent, .path = path};
    return process;
}

/* The newest process with a number, because a process can become another program. One that has no note of its start is
 * a copy of another one. */
static struct watched_process *process_of(struct program *program, long pid)
{
    for (size_t i = program->count; i > 0; i--) {
        if (program->processes[i - 1].pid == pid)
            return &program->processes[i - 1];
    }
    struct watched_process *process =
        process_add(program, pid, 0, program->count > 0 ? program->processes[0].path : "");
    if (process != NULL)
        process->has_started = true;
    return process;
}

static bool add_search(struct watched_process *process, const char *name, const char *by)
{
    void *searches = process->searches;
    bool has_room = grow(&searches, process->search_count, sizeof *process->searches);
    process->searches = searches;
    if (has_room)
        process->searches[process->search_count++] =
            (struct search){.name = name, .by = by[0] != '\0' ? by : process->path, .is_linked = !process->has_started};
    return has_room;
}

/* Every search for this file finds it: what is open is not looked for again. */
static void search_end(struct watched_process *process, const char *file, const char *path)
{
    for (size_t i = 0; i < process->search_count; i++) {
        struct search *search = &process->searches[i];
        if (search->file == NULL && strcmp(library_file(search->name), file) == 0)
            search->file = path;
    }
}

static bool add_object(struct watched_process *process, const char *path, const char *soname)
{
    if (path[0] == '\0')
        return true; /* the program itself */
    void *objects = process->objects;
    bool has_room = grow(&objects, process->object_count, sizeof *process->objects);
    process->objects = objects;
    if (has_room)
        process->objects[process->object_count++] = (struct object){path, soname};
    search_end(process, library_file(path), path);
    search_end(process, soname, path);
    return has_room;
}

static bool read_line(struct program *program, char *line)
{
    char *fields[5] = {line, NULL, NULL, NULL, NULL};
    for (int i = 1; i < 5; i++) {
        char *tab = strchr(fields[i - 1], '\t');
        if (tab == NULL)
            return true; /* damaged */
        *tab = '\0';
        fields[i] = tab + 1;
    }
    long pid = atol(fields[0]);
    char kind = fields[2][0];
    const char *name = fields[3], *more = fields[4];
    struct watched_process *process =
        kind == EXEC_NOTE_PROCESS ? process_add(program, pid, atol(more), name) : process_of(program, pid);
    if (process == NULL)
        return false;
    if (kind == EXEC_NOTE_STARTED)
        process->has_started = true;
    else if (kind == EXEC_NOTE_SEARCH)
        return add_search(process, name, more);
    else if (kind == EXEC_NOTE_FILE)
        search_end(process, library_file(name), name);
    else if (kind == EXEC_NOTE_OBJECT)
        return add_object(process, name, more);
    else if (kind == EXEC_NOTE_VARIABLE)
        process->visible = more;
    return true;
}

bool program_read_notes(struct program *program, int file)
{
    struct stat status;
    bool done = fstat(file, &status) == 0;
    size_t size = done ? (size_t)status.st_size : 0;
    program->notes = malloc(size + 1);
    if (program->notes == NULL || pread(file, program->notes, size, 0) != (ssize_t)size)
        return false;
    program->notes[size] = '\0';
    char *rest = program->notes;
    for (char *line; done && (line = strsep(&rest, "\n")) != NULL;)
        done = read_line(program, line);
    return done;
}

void program_free(struct program *program)
{
    for (size_t i = 0; i < program->count; i++) {
        free(program->processes[i].searches);
        free(program->processes[i].objects);
    }
    free(program->processes);
    free(program->notes);
}

/* ---- the calls ---- */

static void copy_caller(const struct trace_reader *reader, const struct trace_call *call, char *path, size_t size)
{
    const struct trace_module *module = trace_module_find(reader, call->process, call->caller);
    snprintf(path, size, "%s", module != NULL ? module->path : "");
}

/* The results after which a program cannot go on with a GPU: no memory, no code for it, a broken context. */
static bool is_grave(unsigned result)
{
    static const CUresult grave[] = {
        CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_INVALID_IMAGE,          CUDA_ERROR_NO_BINARY_FOR_GPU,
        CUDA_ERROR_INVALID_PTX,   CUDA_ERROR_JIT_COMPILER_NOT_FOUND, CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
        CUDA_ERROR_NOT_FOUND,     CUDA_ERROR_ILLEGAL_ADDRESS,        CUDA_ERROR_LAUNCH_FAILED,
        CUDA_ERROR_UNKNOWN};
    for (size_t i = 0; i < sizeof grave / sizeof grave[0]; i++) {
        if (grave[i] == (CUresult)result)
            return true;
    }
    return false;
}

static void note_failure(struct program_calls *calls, const struct trace_reader *reader, const struct trace_call *call,
                         const char *function)
{
    calls->failed++;
    if (calls->failed_function[0] != '\0' && (calls->is_grave || !is_grave(call->result)))
        return;
    snprintf(calls->failed_function, sizeof calls->failed_function, "%s", function);
    snprintf(calls->failed_log, sizeof calls->failed_log, "%.*s", (int)call->log_length,
             call->log != NULL ? call->log : "");
    copy_caller(reader, call, calls->failed_caller, sizeof calls->failed_caller);
    calls->failed_result = call->result;
    calls->is_grave = is_grave(call->result);
    calls->later_calls = 0;
}

static void note_call(struct program_calls *calls, const struct trace_reader *reader, const struct trace_call *call)
{
    const char *function = reader->slots[call->slot].function;
    bool has_succeeded = call->returned && call->result == CUDA_SUCCESS;
    calls->count++;
    calls->last_result = call->returned ? call->result : CUDA_SUCCESS;
    snprintf(calls->last_function, sizeof calls->last_function, "%s", function);
    if (strcmp(function, "cuInit") == 0 && call->returned) {
        if (!calls->has_init)
            copy_caller(reader, call, calls->init_caller, sizeof calls->init_caller);
        calls->has_init = true;
        calls->has_started |= has_succeeded;
        calls->init_result = call->result;
        return;
    }
    if (strcmp(function, "cuDriverGetVersion") == 0) {
        calls->has_asked_version = true;
        copy_caller(reader, call, calls->version_caller, sizeof calls->version_caller);
    }
    if (call->returned && trace_has_failed(reader, call))
        note_failure(calls, reader, call, function);
    if (!has_succeeded)
        return;
    calls->launches += pattern_matches("cuLaunch* cuGraphLaunch*", function);
    calls->copies += pattern_matches("cuMemcpy* cuMemset*", function);
    calls->contexts += pattern_matches("cuCtxCreate* cuDevicePrimaryCtxRetain*", function);
    /* A program that only cleans up, or names the error, does not go on after it. */
    calls->later_calls += !pattern_matches("cuGetError* cu*Destroy* cu*Free* cu*Unload* cu*Release*", function);
}

bool program_read_calls(struct program *program, int file)
{
    static struct trace_reader reader;
    struct trace_call call;
    bool done = true;
    if (trace_open_file(file, &reader) == NULL) {
        while (done && trace_read(&reader, &call)) {
            struct watched_process *process = process_of(program, reader.processes[call.process].pid);
            done = process != NULL;
            if (done)
                note_call(&process->calls, &reader, &call);
        }
    }
    trace_close(&reader);
    return done;
}
