/* SPDX-License-Identifier: MIT */
/* Initialisation, version, error names. */
#include "driver.h"

#include "device.h"
#include "error_names.h"
#include "os_thread.h"
#include "queue.h"
#include "soft.h"

static bool initialised, forked;

bool soft_initialised(void)
{
    return initialised;
}

bool soft_forked(void)
{
    return forked;
}

static void in_child(void)
{
    forked = true;
    queue_forget_workers();
}

CUresult soft_Init_v1(unsigned int Flags)
{
    if (forked)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (Flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (initialised)
        return CUDA_SUCCESS;
    if (device_count() == 0)
        return CUDA_ERROR_NO_DEVICE;
    os_on_fork(in_child);
    initialised = true;
    return CUDA_SUCCESS;
}

CUresult soft_DriverGetVersion_v1(int *driverVersion)
{
    if (driverVersion == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *driverVersion = soft_version;
    return CUDA_SUCCESS;
}

CUresult soft_GetErrorName_v1(CUresult error, const char **pStr)
{
    return get_error_name(error, pStr);
}

CUresult soft_GetErrorString_v1(CUresult error, const char **pStr)
{
    return get_error_string(error, pStr);
}
