/* SPDX-License-Identifier: MIT */
/* CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER: which devices a program sees, and in which order, as observed on one and
 * two GPUs with driver 580. */
#include "control.h"

#include <ctype.h>
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

/* The first digit differs for 15 devices, so that a program can be tested with the beginnings of UUIDs. */
void device_uuid(int in_machine, char *out_bytes)
{
    memcpy(out_bytes, "0softcuda-device", 16);
    out_bytes[0] = (char)(((in_machine + 1) & 15) << 4 | (in_machine + 1) >> 4);
}

/* "GPU-10736f66-7463-7564-612d-646576696365" */
static void uuid_text(int in_machine, char *out_text)
{
    char bytes[16];
    device_uuid(in_machine, bytes);
    out_text += sprintf(out_text, "GPU-");
    for (int i = 0; i < 16; i++)
        out_text +=
            sprintf(out_text, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", (unsigned char)bytes[i]);
}

static bool is_uuid(const char *entry)
{
    return strncmp(entry, "GPU-", 4) == 0 || strncmp(entry, "MIG-", 4) == 0;
}

/* How many digits of the UUID an entry has; 0 if it is not the beginning of the UUID. Digits are of any case, and
 * hyphens are ignored, as is what follows a whole UUID. */
static int uuid_digits(const char *entry, size_t length, const char *uuid)
{
    const char *end = entry + length;
    int digits = 0;
    entry += 4;
    for (uuid += 4; *uuid != '\0'; uuid++) {
        if (*uuid == '-')
            continue;
        while (entry < end && *entry == '-')
            entry++;
        if (entry >= end)
            break;
        if (tolower((unsigned char)*entry++) != *uuid)
            return 0;
        digits++;
    }
    return digits;
}

/* The only device whose UUID begins so; -1 if none. "MIG-" is observed to name a device with a whole UUID alone. */
static int uuid_device(const char *entry, size_t length, int machine_count)
{
    int found = -1, needed = entry[0] == 'M' ? 32 : 1;
    for (int device = 0; device < machine_count; device++) {
        char text[48];
        uuid_text(device, text);
        if (uuid_digits(entry, length, text) < needed)
            continue;
        if (found >= 0)
            return -1;
        found = device;
    }
    return found;
}

/* The device that an entry names by its index; -1 if none. The driver takes the lower 32 bits of a number, and ignores
 * what follows it. */
static int index_device(const char *entry, int machine_count)
{
    char *end;
    unsigned index = (unsigned)(strtoull(entry, &end, 10) & 0xffffffff);
    return end != entry && index < (unsigned)machine_count ? (int)index : -1;
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
    bool by_uuid = is_uuid(list);
    for (const char *entry = list; *entry != '\0';) {
        size_t length = strcspn(entry, ",");
        int device = by_uuid ? uuid_device(entry, length, machine_count) : index_device(entry, machine_count);
        if (device < 0 || is_uuid(entry) != by_uuid)
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
    const char *list = getenv("CUDA_VISIBLE_DEVICES"), *order = getenv("CUDA_DEVICE_ORDER");
    int machine_count = device_count_of_machine();
    CUresult result = CUDA_SUCCESS;
    visible_count = 0;
    if (order != NULL && strcmp(order, "PCI_BUS_ID") != 0 && strcmp(order, "FASTEST_FIRST") != 0)
        result = machine_count > 0 ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_NO_DEVICE;
    else if (list != NULL)
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
