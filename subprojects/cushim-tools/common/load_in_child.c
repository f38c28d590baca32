/* SPDX-License-Identifier: MIT */
#include "in_child.h"

#if defined(_WIN32)
const struct cushim_diagnosis *load_in_child(const struct cushim_load_options *options, int seconds)
{
    (void)options;
    (void)seconds;
    return NULL;
}

bool load_find_unusable(char *fault, size_t size)
{
    (void)fault;
    return size == 0;
}
#else
#    include <signal.h>
#    include <stdio.h>
#    include <stdlib.h>
#    include <string.h>
#    include <unistd.h>

#    include "child.h"
#    include "platform.h"

static const char soname[] = "libcuda.so.1";
static const char driver_variable[] = "CUSHIM_DRIVER";
static const char layers_variable[] = "CUSHIM_LAYERS";
static const char log_variable[] = "CUSHIM_LOG"; /* only the load that the program reports is logged */

enum { MAX_VARIABLES = 8 };

static int limit_seconds = 10; /* of a child */

/* A child that exits with 0 need not have come to its end: the constructor of a library can call exit(). */
struct loading {
    struct child_memory child;
    void (*work)(const void *input, struct loading *loading);
    const void *input;
    char fault[PLATFORM_PATH_SIZE + 256]; /* the damaged file that the child found, and what is wrong with it, or "" */
};

/* How a child ended, as the rest of a sentence: "ends the process (Bus error)". */
struct end {
    char text[128];
    bool is_late;
    int signal;
};

static void loading_work(void *memory)
{
    struct loading *loading = memory;
    unsetenv(log_variable);
    loading->work(loading->input, loading);
}

static struct end end_describe(const struct child *child)
{
    struct end end = {.is_late = !child->has_ended, .signal = child->signal};
    if (!child->has_ended)
        snprintf(end.text, sizeof end.text, "takes over %d s", limit_seconds);
    else if (child->signal != 0)
        snprintf(end.text, sizeof end.text, "ends the process (%s)", child_signal_name(child->signal));
    else
        snprintf(end.text, sizeof end.text, "ends the process");
    return end;
}

/* Runs `work` in a child process. Returns whether it came to its end; if not, *out_end says how the child ended. Writes
 * the fault that it found, unless that is NULL. If no child can be created, `work` does not run, and the result is
 * true. */
static bool child_run(void (*work)(const void *input, struct loading *loading), const void *input, char *fault,
                      size_t size, struct end *out_end)
{
    struct loading *loading = child_memory_create(sizeof *loading);
    if (loading == NULL)
        return true;
    loading->child.may_begin = loading->child.is_quiet = true;
    loading->work = work;
    loading->input = input;
    void (*before)(int) = signal(SIGCHLD, SIG_DFL);
    struct child child = child_start(loading_work, loading);
    bool has_ended = child.error != 0;
    if (child.error == 0) {
        child_wait(&child, limit_seconds * 1000);
        *out_end = end_describe(&child);
        if (!child.has_ended)
            child_stop(&child);
        has_ended = loading->child.has_ended;
        if (fault != NULL)
            snprintf(fault, size, "%s", loading->fault);
    }
    signal(SIGCHLD, before); /* `cushim exec` passes it on */
    child_memory_destroy(loading, sizeof *loading);
    return has_ended;
}

static void try_load(const void *options, struct loading *unused)
{
    (void)unused;
    (void)cushim_load(options);
}

static bool can_load(const struct cushim_load_options *options, struct end *out_end)
{
    return child_run(try_load, options, NULL, 0, out_end);
}

/* Loads from paths whose files are checked. Returns whether the load found a driver or a damaged file, which is then
 * the fault. */
static bool find_in(const struct cushim_load_options *options, struct loading *loading)
{
    if (cushim_load(options) == CUDA_SUCCESS)
        return true;
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    for (size_t i = 0; i < diagnosis->attempt_count; i++) {
        const struct cushim_attempt *attempt = &diagnosis->attempts[i];
        /* The dynamic loader skips other unusable files, such as 32-bit ones. */
        if (attempt->reason != CUSHIM_REASON_DAMAGED)
            continue;
        const char *file = attempt->path + (strncmp(attempt->path, "//", 2) == 0); /* below the root "/" */
        snprintf(loading->fault, sizeof loading->fault, "%s: %s", file, attempt->result);
        return true;
    }
    return false;
}

/* Searches for the file that a plain name leads to: on the library path, then in the known paths. */
static void find_fault(const void *name, struct loading *loading)
{
    const char *directories = getenv("LD_LIBRARY_PATH");
    char directory[PLATFORM_PATH_SIZE], path[PLATFORM_PATH_SIZE + 256];
    bool found = false;
    while (!found && text_next_item(&directories, ":;", directory, sizeof directory)) {
        int length = snprintf(path, sizeof path, "%s/%s", directory[0] != '\0' ? directory : ".", (const char *)name);
        found = length < (int)sizeof path && find_in(&(struct cushim_load_options){.path = path}, loading);
    }
    if (!found && strcmp(name, soname) == 0 && getenv(driver_variable) == NULL)
        find_in(&(struct cushim_load_options){.root = "/"}, loading);
}

/* A link without its file, or a directory that this user may not search. */
static bool is_out_of_reach(const char *directory, const char *path, char *fault, size_t size)
{
    char target[256];
    ssize_t length = readlink(path, target, sizeof target - 1);
    target[length > 0 ? length : 0] = '\0';
    if (length > 0 && !platform_exists(path))
        snprintf(fault, size, "%s: a link to %s, which cannot be opened", path, target);
    else if (platform_exists(directory) && access(directory, X_OK) != 0)
        snprintf(fault, size, "%s: not permitted: this user may not search the directory", path);
    return fault[0] != '\0';
}

static void find_unusable(const void *name, struct loading *loading)
{
    const char *directories = getenv("LD_LIBRARY_PATH");
    const struct cushim_diagnosis *before = cushim_diagnosis_get();
    char directory[PLATFORM_PATH_SIZE], path[PLATFORM_PATH_SIZE + 64];
    for (size_t i = 0; i < before->attempt_count && loading->fault[0] == '\0'; i++) {
        const char *tried = before->attempts[i].path, *slash = strrchr(tried, '/');
        snprintf(directory, sizeof directory, "%.*s", slash != NULL ? (int)(slash - tried) : 0, tried);
        if (directory[0] != '\0')
            (void)is_out_of_reach(directory, tried, loading->fault, sizeof loading->fault);
    }
    while (loading->fault[0] == '\0' && text_next_item(&directories, ":;", directory, sizeof directory)) {
        snprintf(path, sizeof path, "%s/%s", directory, (const char *)name);
        if (directory[0] == '\0' || is_out_of_reach(directory, path, loading->fault, sizeof loading->fault)
            || !platform_exists(path) || cushim_load(&(struct cushim_load_options){.path = path}) == CUDA_SUCCESS)
            continue;
        const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
        snprintf(loading->fault, sizeof loading->fault, "%s: %s", path,
                 diagnosis->attempt_count > 0 ? diagnosis->attempts[0].result : diagnosis->message);
    }
}

bool load_find_unusable(char *fault, size_t size)
{
    struct end unused;
    fault[0] = '\0';
    return child_run(find_unusable, soname, fault, size, &unused) && fault[0] != '\0';
}

/* Finds the first layer with which the load ends the process, although it does not without layers. Removes the
 * variable with the layers. */
static bool find_layer(const struct cushim_load_options *options, const char *layers, char *layer, size_t size,
                       struct end *end)
{
    struct end without;
    unsetenv(layers_variable);
    if (layers[0] == '\0' || !can_load(options, &without))
        return false;
    bool found = false;
    while (!found && text_next_item(&layers, ":", layer, size))
        found = layer[0] != '\0' && setenv(layers_variable, layer, 1) == 0 && !can_load(options, end);
    if (!found)
        snprintf(layer, size, "%s", "of CUSHIM_LAYERS"); /* only several together end the process */
    unsetenv(layers_variable);
    return true;
}

/* The path that is opened first, according to the options and the environment. */
static const char *first_path(const struct cushim_load_options *options)
{
    const char *variable = getenv(driver_variable);
    if (options->path != NULL)
        return options->path;
    if (variable != NULL && variable[0] != '\0')
        return variable;
    return options->root != NULL ? options->root : soname;
}

static struct {
    struct cushim_diagnosis diagnosis;
    struct cushim_attempt attempt;
    struct cushim_variable variables[MAX_VARIABLES];
    char path[PLATFORM_PATH_SIZE], message[2 * PLATFORM_PATH_SIZE];
    struct end end;
} failure;

static void failure_add_variable(const char *name, const char *value, bool is_used)
{
    if (failure.diagnosis.variable_count < MAX_VARIABLES)
        failure.variables[failure.diagnosis.variable_count++] =
            (struct cushim_variable){.name = name, .value = value, .is_used = is_used};
}

/* Makes the null driver current, without layers, and describes the variables that affected the load. */
static void failure_begin(const struct cushim_load_options *options, enum cushim_reason reason)
{
    struct cushim_load_options nothing = *options;
    nothing.path = "none";
    unsetenv(log_variable);
    (void)cushim_load(&nothing);
    const struct cushim_diagnosis *none = cushim_diagnosis_get();
    failure.diagnosis = (struct cushim_diagnosis){
        .reason = reason,
        .code = CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
        .reason_name = cushim_reason_name(reason),
        .message = failure.message,
        .advice = cushim_reason_advice(reason),
        .attempts = &failure.attempt,
        .variables = failure.variables,
    };
    for (size_t i = 0; i < none->variable_count; i++)
        failure_add_variable(none->variables[i].name, none->variables[i].value,
                             none->variables[i].is_used
                                 || (options->path == NULL && strcmp(none->variables[i].name, driver_variable) == 0));
}

static void fail_layer(const struct cushim_load_options *options, const char *layer)
{
    failure_begin(options, CUSHIM_REASON_BAD_LAYER);
    snprintf(failure.message, sizeof failure.message, "The layer %s cannot be used: opening or installing it %s.",
             layer, failure.end.text);
}

static void fail_library(const struct cushim_load_options *options)
{
    char fault[sizeof((struct loading *)NULL)->fault] = "", stack[128] = "";
    struct end unused;
    if (failure.end.signal == SIGSEGV)
        child_describe_stack(stack, sizeof stack);
    snprintf(failure.path, sizeof failure.path, "%s", first_path(options));
    if (strchr(failure.path, '/') == NULL && !child_run(find_fault, failure.path, fault, sizeof fault, &unused))
        fault[0] = '\0';
    failure_begin(options, CUSHIM_REASON_NOT_LOADABLE);
    failure.attempt =
        (struct cushim_attempt){.path = failure.path, .result = failure.end.text, .reason = CUSHIM_REASON_NOT_LOADABLE};
    failure.diagnosis.attempt_count = 1;
    const char *named = options->path != NULL ? options->path : getenv(driver_variable);
    snprintf(failure.message, sizeof failure.message, "%s, but opening it %s: %s.",
             named != NULL ? "The requested driver library exists" : "An NVIDIA driver library was found",
             failure.end.text, fault[0] != '\0' ? fault : failure.path);
    if (stack[0] != '\0') /* the search crashes, too, where there is no library */
        snprintf(failure.message, sizeof failure.message, "Searching for the driver library, or opening it, %s.%s",
                 failure.end.text, stack);
    failure.diagnosis.advice =
        stack[0] != '\0'
            ? "Raise the limit: \"ulimit -s 8192\" in the shell, LimitSTACK=8M in a systemd service. If the "
              "process still ends, reinstall NVIDIA's driver."
        : failure.end.signal == SIGSYS
            ? "A seccomp filter does this: permit the system call in it, with SystemCallFilter= in a systemd service, "
              "or "
              "--security-opt seccomp=FILE with Docker and Podman. The kernel log (dmesg) has the number of the call."
        : failure.end.is_late
            ? "Reinstall NVIDIA's driver, or remove the file if it does not belong to the driver or is not a regular "
              "file. If it lies on a slow file system, run \"cushim doctor\" with a longer --timeout."
        : named != NULL
            ? "Correct CUSHIM_DRIVER or the path that was passed to the program, or repair that file."
            : "Reinstall NVIDIA's driver. An interrupted installation leaves such a library, and every program "
              "that uses CUDA fails the same way. Remove the file if it does not belong to the driver.";
}

const struct cushim_diagnosis *load_in_child(const struct cushim_load_options *options, int seconds)
{
    limit_seconds = seconds > limit_seconds ? seconds : limit_seconds;
    char layer[PLATFORM_PATH_SIZE];
    if (can_load(options, &failure.end))
        return NULL;
    const char *variable = getenv(layers_variable);
    static char *layers; /* the diagnosis has it */
    layers = variable != NULL ? strdup(variable) : NULL;
    if (find_layer(options, layers != NULL ? layers : "", layer, sizeof layer, &failure.end))
        fail_layer(options, layer);
    else
        fail_library(options);
    if (layers != NULL) {
        setenv(layers_variable, layers, 1);
        failure_add_variable(layers_variable, layers, failure.diagnosis.reason == CUSHIM_REASON_BAD_LAYER);
    }
    return &failure.diagnosis;
}
#endif
