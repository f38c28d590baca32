/* SPDX-License-Identifier: MIT */
#include "commands.h"

#include <stdio.h>

#include "devices.h"
#include "driver.h"
#include "environment.h"
#include "json.h"
#include "platform.h"
#include "requirement.h"
#include "slots.h"
#include "text.h"

enum started { START_NOT_TRIED, START_FAILED, STARTED };

struct probe {
    bool loaded;
    enum started started;
    const char *reason; /* a word of reasons.h */
    const char *message, *advice;
    struct slot_counts slots;
    struct requirement requirement;
    struct cushim_system system;
    struct environment environment;
};

static void probe_set_reason(struct probe *probe, enum cushim_reason reason, const char *message, const char *advice)
{
    probe->reason = cushim_reason_name(reason);
    probe->message = message;
    probe->advice = advice;
}

/* A failure of the driver takes precedence over a requirement that it does not meet. */
static enum status probe_examine(const struct options *options, struct probe *probe)
{
    cushim_query_system(options->load.root, &probe->system);
    enum status status = driver_load(options);
    if (status == STATUS_USAGE)
        return status;
    probe->loaded = status == STATUS_USABLE;
    if (probe->loaded && options->devices)
        probe->started = driver_start() == CUDA_SUCCESS ? STARTED : START_FAILED;
    probe->environment = environment_read(options, probe->started != START_NOT_TRIED);
    probe->slots = slots_count(options->kind);
    probe->requirement = requirement_check(options);

    const struct cushim_diagnosis *diagnosis = driver_diagnosis();
    probe_set_reason(probe, diagnosis->reason, diagnosis->message, diagnosis->advice);
    if (!probe->loaded || probe->started == START_FAILED)
        return STATUS_UNUSABLE;
    if (probe->started == STARTED && devices_count() == 0) {
        probe_set_reason(probe, CUSHIM_REASON_NO_DEVICE, cushim_reason_message(CUSHIM_REASON_NO_DEVICE),
                         cushim_reason_advice(CUSHIM_REASON_NO_DEVICE));
        return STATUS_UNUSABLE;
    }
    if (!probe->requirement.met) {
        probe_set_reason(probe, CUSHIM_REASON_TOO_OLD, probe->requirement.message, probe->requirement.advice);
        return STATUS_UNUSABLE;
    }
    return STATUS_USABLE;
}

static void write_driver(struct json *json, const struct cushim_diagnosis *diagnosis, const struct probe *probe)
{
    const char *kernel_module = probe->system.kernel_module;
    json_open_object(json, "driver");
    json_string(json, "path", diagnosis->path);
    if (diagnosis->cuda_version != 0)
        json_integer(json, "cuda_version", diagnosis->cuda_version);
    else
        json_null(json, "cuda_version");
    json_string(json, "kernel_module", kernel_module[0] != '\0' ? kernel_module : NULL);
    json_close_object(json);
}

static void write_json(const struct probe *probe)
{
    const struct cushim_diagnosis *diagnosis = driver_diagnosis();
    struct json json = {0};
    json_open_object(&json, NULL);
    json_boolean(&json, "loaded", probe->loaded);
    if (probe->started == START_NOT_TRIED)
        json_null(&json, "initialised");
    else
        json_boolean(&json, "initialised", probe->started == STARTED);
    json_string(&json, "reason", probe->reason);
    json_string(&json, "message", probe->message);
    json_string(&json, "advice", probe->advice);
    write_driver(&json, diagnosis, probe);
    const struct slot_counts *counts = &probe->slots;
    json_open_object(&json, "entry_points");
    for (size_t i = 0; i < SLOT_STATES; i++)
        json_integer(&json, slots_in_order[i].word, counts->of[slots_in_order[i].state]);
    json_close_object(&json);
    json_open_array(&json, "tried");
    for (size_t i = 0; i < diagnosis->attempt_count; i++) {
        json_open_object(&json, NULL);
        json_string(&json, "path", diagnosis->attempts[i].path);
        json_string(&json, "result", diagnosis->attempts[i].result);
        json_close_object(&json);
    }
    json_close_array(&json);
    struct cushim_layer_info layer;
    json_open_array(&json, "layers");
    for (size_t i = 0; cushim_query_layer(i, &layer) == CUDA_SUCCESS; i++) {
        json_open_object(&json, NULL);
        json_string(&json, "name", layer.name);
        json_string(&json, "path", layer.path);
        json_close_object(&json);
    }
    json_close_array(&json);
    json_open_array(&json, "environment");
    for (size_t i = 0; i < probe->environment.count; i++) {
        json_open_object(&json, NULL);
        json_string(&json, "name", probe->environment.variables[i].name);
        json_string(&json, "value", probe->environment.variables[i].value);
        json_boolean(&json, "used", probe->environment.variables[i].used);
        json_close_object(&json);
    }
    json_close_array(&json);
    if (probe->started == STARTED) {
        devices_write(&json, "devices");
    } else {
        json_open_array(&json, "devices");
        json_close_array(&json);
    }
    json_close_object(&json);
}

static void print_driver(const struct probe *probe)
{
    const struct cushim_diagnosis *diagnosis = driver_diagnosis();
    const char *kernel_module = probe->system.kernel_module;
    if (diagnosis->path != NULL)
        text_field("library", TONE_PLAIN, diagnosis->path);
    if (platform_has_system_files())
        text_field("kernel module", TONE_PLAIN, kernel_module[0] != '\0' ? kernel_module : "not loaded");
    if (probe->loaded) {
        const struct slot_counts *counts = &probe->slots;
        char line[128];
        snprintf(line, sizeof line, "%d native, %d polyfill, %d adapted, %d missing", counts->of[CUSHIM_STATE_NATIVE],
                 counts->of[CUSHIM_STATE_POLYFILL], counts->of[CUSHIM_STATE_ADAPTED], counts->of[CUSHIM_STATE_MISSING]);
        text_field("entry points", TONE_PLAIN, line);
        if (cushim_driver_version() > CUSHIM_LIST_VERSION) {
            snprintf(line, sizeof line, "not in cushim's list (CUDA %s); cushim_lookup() finds them",
                     text_version(CUSHIM_LIST_VERSION).text);
            text_field("newer ones", TONE_PLAIN, line);
        }
        text_field("GPUs", TONE_PLAIN,
                   probe->started == STARTED        ? "the driver has started"
                   : probe->started == START_FAILED ? "the driver did not start"
                                                    : "not queried (--devices starts the driver)");
    }
}

static void print_headline(enum status status, const struct probe *probe)
{
    const struct cushim_diagnosis *diagnosis = driver_diagnosis();
    text_mark(status == STATUS_USABLE ? TONE_GOOD : TONE_BAD);
    if (status == STATUS_USABLE) {
        struct driver_release release = driver_release_of(diagnosis->path);
        text_print(TONE_STRONG, "NVIDIA driver %s%sfor CUDA %s", release.text, release.text[0] != '\0' ? " " : "",
                   text_version(diagnosis->cuda_version).text);
        if (cushim_driver_version() < diagnosis->cuda_version)
            text_print(TONE_STRONG, ", limited to CUDA %s", text_version(cushim_driver_version()).text);
        puts("");
        return;
    }
    text_paragraph(TONE_STRONG, text_mark_width(), probe->message);
    text_put(TONE_PLAIN, "", text_mark_width());
    text_paragraph(TONE_PLAIN, text_mark_width(), probe->advice);
}

static void print_slots(const struct options *options)
{
    if (options->required_slot_count > 0)
        puts("Required");
    for (size_t i = 0; i < options->required_slot_count; i++) {
        const char *failure = requirement_slot_failure(options->required_slots[i], options->kind);
        fputs("  ", stdout);
        text_mark(failure == NULL ? TONE_GOOD : TONE_BAD);
        text_print(TONE_PLAIN, "%s%s%s", options->required_slots[i], failure != NULL ? ": " : "",
                   failure != NULL ? failure : "");
        puts("");
    }
}

static void print_text(enum status status, const struct options *options, const struct probe *probe)
{
    const struct cushim_diagnosis *diagnosis = driver_diagnosis();
    print_headline(status, probe);
    print_driver(probe);
    if (probe->started == STARTED)
        devices_print();
    print_slots(options);
    if (diagnosis->attempt_count > 0)
        puts("Tried");
    size_t width = 0;
    for (size_t i = 0; i < diagnosis->attempt_count; i++)
        width = text_wider(width, diagnosis->attempts[i].path);
    for (size_t i = 0; i < diagnosis->attempt_count; i++) {
        bool found = diagnosis->attempts[i].reason == CUSHIM_REASON_NONE;
        fputs("  ", stdout);
        text_put(TONE_PLAIN, diagnosis->attempts[i].path, width + 2);
        text_put(found ? TONE_GOOD : TONE_FAINT, diagnosis->attempts[i].result, 0);
        puts("");
    }
    struct cushim_layer_info layer;
    for (size_t i = 0; cushim_query_layer(i, &layer) == CUDA_SUCCESS; i++) {
        if (i == 0)
            puts("Layers");
        text_print(TONE_PLAIN, "  %s  %s", layer.name, layer.path);
        puts("");
    }
    if (probe->environment.count > 0)
        puts("Environment");
    for (size_t i = 0; i < probe->environment.count; i++) {
        const struct cushim_variable *variable = &probe->environment.variables[i];
        fputs("  ", stdout);
        text_print(TONE_PLAIN, "%s=%s", variable->name, variable->value);
        text_put(TONE_FAINT, variable->used ? "" : "  (not used)", 0);
        puts("");
    }
}

/* The JSON document does not have the failure of each slot. */
static void complain_of_slots(const struct options *options)
{
    for (size_t i = 0; i < options->required_slot_count; i++) {
        const char *failure = requirement_slot_failure(options->required_slots[i], options->kind);
        if (failure != NULL)
            text_complain("%s is missing: %s", options->required_slots[i], failure);
    }
}

enum status command_probe(const struct options *options)
{
    struct probe probe = {.loaded = false};
    enum status status = probe_examine(options, &probe);
    if (status == STATUS_USAGE)
        return status;
    if (options->json) {
        write_json(&probe);
        complain_of_slots(options);
    } else {
        print_text(status, options, &probe);
    }
    return status;
}
