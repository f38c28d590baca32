/* SPDX-License-Identifier: MIT */
/* What the operating system refuses to a driver: os_obstacle.c in posix/, os_system.c in windows/. */
#ifndef CUSHIM_LOADER_OS_OBSTACLE_H
#define CUSHIM_LOADER_OS_OBSTACLE_H

#include <stdbool.h>

#include "cushim/attributes.h"
#include "cushim/diagnosis.h"

/* What the operating system refuses to a driver while CUDA initialises; CUSHIM_REASON_NONE: nothing that is known. */
struct os_obstacle {
    enum cushim_reason reason;
    char message[320]; /* "": that of the reason */
};

/*
 * Call it after a cuInit that returned `code`, while `others` threads look for a cause, too. Tries the operations that
 * can be its cause, in the order of cuInit: it opens /dev/nvidiactl and /dev/nvidia-uvm below `root`, creates
 * descriptors, and so on. Undoes all of them. Where a seccomp filter can end the process, it makes only system calls
 * that every process makes.
 */
CUSHIM_COLD struct os_obstacle cush_os_obstacle_find(const char *root, CUresult code, unsigned others);

/* Returns whether this process has the file open, perhaps since before a fork(). */
bool cush_os_file_is_open(const char *path);

#endif
