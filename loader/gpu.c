/* SPDX-License-Identifier: MIT */
#include "cushim/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cause.h"
#include "error.h"
#include "find_driver.h"
#include "gpu_list.h"
#include "os.h"

/* A search: the list, and what the variables make of it. */
struct gpu_search {
    const char *root;
    struct gpu_list list;
    enum system_kind system;
    struct visible_variables variables;
    struct visible visible;
    int usable[GPU_MAX]; /* the indices of the GPUs that only the variable can hide, in the order of the bus */
    int usable_count;
};

/* ---- NVML ---- */

/* Whether something is missing of a GPU that this process may be able to use. */
static bool gpu_has_gap(const struct gpu *gpu, bool is_container)
{
    const struct cushim_gpu *public = &gpu->public;
    /* Outside of a container, a start can create the node. */
    if (public->hider == CUSHIM_GPU_HIDER_NODE)
        return !is_container;
    return public->hider == CUSHIM_GPU_HIDER_NONE && (public->uuid[0] == '\0' || public->capability == 0);
}

/* A GPU that is asleep would be woken, and without a kernel module NVML would load it. */
static bool search_may_ask_nvml(const struct gpu_search *search, const struct cushim_gpu_options *options)
{
    const struct gpu_list *list = &search->list;
    bool has_gap = !list->is_of_kernel;
    bool has_module = list->has_module || search->system == SYSTEM_WSL || search->system == SYSTEM_OTHER;
    for (int i = 0; i < list->count; i++) {
        has_gap |= gpu_has_gap(&list->gpus[i], list->is_container);
        if (list->gpus[i].public.is_asleep && !options->is_wake_allowed)
            return false;
    }
    return has_module
           && (options->nvml == CUSHIM_GPU_NVML_ALWAYS || (options->nvml == CUSHIM_GPU_NVML_IF_NEEDED && has_gap));
}

/* ---- What is not known ---- */

static bool search_has(const struct gpu_search *search, enum cushim_gpu_hider hider)
{
    bool found = false;
    for (int i = 0; i < search->list.count; i++)
        found |= search->list.gpus[i].public.hider == hider;
    return found;
}

static bool search_has_mig(const struct gpu_search *search)
{
    bool found = false;
    for (int i = 0; i < search->usable_count; i++)
        found |= search->list.gpus[search->usable[i]].public.mig == CUSHIM_GPU_MIG_ON;
    return found;
}

static bool search_has_mps(const struct gpu_search *search)
{
    char directory[512], path[sizeof directory + 16];
    int length = cush_os_environment_copy("CUDA_MPS_PIPE_DIRECTORY", directory, sizeof directory);
    snprintf(path, sizeof path, "%s/control", length > 0 ? directory : "/tmp/nvidia-mps");
    return search->system == SYSTEM_USUAL && cush_system_has_file(search->root, path);
}

/* Why it is not known which GPUs CUDA shows, apart from the variables; NULL: it is known. */
static const char *search_doubt(const struct gpu_search *search, const char **out_advice)
{
    const struct gpu_list *list = &search->list;
    static const char by_start[] = "Start CUDA to learn it: \"cushim probe --devices\" does.";
    *out_advice = by_start;
    if (search->system == SYSTEM_WSL)
        return "It is not known which GPUs CUDA shows: this is Windows Subsystem for Linux, where no file shows a GPU.";
    if (search->system == SYSTEM_JETSON)
        return "It is not known which GPUs CUDA shows: this is a Jetson, whose GPU is not on the bus.";
    if (search->system == SYSTEM_OTHER && !list->has_nvml)
        return "It is not known which GPUs CUDA shows: on Windows only NVML (nvml.dll) lists them, and it did not "
               "answer.";
    if (list->is_full)
        return "It is not known which GPUs CUDA shows: this machine has more than 64.";
    if (list->lacks_node_of_sleeper && !list->has_nvml)
        return "It is not known which GPUs CUDA shows: a GPU is asleep, and not every device node can be opened.";
    if (list->is_of_kernel && !list->has_nvml && !list->is_container && search_has(search, CUSHIM_GPU_HIDER_NODE))
        return "It is not known which GPUs CUDA shows: a device node is missing, and a start of CUDA may create it.";
    if (list->is_of_kernel || list->has_nvml)
        return NULL;
    if (search->usable_count == 0 && (list->count > 0 || list->is_bus_visible))
        return NULL;
    if (search->usable_count == 0)
        return "It is not known which GPUs CUDA shows: this process sees neither the bus nor the files of a driver.";
    *out_advice = cushim_reason_advice(CUSHIM_REASON_MODULE_NOT_LOADED);
    return list->has_module
               ? "It is not known which GPUs CUDA shows: this process cannot see the list of the kernel module "
                 "(/proc/driver/nvidia/gpus)."
               : "It is not known which GPUs CUDA shows: the kernel module is not loaded, and a start of CUDA may load "
                 "it.";
}

/* ---- The order of CUDA ---- */

/* Whether the GPUs are of one kind. Then both orders are that of the bus. */
static bool search_is_alike(const struct gpu_search *search)
{
    const struct gpu *first = &search->list.gpus[search->usable[0]];
    bool is_alike = true;
    for (int i = 1; i < search->usable_count; i++) {
        const struct gpu *gpu = &search->list.gpus[search->usable[i]];
        is_alike &= first->device_id != 0 ? gpu->device_id == first->device_id
                                          : strcmp(gpu->public.name, first->public.name) == 0;
    }
    return is_alike;
}

/* FASTEST_FIRST, the default, is not an order of capabilities: CUDA was seen to put a 10.3 in front of a 12.0. */
static bool search_knows_order(const struct gpu_search *search)
{
    return search->visible.is_by_uuid || search_is_alike(search)
           || (search->variables.has_order && strcmp(search->variables.order, "PCI_BUS_ID") == 0);
}

static void search_set_ordinals(struct gpu_search *search, bool is_known)
{
    for (int i = 0; i < search->usable_count; i++) {
        struct cushim_gpu *gpu = &search->list.gpus[search->usable[i]].public;
        gpu->ordinal = is_known ? CUSHIM_GPU_HIDDEN : CUSHIM_GPU_NOT_KNOWN;
        gpu->hider = is_known ? CUSHIM_GPU_HIDER_VARIABLE : CUSHIM_GPU_HIDER_NONE;
    }
    for (int i = 0; is_known && i < search->visible.count; i++) {
        struct cushim_gpu *gpu = &search->list.gpus[search->usable[search->visible.gpus[i]]].public;
        gpu->ordinal = i;
        gpu->hider = CUSHIM_GPU_HIDER_NONE;
    }
}

/* ---- The answer ---- */

static void search_read(struct gpu_search *search, const struct cushim_gpu_options *options)
{
    search->system = cush_system_kind(search->root);
    cush_gpu_list_read(search->root, options->is_wake_allowed, &search->list);
    if (search_may_ask_nvml(search, options))
        cush_gpu_list_ask_nvml(search->root, options->nvml == CUSHIM_GPU_NVML_ALWAYS, &search->list);
    search->usable_count = 0;
    for (int i = 0; i < search->list.count; i++) {
        if (search->list.gpus[i].public.hider == CUSHIM_GPU_HIDER_NONE)
            search->usable[search->usable_count++] = i;
    }
    /* NVML counts in the order of the bus, but also GPUs that it does not show. */
    for (int i = 0; i < search->usable_count && search->usable_count == search->list.count; i++) {
        if (search->list.is_of_kernel && !search->list.has_nvml)
            search->list.gpus[i].public.nvml_index = i;
    }
}

/* Why no GPU can be used. */
static enum cushim_reason search_find_reason(const struct gpu_search *search)
{
    if (search_has(search, CUSHIM_GPU_HIDER_WRONG_NODE))
        return CUSHIM_REASON_NODE_WRONG;
    if (search_has(search, CUSHIM_GPU_HIDER_PERMISSION))
        return CUSHIM_REASON_NODES_DENIED;
    if (search_has(search, CUSHIM_GPU_HIDER_NODE))
        return CUSHIM_REASON_NO_DEVICE_NODES;
    enum cushim_reason reason = cush_cause_find(search->root, NULL, CUDA_SUCCESS, false).reason;
    return reason != CUSHIM_REASON_NONE && reason != CUSHIM_REASON_HIDDEN ? reason : CUSHIM_REASON_NO_DEVICE;
}

static void search_judge(struct gpu_search *search, struct cushim_gpus *all)
{
    const char *uuids[GPU_MAX];
    const char *doubt = search_doubt(search, &all->advice);
    for (int i = 0; i < search->usable_count; i++)
        uuids[i] = search->list.gpus[search->usable[i]].public.uuid;
    cush_visible_get(&search->variables);
    cush_visible_read(&search->variables, uuids, search->usable_count, &search->visible);
    if (doubt == NULL && search->usable_count > 0 && search_has_mig(search))
        doubt = "It is not known which GPUs CUDA shows: a GPU is divided (MIG), and a process gets one part.";
    else if (doubt == NULL && search->usable_count > 0 && search_has_mps(search))
        doubt = "It is not known which GPUs CUDA shows: the Multi-Process Service (MPS) chooses them.";
    if (doubt != NULL) {
        all->code = CUDA_ERROR_UNKNOWN;
        snprintf(all->message, sizeof all->message, "%s", doubt);
        for (int i = 0; i < search->list.count; i++) {
            if (search->list.gpus[i].public.hider == CUSHIM_GPU_HIDER_NODE && !search->list.is_container)
                search->list.gpus[i].public.ordinal = CUSHIM_GPU_NOT_KNOWN;
        }
        search_set_ordinals(search, false);
        return;
    }
    if (search->usable_count == 0) {
        enum cushim_reason reason = search_find_reason(search);
        all->code = CUDA_ERROR_NO_DEVICE;
        all->visible_count = 0;
        all->advice = cushim_reason_advice(reason);
        snprintf(all->message, sizeof all->message, "%s", cushim_reason_message(reason));
        return;
    }
    bool knows_order = search->visible.code != CUDA_SUCCESS || search_knows_order(search);
    all->code = search->visible.code;
    all->visible_count = all->code == CUDA_ERROR_UNKNOWN ? CUSHIM_GPU_NOT_KNOWN : search->visible.count;
    search_set_ordinals(search, knows_order && all->code != CUDA_ERROR_UNKNOWN);
    cush_visible_explain(&search->variables, &search->visible, search->usable_count, all->message, sizeof all->message);
    all->advice = cush_visible_advice(search->visible.remark);
    if (all->message[0] == '\0' && !knows_order) {
        snprintf(all->message, sizeof all->message,
                 "The GPUs are unlike, and without CUDA_DEVICE_ORDER=PCI_BUS_ID the order of CUDA is not known.");
        all->advice = "Set CUDA_DEVICE_ORDER=PCI_BUS_ID, or name the GPUs by their UUIDs.";
    }
}

static const char *find_fault(const struct cushim_gpu_options *options, const struct cushim_gpu *out_gpus, int capacity,
                              const struct cushim_gpus *out_all)
{
    if (out_all == NULL)
        return "out_all is NULL.";
    if (capacity < 0)
        return "capacity is negative.";
    if (capacity > 0 && out_gpus == NULL)
        return "out_gpus is NULL, and capacity is not 0.";
    if ((unsigned)options->nvml > CUSHIM_GPU_NVML_ALWAYS)
        return "The option nvml has no such value.";
    for (size_t i = 0; i < sizeof options->reserved / sizeof options->reserved[0]; i++) {
        if (options->reserved[i] != NULL)
            return "A reserved member of the options is not zero.";
    }
    return NULL;
}

cushim_result cushim_gpu_find(const struct cushim_gpu_options *options, struct cushim_gpu *out_gpus, int capacity,
                              struct cushim_gpus *out_all)
{
    static const struct cushim_gpu_options defaults = {.root = NULL};
    static const char function[] = "cushim_gpu_find";
    options = options != NULL ? options : &defaults;
    const char *fault = find_fault(options, out_gpus, capacity, out_all);
    if (fault != NULL)
        return cush_error_set(CUDA_ERROR_INVALID_VALUE, function, fault, NULL);
    struct gpu_search *search = malloc(sizeof *search);
    if (search == NULL)
        return cush_error_set(CUDA_ERROR_OUT_OF_MEMORY, function, "Memory is exhausted.", NULL);
    struct cushim_gpus all = {.visible_count = CUSHIM_GPU_NOT_KNOWN, .advice = ""};
    search->root = options->root != NULL ? options->root : "";
    search_read(search, options);
    search_judge(search, &all);
    all.count = search->list.count;
    for (int i = 0; i < all.count && i < capacity; i++)
        out_gpus[i] = search->list.gpus[i].public;
    *out_all = all;
    free(search);
    return CUDA_SUCCESS;
}
