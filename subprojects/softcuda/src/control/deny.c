/* SPDX-License-Identifier: MIT */
/* SOFTCUDA_DENY: the features (cushim/features.h) that the devices do not support. */
#include "control.h"

#include <stdio.h>
#include <string.h>

enum feature {
#define CUSHIM_FEATURE(id, name, description, source) FEATURE_##id,
#include "cushim/features.h"
    FEATURE_COUNT
};

static const char *const feature_names[] = {
#define CUSHIM_FEATURE(id, name, description, source) name,
#include "cushim/features.h"
};

static const struct {
    enum feature feature;
    const char *slot;
} needed_slots[] = {
#define CUSHIM_FEATURE_SLOT(id, slot) {FEATURE_##id, #slot},
#include "cushim/features.h"
};

enum test { TEST_AT_LEAST, TEST_HAS, TEST_IF_KNOWN, TEST_ANY };

static const struct {
    enum feature feature;
    CUdevice_attribute attribute;
    enum test test;
    int wanted;
} needed_attributes[] = {
#define CUSHIM_FEATURE_DEVICE(id, attribute, test, wanted)                                                             \
    {FEATURE_##id, CU_DEVICE_ATTRIBUTE_##attribute, TEST_##test, wanted},
#include "cushim/features.h"
};

enum {
    NEEDED_SLOTS = sizeof needed_slots / sizeof needed_slots[0],
    NEEDED_ATTRIBUTES = sizeof needed_attributes / sizeof needed_attributes[0]
};

/* Written when the library is loaded. */
static bool is_denied[FEATURE_COUNT], is_off[FEATURE_COUNT], any_denied;

int deny_attribute(CUdevice_attribute attribute, int value)
{
    for (size_t i = 0; i < NEEDED_ATTRIBUTES && any_denied; i++) {
        if (needed_attributes[i].attribute != attribute || !is_denied[needed_attributes[i].feature])
            continue;
        if (needed_attributes[i].test == TEST_HAS)
            value &= ~needed_attributes[i].wanted;
        else if (needed_attributes[i].test != TEST_ANY && value >= needed_attributes[i].wanted)
            value = needed_attributes[i].wanted - 1;
    }
    return value;
}

bool deny_peers(void)
{
    return is_denied[FEATURE_PEER_ACCESS];
}

bool deny_priorities(void)
{
    return is_denied[FEATURE_STREAM_PRIORITIES];
}

/* Writes the exported name of a slot: "cuStreamQuery" for StreamQuery_v1. */
static void symbol_of(const char *slot, char *symbol, size_t size)
{
    snprintf(symbol, size, "cu%s", slot);
    size_t length = strlen(symbol);
    if (length > 3 && strcmp(symbol + length - 3, "_v1") == 0)
        symbol[length - 3] = '\0';
}

/* Whether `name` is the symbol of a slot or its per-thread variant. */
static bool is_symbol_of(const char *name, const char *slot)
{
    char symbol[80];
    symbol_of(slot, symbol, sizeof symbol);
    size_t length = strlen(symbol);
    return strncmp(name, symbol, length) == 0
           && (name[length] == '\0' || strcmp(name + length, "_ptsz") == 0 || strcmp(name + length, "_ptds") == 0);
}

/* Whether the functions of a feature work on devices without it, which then have one priority, or two address
 * spaces. */
static bool is_harmless(enum feature feature)
{
    return feature == FEATURE_STREAM_PRIORITIES || feature == FEATURE_UNIFIED_ADDRESSING;
}

bool deny_function(const char *symbol)
{
    bool needed = false;
    for (size_t i = 0; i < NEEDED_SLOTS && any_denied; i++) {
        if (!is_symbol_of(symbol, needed_slots[i].slot))
            continue;
        if (!is_off[needed_slots[i].feature] || is_harmless(needed_slots[i].feature))
            return false;
        needed = true;
    }
    return needed;
}

static bool is_tested(enum feature feature)
{
    for (size_t i = 0; i < NEEDED_ATTRIBUTES; i++) {
        if (needed_attributes[i].feature == feature && needed_attributes[i].test != TEST_ANY)
            return true;
    }
    return feature == FEATURE_PEER_ACCESS;
}

/* Hides what a driver without the feature lacks: the first slot, if no attribute shows the feature. */
static void feature_hide(enum feature feature)
{
    struct name_range range;
    char name[MAX_ITEM];
    size_t i = 0;
    while (i < NEEDED_SLOTS && needed_slots[i].feature != feature)
        i++;
    if (i == NEEDED_SLOTS || is_tested(feature))
        return;
    snprintf(name, sizeof name, "cu%s", needed_slots[i].slot);
    if (name_find("", name, &range))
        name_hide(range);
}

/* Features that need an attribute which is denied are off, too. */
static void find_off(void)
{
    memcpy(is_off, is_denied, sizeof is_off);
    for (size_t i = 0; i < NEEDED_ATTRIBUTES; i++) {
        int wanted = needed_attributes[i].wanted;
        if (needed_attributes[i].test != TEST_ANY && deny_attribute(needed_attributes[i].attribute, wanted) != wanted)
            is_off[needed_attributes[i].feature] = true;
    }
}

bool deny_add(const char *where, const char *text)
{
    int feature = 0;
    while (feature < FEATURE_COUNT && strcmp(feature_names[feature], text) != 0)
        feature++;
    if (feature == FEATURE_COUNT) {
        struct nearest nearest = {.text = text};
        for (int i = 0; i < FEATURE_COUNT; i++)
            nearest_try(&nearest, feature_names[i]);
        nearest_refuse(&nearest, where, "no feature has this name");
        return false;
    }
    is_denied[feature] = any_denied = true;
    feature_hide((enum feature)feature);
    find_off();
    return true;
}
