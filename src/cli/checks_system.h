/* SPDX-License-Identifier: MIT */
/* Checks of the kernel and the devices. Each adds any number of findings. */
#ifndef CUSHIM_CLI_CHECKS_SYSTEM_H
#define CUSHIM_CLI_CHECKS_SYSTEM_H

#include "finding.h"

void check_gpu(const struct evidence *evidence, struct findings *findings);
void check_kernel_module(const struct evidence *evidence, struct findings *findings);
void check_device_nodes(const struct evidence *evidence, struct findings *findings);
void check_visible_devices(const struct evidence *evidence, struct findings *findings);
void check_start(const struct evidence *evidence, struct findings *findings);

#endif
