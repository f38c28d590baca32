/* SPDX-License-Identifier: MIT */
/* The checks of systems that provide the driver in a way of their own. */
#include "doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool lacks_library(const struct doctor *doctor)
{
    return driver_is_absent(doctor->load->reason) || doctor->load->reason == CUSHIM_REASON_STUB;
}

/* Neither holds if a file that was asked for cannot be loaded. */
static bool has_library(const struct doctor *doctor)
{
    return doctor->loaded || doctor->load->reason == CUSHIM_REASON_TOO_OLD;
}

/* A variable that the container was started with. Below a root directory, it is unknown. */
static const char *container_variable(const struct doctor *doctor, const char *name)
{
    const char *value = doctor->root[0] == '\0' ? getenv(name) : NULL;
    return value != NULL ? value : "";
}

static bool requests_no_gpu(const char *visible)
{
    return strcmp(visible, "none") == 0 || strcmp(visible, "void") == 0;
}

static void check_container(struct doctor *doctor)
{
    static const char check[] = "container";
    const struct cushim_system *system = &doctor->system;
    const char *capabilities = container_variable(doctor, "NVIDIA_DRIVER_CAPABILITIES");
    const char *visible = container_variable(doctor, "NVIDIA_VISIBLE_DEVICES");
    bool has_devices =
        system->gpu_node != CUSHIM_NODE_ABSENT || system->wsl_node != CUSHIM_NODE_ABSENT || doctor->is_jetson;
    if (!system->is_container)
        return;
    bool is_explained = doctor->count > 0 && doctor->findings[0].verdict == VERDICT_LEAD;
    if (has_devices && !lacks_library(doctor)) {
        doctor_find(doctor, check, has_library(doctor) ? VERDICT_OK : VERDICT_NOTE,
                    !has_library(doctor) ? "This is a container, with device files of the GPU."
                    : doctor->started    ? "This is a container with access to the GPU."
                                         : "This is a container, with device files of the GPU and a driver library.");
    } else if (doctor->sees_bus && !system->has_gpu_on_bus && !has_devices && !doctor->is_wsl) {
        doctor_find(doctor, check, VERDICT_NOTE, "This is a container that sees no NVIDIA GPU.");
    } else if (is_explained) {
        return;
    } else if (has_devices) {
        doctor_find(doctor, check, VERDICT_CAUSE,
                    "This container has the device files of the GPU, but not the library.");
        doctor_advise(
            doctor,
            "Start it with NVIDIA_DRIVER_CAPABILITIES=all, or with \"compute\" in the list%s%s. The host needs "
            "NVIDIA's Container Toolkit.",
            capabilities[0] != '\0' ? ", which now is " : "", capabilities);
    } else if (requests_no_gpu(visible)) {
        doctor_find(doctor, check, VERDICT_CAUSE, "NVIDIA_VISIBLE_DEVICES=%s of this container requests no GPU.",
                    visible);
        doctor_advise(doctor, "Start it with NVIDIA_VISIBLE_DEVICES=all or with the numbers of the GPUs.");
    } else {
        doctor_find(doctor, check, VERDICT_CAUSE, "This container was started without access to the GPU.");
        doctor_advise(doctor,
                      "Start it with GPU access: --gpus all with Docker, --device nvidia.com/gpu=all with Podman, a "
                      "limit of nvidia.com/gpu: 1 in Kubernetes. The host needs NVIDIA's driver and NVIDIA's "
                      "Container Toolkit.");
    }
}

static void check_wsl(struct doctor *doctor)
{
    static const char check[] = "wsl";
    const char *path = doctor->load->path;
    if (!doctor->is_wsl || doctor->system.is_container) /* what a container lacks has a check of its own */
        return;
    if (doctor->system.wsl_node == CUSHIM_NODE_ABSENT) {
        doctor_find(doctor, check, VERDICT_CAUSE, "Windows Subsystem for Linux has no GPU: /dev/dxg does not exist.");
        doctor_advise(doctor, "Install NVIDIA's driver in Windows. Then, in the command prompt of Windows, run "
                              "\"wsl --update\", check with \"wsl -l -v\" that this is version 2, and run "
                              "\"wsl --shutdown\".");
    } else if (doctor->system.wsl_node == CUSHIM_NODE_DENIED) {
        doctor_find(doctor, check, VERDICT_CAUSE, "This user is not permitted to open /dev/dxg.");
        doctor_advise(doctor, "Ask the administrator of this Linux system for access to /dev/dxg.");
    } else if (lacks_library(doctor)) {
        doctor_find(doctor, check, VERDICT_CAUSE,
                    "Windows provides no driver library.\n/usr/lib/wsl/lib/libcuda.so.1 does not exist.");
        doctor_advise(doctor, "Install NVIDIA's driver in Windows, and no driver in this Linux system. Then run "
                              "\"wsl --shutdown\" in the command prompt of Windows, and start this system again.");
    } else if (path != NULL && strstr(path, "/wsl/") == NULL) {
        doctor_find(doctor, check, VERDICT_CAUSE,
                    "A driver in this Linux system hides the one that Windows provides.\nThe library that was found "
                    "is %s.",
                    path);
        doctor_advise(doctor,
                      "Remove NVIDIA's driver packages from this Linux system. The driver in Windows serves both.");
    } else if (has_library(doctor) && (doctor->started || doctor->start->outcome == START_NOT_TRIED)) {
        doctor_find(doctor, check, VERDICT_OK, "Windows provides the driver and the GPU.");
    }
}

static void check_jetson(struct doctor *doctor)
{
    if (!doctor->is_jetson)
        return;
    if (lacks_library(doctor)) {
        doctor_find(doctor, "jetson", VERDICT_CAUSE, "This is a Jetson without its driver library.");
        doctor_advise(doctor,
                      "Install the JetPack package nvidia-l4t-cuda. Start a container with \"--runtime nvidia\".");
    } else {
        doctor_find(doctor, "jetson",
                    doctor->start->outcome != START_NOT_TRIED && !doctor->started ? VERDICT_NOTE : VERDICT_OK,
                    "This is a Jetson. JetPack provides its driver.");
        if (doctor->start->outcome != START_NOT_TRIED && !doctor->started)
            doctor_advise(doctor, "The user must be a member of the groups video and render, which \"groups\" shows.");
    }
}

static void check_nixos(struct doctor *doctor)
{
    if (!doctor->is_nixos)
        return;
    if (lacks_library(doctor)) {
        doctor_find(doctor, "nixos", VERDICT_CAUSE, "This NixOS has no NVIDIA driver in /run/opengl-driver/lib.");
        doctor_advise(doctor,
                      "In the system configuration, set services.xserver.videoDrivers = [ \"nvidia\" ] and "
                      "hardware.graphics.enable = true (before 24.11: hardware.opengl.enable). Then rebuild and "
                      "restart.");
    } else if (has_library(doctor)) {
        doctor_find(doctor, "nixos", VERDICT_OK, "This is NixOS with an NVIDIA driver.");
    }
}

static void check_flatpak(struct doctor *doctor)
{
    if (!doctor->is_flatpak)
        return;
    if (has_library(doctor))
        doctor_find(doctor, "flatpak", VERDICT_OK, "This is a Flatpak sandbox with an NVIDIA driver.");
    if (!lacks_library(doctor))
        return;
    doctor_find(doctor, "flatpak", VERDICT_CAUSE,
                "This Flatpak sandbox lacks the extension for the NVIDIA driver.\nThe driver of the system is %s.",
                doctor->system.kernel_module[0] != '\0' ? doctor->system.kernel_module : "not visible here");
    char version[sizeof doctor->system.kernel_module];
    snprintf(version, sizeof version, "%s", doctor->system.kernel_module);
    for (char *dot = version; (dot = strchr(dot, '.')) != NULL;)
        *dot = '-';
    if (version[0] != '\0')
        doctor_advise(doctor, "Run \"flatpak update\" or \"flatpak install org.freedesktop.Platform.GL.nvidia-%s\".",
                      version);
    else
        doctor_advise(doctor, "Install NVIDIA's driver on the system, then run \"flatpak update\".");
}

/* CUDA needs none of them, so they are never the cause; but one that ends the process ends the programs that open it.
 * Whether one is wanted is known only in a container that was started with a list of capabilities. */
static void check_companions(struct doctor *doctor)
{
    enum { SECONDS = 10 };
    static struct companion_found companions[CUSHIM_COMPANION_COUNT]; /* too large for a small stack */
    bool is_wanted = container_variable(doctor, "NVIDIA_DRIVER_CAPABILITIES")[0] != '\0';
    int seconds = doctor->options->timeout_seconds;
    if (!doctor->loaded)
        return;
    companions_find(companions, seconds != 0 ? seconds : SECONDS);
    for (int id = 0; id < CUSHIM_COMPANION_COUNT; id++) {
        const struct companion_found *companion = &companions[id];
        if (companion->message[0] == '\0' || companion->reason == CUSHIM_REASON_UNKNOWN
            || (companion->reason == CUSHIM_REASON_NOT_FOUND && !is_wanted))
            continue;
        doctor_find(doctor, "companions", companion->has_answered ? VERDICT_NOTE : VERDICT_PROBLEM, "%s",
                    companion->message);
        doctor_advise(doctor, "%s", companion->advice);
        if (!companion->has_answered)
            doctor->findings[doctor->count - 1].verdict = VERDICT_PROBLEM; /* also beside a driver that starts */
    }
}

void doctor_check_platform(struct doctor *doctor)
{
    check_container(doctor);
    check_wsl(doctor);
    check_jetson(doctor);
    check_nixos(doctor);
    check_flatpak(doctor);
    check_companions(doctor);
}
