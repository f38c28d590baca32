/* SPDX-License-Identifier: MIT */
#include "devices.h"

#include <stdio.h>
#include <string.h>

#include "cushim/cushim.h"
#include "selected_driver.h"

/* The first driver branch for each CUDA version on Linux, from NVIDIA's CUDA release notes. On Windows it differs by at
 * most three. 0: not known yet. */
static const struct {
    int cuda_version;
    int branch;
} branches[] = {
#define CUSHIM_BRANCH(version, branch, ptx) {version, branch},
#include "branches.inc"
};

int requirement_branch(int cuda_version)
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
    requirement->reason = CUSHIM_REASON_TOO_OLD;
    int branch = requirement_branch(needed_version);
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

const char *requirement_failure(const char *name, enum cushim_default_stream kind)
{
    return cushim_require(&name, 1, kind, NULL) == CUDA_SUCCESS ? NULL : cushim_error_last()->message;
}

const char *requirement_reason(const char *name, enum cushim_default_stream kind)
{
    const char *failure = requirement_failure(name, kind);
    size_t length = strlen(name);
    bool has_name = failure != NULL && strncmp(failure, name, length) == 0 && text_starts_with(failure + length, ": ");
    return has_name ? failure + length + 2 : failure;
}

bool requirement_is_name(const char *name)
{
    enum cushim_slot slot;
    return cushim_slot_find(name, &slot) == CUDA_SUCCESS || features_know(name);
}

static enum condition_answer judge_name(const char *name, const struct condition_facts *facts, char *message,
                                        size_t size)
{
    const char *failure = requirement_failure(name, facts->kind);
    snprintf(message, size, "%s", failure != NULL ? failure : "");
    return failure == NULL ? CONDITION_MET : CONDITION_UNMET;
}

void requirement_read_facts(const struct options *options, struct condition_facts *out_facts)
{
    cush_condition_facts(out_facts);
    (void)cush_condition_gpus(out_facts);
    out_facts->judge_name = judge_name;
    out_facts->kind = options->kind;
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

/* What is missing of a slot or a feature. */
struct lack {
    const char *name;
    int version; /* 0: the driver is new enough */
    bool hidden;
    bool device; /* the feature is missing on a GPU or on this platform */
};

/* `info` has the name. */
static struct lack lack_of_slot(enum cushim_slot slot, enum cushim_default_stream kind, struct cushim_slot_info *info)
{
    if (cushim_slot_get_info(slot, kind, info) != CUDA_SUCCESS)
        return (struct lack){.name = NULL};
    int needed = first_version(info, kind);
    bool elsewhere = cushim_slot_get_state(slot, CUSHIM_DEFAULT_STREAM_LEGACY) != CUSHIM_STATE_MISSING;
    return (struct lack){
        .name = info->name, .version = needed, .hidden = needed <= cushim_driver_version() && !elsewhere};
}

static struct lack lack_of_feature(enum cushim_feature feature)
{
    struct cushim_feature_info info;
    if (cushim_feature_get_info(feature, CUSHIM_DRIVER_ALONE, &info) != CUDA_SUCCESS)
        return (struct lack){.name = NULL};
    return (struct lack){.name = info.name,
                         .version = info.obstacle == CUSHIM_OBSTACLE_VERSION ? info.since : 0,
                         .hidden = info.obstacle == CUSHIM_OBSTACLE_FUNCTION,
                         .device = info.is_usable || info.obstacle == CUSHIM_OBSTACLE_PLATFORM};
}

static struct lack lack_of(const char *name, enum cushim_default_stream kind, struct cushim_slot_info *info)
{
    enum cushim_slot slot;
    enum cushim_feature feature;
    if (cushim_slot_find(name, &slot) == CUDA_SUCCESS)
        return lack_of_slot(slot, kind, info);
    if (cushim_feature_find(name, &feature) == CUDA_SUCCESS)
        return lack_of_feature(feature);
    return (struct lack){
        .name = name, .version = cush_condition_version(name), .device = cush_conditions_need_gpus(&name, 1)};
}

static void advise(struct requirement *requirement, const char *advice)
{
    text_append(requirement->advice, sizeof requirement->advice, requirement->advice[0] != '\0' ? " " : "");
    text_append(requirement->advice, sizeof requirement->advice, advice);
}

/* Names every slot and feature that is missing, and the driver that has all of them. */
static void check_names(const struct options *options, struct requirement *requirement)
{
    int newest = 0;
    bool hidden = false, device = false;
    char names[256] = "";
    for (size_t i = 0; i < options->name_count; i++) {
        const char *failure = requirement_failure(options->names[i], options->kind);
        if (failure == NULL)
            continue;
        if (names[0] == '\0' && requirement->met)
            snprintf(requirement->message, sizeof requirement->message, "%s", failure);
        struct cushim_slot_info info;
        struct lack lack = lack_of(options->names[i], options->kind, &info);
        if (lack.name == NULL)
            continue;
        text_append(names, sizeof names, names[0] != '\0' ? ", " : "");
        text_append(names, sizeof names, lack.name);
        hidden |= lack.hidden;
        device |= lack.device;
        newest = lack.version > newest ? lack.version : newest;
    }
    /* Each condition on GPUs can be met by another one. */
    if (names[0] == '\0' && requirement->met && driver_diagnosis()->cuda_version != 0
        && cushim_require(options->names, options->name_count, options->kind, NULL) != CUDA_SUCCESS) {
        requirement->met = false;
        requirement->reason = CUSHIM_REASON_LACKS_FEATURE;
        snprintf(requirement->message, sizeof requirement->message, "%s", cushim_error_last()->message);
        advise(requirement, cushim_reason_advice(CUSHIM_REASON_LACKS_FEATURE));
    }
    if (names[0] == '\0')
        return;
    if (requirement->met)
        requirement->reason = device && !hidden && newest == 0 ? CUSHIM_REASON_LACKS_FEATURE : CUSHIM_REASON_TOO_OLD;
    if (newest > cushim_driver_version() && newest > options->required_version)
        requirement_refuse(requirement, newest);
    requirement->met = false;
    if (hidden)
        advise(requirement, requirement->advice[0] != '\0' ? "Do not hide required functions."
                                                           : "Do not hide required functions: --hide or CUSHIM_HIDE.");
    if (device)
        advise(requirement, cushim_reason_advice(CUSHIM_REASON_LACKS_FEATURE));
    advise(requirement, "Missing: ");
    text_append(requirement->advice, sizeof requirement->advice, names);
    text_append(requirement->advice, sizeof requirement->advice, ".");
}

bool requirement_has_feature(const struct options *options)
{
    bool found = false;
    for (size_t i = 0; i < options->name_count; i++)
        found |= features_know(options->names[i]);
    return found;
}

bool requirement_needs_gpus(const struct options *options)
{
    bool found = false;
    for (size_t i = 0; i < options->name_count; i++)
        found |= cush_conditions_need_gpus(&options->names[i], 1);
    return found;
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
    check_names(options, &requirement);
    return requirement;
}
