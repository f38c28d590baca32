/* SPDX-License-Identifier: MIT */
/* A libnvidia-ml.so.1 whose GPUs have 140 GiB each. FAKE_USED is how much memory of the GPU is used, in GiB, and
 * FAKE_MIG whether it is in MIG mode. With FAKE_BUS_ID, the GPU is at that address and not the first one, whose memory
 * is free. FAKE_NVML is what nvmlInit returns. */
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, NOT_FOUND = 6 };

static int gpu, first_gpu;

static unsigned long long setting(const char *name)
{
    const char *value = getenv(name);
    return value != NULL ? strtoull(value, NULL, 10) : 0;
}

int nvmlInit_v2(void)
{
    return (int)setting("FAKE_NVML");
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    *device = getenv("FAKE_BUS_ID") != NULL ? &first_gpu : &gpu;
    return index == 0 ? SUCCESS : NOT_FOUND;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **device)
{
    const char *own = getenv("FAKE_BUS_ID");
    *device = &gpu;
    return own != NULL && strcmp(address, own) == 0 ? SUCCESS : NOT_FOUND;
}

int nvmlDeviceGetMemoryInfo(void *device, unsigned long long *total_free_used)
{
    const unsigned long long total = 140ULL << 30, used = device == &gpu ? setting("FAKE_USED") << 30 : 0;
    total_free_used[0] = total;
    total_free_used[1] = total - used;
    total_free_used[2] = used;
    return SUCCESS;
}

int nvmlDeviceGetMigMode(void *device, unsigned *current, unsigned *pending)
{
    *current = *pending = device == &gpu ? (unsigned)setting("FAKE_MIG") : 0;
    return SUCCESS;
}
