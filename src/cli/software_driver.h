/* SPDX-License-Identifier: MIT */
/* The software driver that is built and installed with this program. */
#ifndef CUSHIM_CLI_SOFTWARE_DRIVER_H
#define CUSHIM_CLI_SOFTWARE_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

#include "options.h"

/* Finds the library that stands for a driver, such as "580": in the build directory of this program, or where both are
 * installed. Writes its path with all links resolved. */
bool software_driver_find(const char *driver, char *path, size_t size);

/* With --softcuda, selects that library in the options, which then point to `path`. Returns STATUS_USAGE after a
 * message if the library does not exist or --driver was given as well. */
enum status software_driver_select(struct options *options, char *path, size_t size);

#endif
