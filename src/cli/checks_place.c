/* SPDX-License-Identifier: MIT */
#include "checks_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool lacks_library(const struct evidence *evidence)
{
    return evidence->load->reason == CUSHIM_REASON_NOT_FOUND || evidence->load->reason == CUSHIM_REASON_STUB;
}

static void mark_as_cause(struct finding *finding)
{
    finding->is_cause = true;
}

/* A variable that the container was started with. Below a root directory, it is unknown. */
static const char *container_variable(const struct evidence *evidence, const char *name)
{
    const char *value = evidence->root[0] == '\0' ? getenv(name) : NULL;
    return value != NULL ? value : "";
}

static bool requests_no_gpu(const char *visible)
{
    return strcmp(visible, "none") == 0 || strcmp(visible, "void") == 0;
}

void check_container(const struct evidence *evidence, struct findings *findings)
{
    static const char check[] = "container";
    const struct cushim_system *system = &evidence->system;
    const char *capabilities = container_variable(evidence, "NVIDIA_DRIVER_CAPABILITIES");
    const char *visible = container_variable(evidence, "NVIDIA_VISIBLE_DEVICES");
    bool has_devices = system->gpu_node != CUSHIM_NODE_ABSENT || evidence->is_wsl || evidence->is_jetson;
    if (!system->container)
        return;
    if (has_devices && !lacks_library(evidence)) {
        finding_add(findings, evidence, check, VERDICT_OK, "This is a container with access to the GPU.");
    } else if (evidence->sees_bus && !system->gpu_on_bus && !has_devices) {
        finding_add(findings, evidence, check, VERDICT_NOTE, "This is a container on a machine without an NVIDIA GPU.");
    } else if (has_devices) {
        mark_as_cause(
            finding_add(findings, evidence, check, VERDICT_PROBLEM,
                        "This container has the device files of the GPU, but not the driver library of the host."));
        finding_advise(
            findings,
            "Start it with NVIDIA_DRIVER_CAPABILITIES=all, or with \"compute\" in the list%s%s. The host needs "
            "NVIDIA's Container Toolkit.",
            capabilities[0] != '\0' ? ", which now is " : "", capabilities);
    } else if (requests_no_gpu(visible)) {
        mark_as_cause(finding_add(findings, evidence, check, VERDICT_PROBLEM,
                                  "This container was started with NVIDIA_VISIBLE_DEVICES=%s, which requests no GPU.",
                                  visible));
        finding_advise(findings, "Start it with NVIDIA_VISIBLE_DEVICES=all or with the numbers of the GPUs.");
    } else {
        mark_as_cause(finding_add(findings, evidence, check, VERDICT_PROBLEM,
                                  "This container was started without access to the GPU."));
        finding_advise(findings,
                       "Start it with GPU access: --gpus all with Docker and Podman, a limit of nvidia.com/gpu: 1 in "
                       "Kubernetes. The host needs NVIDIA's driver and NVIDIA's Container Toolkit.");
    }
}

void check_wsl(const struct evidence *evidence, struct findings *findings)
{
    static const char check[] = "wsl";
    const char *path = evidence->load->path;
    if (!evidence->is_wsl)
        return;
    if (evidence->system.wsl_node == CUSHIM_NODE_ABSENT) {
        mark_as_cause(finding_add(findings, evidence, check, VERDICT_PROBLEM,
                                  "Windows Subsystem for Linux has no GPU: /dev/dxg does not exist."));
        finding_advise(findings, "Install NVIDIA's driver in Windows. Then, in the command prompt of Windows, run "
                                 "\"wsl --update\", check with \"wsl -l -v\" that this is version 2, and run "
                                 "\"wsl --shutdown\".");
    } else if (evidence->system.wsl_node == CUSHIM_NODE_DENIED) {
        mark_as_cause(
            finding_add(findings, evidence, check, VERDICT_PROBLEM, "This user is not permitted to open /dev/dxg."));
        finding_advise(findings, "Ask the administrator of this Linux system for access to /dev/dxg.");
    } else if (lacks_library(evidence)) {
        mark_as_cause(finding_add(findings, evidence, check, VERDICT_PROBLEM,
                                  "Windows provides no driver library: /usr/lib/wsl/lib/libcuda.so.1 does not exist."));
        finding_advise(findings, "Install NVIDIA's driver in Windows, and no driver in this Linux system. Then run "
                                 "\"wsl --shutdown\" in the command prompt of Windows, and start this system again.");
    } else if (path != NULL && strstr(path, "/wsl/") == NULL) {
        mark_as_cause(finding_add(
            findings, evidence, check, VERDICT_PROBLEM,
            "A driver that was installed in this Linux system hides the driver that Windows provides: %s.", path));
        finding_advise(findings,
                       "Remove NVIDIA's driver packages from this Linux system. The driver in Windows serves both.");
    } else {
        finding_add(findings, evidence, check, VERDICT_OK, "Windows provides the driver and the GPU.");
    }
}

void check_jetson(const struct evidence *evidence, struct findings *findings)
{
    if (!evidence->is_jetson)
        return;
    if (lacks_library(evidence)) {
        mark_as_cause(
            finding_add(findings, evidence, "jetson", VERDICT_PROBLEM, "This is a Jetson without its driver library."));
        finding_advise(findings,
                       "Install the JetPack package nvidia-l4t-cuda. Start a container with \"--runtime nvidia\".");
    } else {
        finding_add(findings, evidence, "jetson",
                    evidence->tried_to_start && !evidence->started ? VERDICT_NOTE : VERDICT_OK,
                    "This is a Jetson. JetPack provides its driver.");
        if (evidence->tried_to_start && !evidence->started)
            finding_advise(findings,
                           "The user must be a member of the groups video and render, which \"groups\" shows.");
    }
}

void check_nixos(const struct evidence *evidence, struct findings *findings)
{
    if (!evidence->is_nixos)
        return;
    if (lacks_library(evidence)) {
        mark_as_cause(finding_add(findings, evidence, "nixos", VERDICT_PROBLEM,
                                  "This is NixOS without an NVIDIA driver in /run/opengl-driver/lib."));
        finding_advise(findings,
                       "In the system configuration, set services.xserver.videoDrivers = [ \"nvidia\" ] and "
                       "hardware.graphics.enable = true (before 24.11: hardware.opengl.enable). Then rebuild and "
                       "restart.");
    } else {
        finding_add(findings, evidence, "nixos", VERDICT_OK, "This is NixOS with an NVIDIA driver.");
    }
}

void check_flatpak(const struct evidence *evidence, struct findings *findings)
{
    if (!evidence->is_flatpak)
        return;
    if (!lacks_library(evidence)) {
        finding_add(findings, evidence, "flatpak", VERDICT_OK, "This is a Flatpak sandbox with an NVIDIA driver.");
        return;
    }
    mark_as_cause(
        finding_add(findings, evidence, "flatpak", VERDICT_PROBLEM,
                    "This is a Flatpak sandbox without the extension for the NVIDIA driver of the system%s%s.",
                    evidence->system.kernel_module[0] != '\0' ? ", version " : "", evidence->system.kernel_module));
    char version[sizeof evidence->system.kernel_module];
    snprintf(version, sizeof version, "%s", evidence->system.kernel_module);
    for (char *dot = version; (dot = strchr(dot, '.')) != NULL;)
        *dot = '-';
    if (version[0] != '\0')
        finding_advise(findings, "Run \"flatpak update\" or \"flatpak install org.freedesktop.Platform.GL.nvidia-%s\".",
                       version);
    else
        finding_advise(findings, "Install NVIDIA's driver on the system, then run \"flatpak update\".");
}
