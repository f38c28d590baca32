/* SPDX-License-Identifier: MIT */
#include "absent.h"

#include "error.h"
#include "error_names.h"

#include "cushim/abi/egl.h" /* a frame is passed by value */

#if defined(__GNUC__)
#    pragma GCC diagnostic ignored "-Wunused-parameter"
#endif

#define CUSHIM_ENTRY(function, abi, since, params, args)                                                               \
    static CUresult CUDAAPI absent_##function##_##abi params                                                           \
    {                                                                                                                  \
        return cush_fail_absent(CUSHIM_SLOT_##function##_##abi);                                                       \
    }
#include "cushim/entry_points.h"

/* A null result pointer is CUDA_ERROR_INVALID_VALUE, as in a driver. */
static CUresult absent_give_zero(int *out_number)
{
    if (out_number == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *out_number = 0;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI absent_no_version(int *driverVersion)
{
    return absent_give_zero(driverVersion);
}

static CUresult CUDAAPI absent_no_devices(int *count)
{
    return absent_give_zero(count);
}

static CUresult CUDAAPI absent_error_name(CUresult error, const char **pStr)
{
    return get_error_name(error, pStr);
}

static CUresult CUDAAPI absent_error_text(CUresult error, const char **pStr)
{
    return get_error_string(error, pStr);
}

const char *cush_absent_describe(CUresult code)
{
    const struct error_name *error = error_name_find(code);
    return error != NULL ? error->words : NULL;
}

/* The named slots come after the list and replace its entries; those functions are then unused. */
#if defined(__clang__)
#    pragma clang diagnostic ignored "-Winitializer-overrides"
#elif defined(__GNUC__)
#    pragma GCC diagnostic ignored "-Woverride-init"
#endif

const struct cushim_dispatch_table cush_absent_table = {
#define CUSHIM_ENTRY(function, abi, since, params, args) .function##_##abi = absent_##function##_##abi,
#include "cushim/entry_points.h"
    .DriverGetVersion_v1 = absent_no_version,
    .DeviceGetCount_v1 = absent_no_devices,
    .GetErrorName_v1 = absent_error_name,
    .GetErrorString_v1 = absent_error_text,
};
