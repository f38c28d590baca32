/* SPDX-License-Identifier: MIT */
/* The GPUs of a machine, and which of them CUDA would show, without a start. */
#ifndef CUSHIM_LOADER_GPU_LIST_H
#define CUSHIM_LOADER_GPU_LIST_H

#include "cushim/gpu.h"
#include "gpu_visible.h"

/* A GPU, and what the loader alone needs of it. */
struct gpu {
    struct cushim_gpu public;
    unsigned device_id; /* of vendor 10de; 0: not known */
    bool has_other_driver;
    bool has_kernel_driver; /* any */
};

struct gpu_list {
    struct gpu gpus[GPU_MAX];
    int count;
    bool is_of_kernel; /* the kernel module lists them; otherwise they are those of the bus */
    bool is_bus_visible;
    bool has_module; /* it is loaded */
    bool is_container;
    bool lacks_node_of_sleeper; /* a GPU sleeps, and not every node can be opened */
    bool is_full;               /* the machine may have more */
    bool has_nvml;              /* NVML has answered, and is right where files say something else */
};

/* ---- gpu_list.c: the GPUs by files ---- */

/* Reads the list, in the order of the bus. Takes no lock and keeps no state. */
CUSHIM_COLD void cush_gpu_list_read(const char *root, bool may_wake, struct gpu_list *out_list);

/* Returns the GPU at this address of the bus, "0000:01:00.0", which is added if it is new; NULL if the list is full. */
struct gpu *cush_gpu_list_add(struct gpu_list *list, const char *address);

/* Sets the compute capability by the device id, unless it is known. */
void cush_gpu_set_capability(struct gpu *gpu);

/* Sorts the list by address. */
void cush_gpu_list_sort(struct gpu_list *list);

/* ---- gpu_nvml.c: what the files do not show ---- */

/* Asks NVML, if it may be asked in this process; `is_wanted`: also in a child of fork() whose parent had it open. */
CUSHIM_COLD void cush_gpu_list_ask_nvml(const char *root, bool is_wanted, struct gpu_list *list);

#endif
