/* SPDX-License-Identifier: MIT */
/* The GPUs that a started driver shows. */
#ifndef CUSHIM_CLI_DEVICES_H
#define CUSHIM_CLI_DEVICES_H

#include "json.h"

/* How many there are; 0 also where the driver does not tell. */
int devices_count(void);

/* Writes them as the array `key`, or as lines. */
void devices_write(struct json *json, const char *key);
void devices_print(void);

/* The name of one, "NVIDIA H200". */
struct device_name {
    char text[256];
};
struct device_name devices_name(int ordinal);

#endif
