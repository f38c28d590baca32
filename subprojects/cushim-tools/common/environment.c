/* SPDX-License-Identifier: MIT */
#include "selected_driver.h"

#include <stdlib.h>
#include <string.h>

/* The part of this process that reads a variable which cushim does not read itself. */
enum reader { READ_BY_NONE, READ_BY_LOADER, READ_BY_DRIVER };

static const struct {
    const char *name;
    enum reader reader;
} others[] = {
#if !defined(_WIN32)
    {"LD_LIBRARY_PATH", READ_BY_LOADER},
    {"LD_PRELOAD", READ_BY_LOADER},
#endif
    {"CUDA_VISIBLE_DEVICES", READ_BY_DRIVER},
    {"CUDA_DEVICE_ORDER", READ_BY_DRIVER},
    {"CUDA_MPS_PIPE_DIRECTORY", READ_BY_DRIVER},
    /* The container toolkit of the host reads these before the container starts. */
    {"NVIDIA_VISIBLE_DEVICES", READ_BY_NONE},
    {"NVIDIA_DRIVER_CAPABILITIES", READ_BY_NONE},
    /* The diagnosis has those that are set. The others are empty here, which means unset. */
    {"CUSHIM_DRIVER", READ_BY_NONE},
    {"CUSHIM_MAX_VERSION", READ_BY_NONE},
    {"CUSHIM_HIDE", READ_BY_NONE},
    {"CUSHIM_LAYERS", READ_BY_NONE},
};

static bool is_known(const struct environment *environment, const char *name)
{
    for (size_t i = 0; i < environment->count; i++) {
        if (strcmp(environment->variables[i].name, name) == 0)
            return true;
    }
    return false;
}

static void environment_add(struct environment *environment, const char *name, const char *value, bool is_used)
{
    if (value != NULL && environment->count < ENVIRONMENT_SIZE && !is_known(environment, name))
        environment->variables[environment->count++] =
            (struct cushim_variable){.name = name, .value = value, .is_used = is_used};
}

struct environment environment_read(const struct options *options, bool started)
{
    const struct cushim_diagnosis *diagnosis = driver_diagnosis();
    struct environment environment = {.count = 0};
    for (size_t i = 0; i < diagnosis->variable_count; i++)
        environment_add(&environment, diagnosis->variables[i].name, diagnosis->variables[i].value,
                        diagnosis->variables[i].is_used);
    /* Whether the dynamic loader opened a library. Below a root directory it is called only if a file was found. */
    bool opened = options->load.root == NULL ? diagnosis->attempt_count > 0 : cushim_driver_version() != 0;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        environment_add(&environment, others[i].name, getenv(others[i].name),
                        (others[i].reader == READ_BY_LOADER && opened)
                            || (others[i].reader == READ_BY_DRIVER && started));
    return environment;
}
