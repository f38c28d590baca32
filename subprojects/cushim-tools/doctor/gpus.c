/* SPDX-License-Identifier: MIT */
/* Whether the driver fits the GPUs of this machine, by the list of generations of the loader. A kernel module
 * that accepts no GPU unloads itself, so that the file of the library is often the only trace of the driver. */
#include "facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "platform.h"

static const struct kind {
    unsigned first_id, last_id;
    const char *generation;
    int since, last;    /* driver branches; 0: not known */
    enum module module; /* the variants that support it */
} kinds[] = {
#define CUSHIM_GENERATION(first, last, capability, generation, since, last_branch, module)                             \
    {first, last, generation, since, last_branch, MODULE_##module},
#include "gpus.inc"
};

enum { FIRST_OPEN = 515 }; /* the branch that brought the open module */
enum fit { FIT_UNKNOWN, FIT_TOO_OLD, FIT_TOO_NEW, FIT_NEEDS_OPEN, FIT_NEEDS_CLOSED, FIT_DEPENDS };

static const struct kind *kind_find(const struct bus_gpu *gpu)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].first_id <= gpu->device && gpu->device <= kinds[i].last_id)
            return &kinds[i];
    }
    return NULL;
}

static bool is_loaded(const struct doctor *doctor)
{
    return doctor->system.kernel_module[0] != '\0';
}

/* The branch of the driver. A library of a container or of cuda-compat need not be that of the machine. */
static int driver_branch(const struct doctor *doctor)
{
    if (is_loaded(doctor))
        return atoi(doctor->system.kernel_module);
    return doctor->system.is_container || doctor->is_compat ? 0 : atoi(doctor->release.text);
}

/* The strings of a module end with a null. That of its licence tells the variant. */
static enum module module_file_variant(FILE *file)
{
    char text[32];
    size_t length = 0;
    for (int c; (c = getc(file)) != EOF; length = c != '\0' ? length + 1 : 0) {
        if (length < sizeof text)
            text[length] = (char)c;
        if (c == '\0' && length < sizeof text && strcmp(text, "license=NVIDIA") == 0)
            return MODULE_CLOSED;
        if (c == '\0' && length < sizeof text && strcmp(text, "license=Dual MIT/GPL") == 0)
            return MODULE_OPEN;
    }
    return MODULE_UNKNOWN;
}

enum module gpus_read_variant(const struct doctor *doctor)
{
    static const char version[] = "/proc/driver/nvidia/version";
    char path[OS_PATH_SIZE], whole[OS_PATH_SIZE];
    if (evidence_exists(doctor, version))
        return evidence_contains(doctor, version, "Open Kernel Module") ? MODULE_OPEN : MODULE_CLOSED;
    if (is_loaded(doctor) || doctor->bus.count == 0 || !evidence_find_module(doctor, path, sizeof path)
        || !pattern_matches("*.ko", path) || !cush_os_path_below(doctor->root, path, whole, sizeof whole)
        || !platform_is_file(whole))
        return MODULE_UNKNOWN;
    FILE *file = fopen(whole, "rb");
    if (file == NULL)
        return MODULE_UNKNOWN;
    enum module variant = module_file_variant(file);
    fclose(file);
    return variant;
}

static enum fit gpu_fit(const struct doctor *doctor, const struct kind *kind)
{
    const enum module variant = doctor->variant;
    int branch = driver_branch(doctor);
    if (kind == NULL || branch == 0)
        return FIT_UNKNOWN;
    if (kind->last != 0 && branch > kind->last)
        return FIT_TOO_OLD;
    if (branch < kind->since)
        return FIT_TOO_NEW;
    if (kind->module == MODULE_OPEN && variant == MODULE_CLOSED)
        return FIT_NEEDS_OPEN;
    if (kind->module == MODULE_CLOSED && variant == MODULE_OPEN)
        return FIT_NEEDS_CLOSED;
    bool has_choice = (kind->module == MODULE_OPEN || kind->module == MODULE_CLOSED) && branch >= FIRST_OPEN;
    return has_choice && variant == MODULE_UNKNOWN && !is_loaded(doctor) ? FIT_DEPENDS : FIT_UNKNOWN;
}

/* Whether no GPU fits the driver, the first one in this way. One that another kernel driver has is not looked at.
 * Returns its kind, or NULL. */
static const struct kind *misfit_find(const struct doctor *doctor, enum fit wanted)
{
    const struct kind *first = NULL;
    bool is_usual = doctor->bus.count > 0 && !doctor->is_wsl && !doctor->is_jetson;
    for (int i = 0; is_usual && i < doctor->bus.count; i++) {
        const struct bus_gpu *gpu = &doctor->bus.gpus[i];
        const struct kind *kind = kind_find(gpu);
        enum fit fit = gpu_fit(doctor, kind);
        if (gpu->is_of_another_driver || gpu->is_lost)
            continue;
        if (fit == FIT_UNKNOWN || (first == NULL && wanted != FIT_UNKNOWN && fit != wanted))
            return NULL;
        first = first == NULL ? kind : first;
    }
    return first;
}

#define EVIDENCE_OF_FIT(name, fit)                                                                                     \
    bool evidence_##name(const struct doctor *doctor)                                                                  \
    {                                                                                                                  \
        return misfit_find(doctor, fit) != NULL;                                                                       \
    }
EVIDENCE_OF_FIT(gpu_too_old, FIT_TOO_OLD)
EVIDENCE_OF_FIT(gpu_too_new, FIT_TOO_NEW)
EVIDENCE_OF_FIT(gpu_needs_open_module, FIT_NEEDS_OPEN)
EVIDENCE_OF_FIT(gpu_needs_closed_module, FIT_NEEDS_CLOSED)
EVIDENCE_OF_FIT(gpu_depends_on_variant, FIT_DEPENDS)

void gpu_describe(const struct doctor *doctor, const struct bus_gpu *gpu, char *text, size_t size)
{
    char more[64] = "";
    const struct kind *kind = kind_find(gpu);
    enum fit fit = gpu_fit(doctor, kind);
    if (fit == FIT_TOO_OLD)
        snprintf(more, sizeof more, ", whose last driver is %d", kind->last);
    else if (fit == FIT_TOO_NEW)
        snprintf(more, sizeof more, ", whose first driver is %d", kind->since);
    else if (fit == FIT_NEEDS_OPEN || fit == FIT_NEEDS_CLOSED)
        snprintf(more, sizeof more, ", which needs the %s kernel module",
                 fit == FIT_NEEDS_OPEN ? "open" : "proprietary");
    snprintf(text, size, "PCI device %s, id 10de:%04x%s%s%s", gpu->address, gpu->device,
             kind != NULL ? ", generation " : "", kind != NULL ? kind->generation : "", more);
}

/* ---- Facts ---- */

void fact_generation(const struct doctor *doctor, char *text, size_t size)
{
    const struct kind *kind = misfit_find(doctor, FIT_UNKNOWN);
    snprintf(text, size, "%s", kind != NULL ? kind->generation : "unknown");
}

void fact_branch(const struct doctor *doctor, char *text, size_t size)
{
    snprintf(text, size, "%d", driver_branch(doctor));
}

/* The branch that fits all GPUs: the last one, if there is one, or else one that is new enough. */
static int branch_find(const struct doctor *doctor)
{
    int branch = driver_branch(doctor), last = 0;
    for (int i = 0; i < doctor->bus.count; i++) {
        const struct kind *kind = kind_find(&doctor->bus.gpus[i]);
        if (kind != NULL && kind->last != 0)
            last = last == 0 || kind->last < last ? kind->last : last;
        else if (kind != NULL && branch < kind->since)
            branch = kind->since;
    }
    return last != 0 ? last : branch;
}

void fact_wanted_branch(const struct doctor *doctor, char *text, size_t size)
{
    snprintf(text, size, "%d", branch_find(doctor));
}

void fact_variant(const struct doctor *doctor, char *text, size_t size)
{
    const struct kind *kind = misfit_find(doctor, FIT_UNKNOWN);
    snprintf(text, size, "%s", kind != NULL && kind->module == MODULE_OPEN ? "open" : "proprietary");
}

/* If only one variant of the wanted driver supports the GPU: that variant and its packages. */
void fact_with_module(const struct doctor *doctor, char *text, size_t size)
{
    const struct kind *kind = misfit_find(doctor, FIT_UNKNOWN);
    int branch = branch_find(doctor);
    if (kind != NULL && kind->module == MODULE_OPEN)
        snprintf(text, size,
                 " with its open kernel module (Ubuntu: nvidia-driver-%d-open; Arch: nvidia-open-dkms; "
                 "others: nvidia-open)",
                 branch);
    else if (kind != NULL && kind->module == MODULE_CLOSED && branch >= FIRST_OPEN)
        snprintf(text, size,
                 " with its proprietary kernel module (Ubuntu: nvidia-driver-%d, without -open; Arch: "
                 "nvidia-%dxx-dkms; Debian: nvidia-kernel-dkms)",
                 branch, branch);
}

/* Why there is no module, if there is none. */
void fact_unloaded(const struct doctor *doctor, char *text, size_t size)
{
    if (!is_loaded(doctor))
        snprintf(text, size,
                 " The kernel module unloads itself when it finds no GPU that it supports (\"modprobe "
                 "nvidia\" then says \"No such device\").");
}

/* Each GPU of the bus. */
void fact_gpus(const struct doctor *doctor, char *text, size_t size)
{
    size_t used = 0;
    for (int i = 0; i < doctor->bus.count && used < size; i++) {
        char gpu[128];
        gpu_describe(doctor, &doctor->bus.gpus[i], gpu, sizeof gpu);
        used += (size_t)snprintf(text + used, size - used, "%s%s", used == 0 ? "" : "; ", gpu);
    }
    if (used < size)
        snprintf(text + used, size - used, ".");
}
