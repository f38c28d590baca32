/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void doctor_find(struct doctor *doctor, const char *check, enum verdict verdict, const char *message, ...)
{
    struct finding *finding = &doctor->findings[doctor->count < MOST_FINDINGS ? doctor->count++ : MOST_FINDINGS - 1];
    finding->check = check;
    finding->verdict = verdict <= VERDICT_PROBLEM && doctor->started ? VERDICT_NOTE : verdict;
    finding->advice[0] = '\0';
    va_list arguments;
    va_start(arguments, message);
    vsnprintf(finding->message, sizeof finding->message, message, arguments);
    va_end(arguments);
}

void doctor_advise(struct doctor *doctor, const char *advice, ...)
{
    struct finding *finding = &doctor->findings[doctor->count - 1];
    va_list arguments;
    va_start(arguments, advice);
    vsnprintf(finding->advice, sizeof finding->advice, advice, arguments);
    va_end(arguments);
}

/* The control node does not count: a driver creates it even without a GPU. */
static bool has_no_gpu(const struct doctor *doctor)
{
    return doctor->sees_bus && !doctor->system.gpu_on_bus && doctor->system.gpu_node == CUSHIM_NODE_ABSENT
           && !doctor->is_wsl && !doctor->is_jetson;
}

/* ---- Options, variables and the library ---- */

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
                    variable->used ? "" : ", and is not used");
        if (variable->used)
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

static void advise_on_library(struct doctor *doctor)
{
    if (doctor->load->reason == CUSHIM_REASON_NOT_FOUND && doctor->system.gpu_on_bus && !doctor->system.container)
        doctor_advise(doctor,
                      "Install NVIDIA's driver with the package manager of your system: there is an NVIDIA GPU.");
    else
        doctor_advise(doctor, "%s", doctor->load->advice);
}

static void check_library(struct doctor *doctor)
{
    enum cushim_reason reason = doctor->load->reason;
    if (doctor->loaded || reason == CUSHIM_REASON_TOO_OLD) {
        report_loaded(doctor);
    } else if (is_setting(reason) || reason == CUSHIM_REASON_STUB) {
        doctor_find(doctor, "library", VERDICT_NOTE, "No driver library was loaded.");
    } else if (reason == CUSHIM_REASON_NOT_FOUND && has_no_gpu(doctor)) {
        doctor_find(doctor, "library", VERDICT_NOTE,
                    "This machine has no NVIDIA driver library, as expected without a GPU.");
    } else {
        /* An unusable file is a cause. That nothing was found has other causes. */
        doctor_find(doctor, "library", reason != CUSHIM_REASON_NOT_FOUND ? VERDICT_CAUSE : VERDICT_PROBLEM, "%s",
                    doctor->load->message);
        advise_on_library(doctor);
    }
}

static void check_stub(struct doctor *doctor)
{
    const struct cushim_attempt *attempt = find_attempt(doctor, CUSHIM_REASON_STUB);
    if (attempt == NULL)
        return;
    bool is_cause = doctor->load->reason == CUSHIM_REASON_STUB;
    doctor_find(doctor, "stub", is_cause ? VERDICT_CAUSE : VERDICT_NOTE,
                "%s leads to the stub library of the CUDA Toolkit (%s), which is for linking and cannot run programs.",
                attempt->path, attempt->file != NULL ? attempt->file : attempt->path);
    doctor_advise(doctor,
                  "%sRemove the \"stubs\" directory of the Toolkit from LD_LIBRARY_PATH and /etc/ld.so.conf.d. It "
                  "belongs only on the command line of the linker.",
                  is_cause ? "If NVIDIA's driver is not installed, install it. " : "");
}

static void check_compat(struct doctor *doctor)
{
    static const char check[] = "compat";
    const char *path = doctor->load->path;
    if (doctor->now->reason == CUSHIM_REASON_COMPAT_REFUSED) {
        doctor_find(doctor, check, VERDICT_CAUSE, "%s", doctor->now->message);
        doctor_advise(doctor, "%s", doctor->now->advice);
    } else if (doctor->is_compat && doctor->now->reason == CUSHIM_REASON_MODULE_MISMATCH) {
        doctor_find(
            doctor, check, VERDICT_CAUSE,
            "The driver library belongs to the cuda-compat package and does not match the driver of this machine: %s.",
            path);
        doctor_advise(doctor,
                      "Remove its directory from LD_LIBRARY_PATH. The installed driver has a library of its own, "
                      "which may be newer by now.");
    } else if (doctor->is_compat) {
        doctor_find(doctor, check, VERDICT_NOTE,
                    "The driver library belongs to the cuda-compat package, which gives an older driver newer "
                    "functions: %s.",
                    path);
        doctor_advise(doctor,
                      "Remove its directory from LD_LIBRARY_PATH if the installed driver is new enough by now.");
    }
}

/* ---- The kernel and the device files ---- */

/* An unpacked image has no kernel and no devices, which is not a problem. */
static bool is_bare_directory(const struct doctor *doctor)
{
    const struct cushim_system *system = &doctor->system;
    return doctor->root[0] != '\0' && !system->container && !doctor->sees_bus && system->kernel_module[0] == '\0'
           && system->control_node == CUSHIM_NODE_ABSENT && system->gpu_node == CUSHIM_NODE_ABSENT;
}

/* Whether a kernel module and a library have the same release. */
static bool is_same_release(const char *one, const char *other)
{
    /* Some files omit a last ".00". */
    size_t length = strlen(one) < strlen(other) ? strlen(one) : strlen(other);
    const char *rest = strlen(one) > length ? one + length : other + length;
    return strncmp(one, other, length) == 0 && (rest[0] == '\0' || strcmp(rest, ".00") == 0);
}

static void report_mismatch(struct doctor *doctor)
{
    doctor_find(doctor, "kernel-module", VERDICT_CAUSE,
                "The versions of the driver library (%s) and of the kernel module (%s) differ.",
                doctor->release.text[0] != '\0' ? doctor->release.text : "unknown",
                doctor->system.kernel_module[0] != '\0' ? doctor->system.kernel_module : "unknown");
    doctor_advise(doctor, "%s", cushim_reason_advice(CUSHIM_REASON_MODULE_MISMATCH));
}

static void report_no_module(struct doctor *doctor)
{
    static const char check[] = "kernel-module";
    if (is_bare_directory(doctor)) {
        doctor_find(doctor, check, VERDICT_NOTE, "This directory has no information about a running kernel.");
    } else if (doctor->nouveau) {
        doctor_find(doctor, check, VERDICT_CAUSE,
                    "The kernel uses its own driver for NVIDIA GPUs (nouveau), which does not support CUDA.");
        doctor_advise(doctor,
                      "Install NVIDIA's driver with the package manager of your system, which disables nouveau, and "
                      "restart the machine.");
    } else if (has_no_gpu(doctor)) {
        doctor_find(doctor, check, VERDICT_NOTE,
                    "The kernel module of the driver is not loaded, as expected without a GPU.");
    } else {
        doctor_find(doctor, check, VERDICT_PROBLEM, "The kernel module of the driver is not loaded.");
        doctor_advise(doctor,
                      "Restart the machine if the driver was just installed, or run \"modprobe nvidia\" as root, "
                      "which reports what is wrong. With Secure Boot, the module must be signed. For a container, do "
                      "this on the host.");
    }
}

static void check_kernel_module(struct doctor *doctor)
{
    const char *module = doctor->system.kernel_module;
    const char *release = doctor->release.text;
    if (doctor->now->reason == CUSHIM_REASON_MODULE_MISMATCH) {
        report_mismatch(doctor);
    } else if (module[0] == '\0') {
        if (platform_has_system_files() && !doctor->is_wsl && !doctor->is_jetson)
            report_no_module(doctor);
    } else if (release[0] == '\0') {
        doctor_find(doctor, "kernel-module", VERDICT_OK, "The kernel module of the driver is loaded, version %s.",
                    module);
    } else if (is_same_release(module, release)) {
        doctor_find(doctor, "kernel-module", VERDICT_OK,
                    "The driver library and the kernel module have the same version, %s.", module);
    } else if (doctor->is_compat) {
        doctor_find(doctor, "kernel-module", VERDICT_NOTE,
                    "The driver library has version %s and runs on a kernel module of version %s.", release, module);
    } else {
        report_mismatch(doctor);
    }
}

static void report_denied(struct doctor *doctor)
{
    const struct cushim_system *system = &doctor->system;
    doctor_find(doctor, "device-nodes", VERDICT_CAUSE, "This user is not permitted to open the device files%s%s%s.",
                system->control_node == CUSHIM_NODE_DENIED ? " /dev/nvidiactl" : "",
                system->gpu_node == CUSHIM_NODE_DENIED ? " /dev/nvidia0" : "",
                system->uvm_node == CUSHIM_NODE_DENIED ? " /dev/nvidia-uvm" : "");
    doctor_advise(doctor, "%s", cushim_reason_advice(CUSHIM_REASON_NODES_DENIED));
}

static void report_absent(struct doctor *doctor)
{
    const struct cushim_system *system = &doctor->system;
    const char *only = system->control_node == CUSHIM_NODE_ABSENT
                           ? ""
                           : " /dev/nvidiactl alone does not show a GPU: the driver creates it.";
    if (is_bare_directory(doctor)) {
        doctor_find(doctor, "device-nodes", VERDICT_NOTE, "This directory has no device files.");
    } else if (has_no_gpu(doctor)) {
        doctor_find(doctor, "device-nodes", VERDICT_NOTE,
                    "There is no device file of a GPU (/dev/nvidia0), as expected without a GPU.%s", only);
    } else {
        bool is_cause = system->kernel_module[0] != '\0' && !system->container;
        doctor_find(doctor, "device-nodes", is_cause ? VERDICT_CAUSE : VERDICT_PROBLEM,
                    "There is no device file of a GPU (/dev/nvidia0).%s", only);
        if (system->container)
            doctor_advise(doctor, "Start the container with GPU access (for Docker: --gpus all).");
        else if (system->kernel_module[0] != '\0')
            doctor_advise(doctor, "Run nvidia-smi once as root, which creates the files.");
        else
            doctor_advise(doctor, "%s", cushim_reason_advice(CUSHIM_REASON_NO_DEVICE_NODES));
    }
}

static void check_device_nodes(struct doctor *doctor)
{
    const struct cushim_system *system = &doctor->system;
    if (doctor->is_wsl || !platform_has_system_files())
        return;
    if (system->control_node == CUSHIM_NODE_DENIED || system->gpu_node == CUSHIM_NODE_DENIED
        || system->uvm_node == CUSHIM_NODE_DENIED) {
        report_denied(doctor);
    } else if (system->gpu_node == CUSHIM_NODE_ABSENT || system->control_node == CUSHIM_NODE_ABSENT) {
        if (!doctor->is_jetson)
            report_absent(doctor);
    } else if (system->uvm_node == CUSHIM_NODE_ABSENT) {
        doctor_find(doctor, "device-nodes", VERDICT_NOTE,
                    "/dev/nvidia-uvm does not exist. It is created when CUDA is first used.");
        doctor_advise(doctor, "If CUDA does not start, run \"nvidia-modprobe -u\" as root.");
    } else {
        doctor_find(doctor, "device-nodes", VERDICT_OK, "The device files of %d GPU%s exist and can be opened.",
                    system->gpu_node_count, system->gpu_node_count == 1 ? "" : "s");
    }
}

void doctor_check_driver(struct doctor *doctor)
{
    check_settings(doctor);
    check_library(doctor);
    check_stub(doctor);
    check_compat(doctor);
    check_kernel_module(doctor);
    check_device_nodes(doctor);
}

/* ---- The start of the driver ---- */

/* Whether a value hides every GPU on any machine: an empty list, or a first entry that cannot name a GPU. */
static bool hides_all(const char *visible)
{
    return visible[0] == '\0' || visible[0] == '-' || strcmp(visible, "NoDevFiles") == 0;
}

static void check_visible_devices(struct doctor *doctor)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (visible == NULL || doctor->root[0] != '\0')
        return;
    bool is_cause = doctor->now->reason == CUSHIM_REASON_HIDDEN;
    if (is_cause || hides_all(visible)) {
        doctor_find(doctor, "visible-devices", is_cause ? VERDICT_CAUSE : VERDICT_PROBLEM,
                    "CUDA_VISIBLE_DEVICES is set to \"%s\", which hides every GPU.", visible);
        doctor_advise(doctor, "%s", cushim_reason_advice(CUSHIM_REASON_HIDDEN));
    } else {
        doctor_find(doctor, "visible-devices", VERDICT_NOTE,
                    "CUDA_VISIBLE_DEVICES is set to \"%s\". Programs see only those GPUs.", visible);
        doctor_advise(doctor, "Unset it to use all GPUs.");
    }
}

static void check_version(struct doctor *doctor)
{
    const char *message = doctor->load->message, *advice = doctor->load->advice;
    struct requirement requirement;
    if (doctor->load->reason != CUSHIM_REASON_TOO_OLD) {
        if (!doctor->loaded || doctor->options->required_version == 0)
            return;
        requirement = requirement_check(doctor->options);
        message = requirement.message;
        advice = requirement.advice;
        if (requirement.met) {
            doctor_find(doctor, "version", VERDICT_OK, "The driver supports CUDA %s.",
                        text_version(doctor->options->required_version).text);
            return;
        }
    }
    doctor_find(doctor, "version", VERDICT_PROBLEM, "%s", message);
    doctor_advise(doctor, "%s", advice);
    doctor->findings[doctor->count - 1].verdict = VERDICT_PROBLEM; /* a driver that starts can be too old */
}

static void check_gpu(struct doctor *doctor)
{
    if (doctor->system.gpu_on_bus) {
        doctor_find(doctor, "gpu", VERDICT_OK, "This machine has an NVIDIA GPU.");
    } else if (has_no_gpu(doctor)) {
        doctor_find(doctor, "gpu", VERDICT_CAUSE, "No NVIDIA GPU was found on this machine.");
        doctor_advise(doctor,
                      "If the machine has one, check that it is seated and powered; in a virtual machine, check that "
                      "it is passed through. Otherwise use programs that do not need a GPU.");
    }
}

static bool has_problem(const struct doctor *doctor)
{
    for (size_t i = 0; i < doctor->count; i++) {
        if (doctor->findings[i].verdict <= VERDICT_PROBLEM)
            return true;
    }
    return false;
}

static void report_started(struct doctor *doctor)
{
    char names[512] = "";
    int count = driver_device_count();
    for (int i = 0; i < count; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i == 0 ? "" : ", ", devices_name(i).text);
    }
    doctor_find(doctor, "start", VERDICT_OK, "The driver starts and reports %d GPU%s: %s.", count,
                count == 1 ? "" : "s", names);
}

static void check_start(struct doctor *doctor)
{
    if (!doctor->tried_to_start) {
        if (doctor->loaded)
            doctor_find(doctor, "start", VERDICT_NOTE, "The driver was not started, because --root was given.");
        return;
    }
    if (doctor->started) {
        report_started(doctor);
        return;
    }
    bool explained = has_problem(doctor);
    if (doctor->start_code == CUDA_SUCCESS)
        doctor_find(doctor, "start", VERDICT_PROBLEM, "The driver starts, but reports no GPU.");
    else
        doctor_find(doctor, "start", VERDICT_PROBLEM, "The driver does not start (code %d, %s).%s%s%s",
                    (int)doctor->start_code, driver_code_name(doctor->start_code), explained ? "" : " ",
                    explained ? "" : doctor->now->message, doctor->start_words.text);
    doctor_advise(doctor, "%s",
                  explained                            ? "Correct the other problems first."
                  : doctor->start_code == CUDA_SUCCESS ? cushim_reason_advice(CUSHIM_REASON_NO_DEVICE)
                                                       : doctor->now->advice);
}

void doctor_check_start(struct doctor *doctor)
{
    check_visible_devices(doctor);
    check_version(doctor);
    check_gpu(doctor);
    check_start(doctor);
}
