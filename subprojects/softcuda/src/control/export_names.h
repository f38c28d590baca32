/* SPDX-License-Identifier: MIT */
/* The names of all exported functions. */
#ifndef SOFT_EXPORT_NAMES_H
#define SOFT_EXPORT_NAMES_H

/* A permanent copy of the name, if it is that of an exported function of this version or another; else NULL. */
const char *export_name_find(const char *symbol);

#endif
