/* SPDX-License-Identifier: MIT */
#include "commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices.h"
#include "driver.h"
#include "json.h"
#include "platform.h"
#include "run_kernel.h"
#include "run_steps.h"
#include "software_driver.h"
#include "text.h"

/* This command sets it when it runs itself again on softcuda: the reason why the driver of the machine was not used. */
static const char instead_variable[] = "CUSHIM_RUN_INSTEAD_OF";
static const char newest[] = CUSHIM_SOFTCUDA_NEWEST;

/* Whether this machine has no driver or no GPU. A driver that fails to start does not count. */
static bool is_without_gpu(const struct options *options)
{
    struct cushim_system system;
    switch (driver_diagnosis()->reason) {
    case CUSHIM_REASON_NOT_FOUND:
    case CUSHIM_REASON_NOT_WANTED:
    case CUSHIM_REASON_STUB:
    case CUSHIM_REASON_NO_DEVICE:
    case CUSHIM_REASON_NO_DEVICE_NODES:
    case CUSHIM_REASON_HIDDEN:
        return true;
    case CUSHIM_REASON_UNKNOWN:
        cushim_query_system(options->load.root, &system);
        return platform_has_system_files() && !system.gpu_on_bus && system.gpu_node == CUSHIM_NODE_ABSENT
               && system.wsl_node == CUSHIM_NODE_ABSENT;
    default:
        return false;
    }
}

/* Whether the user selected a library. "none" is not a library. */
static bool is_named(const struct options *options)
{
    const char *variable = getenv("CUSHIM_DRIVER");
    const char *name = options->load.path != NULL ? options->load.path : variable;
    return options->softcuda != NULL || (name != NULL && strcmp(name, "none") != 0);
}

/* Runs this program again on softcuda: a loaded driver stays loaded, so another one needs a new process. */
static void restart_on_softcuda(const struct options *options)
{
    char version[32];
    char path[PLATFORM_PATH_SIZE];
    const char *arguments[8] = {"cushim", "run", "--softcuda", newest};
    size_t count = 4;
    if (!software_driver_find(newest, path, sizeof path))
        return;
    arguments[count++] = options->json ? "--format=json" : "--format=text";
    if (options->load.max_version != 0) {
        snprintf(version, sizeof version, "--max-version=%d", options->load.max_version);
        arguments[count++] = version;
    }
    if (options->load.hide != NULL) {
        arguments[count++] = "--hide";
        arguments[count++] = options->load.hide;
    }
    platform_run_again(arguments, instead_variable, driver_diagnosis()->reason_name);
}

static enum status start_driver(const struct options *options)
{
    char path[PLATFORM_PATH_SIZE];
    struct options own = *options;
    enum status status = software_driver_select(&own, path, sizeof path);
    if (status != STATUS_USABLE)
        return status;
    status = driver_load(&own);
    if (status == STATUS_USABLE && (driver_start() != CUDA_SUCCESS || devices_count() == 0))
        status = STATUS_UNUSABLE;
    if (status == STATUS_UNUSABLE && !is_named(options) && is_without_gpu(options))
        restart_on_softcuda(options);
    return status;
}

struct report {
    bool json;
    bool passed;
    struct json document;
};

static enum cushim_reason reason_of(const char *word)
{
    int reason = CUSHIM_REASON_NONE;
    for (int i = 0; word != NULL && i < CUSHIM_REASON_COUNT; i++)
        if (strcmp(cushim_reason_name((enum cushim_reason)i), word) == 0)
            reason = i;
    return (enum cushim_reason)reason;
}

static void print_driver(const char *softcuda, enum cushim_reason instead_of)
{
    const struct cushim_diagnosis *diagnosis = driver_diagnosis();
    if (instead_of != CUSHIM_REASON_NONE) {
        text_mark(TONE_DOUBTFUL);
        text_paragraph(TONE_PLAIN, text_mark_width(), cushim_reason_message(instead_of));
    }
    text_mark(TONE_GOOD);
    if (softcuda != NULL) {
        text_print(TONE_STRONG, "Running on softcuda, a software driver, as driver %s for CUDA %s", softcuda,
                   text_version(diagnosis->cuda_version).text);
    } else {
        struct driver_release release = driver_release_of(diagnosis->path);
        text_print(TONE_STRONG, "NVIDIA driver %s%sfor CUDA %s, %s", release.text, release.text[0] != '\0' ? " " : "",
                   text_version(diagnosis->cuda_version).text, devices_name(0).text);
    }
    if (cushim_driver_version() < diagnosis->cuda_version)
        text_print(TONE_STRONG, ", limited to CUDA %s", text_version(cushim_driver_version()).text);
    puts("");
}

static void write_driver(struct json *json, const char *softcuda, enum cushim_reason instead_of)
{
    json_open_object(json, "driver");
    json_string(json, "path", driver_diagnosis()->path);
    json_integer(json, "cuda_version", driver_diagnosis()->cuda_version);
    json_string(json, "device", devices_name(0).text);
    json_string(json, "softcuda", softcuda);
    json_string(json, "instead_of", instead_of != CUSHIM_REASON_NONE ? cushim_reason_name(instead_of) : NULL);
    json_close_object(json);
}

static void report_step(const struct step *step, void *user)
{
    static const char *const outcomes[] = {"passed", "failed", "skipped"};
    struct report *report = user;
    report->passed = report->passed && step->outcome != STEP_FAILED;
    if (report->json) {
        json_open_object(&report->document, NULL);
        json_string(&report->document, "step", step->name);
        json_string(&report->document, "outcome", outcomes[step->outcome]);
        json_integer(&report->document, "microseconds", step->microseconds);
        json_string(&report->document, "message", step->message);
        json_close_object(&report->document);
        return;
    }
    char time[32];
    snprintf(time, sizeof time, "%9.3f ms", (double)step->microseconds / 1000);
    text_mark(step->outcome == STEP_PASSED ? TONE_GOOD : step->outcome == STEP_FAILED ? TONE_BAD : TONE_DOUBTFUL);
    text_put(TONE_STRONG, step->name, 15);
    text_put(TONE_FAINT, time, 14);
    text_print(TONE_PLAIN, "%s%s", step->outcome == STEP_SKIPPED ? "skipped: " : "", step->message);
    puts("");
    fflush(stdout);
}

/* Reports that there is no driver to run on, in the JSON document too. */
static void report_no_driver(const struct options *options)
{
    struct json json = {0};
    if (options->json) {
        json_open_object(&json, NULL);
        json_boolean(&json, "passed", false);
        json_null(&json, "driver");
        json_open_array(&json, "steps");
        json_close_array(&json);
        json_close_object(&json);
    }
    driver_complain();
    char path[PLATFORM_PATH_SIZE];
    if (is_named(options))
        return;
    if (software_driver_find(newest, path, sizeof path))
        text_complain("to run on the software driver: cushim run --softcuda %s", newest);
    else
        text_complain(
            "softcuda, the software driver, was not found: install it with this program to run without a driver");
}

enum status command_run(const struct options *options)
{
    enum cushim_reason instead_of =
        options->softcuda != NULL ? reason_of(getenv(instead_variable)) : CUSHIM_REASON_NONE;
    const char *softcuda = NULL;
    struct report report = {.json = options->json, .passed = true};
    enum status status = start_driver(options);
    if (status == STATUS_UNUSABLE)
        report_no_driver(options);
    if (status != STATUS_USABLE)
        return status;
    (void)run_kernel_on_softcuda(&softcuda);
    if (report.json) {
        json_open_object(&report.document, NULL);
        write_driver(&report.document, softcuda, instead_of);
        json_open_array(&report.document, "steps");
    } else {
        print_driver(softcuda, instead_of);
    }
    run_steps(report_step, &report);
    if (report.json) {
        json_close_array(&report.document);
        json_boolean(&report.document, "passed", report.passed);
        json_close_object(&report.document);
    }
    return report.passed ? STATUS_USABLE : STATUS_UNUSABLE;
}
