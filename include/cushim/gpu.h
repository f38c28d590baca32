/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Which GPUs CUDA would show this process, and whether CUDA is started, without starting it: cuInit takes 0.2 to 0.5 s,
 * wakes a GPU that sleeps, and makes CUDA unusable in every later child of fork(). loader.h has the general rules.
 *
 * The answer comes from the files of the system, in 0.1 to 0.4 ms. It follows CUDA_VISIBLE_DEVICES and
 * CUDA_DEVICE_ORDER as driver 580 was observed to read them. Where that was not observed, the answer is "not known",
 * with a sentence: with MIG or MPS, for "MIG-" in front of the beginning of a GPU's UUID, on Windows Subsystem for
 * Linux and on Jetson, and for the numbers of unlike GPUs without CUDA_DEVICE_ORDER=PCI_BUS_ID.
 *
 * @code
 * #include <cushim/cushim.h>
 *
 * // For a server with a worker process for each GPU. Each worker sets CUDA_VISIBLE_DEVICES to its UUID. Returns 0 if
 * // no GPU has the number of the worker, or if the numbers are not known.
 * int find_gpu_of_worker(int worker, struct cushim_gpu *out_gpu)
 * {
 *     struct cushim_gpu gpus[64];
 *     struct cushim_gpus all;
 *     if (cushim_gpu_find(NULL, gpus, 64, &all) != CUDA_SUCCESS)
 *         return 0;
 *     for (int i = 0; i < all.count; i++) {
 *         if (gpus[i].ordinal == worker) {
 *             *out_gpu = gpus[i];
 *             return 1;
 *         }
 *     }
 *     return 0;
 * }
 * @endcode
 */
#ifndef CUSHIM_GPU_H
#define CUSHIM_GPU_H

#include <stdbool.h>

#include "cushim/load.h"

#ifdef __cplusplus
extern "C" {
#endif

/** In place of an ordinal: CUDA does not show the GPU to this process. */
#define CUSHIM_GPU_HIDDEN (-1)
/** In place of an ordinal, an index or a count. */
#define CUSHIM_GPU_NOT_KNOWN (-2)

/** Whether a GPU is divided into several (Multi-Instance GPU). */
enum cushim_gpu_mig {
    CUSHIM_GPU_MIG_NOT_KNOWN, /**< It has no instances, but only NVML knows whether the mode is on. */
    CUSHIM_GPU_MIG_OFF,       /**< It is not. */
    CUSHIM_GPU_MIG_ON         /**< It is: what CUDA shows of it is not known. */
};

/** What hides a GPU from CUDA. */
enum cushim_gpu_hider {
    CUSHIM_GPU_HIDER_NONE,       /**< Nothing, or it is not known. */
    CUSHIM_GPU_HIDER_VARIABLE,   /**< CUDA_VISIBLE_DEVICES, which can only hide what nothing else hides. */
    CUSHIM_GPU_HIDER_NODE,       /**< Its device node does not exist here, as in a container for other GPUs. */
    CUSHIM_GPU_HIDER_WRONG_NODE, /**< The file in place of its device node is not that of the GPU. */
    CUSHIM_GPU_HIDER_PERMISSION, /**< This user may not open its device node, or /dev/nvidiactl. */
    CUSHIM_GPU_HIDER_EXCLUSION,  /**< The kernel module excludes it (NVreg_ExcludedGpus). */
    CUSHIM_GPU_HIDER_DRIVER,     /**< The kernel gave it to another driver (vfio-pci, nouveau), or to none. */
    CUSHIM_GPU_HIDER_NVML,       /**< NVML does not show it. */
    CUSHIM_GPU_HIDER_COUNT       /**< The number of them. */
};

/** A GPU of this machine. */
struct cushim_gpu {
    int ordinal;                 /**< Its CUdevice in this process, ::CUSHIM_GPU_HIDDEN or ::CUSHIM_GPU_NOT_KNOWN. */
    int capability;              /**< The compute capability, in the form of a version: 8060 is 8.6. 0: not known. */
    int minor;                   /**< The number in /dev/nvidia0, or ::CUSHIM_GPU_NOT_KNOWN. */
    int nvml_index;              /**< The index in NVML and nvidia-smi, or ::CUSHIM_GPU_NOT_KNOWN. */
    enum cushim_gpu_mig mig;     /**< Whether it is divided. */
    enum cushim_gpu_hider hider; /**< What hides it. */
    bool is_asleep;              /**< Runtime power management has suspended it. */
    char uuid[48];               /**< "GPU-88913974-b729-bde5-cec9-7908a6baaae2"; "": not known. */
    char pci_bus_id[24];         /**< "0000:01:00.0" */
    char name[96];               /**< "NVIDIA H200"; "": not known. */
    void *reserved[4];           /**< Zero. */
};

/** All GPUs of this machine. */
struct cushim_gpus {
    int count;         /**< The GPUs that were found, also hidden ones; at most 64. */
    int visible_count; /**< The devices that CUDA shows this process, or ::CUSHIM_GPU_NOT_KNOWN. */
    /**
     * What cuInit returns because of these GPUs and variables: CUDA_SUCCESS, CUDA_ERROR_NO_DEVICE,
     * CUDA_ERROR_INVALID_DEVICE, or CUDA_ERROR_UNKNOWN if that is not known. A start can fail for other reasons.
     */
    cushim_result code;
    /** A sentence: why this process gets no GPU or fewer than it may expect, or why something is not known; or "". */
    char message[320];
    const char *advice; /**< What a person can do, or "". */
    void *reserved[4];  /**< Zero. */
};

/** When NVML may be asked. It takes 13 to 25 ms, opens the GPUs, and keeps nothing open but its library. */
enum cushim_gpu_nvml {
    /**
     * For what the files do not show: the UUID of a GPU that nobody has used since the start of the machine, the
     * capability of a GPU that is newer than this release, a device node that is missing outside of containers. It is
     * not asked where the kernel module is not loaded, because NVML would load it, or a GPU is asleep, because NVML
     * would wake it; nor in a child of fork() whose parent had NVML open, where it can block for ever.
     */
    CUSHIM_GPU_NVML_IF_NEEDED,
    CUSHIM_GPU_NVML_NEVER, /**< Only files are read. */
    /** Also if the files show everything: for the MIG mode. Only a module that is not loaded, or a GPU that is asleep
     *  and may not be woken, prevents it. */
    CUSHIM_GPU_NVML_ALWAYS
};

/** How to look for GPUs. Initialise the struct to zero, the default. */
struct cushim_gpu_options {
    const char *root; /**< The directory below which to read (see ::cushim_load_options). NULL: this machine. */
    enum cushim_gpu_nvml nvml; /**< When NVML may be asked. */
    bool is_wake_allowed;      /**< Whether a GPU that sleeps may be woken, to learn its UUID and name. */
    void *reserved[4];         /**< Zero. */
};

/**
 * Finds the GPUs of this machine and what CUDA would show of them to this process. Never loads the driver, never calls
 * cuInit, and opens no device. By files alone it takes no lock and keeps no state, so it can be called in a child of
 * fork(). The variables are read at each call, as cuInit reads them; a privileged process reads them, too.
 *
 * @param options   The options, or NULL for the defaults.
 * @param out_gpus  Receives up to `capacity` GPUs, in the order of the bus. NULL if capacity is 0.
 * @param capacity  The size of that array.
 * @param out_all   Receives the number of GPUs and what holds for all of them.
 * @retval CUDA_SUCCESS             The results are written, also if there is no GPU, or if something is not known.
 * @retval CUDA_ERROR_OUT_OF_MEMORY Memory is exhausted.
 * @retval CUDA_ERROR_INVALID_VALUE capacity is negative, a pointer is NULL, or an option has an invalid value.
 */
CUSHIM_API cushim_result cushim_gpu_find(const struct cushim_gpu_options *options, struct cushim_gpu *out_gpus,
                                         int capacity, struct cushim_gpus *out_all);

/** Whether CUDA is started in this process. */
enum cushim_start_state {
    CUSHIM_START_NO,     /**< No cuInit has succeeded: cushim or any other part of the process may call it. */
    CUSHIM_START_YES,    /**< A cuInit has succeeded, here or in another part of the process. fork() is too late. */
    CUSHIM_START_FORKED, /**< CUDA was started before a fork(): this process cannot use it. */
    CUSHIM_START_ENDED   /**< The process is ending, and the driver has shut down. */
};

/**
 * Returns whether CUDA is started in this process, by any part of it. Never loads the driver. The call makes no system
 * call, except in one case: a driver is open and is not started. Then the call reads files in /proc/self, and in a
 * child of fork() looks for an open /dev/nvidia-uvm, which tells FORKED from NO.
 */
CUSHIM_API enum cushim_start_state cushim_is_started(void);

#ifdef __cplusplus
}
#endif

#endif
