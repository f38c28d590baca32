/* SPDX-License-Identifier: MIT */
#include "environment.h"

#include <stdlib.h>
#include <string.h>

#include "driver.h"

/* Who follows a variable that cushim does not. */
enum reader { BY_NOBODY_HERE, BY_LOADER, BY_DRIVER };

static const struct {
    const char *name;
    enum reader reader;
} others[] = {
#if !defined(_WIN32)
    {"LD_LIBRARY_PATH", BY_LOADER},
    {"LD_PRELOAD", BY_LOADER},
#endif
    {"CUDA_VISIBLE_DEVICES", BY_DRIVER},
    {"CUDA_DEVICE_ORDER", BY_DRIVER},
    {"CUDA_MPS_PIPE_DIRECTORY", BY_DRIVER},
    /* Read by the host's container toolkit before this process was there. */
    {"NVIDIA_VISIBLE_DEVICES", BY_NOBODY_HERE},
    {"NVIDIA_DRIVER_CAPABILITIES", BY_NOBODY_HERE},
    /* Those that cushim followed or overruled are known by now: what is left is empty, which is as good as unset. */
    {"CUSHIM_DRIVER", BY_NOBODY_HERE},
    {"CUSHIM_MAX_VERSION", BY_NOBODY_HERE},
    {"CUSHIM_HIDE", BY_NOBODY_HERE},
};

static bool is_known(const struct environment *environment, const char *name)
{
    for (size_t i = 0; i < environment->count; i++) {
        if (strcmp(environment->variables[i].name, name) == 0)
            return true;
    }
    return false;
}

static void add(struct environment *environment, const char *name, const char *value, bool used)
{
    if (value != NULL && environment->count < MOST_VARIABLES && !is_known(environment, name))
        environment->variables[environment->count++] = (struct cushim_variable){name, value, used};
}

struct environment environment_read(const struct options *options, bool started)
{
    const struct cushim_diagnosis *diagnosis = driver_diagnosis();
    struct environment environment = {.count = 0};
    for (size_t i = 0; i < diagnosis->variable_count; i++)
        add(&environment, diagnosis->variables[i].name, diagnosis->variables[i].value, diagnosis->variables[i].used);
    /* The dynamic loader was asked for a library: below a root directory only if there is one. */
    bool opened = options->load.root == NULL ? diagnosis->attempt_count > 0 : cushim_driver_version() != 0;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        add(&environment, others[i].name, getenv(others[i].name),
            (others[i].reader == BY_LOADER && opened) || (others[i].reader == BY_DRIVER && started));
    return environment;
}
