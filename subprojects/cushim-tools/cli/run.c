/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cushim/cushim.h"
#include "softcuda.h"
#include "devices.h"
#include "in_child.h"
#include "platform.h"
#include "selected_driver.h"

/* This command sets it when it runs itself again on softcuda: the reason why the driver of the machine was not used. */
static const char instead_variable[] = "CUSHIM_RUN_INSTEAD_OF";
static const char newest[] = CUSHIM_SOFTCUDA_NEWEST;

/* Whether this machine has no driver or no GPU. A driver that fails to start does not count. */
static bool is_without_gpu(const struct options *options)
{
    struct cushim_system system;
    switch (driver_diagnosis()->reason) {
    case CUSHIM_REASON_NOT_FOUND:
    case CUSHIM_REASON_NO_NVIDIA:
    case CUSHIM_REASON_NOT_WANTED:
    case CUSHIM_REASON_STUB:
    case CUSHIM_REASON_NO_DEVICE:
    case CUSHIM_REASON_NO_DEVICE_NODES:
    case CUSHIM_REASON_HIDDEN:
        return true;
    case CUSHIM_REASON_UNKNOWN:
        cushim_system_get_info(options->load.root, &system);
        return platform_has_system_files() && !system.has_gpu_on_bus && system.gpu_node == CUSHIM_NODE_ABSENT
               && system.wsl_node == CUSHIM_NODE_ABSENT;
    default:
        return false;
    }
}

/* Whether the user selected a library. "none" is not a library. */
static bool is_named(const struct options *options)
{
    const char *name = options->load.path != NULL ? options->load.path : getenv("CUSHIM_DRIVER");
    return name != NULL && strcmp(name, "none") != 0;
}

/* Runs this program again on softcuda: a loaded driver stays loaded, so another one needs a new process. */
static void restart_on_softcuda(const struct options *options, enum cushim_reason reason)
{
    char version[32];
    char path[PLATFORM_PATH_SIZE];
    const char *arguments[8] = {"cushim", "run", "--softcuda", newest};
    size_t count = 4;
    if (!softcuda_find(newest, path, sizeof path))
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
    platform_run_again(arguments, instead_variable, cushim_reason_name(reason));
}

static enum status start_driver(const struct options *options)
{
    enum status status = driver_load(options);
    if (status == STATUS_USABLE && (driver_start() != CUDA_SUCCESS || driver_device_count() == 0))
        status = STATUS_UNUSABLE;
    return status;
}

static bool wants_softcuda(const struct options *options)
{
    char path[PLATFORM_PATH_SIZE];
    return !is_named(options) && is_without_gpu(options) && softcuda_find(newest, path, sizeof path);
}

static enum cushim_reason reason_of(const char *word)
{
    int reason = CUSHIM_REASON_NONE;
    for (int i = 0; word != NULL && i < CUSHIM_REASON_COUNT; i++)
        if (strcmp(cushim_reason_name((enum cushim_reason)i), word) == 0)
            reason = i;
    return (enum cushim_reason)reason;
}

static void run_print_driver(enum cushim_reason instead_of)
{
    if (instead_of != CUSHIM_REASON_NONE) {
        text_mark(TONE_DOUBTFUL);
        text_paragraph(TONE_PLAIN, text_mark_width(), cushim_reason_message(instead_of));
    }
    text_mark(TONE_GOOD);
    text_print(TONE_STRONG, "%s: %s", driver_name().text, devices_name(0).text);
    puts("");
}

static void run_print_step(const struct step *step, void *unused)
{
    char time[32];
    (void)unused;
    snprintf(time, sizeof time, "%9.3f ms", (double)step->microseconds / 1000);
    text_mark(step->outcome == STEP_PASSED ? TONE_GOOD : step->outcome == STEP_FAILED ? TONE_BAD : TONE_DOUBTFUL);
    text_put(TONE_STRONG, step->name, 15);
    text_put(TONE_FAINT, time, 14);
    text_print(TONE_PLAIN, "%s%s", step->outcome == STEP_SKIPPED ? "skipped: " : "", step->message);
    puts("");
    fflush(stdout);
}

static void run_write_driver(struct json *json, enum cushim_reason instead_of)
{
    const struct softcuda_control *softcuda = driver_softcuda();
    json_open_object(json, "driver");
    json_string(json, "path", driver_diagnosis()->path);
    json_integer(json, "cuda_version", driver_diagnosis()->cuda_version);
    json_string(json, "device", devices_name(0).text);
    json_string(json, "softcuda", softcuda != NULL ? softcuda->driver : NULL);
    json_string(json, "instead_of", instead_of != CUSHIM_REASON_NONE ? cushim_reason_name(instead_of) : NULL);
    json_close_object(json);
}

static void run_write_step(struct json *json, const struct step *step)
{
    static const char *const outcomes[] = {"passed", "failed", "skipped"};
    json_open_object(json, NULL);
    json_string(json, "step", step->name);
    json_string(json, "outcome", outcomes[step->outcome]);
    json_integer(json, "microseconds", step->microseconds);
    json_string(json, "message", step->message);
    json_close_object(json);
}

struct steps {
    struct step list[16];
    size_t count;
};

static void run_keep_step(const struct step *step, void *user)
{
    struct steps *steps = user;
    if (steps->count < sizeof steps->list / sizeof steps->list[0])
        steps->list[steps->count++] = *step;
}

/* Runs the pipeline, or with a status other than STATUS_USABLE writes that there is no driver. The answer begins after
 * the last step: what the driver writes until then does not belong to it. */
static bool run_as_json(enum status status, enum cushim_reason instead_of)
{
    static struct steps steps;
    struct json json = {0};
    bool passed = status == STATUS_USABLE && pipeline_run(run_keep_step, &steps);
    call_answers();
    json_open_object(&json, NULL);
    if (status == STATUS_USABLE)
        run_write_driver(&json, instead_of);
    else
        json_null(&json, "driver");
    json_open_array(&json, "steps");
    for (size_t i = 0; i < steps.count; i++)
        run_write_step(&json, &steps.list[i]);
    json_close_array(&json);
    json_boolean(&json, "passed", passed);
    json_close_object(&json);
    return passed;
}

static void complain_of_driver(const struct options *options)
{
    char path[PLATFORM_PATH_SIZE];
    driver_complain();
    if (is_named(options))
        return;
    if (softcuda_find(newest, path, sizeof path))
        text_complain("to run on the software driver: cushim run --softcuda %s", newest);
    else
        text_complain("softcuda, the software driver, was not found: install it to run without a driver");
}

/* What run_answer() returns, beside the exit statuses: run on softcuda, for the reason that is added to it. */
enum { ON_SOFTCUDA = 16 };

static int run_answer(const struct options *options)
{
    enum cushim_reason instead_of =
        options->softcuda != NULL ? reason_of(getenv(instead_variable)) : CUSHIM_REASON_NONE;
    enum status status = start_driver(options);
    bool passed = false;
    if (status == STATUS_USAGE)
        return (int)status;
    if (status == STATUS_UNUSABLE && wants_softcuda(options))
        return ON_SOFTCUDA + (int)driver_diagnosis()->reason;
    if (options->json)
        passed = run_as_json(status, instead_of);
    if (status != STATUS_USABLE) {
        complain_of_driver(options);
    } else if (!options->json) {
        run_print_driver(instead_of);
        passed = pipeline_run(run_print_step, NULL);
    }
    return (int)(passed ? STATUS_USABLE : STATUS_UNUSABLE);
}

/* The text is written step by step. A document is complete whatever the driver does, so a child process makes it. */
enum status command_run(const struct options *options)
{
    int result = options->json ? (int)call_command(run_answer, options) : run_answer(options);
    if (result < ON_SOFTCUDA)
        return (enum status)result;
    restart_on_softcuda(options, (enum cushim_reason)(result - ON_SOFTCUDA));
    return STATUS_UNUSABLE;
}
