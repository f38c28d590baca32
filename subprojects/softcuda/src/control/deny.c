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

/* Adds a name and its per-thread variants to a list. */
static void list_add(char *list, size_t size, const char *symbol)
{
    size_t used = strlen(list);
    snprintf(list + used, size - used, "%s%s,%s_ptsz,%s_ptds", used > 0 ? "," : "", symbol, symbol, symbol);
}

/* What a driver without the feature lacks: the first slot, if no attribute shows the feature. */
static void list_add_hidden(char *list, size_t size, enum feature feature)
{
    char symbol[80];
    for (size_t i = 0; i < NEEDED_SLOTS; i++) {
        if (needed_slots[i].feature != feature || is_tested(feature))
            continue;
        symbol_of(needed_slots[i].slot, symbol, sizeof symbol);
        list_add(list, size, symbol);
        return;
    }
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

/* The feature with the name text[0 .. length-1], or FEATURE_COUNT. */
static int find_feature(const char *text, size_t length)
{
    int i = 0;
    while (i < FEATURE_COUNT && (strlen(feature_names[i]) != length || strncmp(feature_names[i], text, length) != 0))
        i++;
    return i;
}

void deny_read(const char *text, char *hidden, size_t size)
{
    for (; text != NULL && *text != '\0'; text += strcspn(text, ","), text += *text == ',') {
        int length = (int)strcspn(text, ","), found = find_feature(text, (size_t)length);
        if (found == FEATURE_COUNT) { /* otherwise a test of a fallback would test nothing */
            fprintf(stderr, "softcuda: SOFTCUDA_DENY: \"%.*s\" is not the name of a feature\n", length, text);
            continue;
        }
        is_denied[found] = any_denied = true;
        list_add_hidden(hidden, size, (enum feature)found);
    }
    find_off();
}
