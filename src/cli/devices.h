/* SPDX-License-Identifier: MIT */
/* The GPUs of a started driver. */
#ifndef CUSHIM_CLI_DEVICES_H
#define CUSHIM_CLI_DEVICES_H

#include "json.h"

/* The number of GPUs; 0 if the driver reports an error. */
int devices_count(void);

/* Write the GPUs as the JSON array `key`, or as lines of text. */
void devices_write(struct json *json, const char *key);
void devices_print(void);

/* The name of a GPU, such as "NVIDIA H200". */
struct device_name {
    char text[256];
};
struct device_name devices_name(int ordinal);

#endif
