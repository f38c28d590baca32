/* SPDX-License-Identifier: MIT */
/* The settings of settings.inc. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stddef.h>

enum { SETTING_SIZE = 512 };

struct setting {
    int gpus;
    const char *order, *list; /* NULL: not set */
    int code;
    const char *shown;
};

extern const struct setting settings[];
extern const size_t setting_count;

/* Writes a list with the UUIDs of the GPUs in place of its <0:4:12>. */
void setting_expand(const char *list, const char *const *uuids, char text[SETTING_SIZE]);

/* A setting as text, for messages. */
const char *setting_text(const struct setting *setting);

#endif
