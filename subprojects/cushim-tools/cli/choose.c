/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cushim/cushim.h"
#include "devices.h"
#include "selected_driver.h"

enum subject { SUBJECT_CUDA, SUBJECT_ARCH, SUBJECT_MEMORY, SUBJECT_NAME };

static const char *const subjects[] = {"cuda", "arch", "memory"};

struct condition {
    enum subject subject;
    bool is_below;            /* "<", and not ">=" */
    unsigned long long value; /* a version as 12030, or bytes */
    const char *text;         /* the condition itself, or the name of a slot or feature */
};

/* "cu12: cuda>=12.0 arch>=7.5" */
struct build {
    const char *name;
    const struct condition *conditions;
    size_t count;
};

/* A list that was read. `text` is a copy, in which NUL characters end the names and conditions. */
struct builds {
    char *text;
    struct build *builds;
    size_t count;
    struct condition *conditions; /* of all builds */
};

static const char separators[] = " \t\n,";

static void builds_free(struct builds *list)
{
    free(list->text);
    free(list->builds);
    free(list->conditions);
}

static bool read_memory(const char *text, unsigned long long *out_bytes)
{
    static const char units[] = "KMGT";
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    int shift = unit != NULL ? 10 * (int)(unit - units + 1) : 0;
    if (text[0] < '0' || text[0] > '9' || errno == ERANGE || value > ULLONG_MAX >> shift
        || (unit == NULL ? *end : end[1]) != '\0')
        return false;
    *out_bytes = value << shift;
    return true;
}

static bool read_value(struct condition *condition, const char *text)
{
    if (condition->subject == SUBJECT_MEMORY)
        return read_memory(text, &condition->value);
    condition->value = (unsigned long long)cush_version_parse(text);
    return condition->value != 0;
}

/* Returns false if the condition cannot be understood. */
static bool condition_read(const char *text, struct condition *condition)
{
    *condition = (struct condition){.subject = SUBJECT_NAME, .text = text};
    const char *sign = strpbrk(text, "<>=");
    enum cushim_slot slot;
    if (sign == NULL)
        return cushim_slot_find(text, &slot) == CUDA_SUCCESS || features_know(text);
    condition->is_below = sign[0] == '<';
    size_t name = (size_t)(sign - text);
    int subject = 0;
    while (subject < SUBJECT_NAME && (strlen(subjects[subject]) != name || strncmp(subjects[subject], text, name) != 0))
        subject++;
    condition->subject = (enum subject)subject;
    return subject < SUBJECT_NAME && (condition->is_below || strncmp(sign, ">=", 2) == 0)
           && read_value(condition, sign + (condition->is_below ? 1 : 2));
}

/* Ends the text at the first of these characters. Returns what is behind it, or NULL. */
static char *cut(char *text, const char *characters)
{
    char *end = text + strcspn(text, characters);
    if (*end == '\0')
        return NULL;
    *end = '\0';
    return end + 1;
}

/* Reads "NAME: CONDITION ...", and adds the conditions to those of the list. */
static enum status build_read(struct build *build, char *text, struct condition *next)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";
    char *rest = cut(text, ":");
    text += strspn(text, separators);
    size_t length = strlen(text);
    while (length > 0 && strchr(separators, text[length - 1]) != NULL)
        text[--length] = '\0';
    *build = (struct build){.name = text, .conditions = next};
    if (text[0] == '\0' || text[strspn(text, letters)] != '\0')
        return text_refuse("--choose: \"%s\" is not the name of a build; a semicolon (;) separates builds", text);
    while (rest != NULL) {
        char *condition = rest + strspn(rest, separators);
        rest = cut(condition, separators);
        if (condition[0] == '\0')
            continue;
        if (!condition_read(condition, next++))
            return text_refuse("--choose: %s: \"%s\" is not a condition such as cuda>=12.0, arch>=7.5, memory>=8G, "
                               "or the name of a slot or feature",
                               build->name, condition);
        build->count++;
    }
    return STATUS_USABLE;
}

/* Reads a list, also if it is refused: pass the result to builds_free(). */
static enum status builds_read(const char *text, struct builds *list)
{
    size_t size = strlen(text) + 1;
    /* Each build and each condition takes one character, and one that separates it. */
    *list = (struct builds){.text = malloc(size),
                            .builds = calloc(size / 2 + 1, sizeof *list->builds),
                            .conditions = calloc(size / 2 + 1, sizeof *list->conditions)};
    if (list->text == NULL || list->builds == NULL || list->conditions == NULL)
        return text_refuse("--choose: there is not enough memory for the list");
    memcpy(list->text, text, size);
    struct condition *next = list->conditions;
    for (char *item = list->text; item != NULL;) {
        struct build *build = &list->builds[list->count++];
        char *rest = cut(item, ";");
        enum status status = build_read(build, item, next);
        if (status != STATUS_USABLE)
            return status;
        next += build->count;
        item = rest;
    }
    return STATUS_USABLE;
}

static bool builds_have(const struct builds *list, enum subject subject)
{
    bool found = false;
    for (size_t i = 0; i < list->count; i++) {
        for (size_t j = 0; j < list->builds[i].count; j++)
            found |= list->builds[i].conditions[j].subject == subject;
    }
    return found;
}

enum status choose_check(const struct options *options)
{
    struct builds list;
    enum status status = builds_read(options->choose, &list);
    for (size_t i = 0; status == STATUS_USABLE && options->no_start && i < list.count; i++) {
        for (size_t j = 0; j < list.builds[i].count; j++) {
            const struct condition *condition = &list.builds[i].conditions[j];
            if (condition->subject == SUBJECT_MEMORY
                || (condition->subject == SUBJECT_NAME && features_know(condition->text)))
                status = text_refuse("--no-start: %s: \"%s\" is known only after a start", list.builds[i].name,
                                     condition->text);
        }
    }
    builds_free(&list);
    return status;
}

/* ---- The GPUs: of the started driver, or of the files ---- */

struct choose_gpus {
    int count; /* -1: not known */
    struct device_facts facts[MACHINE_GPUS];
    char why[512]; /* why they are not known, or why CUDA shows none */
};

/* The files of the machine say nothing about a driver that is not NVIDIA's own library. */
static void choose_read_gpus(const struct options *options, struct choose_gpus *gpus)
{
    gpus->why[0] = '\0';
    if (!options->no_start) {
        gpus->count = driver_device_count() < MACHINE_GPUS ? driver_device_count() : MACHINE_GPUS;
        for (int i = 0; i < gpus->count; i++)
            gpus->facts[i] = devices_facts(i);
    } else if (driver_release_of(driver_diagnosis()->path).text[0] == '\0') {
        gpus->count = -1;
        snprintf(gpus->why, sizeof gpus->why, "The driver is not a library of NVIDIA, so files do not show its GPUs.");
    } else {
        gpus->count = machine_gpus_facts(options->load.root, gpus->facts, gpus->why, sizeof gpus->why);
    }
}

static bool condition_holds(const struct condition *condition, unsigned long long value)
{
    return value != 0 && (condition->is_below ? value < condition->value : value >= condition->value);
}

/* Whether a GPU meets all conditions on GPUs. */
static bool gpu_fits(const struct build *build, const struct device_facts *gpu)
{
    bool fits = true;
    for (size_t i = 0; i < build->count; i++) {
        if (build->conditions[i].subject == SUBJECT_ARCH)
            fits &= condition_holds(&build->conditions[i], (unsigned long long)gpu->capability);
        else if (build->conditions[i].subject == SUBJECT_MEMORY)
            fits &= condition_holds(&build->conditions[i], gpu->memory);
    }
    return fits;
}

/* Describes the first GPU, because most machines have one kind. */
static bool any_gpu_fits(const struct build *build, const struct choose_gpus *gpus, char *message, size_t size)
{
    for (int i = 0; i < gpus->count; i++) {
        if (gpu_fits(build, &gpus->facts[i]))
            return true;
    }
    int used = snprintf(message, size, "no GPU meets all conditions: GPU 0 has compute capability %s",
                        text_version(gpus->facts[0].capability).text);
    if (gpus->facts[0].memory != 0)
        used += snprintf(message + used, size - (size_t)used, " and %llu MiB", gpus->facts[0].memory >> 20);
    snprintf(message + used, size - (size_t)used, ".");
    return false;
}

/* `failure`: why no GPU can be used, or NULL. Writes why the build does not fit. */
static bool build_fits(const struct build *build, const struct options *options, const struct choose_gpus *gpus,
                       const char *failure, char *message, size_t size)
{
    message[0] = '\0';
    if (build->count == 0)
        return true;
    if (failure != NULL) {
        snprintf(message, size, "%s", failure);
        return false;
    }
    for (size_t i = 0; i < build->count; i++) {
        const struct condition *condition = &build->conditions[i];
        const char *missing =
            condition->subject == SUBJECT_NAME ? requirement_failure(condition->text, options->kind) : NULL;
        if (missing != NULL)
            snprintf(message, size, "%s", missing);
        else if (condition->subject == SUBJECT_CUDA
                 && !condition_holds(condition, (unsigned long long)cushim_driver_version()))
            snprintf(message, size, "the driver is for CUDA %s, and %s is required.",
                     text_version(cushim_driver_version()).text, condition->text);
        else
            continue;
        return false;
    }
    return gpus->count < 0 || any_gpu_fits(build, gpus, message, size); /* without a condition on them */
}

enum status choose_answer(const struct options *options, const char *failure)
{
    struct builds list;
    static struct choose_gpus gpus;
    char message[2048];
    const char *choice = NULL;
    struct json json = {0};
    enum status status = builds_read(options->choose, &list);
    if (failure == NULL)
        choose_read_gpus(options, &gpus);
    if (failure == NULL && gpus.count == 0)
        failure = gpus.why;
    if (status == STATUS_USABLE && failure == NULL && gpus.count < 0 && builds_have(&list, SUBJECT_ARCH))
        status = text_refuse("--no-start: arch is known only after a start. %s", gpus.why);
    if (status == STATUS_USABLE && options->json) {
        json_open_object(&json, NULL);
        json_open_array(&json, "builds");
    }
    for (size_t i = 0; status == STATUS_USABLE && i < list.count; i++) {
        const struct build *build = &list.builds[i];
        bool fits = build_fits(build, options, &gpus, failure, message, sizeof message);
        if (options->json) {
            json_open_object(&json, NULL);
            json_string(&json, "name", build->name);
            json_boolean(&json, "fits", fits);
            json_string(&json, "message", message);
            json_close_object(&json);
        }
        if (fits && choice == NULL)
            choice = build->name;
        else if (!fits && choice == NULL && !options->json)
            text_complain("%s: %s", build->name, message);
    }
    if (status == STATUS_USABLE && options->json) {
        json_close_array(&json);
        json_string(&json, "choice", choice);
        json_boolean(&json, "started", !options->no_start && failure == NULL);
        json_close_object(&json);
    } else if (choice != NULL) {
        puts(choice);
        if (options->no_start)
            text_complain("not started: whether a GPU can be used is known only after a start");
    }
    if (status == STATUS_USABLE && choice == NULL)
        status = STATUS_UNUSABLE;
    builds_free(&list);
    return status;
}
