/* SPDX-License-Identifier: MIT */
#include "trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform.h"

static const char driver_name[] = "libcuda.so.1";
static const char driver_variable[] = "CUSHIM_DRIVER";

enum { FAULT_SIZE = PLATFORM_PATH_SIZE + 256, MOST_VARIABLES = 8 };

static void try_load(const void *options, char *unused, size_t unused_size)
{
    (void)unused;
    (void)unused_size;
    (void)cushim_load(options);
}

/* Loads from paths whose files are checked. Returns whether the load found a driver or a damaged file, which `fault`
 * then names. */
static bool find_in(const struct cushim_load_options *options, char *fault, size_t size)
{
    if (cushim_load(options) == CUDA_SUCCESS)
        return true;
    const struct cushim_diagnosis *diagnosis = cushim_get_diagnosis();
    for (size_t i = 0; i < diagnosis->attempt_count; i++) {
        const struct cushim_attempt *attempt = &diagnosis->attempts[i];
        /* The dynamic loader skips other unusable files, such as 32-bit ones. */
        if (attempt->reason != CUSHIM_REASON_DAMAGED)
            continue;
        const char *file = attempt->path + (strncmp(attempt->path, "//", 2) == 0); /* below the root "/" */
        snprintf(fault, size, "%s: %s", file, attempt->result);
        return true;
    }
    return false;
}

/* Searches for the file that a plain name leads to: on the library path, then in the known paths. */
static void find_fault(const void *name, char *fault, size_t size)
{
    const char *directories = getenv("LD_LIBRARY_PATH");
    bool found = false;
    for (const char *directory = directories; directory != NULL && !found;) {
        char path[PLATFORM_PATH_SIZE];
        size_t length = strcspn(directory, ":;");
        snprintf(path, sizeof path, "%.*s/%s", (int)length, length != 0 ? directory : ".", (const char *)name);
        found = find_in(&(struct cushim_load_options){.path = path}, fault, size);
        directory = directory[length] != '\0' ? directory + length + 1 : NULL;
    }
    if (!found && strcmp(name, driver_name) == 0 && getenv(driver_variable) == NULL)
        find_in(&(struct cushim_load_options){.root = "/"}, fault, size);
}

/* The path that is opened first, according to the options and the environment. */
static const char *first_path(const struct cushim_load_options *options)
{
    const char *variable = getenv(driver_variable);
    if (options->path != NULL)
        return options->path;
    if (variable != NULL && variable[0] != '\0')
        return variable;
    return options->root != NULL ? options->root : driver_name;
}

static const struct cushim_diagnosis *fail_trial(const struct cushim_load_options *options, const char *end)
{
    static struct cushim_diagnosis diagnosis;
    static struct cushim_attempt attempt;
    static struct cushim_variable variables[MOST_VARIABLES];
    static char path[PLATFORM_PATH_SIZE], result[128], message[FAULT_SIZE + 256];
    char fault[FAULT_SIZE] = "";
    snprintf(path, sizeof path, "%s", first_path(options));
    snprintf(result, sizeof result, "%s", end);
    if (strchr(path, '/') == NULL && !platform_try(find_fault, path, fault, sizeof fault))
        fault[0] = '\0';
    snprintf(message, sizeof message, "An NVIDIA driver library was found, but opening it %s: %s.", result,
             fault[0] != '\0' ? fault : path);

    struct cushim_load_options nothing = *options;
    nothing.path = "none";
    (void)cushim_load(&nothing);
    diagnosis = *cushim_get_diagnosis();
    attempt = (struct cushim_attempt){.path = path, .result = result, .reason = CUSHIM_REASON_NOT_LOADABLE};
    for (size_t i = 0; i < diagnosis.variable_count && i < MOST_VARIABLES; i++) {
        variables[i] = diagnosis.variables[i];
        variables[i].used |= options->path == NULL && strcmp(variables[i].name, driver_variable) == 0;
    }
    diagnosis.reason = CUSHIM_REASON_NOT_LOADABLE;
    diagnosis.code = CUDA_ERROR_SHARED_OBJECT_INIT_FAILED;
    diagnosis.reason_name = cushim_reason_name(CUSHIM_REASON_NOT_LOADABLE);
    diagnosis.message = message;
    diagnosis.advice =
        "Reinstall NVIDIA's driver. An interrupted installation leaves such a library, and every program "
        "that uses CUDA fails the same way. Remove the file if it does not belong to the driver.";
    diagnosis.attempts = &attempt;
    diagnosis.attempt_count = 1;
    diagnosis.variables = variables;
    return &diagnosis;
}

const struct cushim_diagnosis *trial_load(const struct cushim_load_options *options)
{
    char end[128];
    return platform_try(try_load, options, end, sizeof end) ? NULL : fail_trial(options, end);
}
