/* SPDX-License-Identifier: MIT */
/* Checks of options and variables, the driver library, stubs and cuda-compat. Each adds any number of findings. */
#ifndef CUSHIM_CLI_CHECKS_LIBRARY_H
#define CUSHIM_CLI_CHECKS_LIBRARY_H

#include "finding.h"

void check_settings(const struct evidence *evidence, struct findings *findings);
void check_library(const struct evidence *evidence, struct findings *findings);
void check_stub(const struct evidence *evidence, struct findings *findings);
void check_compat(const struct evidence *evidence, struct findings *findings);
void check_version(const struct evidence *evidence, struct findings *findings);

#endif
