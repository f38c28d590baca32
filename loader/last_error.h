/* SPDX-License-Identifier: MIT */
/* Failures in words. */
#ifndef CUSHIM_LOADER_LAST_ERROR_H
#define CUSHIM_LOADER_LAST_ERROR_H

#include <stddef.h>

/* Writes why the loaded driver, as far as it may be seen, has no entry point of this row. */
void cush_last_error_refusal(size_t row, char *text, size_t size);

#endif
