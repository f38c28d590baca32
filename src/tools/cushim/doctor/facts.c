/* SPDX-License-Identifier: MIT */
/* The texts for the placeholders of causes.inc. */
#include "doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "os.h"

static const char *known(const char *text)
{
    return text != NULL && text[0] != '\0' ? text : "unknown";
}

/* ---- The start ---- */

static void write_call(const struct doctor *doctor, char *text, size_t size)
{
    snprintf(text, size, "%s", start_call(doctor->start->step));
}

static void write_last_call(const struct doctor *doctor, char *text, size_t size)
{
    if (doctor->watch.last_call[0] != '\0')
        snprintf(text, size, ", after the system call %s", doctor->watch.last_call);
}

static void write_signal(const struct doctor *doctor, char *text, size_t size)
{
    if (doctor->start->signal != 0)
        snprintf(text, size, " with a signal (%s)", child_signal_name(doctor->start->signal));
    else
        snprintf(text, size, " by a call of exit()");
}

/* What ends the trial of the operations, too. */
static void write_killer(const struct doctor *doctor, char *text, size_t size)
{
    const struct trials *trials = doctor->trials;
    if (trials->signal == doctor->start->signal && trials->current[0] != '\0')
        snprintf(text, size, " Tried alone, %s%s ends the process, too.",
                 trials->current[0] == '/' ? "opening " : "the system call ", trials->current);
}

static void write_before(const struct doctor *doctor, char *text, size_t size)
{
    char phrase[256];
    if (doctor->before == NULL)
        return;
    operation_phrase(doctor->before, phrase, sizeof phrase);
    snprintf(text, size, " The reason may be that %s fails (%s, %s).", phrase, calls_error_name(doctor->before->error),
             strerror(doctor->before->error));
}

static void write_seconds(const struct doctor *doctor, char *text, size_t size)
{
    snprintf(text, size, "%d", doctor->seconds);
}

static void write_state(const struct doctor *doctor, char *text, size_t size)
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

static void write_gpu(const struct doctor *doctor, char *text, size_t size)
{
    snprintf(text, size, "%s", known(doctor->start->gpus[0].name.text));
}

static void write_memory(const struct doctor *doctor, char *text, size_t size)
{
    snprintf(text, size, "%llu of %llu MiB are in use", doctor->nvml->used >> 20, doctor->nvml->total >> 20);
}

/* ---- The operation ---- */

static void write_path(const struct doctor *doctor, char *text, size_t size)
{
    snprintf(text, size, "%s", doctor->operation != NULL ? doctor->operation->path : "");
}

static void write_operation(const struct doctor *doctor, char *text, size_t size)
{
    if (doctor->operation != NULL)
        operation_phrase(doctor->operation, text, size);
}

static void write_error(const struct doctor *doctor, char *text, size_t size)
{
    if (doctor->operation != NULL)
        snprintf(text, size, "%s, %s", calls_error_name(doctor->operation->error), strerror(doctor->operation->error));
}

static void write_intercepted(const struct doctor *doctor, char *text, size_t size)
{
    snprintf(text, size, "%s", doctor->trials->intercepted);
}

static void write_preload(const struct doctor *doctor, char *text, size_t size)
{
    const char *preload = getenv("LD_PRELOAD");
    (void)doctor;
    if (preload != NULL && preload[0] != '\0')
        snprintf(text, size, " (LD_PRELOAD is \"%s\")", preload);
}

/* The variables, and the file of the dynamic loader, that change how a driver starts. */
static void write_variables(const struct doctor *doctor, char *text, size_t size)
{
    static const char *const names[] = {"LD_PRELOAD", "LD_AUDIT", "CUDA_INJECTION64_PATH", "CUDA_MPS_PIPE_DIRECTORY"};
    size_t used = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && used < size; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && value[0] != '\0')
            used += (size_t)snprintf(text + used, size - used, "%s %s=\"%.100s\"",
                                     used == 0 ? " Also set, and not ruled out:" : ",", names[i], value);
    }
    if (used < size && evidence_exists(doctor, "/etc/ld.so.preload"))
        used += (size_t)snprintf(text + used, size - used, "%s a library in /etc/ld.so.preload",
                                 used == 0 ? " Also set, and not ruled out:" : ",");
    if (used > 0 && used < size)
        snprintf(text + used, size - used, ".");
}

/* ---- The sandbox ---- */

/* Copies the value of a line of /proc/self/status. */
static bool read_status(const char *label, char *value, size_t size)
{
    char text[4096];
    const char *line = cush_os_file_read("/proc/self/status", text, sizeof text) ? strstr(text, label) : NULL;
    if (line == NULL)
        return false;
    line += strlen(label) + strspn(line + strlen(label), " \t");
    snprintf(value, size, "%.*s", (int)strcspn(line, "\n"), line);
    return true;
}

static void write_seccomp(const struct doctor *doctor, char *text, size_t size)
{
    char value[16];
    (void)doctor;
    if (!read_status("\nSeccomp:", value, sizeof value))
        return;
    snprintf(text, size, "%s",
             atoi(value) != 0 ? " This process has a seccomp filter."
                              : " This process has no seccomp "
                                "filter.");
}

/* The security module that confines the process, or what else can refuse. */
static void write_confinement(const struct doctor *doctor, char *text, size_t size)
{
    char label[256], value[16];
    if (evidence_read(doctor, "/proc/self/attr/current", label, sizeof label) && label[0] != '\0'
        && strncmp(label, "unconfined", 10) != 0 && strncmp(label, "kernel", 6) != 0) {
        label[strcspn(label, "\n")] = '\0';
        snprintf(text, size, " The security module of the kernel confines it as \"%s\".", label);
    } else if (read_status("\nNoNewPrivs:", value, sizeof value) && value[0] == '1') {
        snprintf(text, size, " The process cannot gain privileges (NoNewPrivs), as in sandboxes of Landlock.");
    }
}

/* ---- The limits ---- */

#if !defined(_WIN32)
#    include <grp.h>
#    include <pwd.h>
#    include <sys/resource.h>
#    include <sys/stat.h>

static void write_limit(const struct rlimit *limit, int shift, const char *unit, char *text, size_t size)
{
    if (limit->rlim_cur == RLIM_INFINITY)
        snprintf(text, size, "unlimited");
    else
        snprintf(text, size, "%llu%s", (unsigned long long)limit->rlim_cur >> shift, unit);
}
#    define LIMIT(resource, shift, unit)                                                                               \
        struct rlimit limit;                                                                                           \
        if (getrlimit(resource, &limit) == 0)                                                                          \
        write_limit(&limit, shift, unit, text, size)
#else
#    define LIMIT(resource, shift, unit) snprintf(text, size, "unknown%s", unit)
#endif

static void write_files(const struct doctor *doctor, char *text, size_t size)
{
    (void)doctor;
    LIMIT(RLIMIT_NOFILE, 0, "");
}

static void write_cpu(const struct doctor *doctor, char *text, size_t size)
{
    (void)doctor;
    LIMIT(RLIMIT_CPU, 0, "");
}

/* A small stack explains a segmentation fault. */
static void write_stack(const struct doctor *doctor, char *text, size_t size)
{
#if !defined(_WIN32)
    enum { SMALL = 1 << 20 };
    struct rlimit limit;
    (void)doctor;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < SMALL)
        snprintf(text, size, " The limit of the stack (ulimit -s) is small: %llu KiB.",
                 (unsigned long long)limit.rlim_cur >> 10);
#else
    (void)doctor;
    snprintf(text, size, "%s", "");
#endif
}

static void write_processes(const struct doctor *doctor, char *text, size_t size)
{
    (void)doctor;
    LIMIT(RLIMIT_NPROC, 0, "");
}

static void write_space(const struct doctor *doctor, char *text, size_t size)
{
    (void)doctor;
    LIMIT(RLIMIT_AS, 10, " KiB");
}

static void write_data(const struct doctor *doctor, char *text, size_t size)
{
    (void)doctor;
    LIMIT(RLIMIT_DATA, 10, " KiB");
}

static void write_mappings(const struct doctor *doctor, char *text, size_t size)
{
    if (evidence_read(doctor, "/proc/sys/vm/max_map_count", text, size))
        text[strcspn(text, "\n")] = '\0';
}

static void write_open_files(const struct doctor *doctor, char *text, size_t size)
{
    int count = open_files_count();
    (void)doctor;
    if (count > 0)
        snprintf(text, size, "%d", count);
    else
        snprintf(text, size, "an unknown number");
}

/* The limit of processes of the control group, of version 2 or 1. */
static void write_pids(const struct doctor *doctor, char *text, size_t size)
{
    char groups[2048], path[512];
    if (!evidence_read(doctor, "/proc/self/cgroup", groups, sizeof groups))
        return;
    static const struct {
        const char *label, *directory;
    } versions[] = {{"0::", "/sys/fs/cgroup"}, {":pids:", "/sys/fs/cgroup/pids"}};
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        const char *line = strstr(groups, versions[i].label);
        if (line == NULL)
            continue;
        line += strlen(versions[i].label);
        snprintf(path, sizeof path, "%s%.*s/pids.max", versions[i].directory, (int)strcspn(line, "\n"), line);
        char value[32];
        if (evidence_read(doctor, path, value, sizeof value)) {
            value[strcspn(value, "\n")] = '\0';
            snprintf(text, size, ", and %s for its control group", strcmp(value, "max") == 0 ? "unlimited" : value);
        }
    }
}

/* ---- The driver, the GPU and the files ---- */

static void write_library(const struct doctor *doctor, char *text, size_t size)
{
    snprintf(text, size, "%s", known(doctor->load->path));
}

static void write_library_version(const struct doctor *doctor, char *text, size_t size)
{
    snprintf(text, size, "%s", known(doctor->release.text));
}

static void write_module(const struct doctor *doctor, char *text, size_t size)
{
    snprintf(text, size, "%s", known(doctor->system.kernel_module));
}

static void write_kernel(const struct doctor *doctor, char *text, size_t size)
{
    if (evidence_read(doctor, "/proc/sys/kernel/osrelease", text, size))
        text[strcspn(text, "\n")] = '\0';
}

static void write_bound(const struct doctor *doctor, char *text, size_t size)
{
    const char *driver = doctor->bus.count > 0 ? doctor->bus.gpus[0].driver : "";
    snprintf(text, size, "%s", driver[0] != '\0' ? driver : "nouveau");
}

static void write_device(const struct doctor *doctor, char *text, size_t size)
{
    if (doctor->bus.count > 0)
        snprintf(text, size, "PCI device %s, id 10de:%04x", doctor->bus.gpus[0].address, doctor->bus.gpus[0].device);
    else
        snprintf(text, size, "not visible on the PCI bus");
}

static void write_mps(const struct doctor *doctor, char *text, size_t size)
{
    const char *directory = getenv("CUDA_MPS_PIPE_DIRECTORY");
    (void)doctor;
    bool is_set = directory != NULL && directory[0] != '\0';
    snprintf(text, size, "%s%s", is_set ? directory : "/tmp/nvidia-mps",
             is_set ? " (CUDA_MPS_PIPE_DIRECTORY)" : ", the default");
}

static void write_visible(const struct doctor *doctor, char *text, size_t size)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    (void)doctor;
    snprintf(text, size, "%s", visible != NULL ? visible : "");
}

static void write_visible_fault(const struct doctor *doctor, char *text, size_t size)
{
    (void)visible_explain(doctor, text, size);
}

/* Owner, group and mode of the file of the operation. */
static void write_node(const struct doctor *doctor, char *text, size_t size)
{
#if !defined(_WIN32)
    char whole[OS_PATH_SIZE], numbers[2][24];
    struct stat status;
    if (doctor->operation != NULL && cush_os_path_below(doctor->root, doctor->operation->path, whole, sizeof whole)
        && stat(whole, &status) == 0) {
        const struct passwd *user = getpwuid(status.st_uid);
        const struct group *group = getgrgid(status.st_gid);
        snprintf(numbers[0], sizeof numbers[0], "%u", (unsigned)status.st_uid);
        snprintf(numbers[1], sizeof numbers[1], "%u", (unsigned)status.st_gid);
        snprintf(text, size, "it belongs to user %s and group %s, with mode %04o",
                 user != NULL ? user->pw_name : numbers[0], group != NULL ? group->gr_name : numbers[1],
                 (unsigned)status.st_mode & 07777);
        return;
    }
#endif
    snprintf(text, size, "its owner and mode are unknown");
    (void)doctor;
}

static void write_wrong_node(const struct doctor *doctor, char *text, size_t size)
{
    char number[96];
    (void)wrong_node_find(doctor, text, size, number, sizeof number);
}

static void write_number(const struct doctor *doctor, char *text, size_t size)
{
    char path[32];
    (void)wrong_node_find(doctor, path, sizeof path, text, size);
}

static void write_candidate(const struct doctor *doctor, char *text, size_t size)
{
    const struct operation *candidate = candidate_find(doctor);
    char phrase[256];
    if (candidate == NULL)
        return;
    operation_phrase(candidate, phrase, sizeof phrase);
    snprintf(text, size, "%s fails (%s, %s)", phrase, calls_error_name(candidate->error), strerror(candidate->error));
}

/* The same as a sentence. */
static void write_refused(const struct doctor *doctor, char *text, size_t size)
{
    char candidate[384] = "";
    write_candidate(doctor, candidate, sizeof candidate);
    if (candidate[0] != '\0')
        snprintf(text, size, " Driver 580 starts although %s; another version may need it.", candidate);
}

static void append(char *text, size_t size, const char *more)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used > 0 ? "; " : "", more);
}

/* What is known not to be the cause. */
static void write_ruled_out(const struct doctor *doctor, char *text, size_t size)
{
    char part[160];
    if (doctor->watched && candidate_find(doctor) == NULL) {
        snprintf(part, sizeof part, "a refusal by the system (none of %lu system calls)",
                 doctor->watch.operations.calls);
        append(text, size, part);
    }
    if (doctor->trials->control_opened && doctor->trials->uvm_opened && doctor->trials->gpus_opened > 0)
        append(text, size, "the device files, which can be opened");
    if (doctor->release.text[0] != '\0' && strcmp(doctor->release.text, doctor->system.kernel_module) == 0)
        append(text, size, "the versions of library and kernel module, which are equal");
    if (!evidence_visible_devices(doctor))
        append(text, size, "CUDA_VISIBLE_DEVICES");
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
#define FACT(name) {#name, write_##name}
        FACT(call),       FACT(last_call),
        FACT(signal),     FACT(seconds),
        FACT(state),      FACT(gpu),
        FACT(memory),     FACT(path),
        FACT(error),      FACT(operation),
        FACT(preload),    FACT(intercepted),
        FACT(seccomp),    FACT(files),
        FACT(space),      FACT(confinement),
        FACT(data),       FACT(processes),
        FACT(pids),       FACT(mappings),
        FACT(library),    FACT(library_version),
        FACT(module),     FACT(open_files),
        FACT(kernel),     FACT(bound),
        FACT(device),     FACT(mps),
        FACT(visible),    FACT(visible_fault),
        FACT(ruled_out),  FACT(node),
        FACT(wrong_node), FACT(candidate),
        FACT(refused),    FACT(cpu),
        FACT(stack),      FACT(before),
        FACT(killer),     FACT(number),
        FACT(variables),
#undef FACT
    };
    text[0] = '\0';
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        if (strcmp(facts[i].name, name) == 0)
            facts[i].write(doctor, text, size);
    }
}
