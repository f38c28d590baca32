/* SPDX-License-Identifier: MIT */
#include "condition_facts.h"

#include <string.h>

#include "os_file.h"

struct driver_release cush_driver_release(const char *path)
{
    /* A short number is not a release: libcuda.so.1 is the soname, and WSL has libcuda.so.1.1. */
    static const char stem[] = "/libcuda.so.";
    struct driver_release release = {""};
    char real_path[OS_PATH_SIZE];
    real_path[0] = '\0';
    if (path == NULL || strlen(path) >= sizeof real_path || !cush_os_file_real_path(path, real_path))
        return release;
    const char *name = strrchr(real_path, '/');
    if (name == NULL || strncmp(name, stem, strlen(stem)) != 0)
        return release;
    name += strlen(stem);
    if (cush_condition_release(name) != 0 && strlen(name) < sizeof release.text)
        strcpy(release.text, name);
    return release;
}

void cush_condition_facts(struct condition_facts *out_facts)
{
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    *out_facts = (struct condition_facts){.cuda_version = cushim_driver_version(), .gpu_count = -1};
    out_facts->is_limited = out_facts->cuda_version < diagnosis->cuda_version;
    out_facts->driver = cush_driver_release(diagnosis->path);
    out_facts->release = cush_condition_release(out_facts->driver.text);
    out_facts->release_last = out_facts->release;
    out_facts->gpus_why = "nobody has asked for them";
}
