/* SPDX-License-Identifier: MIT */
#include "system.h"

#include <stdio.h>
#include <string.h>

#include "os_file.h"
#include "os_system.h"

/* Files are tiny; the longest line that matters is that of /proc/driver/nvidia/version. */
enum { FILE_START = 512, MOST_GPU_NODES = 16 };

static bool read_below(const char *root, const char *path, char *text, size_t size)
{
    char whole[OS_PATH_SIZE];
    return cushim_priv_os_path_below(root, path, whole, sizeof whole) && cushim_priv_os_file_read(whole, text, size);
}

static enum cushim_node node_below(const char *root, const char *path)
{
    char whole[OS_PATH_SIZE];
    if (!cushim_priv_os_path_below(root, path, whole, sizeof whole))
        return CUSHIM_NODE_ABSENT;
    switch (cushim_priv_os_file_state(whole, true)) {
    case OS_FILE_READY:
        return CUSHIM_NODE_READY;
    case OS_FILE_DENIED:
        return CUSHIM_NODE_DENIED;
    case OS_FILE_ABSENT:
        break;
    }
    return CUSHIM_NODE_ABSENT;
}

/* The first word of `text` that looks like 580.159.03. */
static void copy_version(const char *text, char *version, size_t size)
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

static bool is_nvidia_display(const char *root, const char *folder, const char *name)
{
    char path[512];
    char text[16];
    if (name[0] == '.')
        return false;
    snprintf(path, sizeof path, "%s/%.255s/vendor", folder, name);
    if (!read_below(root, path, text, sizeof text) || strncmp(text, "0x10de", 6) != 0)
        return false;
    snprintf(path, sizeof path, "%s/%.255s/class", folder, name);
    return read_below(root, path, text, sizeof text) && strncmp(text, "0x03", 4) == 0;
}

static bool is_container(const char *root)
{
    char text[FILE_START];
    return read_below(root, "/.dockerenv", text, sizeof text)
           || read_below(root, "/run/.containerenv", text, sizeof text)
           || read_below(root, "/run/systemd/container", text, sizeof text)
           || (read_below(root, "/proc/1/cgroup", text, sizeof text)
               && (strstr(text, "/docker/") != NULL || strstr(text, "kubepods") != NULL));
}

void cushim_priv_system_kernel_module(const char *root, char *version, size_t size)
{
    char text[FILE_START];
    version[0] = '\0';
    if (read_below(root, "/proc/driver/nvidia/version", text, sizeof text)
        || read_below(root, "/sys/module/nvidia/version", text, sizeof text))
        copy_version(text, version, size);
}

void cushim_system(const char *root, struct cushim_system *ret_system)
{
    if (ret_system == NULL)
        return;
    if (root == NULL)
        root = "";
    struct cushim_system system = {0};
    *ret_system = system;
    if (!cushim_priv_os_has_device_nodes)
        return;
    cushim_priv_system_kernel_module(root, system.kernel_module, sizeof system.kernel_module);
    system.control_node = node_below(root, "/dev/nvidiactl");
    system.uvm_node = node_below(root, "/dev/nvidia-uvm");
    system.wsl_node = node_below(root, "/dev/dxg");
    for (int i = 0; i < MOST_GPU_NODES; i++) {
        char path[32];
        snprintf(path, sizeof path, "/dev/nvidia%d", i);
        enum cushim_node node = node_below(root, path);
        system.gpu_node_count += node != CUSHIM_NODE_ABSENT;
        if (node > system.gpu_node)
            system.gpu_node = node;
    }
    system.gpu_on_bus = cushim_priv_os_folder_find(root, "/sys/bus/pci/devices", is_nvidia_display);
    system.container = is_container(root);
    *ret_system = system;
}
