/* SPDX-License-Identifier: MIT */
/* Checks of systems that provide the driver in a special way. Each adds any number of findings. */
#ifndef CUSHIM_CLI_CHECKS_PLACE_H
#define CUSHIM_CLI_CHECKS_PLACE_H

#include "finding.h"

void check_container(const struct evidence *evidence, struct findings *findings);
void check_wsl(const struct evidence *evidence, struct findings *findings);
void check_jetson(const struct evidence *evidence, struct findings *findings);
void check_nixos(const struct evidence *evidence, struct findings *findings);
void check_flatpak(const struct evidence *evidence, struct findings *findings);

#endif
