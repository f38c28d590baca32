/* SPDX-License-Identifier: MIT */
#include "devices.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cushim/cushim.h"
#include "selected_driver.h"

static const struct {
    const char *name, *description;
} features[] = {
#define CUSHIM_FEATURE(id, name, description, source) {name, description},
#include "cushim/features.h"
};

bool features_know(const char *name)
{
    enum cushim_feature feature;
    return cushim_feature_find(name, &feature) == CUDA_SUCCESS;
}

static const struct need {
    enum cushim_feature feature;
    int slot, since;
    bool is_of_machine; /* of its GPUs, or of its operating system */
} needs[] = {
#define OF_ANY false
#define OF_AT_LEAST true
#define OF_HAS true
#define OF_IF_KNOWN true
#define CUSHIM_FEATURE_SLOT(id, slot) {CUSHIM_FEATURE_##id, CUSHIM_SLOT_##slot, 0, false},
#define CUSHIM_FEATURE_SINCE(id, version) {CUSHIM_FEATURE_##id, -1, version, false},
#define CUSHIM_FEATURE_NOT_ON(id, platform) {CUSHIM_FEATURE_##id, -1, 0, true},
#define CUSHIM_FEATURE_DEVICE(id, attribute, test, wanted) {CUSHIM_FEATURE_##id, -1, 0, OF_##test},
#define CUSHIM_FEATURE_PROPERTY(id, property, test, wanted) {CUSHIM_FEATURE_##id, -1, 0, OF_##test},
#include "cushim/features.h"
};

int features_since(enum cushim_feature feature, bool *out_is_of_machine)
{
    int newest = 0;
    *out_is_of_machine = false;
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        struct cushim_slot_info info = {.usable_since = needs[i].since};
        if (needs[i].feature != feature)
            continue;
        if (needs[i].slot >= 0)
            (void)cushim_slot_get_info((enum cushim_slot)needs[i].slot, CUSHIM_DEFAULT_STREAM_LEGACY, &info);
        newest = info.usable_since > newest ? info.usable_since : newest;
        *out_is_of_machine |= needs[i].is_of_machine;
    }
    return newest;
}

/* How many letters must be inserted, removed or replaced to make one name of the other (Levenshtein). */
static size_t name_distance(const char *left, const char *right)
{
    enum { MAX_LETTERS = 40 };
    size_t row[MAX_LETTERS + 1], length = strlen(right);
    for (size_t i = 0; i <= MAX_LETTERS; i++)
        row[i] = i;
    for (size_t i = 0; left[i] != '\0' && length <= MAX_LETTERS; i++) {
        size_t diagonal = row[0]++;
        for (size_t k = 0; k < length; k++) {
            size_t replaced = diagonal + (tolower((unsigned char)left[i]) != right[k]);
            size_t shorter = row[k + 1] < row[k] ? row[k + 1] : row[k];
            diagonal = row[k + 1];
            row[k + 1] = replaced <= shorter ? replaced : shorter + 1;
        }
    }
    return row[length <= MAX_LETTERS ? length : MAX_LETTERS];
}

const char *features_nearest(const char *name)
{
    size_t nearest = 0, least = SIZE_MAX;
    for (size_t i = 0; i < CUSHIM_FEATURE_COUNT; i++) {
        size_t distance = name_distance(name, features[i].name);
        if (strlen(name) > 2 && strstr(features[i].name, name) != NULL)
            distance = 1; /* a part of a name: "pools" */
        if (distance < least) {
            least = distance;
            nearest = i;
        }
    }
    return least <= strlen(name) / 2 ? features[nearest].name : NULL;
}

/* The message without the name of the feature in front of it. */
static const char *feature_reason(const struct cushim_feature_info *info)
{
    size_t name = strlen(info->name) + strlen(": ");
    return strlen(info->message) > name ? info->message + name : info->message;
}

static void feature_write(struct json *json, const struct cushim_feature_info *info)
{
    json_open_object(json, NULL);
    json_string(json, "name", info->name);
    json_boolean(json, "usable", info->is_usable);
    json_string(json, "obstacle", info->is_usable ? NULL : cushim_obstacle_name(info->obstacle));
    json_string(json, "message", info->is_usable ? NULL : info->message);
    json_known(json, "since", info->since);
    json_open_array(json, "values");
    for (size_t i = 0; i < info->value_count; i++) {
        json_open_object(json, NULL);
        json_string(json, "name", info->values[i].name);
        json_integer(json, "value", info->values[i].value);
        json_close_object(json);
    }
    json_close_array(json);
    json_close_object(json);
}

void features_write(struct json *json, CUdevice device, const char *only)
{
    json_open_array(json, "features");
    for (int i = 0; i < CUSHIM_FEATURE_COUNT; i++) {
        struct cushim_feature_info info;
        if ((only == NULL || strcmp(only, features[i].name) == 0)
            && cushim_feature_get_info((enum cushim_feature)i, device, &info) == CUDA_SUCCESS)
            feature_write(json, &info);
    }
    json_close_array(json);
}

/* The feature on a GPU. */
static struct cushim_feature_info feature_on(enum cushim_feature feature, int ordinal)
{
    struct cushim_feature_info info = {.name = features[feature].name, .obstacle = CUSHIM_OBSTACLE_UNKNOWN};
    CUdevice device;
    if (cushim_table_legacy()->DeviceGet_v1(&device, ordinal) == CUDA_SUCCESS)
        (void)cushim_feature_get_info(feature, device, &info);
    return info;
}

static void feature_mark(const struct cushim_feature_info *info)
{
    text_put(info->is_usable ? TONE_GOOD : TONE_FAINT, info->is_usable ? "yes" : "no", 5);
}

/* A mark for each GPU, the name, and for the first GPU without the feature the reason. */
void features_print(void)
{
    int count = driver_device_count();
    size_t width = 0;
    for (int i = 0; i < CUSHIM_FEATURE_COUNT; i++)
        width = text_wider(width, features[i].name);
    puts(count == 1 ? "Features" : "Features (a mark for each GPU)");
    for (int i = 0; i < CUSHIM_FEATURE_COUNT; i++) {
        struct cushim_feature_info lacking = {.is_usable = true};
        fputs("  ", stdout);
        for (int ordinal = 0; ordinal < count; ordinal++) {
            struct cushim_feature_info info = feature_on((enum cushim_feature)i, ordinal);
            feature_mark(&info);
            if (lacking.is_usable)
                lacking = info;
        }
        text_put(TONE_PLAIN, features[i].name, width + 2);
        text_put(TONE_FAINT, lacking.is_usable ? features[i].description : feature_reason(&lacking), 0);
        puts("");
    }
}

void features_print_one(const char *name)
{
    enum cushim_feature feature;
    if (cushim_feature_find(name, &feature) != CUDA_SUCCESS)
        return;
    int count = driver_device_count();
    for (int ordinal = 0; ordinal < count; ordinal++) {
        struct cushim_feature_info info = feature_on(feature, ordinal);
        text_print(TONE_PLAIN, "GPU %d  ", ordinal);
        feature_mark(&info);
        text_put(TONE_PLAIN, info.is_usable ? features[feature].description : feature_reason(&info), 0);
        for (size_t i = 0; i < info.value_count; i++)
            text_print(TONE_PLAIN, " %s=%lld", info.values[i].name, info.values[i].value);
        puts("");
    }
}

void features_print_count(void)
{
    int usable = 0;
    for (int i = 0; i < CUSHIM_FEATURE_COUNT; i++) {
        struct cushim_feature_info info;
        usable += cushim_feature_get_info((enum cushim_feature)i, CUSHIM_DRIVER_ALONE, &info) == CUDA_SUCCESS
                  && info.is_usable;
    }
    char line[96];
    snprintf(line, sizeof line, "the driver supports %d of %d (--devices compares the GPUs)", usable,
             CUSHIM_FEATURE_COUNT);
    text_field("features", TONE_PLAIN, line);
}
