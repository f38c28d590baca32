/* SPDX-License-Identifier: MIT */
/* The one place that decides why CUDA cannot be used. The library, `cushim probe` and `cushim doctor` ask it. */
#ifndef CUSHIM_LOADER_CAUSE_H
#define CUSHIM_LOADER_CAUSE_H

#include "os_obstacle.h"

/*
 * Returns why cuInit returned `code`, from what this process can see below `root`; `library` is the path of the driver,
 * or NULL. With CUDA_SUCCESS, cuInit was not called: then the reason is certain, or CUSHIM_REASON_NONE, and nothing is
 * tried. Opens no GPU. The caller need not hold the load lock, and should not, because opening a device can block.
 */
CUSHIM_COLD struct os_obstacle cush_cause_find(const char *root, const char *library, CUresult code, bool is_forked);

#endif
