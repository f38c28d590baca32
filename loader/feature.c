/* SPDX-License-Identifier: MIT */
/* Features: the rows of features.h, compared with the loaded driver, a device and the platform. */
#include "feature.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "load.h"
#include "os.h"
#include "version.h"

/* As in symbols.c, names stand in one block, and rows hold offsets into it. */
static const struct feature_names {
#define CUSHIM_FEATURE(id, name, description, source) char name_##id[sizeof name];
#define CUSHIM_FEATURE_DEVICE(id, attribute, test, wanted) char value_##id##_##attribute[sizeof #attribute];
#define CUSHIM_FEATURE_PROPERTY(id, property, test, wanted) char value_##id##_##property[sizeof #property];
#include "cushim/features.h"
} feature_names = {
#define CUSHIM_FEATURE(id, name, description, source) name,
#define CUSHIM_FEATURE_DEVICE(id, attribute, test, wanted) #attribute,
#define CUSHIM_FEATURE_PROPERTY(id, property, test, wanted) #property,
#include "cushim/features.h"
};

enum need_kind { NEED_NAME, NEED_SLOT, NEED_SINCE, NEED_PLATFORM, NEED_VALUE };
enum need_test { TEST_AT_LEAST, TEST_HAS, TEST_IF_KNOWN, TEST_ANY };
enum need_platform { PLATFORM_WINDOWS, PLATFORM_WSL, PLATFORM_NO_IMEX_CHANNEL };

/* The rows of features.h, packed. A feature begins with the row of its name. */
static const struct feature_row {
    uint16_t what; /* the feature, slot, version or platform, or the id of the value */
    uint16_t name;
    uint8_t kind, rule; /* rule: the test and, in the lower four bits, what is wanted */
} feature_rows[] = {
#define FEATURE_ROW(kind, test, wanted, what, name)                                                                    \
    {                                                                                                                  \
        what, name, NEED_##kind, TEST_##test << 4 | (wanted)                                                           \
    }
#define CUSHIM_FEATURE(id, name, description, source)                                                                  \
    FEATURE_ROW(NAME, ANY, 0, CUSHIM_FEATURE_##id, offsetof(struct feature_names, name_##id)),
#define CUSHIM_FEATURE_SLOT(id, slot) FEATURE_ROW(SLOT, ANY, 0, CUSHIM_SLOT_##slot, 0),
#define CUSHIM_FEATURE_SINCE(id, version) FEATURE_ROW(SINCE, ANY, 0, version, 0),
#define CUSHIM_FEATURE_NOT_ON(id, platform) FEATURE_ROW(PLATFORM, ANY, 0, PLATFORM_##platform, 0),
#define CUSHIM_FEATURE_DEVICE(id, attribute, test, wanted)                                                             \
    FEATURE_ROW(VALUE, test, wanted, CU_DEVICE_ATTRIBUTE_##attribute,                                                  \
                offsetof(struct feature_names, value_##id##_##attribute)),
#define CUSHIM_FEATURE_PROPERTY(id, property, test, wanted)                                                            \
    FEATURE_ROW(VALUE, test, wanted, CUSHIM_PROPERTY_##property,                                                       \
                offsetof(struct feature_names, value_##id##_##property)),
#include "cushim/features.h"
    FEATURE_ROW(NAME, ANY, 0, CUSHIM_FEATURE_COUNT, 0)};

static const char *feature_row_name(const struct feature_row *row)
{
    return (const char *)&feature_names + row->name;
}

/* The row after this one that begins a feature. The last row of all has CUSHIM_FEATURE_COUNT. */
static const struct feature_row *feature_after(const struct feature_row *row)
{
    do
        row++;
    while (row->kind != NEED_NAME);
    return row;
}

/* ---- The values ---- */

static CUresult value_granularity(CUdevice device, CUmemAllocationGranularity_flags option, long long *out_value)
{
    size_t granularity = 0;
    CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    properties.location.id = device;
    CUresult result = cushim_table_legacy()->MemGetAllocationGranularity_v1(&granularity, &properties, option);
    *out_value = (long long)granularity;
    return result;
}

static CUresult value_peer_count(CUdevice device, long long *out_value)
{
    const struct cushim_dispatch_table *table = cushim_table_legacy();
    int count = 0;
    CUresult result = table->DeviceGetCount_v1(&count);
    *out_value = 0;
    for (int i = 0; i < count && result == CUDA_SUCCESS; i++) {
        CUdevice peer;
        int can_access = 0;
        result = table->DeviceGet_v1(&peer, i);
        if (result == CUDA_SUCCESS && peer != device)
            result = table->DeviceCanAccessPeer_v1(&can_access, device, peer);
        *out_value += can_access != 0;
    }
    return result;
}

/* The first version of the function returns the UUID of the whole GPU, the second one that of the part. */
static CUresult value_is_parted(CUdevice device, long long *out_value)
{
    CUuuid whole, own;
    CUresult result = cushim_table_legacy()->DeviceGetUuid_v1(&whole, device);
    if (result == CUDA_SUCCESS)
        result = cushim_table_legacy()->DeviceGetUuid_v2(&own, device);
    *out_value = result == CUDA_SUCCESS && memcmp(&whole, &own, sizeof own) != 0; /* analyzer: a success writes it */
    return result;
}

static int value_ptx_version(void)
{
    static const struct {
        uint16_t version, ptx;
    } rows[] = {
#define CUSHIM_BRANCH(version, branch, ptx) {version, ptx},
#include "lists/branches.inc"
    };
    int newest = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && rows[i].version <= cushim_driver_version(); i++)
        newest = rows[i].ptx;
    return newest;
}

static CUresult value_of_attribute(int attribute, CUdevice device, int *out_value)
{
    return cushim_table_legacy()->DeviceGetAttribute_v1(out_value, (CUdevice_attribute)attribute, device);
}

static bool value_is_of_driver(int id)
{
    return id == CUSHIM_PROPERTY_PTX_VERSION;
}

static CUresult value_read(int id, CUdevice device, long long *out_value)
{
    int attribute = 0;
    CUmoduleLoadingMode mode = (CUmoduleLoadingMode)0;
    CUresult result;
    switch (id) {
    case CUSHIM_PROPERTY_GRANULARITY:
        return value_granularity(device, CU_MEM_ALLOC_GRANULARITY_MINIMUM, out_value);
    case CUSHIM_PROPERTY_RECOMMENDED_GRANULARITY:
        return value_granularity(device, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED, out_value);
    case CUSHIM_PROPERTY_PEER_COUNT:
        return value_peer_count(device, out_value);
    case CUSHIM_PROPERTY_PTX_VERSION:
        *out_value = value_ptx_version();
        return CUDA_SUCCESS;
    case CUSHIM_PROPERTY_LOADING_MODE:
        result = cushim_table_legacy()->ModuleGetLoadingMode_v1(&mode);
        *out_value = mode;
        return result;
    case CUSHIM_PROPERTY_GPU_IS_PARTED:
        return value_is_parted(device, out_value);
    case CUSHIM_PROPERTY_CONFIDENTIAL:
        return CUDA_ERROR_NOT_SUPPORTED;
    default:
        result = value_of_attribute(id, device, &attribute);
        *out_value = attribute;
        return result;
    }
}

/* ---- The needs ---- */

/* Records an obstacle, unless there is one already. */
static CUSHIM_COLD void feature_obstruct(struct cushim_feature_info *info, enum cushim_obstacle obstacle,
                                         const char *text)
{
    if (info->obstacle != CUSHIM_OBSTACLE_NONE)
        return;
    snprintf(info->message, sizeof info->message, "%s: %s", info->name, text);
    info->obstacle = obstacle;
}

/* The first missing slot of a feature is its newest one, whose driver has the others, too. */
static void feature_check_slot(enum cushim_slot slot, enum cushim_default_stream kind, struct cushim_feature_info *info)
{
    size_t index = cush_symbols_index(slot);
    int since = cush_symbols_entry(index).since;
    info->since = since > info->since ? since : info->since;
    if (cush_driver_origins[kind][slot].state != CUSHIM_STATE_MISSING)
        return;
    char text[200];
    cush_last_error_format_missing(slot, text, sizeof text);
    feature_obstruct(info, since > cushim_driver_version() ? CUSHIM_OBSTACLE_VERSION : CUSHIM_OBSTACLE_FUNCTION, text);
}

static void feature_check_since(int version, struct cushim_feature_info *info)
{
    int own = cushim_driver_version();
    char text[80];
    info->since = version > info->since ? version : info->since;
    snprintf(text, sizeof text, "it needs CUDA %s; this driver is %sCUDA %s.", cush_version_text(version).text,
             cush_loaded_driver.limited ? "limited to " : "", cush_version_text(own).text);
    if (version > own)
        feature_obstruct(info, CUSHIM_OBSTACLE_VERSION, text);
}

static bool feature_may_open(const char *root, const char *path, const char *name, void *unused)
{
    char file[300];
    (void)root, (void)unused;
    snprintf(file, sizeof file, "%s/%.255s", path, name);
    return name[0] != '.' && cush_os_file_state(file, true) == OS_FILE_READY;
}

static void feature_check_platform(enum need_platform platform, struct cushim_feature_info *info)
{
    static const char *const texts[] = {
        [PLATFORM_WINDOWS] = "it does not work on Windows.",
        [PLATFORM_WSL] = "it does not work on Windows Subsystem for Linux.",
        [PLATFORM_NO_IMEX_CHANNEL] = "this process may open no IMEX channel (/dev/nvidia-caps-imex-channels).",
    };
    bool is_here = platform == PLATFORM_WINDOWS ? !cush_os_has_device_nodes
                   : platform == PLATFORM_WSL
                       ? cush_os_file_state("/dev/dxg", false) != OS_FILE_ABSENT
                       : cush_os_has_device_nodes
                             && !cush_os_directory_find("", "/dev/nvidia-caps-imex-channels", feature_may_open, NULL);
    if (is_here)
        feature_obstruct(info, CUSHIM_OBSTACLE_PLATFORM, texts[platform]);
}

static bool feature_value_meets(const struct feature_row *row, CUresult result, long long value)
{
    int test = row->rule >> 4, wanted = row->rule & 15;
    if (test == TEST_ANY)
        return true;
    if (result != CUDA_SUCCESS) /* the driver does not know the attribute; any other error is not an answer */
        return test == TEST_IF_KNOWN && result == CUDA_ERROR_INVALID_VALUE;
    return test == TEST_HAS ? (value & wanted) == wanted : value >= wanted;
}

/* What a value that is too small means. */
static const char *feature_value_lack(int id)
{
    switch (id) {
    case CU_DEVICE_ATTRIBUTE_MPS_ENABLED:
        return "this process is not a client of MPS";
    case CUSHIM_PROPERTY_PEER_COUNT:
        return "the device cannot access the memory of another one";
    case CUSHIM_PROPERTY_LOADING_MODE:
        return "kernels are loaded eagerly, which the environment variable CUDA_MODULE_LOADING changes";
    case CUSHIM_PROPERTY_GPU_IS_PARTED:
        return "the device is a whole GPU";
    default:
        return "the device reports no support";
    }
}

/* Records that the value is not sufficient or, if `result` is an error, not known. */
static CUSHIM_COLD void feature_obstruct_value(const struct feature_row *row, CUresult result, long long value,
                                               struct cushim_feature_info *info)
{
    char text[240], needed[40] = "";
    const char *prefix = row->what < CUSHIM_PROPERTY_GRANULARITY ? "CU_DEVICE_ATTRIBUTE_" : "";
    int test = row->rule >> 4, wanted = row->rule & 15;
    if (test == TEST_HAS)
        snprintf(needed, sizeof needed, " and lacks bit %d", wanted);
    else if (wanted > 1)
        snprintf(needed, sizeof needed, " and must be at least %d", wanted);
    if (result == CUDA_SUCCESS)
        snprintf(text, sizeof text, "%s (%s%s is %lld%s).", feature_value_lack(row->what), prefix,
                 feature_row_name(row), value, needed);
    else if (row->what == CUSHIM_PROPERTY_CONFIDENTIAL)
        snprintf(text, sizeof text, "no function of the driver reports it; NVML does.");
    else if (result == CUDA_ERROR_NOT_INITIALIZED)
        snprintf(text, sizeof text, "the driver does not report %s%s before cuInit.", prefix, feature_row_name(row));
    else
        snprintf(text, sizeof text, "the driver does not report %s%s (error %d).", prefix, feature_row_name(row),
                 (int)result);
    feature_obstruct(info,
                     result == CUDA_SUCCESS                 ? CUSHIM_OBSTACLE_DEVICE
                     : result == CUDA_ERROR_NOT_INITIALIZED ? CUSHIM_OBSTACLE_NOT_INITIALIZED
                                                            : CUSHIM_OBSTACLE_UNKNOWN,
                     text);
}

static void feature_check_value(const struct feature_row *row, CUdevice device, struct cushim_feature_info *info)
{
    long long value = 0;
    if (device == CUSHIM_DRIVER_ALONE && !value_is_of_driver(row->what))
        return;
    CUresult result = value_read(row->what, device, &value);
    if (result == CUDA_SUCCESS)
        info->values[info->value_count++] =
            (struct cushim_feature_value){.id = row->what, .name = feature_row_name(row), .value = value};
    if (!feature_value_meets(row, result, value))
        feature_obstruct_value(row, result, value, info);
}

/* `row` is the first one of the feature. */
static CUSHIM_COLD struct cushim_feature_info feature_examine(const struct feature_row *row, CUdevice device,
                                                              enum cushim_default_stream kind)
{
    struct cushim_feature_info info = {.name = feature_row_name(row)};
    if (!cush_load_has_driver())
        feature_obstruct(&info, CUSHIM_OBSTACLE_NO_DRIVER, cushim_diagnosis_get()->message);
    for (row++; row->kind != NEED_NAME && info.obstacle != CUSHIM_OBSTACLE_NO_DRIVER; row++) {
        if (row->kind == NEED_SLOT)
            feature_check_slot((enum cushim_slot)row->what, kind, &info);
        else if (row->kind == NEED_SINCE)
            feature_check_since(row->what, &info);
        else if (row->kind == NEED_PLATFORM)
            feature_check_platform((enum need_platform)row->what, &info);
        else if (info.obstacle == CUSHIM_OBSTACLE_NONE || info.obstacle == CUSHIM_OBSTACLE_DEVICE
                 || info.obstacle == CUSHIM_OBSTACLE_UNKNOWN)
            feature_check_value(row, device, &info);
    }
    info.is_usable = info.obstacle == CUSHIM_OBSTACLE_NONE;
    return info;
}

static CUSHIM_COLD CUresult feature_get(size_t first, size_t count, CUdevice device,
                                        struct cushim_feature_info *out_infos, const char *function)
{
    int value;
    CUresult result = CUDA_SUCCESS;
    if (out_infos == NULL || (first != 0 && first >= CUSHIM_FEATURE_COUNT))
        return cush_error_set(CUDA_ERROR_INVALID_VALUE, function,
                              "The feature does not exist, or the output pointer is NULL.", NULL);
    if (device != CUSHIM_DRIVER_ALONE && cush_load_has_driver())
        result = value_of_attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE, device, &value);
    if (result == CUDA_ERROR_INVALID_DEVICE)
        return cush_error_set(CUDA_ERROR_INVALID_DEVICE, function, "The device does not exist.", NULL);
    memset(out_infos, 0, count * sizeof *out_infos);
    for (const struct feature_row *row = feature_rows; row->what < CUSHIM_FEATURE_COUNT; row = feature_after(row)) {
        if (row->what < first || row->what - first >= count)
            continue;
        struct cushim_feature_info *info = &out_infos[row->what - first];
        *info = feature_examine(row, device, CUSHIM_DEFAULT_STREAM_LEGACY);
        if (result == CUDA_ERROR_NOT_INITIALIZED)
            feature_obstruct(info, CUSHIM_OBSTACLE_NOT_INITIALIZED, "a device can be asked only after cuInit.");
        info->is_usable = info->obstacle == CUSHIM_OBSTACLE_NONE;
    }
    return CUDA_SUCCESS;
}

CUresult cushim_feature_get_info(enum cushim_feature feature, CUdevice device, struct cushim_feature_info *out_info)
{
    return feature_get((size_t)(unsigned)feature, 1, device, out_info, "cushim_feature_get_info");
}

CUresult cushim_feature_get_all(CUdevice device, size_t count, struct cushim_feature_info *out_infos)
{
    return feature_get(0, count, device, out_infos, "cushim_feature_get_all");
}

static const struct feature_row *feature_find(const char *name)
{
    const struct feature_row *row = feature_rows;
    while (row->what < CUSHIM_FEATURE_COUNT && strcmp(feature_row_name(row), name) != 0)
        row = feature_after(row);
    return row->what < CUSHIM_FEATURE_COUNT ? row : NULL;
}

CUSHIM_COLD bool cush_feature_is_known(const char *name)
{
    return feature_find(name) != NULL;
}

CUresult cushim_feature_find(const char *name, enum cushim_feature *out_feature)
{
    static const char function[] = "cushim_feature_find";
    if (name == NULL || out_feature == NULL)
        return cush_error_set(CUDA_ERROR_INVALID_VALUE, function, "An argument is NULL.", NULL);
    const struct feature_row *row = feature_find(name);
    if (row == NULL)
        return cush_error_set(CUDA_ERROR_NOT_FOUND, function, "No feature has that name.", NULL);
    *out_feature = (enum cushim_feature)row->what;
    return CUDA_SUCCESS;
}

const char *cushim_obstacle_name(enum cushim_obstacle obstacle)
{
    static const char names[CUSHIM_OBSTACLE_COUNT][16] = {"none",     "no-driver",       "version", "function",
                                                          "platform", "not-initialised", "device",  "unknown"};
    return names[(unsigned)obstacle < CUSHIM_OBSTACLE_COUNT ? obstacle : CUSHIM_OBSTACLE_UNKNOWN];
}

/* Each device, if the driver is initialised. A device that cannot be asked is an obstacle. */
static void feature_examine_devices(const struct feature_row *row, enum cushim_default_stream kind,
                                    struct cushim_feature_info *info)
{
    int count = 0;
    CUdevice device = 0;
    char text[80];
    CUresult result = cushim_table_legacy()->DeviceGetCount_v1(&count);
    for (int i = 0; result == CUDA_SUCCESS && i < count && info->is_usable; i++) {
        result = cushim_table_legacy()->DeviceGet_v1(&device, i);
        if (result == CUDA_SUCCESS)
            *info = feature_examine(row, device, kind);
    }
    snprintf(text, sizeof text, "the driver does not report its devices (error %d).", (int)result);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_INITIALIZED)
        feature_obstruct(info, CUSHIM_OBSTACLE_UNKNOWN, text);
    info->is_usable = info->obstacle == CUSHIM_OBSTACLE_NONE;
}

CUSHIM_COLD bool cush_feature_require(const char *name, enum cushim_default_stream kind, const char *function,
                                      CUresult *out_result)
{
    const struct feature_row *row = feature_find(name);
    if (row == NULL)
        return false;
    struct cushim_feature_info info = feature_examine(row, CUSHIM_DRIVER_ALONE, kind);
    if (info.is_usable)
        feature_examine_devices(row, kind, &info);
    *out_result = info.is_usable                               ? CUDA_SUCCESS
                  : info.obstacle == CUSHIM_OBSTACLE_NO_DRIVER ? CUDA_ERROR_NO_DEVICE
                                                               : CUDA_ERROR_NOT_SUPPORTED;
    if (!info.is_usable)
        cush_error_set_copy(*out_result, function, info.message);
    return true;
}
