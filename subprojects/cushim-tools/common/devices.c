/* SPDX-License-Identifier: MIT */
#include "devices.h"

#include <stdio.h>

#include "cushim/cushim.h"
#include "selected_driver.h"

/* A property that the driver does not report is "" or 0. */
struct device {
    struct device_name name;
    char capability[24];
    struct condition_gpu facts;
    char uuid[48];
    char bus_id[32];
};

/* Formats the UUID as nvidia-smi and CUDA_VISIBLE_DEVICES do. The first ABI gives the UUID of the whole GPU, even if
 * the device is a part of it (MIG). */
static void device_query_uuid(CUdevice handle, char *text, size_t size)
{
    CUuuid uuid;
    if (cushim_table_legacy()->DeviceGetUuid_v1(&uuid, handle) != CUDA_SUCCESS)
        return;
    int used = snprintf(text, size, "GPU-");
    for (int i = 0; i < 16; i++)
        used += snprintf(text + used, size - (size_t)used, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                         (unsigned)(unsigned char)uuid.bytes[i]);
}

static struct device device_query(int ordinal)
{
    const struct cushim_dispatch_table *cuda = cushim_table_legacy();
    struct device device = {.facts = {0}};
    CUdevice handle;
    if (cuda->DeviceGet_v1(&handle, ordinal) != CUDA_SUCCESS)
        return device;
    if (cuda->DeviceGetName_v1(device.name.text, (int)sizeof device.name.text, handle) != CUDA_SUCCESS)
        device.name.text[0] = '\0';
    device.facts = cush_condition_gpu(handle);
    if (device.facts.capability != 0)
        snprintf(device.capability, sizeof device.capability, "%s", text_version(device.facts.capability).text);
    device_query_uuid(handle, device.uuid, sizeof device.uuid);
    if (cuda->DeviceGetPCIBusId_v1(device.bus_id, (int)sizeof device.bus_id, handle) != CUDA_SUCCESS)
        device.bus_id[0] = '\0';
    return device;
}

struct device_name devices_name(int ordinal)
{
    return device_query(ordinal).name;
}

struct condition_gpu devices_facts(int ordinal)
{
    return device_query(ordinal).facts;
}

static const char *or_null(const char *text)
{
    return text[0] != '\0' ? text : NULL; /* analyzer: device_query() initialises the whole struct */
}

void devices_write(struct json *json, const char *key, const char *feature)
{
    json_open_array(json, key);
    int count = driver_device_count();
    for (int i = 0; i < count; i++) {
        struct device device = device_query(i);
        json_open_object(json, NULL);
        json_integer(json, "ordinal", i);
        json_string(json, "name", or_null(device.name.text));
        json_string(json, "compute_capability", or_null(device.capability));
        json_known(json, "memory", (long long)device.facts.memory);
        json_string(json, "uuid", or_null(device.uuid));
        json_string(json, "pci_bus_id", or_null(device.bus_id));
        CUdevice handle;
        if (cushim_table_legacy()->DeviceGet_v1(&handle, i) == CUDA_SUCCESS)
            features_write(json, handle, feature);
        json_close_object(json);
    }
    json_close_array(json);
}

void devices_print(void)
{
    int count = driver_device_count();
    for (int i = 0; i < count; i++) {
        struct device device = device_query(i);
        char label[32];
        snprintf(label, sizeof label, "GPU %d", i);
        text_field(label, TONE_STRONG, device.name.text);
        char facts[256];
        snprintf(facts, sizeof facts, "compute capability %s, %llu MiB, %s, %s", device.capability,
                 device.facts.memory >> 20, device.bus_id, device.uuid[0] != '\0' ? device.uuid : "no UUID");
        text_field("", TONE_PLAIN, facts);
    }
}
