/* SPDX-License-Identifier: MIT */
/* Evidence about the kernel, its modules and the PCI bus. */
#include "doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "machine.h"
#include "platform.h"

static bool has_module(const struct doctor *doctor)
{
    return doctor->system.kernel_module[0] != '\0';
}

/* Other systems have other modules. */
static bool has_usual_gpu(const struct doctor *doctor)
{
    return doctor->system.has_gpu_on_bus && !doctor->is_wsl;
}

bool evidence_gvisor(const struct doctor *doctor)
{
    /* Its kernel is "4.4.0" or "4.19.0-gvisor", and this date never changes. */
    return evidence_contains(doctor, "/proc/version", "Sun Jan 10 15:06:54 PST 2016");
}

/* ---- The GPUs on the bus ---- */

/* A notebook whose GPU is switched off. */
/* Bumblebee's module switches the GPU of a notebook off, which then reads as ones. */
bool evidence_switched_off_by_bbswitch(const struct doctor *doctor)
{
    return evidence_contains(doctor, "/proc/acpi/bbswitch", "OFF");
}

bool evidence_gpu_switched_off(const struct doctor *doctor)
{
    return doctor->sees_bus && !doctor->system.has_gpu_on_bus
           && (evidence_contains(doctor, "/etc/prime-discrete", "off")
               || evidence_contains(doctor, "/etc/supergfxd.conf", "Integrated"));
}

/* A virtual GPU has a configuration of its licence. */
bool evidence_vgpu(const struct doctor *doctor)
{
    return evidence_exists(doctor, "/etc/nvidia/gridd.conf");
}

bool evidence_virtual_machine(const struct doctor *doctor)
{
    return evidence_contains(doctor, "/proc/cpuinfo", " hypervisor");
}

bool evidence_switch(const struct doctor *doctor)
{
    return doctor->bus.switches > 0;
}

static const char manager[] = "nv-fabricmanage"; /* names have 15 characters */

bool evidence_switch_with_manager(const struct doctor *doctor)
{
    return doctor->bus.switches > 0 && process_exists(doctor, manager);
}

/* The second process is one of the kernel. A container, and a user from whom /proc hides others, does not see it. */
bool evidence_switch_without_manager(const struct doctor *doctor)
{
    return doctor->bus.switches > 0 && !process_exists(doctor, manager)
           && evidence_contains(doctor, "/proc/2/comm", "kthreadd");
}

/* ---- The modules ---- */

static void kernel_release(const struct doctor *doctor, char *release, size_t size)
{
    if (evidence_read(doctor, "/proc/sys/kernel/osrelease", release, size))
        release[strcspn(release, "\n")] = '\0';
}

/* The driver's own module, as distributions name it: nvidia.ko, nvidia-current-open.ko, nvidia-legacy-390xx.ko. Those
 * of its parts, and the modules of the kernel itself for such GPUs, are others. */
static bool is_driver_module(const char *path)
{
    static const char others[] = "*-drm.ko* *-modeset.ko* *-uvm.ko* *-peermem.ko* *-peer.ko* *-fs.ko* *-vfio*.ko* "
                                 "*-backlight.ko* */nvidiafb.ko* */nvidia-vgpu*.ko* */nvidia-i2c*.ko*";
    return pattern_matches("*/nvidia.ko* */nvidia-*.ko*", path) && !pattern_matches(others, path);
}

bool evidence_find_module(const struct doctor *doctor, char *path, size_t size)
{
    char release[128], list[192], whole[OS_PATH_SIZE], line[1024];
    kernel_release(doctor, release, sizeof release);
    snprintf(path, size, "/lib/modules/%s/", release);
    snprintf(list, sizeof list, "%.160s/modules.dep", path);
    bool can_open = release[0] != '\0' && cush_os_path_below(doctor->root, list, whole, sizeof whole);
    FILE *file = can_open && platform_is_file(whole) ? fopen(whole, "r") : NULL;
    bool found = false;
    while (!found && file != NULL && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, ":")] = '\0';
        found = is_driver_module(line);
    }
    if (found)
        strncat(path, line, size - strlen(path) - 1);
    else if (file == NULL)
        path[0] = '\0';
    if (file != NULL)
        fclose(file);
    return found;
}

static bool lacks_module(const struct doctor *doctor)
{
    return has_usual_gpu(doctor) && !has_module(doctor) && !doctor->is_jetson && !driver_is_absent(doctor->load->reason)
           && doctor->system.gpu_node == CUSHIM_NODE_ABSENT && !doctor->system.is_container;
}

bool evidence_module_not_built(const struct doctor *doctor)
{
    char path[OS_PATH_SIZE];
    return lacks_module(doctor) && !evidence_find_module(doctor, path, sizeof path) && path[0] != '\0';
}

bool evidence_module_refused_by_secure_boot(const struct doctor *doctor)
{
    char text[16] = "";
    static const char variable[] = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
    /* Four bytes of attributes, then the value. */
    return lacks_module(doctor) && evidence_read(doctor, variable, text, sizeof text) && text[4] == 1;
}

bool evidence_module_not_loaded(const struct doctor *doctor)
{
    return lacks_module(doctor);
}

bool evidence_uvm_loaded(const struct doctor *doctor)
{
    return evidence_exists(doctor, "/sys/module/nvidia_uvm")
           || evidence_contains(doctor, "/proc/devices", "nvidia-uvm");
}

bool evidence_uvm_not_loaded(const struct doctor *doctor)
{
    return !evidence_uvm_loaded(doctor) && evidence_exists(doctor, "/sys/module");
}

bool evidence_hmm_with_kaslr(const struct doctor *doctor)
{
    char text[16];
    return doctor->variant == MODULE_OPEN && has_module(doctor)
           && evidence_read(doctor, "/sys/module/nvidia_uvm/parameters/uvm_disable_hmm", text, sizeof text)
           && text[0] == 'N' && !evidence_contains(doctor, "/proc/cmdline", "nokaslr");
}

bool evidence_arm64(const struct doctor *doctor)
{
    return evidence_contains(doctor, "/proc/driver/nvidia/version", "aarch64");
}

bool evidence_kernel_without_sva(const struct doctor *doctor)
{
    char release[128], path[192], whole[OS_PATH_SIZE], line[256];
    kernel_release(doctor, release, sizeof release);
    snprintf(path, sizeof path, "/boot/config-%s", release);
    bool can_open = cush_os_path_below(doctor->root, path, whole, sizeof whole) && platform_is_file(whole);
    FILE *file = can_open ? fopen(whole, "r") : NULL;
    if (file == NULL)
        return false;
    bool has_sva = false;
    while (!has_sva && fgets(line, sizeof line, file) != NULL)
        has_sva = strncmp(line, "CONFIG_ARM_SMMU_V3_SVA=y", 24) == 0;
    fclose(file);
    return !has_sva && evidence_arm64(doctor);
}

/* The machine has slept since it was started: one clock of the kernel goes on, and the other does not. In a time
 * namespace, the clocks show something else. */
bool evidence_suspended_before(const struct doctor *doctor)
{
#if defined(CLOCK_BOOTTIME)
    enum { SECONDS = 5 };
    char offsets[128];
    struct timespec with, without;
    if (evidence_read(doctor, "/proc/self/timens_offsets", offsets, sizeof offsets)
        && strpbrk(offsets, "123456789") != NULL)
        return false;
    return doctor->root[0] == '\0' && clock_gettime(CLOCK_BOOTTIME, &with) == 0
           && clock_gettime(CLOCK_MONOTONIC, &without) == 0 && with.tv_sec - without.tv_sec > SECONDS;
#else
    (void)doctor;
    return false;
#endif
}
