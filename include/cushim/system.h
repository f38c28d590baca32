/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the operating system shows of an NVIDIA GPU. loader.h has the general rules.
 *
 * @code
 * #include <stddef.h>
 * #include <stdio.h>
 *
 * void print_system(void)
 * {
 *     struct cushim_system system;
 *     cushim_system_get_info(NULL, &system);
 *     printf("%d GPUs, kernel module %s\n", system.gpu_node_count, system.kernel_module);
 * }
 * @endcode
 */
#ifndef CUSHIM_SYSTEM_H
#define CUSHIM_SYSTEM_H

#include <stdbool.h>

#include "cushim/attributes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A device node: it does not exist, this user may not open it, or this user may. */
enum cushim_node { CUSHIM_NODE_ABSENT, CUSHIM_NODE_DENIED, CUSHIM_NODE_READY };

/** What the operating system shows of an NVIDIA GPU, apart from the driver library. On Windows everything is absent. */
struct cushim_system {
    char kernel_module[32];        /**< The version of the kernel module, "580.159.03"; "" if it is not loaded. */
    enum cushim_node control_node; /**< /dev/nvidiactl */
    enum cushim_node uvm_node;     /**< /dev/nvidia-uvm */
    enum cushim_node gpu_node;     /**< The best of /dev/nvidia0 ... /dev/nvidia15. */
    int gpu_node_count;            /**< How many of those exist. */
    enum cushim_node wsl_node;     /**< /dev/dxg, of Windows Subsystem for Linux. */
    bool has_gpu_on_bus;           /**< The PCI bus has a display device of NVIDIA, with or without software for it. */
    bool is_container;             /**< This is a container. */
    enum cushim_node jetson_node;  /**< /dev/nvmap, of Jetson. */
    void *reserved[3];             /**< Zero. */
};

/**
 * Reads what the operating system shows. Opens no device and never loads.
 *
 * @param root        The directory below which to read (see ::cushim_load_options), or NULL for this machine.
 * @param out_system  Receives the result. If it is NULL, the call does nothing.
 */
CUSHIM_API void cushim_system_get_info(const char *root, struct cushim_system *out_system);

#ifdef __cplusplus
}
#endif

#endif
