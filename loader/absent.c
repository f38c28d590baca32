/* SPDX-License-Identifier: MIT */
/* The table when there is no driver. A few slots still have something true to say. */
#include "error.h"
#include "table.h"

#include "cushim/abi_egl.h" /* a frame is passed by value */

#if defined(__GNUC__)
#    pragma GCC diagnostic ignored "-Wunused-parameter"
#endif

#define CUSHIM_ENTRY(family, abi, since, params, args)                                                                 \
    static CUresult CUDAAPI absent_##family##_##abi params                                                             \
    {                                                                                                                  \
        return cushim_priv_error_absent(CUSHIM_SLOT_##family##_##abi);                                                 \
    }
#include "cushim/entry_points.h"

/* A null result pointer is CUDA_ERROR_INVALID_VALUE, as in a driver. */
static CUresult give_zero(int *ret_number)
{
    if (ret_number == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *ret_number = 0;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI no_version(int *driverVersion)
{
    return give_zero(driverVersion);
}

static CUresult CUDAAPI no_devices(int *count)
{
    return give_zero(count);
}

struct code {
    CUresult value;
    const char *name;
    const char *text;
};

static const struct code codes[] = {
#define CUSHIM_ERROR(name, value, text) {(CUresult)value, #name, text},
#include "errors.inc"
};

static const struct code *find_code(CUresult value)
{
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        if (codes[i].value == value)
            return &codes[i];
    }
    return NULL;
}

/* An unknown code gives NULL and CUDA_ERROR_INVALID_VALUE, as in a driver. */
static CUresult give_text(const struct code *code, const char *text, const char **ret_text)
{
    if (ret_text == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *ret_text = text;
    return code != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult CUDAAPI error_name(CUresult error, const char **pStr)
{
    const struct code *code = find_code(error);
    return give_text(code, code != NULL ? code->name : NULL, pStr);
}

static CUresult CUDAAPI error_text(CUresult error, const char **pStr)
{
    const struct code *code = find_code(error);
    return give_text(code, code != NULL ? code->text : NULL, pStr);
}

/* The named slots come after the list and replace its entries; those functions are then unused. */
#if defined(__clang__)
#    pragma clang diagnostic ignored "-Winitializer-overrides"
#elif defined(__GNUC__)
#    pragma GCC diagnostic ignored "-Woverride-init"
#endif

const struct cushim_table cushim_priv_absent_table = {
#define CUSHIM_ENTRY(family, abi, since, params, args) .family##_##abi = absent_##family##_##abi,
#include "cushim/entry_points.h"
    .DriverGetVersion_v1 = no_version,
    .DeviceGetCount_v1 = no_devices,
    .GetErrorName_v1 = error_name,
    .GetErrorString_v1 = error_text,
};
