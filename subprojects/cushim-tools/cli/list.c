/* SPDX-License-Identifier: MIT */
/* probe --list: the GPUs of the machine, without a start. */
#include "cli.h"

#include <stdio.h>

#include "cushim/cushim.h"
#include "devices.h"
#include "in_child.h"

enum { LABEL = 8 };

static void list_write_number(struct json *json, const char *key, int number)
{
    if (number >= 0)
        json_integer(json, key, number);
    else
        json_null(json, key);
}

static void list_write_text(struct json *json, const char *key, const char *text)
{
    json_string(json, key, text[0] != '\0' ? text : NULL);
}

static void list_write_gpu(struct json *json, const struct cushim_gpu *gpu)
{
    json_open_object(json, NULL);
    list_write_number(json, "ordinal", gpu->ordinal);
    json_boolean(json, "hidden", gpu->ordinal == CUSHIM_GPU_HIDDEN);
    json_string(json, "hidden_by", machine_gpu_hider_word(gpu));
    list_write_text(json, "name", gpu->name);
    json_string(json, "compute_capability", gpu->capability != 0 ? text_version(gpu->capability).text : NULL);
    json_string(json, "pci_bus_id", gpu->pci_bus_id);
    list_write_text(json, "uuid", gpu->uuid);
    list_write_number(json, "minor", gpu->minor);
    list_write_number(json, "nvml_index", gpu->nvml_index);
    if (gpu->mig == CUSHIM_GPU_MIG_NOT_KNOWN)
        json_null(json, "mig");
    else
        json_boolean(json, "mig", gpu->mig == CUSHIM_GPU_MIG_ON);
    json_boolean(json, "asleep", gpu->is_asleep);
    json_close_object(json);
}

static void list_write(const struct cushim_gpu *gpus, const struct cushim_gpus *all)
{
    struct json json = {0};
    json_open_object(&json, NULL);
    json_integer(&json, "count", all->count);
    list_write_number(&json, "visible", all->visible_count);
    if (all->code == CUDA_ERROR_UNKNOWN)
        json_null(&json, "code");
    else
        json_integer(&json, "code", (long long)all->code);
    json_string(&json, "message", all->message);
    json_string(&json, "advice", all->advice);
    json_open_array(&json, "gpus");
    for (int i = 0; i < all->count; i++)
        list_write_gpu(&json, &gpus[i]);
    json_close_array(&json);
    json_close_object(&json);
}

static void list_print_gpu(const struct cushim_gpu *gpu)
{
    char label[16] = "hidden";
    bool is_visible = gpu->ordinal != CUSHIM_GPU_HIDDEN;
    enum tone tone = is_visible ? TONE_PLAIN : TONE_FAINT;
    if (gpu->ordinal >= 0)
        snprintf(label, sizeof label, "GPU %d", gpu->ordinal);
    else if (is_visible)
        snprintf(label, sizeof label, "GPU ?");
    text_put(is_visible ? TONE_STRONG : TONE_FAINT, label, LABEL);
    text_print(tone, "%s, compute capability %s", gpu->name[0] != '\0' ? gpu->name : "a GPU of NVIDIA",
               gpu->capability != 0 ? text_version(gpu->capability).text : "not known");
    printf("\n%*s", LABEL, "");
    text_print(tone, "%s  %s", gpu->pci_bus_id, gpu->uuid[0] != '\0' ? gpu->uuid : "UUID not known");
    puts(gpu->is_asleep ? ", asleep" : "");
    if (machine_gpu_hider_word(gpu) != NULL) {
        text_put(TONE_PLAIN, "", LABEL);
        text_put(TONE_DOUBTFUL, machine_gpu_hider_text(gpu), 0);
        puts("");
    }
}

static int list_answer(const struct options *options)
{
    static struct cushim_gpu gpus[MACHINE_GPUS];
    struct cushim_gpus all = machine_gpus_find(options->load.root, CUSHIM_GPU_NVML_IF_NEEDED, gpus);
    call_answers();
    if (options->json) {
        list_write(gpus, &all);
    } else {
        for (int ordinal = 0; ordinal < all.visible_count; ordinal++) {
            for (int i = 0; i < all.count; i++) {
                if (gpus[i].ordinal == ordinal)
                    list_print_gpu(&gpus[i]);
            }
        }
        for (int i = 0; i < all.count; i++) {
            if (gpus[i].ordinal < 0)
                list_print_gpu(&gpus[i]);
        }
        text_paragraph(TONE_STRONG, 0, machine_gpus_summary(&all).text);
    }
    return all.code == CUDA_SUCCESS || all.code == CUDA_ERROR_UNKNOWN ? STATUS_USABLE : STATUS_UNUSABLE;
}

/* NVML, if the files do not suffice, is a library that can end the process. */
enum status list_gpus(const struct options *options)
{
    return call_command(list_answer, options);
}
