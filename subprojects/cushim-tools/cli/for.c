/* SPDX-License-Identifier: MIT */
/* probe --for: conditions on a machine that is not this one, as the command line describes it. No driver is loaded. */
#include "cli.h"

#include <stdio.h>

#include "cushim/cushim.h"
#include "devices.h"
#include "machine.h"

/* By the lists alone: a driver of that version has the slot, or the functions of a polyfill. */
static enum condition_answer judge_name(const char *name, const struct condition_facts *facts, char *message,
                                        size_t size)
{
    enum cushim_feature feature;
    enum cushim_slot slot;
    struct cushim_slot_info info = {.usable_since = 0};
    bool is_of_machine = false;
    if (cushim_slot_find(name, &slot) == CUDA_SUCCESS)
        (void)cushim_slot_get_info(slot, facts->kind, &info);
    else if (cushim_feature_find(name, &feature) == CUDA_SUCCESS)
        info.usable_since = features_since(feature, &is_of_machine);
    if (info.usable_since != 0 && facts->kind == CUSHIM_DEFAULT_STREAM_PER_THREAD && info.usable_since < 7000)
        info.usable_since = 7000;
    if (facts->cuda_version == 0)
        snprintf(message, size, "%s: the CUDA version of the driver is not known.", name);
    else if (facts->cuda_version < info.usable_since)
        snprintf(message, size, "%s needs CUDA %s; the driver is for CUDA %s.", name,
                 text_version(info.usable_since).text, text_version(facts->cuda_version).text);
    else
        snprintf(message, size, "%s: only that machine can tell.", name);
    if (facts->cuda_version != 0 && facts->cuda_version < info.usable_since)
        return CONDITION_UNMET;
    return facts->cuda_version == 0 || is_of_machine || info.usable_since == 0 ? CONDITION_NOT_KNOWN : CONDITION_MET;
}

/* Judges --require, --feature and --require-slot. */
static enum condition_answer requirements_judge(const struct options *options, const struct condition_facts *facts,
                                                char *message, size_t size)
{
    char version[24];
    const char *lists[] = {version};
    size_t unused;
    snprintf(version, sizeof version, "%d", options->required_version);
    enum condition_answer answer =
        options->required_version == 0 ? CONDITION_MET : cush_conditions_judge(lists, 1, facts, &unused, message, size);
    enum condition_answer others = CONDITION_MET;
    if (answer != CONDITION_UNMET)
        others = cush_conditions_judge(options->names, options->name_count, facts, &unused, message, size);
    return others == CONDITION_MET ? answer : others;
}

static enum status requirements_answer(const struct options *options, const struct condition_facts *facts)
{
    char message[CONDITION_MESSAGE_SIZE] = "";
    enum condition_answer answer = requirements_judge(options, facts, message, sizeof message);
    struct json json = {0};
    if (options->json) {
        json_open_object(&json, NULL);
        if (answer == CONDITION_NOT_KNOWN)
            json_null(&json, "met");
        else
            json_boolean(&json, "met", answer == CONDITION_MET);
        json_string(&json, "message", message);
        json_close_object(&json);
    } else if (answer != CONDITION_MET) {
        text_complain("%s", message);
    }
    return answer == CONDITION_MET ? STATUS_USABLE : answer == CONDITION_UNMET ? STATUS_UNUSABLE : STATUS_USAGE;
}

enum status for_answer(const struct options *options)
{
    struct condition_facts facts;
    char message[CONDITION_MESSAGE_SIZE];
    if (!cush_condition_read_facts(options->machine, &facts, message, sizeof message))
        return text_refuse("--for: %s", message);
    if (options->choose == NULL && options->name_count == 0 && options->required_version == 0)
        return text_refuse("--for: a question is missing: --require or --choose");
    if (options->devices || options->wait_seconds > 0 || options->timeout_seconds > 0 || options->nvrtc
        || options->no_start || options->load.path != NULL || options->load.root != NULL
        || options->load.max_version != 0 || options->load.hide != NULL)
        return text_refuse(
            "--for describes a machine, and asks no driver and no directory of this one: beside it, only "
            "--require, --require-slot, --feature, --choose, --per-thread and --format are possible");
    (void)cushim_load(&(struct cushim_load_options){.path = "none"});
    facts.judge_name = judge_name;
    facts.kind = options->kind;
    facts.must_be_known = true;
    if (options->choose == NULL)
        return requirements_answer(options, &facts);
    /* As on a machine with a driver, no build with conditions fits if a requirement is not met. */
    message[0] = '\0';
    enum condition_answer answer = requirements_judge(options, &facts, message, sizeof message);
    if (answer != CONDITION_NOT_KNOWN)
        return choose_answer(options, &facts, answer == CONDITION_MET ? NULL : message, false);
    text_complain("%s", message);
    return STATUS_USAGE;
}
