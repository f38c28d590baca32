/* SPDX-License-Identifier: MIT */
/*
 * The GPUs by files: the list of the kernel module in /proc, the bus and the device nodes. Reading them opens no device
 * and wakes no GPU: a GPU that sleeps would be woken by its file in /proc, so that file is not read.
 */
#include "gpu_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "find_driver.h"
#include "os.h"

enum { NODE_MAJOR = 195, CONTROL_MINOR = 255, ADDRESS_SIZE = sizeof((struct cushim_gpu *)0)->pci_bus_id };
_Static_assert(GPU_UUID_SIZE == sizeof((struct cushim_gpu *)0)->uuid, "a UUID is copied whole");

static const char gpu_directory[] = "/proc/driver/nvidia/gpus";

/* ---- The list ---- */

CUSHIM_COLD struct gpu *cush_gpu_list_add(struct gpu_list *list, const char *address)
{
    for (int i = 0; i < list->count; i++) {
        if (strcmp(list->gpus[i].public.pci_bus_id, address) == 0)
            return &list->gpus[i];
    }
    list->is_full |= list->count == GPU_MAX;
    if (list->count == GPU_MAX)
        return NULL;
    struct gpu *gpu = &list->gpus[list->count++];
    *gpu = (struct gpu){
        .public = {.ordinal = CUSHIM_GPU_HIDDEN, .minor = CUSHIM_GPU_NOT_KNOWN, .nvml_index = CUSHIM_GPU_NOT_KNOWN}};
    snprintf(gpu->public.pci_bus_id, ADDRESS_SIZE, "%s", address);
    return gpu;
}

/* The domain of an address can have more than four digits, so addresses are compared as numbers. */
static CUSHIM_COLD int gpu_compare(const void *one, const void *other)
{
    const struct gpu *gpus[2] = {one, other};
    unsigned long long numbers[2];
    for (int i = 0; i < 2; i++) {
        unsigned domain = 0, bus = 0, device = 0;
        (void)sscanf(gpus[i]->public.pci_bus_id, "%x:%x:%x", &domain, &bus, &device);
        numbers[i] = (unsigned long long)domain << 16 | (bus & 0xff) << 8 | (device & 0xff);
    }
    return (numbers[0] > numbers[1]) - (numbers[0] < numbers[1]);
}

void cush_gpu_list_sort(struct gpu_list *list)
{
    qsort(list->gpus, (size_t)list->count, sizeof list->gpus[0], gpu_compare);
}

CUSHIM_COLD void cush_gpu_set_capability(struct gpu *gpu)
{
    static const struct {
        unsigned first, last;
        int capability;
    } generations[] = {
#define CUSHIM_GENERATION(first, last, capability, generation, since, last_branch, module) {first, last, capability},
#include "lists/gpus.inc"
    };
    for (size_t i = 0; i < sizeof generations / sizeof generations[0] && gpu->public.capability == 0; i++) {
        if (generations[i].first <= gpu->device_id && gpu->device_id <= generations[i].last)
            gpu->public.capability = generations[i].capability;
    }
    /* Before Ampere, and in its GPUs and those of Ada for graphics, nothing can be divided. */
    int capability = gpu->public.capability;
    if (capability != 0 && (capability < 8000 || capability == 8060 || capability == 8090))
        gpu->public.mig = CUSHIM_GPU_MIG_OFF;
}

/* ---- The bus ---- */

static CUSHIM_COLD bool gpu_read(const char *root, const char *directory, const char *address, const char *file,
                                 char *text, size_t size)
{
    char path[160], full_path[OS_PATH_SIZE];
    snprintf(path, sizeof path, "%s/%.24s/%s", directory, address, file);
    return cush_os_path_below(root, path, full_path, sizeof full_path) && cush_os_file_read(full_path, text, size);
}

static void gpu_read_bus(const char *root, struct gpu *gpu)
{
    const char *address = gpu->public.pci_bus_id;
    char text[32];
    if (gpu_read(root, cush_system_pci_devices, address, "device", text, sizeof text))
        gpu->device_id = (unsigned)strtoul(text, NULL, 16);
    gpu->public.is_asleep = cush_system_gpu_is_asleep(root, address);
    gpu->has_kernel_driver = cush_system_gpu_driver(root, address, text, sizeof text);
    gpu->has_other_driver = gpu->has_kernel_driver && strcmp(text, "nvidia") != 0;
    cush_gpu_set_capability(gpu);
}

struct gpu_scan {
    const char *root;
    struct gpu_list *list;
};

/* What NVIDIA's module drives is in its own list, unless this process cannot see that list. A container sees a part of
 * the list, and the whole bus: what it lacks is not its own. */
static CUSHIM_COLD void gpu_found_on_bus(const char *address, void *user)
{
    struct gpu_scan *scan = user;
    struct gpu_list *list = scan->list;
    int before = list->count;
    struct gpu *gpu = strlen(address) < ADDRESS_SIZE ? cush_gpu_list_add(list, address) : NULL;
    if (gpu == NULL || list->count == before)
        return;
    gpu_read_bus(scan->root, gpu);
    if (gpu->has_other_driver || (list->is_of_kernel && !gpu->has_kernel_driver))
        gpu->public.hider = CUSHIM_GPU_HIDER_DRIVER;
    else if (list->is_of_kernel)
        list->count = before;
}

/* ---- The kernel module, and device nodes ---- */

static CUSHIM_COLD enum cushim_gpu_hider node_hider(const char *root, const char *path, int minor)
{
    char full_path[OS_PATH_SIZE];
    if (!cush_os_path_below(root, path, full_path, sizeof full_path))
        return CUSHIM_GPU_HIDER_NODE;
    enum os_file state = cush_os_file_state(full_path, true);
    if (state == OS_FILE_ABSENT)
        return CUSHIM_GPU_HIDER_NODE;
    /* In a tree of files, a plain file stands for a node. */
    if (!cush_os_file_is_device(full_path, NODE_MAJOR, (unsigned)minor, root[0] != '\0'))
        return CUSHIM_GPU_HIDER_WRONG_NODE;
    return state == OS_FILE_DENIED ? CUSHIM_GPU_HIDER_PERMISSION : CUSHIM_GPU_HIDER_NONE;
}

static enum cushim_gpu_hider gpu_node_hider(const char *root, int minor)
{
    char path[32];
    snprintf(path, sizeof path, "/dev/nvidia%d", minor);
    return node_hider(root, path, minor);
}

/* Copies the value of "GPU UUID: \t GPU-8891...". */
static void field_copy(const char *text, const char *key, char *value, size_t size)
{
    const char *line = strstr(text, key);
    value[0] = '\0';
    if (line == NULL)
        return;
    line += strlen(key);
    line += strspn(line, ": \t");
    snprintf(value, size, "%.*s", (int)strcspn(line, "\n"), line);
}

static bool mig_is_instance(const char *root, const char *directory, const char *name, void *user)
{
    (void)root;
    (void)directory;
    (void)user;
    return strncmp(name, "gi", 2) == 0;
}

static void gpu_read_information(const char *root, struct gpu *gpu)
{
    struct cushim_gpu *public = &gpu->public;
    char text[1024], value[48], path[64];
    if (!gpu_read(root, gpu_directory, public->pci_bus_id, "information", text, sizeof text))
        return;
    field_copy(text, "Model", public->name, sizeof public->name);
    field_copy(text, "GPU UUID", public->uuid, sizeof public->uuid);
    if (strchr(public->uuid, '?') != NULL) /* nobody has opened the GPU since the start of the machine */
    public->uuid[0] = '\0';
    field_copy(text, "Device Minor", value, sizeof value);
    if (value[0] < '0' || value[0] > '9')
        return;
    public->minor = atoi(value);
    snprintf(path, sizeof path, "/proc/driver/nvidia/capabilities/gpu%d/mig", public->minor);
    if (cush_os_directory_find(root, path, mig_is_instance, NULL))
    public->mig = CUSHIM_GPU_MIG_ON;
    public->hider = gpu_node_hider(root, public->minor);
    field_copy(text, "GPU Excluded", value, sizeof value);
    if (strcmp(value, "Yes") == 0)
    public->hider = CUSHIM_GPU_HIDER_EXCLUSION;
}

static CUSHIM_COLD bool gpu_found_in_proc(const char *root, const char *directory, const char *name, void *user)
{
    struct gpu_scan *scan = user;
    (void)root;
    (void)directory;
    if (name[0] != '.' && strlen(name) < ADDRESS_SIZE)
        cush_gpu_list_add(scan->list, name);
    return false;
}

/* The number of a GPU that sleeps is in the file that is not read. If every node is the same, the number is of no
 * importance. */
static enum cushim_gpu_hider gpu_node_hider_of_all(const char *root, struct gpu_list *list)
{
    enum cushim_gpu_hider first = gpu_node_hider(root, 0);
    for (int i = 1; i < list->count; i++)
        list->lacks_node_of_sleeper |= gpu_node_hider(root, i) != first;
    return first;
}

void cush_gpu_list_read(const char *root, bool may_wake, struct gpu_list *out_list)
{
    struct gpu_list *list = out_list;
    struct gpu_scan scan = {root, list};
    *list = (struct gpu_list){.has_module = cush_system_has_file(root, "/proc/driver/nvidia/version")
                                            || cush_system_has_file(root, "/sys/module/nvidia"),
                              .is_container = cush_system_is_container(root)};
    cush_os_directory_find(root, gpu_directory, gpu_found_in_proc, &scan);
    list->is_of_kernel = list->count > 0;
    enum cushim_gpu_hider control = node_hider(root, "/dev/nvidiactl", CONTROL_MINOR);
    for (int i = 0; i < list->count; i++) {
        struct gpu *gpu = &list->gpus[i];
        gpu_read_bus(root, gpu);
        if (!gpu->public.is_asleep || may_wake)
            gpu_read_information(root, gpu);
        else
            gpu->public.hider = gpu_node_hider_of_all(root, list);
        if (gpu->public.hider == CUSHIM_GPU_HIDER_NONE)
            gpu->public.hider = control;
    }
    list->is_bus_visible = cush_system_each_gpu(root, gpu_found_on_bus, &scan);
    cush_gpu_list_sort(list);
}

int cush_gpu_list_uuids(const char *root, char uuids[GPU_MAX][GPU_UUID_SIZE])
{
    struct gpu_list *list = malloc(sizeof *list);
    int count = 0;
    bool is_known = list != NULL;
    if (list != NULL)
        cush_gpu_list_read(root, false, list);
    for (int i = 0; list != NULL && list->is_of_kernel && i < list->count; i++) {
        const struct cushim_gpu *gpu = &list->gpus[i].public;
        is_known &= gpu->mig != CUSHIM_GPU_MIG_ON; /* the numbers are those of its parts */
        if (gpu->hider == CUSHIM_GPU_HIDER_NONE)
            memcpy(uuids[count++], gpu->uuid, sizeof gpu->uuid);
    }
    free(list);
    return is_known && count > 0 ? count : -1;
}

/* ---- UUIDs ---- */

static char to_lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

/* Whether an entry of CUDA_VISIBLE_DEVICES is the beginning of a UUID, with one digit at least. Digits can be of any
 * case. Hyphens are ignored wherever they are, and so is what follows a whole UUID. */
static bool uuid_begins_with(const char *entry, size_t length, const char *uuid, bool *out_is_whole)
{
    const char *digit = entry + UUID_PREFIX, *end = entry + length;
    bool has_digit = false;
    *out_is_whole = false;
    for (const char *own = uuid + UUID_PREFIX; *own != '\0'; own++) {
        if (*own == '-')
            continue;
        while (digit < end && *digit == '-')
            digit++;
        if (digit >= end)
            return has_digit;
        if (to_lower(*digit++) != to_lower(*own))
            return false;
        has_digit = true;
    }
    *out_is_whole = true;
    return true;
}

/* "MIG-" in front of the whole UUID of a GPU names that GPU. What it names in front of a beginning was not observed. */
int cush_gpu_list_find(const char *entry, size_t length, const char *const *uuids, int count)
{
    int found = NAMES_NOTHING;
    bool has_unknown = count < 0, is_part = strncmp(entry, "MIG-", UUID_PREFIX) == 0;
    for (int i = 0; i < count; i++) {
        bool is_whole = false;
        has_unknown |= uuids[i][0] == '\0';
        if (uuids[i][0] == '\0' || !uuid_begins_with(entry, length, uuids[i], &is_whole))
            continue;
        if (is_whole)
            return i;
        found = is_part ? NAMES_PART : found == NAMES_NOTHING ? i : NAMES_SEVERAL;
    }
    return has_unknown ? NAMES_UNKNOWN : found;
}
