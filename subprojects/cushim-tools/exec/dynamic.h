/* SPDX-License-Identifier: MIT */
/* The dynamic section of an object that is mapped, as the auditor sees it. */
#ifndef CUSHIM_EXEC_DYNAMIC_H
#define CUSHIM_EXEC_DYNAMIC_H

#include <link.h>
#include <stdbool.h>

/* A string of the dynamic section after `last`, or the first one; NULL: there is none. */
const char *dynamic_string(const struct link_map *map, ElfW(Sxword) tag, const ElfW(Dyn) * *last);

/* Returns "" if it has none. */
const char *dynamic_soname(const struct link_map *map);

/* Whether an object is linked to a library of this name. */
bool dynamic_is_linked_to(const struct link_map *map, const char *name);

/* Whether an object defines a function of this name. */
bool dynamic_defines_function(const struct link_map *map, const char *name);

/* Calls `found` with each function or version that an object needs and that nothing in its namespace has, at most a few
 * times: "cuFoo", or "libfoo.so.1:VERSION". Of a library that it is not linked to, the driver's functions do not count.
 * With `of`, only what it needs of that object. */
void dynamic_find_unbound(const struct link_map *map, const struct link_map *of,
                          void (*found)(const struct link_map *map, const char *name));

#endif
