/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <stdio.h>
#include <string.h>

/* The first driver branch for each CUDA version on Linux, from NVIDIA's CUDA release notes. On Windows it differs by at
 * most three. */
static const struct {
    int cuda_version;
    int branch;
} branches[] = {
#define CUSHIM_BRANCH(version, branch) {version, branch},
#include "branches.inc"
};

/* Returns 0 if no branch is known to be new enough. */
static int branch_for(int cuda_version)
{
    for (size_t i = 0; i < sizeof branches / sizeof branches[0]; i++) {
        if (branches[i].cuda_version >= cuda_version)
            return branches[i].branch;
    }
    return 0;
}

static bool is_limited(void)
{
    return cushim_driver_version() < driver_diagnosis()->cuda_version;
}

static void requirement_refuse(struct requirement *requirement, int needed_version)
{
    requirement->met = false;
    int branch = branch_for(needed_version);
    if (driver_diagnosis()->cuda_version >= needed_version)
        snprintf(requirement->advice, sizeof requirement->advice,
                 "Remove the version limit: --max-version or CUSHIM_MAX_VERSION.");
    else if (branch != 0)
        snprintf(requirement->advice, sizeof requirement->advice,
                 "Update NVIDIA's driver: CUDA %s needs driver %d or newer.", text_version(needed_version).text,
                 branch);
    else
        snprintf(requirement->advice, sizeof requirement->advice, "Update NVIDIA's driver to one for CUDA %s.",
                 text_version(needed_version).text);
}

const char *requirement_slot_failure(const char *name, enum cushim_default_stream kind)
{
    return cushim_require(&name, 1, kind, NULL) == CUDA_SUCCESS ? NULL : cushim_error_last()->message;
}

static void text_append(char *text, size_t size, const char *more)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s", more);
}

/* The first CUDA version with this slot. Per-thread default streams came with CUDA 7.0. */
static int first_version(const struct cushim_slot_info *info, enum cushim_default_stream kind)
{
    return kind == CUSHIM_DEFAULT_STREAM_PER_THREAD && info->since < 7000 ? 7000 : info->since;
}

/* Names every slot that cannot be called, and the driver that has all of them. */
static void check_slots(const struct options *options, struct requirement *requirement)
{
    int newest = 0;
    bool hidden = false;
    char names[256] = "";
    for (size_t i = 0; i < options->name_count; i++) {
        const char *name = options->names[i];
        const char *failure = requirement_slot_failure(name, options->kind);
        enum cushim_slot slot;
        struct cushim_slot_info info;
        if (failure == NULL || cushim_slot_find(name, &slot) != CUDA_SUCCESS
            || cushim_slot_get_info(slot, options->kind, &info) != CUDA_SUCCESS)
            continue;
        if (names[0] == '\0' && requirement->met)
            snprintf(requirement->message, sizeof requirement->message, "%s", failure);
        text_append(names, sizeof names, names[0] != '\0' ? ", " : "");
        text_append(names, sizeof names, info.name);
        int needed = first_version(&info, options->kind);
        bool elsewhere = cushim_slot_get_state(slot, CUSHIM_DEFAULT_STREAM_LEGACY) != CUSHIM_STATE_MISSING;
        hidden |= needed <= cushim_driver_version() && !elsewhere;
        newest = needed > newest ? needed : newest;
    }
    if (names[0] == '\0')
        return;
    if (newest > cushim_driver_version() && newest > options->required_version)
        requirement_refuse(requirement, newest);
    requirement->met = false;
    if (hidden)
        text_append(requirement->advice, sizeof requirement->advice,
                    requirement->advice[0] != '\0' ? " Do not hide required functions."
                                                   : "Do not hide required functions: --hide or CUSHIM_HIDE.");
    text_append(requirement->advice, sizeof requirement->advice, " Missing: ");
    text_append(requirement->advice, sizeof requirement->advice, names);
    text_append(requirement->advice, sizeof requirement->advice, ".");
}

struct requirement requirement_check(const struct options *options)
{
    struct requirement requirement = {.met = true};
    int version = cushim_driver_version();
    if (options->required_version > version) {
        requirement_refuse(&requirement, options->required_version);
        snprintf(requirement.message, sizeof requirement.message, "CUDA %s is required; this driver %s CUDA %s.",
                 text_version(options->required_version).text, is_limited() ? "is limited to" : "is for",
                 text_version(version).text);
    }
    check_slots(options, &requirement);
    return requirement;
}
