/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <stdio.h>

#include "machine.h"
#include "cushim/cushim.h"
#include "devices.h"
#include "in_child.h"
#include "platform.h"
#include "selected_driver.h"

enum started { PROBE_NOT_TRIED, PROBE_FAILED, PROBE_STARTED };

struct probe {
    bool loaded;
    bool has_no_answer; /* the driver is not to be loaded in this process */
    enum started started;
    char start_message[2048]; /* if the start failed, or the driver can be used */
    const char *reason;       /* a word of reasons.h */
    const char *message, *advice;
    int slots[SLOT_STATES]; /* by state */
    struct requirement requirement;
    struct cushim_system system;
    struct environment environment;
    const struct cushim_nvrtc *nvrtc; /* NULL: not asked for */
    char origin[512];                 /* what led to the library: a variable or a file; "": not known */
};

/* Too large for a small stack. */
static struct companion_found companions[CUSHIM_COMPANION_COUNT];
static struct cushim_nvrtc nvrtc;

static void probe_set_reason(struct probe *probe, enum cushim_reason reason, const char *message, const char *advice)
{
    probe->reason = cushim_reason_name(reason);
    probe->message = message;
    probe->advice = advice;
}

static int probe_timeout(const struct options *options)
{
    return options->timeout_seconds > 0 ? options->timeout_seconds : CALL_SECONDS;
}

/* Whether the machine shows, without a start, that no GPU can be used. Only NVIDIA's own library has a release in its
 * file's name: softcuda, and libraries that translate calls or send them to another machine, need no GPU here. */
static bool probe_is_certain(const struct options *options, struct probe *probe)
{
    const char *root = options->load.root != NULL ? options->load.root : "";
    const char *path = driver_diagnosis()->path;
    static struct os_obstacle cause;
    if (probe->started == PROBE_NOT_TRIED && cush_driver_release(path).text[0] != '\0')
        cause = cush_cause_find(root, path, CUDA_SUCCESS, false);
    if (cause.reason != CUSHIM_REASON_NONE)
        probe_set_reason(probe, cause.reason,
                         cause.message[0] != '\0' ? cause.message : cushim_reason_message(cause.reason),
                         cushim_reason_advice(cause.reason));
    return cause.reason != CUSHIM_REASON_NONE;
}

/* A failure of the driver takes precedence over a requirement that it does not meet. */
static enum status probe_examine(const struct options *options, struct probe *probe)
{
    cushim_system_get_info(options->load.root, &probe->system);
    enum status status = driver_load(options);
    if (status == STATUS_USAGE)
        return status;
    probe->loaded = status == STATUS_USABLE;
    bool by_files = options->no_start && requirement_needs_gpus(options);
    if (probe->loaded && !by_files
        && (options->devices || requirement_has_feature(options) || requirement_needs_gpus(options)))
        probe->started = driver_start() == CUDA_SUCCESS ? PROBE_STARTED : PROBE_FAILED;
    struct driver_explanation explanation =
        probe->started == PROBE_FAILED ? driver_explanation() : (struct driver_explanation){""};
    probe->environment = environment_read(options, probe->started != PROBE_NOT_TRIED);
    /* This process, too, may take so long. With --no-start, only files are read. */
    if (!options->no_start)
        companions_find(companions, (probe_timeout(options) + 1) / 2);
    if (options->nvrtc) {
        nvrtc_find(options->load.root, (probe_timeout(options) + 1) / 2, &nvrtc);
        probe->nvrtc = &nvrtc;
    }
    for (int slot = 0; slot < CUSHIM_SLOT_COUNT; slot++)
        probe->slots[cushim_slot_get_state((enum cushim_slot)slot, options->kind)]++;
    if (!by_files)
        probe->requirement = requirement_check(options);
    else if (require_by_files(options, &probe->requirement) == STATUS_USAGE)
        return STATUS_USAGE;

    const struct cushim_diagnosis *diagnosis = driver_diagnosis();
    if (!library_origin(options->load.root, diagnosis->path, probe->origin, sizeof probe->origin))
        probe->origin[0] = '\0';
    snprintf(probe->start_message, sizeof probe->start_message, "%s%s", diagnosis->message, explanation.text);
    probe_set_reason(probe, diagnosis->reason, explanation.text[0] != '\0' ? probe->start_message : diagnosis->message,
                     diagnosis->advice);
    if (!probe->loaded || probe->started == PROBE_FAILED)
        return STATUS_UNUSABLE;
    if (probe->started == PROBE_STARTED && driver_device_count() == 0) {
        probe_set_reason(probe, CUSHIM_REASON_NO_DEVICE, cushim_reason_message(CUSHIM_REASON_NO_DEVICE),
                         cushim_reason_advice(CUSHIM_REASON_NO_DEVICE));
        return STATUS_UNUSABLE;
    }
    if (probe_is_certain(options, probe))
        return STATUS_UNUSABLE;
    for (int id = 0; !options->no_start && id < CUSHIM_COMPANION_COUNT; id++) {
        const struct companion_found *companion = &companions[id];
        if (companion->reason != CUSHIM_REASON_UNKNOWN)
            continue;
        probe_set_reason(probe, companion->reason, companion->message, companion->advice);
        return STATUS_UNUSABLE;
    }
    if (probe->nvrtc != NULL && nvrtc.reason != CUSHIM_REASON_NONE) {
        probe_set_reason(probe, nvrtc.reason, nvrtc.message, nvrtc.advice);
        return STATUS_UNUSABLE;
    }
    if (!probe->requirement.met) {
        probe_set_reason(probe, probe->requirement.reason, probe->requirement.message, probe->requirement.advice);
        return STATUS_UNUSABLE;
    }
    snprintf(probe->start_message, sizeof probe->start_message, "%s%s.", driver_name().text,
             probe->started == PROBE_STARTED ? ""
                                             : " loads; whether a GPU can be used is not known (--devices starts it)");
    probe_set_reason(probe, CUSHIM_REASON_NONE, probe->start_message, "");
    return STATUS_USABLE;
}

static void probe_write_driver(struct json *json, const struct cushim_diagnosis *diagnosis, const struct probe *probe)
{
    const char *kernel_module = probe->system.kernel_module;
    json_open_object(json, "driver");
    json_string(json, "path", diagnosis->path);
    json_string(json, "found_through", probe->origin[0] != '\0' ? probe->origin : NULL);
    json_known(json, "cuda_version", diagnosis->cuda_version);
    const struct driver_release release = cush_driver_release(diagnosis->path);
    json_string(json, "release", release.text[0] != '\0' ? release.text : NULL);
    json_string(json, "kernel_module", kernel_module[0] != '\0' ? kernel_module : NULL);
    json_close_object(json);
}

static void probe_write(const struct options *options, const struct probe *probe)
{
    const struct cushim_diagnosis *diagnosis = driver_diagnosis();
    struct json json = {0};
    json_open_object(&json, NULL);
    json_boolean(&json, "loaded", probe->loaded);
    if (probe->started == PROBE_NOT_TRIED)
        json_null(&json, "initialised");
    else
        json_boolean(&json, "initialised", probe->started == PROBE_STARTED);
    json_string(&json, "reason", probe->reason);
    json_string(&json, "message", probe->message);
    json_string(&json, "advice", probe->advice);
    probe_write_driver(&json, diagnosis, probe);
    static const enum cushim_slot_state states[] = {CUSHIM_STATE_NATIVE, CUSHIM_STATE_POLYFILL, CUSHIM_STATE_ADAPTED,
                                                    CUSHIM_STATE_MISSING};
    json_open_object(&json, "entry_points");
    for (size_t i = 0; i < SLOT_STATES; i++)
        json_integer(&json, slot_states[states[i]].word, probe->slots[states[i]]);
    json_close_object(&json);
    if (probe->has_no_answer) {
        json_open_array(&json, "features");
        json_close_array(&json);
    } else {
        features_write(&json, CUSHIM_DRIVER_ALONE, options->feature);
    }
    companions_write(&json, probe->has_no_answer || options->no_start ? NULL : companions);
    nvrtc_write(&json, probe->nvrtc);
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
    for (size_t i = 0; cushim_layer_get_info(i, &layer) == CUDA_SUCCESS; i++) {
        json_open_object(&json, NULL);
        json_string(&json, "name", layer.name);
        json_string(&json, "path", layer.path);
        json_close_object(&json);
    }
    json_close_array(&json);
    const struct preloaded *list;
    size_t count = preload_list(options->load.root, &list);
    json_open_array(&json, "preloaded");
    for (size_t i = 0; i < count; i++) {
        json_open_object(&json, NULL);
        json_string(&json, "path", list[i].path);
        json_string(&json, "through", list[i].through);
        json_string(&json, "function", list[i].function[0] != '\0' ? list[i].function : NULL);
        json_close_object(&json);
    }
    json_close_array(&json);
    json_open_array(&json, "environment");
    for (size_t i = 0; i < probe->environment.count; i++) {
        json_open_object(&json, NULL);
        json_string(&json, "name", probe->environment.variables[i].name);
        json_string(&json, "value", probe->environment.variables[i].value);
        json_boolean(&json, "used", probe->environment.variables[i].is_used);
        json_close_object(&json);
    }
    json_close_array(&json);
    if (probe->started == PROBE_STARTED) {
        devices_write(&json, "devices", options->feature);
    } else {
        json_open_array(&json, "devices");
        json_close_array(&json);
    }
    json_close_object(&json);
}

static void probe_print_driver(const struct options *options, const struct probe *probe)
{
    const struct cushim_diagnosis *diagnosis = driver_diagnosis();
    const char *kernel_module = probe->system.kernel_module;
    if (diagnosis->path != NULL)
        text_field("library", TONE_PLAIN, diagnosis->path);
    if (probe->origin[0] != '\0')
        text_field("found through", TONE_PLAIN, probe->origin);
    if (platform_has_system_files())
        text_field("kernel module", TONE_PLAIN, kernel_module[0] != '\0' ? kernel_module : "not loaded");
    if (probe->loaded) {
        char line[128];
        const int *slots = probe->slots;
        snprintf(line, sizeof line, "%d native, %d polyfill, %d adapted, %d missing", slots[CUSHIM_STATE_NATIVE],
                 slots[CUSHIM_STATE_POLYFILL], slots[CUSHIM_STATE_ADAPTED], slots[CUSHIM_STATE_MISSING]);
        text_field("entry points", TONE_PLAIN, line);
        if (cushim_driver_version() > CUSHIM_LIST_VERSION) {
            snprintf(line, sizeof line, "not in cushim's list (CUDA %s); cushim_lookup() finds them",
                     text_version(CUSHIM_LIST_VERSION).text);
            text_field("newer ones", TONE_PLAIN, line);
        }
        features_print_count();
        if (!options->no_start)
            companions_print(companions);
        text_field("GPUs", TONE_PLAIN,
                   probe->started == PROBE_STARTED  ? "the driver has started"
                   : probe->started == PROBE_FAILED ? "the driver did not start"
                   : options->no_start              ? "not started"
                                                    : "not queried (--devices starts the driver)");
    }
    if (probe->nvrtc != NULL)
        nvrtc_print(probe->nvrtc);
}

static void print_headline(enum status status, const struct probe *probe)
{
    text_mark(status == STATUS_USABLE ? TONE_GOOD : TONE_BAD);
    if (status == STATUS_USABLE) {
        text_paragraph(TONE_STRONG, text_mark_width(), probe->message);
        return;
    }
    text_paragraph(TONE_STRONG, text_mark_width(), probe->message);
    text_put(TONE_PLAIN, "", text_mark_width());
    text_paragraph(TONE_PLAIN, text_mark_width(), probe->advice);
}

static void print_required(const struct options *options)
{
    if (options->name_count > 0)
        puts("Required");
    for (size_t i = 0; i < options->name_count; i++) {
        const char *failure = requirement_reason(options->names[i], options->kind);
        fputs("  ", stdout);
        text_mark(failure == NULL ? TONE_GOOD : TONE_BAD);
        text_print(TONE_PLAIN, "%s%s%s", options->names[i], failure != NULL ? ": " : "",
                   failure != NULL ? failure : "");
        puts("");
    }
}

/* What stands between programs and the driver. */
static void print_preloaded(const struct options *options)
{
    const struct preloaded *list;
    char line[sizeof list->path + 128];
    size_t count = preload_list(options->load.root, &list);
    for (size_t i = 0; i < count; i++) {
        snprintf(line, sizeof line, "%s (%s)%s%s", list[i].path, list[i].through,
                 list[i].error != 0 ? ", which cannot be read" : " defines ", list[i].function);
        text_field("preloaded", TONE_DOUBTFUL, line);
    }
}

static void probe_print(enum status status, const struct options *options, const struct probe *probe)
{
    const struct cushim_diagnosis *diagnosis = driver_diagnosis();
    print_headline(status, probe);
    probe_print_driver(options, probe);
    print_preloaded(options);
    if (probe->started == PROBE_STARTED)
        devices_print();
    if (probe->started == PROBE_STARTED && options->devices)
        features_print();
    if (!probe->has_no_answer)
        print_required(options);
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
    for (size_t i = 0; cushim_layer_get_info(i, &layer) == CUDA_SUCCESS; i++) {
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
        text_put(TONE_FAINT, variable->is_used ? "" : "  (not used)", 0);
        puts("");
    }
}

/* The JSON document does not have the failure of each name. */
static void complain_of_required(const struct options *options)
{
    for (size_t i = 0; i < options->name_count; i++) {
        const char *failure = requirement_reason(options->names[i], options->kind);
        if (failure != NULL)
            text_complain("%s is missing: %s", options->names[i], failure);
    }
}

/* ---- In a child process, because a driver can end its process or never return ---- */

/* Whether probe_wait() tries again. */
enum { TRY_NO_MORE, TRY_AGAIN, TRY_INVALID };

static int probe_try(const struct options *options)
{
    struct probe probe = {.loaded = false};
    enum status status = probe_examine(options, &probe);
    enum cushim_reason reason = driver_diagnosis()->reason;
    if (status == STATUS_USAGE)
        return TRY_INVALID;
    /* A later try with these options cannot have another result. */
    bool is_final = reason == CUSHIM_REASON_NOT_WANTED || reason == CUSHIM_REASON_BAD_OPTION;
    return status == STATUS_USABLE || is_final ? TRY_NO_MORE : TRY_AGAIN;
}

/* Tries until the time is over or another try is of no use. Each try has its own process, because a driver that is
 * loaded stays loaded, and one that did not start need not be able to start in the same process. */
static int probe_wait(const struct options *options)
{
    enum { PAUSE = 500 };
    const uint64_t end = cushim_clock_ns() / 1000000 + (uint64_t)options->wait_seconds * 1000;
    for (;;) {
        int result = TRY_AGAIN, unused;
        enum call_end how = call_in_child(probe_try, options, probe_timeout(options), &result, &unused);
        uint64_t now = cushim_clock_ns() / 1000000;
        if (how == CALL_NOT_MADE || (how == CALL_RETURNED && result != TRY_AGAIN))
            return how == CALL_NOT_MADE ? TRY_NO_MORE : result;
        if (now >= end)
            return TRY_AGAIN;
        platform_sleep(end - now < PAUSE ? (int)(end - now) : PAUSE);
    }
}

static int probe_answer(const struct options *options)
{
    struct probe probe = {.loaded = false};
    enum status status = probe_examine(options, &probe);
    if (status == STATUS_USAGE)
        return (int)status;
    call_answers();
    if (options->choose != NULL) {
        status =
            choose_for_machine(options, status == STATUS_USABLE ? NULL : probe.message, probe.started == PROBE_STARTED);
    } else if (options->json) {
        probe_write(options, &probe);
        complain_of_required(options);
    } else if (options->feature != NULL && probe.started == PROBE_STARTED && driver_device_count() > 0) {
        features_print_one(options->feature);
    } else {
        probe_print(status, options, &probe);
    }
    return (int)status;
}

/* The driver did not answer. This process does not load it. */
static enum status probe_fail(const struct options *options, enum call_end how, int signal)
{
    struct probe probe = {.loaded = false, .has_no_answer = true};
    const struct call_failure failure = call_failure(how, probe_timeout(options), signal);
    if (options->choose != NULL)
        return choose_for_machine(options, failure.text, false);
    probe.environment = environment_read(options, options->devices);
    probe_set_reason(&probe, CUSHIM_REASON_NO_ANSWER, failure.text, cushim_reason_advice(CUSHIM_REASON_NO_ANSWER));
    probe.started = options->devices ? PROBE_FAILED : PROBE_NOT_TRIED;
    probe.slots[CUSHIM_STATE_MISSING] = CUSHIM_SLOT_COUNT;
    cushim_system_get_info(options->load.root, &probe.system);
    if (options->json)
        probe_write(options, &probe);
    else
        probe_print(STATUS_UNUSABLE, options, &probe);
    return STATUS_UNUSABLE;
}

enum status command_probe(const struct options *given)
{
    struct options options = *given;
    int result = STATUS_UNUSABLE, signal = 0;
    if (options.list)
        return list_gpus(given);
    if (options.choose != NULL) {
        options.devices = !options.no_start;
        if (choose_check(&options) != STATUS_USABLE)
            return STATUS_USAGE;
    }
    if (options.machine != NULL)
        return for_answer(given);
    if (options.wait_seconds > 0 && probe_wait(&options) == TRY_INVALID)
        return STATUS_USAGE;
    switch (call_in_child(probe_answer, &options, probe_timeout(&options), &result, &signal)) {
    case CALL_RETURNED:
        return (enum status)result;
    case CALL_NOT_MADE:
        return (enum status)probe_answer(&options);
    case CALL_LATE:
        return probe_fail(&options, CALL_LATE, 0);
    default:
        return probe_fail(&options, CALL_ENDED, signal);
    }
}
