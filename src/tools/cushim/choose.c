/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cushim/cushim.h"

/* "cu12: cuda>=12.0 arch>=7.5" */
struct build {
    char name[64];
    char conditions[512];
};

enum subject { SUBJECT_CUDA, SUBJECT_ARCH, SUBJECT_MEMORY, SUBJECT_NAME };

static const char *const subjects[] = {"cuda", "arch", "memory"};

struct condition {
    enum subject subject;
    bool is_below;            /* "<", and not ">=" */
    unsigned long long value; /* a version as 12030, or bytes */
    char text[80];            /* the condition itself, or the name of a slot or feature */
};

static const char separators[] = " \t\n,";

/* Takes the next build of a list, which is NULL after the last one. Returns false if there is none. */
static bool build_next(const char **list, struct build *build)
{
    char item[sizeof build->name + sizeof build->conditions];
    if (!text_next_item(list, ";", item, sizeof item))
        return false;
    char *start = item + strspn(item, separators);
    size_t length = strcspn(start, ":");
    const char *rest = start[length] == ':' ? start + length + 1 : "";
    while (length > 0 && strchr(separators, start[length - 1]) != NULL)
        length--;
    snprintf(build->name, sizeof build->name, "%.*s", (int)length, start);
    snprintf(build->conditions, sizeof build->conditions, "%s", rest);
    return true;
}

static bool read_memory(const char *text, unsigned long long *out_bytes)
{
    static const char units[] = "KMGT";
    char *end;
    *out_bytes = strtoull(text, &end, 10);
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    if (text[0] < '0' || text[0] > '9' || *out_bytes > 1 << 20 || (unit == NULL ? *end : end[1]) != '\0')
        return false;
    *out_bytes <<= unit != NULL ? 10 * (unit - units + 1) : 0;
    return true;
}

static bool read_value(struct condition *condition, const char *text)
{
    if (condition->subject == SUBJECT_MEMORY)
        return read_memory(text, &condition->value);
    condition->value = (unsigned long long)cush_version_parse(text);
    return condition->value != 0;
}

/* Takes the next condition. Returns false after the last one. `*out_valid` is false if it cannot be understood. */
static bool condition_next(const char **conditions, struct condition *condition, bool *out_valid)
{
    *conditions += strspn(*conditions, separators);
    size_t length = strcspn(*conditions, separators);
    if (length == 0)
        return false;
    *condition = (struct condition){.subject = SUBJECT_NAME};
    snprintf(condition->text, sizeof condition->text, "%.*s", (int)length, *conditions);
    *conditions += length;
    const char *sign = strpbrk(condition->text, "<>=");
    enum cushim_slot slot;
    if (sign == NULL) {
        *out_valid = cushim_slot_find(condition->text, &slot) == CUDA_SUCCESS || features_know(condition->text);
        return true;
    }
    condition->is_below = sign[0] == '<';
    size_t name = (size_t)(sign - condition->text);
    int subject = 0;
    while (subject < SUBJECT_NAME
           && (strlen(subjects[subject]) != name || strncmp(subjects[subject], condition->text, name) != 0))
        subject++;
    condition->subject = (enum subject)subject;
    *out_valid = subject < SUBJECT_NAME && (condition->is_below || strncmp(sign, ">=", 2) == 0)
                 && length < sizeof condition->text && read_value(condition, sign + (condition->is_below ? 1 : 2));
    return true;
}

enum status choose_check(const char *list)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";
    struct build build;
    while (build_next(&list, &build)) {
        const char *conditions = build.conditions;
        struct condition condition;
        bool is_valid = true;
        if (build.name[0] == '\0' || build.name[strspn(build.name, letters)] != '\0')
            return text_refuse("--choose: \"%s\" is not the name of a build", build.name);
        while (condition_next(&conditions, &condition, &is_valid)) {
            if (!is_valid)
                return text_refuse("--choose: %s: \"%s\" is not a condition such as cuda>=12.0, arch>=7.5, memory>=8G, "
                                   "or the name of a slot or feature",
                                   build.name, condition.text);
        }
    }
    return STATUS_USABLE;
}

static bool condition_holds(const struct condition *condition, unsigned long long value)
{
    return value != 0 && (condition->is_below ? value < condition->value : value >= condition->value);
}

/* Whether a GPU meets all conditions on GPUs. */
static bool gpu_fits(const char *conditions, const struct device_facts *gpu)
{
    struct condition condition;
    bool is_valid, fits = true;
    while (condition_next(&conditions, &condition, &is_valid)) {
        if (condition.subject == SUBJECT_ARCH)
            fits &= condition_holds(&condition, (unsigned long long)gpu->capability);
        else if (condition.subject == SUBJECT_MEMORY)
            fits &= condition_holds(&condition, gpu->memory);
    }
    return fits;
}

/* Describes the first GPU, because most machines have one kind. */
static bool any_gpu_fits(const char *conditions, char *message, size_t size)
{
    int count = driver_device_count();
    for (int i = 0; i < count; i++) {
        struct device_facts gpu = devices_facts(i);
        if (gpu_fits(conditions, &gpu))
            return true;
        if (i == 0)
            snprintf(message, size, "no GPU meets%s: GPU 0 has compute capability %s and %llu MiB.", conditions,
                     text_version(gpu.capability).text, gpu.memory >> 20);
    }
    return false;
}

/* `failure`: why no GPU can be used, or NULL. Writes why the build does not fit. */
static bool build_fits(const struct build *build, const struct options *options, const char *failure, char *message,
                       size_t size)
{
    const char *conditions = build->conditions;
    struct condition condition;
    bool is_valid;
    message[0] = '\0';
    if (conditions[strspn(conditions, separators)] == '\0')
        return true;
    if (failure != NULL) {
        snprintf(message, size, "%s", failure);
        return false;
    }
    while (message[0] == '\0' && condition_next(&conditions, &condition, &is_valid)) {
        const char *missing =
            condition.subject == SUBJECT_NAME ? requirement_failure(condition.text, options->kind) : NULL;
        if (missing != NULL)
            snprintf(message, size, "%s", missing);
        if (condition.subject == SUBJECT_CUDA
            && !condition_holds(&condition, (unsigned long long)cushim_driver_version()))
            snprintf(message, size, "the driver is for CUDA %s, and %s is required.",
                     text_version(cushim_driver_version()).text, condition.text);
    }
    return message[0] == '\0' && any_gpu_fits(build->conditions, message, size);
}

enum status choose_answer(const struct options *options, const char *failure)
{
    const char *list = options->choose;
    struct build build;
    char message[2048], choice[sizeof build.name] = "";
    struct json json = {0};
    if (options->json) {
        json_open_object(&json, NULL);
        json_open_array(&json, "builds");
    }
    while (build_next(&list, &build)) {
        bool fits = build_fits(&build, options, failure, message, sizeof message);
        if (options->json) {
            json_open_object(&json, NULL);
            json_string(&json, "name", build.name);
            json_boolean(&json, "fits", fits);
            json_string(&json, "message", message);
            json_close_object(&json);
        }
        if (fits && choice[0] == '\0')
            strcpy(choice, build.name);
        else if (!fits && choice[0] == '\0' && !options->json)
            text_complain("%s: %s", build.name, message);
    }
    if (options->json) {
        json_close_array(&json);
        json_string(&json, "choice", choice[0] != '\0' ? choice : NULL);
        json_close_object(&json);
    } else if (choice[0] != '\0') {
        puts(choice);
    }
    return choice[0] != '\0' ? STATUS_USABLE : STATUS_UNUSABLE;
}
