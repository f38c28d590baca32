/* SPDX-License-Identifier: MIT */
#include "driver.h"

#include <stdio.h>
#include <string.h>

#include "platform.h"
#include "text.h"
#include "trial.h"

/* Why this process did not try to load the driver; NULL if it did. */
static const struct cushim_diagnosis *refusal;

/* Whether an environment variable was invalid. Options are read first; after an invalid option no variable is used. */
static bool is_from_environment(const struct cushim_diagnosis *diagnosis)
{
    for (size_t i = 0; i < diagnosis->variable_count; i++) {
        if (diagnosis->variables[i].used)
            return true;
    }
    return false;
}

enum status driver_load(const struct options *options)
{
    refusal = trial_load(&options->load);
    if (refusal != NULL)
        return STATUS_UNUSABLE;
    if (cushim_load(&options->load) == CUDA_SUCCESS)
        return STATUS_USABLE;
    const struct cushim_diagnosis *diagnosis = cushim_get_diagnosis();
    if (diagnosis->reason == CUSHIM_REASON_BAD_OPTION && !is_from_environment(diagnosis))
        return options_complain("%s", diagnosis->message);
    return STATUS_UNUSABLE;
}

const struct cushim_diagnosis *driver_diagnosis(void)
{
    return refusal != NULL ? refusal : cushim_get_diagnosis();
}

void driver_complain(void)
{
    text_complain("%s %s", driver_diagnosis()->message, driver_diagnosis()->advice);
}

struct driver_release driver_release_of(const char *path)
{
    /* A short number is not a release: libcuda.so.1 is the soname, and WSL has libcuda.so.1.1. */
    enum { FEWEST_DIGITS = 3 };
    static const char stem[] = "libcuda.so.";
    struct driver_release release = {""};
    char real[PLATFORM_PATH_SIZE];
    if (path == NULL || !platform_real_path(path, real, sizeof real))
        return release;
    const char *slash = strrchr(real, '/');
    const char *name = slash != NULL ? slash + 1 : real;
    if (strncmp(name, stem, strlen(stem)) != 0)
        return release;
    name += strlen(stem);
    bool only_numbers = name[strspn(name, "0123456789.")] == '\0';
    if (only_numbers && strspn(name, "0123456789") >= FEWEST_DIGITS && strlen(name) < sizeof release.text)
        strcpy(release.text, name);
    return release;
}

bool driver_same_release(const char *one, const char *other)
{
    /* Some files omit a last ".00". */
    size_t length = strlen(one) < strlen(other) ? strlen(one) : strlen(other);
    const char *rest = strlen(one) > length ? one + length : other + length;
    return strncmp(one, other, length) == 0 && (rest[0] == '\0' || strcmp(rest, ".00") == 0);
}

CUresult driver_start(void)
{
    fflush(NULL);
    return cushim_init();
}

const char *driver_code_name(CUresult code)
{
    const char *name = NULL;
    return cushim_table_legacy()->GetErrorName_v1(code, &name) == CUDA_SUCCESS && name != NULL ? name
                                                                                               : "an unknown code";
}
