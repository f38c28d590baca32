/* SPDX-License-Identifier: MIT */
#include "tables.h"

#include <string.h>

#include "driver.h"
#include "lookup.h"
#include "start.h"

static CUresult CUDAAPI adapted_DriverGetVersion(int *driverVersion)
{
    if (driverVersion == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *driverVersion = cush_loaded_driver.version;
    return CUDA_SUCCESS;
}

/*
 * The common part of both signatures, with the rules that were observed with drivers 470 to 580. A negative version
 * finds the newest entry points. So does, before CUDA 13.0, a version above that of the driver; then it is an error.
 * (Drivers for CUDA 12.6 to 12.9 were not observed.) Without a flag, `kind` counts.
 */
static CUSHIM_COLD CUresult adapted_get_proc_address(enum cushim_default_stream kind, const char *symbol, void **pfn,
                                                     int version, cuuint64_t flags, cushim_fn *out_fn,
                                                     enum cushim_lookup_status *out_result)
{
    enum { FIRST_STRICT_VERSION = 13000 };
    const cuuint64_t known = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    int newest = cush_loaded_driver.version;
    if (symbol == NULL || pfn == NULL) /* driver 580 crashes */
        return CUDA_ERROR_INVALID_VALUE;
    if ((flags & ~known) != 0 || (version > newest && newest >= FIRST_STRICT_VERSION))
        return CUDA_ERROR_INVALID_VALUE;
    if (version < 0 || version > newest)
        version = newest;
    if (flags != 0)
        kind = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0 ? CUSHIM_DEFAULT_STREAM_PER_THREAD
                                                                            : CUSHIM_DEFAULT_STREAM_LEGACY;
    *out_result = cush_lookup_entry(symbol, version, kind, out_fn);
    /* For a driver, a function that it lacks is unknown, not too new for the requested version. */
    if (*out_result == CUSHIM_LOOKUP_TOO_NEW && !cush_lookup_has_function(symbol, kind))
        *out_result = CUSHIM_LOOKUP_UNKNOWN;
    return CUDA_SUCCESS;
}

static CUSHIM_COLD CUresult adapted_get_proc_address_v1(enum cushim_default_stream kind, const char *symbol, void **pfn,
                                                        int cudaVersion, cuuint64_t flags)
{
    enum cushim_lookup_status found;
    cushim_fn fn;
    CUresult result = adapted_get_proc_address(kind, symbol, pfn, cudaVersion, flags, &fn, &found);
    if (result != CUDA_SUCCESS)
        return result;
    if (found != CUSHIM_LOOKUP_FOUND)
        return CUDA_ERROR_NOT_FOUND; /* *pfn is left as it was */
    memcpy(pfn, &fn, sizeof fn);
    return CUDA_SUCCESS;
}

static CUSHIM_COLD CUresult adapted_get_proc_address_v2(enum cushim_default_stream kind, const char *symbol, void **pfn,
                                                        int cudaVersion, cuuint64_t flags,
                                                        CUdriverProcAddressQueryResult *symbolStatus)
{
    enum cushim_lookup_status found;
    cushim_fn fn;
    CUresult result = adapted_get_proc_address(kind, symbol, pfn, cudaVersion, flags, &fn, &found);
    if (result != CUDA_SUCCESS)
        return result;
    memcpy(pfn, &fn, sizeof fn); /* not found is success with NULL */
    if (symbolStatus != NULL) {
        *symbolStatus = found == CUSHIM_LOOKUP_FOUND     ? CU_GET_PROC_ADDRESS_SUCCESS
                        : found == CUSHIM_LOOKUP_TOO_NEW ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                                         : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    }
    return CUDA_SUCCESS;
}

/* The slots of one kind. */
#define ADAPTED(name, kind)                                                                                            \
    static CUresult CUDAAPI adapted_##name##_GetProcAddress_v1(const char *symbol, void **pfn, int cudaVersion,        \
                                                               cuuint64_t flags)                                       \
    {                                                                                                                  \
        return adapted_get_proc_address_v1(kind, symbol, pfn, cudaVersion, flags);                                     \
    }                                                                                                                  \
    static CUresult CUDAAPI adapted_##name##_GetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion,        \
                                                               cuuint64_t flags,                                       \
                                                               CUdriverProcAddressQueryResult *symbolStatus)           \
    {                                                                                                                  \
        return adapted_get_proc_address_v2(kind, symbol, pfn, cudaVersion, flags, symbolStatus);                       \
    }
ADAPTED(legacy, CUSHIM_DEFAULT_STREAM_LEGACY)
ADAPTED(per_thread, CUSHIM_DEFAULT_STREAM_PER_THREAD)

/* Marks a slot as adapted, if the driver has it. */
static bool adapted_install_slot(enum cushim_default_stream kind, enum cushim_slot slot)
{
    struct slot_origin *origin = &cush_driver_origins[kind][slot];
    if (origin->state != CUSHIM_STATE_NATIVE)
        return false;
    origin->state = CUSHIM_STATE_ADAPTED;
    return true;
}

void cush_adapted_install(enum cushim_default_stream kind)
{
    struct cushim_dispatch_table *table = &cush_driver_tables[kind].named;
    bool per_thread = kind == CUSHIM_DEFAULT_STREAM_PER_THREAD;
    if (adapted_install_slot(kind, CUSHIM_SLOT_Init_v1)) {
        cush_loaded_driver.init = table->Init_v1;
        table->Init_v1 = cush_start_Init;
    }
    if (adapted_install_slot(kind, CUSHIM_SLOT_GetErrorString_v1)) {
        cush_loaded_driver.error_text = table->GetErrorString_v1;
        table->GetErrorString_v1 = cush_start_GetErrorString;
    }
    if (cush_loaded_driver.limited && adapted_install_slot(kind, CUSHIM_SLOT_DriverGetVersion_v1))
        table->DriverGetVersion_v1 = adapted_DriverGetVersion;
    if (!cush_loaded_driver.limited && cush_hidden_set_is_empty(&cush_loaded_driver.hidden) && !per_thread)
        return;
    if (adapted_install_slot(kind, CUSHIM_SLOT_GetProcAddress_v1))
        table->GetProcAddress_v1 = per_thread ? adapted_per_thread_GetProcAddress_v1 : adapted_legacy_GetProcAddress_v1;
    if (adapted_install_slot(kind, CUSHIM_SLOT_GetProcAddress_v2))
        table->GetProcAddress_v2 = per_thread ? adapted_per_thread_GetProcAddress_v2 : adapted_legacy_GetProcAddress_v2;
}
