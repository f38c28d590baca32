/* SPDX-License-Identifier: MIT */
/*
 * What NVML knows of the GPUs. Its functions have the types of nvml.h; drivers before 418 lack those of MIG, and 340
 * also that of the compute capability. The library stays open: opening it again loses 2 KB each time (driver 550).
 */
#include "gpu_list.h"

#include <stdio.h>
#include <string.h>

#include "common/atomic.h"
#include "companion.h"
#include "os.h"

/* nvmlPciInfo_t of version 2 and 3. */
struct nvml_pci {
    char legacy_bus_id[16];
    unsigned domain, bus, device, device_and_vendor, subsystem;
    char rest[128];
};

struct nvml {
    int (*init)(void);
    int (*shutdown)(void);
    int (*get_count)(unsigned *);
    int (*get_handle)(unsigned, void **);
    int (*get_uuid)(void *, char *, unsigned);
    int (*get_name)(void *, char *, unsigned);
    int (*get_pci)(void *, struct nvml_pci *);
    int (*get_minor)(void *, unsigned *);
    int (*get_capability)(void *, int *, int *);
    int (*get_mig)(void *, unsigned *, unsigned *);
};

static unsigned long nvml_process; /* the process in which this copy of cushim opened NVML */

#if defined(_WIN32)
static const char nvml_file[] = "nvml.dll";
#else
static const char nvml_file[] = "libnvidia-ml.so";
#endif

/*
 * NVML has a lock, and nothing that frees it in a child of fork(): if a thread of the parent was in NVML, a call in the
 * child blocks for ever. So a copy that is open before this process asked for one is not used in a child.
 */
static bool nvml_may_block(void)
{
    if (CUSHIM_LOAD_ACQUIRE(&nvml_process) == cush_os_process() || !cush_os_is_forked())
        return false;
    void *library = cush_os_library_open_again(nvml_file, 0);
    if (library != NULL)
        cush_os_library_close(library);
    return library != NULL;
}

/* Returns false if the library lacks what every version has. */
static bool nvml_open(const char *root, struct nvml *out_nvml)
{
    void *library = cush_companion_open_nvml(root);
    *out_nvml = (struct nvml){0};
    if (library == NULL)
        return false;
    CUSHIM_STORE_RELEASE(&nvml_process, cush_os_process());
#define NVML_FIND(member, type, symbol) out_nvml->member = (type)cush_os_library_symbol(library, symbol)
    NVML_FIND(init, int (*)(void), "nvmlInit_v2");
    NVML_FIND(shutdown, int (*)(void), "nvmlShutdown");
    NVML_FIND(get_count, int (*)(unsigned *), "nvmlDeviceGetCount_v2");
    NVML_FIND(get_handle, int (*)(unsigned, void **), "nvmlDeviceGetHandleByIndex_v2");
    NVML_FIND(get_uuid, int (*)(void *, char *, unsigned), "nvmlDeviceGetUUID");
    NVML_FIND(get_name, int (*)(void *, char *, unsigned), "nvmlDeviceGetName");
    NVML_FIND(get_pci, int (*)(void *, struct nvml_pci *), "nvmlDeviceGetPciInfo_v3");
    if (out_nvml->get_pci == NULL)
        NVML_FIND(get_pci, int (*)(void *, struct nvml_pci *), "nvmlDeviceGetPciInfo_v2");
    NVML_FIND(get_minor, int (*)(void *, unsigned *), "nvmlDeviceGetMinorNumber");
    NVML_FIND(get_capability, int (*)(void *, int *, int *), "nvmlDeviceGetCudaComputeCapability");
    NVML_FIND(get_mig, int (*)(void *, unsigned *, unsigned *), "nvmlDeviceGetMigMode");
#undef NVML_FIND
    return out_nvml->init != NULL && out_nvml->shutdown != NULL && out_nvml->get_count != NULL
           && out_nvml->get_handle != NULL && out_nvml->get_pci != NULL;
}

static void nvml_read_gpu(const struct nvml *nvml, unsigned index, struct gpu_list *list)
{
    void *handle;
    struct nvml_pci pci;
    char address[sizeof list->gpus[0].public.pci_bus_id];
    unsigned value, pending;
    int major, minor;
    /* The count includes GPUs that this user may not open, and those have no handle. */
    if (nvml->get_handle(index, &handle) != 0 || nvml->get_pci(handle, &pci) != 0)
        return;
    snprintf(address, sizeof address, "%04x:%02x:%02x.0", pci.domain, pci.bus & 0xff, pci.device & 0x1f);
    struct gpu *gpu = cush_gpu_list_add(list, address);
    if (gpu == NULL)
        return;
    struct cushim_gpu *public = &gpu->public;
    public->nvml_index = (int)index;
    gpu->device_id = pci.device_and_vendor >> 16;
    if (nvml->get_uuid != NULL && nvml->get_uuid(handle, public->uuid, sizeof public->uuid) != 0)
    public->uuid[0] = '\0';
    if (nvml->get_name != NULL && nvml->get_name(handle, public->name, sizeof public->name) != 0)
    public->name[0] = '\0';
    if (nvml->get_minor != NULL && nvml->get_minor(handle, &value) == 0)
    public->minor = (int)value;
    if (nvml->get_capability != NULL && nvml->get_capability(handle, &major, &minor) == 0)
    public->capability = 1000 * major + 10 * minor;
    cush_gpu_set_capability(gpu);
    /* A GPU or a driver without MIG returns an error. */
    bool has_mig = nvml->get_mig != NULL && nvml->get_mig(handle, &value, &pending) == 0 && value != 0;
    public->mig = has_mig ? CUSHIM_GPU_MIG_ON : CUSHIM_GPU_MIG_OFF;
}

void cush_gpu_list_ask_nvml(const char *root, bool is_wanted, struct gpu_list *list)
{
    struct nvml nvml;
    unsigned count = 0;
    if ((!is_wanted && nvml_may_block()) || !nvml_open(root, &nvml) || nvml.init() != 0)
        return;
    if (nvml.get_count(&count) == 0) {
        for (unsigned i = 0; i < count; i++)
            nvml_read_gpu(&nvml, i, list);
        list->has_nvml = true;
    }
    nvml.shutdown();
    for (int i = 0; i < list->count && list->has_nvml; i++) {
        struct cushim_gpu *gpu = &list->gpus[i].public;
        if (gpu->nvml_index >= 0)
            gpu->hider = CUSHIM_GPU_HIDER_NONE;
        else if (gpu->hider == CUSHIM_GPU_HIDER_NONE)
            gpu->hider = CUSHIM_GPU_HIDER_NVML;
    }
    cush_gpu_list_sort(list);
}
