/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <stdio.h>
#include <string.h>

#include "cushim/cushim.h"
#include "devices.h"
#include "machine.h"
#include "selected_driver.h"

enum status choose_check(const struct options *options)
{
    char message[CONDITION_MESSAGE_SIZE];
    struct condition_build build;
    for (const char *list = options->choose; list != NULL;) {
        size_t unused;
        if (!cush_condition_next_build(&list, &build, message, sizeof message))
            return text_refuse("--choose: %s", message);
        if (cush_conditions_check(&build.conditions, 1, requirement_is_name, &unused, message, sizeof message)
            != CONDITION_RIGHT)
            return text_refuse("--choose: %.*s: %s", (int)build.length, build.name, message);
        if (options->no_start && cush_conditions_need_start(build.conditions, features_know, message, sizeof message))
            return text_refuse("--no-start: %.*s: \"%s\" is known only after a start", (int)build.length, build.name,
                               message);
    }
    return STATUS_USABLE;
}

static enum condition_answer build_judge(const struct condition_build *build, const struct condition_facts *facts,
                                         const char *failure, char *message, size_t size)
{
    size_t unused;
    message[0] = '\0';
    if (cush_condition_list_is_empty(build->conditions))
        return CONDITION_MET;
    if (failure == NULL)
        return cush_conditions_judge(&build->conditions, 1, facts, &unused, message, size);
    snprintf(message, size, "%s", failure);
    return CONDITION_UNMET;
}

static void choose_write_build(struct json *json, const struct condition_build *build, bool is_open, bool fits,
                               const char *message)
{
    json_open_object(json, NULL);
    json_string_part(json, "name", build->name, build->length);
    if (is_open)
        json_null(json, "fits");
    else
        json_boolean(json, "fits", fits);
    json_string(json, "message", message);
    json_close_object(json);
}

enum status choose_answer(const struct options *options, const struct condition_facts *facts, const char *failure,
                          bool has_started)
{
    char message[2048];
    struct condition_build build, choice = {.name = NULL};
    struct json json = {0};
    bool is_decided = false; /* by a build that fits, or of which that is not known where it must be */
    if (options->json) {
        json_open_object(&json, NULL);
        json_open_array(&json, "builds");
    }
    for (const char *list = options->choose;
         list != NULL && cush_condition_next_build(&list, &build, message, sizeof message);) {
        enum condition_answer answer = build_judge(&build, facts, failure, message, sizeof message);
        bool is_open = answer == CONDITION_NOT_KNOWN && facts != NULL && facts->must_be_known;
        if (options->json)
            choose_write_build(&json, &build, is_open, answer == CONDITION_MET, message);
        if (answer != CONDITION_MET && !is_decided && !options->json)
            text_complain("%.*s: %s", (int)build.length, build.name, message);
        if (answer == CONDITION_MET && !is_decided)
            choice = build;
        is_decided |= answer == CONDITION_MET || is_open;
    }
    if (options->json) {
        json_close_array(&json);
        json_string_part(&json, "choice", choice.name, choice.length);
        json_boolean(&json, "started", has_started);
        json_close_object(&json);
    } else if (choice.name != NULL) {
        printf("%.*s\n", (int)choice.length, choice.name);
        if (options->no_start)
            text_complain("not started: whether a GPU can be used is known only after a start");
    }
    return choice.name != NULL ? STATUS_USABLE : is_decided ? STATUS_USAGE : STATUS_UNUSABLE;
}

static bool builds_need_gpus(const char *list)
{
    char message[CONDITION_MESSAGE_SIZE];
    struct condition_build build;
    bool found = false;
    while (list != NULL && cush_condition_next_build(&list, &build, message, sizeof message))
        found |= cush_conditions_need_gpus(&build.conditions, 1);
    return found;
}

/* Reads the GPUs from files. Those say nothing about a driver that is not NVIDIA's own library. `why` is a sentence if
 * they are not known, or if CUDA shows none. */
static void choose_read_files(const struct options *options, struct condition_facts *facts, char *why, size_t size)
{
    if (cush_driver_release(driver_diagnosis()->path).text[0] == '\0')
        snprintf(why, size, "The driver is not a library of NVIDIA, so files do not show its GPUs.");
    else
        facts->gpu_count = machine_gpus_facts(options->load.root, facts->gpus, why, size);
}

enum status require_by_files(const struct options *options, struct requirement *out_requirement)
{
    struct condition_facts facts;
    struct options version = *options;
    char message[CONDITION_MESSAGE_SIZE] = "", why[512] = "";
    size_t unused;
    version.name_count = 0;
    *out_requirement = requirement_check(&version);
    requirement_read_facts(options, &facts);
    choose_read_files(options, &facts, why, sizeof why);
    if (facts.gpu_count < 0)
        return text_refuse("--no-start: the GPUs are known only after a start. %s", why);
    enum condition_answer answer =
        cush_conditions_judge(options->names, options->name_count, &facts, &unused, message, sizeof message);
    if (answer == CONDITION_NOT_KNOWN)
        return text_refuse("--no-start: this is known only after a start: %s", message);
    if (answer == CONDITION_MET || !out_requirement->met)
        return STATUS_USABLE;
    out_requirement->met = false;
    out_requirement->reason = CUSHIM_REASON_LACKS_FEATURE;
    snprintf(out_requirement->message, sizeof out_requirement->message, "%.255s",
             facts.gpu_count == 0 && why[0] != '\0' ? why : message);
    snprintf(out_requirement->advice, sizeof out_requirement->advice, "%s",
             cushim_reason_advice(CUSHIM_REASON_LACKS_FEATURE));
    return STATUS_USABLE;
}

enum status choose_for_machine(const struct options *options, const char *failure, bool has_started)
{
    struct condition_facts facts;
    char why[512] = "";
    if (failure != NULL)
        return choose_answer(options, NULL, failure, has_started);
    requirement_read_facts(options, &facts);
    if (options->no_start)
        choose_read_files(options, &facts, why, sizeof why);
    if (options->no_start && facts.gpu_count < 0 && builds_need_gpus(options->choose))
        return text_refuse("--no-start: arch is known only after a start. %s", why);
    return choose_answer(options, &facts, facts.gpu_count == 0 ? why : NULL, has_started);
}
