/* SPDX-License-Identifier: MIT */
/* One table of rules, in their order: the first one that holds for a process explains it. */
#include "program.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CUSHIM_PRINTF(2, 3)
static void say(struct judgement *judgement, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(judgement->message, sizeof judgement->message, format, arguments);
    va_end(arguments);
}

CUSHIM_PRINTF(2, 3)
static void advise(struct judgement *judgement, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(judgement->advice, sizeof judgement->advice, format, arguments);
    va_end(arguments);
}

/* The process as the subject of a sentence. */
static const char *name_of(const struct judgement *judgement)
{
    static char name[PLATFORM_PATH_SIZE];
    const struct watched_process *process = judgement->process;
    if (process == NULL || process == judgement->program->processes)
        return library_file(judgement->program->arguments[0]);
    snprintf(name, sizeof name, "%.200s (process %ld)", library_file(process->path), process->pid);
    return name;
}

/* Who looks for a library: "", if it is the program itself, or " (by libavcodec.so.59)". */
static const char *by_whom(const struct judgement *judgement, const char *by)
{
    static char text[300];
    snprintf(text, sizeof text, " (%s %.255s)", library_passes_on(by) ? "through" : "by", library_file(by));
    return strcmp(by, judgement->process->path) == 0 ? "" : text;
}

/* The first problem of the machine, or NULL. */
static const struct finding *problem_of(const struct judgement *judgement)
{
    const struct finding *finding = &judgement->machine->findings[0];
    return finding->verdict <= VERDICT_PROBLEM ? finding : NULL;
}

/* Adds the problem of the machine to the sentence, and its advice. */
static void add_problem(struct judgement *judgement)
{
    const struct finding *problem = problem_of(judgement);
    size_t length = strlen(judgement->message);
    if (problem == NULL)
        return;
    snprintf(judgement->message + length, sizeof judgement->message - length, " %s", problem->message);
    advise(judgement, "%s", problem->advice);
}

struct sought {
    char names[512];
    const char *by, *file;
};

static bool is_sought(const struct judgement *judgement, const char *name, struct sought *sought)
{
    return library_sought(judgement->process, library_of(name), sought->names, sizeof sought->names, &sought->by,
                          &sought->file);
}

static bool is_lost(const struct judgement *judgement, const char *name, struct sought *sought)
{
    return is_sought(judgement, name, sought) && sought->file == NULL;
}

static const char *machine_driver(const struct judgement *judgement)
{
    return judgement->machine->loaded ? judgement->machine->load->path : NULL;
}

/* ---- the rules ---- */

static bool rule_uses_gpu(struct judgement *judgement)
{
    const struct program_calls *calls = &judgement->process->calls;
    if (calls->launches + calls->copies == 0)
        return false;
    judgement->uses_gpu = true;
    say(judgement, "%s uses the GPU: in this run it launched %llu times and copied %llu times.", name_of(judgement),
        (unsigned long long)calls->launches, (unsigned long long)calls->copies);
    advise(judgement, "If it is slow or wrong, record it: cushim trace -- PROGRAM.");
    return true;
}

static bool rule_did_not_start(struct judgement *judgement)
{
    const struct watched_process *process = judgement->process;
    const struct search *lost = NULL;
    for (size_t i = 0; i < process->search_count; i++) {
        if (process->searches[i].is_linked && process->searches[i].file == NULL)
            lost = &process->searches[i];
    }
    if (process->has_started || lost == NULL)
        return false;
    const struct stack_library *library = library_of(lost->name);
    say(judgement, "%s did not start: %s needs %s, which was not found.", name_of(judgement), library_file(lost->by),
        lost->name);
    if (library == library_of("libcuda.so.1"))
        add_problem(judgement);
    else
        advise(judgement, "Install %s.", library != NULL ? library->where : "the package that has this file");
    return true;
}

static bool rule_prevented(struct judgement *judgement)
{
    enum { CANNOT_START = 127 };
    if (judgement->process->has_started || judgement->program->exit_status != CANNOT_START)
        return false;
    say(judgement, "%s does not start while it is watched: its own message says why.", name_of(judgement));
    advise(judgement, "If it starts without cushim, give the watched program more room for thread-local data: "
                      "GLIBC_TUNABLES=glibc.rtld.optional_static_tls=65536 cushim doctor -- PROGRAM.");
    return true;
}

static bool rule_stub(struct judgement *judgement)
{
    struct sought sought;
    if (!is_sought(judgement, "libcuda.so.1", &sought) || sought.file == NULL || strstr(sought.file, "/stubs/") == NULL)
        return false;
    say(judgement, "%s opens the stub of the CUDA Toolkit, %s, in place of the driver: its functions only fail.",
        name_of(judgement), sought.file);
    advise(judgement, "Remove the directory stubs from LD_LIBRARY_PATH and from the paths of the program.");
    return true;
}

static bool rule_development_name(struct judgement *judgement)
{
    struct sought sought;
    const char *driver = machine_driver(judgement);
    if (driver == NULL || !is_lost(judgement, "libcuda.so.1", &sought) || strcmp(sought.names, "libcuda.so") != 0)
        return false;
    say(judgement, "%s looks only for libcuda.so%s, which is not found. This machine has the driver as %s.",
        name_of(judgement), by_whom(judgement, sought.by), driver);
    advise(judgement,
           "Make a link: ln -s libcuda.so.1 %.*s/libcuda.so. Some distributions have it in a package for "
           "development.",
           (int)(library_file(driver) - driver) - 1, driver);
    return true;
}

static bool rule_out_of_path(struct judgement *judgement)
{
    struct sought sought;
    const char *driver = machine_driver(judgement);
    if (driver == NULL || !is_lost(judgement, "libcuda.so.1", &sought))
        return false;
    int directory = (int)(library_file(driver) - driver) - 1;
    say(judgement, "%s looks for %s%s and does not find it. This machine has %s, which its search does not reach.",
        name_of(judgement), sought.names, by_whom(judgement, sought.by), driver);
    advise(judgement, "Add %.*s to LD_LIBRARY_PATH, or to a file in /etc/ld.so.conf.d and run ldconfig.", directory,
           driver);
    return true;
}

static bool rule_no_driver(struct judgement *judgement)
{
    struct sought sought;
    if (!is_lost(judgement, "libcuda.so.1", &sought))
        return false;
    say(judgement, "%s looks for %s%s and does not find it.", name_of(judgement), sought.names,
        by_whom(judgement, sought.by));
    add_problem(judgement);
    return true;
}

static bool rule_start_failed(struct judgement *judgement)
{
    const struct program_calls *calls = &judgement->process->calls;
    const char *visible = judgement->process->visible, *outside = getenv("CUDA_VISIBLE_DEVICES");
    if (!calls->has_init || calls->has_started)
        return false;
    const char *code = driver_code_name((CUresult)calls->init_result);
    say(judgement, "%s starts the driver, and cuInit returns %s.", name_of(judgement), code);
    if (visible != NULL && (outside == NULL || strcmp(visible, outside) != 0)) {
        say(judgement,
            "%s starts the driver, and cuInit returns %s. The program itself sets CUDA_VISIBLE_DEVICES=\"%s\".",
            name_of(judgement), code, visible);
        advise(judgement, "Find where the program or its settings set this variable, which hides GPUs.");
    } else if (problem_of(judgement) != NULL) {
        add_problem(judgement);
    } else {
        advise(judgement, "Outside of this program the driver starts: compare the variables and the rights of both.");
    }
    return true;
}

static bool rule_call_failed(struct judgement *judgement)
{
    const struct program_calls *calls = &judgement->process->calls;
    if (!calls->has_started || calls->failed_function[0] == '\0' || (!calls->is_grave && calls->later_calls > 0))
        return false;
    say(judgement, "%s starts the driver; then %s, called by %s, returns %s.%s%s", name_of(judgement),
        calls->failed_function, library_file(calls->failed_caller), driver_code_name((CUresult)calls->failed_result),
        calls->failed_log[0] != '\0' ? " The driver says: " : "", calls->failed_log);
    if (pattern_matches("CUDA_ERROR_NO_BINARY_FOR_GPU CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
                        driver_code_name((CUresult)calls->failed_result)))
        advise(judgement, "cushim audit %s shows for which GPUs and drivers its device code is.", calls->failed_caller);
    else
        advise(judgement, "Read the arguments of the call: cushim trace -- PROGRAM, then cushim trace report --calls "
                          "--errors.");
    return true;
}

/* libcudart.so.13 needs a driver for CUDA 13, and does not call cuInit on an older one. */
static bool rule_runtime_newer(struct judgement *judgement)
{
    const struct program_calls *calls = &judgement->process->calls;
    const char *file = library_file(calls->version_caller);
    int runtime = text_starts_with(file, "libcudart.so.") ? atoi(file + strlen("libcudart.so.")) : 0;
    int driver = judgement->machine->load->cuda_version;
    if (calls->has_init || !calls->has_asked_version || runtime <= driver / 1000)
        return false;
    say(judgement,
        "%s has the CUDA runtime %d (%s), and the driver is for CUDA %s: the runtime refuses it without "
        "starting it.",
        name_of(judgement), runtime, file, text_version(driver).text);
    advise(judgement, "Update the driver to one for CUDA %d.0 or newer, or install a build of the program for CUDA %d.",
           runtime, driver / 1000);
    return true;
}

/* A library of the driver or the Toolkit that is opened by hand. */
static bool find_lost(const struct judgement *judgement, const struct stack_library **out_library,
                      struct sought *sought)
{
    const struct stack_library *library = library_next(NULL);
    for (; library != NULL; library = library_next(library)) {
        if (library->is_companion && is_lost(judgement, library->stem, sought))
            break;
    }
    *out_library = library;
    return library != NULL;
}

static void say_lost(struct judgement *judgement, const char *start, const struct stack_library *library,
                     const struct sought *sought)
{
    char others[1024];
    say(judgement, "%s %s %s, %s%s.", name_of(judgement), start, sought->names, library->what,
        by_whom(judgement, sought->by));
    if (library_find_others(judgement->process, library, others, sizeof others))
        advise(judgement,
               "This machine has %s: another version, or outside of the search. Install the version that the "
               "program names, or add the directory to LD_LIBRARY_PATH.",
               others);
    else
        advise(judgement, "Install %s.", library->where);
}

static bool rule_companion_missing(struct judgement *judgement)
{
    struct sought driver, sought;
    const struct stack_library *library;
    if (!is_sought(judgement, "libcuda.so.1", &driver) || !find_lost(judgement, &library, &sought))
        return false;
    say_lost(judgement,
             judgement->process->calls.has_started ? "starts the driver, but does not find"
                                                   : "opens the driver library, but does not find",
             library, &sought);
    return true;
}

static bool rule_only_asked(struct judgement *judgement)
{
    const struct program_calls *calls = &judgement->process->calls;
    const char *what = calls->contexts > 0 ? "makes a context, but in this run it launches and copies nothing"
                                           : "finds a GPU, but in this run it only asks: it makes no context";
    if (!calls->has_started)
        return false;
    if (calls->last_result == CUDA_SUCCESS) {
        say(judgement, "%s starts the driver and %s.", name_of(judgement), what);
        advise(judgement, "If it goes on without the GPU, it decided so itself: look for its option or setting.");
    } else {
        say(judgement, "%s starts the driver and %s. Its last call, %s, returns %s.", name_of(judgement), what,
            calls->last_function, driver_code_name((CUresult)calls->last_result));
        advise(judgement,
               "If its own messages name this call, the call is the obstacle. Otherwise the program decided so "
               "itself: look for its option or setting.");
    }
    return true;
}

static bool rule_by_nvml(struct judgement *judgement)
{
    struct sought sought;
    if (judgement->process->calls.count > 0 || !is_lost(judgement, "libnvidia-ml.so.1", &sought))
        return false;
    say(judgement, "%s asks NVML whether there is a GPU, and does not find %s%s.", name_of(judgement), sought.names,
        by_whom(judgement, sought.by));
    advise(judgement, "Install %s.", library_of("libnvidia-ml.so.1")->where);
    return true;
}

static bool rule_by_nvidia_smi(struct judgement *judgement)
{
    if (strcmp(library_file(judgement->process->path), "nvidia-smi") != 0)
        return false;
    say(judgement, "%s runs nvidia-smi to find out whether there is a GPU.",
        library_file(judgement->program->arguments[0]));
    advise(judgement, "Look at what nvidia-smi prints there, and at its exit status.");
    return true;
}

static bool rule_toolkit_missing(struct judgement *judgement)
{
    struct sought driver, sought;
    const struct stack_library *library;
    if (is_sought(judgement, "libcuda.so.1", &driver) || !find_lost(judgement, &library, &sought))
        return false;
    say_lost(judgement, "does not look for the driver, because it does not find", library, &sought);
    return true;
}

static bool rule_not_asked(struct judgement *judgement)
{
    const struct watched_process *process = judgement->process;
    const char *able = library_file_contains(process->path, "libcuda.so") ? process->path : NULL;
    struct sought sought;
    if (is_sought(judgement, "libcuda.so.1", &sought))
        return false;
    for (size_t i = 0; i < process->object_count && able == NULL; i++) {
        if (!pattern_matches("*/auditor.so", process->objects[i].path)
            && library_file_contains(process->objects[i].path, "libcuda.so"))
            able = process->objects[i].path;
    }
    if (able == NULL)
        return false;
    say(judgement, "%s did not look for the driver in this run, although %s can use it.", name_of(judgement), able);
    advise(judgement, "Nothing in this run asked for the GPU: look for the option that selects it.");
    return true;
}

static bool rule_opened_only(struct judgement *judgement)
{
    struct sought sought;
    if (!is_sought(judgement, "libcuda.so.1", &sought))
        return false;
    say(judgement, "%s opens the driver library, %s, but does not start it.", name_of(judgement),
        sought.file != NULL ? sought.file : sought.names);
    advise(judgement,
           "It decided without the driver: look at its own messages, and for an option that excludes the GPU.");
    return true;
}

static bool rule_never_looked(struct judgement *judgement)
{
    say(judgement, "%s did not look for a GPU in this run, and nothing that it loaded names CUDA.", name_of(judgement));
    advise(judgement, "It is a build without CUDA, or it decided before: by a device file, or because it did not find "
                      "nvidia-smi.");
    return true;
}

static const struct rule {
    const char *cause;
    bool (*holds)(struct judgement *judgement);
} rules[] = {
    {"uses-gpu", rule_uses_gpu},
    {"did-not-start", rule_did_not_start},
    {"prevented", rule_prevented},
    {"stub", rule_stub},
    {"development-name", rule_development_name},
    {"library-out-of-path", rule_out_of_path},
    {"no-driver-library", rule_no_driver},
    {"start-failed", rule_start_failed},
    {"call-failed", rule_call_failed},
    {"runtime-newer-than-driver", rule_runtime_newer},
    {"companion-missing", rule_companion_missing},
    {"only-asked", rule_only_asked},
    {"opened-not-started", rule_opened_only},
    {"toolkit-library-missing", rule_toolkit_missing},
    {"by-nvml", rule_by_nvml},
    {"by-nvidia-smi", rule_by_nvidia_smi},
    {"able-but-not-asked", rule_not_asked},
    {"never-looked", rule_never_looked},
};
enum { RULES = sizeof rules / sizeof rules[0] };

/* Causes do not cross processes: each rule asks one process. Of several processes, the one counts for which the first
 * of the rules holds. */
void program_judge(struct judgement *judgement)
{
    const struct program *program = judgement->program;
    for (size_t rule = 0; rule < RULES; rule++) {
        for (size_t i = 0; i < program->count; i++) {
            judgement->process = &program->processes[i];
            judgement->cause = rules[rule].cause;
            if (rules[rule].holds(judgement))
                return;
        }
    }
    judgement->process = NULL;
    judgement->cause = "unseen";
    say(judgement,
        "%s could not be watched: it is statically linked, not a program of glibc, or has more rights than "
        "its user.",
        name_of(judgement));
    advise(judgement, "Use a build that is linked dynamically, or look at the machine: cushim doctor.");
}
