/* SPDX-License-Identifier: MIT */
/* Reads files below the root, and the PCI bus. */
#include "doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

bool evidence_read(const struct doctor *doctor, const char *path, char *text, size_t size)
{
    char whole[OS_PATH_SIZE];
    text[0] = '\0';
    return platform_has_system_files() && cush_os_path_below(doctor->root, path, whole, sizeof whole)
           && cush_os_file_read(whole, text, size);
}

bool evidence_exists(const struct doctor *doctor, const char *path)
{
    char whole[OS_PATH_SIZE];
    return platform_has_system_files() && cush_os_path_below(doctor->root, path, whole, sizeof whole)
           && platform_exists(whole);
}

bool evidence_contains(const struct doctor *doctor, const char *path, const char *word)
{
    char text[4096];
    return evidence_read(doctor, path, text, sizeof text) && strstr(text, word) != NULL;
}

#if defined(_WIN32)
void evidence_read_bus(struct doctor *doctor)
{
    (void)doctor;
}

void evidence_ask_nvml(struct nvml *nvml, const struct start *start, int seconds)
{
    (void)nvml;
    (void)start;
    (void)seconds;
}
#else
#    include <dirent.h>
#    include <dlfcn.h>
#    include <unistd.h>

static const char bus_directory[] = "/sys/bus/pci/devices";

static bool bus_read(const struct doctor *doctor, const char *device, const char *file, char *text, size_t size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%.64s/%s", bus_directory, device, file);
    return evidence_read(doctor, path, text, size);
}

static void bus_add(struct doctor *doctor, const char *device)
{
    enum { DISPLAY = 0x03, BRIDGE = 0x0680 };
    char text[64], path[192], whole[OS_PATH_SIZE];
    struct bus *bus = &doctor->bus;
    if (!bus_read(doctor, device, "vendor", text, sizeof text) || strncmp(text, "0x10de", 6) != 0
        || !bus_read(doctor, device, "class", text, sizeof text))
        return;
    unsigned long class = strtoul(text, NULL, 16) >> 8;
    bus->switches += class == BRIDGE;
    if (class >> 8 != DISPLAY || bus->count == MAX_BUS_GPUS)
        return;
    struct bus_gpu *gpu = &bus->gpus[bus->count++];
    snprintf(gpu->address, sizeof gpu->address, "%.23s", device);
    gpu->device = bus_read(doctor, device, "device", text, sizeof text) ? (unsigned)strtoul(text, NULL, 16) : 0;
    /* Below a root, cush_os_path_below() would follow the link itself. */
    snprintf(path, sizeof path, "%s/%.64s", bus_directory, device);
    gpu->is_of_another_driver = cush_os_path_below(doctor->root, path, whole, sizeof whole - sizeof "/driver")
                                && cush_os_link_name(strcat(whole, "/driver"), text, sizeof text)
                                && strcmp(text, "nvidia") != 0;
    /* Linux wakes a GPU whose configuration is read. */
    bool is_asleep =
        bus_read(doctor, device, "power/runtime_status", text, sizeof text) && strncmp(text, "suspend", 7) == 0;
    gpu->is_lost =
        !is_asleep && bus_read(doctor, device, "config", text, sizeof text) && memcmp(text, "\xff\xff\xff\xff", 4) == 0;
}

static int bus_compare(const void *one, const void *other)
{
    return strcmp(((const struct bus_gpu *)one)->address, ((const struct bus_gpu *)other)->address);
}

void evidence_read_bus(struct doctor *doctor)
{
    char whole[OS_PATH_SIZE];
    DIR *directory = cush_os_path_below(doctor->root, bus_directory, whole, sizeof whole) ? opendir(whole) : NULL;
    for (const struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;)
        bus_add(doctor, entry->d_name);
    if (directory != NULL)
        closedir(directory);
    qsort(doctor->bus.gpus, (size_t)doctor->bus.count, sizeof doctor->bus.gpus[0], bus_compare);
}

/* ---- NVML ---- */

struct nvml_memory {
    unsigned long long total, free, used;
};

static cushim_fn nvml_function(void *library, const char *name)
{
    union {
        void *object;
        cushim_fn function;
    } symbol = {dlsym(library, name)};
    return symbol.function;
}

typedef int (*nvml_init_fn)(void);
typedef int (*nvml_handle_fn)(unsigned index, void **out_device);
typedef int (*nvml_find_fn)(const char *bus_id, void **out_device);
typedef int (*nvml_memory_fn)(void *device, struct nvml_memory *out_memory);
typedef int (*nvml_mig_fn)(void *device, unsigned *out_current, unsigned *out_pending);

static void nvml_ask(void *memory)
{
    struct nvml *nvml = memory;
    struct nvml_memory bytes;
    void *device;
    unsigned current, pending;
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return;
    nvml_init_fn init = (nvml_init_fn)nvml_function(library, "nvmlInit_v2");
    nvml_handle_fn handle = (nvml_handle_fn)nvml_function(library, "nvmlDeviceGetHandleByIndex_v2");
    nvml_memory_fn get_memory = (nvml_memory_fn)nvml_function(library, "nvmlDeviceGetMemoryInfo");
    nvml_mig_fn get_mig = (nvml_mig_fn)nvml_function(library, "nvmlDeviceGetMigMode");
    nvml_find_fn find = (nvml_find_fn)nvml_function(library, "nvmlDeviceGetHandleByPciBusId_v2");
    if (init == NULL || handle == NULL || find == NULL || get_memory == NULL || init() != 0
        || (nvml->bus_id[0] != '\0' ? find(nvml->bus_id, &device) : handle(0, &device)) != 0)
        return;
    if (get_memory(device, &bytes) == 0) {
        nvml->used = bytes.used;
        nvml->total = bytes.total;
        nvml->known = true;
    }
    nvml->mig_known = get_mig != NULL && get_mig(device, &current, &pending) == 0;
    nvml->mig = nvml->mig_known && current != 0;
}

void evidence_ask_nvml(struct nvml *nvml, const struct start *start, int seconds)
{
    snprintf(nvml->bus_id, sizeof nvml->bus_id, "%s", start->gpus[0].bus_id);
    nvml->child.may_begin = nvml->child.is_quiet = true;
    struct child child = child_start(nvml_ask, nvml);
    if (child.error != 0)
        return;
    if (!child_wait(&child, seconds * 1000))
        child_stop(&child);
}
#endif
