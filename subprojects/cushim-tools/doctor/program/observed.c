/* SPDX-License-Identifier: MIT */
/* What the notes of the auditor and the trace of a program show, by process. */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../exec/settings.h"
#include "../../trace/model/answers.h"
#include "../../trace/finders/reasons.h"

/* Returns a new element, which is zero, or NULL if there is not enough memory. */
static void *list_add(struct program *program, struct list *list, size_t size)
{
    /* The room doubles. That there is none yet follows from the count, too, which clang's analyzer does not find. */
    if (list->items == NULL || (list->count & (list->count - 1)) == 0) {
        void *larger = realloc(list->items, (list->count == 0 ? 1 : 2 * list->count) * size);
        program->has_failed |= larger == NULL;
        if (larger == NULL)
            return NULL;
        list->items = larger;
    }
    return memset((char *)list->items + list->count++ * size, 0, size);
}

static struct watched_process *process_add(struct program *program, long pid, const char *path)
{
    struct watched_process *process = list_add(program, &program->processes, sizeof *process);
    if (process != NULL) {
        process->pid = pid;
        process->path = path;
    }
    return process;
}

/* The newest process with a number, because a process can become another program; or NULL. */
static struct watched_process *process_find(const struct program *program, long pid)
{
    struct watched_process *processes = program->processes.items;
    for (size_t i = program->processes.count; i > 0; i--) {
        if (processes[i - 1].pid == pid)
            return &processes[i - 1];
    }
    return NULL;
}

/* One that has no note of its start is a copy of its parent, or, if that is unknown (0), of the first process. */
static struct watched_process *process_of(struct program *program, long pid, long parent)
{
    struct watched_process *process = process_find(program, pid), *origin = process_find(program, parent);
    if (process != NULL)
        return process;
    origin = origin != NULL ? origin : program->processes.items;
    const char *path = origin != NULL ? origin->path : "";
    bool has_auditor = origin == NULL || origin->has_auditor;
    process = process_add(program, pid, path);
    if (process != NULL) {
        process->parent = parent;
        process->is_copy = process->has_started = true;
        process->has_auditor = has_auditor;
    }
    return process;
}

/* Every search for this file finds it: what is open is not looked for again. */
static void search_end(struct watched_process *process, const char *file, const char *path)
{
    struct search *searches = process->searches.items;
    for (size_t i = 0; i < process->searches.count; i++) {
        if (searches[i].file == NULL && strcmp(library_file(searches[i].name), file) == 0)
            searches[i].file = path;
    }
}

static void search_begin(struct program *program, struct watched_process *process, const char *name, const char *by,
                         bool is_linked)
{
    /* analyzer: program_free() frees the lists */
    struct search *search = list_add(program, &process->searches, sizeof *search);
    if (search != NULL)
        *search = (struct search){.name = name, .by = by[0] != '\0' ? by : process->path, .is_linked = is_linked};
}

static void add_object(struct program *program, struct watched_process *process, const char *path, const char *soname)
{
    /* analyzer: program_free() frees the lists */
    struct object *object = path[0] != '\0' ? list_add(program, &process->objects, sizeof *object) : NULL;
    if (object == NULL)
        return; /* the program itself has no path */
    *object = (struct object){path, soname};
    search_end(process, library_file(path), path);
    search_end(process, soname, path);
}

/* A file of a process is kept once, a program that is looked for in several directories, too; what worked counts. */
static void add_trial(struct program *program, struct watched_process *process, const char *path, const char *error,
                      bool is_run)
{
    struct trial *trials = process->trials.items, *trial = NULL;
    for (size_t i = 0; i < process->trials.count && trial == NULL; i++) {
        if (strcmp(trials[i].path, path) == 0
            || (pattern_matches("nvidia-smi", library_file(path))
                && strcmp(library_file(trials[i].path), library_file(path)) == 0))
            trial = &trials[i];
    }
    if (trial != NULL && trial->error[0] == '\0')
        return;
    if (trial == NULL)
        trial = list_add(program, &process->trials, sizeof *trial);
    if (trial != NULL)
        *trial = (struct trial){path, error, is_run};
}

/* An auditor sees more of the searches of a process. */
static void note_trial(struct program *program, struct watched_process *process, const char *path, const char *error)
{
    if (library_of(path) == NULL)
        add_trial(program, process, path, error, false);
    else if (!process->has_auditor) {
        search_begin(program, process, path, "", false);
        if (error[0] == '\0')
            search_end(process, library_file(path), path);
    }
}

static void note_code(struct program *program, struct watched_process *process, const char *addresses, const char *text)
{
    /* analyzer: program_free() frees the lists */
    struct device_code *code = list_add(program, &process->codes, sizeof *code);
    if (code != NULL && sscanf(addresses, "%llx %llx", &code->image, &code->handle) == 2)
        code->text = text;
    else if (code != NULL)
        process->codes.count--;
}

/* The images of a number are in the order of its notes. */
static const struct exec_image *image_of(const struct program *program, const struct watched_process *process)
{
    const struct watched_process *processes = program->processes.items;
    const struct exec_images *images = program->run->images;
    size_t before = 0;
    for (size_t i = 0; i < program->processes.count; i++)
        before += &processes[i] != process && processes[i].pid == process->pid && processes[i].image != NULL;
    for (size_t i = 0; images != NULL && i < EXEC_MAX_IMAGES && i < images->count; i++) {
        if (images->list[i].process == process->pid && before-- == 0)
            return &images->list[i];
    }
    return NULL;
}

/* That a process runs a program is noted by the watch first, if there is one, and then by the auditor, if it gets into
 * it. */
static void note_process(struct program *program, long pid, const char *path, long parent, bool has_auditor)
{
    struct watched_process *process = process_find(program, pid);
    if (process == NULL || process->has_auditor || !has_auditor)
        process = process_add(program, pid, path);
    if (process == NULL)
        return;
    process->path = path;
    process->parent = parent;
    process->is_copy = false;
    process->image = has_auditor ? image_of(program, process) : NULL;
    process->has_auditor = has_auditor;
    process->has_started = !has_auditor;
    process->searches.count = 0; /* of the auditor itself */
}

static void note_child(struct program *program, long pid, const char *path, long parent)
{
    struct watched_process *process = process_of(program, pid, parent);
    if (process != NULL && process->is_copy && path[0] != '\0') {
        process->path = path;
        process->parent = parent;
    }
}

static void note_unbound(struct program *program, struct watched_process *process, const char *name, const char *by,
                         bool is_closed)
{
    /* analyzer: program_free() frees the lists */
    struct unbound *unbound = list_add(program, &process->unbound, sizeof *unbound);
    if (unbound != NULL)
        *unbound = (struct unbound){name, by[0] != '\0' ? by : process->path, is_closed};
}

/* A process whose calls could not be recorded has at least these. */
static void note_init(struct watched_process *process, unsigned result)
{
    process->has_noted_init = process->calls.has_init = true;
    process->calls.has_started |= result == CUDA_SUCCESS;
    process->calls.init_result = result;
}

static void read_line(struct program *program, char *line)
{
    char *fields[4] = {line, NULL, NULL, NULL};
    for (int i = 1; i < 4; i++) {
        char *tab = strchr(fields[i - 1], '\t');
        if (tab == NULL)
            return; /* damaged */
        *tab = '\0';
        fields[i] = tab + 1;
    }
    long pid = atol(fields[0]);
    const char kind = fields[1][0], *name = fields[2], *more = fields[3];
    if (kind == EXEC_NOTE_PROCESS || (kind == EXEC_NOTE_RUN && more[0] == '\0')) {
        note_process(program, pid, name, atol(more), kind == EXEC_NOTE_PROCESS);
        return;
    }
    program->is_watched = program->is_watched && kind != EXEC_NOTE_ALONE;
    if (pid == 0)
        return; /* it is about the run */
    if (kind == EXEC_NOTE_FORKED || kind == EXEC_NOTE_ALONE)
        note_child(program, pid, name, atol(more));
    struct watched_process *process = process_of(program, pid, 0);
    if (process == NULL)
        return;
    if (kind == EXEC_NOTE_STARTED)
        process->has_started = true;
    else if (kind == EXEC_NOTE_SEARCH || kind == EXEC_NOTE_NEEDED)
        search_begin(program, process, name, more, kind == EXEC_NOTE_NEEDED);
    else if (kind == EXEC_NOTE_FILE)
        search_end(process, library_file(name), name);
    else if (kind == EXEC_NOTE_OBJECT)
        add_object(program, process, name, more);
    else if (kind == EXEC_NOTE_VARIABLE)
        process->visible = more;
    else if (kind == EXEC_NOTE_LATE)
        process->late = more;
    else if (kind == EXEC_NOTE_INIT)
        note_init(process, (unsigned)atoi(name));
    else if (kind == EXEC_NOTE_UNBOUND || kind == EXEC_NOTE_LACKS)
        note_unbound(program, process, name, more, kind == EXEC_NOTE_UNBOUND);
    else if (kind == EXEC_NOTE_STAND_IN)
        process->stand_in = name;
    else if (kind == EXEC_NOTE_OTHER)
        process->other = name;
    else if (kind == EXEC_NOTE_ALONE)
        process->is_alone = true;
    else if (kind == EXEC_NOTE_LEFT)
        process->left = name;
    else if (kind == EXEC_NOTE_CODE)
        note_code(program, process, name, more);
    else if (kind == EXEC_NOTE_TRIED)
        note_trial(program, process, name, more);
    else if (kind == EXEC_NOTE_RUN)
        add_trial(program, process, name, more, true);
}

void program_read_notes(struct program *program, int file)
{
    struct stat status;
    size_t size = fstat(file, &status) == 0 ? (size_t)status.st_size : 0;
    program->notes = malloc(size + 1);
    if (program->notes == NULL || pread(file, program->notes, size, 0) != (ssize_t)size) {
        program->has_failed = true;
        return;
    }
    program->notes[size] = '\0';
    char *rest = program->notes;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;)
        read_line(program, line);
}

/* ---- the calls ---- */

static struct trace_reader *reader; /* the strings of the calls are a part of it */

void program_free(struct program *program)
{
    struct watched_process *processes = program->processes.items;
    for (size_t i = 0; i < program->processes.count; i++) {
        free(processes[i].searches.items);
        free(processes[i].objects.items);
        free(processes[i].trials.items);
        free(processes[i].codes.items);
        free(processes[i].unbound.items);
    }
    free(processes);
    free(program->notes);
    if (reader != NULL)
        trace_close(reader);
    free(reader);
}

static const char *caller_of(const struct trace_call *call)
{
    const struct trace_module *module = trace_module_find(reader, call->process, call->caller);
    return module != NULL ? module->path : "";
}

/* The device code that a call loads or uses. A call that names neither uses what was loaded last. */
static const char *code_of(const struct watched_process *process, const struct trace_call *call)
{
    static const char *const fields[] = {"image", "code", "fatCubin", "library", "hmod"};
    const struct device_code *codes = process->codes.items;
    const struct trace_slot *slot = &reader->slots[call->slot];
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        const uint64_t *at = trace_find_field(slot, call, fields[i]);
        for (size_t j = process->codes.count; at != NULL && j > 0; j--) {
            if (at[0] != 0 && (codes[j - 1].image == at[0] || codes[j - 1].handle == at[0]))
                return codes[j - 1].text;
        }
    }
    return process->codes.count > 0 ? codes[process->codes.count - 1].text : "";
}

/* The results after which a program cannot go on: no memory, no code for the GPU, a context with a sticky error. */
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

static void note_failure(struct watched_process *process, const struct trace_model *model,
                         const struct trace_call *call)
{
    static const struct trace_failing_process unknown;
    struct program_failure *failure = &process->calls.failure;
    struct trace_reason reason = {""};
    process->calls.failed++;
    process->calls.failed_function = reader->slots[call->slot].function;
    process->calls.failed_result = call->result;
    if (failure->function != NULL && (failure->is_grave || !is_grave(call->result)))
        return;
    trace_memory_describe(&unknown, model, call, &reason);
    if (reason.text[0] == '\0')
        trace_meaning_describe(NULL, NULL, model, call, &reason);
    *failure = (struct program_failure){.function = reader->slots[call->slot].function,
                                        .caller = caller_of(call),
                                        .code = code_of(process, call),
                                        .result = call->result,
                                        .is_grave = is_grave(call->result),
                                        .is_after_work = process->calls.launches + process->calls.copies > 0,
                                        .context = trace_current_context(model, call)};
    snprintf(failure->reason, sizeof failure->reason, "%s", reason.text);
    if (call->log != NULL)
        snprintf(failure->log, sizeof failure->log, "%.*s", (int)call->log_length, call->log);
}

/* After a failure, what works shows that it did not matter: of a grave one, work in the same context. A program that
 * cleans up, or asks for the name of the error, does not go on. */
static void note_success(struct program_calls *calls, const struct trace_model *model, const struct trace_call *call,
                         const char *function)
{
    bool launches = pattern_matches("cuLaunch* cuGraphLaunch*", function);
    bool copies = pattern_matches("cuMemcpy* cuMemset*", function);
    calls->launches += launches;
    calls->copies += copies;
    calls->contexts += pattern_matches("cuCtxCreate* cuDevicePrimaryCtxRetain*", function);
    if (calls->failure.is_grave ? (launches || copies) && calls->failure.context == trace_current_context(model, call)
                                : !pattern_matches("cuGetError* cu*Destroy* cu*Free* cu*Unload* cu*Release*", function))
        calls->failure.function = NULL;
}

static void note_call(struct watched_process *process, const struct trace_model *model, const struct trace_call *call)
{
    struct program_calls *calls = &process->calls;
    const char *function = reader->slots[call->slot].function;
    bool has_succeeded = call->returned && call->result == CUDA_SUCCESS;
    calls->count++;
    calls->last_result = call->returned ? call->result : CUDA_SUCCESS;
    calls->last_function = function;
    if (strcmp(function, "cuDriverGetVersion") == 0)
        calls->version_caller = caller_of(call);
    if (strcmp(function, "cuInit") == 0 && call->returned) {
        calls->init_caller = calls->init_caller != NULL ? calls->init_caller : caller_of(call);
        calls->has_init = true;
        calls->has_started |= has_succeeded;
        calls->init_result = call->result;
    } else if (has_succeeded) {
        note_success(calls, model, call, function);
    } else if (trace_has_failed(reader, call)) {
        note_failure(process, model, call);
    }
}

/* Why the file lacks calls, as the rest of a sentence about them. */
static const char *why_refused(const struct trace_header *header)
{
    if (header->dropped == 0 && header->overwritten == 0 && header->late == 0)
        return NULL;
    return header->dropped == 0 && header->overwritten == 0 ? "were made after the end of the program"
           : header->limit == TRACE_LIMIT_DISK              ? "find no room on the disk of TMPDIR or /tmp"
           : header->limit == TRACE_LIMIT_RESOURCE          ? "may not be written (ulimit -f)"
           : header->is_refused != 0                        ? "could not be recorded in this sandbox"
                                                            : "are more than there is room for";
}

void program_read_calls(struct program *program, int file)
{
    struct trace_model model;
    struct trace_call call;
    reader = calloc(1, sizeof *reader);
    program->has_failed |= reader == NULL;
    if (reader == NULL || trace_open_file(file, reader) != NULL)
        return;
    program->calls_refused = why_refused(reader->header);
    program->has_failed |= !trace_model_start(&model, reader);
    while (!program->has_failed && trace_read(reader, &call)) {
        const long parent = reader->processes[call.process].parent;
        struct watched_process *process = process_of(program, reader->processes[call.process].pid, parent);
        if (process != NULL && process->parent == 0)
            process->parent = parent;
        program->has_failed |= process == NULL || !trace_model_read(&model, &call);
        if (!program->has_failed)
            note_call(process, &model, &call);
    }
    trace_model_free(&model);
}
