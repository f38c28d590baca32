/* SPDX-License-Identifier: MIT */
#include "checks_system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices.h"
#include "platform.h"

/* An unpacked image has no kernel and no devices, which is not a problem. */
static bool is_bare_directory(const struct evidence *evidence)
{
    const struct cushim_system *system = &evidence->system;
    return evidence->root[0] != '\0' && !system->container && !evidence->sees_bus && system->kernel_module[0] == '\0'
           && system->control_node == CUSHIM_NODE_ABSENT && system->gpu_node == CUSHIM_NODE_ABSENT;
}

/* The PCI bus has no GPU, and neither have the device files. The control node does not count: a driver creates it even
 * without a GPU. */
static bool has_no_gpu(const struct evidence *evidence)
{
    return evidence->sees_bus && !evidence->system.gpu_on_bus && evidence->system.gpu_node == CUSHIM_NODE_ABSENT
           && !evidence->is_wsl && !evidence->is_jetson;
}

void check_gpu(const struct evidence *evidence, struct findings *findings)
{
    if (evidence->system.gpu_on_bus) {
        finding_add(findings, evidence, "gpu", VERDICT_OK, "This machine has an NVIDIA GPU.");
    } else if (has_no_gpu(evidence)) {
        finding_add(findings, evidence, "gpu", VERDICT_PROBLEM, "No NVIDIA GPU was found on this machine.")->is_cause =
            true;
        finding_advise(findings,
                       "If the machine has one, check that it is seated and powered; in a virtual machine, check that "
                       "it is passed through. Otherwise use programs that do not need a GPU.");
    }
}

static void report_mismatch(const struct evidence *evidence, struct findings *findings)
{
    finding_add(findings, evidence, "kernel-module", VERDICT_PROBLEM,
                "The versions of the driver library (%s) and of the kernel module (%s) differ.",
                evidence->release.text[0] != '\0' ? evidence->release.text : "unknown",
                evidence->system.kernel_module[0] != '\0' ? evidence->system.kernel_module : "unknown")
        ->is_cause = true;
    finding_advise(findings, "%s", cushim_reason_advice(CUSHIM_REASON_MODULE_MISMATCH));
}

static void report_no_module(const struct evidence *evidence, struct findings *findings)
{
    static const char check[] = "kernel-module";
    if (is_bare_directory(evidence)) {
        finding_add(findings, evidence, check, VERDICT_NOTE,
                    "This directory has no information about a running kernel.");
    } else if (evidence->nouveau) {
        finding_add(findings, evidence, check, VERDICT_PROBLEM,
                    "The kernel uses its own driver for NVIDIA GPUs (nouveau), which does not support CUDA.")
            ->is_cause = true;
        finding_advise(findings,
                       "Install NVIDIA's driver with the package manager of your system, which disables nouveau, and "
                       "restart the machine.");
    } else if (has_no_gpu(evidence)) {
        finding_add(findings, evidence, check, VERDICT_NOTE,
                    "The kernel module of the driver is not loaded, as expected without a GPU.");
    } else {
        finding_add(findings, evidence, check, VERDICT_PROBLEM, "The kernel module of the driver is not loaded.");
        finding_advise(findings,
                       "Restart the machine if the driver was just installed, or run \"modprobe nvidia\" as root, "
                       "which reports what is wrong. With Secure Boot, the module must be signed. For a container, do "
                       "this on the host.");
    }
}

void check_kernel_module(const struct evidence *evidence, struct findings *findings)
{
    const char *module = evidence->system.kernel_module;
    const char *release = evidence->release.text;
    if (evidence->now->reason == CUSHIM_REASON_MODULE_MISMATCH) {
        report_mismatch(evidence, findings);
    } else if (module[0] == '\0') {
        if (platform_has_system_files() && !evidence->is_wsl && !evidence->is_jetson)
            report_no_module(evidence, findings);
    } else if (release[0] == '\0') {
        finding_add(findings, evidence, "kernel-module", VERDICT_OK,
                    "The kernel module of the driver is loaded, version %s.", module);
    } else if (driver_same_release(module, release)) {
        finding_add(findings, evidence, "kernel-module", VERDICT_OK,
                    "The driver library and the kernel module have the same version, %s.", module);
    } else if (evidence->is_compat) {
        finding_add(findings, evidence, "kernel-module", VERDICT_NOTE,
                    "The driver library has version %s and runs on a kernel module of version %s.", release, module);
    } else {
        report_mismatch(evidence, findings);
    }
}

static void report_denied(const struct evidence *evidence, struct findings *findings)
{
    const struct cushim_system *system = &evidence->system;
    finding_add(findings, evidence, "device-nodes", VERDICT_PROBLEM,
                "This user is not permitted to open the device files%s%s%s.",
                system->control_node == CUSHIM_NODE_DENIED ? " /dev/nvidiactl" : "",
                system->gpu_node == CUSHIM_NODE_DENIED ? " /dev/nvidia0" : "",
                system->uvm_node == CUSHIM_NODE_DENIED ? " /dev/nvidia-uvm" : "")
        ->is_cause = true;
    finding_advise(findings, "%s", cushim_reason_advice(CUSHIM_REASON_NODES_DENIED));
}

static void report_absent(const struct evidence *evidence, struct findings *findings)
{
    const struct cushim_system *system = &evidence->system;
    const char *only = system->control_node == CUSHIM_NODE_ABSENT
                           ? ""
                           : " /dev/nvidiactl alone does not show a GPU: the driver creates it.";
    if (is_bare_directory(evidence)) {
        finding_add(findings, evidence, "device-nodes", VERDICT_NOTE, "This directory has no device files.");
    } else if (has_no_gpu(evidence)) {
        finding_add(findings, evidence, "device-nodes", VERDICT_NOTE,
                    "There is no device file of a GPU (/dev/nvidia0), as expected without a GPU.%s", only);
    } else {
        finding_add(findings, evidence, "device-nodes", VERDICT_PROBLEM,
                    "There is no device file of a GPU (/dev/nvidia0).%s", only)
            ->is_cause = system->kernel_module[0] != '\0' && !system->container;
        if (system->container)
            finding_advise(findings, "Start the container with GPU access (for Docker: --gpus all).");
        else if (system->kernel_module[0] != '\0')
            finding_advise(findings, "Run nvidia-smi once as root, which creates the files.");
        else
            finding_advise(findings, "%s", cushim_reason_advice(CUSHIM_REASON_NO_DEVICE_NODES));
    }
}

void check_device_nodes(const struct evidence *evidence, struct findings *findings)
{
    const struct cushim_system *system = &evidence->system;
    if (evidence->is_wsl || !platform_has_system_files())
        return;
    if (system->control_node == CUSHIM_NODE_DENIED || system->gpu_node == CUSHIM_NODE_DENIED
        || system->uvm_node == CUSHIM_NODE_DENIED) {
        report_denied(evidence, findings);
    } else if (system->gpu_node == CUSHIM_NODE_ABSENT || system->control_node == CUSHIM_NODE_ABSENT) {
        if (!evidence->is_jetson)
            report_absent(evidence, findings);
    } else if (system->uvm_node == CUSHIM_NODE_ABSENT) {
        finding_add(findings, evidence, "device-nodes", VERDICT_NOTE,
                    "/dev/nvidia-uvm does not exist. It is created when CUDA is first used.");
        finding_advise(findings, "If CUDA does not start, run \"nvidia-modprobe -u\" as root.");
    } else {
        finding_add(findings, evidence, "device-nodes", VERDICT_OK,
                    "The device files of %d GPU%s exist and can be opened.", system->gpu_node_count,
                    system->gpu_node_count == 1 ? "" : "s");
    }
}

/* Whether a value hides every GPU on any machine: an empty list, or a first entry that cannot name a GPU. */
static bool hides_all(const char *visible)
{
    return visible[0] == '\0' || visible[0] == '-' || strcmp(visible, "NoDevFiles") == 0;
}

void check_visible_devices(const struct evidence *evidence, struct findings *findings)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (visible == NULL || evidence->root[0] != '\0')
        return;
    bool is_cause = evidence->now->reason == CUSHIM_REASON_HIDDEN;
    if (is_cause || hides_all(visible)) {
        finding_add(findings, evidence, "visible-devices", VERDICT_PROBLEM,
                    "CUDA_VISIBLE_DEVICES is set to \"%s\", which hides every GPU.", visible)
            ->is_cause = is_cause;
        finding_advise(findings, "%s", cushim_reason_advice(CUSHIM_REASON_HIDDEN));
    } else {
        finding_add(findings, evidence, "visible-devices", VERDICT_NOTE,
                    "CUDA_VISIBLE_DEVICES is set to \"%s\". Programs see only those GPUs.", visible);
        finding_advise(findings, "Unset it to use all GPUs.");
    }
}

static bool has_problem(const struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        if (findings->list[i].verdict == VERDICT_PROBLEM)
            return true;
    }
    return false;
}

static void report_started(const struct evidence *evidence, struct findings *findings)
{
    char names[512] = "";
    int count = devices_count();
    for (int i = 0; i < count; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i == 0 ? "" : ", ", devices_name(i).text);
    }
    finding_add(findings, evidence, "start", VERDICT_OK, "The driver starts and reports %d GPU%s: %s.", count,
                count == 1 ? "" : "s", names);
}

void check_start(const struct evidence *evidence, struct findings *findings)
{
    if (!evidence->tried_to_start) {
        if (evidence->loaded)
            finding_add(findings, evidence, "start", VERDICT_NOTE,
                        "The driver was not started, because --root was given.");
        return;
    }
    if (evidence->started) {
        report_started(evidence, findings);
        return;
    }
    bool explained = has_problem(findings);
    if (evidence->start_code == CUDA_SUCCESS)
        finding_add(findings, evidence, "start", VERDICT_PROBLEM, "The driver starts, but reports no GPU.");
    else
        finding_add(findings, evidence, "start", VERDICT_PROBLEM, "The driver does not start (code %d, %s).%s%s",
                    (int)evidence->start_code, driver_code_name(evidence->start_code), explained ? "" : " ",
                    explained ? "" : evidence->now->message);
    finding_advise(findings, "%s",
                   explained                              ? "Correct the other problems first."
                   : evidence->start_code == CUDA_SUCCESS ? cushim_reason_advice(CUSHIM_REASON_NO_DEVICE)
                                                          : evidence->now->advice);
}
