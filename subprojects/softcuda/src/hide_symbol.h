/* SPDX-License-Identifier: MIT */
/* Implemented in posix/ and windows/. */
#ifndef SOFT_HIDE_SYMBOL_H
#define SOFT_HIDE_SYMBOL_H

#include <stdbool.h>

/* Removes an exported name of this library, so that dlsym does not find it; false if the name is unknown. */
bool os_hide_symbol(const char *name);

#endif
