/* SPDX-License-Identifier: MIT */
/* The evidence of rules.inc: each function asks one process, judgement->process, and sets the {names} of the texts. */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices.h"
#include "../../exec/launch.h"

/* A meaning as a sentence: "the program has ..." */
static void set_sentence(const char *name, const char *text, const char *otherwise)
{
    reason_set(name, "%s%s", text[0] != '\0' ? text : otherwise, text[0] != '\0' ? "." : "");
    char *first = reason_value(name);
    if (*first >= 'a' && *first <= 'z')
        *first = (char)(*first - 'a' + 'A');
}

/* ---- it uses the GPU ---- */

static void set_caller(const char *path)
{
    bool is_known = path != NULL && path[0] != '\0' && !library_passes_on(path);
    reason_set("called", "%s%s%s", is_known ? ", called by " : "", is_known ? path : "", is_known ? "," : "");
}

static void set_failure(const struct program_failure *failure)
{
    reason_set("function", "%s", failure->function);
    set_caller(failure->caller);
    reason_set("result", "%s", driver_code_name((CUresult)failure->result));
    reason_set("code", "%s", failure->code);
    set_sentence(
        "reason", failure->log[0] != '\0' && failure->reason[0] == '\0' ? failure->log : failure->reason,
        "Read the arguments of the call: cushim trace -- PROGRAM, then cushim trace report cushim.trace --calls "
        "--errors.");
}

bool reason_used_then_failed(const struct judgement *judgement)
{
    const struct program_failure *failure = &judgement->process->calls.failure;
    bool has_ended_well = judgement->program->run->status == 0;
    if (failure->function == NULL || !failure->is_after_work
        || (has_ended_well && failure->result != CUDA_ERROR_OUT_OF_MEMORY
            && failure->result < CUDA_ERROR_ILLEGAL_ADDRESS))
        return false;
    set_failure(failure);
    return true;
}

static const struct watched_process *find_parent(const struct judgement *judgement)
{
    const struct watched_process *processes = judgement->program->processes.items;
    for (size_t i = judgement->program->processes.count; i > 0; i--) {
        if (processes[i - 1].pid == judgement->process->parent)
            return &processes[i - 1];
    }
    return NULL;
}

/* Beside a parent that works and a run that ends well, the failure did not matter. */
bool reason_forked(const struct judgement *judgement)
{
    const struct program_calls *calls = &judgement->process->calls;
    const struct watched_process *parent = find_parent(judgement);
    bool has_failed = calls->has_init && calls->init_result == CUDA_ERROR_NOT_INITIALIZED;
    if (parent == NULL || !parent->calls.has_started || calls->has_started
        || (!has_failed && (calls->failed_function == NULL || calls->failed_result != CUDA_ERROR_NOT_INITIALIZED))
        || (parent->calls.launches + parent->calls.copies > 0 && judgement->program->run->status == 0))
        return false;
    reason_set("function", "%s", has_failed ? "cuInit" : calls->failed_function);
    reason_set("result", "%s", driver_code_name(CUDA_ERROR_NOT_INITIALIZED));
    return true;
}

/* A program that starts others can mean it for them. */
bool reason_visible_too_late(const struct judgement *judgement)
{
    const struct watched_process *processes = judgement->program->processes.items;
    const char *late = judgement->process->late;
    for (size_t i = 0; late != NULL && i < judgement->program->processes.count; i++) {
        if (processes[i].parent == judgement->process->pid)
            late = NULL;
    }
    reason_set("visible", "%s", late != NULL ? late : "");
    return late != NULL;
}

bool reason_used_for_video(const struct judgement *judgement)
{
    const struct object *video = library_find_object(judgement->process, "libnvidia-encode.so* libnvcuvid.so*");
    if (video != NULL)
        reason_set("file", "%s", library_file(video->path));
    return video != NULL && judgement->process->calls.contexts > 0 && judgement->process->calls.failure.function == NULL
           && judgement->program->exit_status == 0;
}

bool reason_prevented(const struct judgement *judgement)
{
    return reason_is_main(judgement) && !judgement->process->has_started
           && judgement->program->exit_status == STATUS_NO_PROGRAM;
}

/* ---- it does not find the driver ---- */

bool reason_on_stub(const struct judgement *judgement)
{
    struct sought sought;
    return reason_is_sought(judgement, "libcuda.so", &sought) && sought.file != NULL
           && strstr(sought.file, "/stubs/") != NULL;
}

bool reason_looking_elsewhere(const struct judgement *judgement)
{
    struct sought sought;
    const char *driver = judgement->machine->loaded ? judgement->machine->load->path : NULL;
    if (driver == NULL || !reason_is_lost(judgement, "libcuda.so", &sought))
        return false;
    reason_set("driver", "%s", driver);
    reason_set("directory", "%.*s", (int)(library_file(driver) - driver) - 1, driver);
    return true;
}

bool reason_looking_for_development_name(const struct judgement *judgement)
{
    struct sought sought;
    return reason_looking_elsewhere(judgement) && reason_is_lost(judgement, "libcuda.so", &sought)
           && strcmp(sought.names, "libcuda.so") == 0;
}

bool reason_without_driver(const struct judgement *judgement)
{
    struct sought sought;
    reason_set_problem(judgement);
    return reason_is_lost(judgement, "libcuda.so", &sought);
}

bool reason_not_started(const struct judgement *judgement)
{
    const struct program_calls *calls = &judgement->process->calls;
    if (!calls->has_init || calls->has_started)
        return false;
    set_caller(calls->init_caller);
    reason_set("result", "%s", driver_code_name((CUresult)calls->init_result));
    return true;
}

bool reason_hidden_by_itself(const struct judgement *judgement)
{
    const char *visible = judgement->process->visible, *outside = getenv("CUDA_VISIBLE_DEVICES");
    if (!reason_not_started(judgement) || judgement->process->calls.init_result != CUDA_ERROR_NO_DEVICE
        || visible == NULL || (outside != NULL && strcmp(visible, outside) == 0))
        return false;
    reason_set("visible", "%s", visible);
    return true;
}

bool reason_not_started_as_elsewhere(const struct judgement *judgement)
{
    reason_set_problem(judgement);
    return !judgement->machine->started && program_machine_problem(judgement) != NULL && reason_not_started(judgement);
}

bool reason_failed(const struct judgement *judgement)
{
    const struct program_failure *failure = &judgement->process->calls.failure;
    if (!judgement->process->calls.has_started || failure->function == NULL)
        return false;
    set_failure(failure);
    if (failure->result == CUDA_ERROR_JIT_COMPILER_NOT_FOUND)
        reason_set_lost_compiler(judgement);
    return true;
}

/* No kernel ran, even if there were copies. */
static bool is_failed_with_code(const struct judgement *judgement, const char *results)
{
    const struct program_failure *failure = &judgement->process->calls.failure;
    return reason_failed(judgement) && judgement->process->calls.launches == 0 && failure->code[0] != '\0'
           && pattern_matches(results, driver_code_name((CUresult)failure->result));
}

/* The driver has started for the doctor, so it starts here, too. */
bool reason_without_code(const struct judgement *judgement)
{
    if (!is_failed_with_code(judgement, "CUDA_ERROR_NO_BINARY_FOR_GPU"))
        return false;
    int capability = judgement->machine->started && driver_start() == CUDA_SUCCESS ? devices_facts(0).capability : 0;
    if (capability != 0)
        reason_set("gpu", " (%d.%d)", capability / 1000, capability % 1000 / 10);
    return true;
}

/* A version limit does not change what the driver compiles. */
bool reason_with_newer_ptx(const struct judgement *judgement)
{
    reason_set("version", "%s", text_version(judgement->machine->load->cuda_version).text);
    return is_failed_with_code(judgement, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION");
}

bool reason_asking_for_version(const struct judgement *judgement)
{
    const struct program_calls *calls = &judgement->process->calls;
    if (calls->has_init || calls->version_caller == NULL)
        return false;
    bool is_limited = reason_is_limited(judgement);
    int version = is_limited ? cushim_driver_version() : judgement->machine->load->cuda_version;
    reason_set("version", "%s%s", text_version(version).text, is_limited ? " (the version limit)" : "");
    reason_set("major", "%d", version / 1000);
    reason_set("update", "%s",
               is_limited ? "Remove the limit (--max-version or CUSHIM_MAX_VERSION)" : "Update the driver");
    reason_set("by", "%s", library_passes_on(calls->version_caller) ? judgement->process->path : calls->version_caller);
    return true;
}

/* ---- it decides otherwise ---- */

bool reason_asking(const struct judgement *judgement)
{
    const struct program_calls *calls = &judgement->process->calls;
    if (calls->has_started && calls->last_result != CUDA_SUCCESS)
        reason_set("last", "Its last call, %s, returns %s. ", calls->last_function,
                   driver_code_name((CUresult)calls->last_result));
    return calls->has_started;
}

bool reason_making_context(const struct judgement *judgement)
{
    return judgement->process->calls.contexts > 0 && reason_asking(judgement);
}

bool reason_without_nvidia_smi(const struct judgement *judgement)
{
    const struct trial *trials = judgement->process->trials.items;
    for (size_t i = 0; i < judgement->process->trials.count; i++) {
        if (trials[i].error[0] != '\0' && strcmp(library_file(trials[i].path), "nvidia-smi") == 0)
            return true;
    }
    return false;
}

bool reason_running_nvidia_smi(const struct judgement *judgement)
{
    return !reason_is_main(judgement) && strcmp(library_file(judgement->process->path), "nvidia-smi") == 0;
}

bool reason_without_device_file(const struct judgement *judgement)
{
    const struct trial *trials = judgement->process->trials.items;
    reason_set_problem(judgement);
    for (size_t i = 0; i < judgement->process->trials.count; i++) {
        if (trials[i].error[0] == '\0' || !text_starts_with(trials[i].path, "/dev/"))
            continue;
        reason_set("file", "%s", trials[i].path);
        reason_set("result", "%s", trials[i].error);
        return true;
    }
    return false;
}

bool reason_on_other_interface(const struct judgement *judgement)
{
    const struct object *object =
        library_find_object(judgement->process, "libnvidia-opencl.so* libGLX_nvidia.so* libEGL_nvidia.so*");
    if (object != NULL)
        reason_set("what", "%s", strstr(object->path, "opencl") != NULL ? "OpenCL" : "OpenGL and Vulkan");
    return object != NULL;
}

/* That a library is linked to OpenCL says nothing: many are. */
bool reason_on_opencl(const struct judgement *judgement)
{
    static const char drivers[] = "libpocl.so* libMesaOpenCL.so* libRusticlOpenCL.so* libigdrcl.so* libamdocl*";
    const struct search *searches = judgement->process->searches.items;
    for (size_t i = 0; i < judgement->process->searches.count; i++) {
        if (text_starts_with(library_file(searches[i].name), "libOpenCL.so")
            && (!searches[i].is_linked || strcmp(searches[i].by, judgement->process->path) == 0))
            return true;
    }
    return library_find_object(judgement->process, drivers) != NULL;
}

bool reason_able(const struct judgement *judgement)
{
    const char *able = library_find_able(judgement->process, false);
    reason_set("object", "%s", able != NULL ? able : "");
    return able != NULL;
}

bool reason_idle(const struct judgement *judgement)
{
    char packages[600];
    library_list_packages(judgement->process, packages, sizeof packages);
    if (packages[0] != '\0')
        reason_set("packages", ", or one of the packages that it loaded (%s),", packages + 1);
    if (library_find_able(judgement->process, true) == NULL)
        reason_set("claim", ", and nothing that it loaded names it");
    if (judgement->program->is_watched)
        reason_set("hint", ", without nvidia-smi");
    else if (judgement->program->is_watch_wanted)
        reason_set("hint", ", perhaps by a device file: the run was not watched as a whole");
    else
        reason_set("hint", ", by nvidia-smi or by a device file: cushim doctor --watch -- PROGRAM shows that");
    return true;
}

bool reason_unseen(const struct judgement *judgement)
{
    const char *obstacle = exec_target_obstacle(judgement->program->arguments[0]);
    if (!judgement->program->is_watch_wanted)
        reason_set("option", "See its system calls: cushim doctor --watch -- %s", reason_value("command"));
    reason_set("obstacle", "%.*s", obstacle != NULL ? (int)strcspn(obstacle, ",;") : 1000,
               obstacle != NULL ? obstacle : "is not a program of glibc 2.35 or newer");
    return true;
}
