/* SPDX-License-Identifier: MIT */
/* Initialisation, version, error names. */
#include "soft.h"

#include "device.h"
#include "fault.h"
#include "os_thread.h"
#include "queue.h"

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

struct error_words {
    int value;
    const char *name, *sentence;
};

static const struct error_words errors[] = {
#define CUSHIM_ERROR(name, value, sentence) {value, #name, sentence},
#include "errors.inc"
};

static const struct error_words *find_error(CUresult error)
{
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        if (errors[i].value == (int)error)
            return &errors[i];
    return NULL;
}

CUresult soft_GetErrorName_v1(CUresult error, const char **pStr)
{
    if (pStr == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const struct error_words *found = find_error(error);
    *pStr = found == NULL ? NULL : found->name;
    return found == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult soft_GetErrorString_v1(CUresult error, const char **pStr)
{
    if (pStr == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const struct error_words *found = find_error(error);
    *pStr = found == NULL ? NULL : found->sentence;
    return found == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
