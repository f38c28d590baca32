/* SPDX-License-Identifier: MIT */
/* The evidence of rules.inc that is about libraries: those that are missing or cannot be bound, and their packages. */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cushim/slot.h"
#include "devices.h"

/* Where to get a library, or where it is: a file with exactly this name needs no package. */
static void set_where(const struct judgement *judgement, const struct stack_library *library)
{
    char where[512];
    library_write_where(judgement->process, library, where, sizeof where);
    reason_set("what", "%s", library->what);
    reason_set("where", "%s", where);
}

static void set_remedy(const struct judgement *judgement, const struct stack_library *library, const char *by)
{
    char other[PLATFORM_PATH_SIZE];
    bool is_exact = library_find_other(judgement->process, library, other, sizeof other);
    set_where(judgement, library);
    if (is_exact)
        reason_set("remedy", "The file is %s: add its directory to LD_LIBRARY_PATH%s.", other,
                   strstr(by, "onnxruntime") != NULL ? ", or call onnxruntime.preload_dlls() before" : "");
    else if (other[0] != '\0')
        reason_set("remedy", "This machine has %s: another version, or outside of the search. Install %s.", other,
                   reason_value("where"));
    else
        reason_set("remedy", "Install %s.", reason_value("where"));
}

/* A program asks NVENC for its version before it uses anything of it. */
bool reason_with_nvenc(const struct judgement *judgement)
{
    enum { SECONDS = 10 };
    const struct program_calls *calls = &judgement->process->calls;
    if (library_find_object(judgement->process, "libnvidia-encode.so*") == NULL || !judgement->machine->loaded
        || judgement->program->exit_status == 0 || calls->failure.function != NULL)
        return false;
    struct companion_found *companions = calloc(CUSHIM_COMPANION_COUNT, sizeof *companions);
    if (companions != NULL)
        companions_find(companions, SECONDS);
    reason_set("version", "%s", companions != NULL ? companions[CUSHIM_COMPANION_NVENC].api : "");
    free(companions);
    return reason_value("version")[0] != '\0';
}

static const struct search *find_lost_at_start(const struct judgement *judgement)
{
    const struct search *searches = judgement->process->searches.items, *lost = NULL;
    for (size_t i = 0; i < judgement->process->searches.count; i++) {
        if (searches[i].is_linked && searches[i].file == NULL)
            lost = &searches[i];
    }
    return judgement->process->has_started ? NULL : lost;
}

bool reason_without_linked_library(const struct judgement *judgement)
{
    const struct search *lost = find_lost_at_start(judgement);
    const struct stack_library *library = lost != NULL ? library_of(lost->name) : NULL;
    if (lost == NULL || (library == NULL && !reason_is_main(judgement)))
        return false;
    reason_set("names", "%s", lost->name);
    reason_set("by", "%s", library_file(lost->by));
    reason_set_problem(judgement);
    if (library == NULL) {
        reason_set("problem", "Install the package that has this file.");
    } else if (library != library_of("libcuda.so")) {
        set_remedy(judgement, library, lost->by);
        reason_set("problem", "%s", reason_value("remedy"));
    }
    return true;
}

/* The version of CUDA that brought a function of the driver, or 0. */
static int symbol_version_of(const char *symbol)
{
    struct cushim_entry_point entry;
    for (size_t i = 0; cushim_entry_point_get_info(i, &entry) == CUDA_SUCCESS; i++) {
        size_t length = strlen(entry.symbol);
        if (strncmp(symbol, entry.symbol, length) == 0
            && (symbol[length] == '\0' || strcmp(symbol + length, entry.per_thread_ending) == 0))
            return entry.since;
    }
    return 0;
}

static bool is_linked_to_driver(const struct watched_process *process, const char *object)
{
    const struct search *searches = process->searches.items;
    for (size_t i = 0; i < process->searches.count; i++) {
        if (searches[i].is_linked && library_of(searches[i].name) == library_of("libcuda.so")
            && (strcmp(searches[i].by, object) == 0 || strcmp(searches[i].by, process->path) == 0))
            return true;
    }
    return false;
}

/* The name of a function without the library that should have it. */
static const char *function_of(const char *name)
{
    const char *at = strchr(name, '@');
    return at != NULL ? at + 1 : name;
}

/* Whether it is a part of CUDA, or of a library of CUDA. */
static bool is_name_of_cuda(const char *name)
{
    name = function_of(name);
    bool is_function = name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z';
    return is_function || library_of(name) != NULL
           || pattern_matches(
               "cuda* __cuda* cublas* cudnn* cufft* curand* cusparse* cusolver* nvrtc* nvJit* __nvJit* nccl*", name);
}

static bool is_in_library_path(const char *file)
{
    const char *list = getenv("LD_LIBRARY_PATH");
    size_t length = (size_t)(library_file(file) - file);
    char item[PLATFORM_PATH_SIZE];
    while (text_next_item(&list, ":", item, sizeof item)) {
        size_t used = strlen(item);
        if (used > 0 && used + (item[used - 1] != '/') == length && strncmp(item, file, used) == 0)
            return true;
    }
    return false;
}

/* "libnvJitLink.so.12@__nvJitLinkAddData_12_1": the file of this name that was found lacks the function. */
static bool set_lacks_of_library(const struct judgement *judgement, const struct unbound *unbound)
{
    const char *at = strchr(unbound->name, '@');
    char name[64];
    snprintf(name, sizeof name, "%.*s", at != NULL ? (int)(at - unbound->name) : 0, unbound->name);
    const struct object *found = at != NULL ? library_find_object(judgement->process, name) : NULL;
    if (found == NULL)
        return false;
    reason_set("lacks", "%s lacks %s", name, at + 1);
    reason_set("remedy", "It was built for another version than %s: %sinstall that version, or another build of it.",
               found->path,
               is_in_library_path(found->path) ? "remove the directory of that file from LD_LIBRARY_PATH, " : "");
    return true;
}

/* A function of the driver that the version limit excludes. */
static void set_lacks_of_limit(const char *function, const char *since)
{
    const struct version_text limit = text_version(cushim_driver_version());
    reason_set("lacks", "the version limit, CUDA %s, excludes %s, %s", limit.text, function, since);
    reason_set("remedy", "Remove the limit (--max-version or CUSHIM_MAX_VERSION), or install a build for CUDA %s.",
               limit.text);
}

/* What one object lacks: "driver 418 lacks cuFoo, new in CUDA 11.0 (driver 450)". */
static void set_lacks(const struct judgement *judgement, const struct unbound *unbound)
{
    const char *colon = strchr(unbound->name, ':');
    int branch = atoi(judgement->machine->release.text), version = symbol_version_of(unbound->name);
    if (set_lacks_of_library(judgement, unbound))
        return;
    bool is_linked = is_linked_to_driver(judgement->process, unbound->by);
    char since[64] = "";
    if (branch == 0)
        branch = requirement_branch(judgement->machine->load->cuda_version);
    if (version != 0)
        snprintf(since, sizeof since, "new in CUDA %s (driver %d)", text_version(version).text,
                 requirement_branch(version));
    if (colon == NULL && is_linked && version > cushim_driver_version() && reason_is_limited(judgement)
        && version <= judgement->machine->load->cuda_version) {
        set_lacks_of_limit(unbound->name, since);
        return;
    }
    if (colon != NULL)
        reason_set("lacks", "%.*s lacks the version %s", (int)(colon - unbound->name), unbound->name, colon + 1);
    else if (version != 0 && is_linked)
        reason_set("lacks", "driver %d lacks %s, %s", branch, unbound->name, since);
    else if (version != 0)
        reason_set("lacks", "nothing that it loads has %s, and it is not linked to libcuda.so.1", unbound->name);
    else
        reason_set("lacks", "nothing that it loads has %s", function_of(unbound->name));
    if (version != 0 && is_linked)
        reason_set("remedy", "Update the driver, or install a build for the CUDA version of this driver, %s.",
                   text_version(judgement->machine->load->cuda_version).text);
    else if (version != 0)
        reason_set("remedy", "Link it to libcuda.so.1 (-lcuda). The function is %s.", since);
    else
        reason_set("remedy", "It was built for another version of a library that it uses: install that version, or "
                             "another build of it.");
}

/* What else the same object lacks. */
static void set_more(const struct watched_process *process, size_t first)
{
    const struct unbound *unbound = process->unbound.items;
    char text[1024] = "";
    for (size_t i = first + 1; i < process->unbound.count; i++) {
        size_t length = strlen(text);
        if (strcmp(unbound[i].by, unbound[first].by) == 0 && strcmp(unbound[i].name, unbound[first].name) != 0)
            snprintf(text + length, sizeof text - length, "%s%s", length == 0 ? " It also lacks " : ", ",
                     function_of(unbound[i].name));
    }
    reason_set("more", "%s%s", text, text[0] != '\0' ? "." : "");
}

/* Whether a library that an object is linked to was not found: then what it needs of that library says nothing. */
static bool is_without_linked(const struct watched_process *process, const char *object)
{
    const struct search *searches = process->searches.items;
    for (size_t i = 0; i < process->searches.count; i++) {
        if (searches[i].is_linked && searches[i].file == NULL && strcmp(searches[i].by, object) == 0
            && library_of(searches[i].name) != NULL)
            return true;
    }
    return false;
}

/* The dynamic loader ends a program that calls what it could not bind with this status. */
bool reason_unbound(const struct judgement *judgement)
{
    const struct unbound *unbound = judgement->process->unbound.items;
    int status = judgement->program->run->status;
    bool is_ended = WIFEXITED(status) && WEXITSTATUS(status) == STATUS_NO_PROGRAM;
    for (size_t i = 0; i < judgement->process->unbound.count; i++) {
        if (!is_name_of_cuda(unbound[i].name) || (!unbound[i].is_closed && !is_ended)
            || is_without_linked(judgement->process, unbound[i].by))
            continue;
        reason_set("holder", "%s", library_file(unbound[i].by));
        reason_set("verb", "%s", unbound[i].is_closed ? "was not loaded" : "could not call a function");
        set_lacks(judgement, &unbound[i]);
        set_more(judgement->process, i);
        return true;
    }
    return false;
}

/* The part of the driver that it looked for itself. */
void reason_set_lost_compiler(const struct judgement *judgement)
{
    static const char *const parts[] = {"libnvidia-ptxjitcompiler.so", "libnvidia-nvvm.so", "libnvidia-nvvm70.so",
                                        "libnvidia-tileiras.so"};
    struct sought sought;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (!reason_is_lost(judgement, parts[i], &sought))
            continue;
        set_where(judgement, library_of(parts[i]));
        reason_set("reason", "It did not find %s. Install %s.", sought.names, reason_value("where"));
    }
}

/* ---- a library beside the driver, or of the Toolkit, is missing ---- */

static bool is_without_library(const struct judgement *judgement)
{
    struct sought sought;
    for (const struct stack_library *library = library_next(NULL); library != NULL; library = library_next(library)) {
        if (!library->is_needed || !reason_is_lost(judgement, library->stem, &sought))
            continue;
        set_remedy(judgement, library, sought.by);
        return true;
    }
    return false;
}

bool reason_opening(const struct judgement *judgement)
{
    struct sought sought;
    return reason_is_sought(judgement, "libcuda.so", &sought);
}

/* A process that was left can be on the way to its start, where the dynamic loader opens the auditor. */
bool reason_opening_unaudited(const struct judgement *judgement)
{
    return !judgement->process->has_auditor && judgement->process->calls.count == 0
           && !judgement->program->run->has_left && reason_opening(judgement);
}

bool reason_with_stand_in(const struct judgement *judgement)
{
    const struct watched_process *process = judgement->process;
    if (process->stand_in == NULL || process->calls.has_init || !reason_opening(judgement))
        return false;
    reason_set("file", "%s", library_file(process->stand_in));
    return true;
}

bool reason_without_companion(const struct judgement *judgement)
{
    return reason_opening(judgement) && is_without_library(judgement);
}

bool reason_without_toolkit(const struct judgement *judgement)
{
    if (gap_find(judgement->program, judgement->process).kind == GAP_NONE)
        reason_set("without", "Without it, it did not look for the driver. ");
    return !reason_opening(judgement) && is_without_library(judgement);
}

/* A program that used the GPU and ended badly: the library that it sought last is a better reason than what it did. */
bool reason_ended_without_library(const struct judgement *judgement)
{
    const struct program_calls *calls = &judgement->process->calls;
    const struct search *searches = judgement->process->searches.items, *last = NULL;
    for (size_t i = 0; i < judgement->process->searches.count; i++) {
        const struct stack_library *library = library_of(searches[i].name);
        if (library != NULL && library->kind != LIBRARY_OF_DRIVER && library != library_of("libcuda.so"))
            last = &searches[i];
    }
    if (judgement->program->run->status == 0 || calls->launches + calls->copies == 0 || last == NULL
        || last->file != NULL || !library_of(last->name)->is_needed)
        return false;
    set_remedy(judgement, library_of(last->name), last->by);
    reason_set("names", "%s", library_file(last->name));
    return true;
}

bool reason_without_nvml(const struct judgement *judgement)
{
    struct sought sought;
    set_where(judgement, library_of("libnvidia-ml.so"));
    return judgement->process->calls.count == 0 && reason_is_lost(judgement, "libnvidia-ml.so", &sought);
}

bool reason_excluding(const struct judgement *judgement)
{
    struct excluding found;
    if (!library_find_excluding(judgement->process, &found))
        return false;
    reason_set("package", "%s", found.package);
    reason_set("rival", "%s", found.rival);
    reason_set("wanted", "%s", found.wanted);
    return true;
}
