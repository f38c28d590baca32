/* SPDX-License-Identifier: MIT */
#include "finding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices.h"
#include "platform.h"

/* An unpacked image has no kernel and no devices of its own, and nothing is wrong with that. */
static bool is_bare_directory(const struct evidence *evidence)
{
    const struct cushim_system *system = &evidence->system;
    return evidence->root[0] != '\0' && !system->container && !evidence->sees_bus && system->kernel_module[0] == '\0'
           && system->control_node == CUSHIM_NODE_ABSENT && system->gpu_node == CUSHIM_NODE_ABSENT;
}

/* The bus shows none, and no device file says otherwise. The control node says nothing: drivers make it, GPU or not. */
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
        finding_add(findings, evidence, "gpu", VERDICT_PROBLEM, "This machine shows no NVIDIA GPU.")->is_cause = true;
        finding_advise(findings,
                       "If it should have one, check that it is seated and powered, and in a virtual machine that it "
                       "is passed through. If not, use programs that can do without.");
    }
}

static void say_mismatch(const struct evidence *evidence, struct findings *findings)
{
    finding_add(findings, evidence, "kernel-module", VERDICT_PROBLEM,
                "The driver library is of version %s, the kernel's part of the driver of %s.",
                evidence->release.text[0] != '\0' ? evidence->release.text : "another",
                evidence->system.kernel_module[0] != '\0' ? evidence->system.kernel_module : "another")
        ->is_cause = true;
    finding_advise(findings, "%s", cushim_reason_advice(CUSHIM_REASON_MODULE_MISMATCH));
}

static void say_no_module(const struct evidence *evidence, struct findings *findings)
{
    static const char check[] = "kernel-module";
    if (is_bare_directory(evidence)) {
        finding_add(findings, evidence, check, VERDICT_NOTE, "This directory shows no running kernel.");
    } else if (evidence->nouveau) {
        finding_add(findings, evidence, check, VERDICT_PROBLEM,
                    "The kernel uses its own driver for NVIDIA GPUs (nouveau), which knows no CUDA.")
            ->is_cause = true;
        finding_advise(findings,
                       "Install NVIDIA's driver with your system's package manager, which switches nouveau off, and "
                       "restart the machine.");
    } else if (has_no_gpu(evidence)) {
        finding_add(findings, evidence, check, VERDICT_NOTE,
                    "The kernel's part of the driver is not loaded, as is to be expected without a GPU.");
    } else {
        finding_add(findings, evidence, check, VERDICT_PROBLEM, "The kernel's part of the driver is not loaded.");
        finding_advise(findings,
                       "Restart the machine if the driver was just installed, or try \"modprobe nvidia\" as root, "
                       "which says what is wrong; with Secure Boot the module has to be signed. For a container, do "
                       "this on its host.");
    }
}

void check_kernel_module(const struct evidence *evidence, struct findings *findings)
{
    const char *module = evidence->system.kernel_module;
    const char *release = evidence->release.text;
    if (evidence->now->reason == CUSHIM_REASON_MODULE_MISMATCH) {
        say_mismatch(evidence, findings);
    } else if (module[0] == '\0') {
        if (platform_has_system_files() && !evidence->is_wsl && !evidence->is_jetson)
            say_no_module(evidence, findings);
    } else if (release[0] == '\0') {
        finding_add(findings, evidence, "kernel-module", VERDICT_OK,
                    "The kernel's part of the driver is loaded, version %s.", module);
    } else if (driver_same_release(module, release)) {
        finding_add(findings, evidence, "kernel-module", VERDICT_OK,
                    "The driver library and the kernel's part of the driver are of the same version, %s.", module);
    } else if (evidence->is_compat) {
        finding_add(findings, evidence, "kernel-module", VERDICT_NOTE,
                    "The driver library is of version %s, and lends it to a kernel's part of version %s.", release,
                    module);
    } else {
        say_mismatch(evidence, findings);
    }
}

static void say_denied(const struct evidence *evidence, struct findings *findings)
{
    const struct cushim_system *system = &evidence->system;
    finding_add(findings, evidence, "device-nodes", VERDICT_PROBLEM, "This user may not open the device files%s%s%s.",
                system->control_node == CUSHIM_NODE_DENIED ? " /dev/nvidiactl" : "",
                system->gpu_node == CUSHIM_NODE_DENIED ? " /dev/nvidia0" : "",
                system->uvm_node == CUSHIM_NODE_DENIED ? " /dev/nvidia-uvm" : "")
        ->is_cause = true;
    finding_advise(findings, "%s", cushim_reason_advice(CUSHIM_REASON_NODES_DENIED));
}

static void say_absent(const struct evidence *evidence, struct findings *findings)
{
    const struct cushim_system *system = &evidence->system;
    const char *only = system->control_node == CUSHIM_NODE_ABSENT
                           ? ""
                           : " /dev/nvidiactl alone means little: the driver makes it itself.";
    if (is_bare_directory(evidence)) {
        finding_add(findings, evidence, "device-nodes", VERDICT_NOTE, "This directory has no device files.");
    } else if (has_no_gpu(evidence)) {
        finding_add(findings, evidence, "device-nodes", VERDICT_NOTE,
                    "There is no device file of a GPU (/dev/nvidia0), as is to be expected without one.%s", only);
    } else {
        finding_add(findings, evidence, "device-nodes", VERDICT_PROBLEM,
                    "There is no device file of a GPU (/dev/nvidia0).%s", only)
            ->is_cause = system->kernel_module[0] != '\0' && !system->container;
        if (system->container)
            finding_advise(findings, "Start the container with GPU access (for Docker: --gpus all).");
        else if (system->kernel_module[0] != '\0')
            finding_advise(findings, "Run nvidia-smi once as root, which makes the files.");
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
        say_denied(evidence, findings);
    } else if (system->gpu_node == CUSHIM_NODE_ABSENT || system->control_node == CUSHIM_NODE_ABSENT) {
        if (!evidence->is_jetson)
            say_absent(evidence, findings);
    } else if (system->uvm_node == CUSHIM_NODE_ABSENT) {
        finding_add(findings, evidence, "device-nodes", VERDICT_NOTE,
                    "/dev/nvidia-uvm is not there; it is made when CUDA is first used.");
        finding_advise(findings, "If CUDA does not start, run \"nvidia-modprobe -u\" as root.");
    } else {
        finding_add(findings, evidence, "device-nodes", VERDICT_OK,
                    "The device files of %d GPU%s are there and can be opened.", system->gpu_node_count,
                    system->gpu_node_count == 1 ? "" : "s");
    }
}

/* What leaves no GPU on any machine: an empty list, or a first entry that is no GPU's number or name. */
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
                    "CUDA_VISIBLE_DEVICES is set to \"%s\": programs see those GPUs only.", visible);
        finding_advise(findings, "Unset it to use all.");
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

static void say_started(const struct evidence *evidence, struct findings *findings)
{
    char names[512] = "";
    int count = devices_count();
    for (int i = 0; i < count; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i == 0 ? "" : ", ", devices_name(i).text);
    }
    finding_add(findings, evidence, "start", VERDICT_OK, "The driver starts and shows %d GPU%s: %s.", count,
                count == 1 ? "" : "s", names);
}

void check_start(const struct evidence *evidence, struct findings *findings)
{
    if (!evidence->tried_to_start) {
        if (evidence->loaded)
            finding_add(findings, evidence, "start", VERDICT_NOTE, "The driver was not started: --root only looks.");
        return;
    }
    if (evidence->started) {
        say_started(evidence, findings);
        return;
    }
    bool explained = has_problem(findings);
    if (evidence->start_code == CUDA_SUCCESS)
        finding_add(findings, evidence, "start", VERDICT_PROBLEM, "The driver starts, but shows no GPU.");
    else
        finding_add(findings, evidence, "start", VERDICT_PROBLEM, "The driver does not start (code %d, %s).%s%s",
                    (int)evidence->start_code, driver_code_name(evidence->start_code), explained ? "" : " ",
                    explained ? "" : evidence->now->message);
    finding_advise(findings, "%s",
                   explained                              ? "Put the other problems right first."
                   : evidence->start_code == CUDA_SUCCESS ? cushim_reason_advice(CUSHIM_REASON_NO_DEVICE)
                                                          : evidence->now->advice);
}
