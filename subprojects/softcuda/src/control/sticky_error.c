/* SPDX-License-Identifier: MIT */
#include "sticky_error.h"

#include <string.h>

#include "device.h"

static CUresult errors[DEVICE_MAX + 1]; /* the last is that of streams without a device */

CUresult sticky_error(int device)
{
    return errors[device];
}

void sticky_error_set(int device, CUresult error)
{
    errors[device] = error;
}

void sticky_error_clear(void)
{
    memset(errors, 0, sizeof(errors));
}
