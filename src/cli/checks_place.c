/* SPDX-License-Identifier: MIT */
#include "finding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool lacks_library(const struct evidence *evidence)
{
    return evidence->load->reason == CUSHIM_REASON_NOT_FOUND || evidence->load->reason == CUSHIM_REASON_STUB;
}

static void blame(struct finding *finding)
{
    finding->is_cause = true;
}

/* What the container was started with; not known of one that is looked at from outside. */
static const char *asked_for(const struct evidence *evidence, const char *name)
{
    const char *value = evidence->root[0] == '\0' ? getenv(name) : NULL;
    return value != NULL ? value : "";
}

static bool asks_for_no_gpu(const char *visible)
{
    return strcmp(visible, "none") == 0 || strcmp(visible, "void") == 0;
}

void check_container(const struct evidence *evidence, struct findings *findings)
{
    static const char check[] = "container";
    const struct cushim_system *system = &evidence->system;
    const char *capabilities = asked_for(evidence, "NVIDIA_DRIVER_CAPABILITIES");
    const char *visible = asked_for(evidence, "NVIDIA_VISIBLE_DEVICES");
    bool has_devices = system->gpu_node != CUSHIM_NODE_ABSENT || evidence->is_wsl || evidence->is_jetson;
    if (!system->container)
        return;
    if (has_devices && !lacks_library(evidence)) {
        finding_add(findings, evidence, check, VERDICT_OK, "This is a container, and it was given the GPU.");
    } else if (evidence->sees_bus && !system->gpu_on_bus && !has_devices) {
        finding_add(findings, evidence, check, VERDICT_NOTE,
                    "This is a container, on a machine that shows no NVIDIA GPU.");
    } else if (has_devices) {
        blame(finding_add(
            findings, evidence, check, VERDICT_PROBLEM,
            "This is a container that was given the GPU's device files, but not the host's driver library."));
        finding_advise(
            findings,
            "Start it with \"compute\" among the NVIDIA_DRIVER_CAPABILITIES (or \"all\"%s%s), and with NVIDIA's "
            "Container Toolkit on the host.",
            capabilities[0] != '\0' ? "; now it is " : "", capabilities);
    } else if (asks_for_no_gpu(visible)) {
        blame(finding_add(findings, evidence, check, VERDICT_PROBLEM,
                          "This is a container that was started with NVIDIA_VISIBLE_DEVICES=%s, which asks for no GPU.",
                          visible));
        finding_advise(findings, "Start it with NVIDIA_VISIBLE_DEVICES=all, or with the numbers of the GPUs.");
    } else {
        blame(finding_add(findings, evidence, check, VERDICT_PROBLEM,
                          "This is a container that was started without access to the GPU."));
        finding_advise(findings,
                       "Start it with GPU access, for Docker and Podman with --gpus all, in Kubernetes with a limit of "
                       "nvidia.com/gpu: 1; the host needs NVIDIA's driver and NVIDIA's Container Toolkit.");
    }
}

void check_wsl(const struct evidence *evidence, struct findings *findings)
{
    static const char check[] = "wsl";
    const char *path = evidence->load->path;
    if (!evidence->is_wsl)
        return;
    if (evidence->system.wsl_node == CUSHIM_NODE_ABSENT) {
        blame(finding_add(findings, evidence, check, VERDICT_PROBLEM,
                          "Windows Subsystem for Linux shows no GPU: /dev/dxg is not there."));
        finding_advise(findings,
                       "Install NVIDIA's driver in Windows. Then, in Windows' command prompt, run \"wsl --update\", "
                       "make sure with \"wsl -l -v\" that this is version 2, and run \"wsl --shutdown\".");
    } else if (evidence->system.wsl_node == CUSHIM_NODE_DENIED) {
        blame(finding_add(findings, evidence, check, VERDICT_PROBLEM, "This user may not open /dev/dxg."));
        finding_advise(findings, "Ask the administrator of this Linux for access to /dev/dxg.");
    } else if (lacks_library(evidence)) {
        blame(finding_add(findings, evidence, check, VERDICT_PROBLEM,
                          "Windows lends this Linux no driver library: there is no /usr/lib/wsl/lib/libcuda.so.1."));
        finding_advise(
            findings, "Install NVIDIA's driver in Windows, and no driver in this Linux; then run \"wsl --shutdown\" in "
                      "Windows' command prompt and start again.");
    } else if (path != NULL && strstr(path, "/wsl/") == NULL) {
        blame(finding_add(findings, evidence, check, VERDICT_PROBLEM,
                          "A driver that was installed in this Linux hides the one that Windows lends: %s.", path));
        finding_advise(findings, "Remove NVIDIA's driver packages from this Linux; the driver in Windows serves both.");
    } else {
        finding_add(findings, evidence, check, VERDICT_OK, "Windows lends this Linux its driver and its GPU.");
    }
}

void check_jetson(const struct evidence *evidence, struct findings *findings)
{
    if (!evidence->is_jetson)
        return;
    if (lacks_library(evidence)) {
        blame(finding_add(findings, evidence, "jetson", VERDICT_PROBLEM,
                          "This is a Jetson, and its driver library is missing."));
        finding_advise(findings,
                       "Install JetPack's package nvidia-l4t-cuda; start a container with \"--runtime nvidia\".");
    } else {
        finding_add(findings, evidence, "jetson",
                    evidence->tried_to_start && !evidence->started ? VERDICT_NOTE : VERDICT_OK,
                    "This is a Jetson, whose driver comes with JetPack.");
        if (evidence->tried_to_start && !evidence->started)
            finding_advise(findings, "A user has to be a member of the groups video and render: see \"groups\".");
    }
}

void check_nixos(const struct evidence *evidence, struct findings *findings)
{
    if (!evidence->is_nixos)
        return;
    if (lacks_library(evidence)) {
        blame(finding_add(findings, evidence, "nixos", VERDICT_PROBLEM,
                          "This is NixOS, and it shows no NVIDIA driver in /run/opengl-driver/lib."));
        finding_advise(findings,
                       "In the system's configuration set services.xserver.videoDrivers = [ \"nvidia\" ] and "
                       "hardware.graphics.enable = true (hardware.opengl.enable before 24.11), then rebuild and "
                       "restart.");
    } else {
        finding_add(findings, evidence, "nixos", VERDICT_OK, "This is NixOS, and it has an NVIDIA driver.");
    }
}

void check_flatpak(const struct evidence *evidence, struct findings *findings)
{
    if (!evidence->is_flatpak)
        return;
    if (!lacks_library(evidence)) {
        finding_add(findings, evidence, "flatpak", VERDICT_OK,
                    "This is a Flatpak sandbox, and it has an NVIDIA driver.");
        return;
    }
    blame(finding_add(findings, evidence, "flatpak", VERDICT_PROBLEM,
                      "This is a Flatpak sandbox without the extension that fits the system's NVIDIA driver%s%s.",
                      evidence->system.kernel_module[0] != '\0' ? ", version " : "", evidence->system.kernel_module));
    char version[sizeof evidence->system.kernel_module];
    snprintf(version, sizeof version, "%s", evidence->system.kernel_module);
    for (char *dot = version; (dot = strchr(dot, '.')) != NULL;)
        *dot = '-';
    if (version[0] != '\0')
        finding_advise(
            findings, "Run \"flatpak update\", or \"flatpak install org.freedesktop.Platform.GL.nvidia-%s\".", version);
    else
        finding_advise(findings, "Install NVIDIA's driver on the system, then run \"flatpak update\".");
}
