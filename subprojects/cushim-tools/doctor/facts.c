/* SPDX-License-Identifier: MIT */
/* The texts for the {names} of causes.inc. */
#include "facts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system_calls.h"
#include "machine.h"

static const char *known(const char *text)
{
    return text != NULL && text[0] != '\0' ? text : "unknown";
}

/* ---- The start ---- */

void fact_call(const struct doctor *doctor, char *text, size_t size)
{
    snprintf(text, size, "%s", start_call(doctor->start->step));
}

void fact_last_call(const struct doctor *doctor, char *text, size_t size)
{
    if (doctor->watch.last_call[0] != '\0')
        snprintf(text, size, ", after the system call %s", doctor->watch.last_call);
}

void fact_signal(const struct doctor *doctor, char *text, size_t size)
{
    if (doctor->start->signal != 0)
        snprintf(text, size, " with a signal (%s)", child_signal_name(doctor->start->signal));
    else
        snprintf(text, size, " by a call of exit()");
}

/* What ends the trial of the operations, too. */
void fact_killer(const struct doctor *doctor, char *text, size_t size)
{
    const struct trials *trials = doctor->trials;
    if (trials->signal == doctor->start->signal && trials->current[0] != '\0')
        snprintf(text, size, " Tried alone, %s%s ends the process, too.",
                 trials->current[0] == '/' ? "opening " : "the system call ", trials->current);
}

void fact_before(const struct doctor *doctor, char *text, size_t size)
{
    char phrase[256];
    if (doctor->before == NULL)
        return;
    operation_phrase(doctor->before, phrase, sizeof phrase);
    snprintf(text, size, " The reason may be that %s fails (%s, %s).", phrase, calls_error_name(doctor->before->error),
             strerror(doctor->before->error));
}

void fact_seconds(const struct doctor *doctor, char *text, size_t size)
{
    snprintf(text, size, "%d", doctor->seconds);
}

void fact_state(const struct doctor *doctor, char *text, size_t size)
{
    static const struct {
        char letter;
        const char *words;
    } letters[] = {{'D', "waits in the kernel and cannot be interrupted"},
                   {'S', "waits"},
                   {'R', "computes"},
                   {'Z', "has lost its first thread"},
                   {'T', "is stopped"},
                   {'t', "is stopped"}};
    const struct child_state *state = &doctor->start->state;
    const char *words = "does not answer";
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++) {
        if (letters[i].letter == state->letter)
            words = letters[i].words;
    }
    if (state->letter == '?') {
        snprintf(text, size, "/proc does not show what the process does.%s",
                 doctor->start->still_there ? " It could not be ended and is still there." : "");
        return;
    }
    snprintf(text, size, "The process %s (state %c)%s%s%s%s.%s", words, state->letter,
             state->call[0] != '\0' ? ", in the system call " : "", state->call,
             state->function[0] != '\0' ? ", in the kernel function " : "", state->function,
             doctor->start->still_there ? " It could not be ended and is still there." : "");
}

void fact_gpu(const struct doctor *doctor, char *text, size_t size)
{
    snprintf(text, size, "%s", known(doctor->start->gpus[0].name.text));
}

void fact_memory(const struct doctor *doctor, char *text, size_t size)
{
    snprintf(text, size, "%llu of %llu MiB are in use", doctor->nvml->used >> 20, doctor->nvml->total >> 20);
}

/* ---- The operation ---- */

void fact_path(const struct doctor *doctor, char *text, size_t size)
{
    snprintf(text, size, "%s", doctor->operation != NULL ? doctor->operation->path : "");
}

void fact_operation(const struct doctor *doctor, char *text, size_t size)
{
    if (doctor->operation != NULL)
        operation_phrase(doctor->operation, text, size);
}

void fact_error(const struct doctor *doctor, char *text, size_t size)
{
    if (doctor->operation != NULL)
        snprintf(text, size, "%s, %s", calls_error_name(doctor->operation->error), strerror(doctor->operation->error));
}

void fact_intercepted(const struct doctor *doctor, char *text, size_t size)
{
    snprintf(text, size, "%s", doctor->trials->intercepted);
}

/* ---- The driver, the GPU and the files ---- */

#if !defined(_WIN32)
#    include <grp.h>
#    include <pwd.h>
#    include <sys/stat.h>
#    include <unistd.h>

/* The name of a user, or the number. */
static void user_name(uid_t number, char *name, size_t size)
{
    const struct passwd *user = getpwuid(number);
    if (user != NULL)
        snprintf(name, size, "%s", user->pw_name);
    else
        snprintf(name, size, "%u", (unsigned)number);
}
#endif

void fact_library(const struct doctor *doctor, char *text, size_t size)
{
    snprintf(text, size, "%s", known(doctor->load->path));
}

void fact_library_version(const struct doctor *doctor, char *text, size_t size)
{
    snprintf(text, size, "%s", known(doctor->release.text));
}

/* What makes the dynamic loader find the library. */
void fact_origin(const struct doctor *doctor, char *text, size_t size)
{
    char found[OS_PATH_SIZE];
    if (library_origin(doctor->options->load.root, doctor->load->path, found, sizeof found))
        snprintf(text, size, " %s names its directory.", found);
}

void fact_module(const struct doctor *doctor, char *text, size_t size)
{
    snprintf(text, size, "%s", known(doctor->system.kernel_module));
}

void fact_kernel(const struct doctor *doctor, char *text, size_t size)
{
    if (evidence_read(doctor, "/proc/sys/kernel/osrelease", text, size))
        text[strcspn(text, "\n")] = '\0';
}

/* One that does not answer, or the first one. */
void fact_device(const struct doctor *doctor, char *text, size_t size)
{
    int i = 0;
    while (i < doctor->bus.count && !doctor->bus.gpus[i].is_lost)
        i++;
    const struct bus_gpu *gpu = &doctor->bus.gpus[i < doctor->bus.count ? i : 0];
    if (doctor->bus.count > 0)
        snprintf(text, size, "PCI device %s, id 10de:%04x", gpu->address, gpu->device);
    else
        snprintf(text, size, "not visible on the PCI bus");
}

/* The directory that the environment names, or the default of the driver. */
static const char *mps_directory(bool *out_is_set)
{
    const char *directory = getenv("CUDA_MPS_PIPE_DIRECTORY");
    *out_is_set = directory != NULL && directory[0] != '\0';
    return *out_is_set ? directory : "/tmp/nvidia-mps";
}

void mps_control_path(char *path, size_t size)
{
    bool is_set;
    snprintf(path, size, "%s/control", mps_directory(&is_set));
}

void fact_mps(const struct doctor *doctor, char *text, size_t size)
{
    bool is_set;
    const char *directory = mps_directory(&is_set);
    (void)doctor;
    snprintf(text, size, "%s%s", directory, is_set ? " (CUDA_MPS_PIPE_DIRECTORY)" : ", the default");
}

/* The user of the daemon is the owner of its pipe. */
void fact_mps_control(const struct doctor *doctor, char *text, size_t size)
{
    char control[OS_PATH_SIZE];
    (void)doctor;
    mps_control_path(control, sizeof control);
#if !defined(_WIN32)
    struct stat status;
    char owner[64], own[64];
    if (stat(control, &status) != 0) {
        snprintf(text, size,
                 " No daemon can be reached there: %s does not exist, or this user may not search the "
                 "directory.",
                 control);
    } else if (status.st_uid != geteuid()) {
        user_name(status.st_uid, owner, sizeof owner);
        user_name(geteuid(), own, sizeof own);
        snprintf(text, size, " The daemon belongs to the user %s, and this process to %s.", owner, own);
    }
#else
    snprintf(text, size, "%s", "");
#endif
}

void fact_visible_fault(const struct doctor *doctor, char *text, size_t size)
{
    struct visible_fault fault;
    (void)visible_explain(doctor, &fault);
    snprintf(text, size, "%s", fault.text);
}

void fact_visible_advice(const struct doctor *doctor, char *text, size_t size)
{
    struct visible_fault fault;
    (void)visible_explain(doctor, &fault);
    snprintf(text, size, "%s", fault.advice);
}

/* Owner, group and mode of the file of the operation. */
void fact_node(const struct doctor *doctor, char *text, size_t size)
{
#if !defined(_WIN32)
    char whole[OS_PATH_SIZE], owner[64], number[24];
    struct stat status;
    if (doctor->operation != NULL && cush_os_path_below(doctor->root, doctor->operation->path, whole, sizeof whole)
        && stat(whole, &status) == 0) {
        const struct group *group = getgrgid(status.st_gid);
        user_name(status.st_uid, owner, sizeof owner);
        snprintf(number, sizeof number, "%u", (unsigned)status.st_gid);
        snprintf(text, size, "it belongs to user %s and group %s, with mode %04o", owner,
                 group != NULL ? group->gr_name : number, (unsigned)status.st_mode & 07777);
        return;
    }
#endif
    snprintf(text, size, "its owner and mode are not visible, often because this user may not search /dev");
    (void)doctor;
}

void fact_wrong_node(const struct doctor *doctor, char *text, size_t size)
{
    char number[96];
    (void)wrong_node_find(doctor, text, size, number, sizeof number);
}

void fact_number(const struct doctor *doctor, char *text, size_t size)
{
    char path[32];
    (void)wrong_node_find(doctor, path, sizeof path, text, size);
}

void fact_candidate(const struct doctor *doctor, char *text, size_t size)
{
    const struct operation *candidate = candidate_find(doctor);
    char phrase[256];
    if (candidate == NULL)
        return;
    operation_phrase(candidate, phrase, sizeof phrase);
    snprintf(text, size, "%s fails (%s, %s)", phrase, calls_error_name(candidate->error), strerror(candidate->error));
}

/* A library that was not found. */
void fact_part(const struct doctor *doctor, char *text, size_t size)
{
    const struct operation *operation = operations_missing_library(&doctor->watch.operations);
    snprintf(text, size, "%s", operation != NULL ? path_name(operation->path) : "");
}

/* The same as a sentence. */
void fact_refused(const struct doctor *doctor, char *text, size_t size)
{
    char candidate[384] = "";
    fact_candidate(doctor, candidate, sizeof candidate);
    if (candidate[0] != '\0')
        snprintf(text, size, " Driver 580 starts although %s; another version may need it.", candidate);
}

static void append(char *text, size_t size, const char *more)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used > 0 ? "; " : "", more);
}

/* What is known not to be the cause. */
void fact_ruled_out(const struct doctor *doctor, char *text, size_t size)
{
    char part[160];
    if (doctor->watched && candidate_find(doctor) == NULL) {
        snprintf(part, sizeof part, "a refusal by the system (%lu system calls were watched)",
                 doctor->watch.operations.calls);
        append(text, size, part);
    }
    if (doctor->trials->control_opened && doctor->trials->uvm_opened && doctor->trials->gpus_opened > 0)
        append(text, size, "the device files, which can be opened");
    if (doctor->release.text[0] != '\0' && strcmp(doctor->release.text, doctor->system.kernel_module) == 0)
        append(text, size, "the versions of library and kernel module, which are equal");
    if (getenv("CUDA_VISIBLE_DEVICES") == NULL)
        append(text, size, "CUDA_VISIBLE_DEVICES, which is not set");
    if (doctor->variables_tried && doctor->variables[0] == '\0')
        append(text, size, "the variables CUDA_..., without which it fails, too");
    if (doctor->nvml->mig_known && !doctor->nvml->mig)
        append(text, size, "MIG mode, which is off");
    if (doctor->nvml->known && doctor->start->code == CUDA_ERROR_OUT_OF_MEMORY) {
        snprintf(part, sizeof part, "the memory of the GPU, of which %llu MiB are free",
                 (doctor->nvml->total - doctor->nvml->used) >> 20);
        append(text, size, part);
    }
    if (text[0] == '\0')
        snprintf(text, size, "nothing");
}

void evidence_text(const struct doctor *doctor, const char *name, char *text, size_t size)
{
    static const struct {
        const char *name;
        void (*write)(const struct doctor *doctor, char *text, size_t size);
    } facts[] = {
#define FACT(name) {#name, fact_##name},
#include "facts.inc"
#undef FACT
    };
    text[0] = '\0';
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        if (strcmp(facts[i].name + 1, name + 1) == 0 && tolower((unsigned char)name[0]) == facts[i].name[0])
            facts[i].write(doctor, text, size);
    }
    if (isupper((unsigned char)name[0]))
        text[0] = (char)toupper((unsigned char)text[0]);
}
