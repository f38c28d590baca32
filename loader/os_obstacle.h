/* SPDX-License-Identifier: MIT */
/* What the operating system refuses to a driver: os_obstacle.c in linux/, os_system.c in windows/. */
#ifndef CUSHIM_LOADER_OS_OBSTACLE_H
#define CUSHIM_LOADER_OS_OBSTACLE_H

#include <stdbool.h>
#include <stdint.h>

#include "cushim/attributes.h"
#include "cushim/diagnosis.h"

/* What the operating system refuses to a driver while CUDA initialises; CUSHIM_REASON_NONE: nothing that is known. */
struct os_obstacle {
    enum cushim_reason reason;
    char message[320]; /* "": that of the reason */
};

/*
 * The sizes of start_operations.inc, observed with driver 580 on an H200: a program that has three descriptors starts
 * with a limit of 16 and not of 14, and makes a context with 36 and not with 34. cuInit reserves 8,256 MiB of addresses
 * and then 4,098 MiB.
 */
enum { OS_START_FILES = 13, OS_CONTEXT_FILES = 33 };
#define OS_START_ADDRESSES (UINT64_C(12) << 30)

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
