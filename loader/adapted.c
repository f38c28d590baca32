/* SPDX-License-Identifier: MIT */
#include "adapted.h"

#include <string.h>

#include "lookup.h"
#include "table.h"

static CUresult CUDAAPI adapted_DriverGetVersion(int *driverVersion)
{
    if (driverVersion == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *driverVersion = cushim_priv_loaded_driver.version;
    return CUDA_SUCCESS;
}

/* The common part of both signatures; the rules are those measured on a 580 driver. */
static CUresult get_proc_address(const char *symbol, void **pfn, int version, cuuint64_t flags, cushim_fn *ret_fn,
                                 enum lookup_result *ret_result)
{
    const cuuint64_t known = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    if (symbol == NULL || pfn == NULL) /* where a 580 driver crashes */
        return CUDA_ERROR_INVALID_VALUE;
    if ((flags & ~known) != 0 || version < 0 || version > cushim_priv_loaded_driver.version)
        return CUDA_ERROR_INVALID_VALUE;
    bool per_thread = flags == 0 ? cushim_priv_loaded_driver.per_thread
                                 : (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
    *ret_result = cushim_priv_lookup_entry(symbol, version, per_thread, ret_fn);
    /* Asked by flag, there are no per-thread forms before CUDA 7.0: a 580 driver says that the version is too low. */
    cushim_fn legacy = *ret_fn;
    if (flags != 0 && per_thread && version < FIRST_PER_THREAD_VERSION)
        (void)cushim_priv_lookup_entry(symbol, version, false, &legacy);
    if (legacy != *ret_fn) {
        *ret_fn = NULL;
        *ret_result = LOOKUP_NEEDS_NEWER;
    }
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI adapted_GetProcAddress_v1(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags)
{
    enum lookup_result found;
    cushim_fn fn;
    CUresult result = get_proc_address(symbol, pfn, cudaVersion, flags, &fn, &found);
    if (result != CUDA_SUCCESS)
        return result;
    if (found != LOOKUP_FOUND)
        return CUDA_ERROR_NOT_FOUND; /* *pfn is left as it was */
    memcpy(pfn, &fn, sizeof fn);
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI adapted_GetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
                                                  CUdriverProcAddressQueryResult *symbolStatus)
{
    enum lookup_result found;
    cushim_fn fn;
    CUresult result = get_proc_address(symbol, pfn, cudaVersion, flags, &fn, &found);
    if (result != CUDA_SUCCESS)
        return result;
    memcpy(pfn, &fn, sizeof fn); /* not found is success with NULL */
    if (symbolStatus != NULL) {
        *symbolStatus = found == LOOKUP_FOUND         ? CU_GET_PROC_ADDRESS_SUCCESS
                        : found == LOOKUP_NEEDS_NEWER ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                                      : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    }
    return CUDA_SUCCESS;
}

/* Marks a slot as adapted, if the driver has it. */
static bool adapt(enum cushim_slot slot)
{
    if (cushim_priv_driver_origins[slot].state != CUSHIM_STATE_NATIVE)
        return false;
    cushim_priv_driver_origins[slot].state = CUSHIM_STATE_ADAPTED;
    return true;
}

void cushim_priv_adapted_install(void)
{
    struct cushim_table *table = &cushim_priv_driver_table.named;
    if (cushim_priv_loaded_driver.capped && adapt(CUSHIM_SLOT_DriverGetVersion_v1))
        table->DriverGetVersion_v1 = adapted_DriverGetVersion;
    if (!cushim_priv_loaded_driver.capped && cushim_priv_mask_is_empty(&cushim_priv_loaded_driver.mask)
        && !cushim_priv_loaded_driver.per_thread)
        return;
    if (adapt(CUSHIM_SLOT_GetProcAddress_v1))
        table->GetProcAddress_v1 = adapted_GetProcAddress_v1;
    if (adapt(CUSHIM_SLOT_GetProcAddress_v2))
        table->GetProcAddress_v2 = adapted_GetProcAddress_v2;
}
