/* SPDX-License-Identifier: MIT */
/* The search for a driver: the known paths, and the attempts to open each. */
#ifndef CUSHIM_LOADER_FIND_DRIVER_H
#define CUSHIM_LOADER_FIND_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

#include "diagnosis.h"
#include "driver.h"
#include "os.h"
#include "request.h"

/*
 * Returns true if a driver was opened: it is not a stub, and its version is known. Otherwise nothing is open, and the
 * builder has the reason. In both cases the builder has every attempt.
 */
CUSHIM_COLD bool cush_search_driver(const struct request *request, struct driver *driver,
                                    struct diagnosis_builder *builder);

/* Why a library could not be opened. */
static inline enum cushim_reason cush_search_reason(enum os_library_result result)
{
    switch (result) {
    case OS_LIBRARY_ABSENT:
        return CUSHIM_REASON_NOT_FOUND;
    case OS_LIBRARY_UNREADABLE:
        return CUSHIM_REASON_UNREADABLE;
    case OS_LIBRARY_NEEDS_LIBRARY:
        return CUSHIM_REASON_NEEDS_LIBRARY;
    case OS_LIBRARY_DAMAGED:
    case OS_LIBRARY_EMPTY:
        return CUSHIM_REASON_DAMAGED;
    case OS_LIBRARY_OTHER_LIBC:
        return CUSHIM_REASON_OTHER_LIBC;
    case OS_LIBRARY_EXECUTABLE_STACK:
        return CUSHIM_REASON_EXECUTABLE_STACK;
    case OS_LIBRARY_STATIC_PROGRAM:
        return CUSHIM_REASON_STATIC_PROGRAM;
    default:
        return CUSHIM_REASON_NOT_LOADABLE;
    }
}

/*
 * Writes the known path with this index, below `root`. Returns false past the last one. The path is "", and is skipped,
 * if it contains the version of the kernel module and that is not known.
 */
CUSHIM_COLD bool cush_candidates_path(size_t index, const char *root, char *path, size_t size);

/* ---- system.c; cushim/system.h has the rest of what the operating system shows ---- */

/* Writes the version of the kernel module, or "" if it is not loaded. */
CUSHIM_COLD void cush_system_kernel_module(const char *root, char *version, size_t size);

/* The NVIDIA GPUs on the PCI bus. */
struct system_bus {
    bool is_visible;
    int gpus;
    int lost;              /* those that do not answer: their configuration reads as ones */
    int of_vfio;           /* those that the kernel reserves for virtual machines */
    int of_another_driver; /* those that nouveau, nova or nvidiafb drives */
    bool lacks_nvidia;     /* each device on it could be read, and none is of NVIDIA */
};

/* How a system shows its GPUs: on the bus and as device nodes, or in another way. */
enum system_kind {
    SYSTEM_USUAL,
    SYSTEM_WSL,    /* Windows Subsystem for Linux */
    SYSTEM_JETSON, /* the GPU is not on the bus */
    SYSTEM_OTHER   /* Windows */
};
CUSHIM_COLD enum system_kind cush_system_kind(const char *root);

/* Calls a function with the address of each display device of NVIDIA on the bus ("0000:01:00.0"). Wakes none. Returns
 * whether the bus can be seen. */
CUSHIM_COLD bool cush_system_each_gpu(const char *root, void (*use)(const char *address, void *user), void *user);

/* Writes the name of the kernel driver of a device. Returns false if it has none. */
CUSHIM_COLD bool cush_system_gpu_driver(const char *root, const char *address, char *name, size_t size);

/* Whether runtime power management has suspended a device, which then does nothing until it is used. */
CUSHIM_COLD bool cush_system_gpu_is_asleep(const char *root, const char *address);

/* The directory with a directory for each device of the bus. */
extern const char cush_system_pci_devices[];

CUSHIM_COLD bool cush_system_is_container(const char *root);

/* As cushim_system_get_info(), and what the bus shows. Opens no device file. */
CUSHIM_COLD void cush_system_read(const char *root, struct cushim_system *out_system, struct system_bus *out_bus);

/* Whether nothing below the root is of NVIDIA: no device on the bus, no kernel module and no device file but
 * /dev/nvidiactl, which a driver library creates without a GPU. Where the bus is not that of the machine (gVisor,
 * Kata), and on WSL and Jetson, this is not known, and false. */
CUSHIM_COLD bool cush_system_lacks_nvidia(const char *root);

/* Whether a file below the root exists. */
CUSHIM_COLD bool cush_system_has_file(const char *root, const char *path);

/* Whether the start of a file below the root contains a word. */
CUSHIM_COLD bool cush_system_file_contains(const char *root, const char *path, const char *word);

#endif
