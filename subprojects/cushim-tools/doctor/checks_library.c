/* SPDX-License-Identifier: MIT */
/* The checks of the options, the variables and the driver library. */
#include "doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "in_child.h"

/* Returns the first attempt that failed for a reason, or NULL. */
static const struct cushim_attempt *find_attempt(const struct doctor *doctor, enum cushim_reason reason)
{
    for (size_t i = 0; i < doctor->load->attempt_count; i++) {
        if (doctor->load->attempts[i].reason == reason)
            return &doctor->load->attempts[i];
    }
    return NULL;
}

/* Whether a setting is the reason for which there is no driver. */
static bool is_setting(enum cushim_reason reason)
{
    return reason == CUSHIM_REASON_NOT_WANTED || reason == CUSHIM_REASON_BAD_OPTION
           || reason == CUSHIM_REASON_BAD_LAYER;
}

static void check_settings(struct doctor *doctor)
{
    const struct cushim_diagnosis *load = doctor->load;
    if (is_setting(load->reason)) {
        doctor_find(doctor, "settings", VERDICT_CAUSE, "%s", load->message);
        doctor_advise(doctor, "%s", load->advice);
        return;
    }
    for (size_t i = 0; i < load->variable_count; i++) {
        const struct cushim_variable *variable = &load->variables[i];
        doctor_find(doctor, "settings", VERDICT_NOTE, "%s is set to \"%s\"%s.", variable->name, variable->value,
                    variable->is_used ? "" : ", and is not used");
        if (variable->is_used)
            doctor_advise(doctor, "Unset it unless cushim should behave as another driver.");
    }
}

/* Whether a file exists, but cannot be used. */
static bool is_broken(enum cushim_reason reason)
{
    return reason == CUSHIM_REASON_NOT_LOADABLE || reason == CUSHIM_REASON_NOT_A_DRIVER
           || reason == CUSHIM_REASON_UNREADABLE || reason == CUSHIM_REASON_NEEDS_LIBRARY
           || reason == CUSHIM_REASON_DAMAGED || reason == CUSHIM_REASON_EXECUTABLE_STACK;
}

static void report_loaded(struct doctor *doctor)
{
    const struct cushim_diagnosis *load = doctor->load;
    doctor_find(doctor, "library", VERDICT_OK, "%s is %s.", load->path != NULL ? load->path : "The library",
                driver_name().text);
    for (size_t i = 0; i < load->attempt_count; i++) {
        const struct cushim_attempt *attempt = &load->attempts[i];
        if (!is_broken(attempt->reason))
            continue;
        doctor_find(doctor, "library", VERDICT_NOTE, "%s was skipped: %s.", attempt->path, attempt->result);
        doctor_advise(doctor, "That file can make other programs fail. Remove it if nothing needs it.");
    }
}

/* Another version of the library would not start with this module. */
static void report_module_without_library(struct doctor *doctor)
{
    const char *module = doctor->system.kernel_module;
    doctor_find(doctor, "library", VERDICT_CAUSE,
                "Driver %s is loaded, but its library is not installed.\nThe kernel module is loaded, and no directory "
                "has libcuda.so.1.",
                module);
    doctor_advise(doctor,
                  "Install the package of the library in version %s: libcuda1 (Debian), libnvidia-compute-%d (Ubuntu), "
                  "xorg-x11-drv-nvidia-cuda (Fedora), nvidia-utils (Arch). Or update the whole driver and restart the "
                  "machine. With another version than the module, CUDA fails with error 803. The driver for hosts of "
                  "virtual GPUs has no such library.",
                  module, atoi(module));
}

static void advise_on_library(struct doctor *doctor)
{
    if (doctor->load->reason == CUSHIM_REASON_NOT_FOUND && doctor->system.has_gpu_on_bus
        && !doctor->system.is_container)
        doctor_advise(doctor,
                      "Install NVIDIA's driver with the package manager of your system: there is an NVIDIA GPU.");
    else
        doctor_advise(doctor, "%s", doctor->load->advice);
}

/* Whether the dynamic loader could not map the library. */
static bool is_about_memory(const struct cushim_attempt *attempt)
{
    static const char *const words[] = {"cannot map",      "failed to map", "cannot allocate",
                                        "Cannot allocate", "Out of memory", "Operation not permitted"}; /* of musl */
    bool is_about_memory = false;
    for (size_t i = 0; attempt != NULL && i < sizeof words / sizeof words[0]; i++)
        is_about_memory |= strstr(attempt->result, words[i]) != NULL;
    return is_about_memory;
}

static void report_unmapped(struct doctor *doctor, const struct cushim_attempt *attempt)
{
    if (evidence_limit_of_data(doctor) || evidence_limit_of_address_space(doctor)) {
        doctor_find(doctor, "limits", VERDICT_CAUSE,
                    "A limit of memory (RLIMIT_DATA or RLIMIT_AS) is too low.\nThe dynamic loader cannot load the "
                    "driver library "
                    "(%s).",
                    attempt->result);
        doctor_advise(doctor, "Remove the limit: \"ulimit -d unlimited\" and \"ulimit -v unlimited\" in the shell, "
                              "LimitDATA=infinity and LimitAS=infinity in a systemd service.");
        return;
    }
    doctor_find(doctor, "library", VERDICT_CAUSE,
                "The system does not let the driver library run as a program.\nThe dynamic loader cannot map it (%s: "
                "%s). Either its file system is mounted with noexec, or a sandbox forbids executable memory.",
                attempt->path, attempt->result);
    doctor_advise(doctor,
                  "\"findmnt -T FILE\" shows how the file system of the library is mounted: mount it without "
                  "noexec, or install the driver elsewhere. A systemd service must not have NoExecPaths= for it "
                  "or MemoryDenyWriteExecute=.");
}

/* Nothing could be loaded by its plain name. A library that the dynamic loader does not accept explains this better
 * than the machine does. The dynamic loader itself does not always name the file. */
static bool report_unusable(struct doctor *doctor)
{
    char fault[1024];
    const struct cushim_diagnosis *load = doctor->load;
    bool is_plain = load->reason == CUSHIM_REASON_NOT_LOADABLE && load == cushim_diagnosis_get() /* not of a child */
                    && load->attempt_count > 0 && strchr(load->attempts[0].path, '/') == NULL;
    if ((!driver_is_absent(load->reason) && !is_plain) || doctor->root[0] != '\0'
        || !load_find_unusable(fault, sizeof fault))
        return false;
    const char *meaning = strstr(fault, "ELFCLASS") == NULL ? ""
                          : sizeof(void *) == 8             ? ", which means a 32-bit file"
                                                            : ", which means a 64-bit file";
    doctor_find(doctor, "library", VERDICT_LEAD,
                "No driver library can be used.\nThe dynamic loader does not accept %s%s.", fault, meaning);
    doctor_advise(doctor,
                  "If the file belongs to the driver of this machine, correct its permissions or install the "
                  "driver again, for the processor of this program and, like it, %d-bit. Otherwise remove the "
                  "file, or its directory from LD_LIBRARY_PATH.",
                  (int)sizeof(void *) * 8);
    return true;
}

/* What an image keeps of the files that NVIDIA's runtime puts into a container: they are empty. */
static bool report_empty(struct doctor *doctor)
{
    struct stat status;
    for (size_t i = 0; i < doctor->load->attempt_count && doctor->system.is_container; i++) {
        const char *path = doctor->load->attempts[i].path;
        if (strchr(path, '/') == NULL || stat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size != 0)
            continue;
        doctor_find(
            doctor, "library", VERDICT_LEAD,
            "The driver library of this image is an empty file.\n%s has 0 bytes. An image keeps such files if it "
            "is built with NVIDIA's runtime, which puts the driver into containers.",
            path);
        doctor_advise(doctor, "Start the container with GPU access (for Docker: --gpus all), or build the image with "
                              "runc. The driver of the host is not concerned.");
        return true;
    }
    return false;
}

/* The programs of an image of musl cannot use the driver that is in it; on a machine itself, the library says so. */
static bool report_other_libc(struct doctor *doctor)
{
    static const char *const loaders[] = {"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"};
    char path[OS_PATH_SIZE];
    bool is_musl = doctor->root[0] != '\0' && cush_os_path_below(doctor->root, "/etc/alpine-release", path, sizeof path)
                   && platform_exists(path);
    for (size_t i = 0; i < sizeof loaders / sizeof loaders[0]; i++)
        is_musl = is_musl && cush_os_path_below(doctor->root, loaders[i], path, sizeof path) && !platform_exists(path);
    if (!is_musl)
        return false;
    doctor_find(
        doctor, "library", VERDICT_LEAD,
        "Programs of this image cannot open the driver: it needs glibc.\nThe driver is %s, and the C library of "
        "the image is musl (Alpine Linux).",
        doctor->load->path);
    doctor_advise(doctor, "Use an image with glibc, such as one of Debian, Ubuntu or Wolfi.");
    return true;
}

static void check_library(struct doctor *doctor)
{
    enum cushim_reason reason = doctor->load->reason;
    bool is_plain_linux = !doctor->system.is_container && !doctor->is_wsl && !doctor->is_jetson && !doctor->is_nixos
                          && !doctor->is_flatpak;
    const struct cushim_attempt *refused = find_attempt(doctor, CUSHIM_REASON_NOT_LOADABLE);
    if (doctor->loaded && report_other_libc(doctor)) {
        return;
    } else if (doctor->loaded || reason == CUSHIM_REASON_TOO_OLD) {
        report_loaded(doctor);
    } else if (is_setting(reason) || reason == CUSHIM_REASON_STUB) {
        doctor_find(doctor, "library", VERDICT_NOTE, "No driver library was loaded.");
    } else if (driver_is_absent(reason) && doctor->certain == CUSHIM_REASON_NO_GPU) {
        doctor_find(doctor, "library", VERDICT_NOTE,
                    "This machine has no NVIDIA driver library, as expected without a GPU.");
    } else if (report_empty(doctor)) {
        return;
    } else if (is_about_memory(refused)) {
        report_unmapped(doctor, refused);
    } else if (report_unusable(doctor)) {
        return;
    } else if (reason == CUSHIM_REASON_NOT_FOUND && doctor->system.kernel_module[0] != '\0' && is_plain_linux) {
        report_module_without_library(doctor);
    } else {
        /* An unusable file is a cause. That nothing was found has other causes, unless nothing else is known. */
        bool is_cause = !driver_is_absent(reason)
                        || (is_plain_linux && doctor->system.has_gpu_on_bus && doctor->certain == CUSHIM_REASON_NONE);
        enum verdict verdict = is_cause ? VERDICT_CAUSE : VERDICT_PROBLEM;
        const char *message = doctor->load->message;
        const char *path = strstr(message, " (/"); /* what the headline has no room for */
        if (path != NULL)
            doctor_find(doctor, "library", verdict, "%.*s.\n%s", (int)(path - message), message, message);
        else
            doctor_find(doctor, "library", verdict, "%s", message);
        advise_on_library(doctor);
    }
}

static void check_stub(struct doctor *doctor)
{
    const struct cushim_attempt *attempt = find_attempt(doctor, CUSHIM_REASON_STUB);
    if (attempt == NULL)
        return;
    const char *file = attempt->file != NULL ? attempt->file : attempt->path;
    bool is_cause = doctor->load->reason == CUSHIM_REASON_STUB;
    if (!is_cause && strchr(attempt->path, '/') == NULL) {
        doctor_find(doctor, "stub", VERDICT_PROBLEM,
                    "Programs that open %s by its name get the Toolkit's stub.\nThe stub library %s is for linking: "
                    "it returns CUDA error 34. Programs that use cushim are not affected, because cushim skips it.",
                    attempt->path, file);
        doctor->findings[doctor->count - 1].verdict = VERDICT_PROBLEM; /* also beside a driver that starts */
    } else {
        bool is_link = strcmp(attempt->path, file) != 0;
        doctor_find(doctor, "stub", is_cause ? VERDICT_CAUSE : VERDICT_NOTE,
                    "%s\n%s%s%s, which is for linking and cannot run programs.",
                    is_cause ? "The stub library of the CUDA Toolkit stands in for the driver."
                             : "The stub library of the CUDA Toolkit was skipped.",
                    attempt->path, is_link ? " leads to " : " is that stub", is_link ? file : "");
    }
    doctor_advise(doctor,
                  "%sRemove the \"stubs\" directory of the Toolkit from LD_LIBRARY_PATH and /etc/ld.so.conf.d. It "
                  "belongs only on the command line of the linker.",
                  is_cause ? "If NVIDIA's driver is not installed, install it. " : "");
}

static void check_compat(struct doctor *doctor)
{
    if (!doctor->is_compat)
        return;
    doctor_find(
        doctor, "compat", VERDICT_NOTE,
        "The driver library belongs to the cuda-compat package, which gives an older driver newer functions: %s.",
        doctor->load->path);
    doctor_advise(
        doctor, "Remove its directory from LD_LIBRARY_PATH and /etc/ld.so.conf.d if the installed driver is new enough "
                "by now.");
}

/* What stands between programs and the driver. If the driver does not start, its result can come from there. */
void doctor_check_preload(struct doctor *doctor)
{
    static const char check[] = "preload";
    const struct preloaded *list;
    char owner[PLATFORM_PATH_SIZE] = "";
    size_t count = preload_list(doctor->options->load.root, &list);
    bool has_failed = doctor->start->outcome == START_FAILED && doctor->start->step == START_INIT;
    if (has_failed && count > 0 && preload_has_cuinit(owner, sizeof owner)) {
        doctor_find(doctor, check, VERDICT_LEAD,
                    "cuInit is that of %s, and not of the driver.\nIt returns code %d, %s. The object is %s.",
                    path_name(owner), (int)doctor->start->code, driver_code_name(doctor->start->code), owner);
        doctor_advise(doctor, "Try without it: remove it from LD_PRELOAD or /etc/ld.so.preload. If it limits the GPU, "
                              "its settings and its own messages say why it refuses.");
    }
    for (size_t i = 0; i < count; i++) {
        if (list[i].error != 0) {
            doctor_find(doctor, check, VERDICT_NOTE, "%s is named by %s and cannot be read (%s).", list[i].path,
                        list[i].through, strerror(list[i].error));
            doctor_advise(doctor, "It may change what programs get from the driver.");
        } else {
            doctor_find(
                doctor, check, VERDICT_NOTE,
                "%s is loaded before every other library (%s), and defines functions of the driver, such as %s.",
                list[i].path, list[i].through, list[i].function);
            doctor_advise(doctor, "What programs get from these functions comes from it.");
        }
    }
}

void doctor_check_library(struct doctor *doctor)
{
    check_settings(doctor);
    check_library(doctor);
    check_stub(doctor);
    check_compat(doctor);
}
