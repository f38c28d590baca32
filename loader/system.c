/* SPDX-License-Identifier: MIT */
#include "find_driver.h"

#include <stdio.h>
#include <string.h>

#include "os.h"

/* The files are small. The longest line that matters is that of /proc/driver/nvidia/version. */
enum { FILE_START_SIZE = 512, MAX_GPU_NODES = 16 };

static const char system_pci_devices[] = "/sys/bus/pci/devices";

static bool system_read_below(const char *root, const char *path, char *text, size_t size)
{
    char full_path[OS_PATH_SIZE];
    return cush_os_path_below(root, path, full_path, sizeof full_path) && cush_os_file_read(full_path, text, size);
}

static enum cushim_node system_node_below(const char *root, const char *path)
{
    char full_path[OS_PATH_SIZE];
    if (!cush_os_path_below(root, path, full_path, sizeof full_path))
        return CUSHIM_NODE_ABSENT;
    switch (cush_os_file_state(full_path, true)) {
    case OS_FILE_READY:
        return CUSHIM_NODE_READY;
    case OS_FILE_DENIED:
        return CUSHIM_NODE_DENIED;
    case OS_FILE_ABSENT:
        break;
    }
    return CUSHIM_NODE_ABSENT;
}

/* Copies the first word of `text` that looks like 580.159.03. */
static void system_copy_version(const char *text, char *version, size_t size)
{
    for (const char *word = text; *word != '\0'; word += strcspn(word, " \t\n"), word += strspn(word, " \t\n")) {
        size_t length = strspn(word, "0123456789.");
        bool whole = word[length] == '\0' || strchr(" \t\n", word[length]) != NULL;
        if (length >= 3 && whole && memchr(word, '.', length) != NULL && length < size) {
            memcpy(version, word, length);
            version[length] = '\0';
            return;
        }
    }
}

static bool system_is_nvidia_display(const char *root, const char *directory, const char *name, void *unused)
{
    (void)unused;
    char path[512];
    char text[16];
    if (name[0] == '.')
        return false;
    snprintf(path, sizeof path, "%s/%.255s/vendor", directory, name);
    if (!system_read_below(root, path, text, sizeof text) || strncmp(text, "0x10de", 6) != 0)
        return false;
    snprintf(path, sizeof path, "%s/%.255s/class", directory, name);
    return system_read_below(root, path, text, sizeof text) && strncmp(text, "0x03", 4) == 0;
}

static bool system_is_lost(const char *root, const char *directory, const char *name, void *unused)
{
    char path[512];
    char text[8];
    snprintf(path, sizeof path, "%s/%.255s/config", directory, name);
    return system_is_nvidia_display(root, directory, name, unused) && system_read_below(root, path, text, sizeof text)
           && memcmp(text, "\377\377\377\377", 4) == 0;
}

static bool system_is_container(const char *root)
{
    char text[FILE_START_SIZE];
    return system_read_below(root, "/.dockerenv", text, sizeof text)
           || system_read_below(root, "/run/.containerenv", text, sizeof text)
           || system_read_below(root, "/run/systemd/container", text, sizeof text)
           || (system_read_below(root, "/proc/1/cgroup", text, sizeof text)
               && (strstr(text, "/docker/") != NULL || strstr(text, "kubepods") != NULL));
}

void cush_system_kernel_module(const char *root, char *version, size_t size)
{
    char text[FILE_START_SIZE];
    version[0] = '\0';
    if (system_read_below(root, "/proc/driver/nvidia/version", text, sizeof text)
        || system_read_below(root, "/sys/module/nvidia/version", text, sizeof text))
        system_copy_version(text, version, size);
}

bool cush_system_gpu_is_lost(const char *root)
{
    return cush_os_directory_find(root, system_pci_devices, system_is_lost, NULL);
}

void cushim_system_get_info(const char *root, struct cushim_system *out_system)
{
    if (out_system == NULL)
        return;
    if (root == NULL)
        root = "";
    struct cushim_system system = {0};
    *out_system = system;
    if (!cush_os_has_device_nodes)
        return;
    cush_system_kernel_module(root, system.kernel_module, sizeof system.kernel_module);
    system.control_node = system_node_below(root, "/dev/nvidiactl");
    system.uvm_node = system_node_below(root, "/dev/nvidia-uvm");
    system.jetson_node = system_node_below(root, "/dev/nvmap");
    system.wsl_node = system_node_below(root, "/dev/dxg");
    for (int i = 0; i < MAX_GPU_NODES; i++) {
        char path[32];
        snprintf(path, sizeof path, "/dev/nvidia%d", i);
        enum cushim_node node = system_node_below(root, path);
        system.gpu_node_count += node != CUSHIM_NODE_ABSENT;
        if (node > system.gpu_node)
            system.gpu_node = node;
    }
    system.gpu_on_bus = cush_os_directory_find(root, system_pci_devices, system_is_nvidia_display, NULL);
    system.container = system_is_container(root);
    *out_system = system;
}
