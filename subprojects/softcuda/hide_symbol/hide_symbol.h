/* SPDX-License-Identifier: MIT */
/* Implemented in posix.c and windows.c. */
#ifndef HIDE_SYMBOL_H
#define HIDE_SYMBOL_H

#include <stdbool.h>

/* Removes an exported name of the library that contains this function, so that dlsym does not find it; false if the
 * name is unknown. */
bool os_hide_symbol(const char *name);

#endif
