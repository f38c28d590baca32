/* SPDX-License-Identifier: MIT */
/* Failures as messages. */
#ifndef CUSHIM_LOADER_LAST_ERROR_H
#define CUSHIM_LOADER_LAST_ERROR_H

#include <stddef.h>

/* Writes why the loaded driver, under its version limit and hidden functions, lacks the entry point of a row. */
void cush_last_error_format_missing(size_t row, char *text, size_t size);

#endif
