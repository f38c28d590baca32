/* SPDX-License-Identifier: MIT */
/* CUDA_VISIBLE_DEVICES: which devices a program sees, and in which order, as observed on one and two GPUs with driver
 * 580. */
#include "control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int visible[MAX_DEVICES]; /* the index in the machine of each device that the program sees */
static int visible_count;

int device_count(void)
{
    return visible_count;
}

bool device_exists(CUdevice device)
{
    return device >= 0 && device < visible_count;
}

int device_in_machine(CUdevice device)
{
    return visible[device];
}

void device_uuid(int in_machine, char *out_bytes)
{
    memcpy(out_bytes, "softcuda-device", 16);
    out_bytes[15] = (char)(in_machine + 1);
}

/* "GPU-736f6674-6375-6461-2d64-657669636501" */
static void uuid_text(int in_machine, char *out_text)
{
    char bytes[16];
    device_uuid(in_machine, bytes);
    out_text += sprintf(out_text, "GPU-");
    for (int i = 0; i < 16; i++)
        out_text +=
            sprintf(out_text, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", (unsigned char)bytes[i]);
}

/* The device that an entry names by its index or by the start of its UUID, which must be unique; -1 if none. */
static int entry_device(const char *entry, size_t length, int machine_count)
{
    int found = -1;
    if (length >= 4 && strncmp(entry, "GPU-", 4) == 0) {
        for (int device = 0; device < machine_count; device++) {
            char text[48];
            uuid_text(device, text);
            if (strncmp(entry, text, length) != 0)
                continue;
            if (found >= 0)
                return -1;
            found = device;
        }
        return found;
    }
    char *end; /* what follows a number is ignored */
    long index = strtol(entry, &end, 10);
    return end != entry && index >= 0 && index < machine_count ? (int)index : -1;
}

static bool is_visible(int in_machine)
{
    for (int i = 0; i < visible_count; i++)
        if (visible[i] == in_machine)
            return true;
    return false;
}

/* The list ends in front of the first entry that names no device, or that names one in the other way. */
static CUresult visible_parse(const char *list, int machine_count)
{
    bool by_uuid = strncmp(list, "GPU-", 4) == 0;
    for (const char *entry = list; *entry != '\0';) {
        size_t length = strcspn(entry, ",");
        int device = entry_device(entry, length, machine_count);
        if (device < 0 || (strncmp(entry, "GPU-", 4) == 0) != by_uuid)
            break;
        if (is_visible(device))
            return CUDA_ERROR_INVALID_DEVICE;
        visible[visible_count++] = device;
        entry += length + (entry[length] == ',');
    }
    return CUDA_SUCCESS;
}

CUresult devices_find(void)
{
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    int machine_count = device_count_of_machine();
    CUresult result = CUDA_SUCCESS;
    visible_count = 0;
    if (list != NULL)
        result = visible_parse(list, machine_count);
    else
        while (visible_count < machine_count) {
            visible[visible_count] = visible_count;
            visible_count++;
        }
    if (result == CUDA_SUCCESS && visible_count == 0)
        result = CUDA_ERROR_NO_DEVICE;
    if (result != CUDA_SUCCESS)
        visible_count = 0;
    return result;
}
