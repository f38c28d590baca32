/* SPDX-License-Identifier: MIT */
#include "devices.h"

#include <stdio.h>

#include "cushim/error.h"

/* Indexed by enum cushim_gpu_hider. */
static const struct {
    const char *word, *text;
} hiders[CUSHIM_GPU_HIDER_COUNT] = {
    [CUSHIM_GPU_HIDER_NONE] = {NULL, ""},
    [CUSHIM_GPU_HIDER_VARIABLE] = {"variable", "hidden by CUDA_VISIBLE_DEVICES"},
    [CUSHIM_GPU_HIDER_NODE] = {"node", "hidden: its device file does not exist here"},
    [CUSHIM_GPU_HIDER_WRONG_NODE] = {"wrong-node", "hidden: the file in place of its device file is not that one"},
    [CUSHIM_GPU_HIDER_PERMISSION] = {"permission", "hidden: this user may not open its device file"},
    [CUSHIM_GPU_HIDER_EXCLUSION] = {"exclusion", "hidden: the kernel module excludes it (NVreg_ExcludedGpus)"},
    [CUSHIM_GPU_HIDER_DRIVER] = {"driver", "hidden: another kernel driver has it, or none"},
    [CUSHIM_GPU_HIDER_NVML] = {"nvml", "hidden: NVML does not show it"},
};

struct cushim_gpus machine_gpus_find(const char *root, enum cushim_gpu_nvml nvml, struct cushim_gpu gpus[MACHINE_GPUS])
{
    const struct cushim_gpu_options options = {.root = root, .nvml = nvml};
    struct cushim_gpus all = {.visible_count = CUSHIM_GPU_NOT_KNOWN, .code = CUDA_ERROR_UNKNOWN, .advice = ""};
    if (cushim_gpu_find(&options, gpus, MACHINE_GPUS, &all) != CUDA_SUCCESS)
        snprintf(all.message, sizeof all.message, "%s", cushim_error_last()->message);
    return all;
}

int machine_gpus_facts(const char *root, struct condition_gpu facts[CONDITION_GPUS], char *why, size_t size)
{
    static struct cushim_gpu gpus[MACHINE_GPUS];
    const struct cushim_gpus all = machine_gpus_find(root, CUSHIM_GPU_NVML_IF_NEEDED, gpus);
    int count = 0;
    snprintf(why, size, "%s", all.message);
    if (all.code == CUDA_ERROR_UNKNOWN)
        return -1;
    for (int i = 0; i < all.count; i++) {
        if (gpus[i].ordinal == CUSHIM_GPU_HIDDEN)
            continue;
        if (gpus[i].capability == 0) {
            snprintf(why, size, "The compute capability of the GPU at %s is not known.", gpus[i].pci_bus_id);
            return -1;
        }
        facts[count++] = (struct condition_gpu){.capability = gpus[i].capability};
    }
    return count == all.visible_count ? count : -1; /* of unlike GPUs, it may not be known which ones are shown */
}

const char *machine_gpu_hider_word(const struct cushim_gpu *gpu)
{
    return hiders[gpu->hider].word;
}

const char *machine_gpu_hider_text(const struct cushim_gpu *gpu)
{
    return hiders[gpu->hider].text;
}

struct machine_gpus_text machine_gpus_summary(const struct cushim_gpus *all)
{
    struct machine_gpus_text summary;
    bool is_known = all->visible_count >= 0;
    if (all->message[0] != '\0')
        snprintf(summary.text, sizeof summary.text, "%s%s%s", all->message, all->advice[0] != '\0' ? " " : "",
                 all->advice);
    else if (is_known)
        snprintf(summary.text, sizeof summary.text, "CUDA shows %d of %d GPU%s to this process.", all->visible_count,
                 all->count, all->count == 1 ? "" : "s");
    else
        snprintf(summary.text, sizeof summary.text, "It is not known which GPUs CUDA shows.");
    return summary;
}
