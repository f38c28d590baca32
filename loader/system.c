/* SPDX-License-Identifier: MIT */
#include "find_driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os.h"

/* The files are small. The longest line that matters is that of /proc/driver/nvidia/version. */
enum { FILE_START_SIZE = 512, MAX_GPU_NODES = 16 };

const char cush_system_pci_devices[] = "/sys/bus/pci/devices";

static CUSHIM_COLD bool system_read_below(const char *root, const char *path, char *text, size_t size)
{
    char full_path[OS_PATH_SIZE];
    text[0] = '\0';
    return cush_os_path_below(root, path, full_path, sizeof full_path) && cush_os_file_read(full_path, text, size);
}

static CUSHIM_COLD enum cushim_node system_node_below(const char *root, const char *path)
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
        if (length >= 3 && whole && strcspn(word, ".") < length && length < size) {
            memcpy(version, word, length);
            version[length] = '\0';
            return;
        }
    }
}

/*
 * The bus. A server has 300 devices, and reading a file of each takes longer than a start that fails with an old
 * driver. /proc/bus/pci/devices lists them in one file, without the class of a device and without the domain of its
 * address: so it shows which directories are worth reading.
 */
struct bus_scan {
    void (*use)(const char *address, void *user);
    void *user;
    char listed[64][8]; /* "01:00.0": the devices of NVIDIA */
    size_t listed_count;
    bool has_list;
    int read, unread, of_nvidia; /* the devices whose vendor was read, and was not; all on the list count as read */
};

/* A line starts with bus (two digits) and device with function (two digits), a tabulator, vendor (four digits) and
 * device. */
static CUSHIM_COLD void bus_scan_line(const char *line, void *user)
{
    struct bus_scan *scan = user;
    bool is_device = strspn(line, "0123456789abcdef") == 4 && line[4] == '\t';
    scan->has_list |= is_device;
    scan->read += is_device;
    if (is_device && strncmp(line + 5, "10de", 4) == 0
        && scan->listed_count < sizeof scan->listed / sizeof scan->listed[0]) {
        unsigned address = (unsigned)strtoull(line, NULL, 16);
        snprintf(scan->listed[scan->listed_count++], sizeof scan->listed[0], "%02x:%02x.%x", address >> 8 & 0xff,
                 address >> 3 & 0x1f, address & 7);
    }
}

/* Whether a device in a directory such as "0000:01:00.0" can be one of NVIDIA. A list that is full may be
 * incomplete. */
static bool bus_scan_admits(const struct bus_scan *scan, const char *name)
{
    bool found = !scan->has_list || scan->listed_count == sizeof scan->listed / sizeof scan->listed[0];
    size_t length = strlen(name), listed_length = sizeof scan->listed[0] - 1;
    for (size_t i = 0; i < scan->listed_count && !found; i++)
        found = length >= listed_length && strcmp(name + length - listed_length, scan->listed[i]) == 0;
    return found && name[0] != '.';
}

static CUSHIM_COLD bool bus_device_read(const char *root, const char *device, const char *file, char *text, size_t size)
{
    char path[384];
    snprintf(path, sizeof path, "%s/%.255s/%s", cush_system_pci_devices, device, file);
    return system_read_below(root, path, text, size);
}

/* Writes the name of the kernel driver of a device, or "". A file has it, and, in a copy of the tree, perhaps only the
 * link, which takes readlink() to read. */
static CUSHIM_COLD void bus_device_driver(const char *root, const char *device, char *name, size_t size)
{
    static const char key[] = "DRIVER=";
    char text[128], path[384], full_path[OS_PATH_SIZE]; /* the driver is in the first line */
    bool has_file = bus_device_read(root, device, "uevent", text, sizeof text);
    const char *line = has_file ? strstr(text, key) : NULL;
    name[0] = '\0';
    snprintf(path, sizeof path, "%s/%.255s", cush_system_pci_devices, device);
    if (line != NULL) {
        snprintf(name, size, "%.*s", (int)strcspn(line + sizeof key - 1, "\n"), line + sizeof key - 1);
    } else if (!has_file && cush_os_path_below(root, path, full_path, sizeof full_path - sizeof "/driver")) {
        memcpy(full_path + strlen(full_path), "/driver", sizeof "/driver");
        if (!cush_os_link_name(full_path, name, size))
            name[0] = '\0';
    }
}

static CUSHIM_COLD bool bus_scan_device(const char *root, const char *directory, const char *name, void *user)
{
    char text[24];
    struct bus_scan *scan = user;
    (void)directory;
    if (!bus_scan_admits(scan, name))
        return false;
    if (!bus_device_read(root, name, "vendor", text, sizeof text)) {
        scan->unread++;
        return false;
    }
    scan->read++;
    if (strncmp(text, "0x10de", 6) != 0)
        return false;
    scan->of_nvidia++;
    if (bus_device_read(root, name, "class", text, sizeof text) && strncmp(text, "0x03", 4) == 0)
        scan->use(name, scan->user);
    return false;
}

/* Returns whether the bus can be seen. */
static bool bus_scan_run(struct bus_scan *scan, const char *root)
{
    char path[OS_PATH_SIZE];
    if (!cush_os_has_device_nodes)
        return false;
    if (cush_os_path_below(root, "/proc/bus/pci/devices", path, sizeof path))
        cush_os_file_each_line(path, bus_scan_line, scan);
    if (!scan->has_list || scan->listed_count > 0)
        cush_os_directory_find(root, cush_system_pci_devices, bus_scan_device, scan);
    return cush_system_has_file(root, cush_system_pci_devices);
}

bool cush_system_each_gpu(const char *root, void (*use)(const char *address, void *user), void *user)
{
    struct bus_scan scan = {.use = use, .user = user};
    return bus_scan_run(&scan, root);
}

bool cush_system_gpu_driver(const char *root, const char *address, char *name, size_t size)
{
    bus_device_driver(root, address, name, size);
    return name[0] != '\0';
}

bool cush_system_gpu_is_asleep(const char *root, const char *address)
{
    char text[24];
    return bus_device_read(root, address, "power/runtime_status", text, sizeof text)
           && strncmp(text, "suspend", 7) == 0;
}

struct bus_count {
    const char *root;
    struct system_bus *bus;
};

static void bus_count_gpu(const char *address, void *user)
{
    char text[24];
    const struct bus_count *count = user;
    struct system_bus *bus = count->bus;
    bus->gpus++;
    /* Linux wakes a GPU whose configuration is read. */
    bus->lost += !cush_system_gpu_is_asleep(count->root, address)
                 && bus_device_read(count->root, address, "config", text, 8)
                 && memcmp(text, "\377\377\377\377", 4) == 0;
    if (!cush_system_gpu_driver(count->root, address, text, sizeof text))
        return;
    bus->of_vfio += strcmp(text, "vfio-pci") == 0 || strcmp(text, "pci-stub") == 0 || strcmp(text, "xen-pciback") == 0;
    bus->of_another_driver +=
        strcmp(text, "nouveau") == 0 || strncmp(text, "nova", 4) == 0 || strcmp(text, "nvidiafb") == 0;
}

bool cush_system_is_container(const char *root)
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

bool cush_system_has_file(const char *root, const char *path)
{
    char full_path[OS_PATH_SIZE];
    return cush_os_path_below(root, path, full_path, sizeof full_path)
           && cush_os_file_state(full_path, false) != OS_FILE_ABSENT;
}

bool cush_system_file_contains(const char *root, const char *path, const char *word)
{
    char text[FILE_START_SIZE];
    return system_read_below(root, path, text, sizeof text) && strstr(text, word) != NULL;
}

enum system_kind cush_system_kind(const char *root)
{
    if (!cush_os_has_device_nodes)
        return SYSTEM_OTHER;
    if (cush_system_has_file(root, "/dev/dxg") || cush_system_file_contains(root, "/proc/version", "icrosoft"))
        return SYSTEM_WSL;
    return cush_system_has_file(root, "/dev/nvmap") || cush_system_has_file(root, "/dev/nvhost-ctrl-gpu")
                   || cush_system_has_file(root, "/etc/nv_tegra_release")
               ? SYSTEM_JETSON
               : SYSTEM_USUAL;
}

void cush_system_read(const char *root, struct cushim_system *out_system, struct system_bus *out_bus)
{
    struct cushim_system system = {0};
    *out_system = system;
    *out_bus = (struct system_bus){0};
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
    struct bus_count count = {root, out_bus};
    struct bus_scan scan = {.use = bus_count_gpu, .user = &count};
    out_bus->is_visible = bus_scan_run(&scan, root);
    out_bus->lacks_nvidia =
        out_bus->is_visible && scan.read > 0 && scan.unread == 0 && scan.listed_count == 0 && scan.of_nvidia == 0;
    system.has_gpu_on_bus = out_bus->gpus > 0;
    system.is_container = cush_system_is_container(root);
    *out_system = system;
}

bool cush_system_lacks_nvidia(const char *root)
{
    struct cushim_system system;
    struct system_bus bus;
    if (cush_system_kind(root) != SYSTEM_USUAL || cush_system_has_file(root, "/sys/module/nvidia")
        || cush_system_file_contains(root, "/proc/cmdline", "kata-containers"))
        return false;
    cush_system_read(root, &system, &bus);
    return bus.lacks_nvidia && system.kernel_module[0] == '\0' && system.uvm_node == CUSHIM_NODE_ABSENT
           && system.gpu_node == CUSHIM_NODE_ABSENT;
}

void cushim_system_get_info(const char *root, struct cushim_system *out_system)
{
    struct system_bus unused;
    if (out_system != NULL)
        cush_system_read(root != NULL ? root : "", out_system, &unused);
}
