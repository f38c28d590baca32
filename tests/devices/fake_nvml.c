/* SPDX-License-Identifier: MIT */
/*
 * A libnvidia-ml.so.1 with the GPUs of FAKE_GPUS: "domain:bus:device id uuid capability minor mig name;...", in which a
 * mig of -1 is "not supported". FAKE_NVML is what nvmlInit returns. The GPU with the index FAKE_DENIED has no handle.
 * With FAKE_OLD, it is that of driver 340.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"

enum { SUCCESS = 0, NOT_SUPPORTED = 3, NO_PERMISSION = 4 };

struct gpu {
    unsigned domain, bus, device, id, minor;
    int capability, mig;
    char uuid[64], name[64];
};

/* The first members of nvmlPciInfo_t. */
struct pci {
    char legacy_bus_id[16];
    unsigned domain, bus, device, device_and_vendor, subsystem;
};

static struct gpu gpus[80];
static unsigned count;

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlShutdown(void);
EXPORT int nvmlDeviceGetCount_v2(unsigned *out_count);
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **out_gpu);
EXPORT int nvmlDeviceGetUUID(const struct gpu *gpu, char *text, unsigned size);
EXPORT int nvmlDeviceGetName(const struct gpu *gpu, char *text, unsigned size);
EXPORT int nvmlDeviceGetMinorNumber(const struct gpu *gpu, unsigned *out_minor);

int nvmlInit_v2(void)
{
    const char *text = getenv("FAKE_GPUS"), *code = getenv("FAKE_NVML");
    for (count = 0; text != NULL && *text != '\0' && count < sizeof gpus / sizeof gpus[0]; count++) {
        struct gpu *gpu = &gpus[count];
        if (sscanf(text, "%x:%x:%x %x %63s %d %u %d %63[^;]", &gpu->domain, &gpu->bus, &gpu->device, &gpu->id,
                   gpu->uuid, &gpu->capability, &gpu->minor, &gpu->mig, gpu->name)
            != 9)
            abort();
        text += strcspn(text, ";");
        text += *text == ';';
    }
    return code != NULL ? atoi(code) : SUCCESS;
}

int nvmlShutdown(void)
{
    return SUCCESS;
}

int nvmlDeviceGetCount_v2(unsigned *out_count)
{
    *out_count = count;
    return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **out_gpu)
{
    const char *denied = getenv("FAKE_DENIED");
    *out_gpu = &gpus[index];
    return denied != NULL && (unsigned)atoi(denied) == index ? NO_PERMISSION : SUCCESS;
}

int nvmlDeviceGetUUID(const struct gpu *gpu, char *text, unsigned size)
{
    snprintf(text, size, "%s", gpu->uuid);
    return SUCCESS;
}

int nvmlDeviceGetName(const struct gpu *gpu, char *text, unsigned size)
{
    snprintf(text, size, "%s", gpu->name);
    return SUCCESS;
}

int nvmlDeviceGetMinorNumber(const struct gpu *gpu, unsigned *out_minor)
{
    *out_minor = gpu->minor;
    return SUCCESS;
}

#if !defined(FAKE_OLD)
#    define PCI_INFO nvmlDeviceGetPciInfo_v3
EXPORT int nvmlDeviceGetCudaComputeCapability(const struct gpu *gpu, int *out_major, int *out_minor);
EXPORT int nvmlDeviceGetMigMode(const struct gpu *gpu, unsigned *out_current, unsigned *out_pending);

int nvmlDeviceGetCudaComputeCapability(const struct gpu *gpu, int *out_major, int *out_minor)
{
    *out_major = gpu->capability / 10;
    *out_minor = gpu->capability % 10;
    return SUCCESS;
}

int nvmlDeviceGetMigMode(const struct gpu *gpu, unsigned *out_current, unsigned *out_pending)
{
    *out_current = *out_pending = gpu->mig > 0;
    return gpu->mig < 0 ? NOT_SUPPORTED : SUCCESS;
}
#else
#    define PCI_INFO nvmlDeviceGetPciInfo_v2
#endif

EXPORT int PCI_INFO(const struct gpu *gpu, struct pci *out_pci);

int PCI_INFO(const struct gpu *gpu, struct pci *out_pci)
{
    *out_pci = (struct pci){.legacy_bus_id = "",
                            .domain = gpu->domain,
                            .bus = gpu->bus,
                            .device = gpu->device,
                            .device_and_vendor = gpu->id << 16 | 0x10de};
    return SUCCESS;
}
