/* SPDX-License-Identifier: MIT */
/* A library that removes names from its own exports. */
#include "hide_symbol.h"

/* Many names, so that a search beyond the table of symbols reads much that is not a symbol, and crashes. */
#define EXPORT(name)                                                                                                   \
    int name(void);                                                                                                    \
    int name(void)                                                                                                     \
    {                                                                                                                  \
        return 0;                                                                                                      \
    }
#define EXPORT_4(name) EXPORT(name##_0) EXPORT(name##_1) EXPORT(name##_2) EXPORT(name##_3)
#define EXPORT_16(name) EXPORT_4(name##_0) EXPORT_4(name##_1) EXPORT_4(name##_2) EXPORT_4(name##_3)
#define EXPORT_64(name) EXPORT_16(name##_0) EXPORT_16(name##_1) EXPORT_16(name##_2) EXPORT_16(name##_3)
EXPORT_64(first)
EXPORT_64(second)
EXPORT(third)

bool hide(const char *name);
bool hide(const char *name)
{
    return os_hide_symbol(name);
}
