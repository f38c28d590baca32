/* SPDX-License-Identifier: MIT */
/*
 * fake_driver.c - a fake driver for the tests of the loader. It has the entry points of one CUDA version, and each only
 * reports that it was called. The build makes many libraries of it:
 *
 *   FAKE_VERSION      the version that the driver reports
 *   FAKE_EXPORTS      the file with the entry points of that version (see rows.py)
 *   FAKE_ASKED        it exports cuInit, cuDriverGetVersion and cuGetProcAddress only, which has the others
 *   FAKE_FUTURE       the driver has more functions than cushim's lists
 *   FAKE_CONSTRUCTOR  it calls back the program that is loading it
 *
 * The rules of its cuGetProcAddress were observed on NVIDIA's drivers.
 */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
#include <string.h>

#include "export.h"
#include "fake.h"
#include "cushim/abi/egl.h" /* for a frame that is passed by value */

#if defined(FAKE_CONSTRUCTOR)
#    include "constructor.h"
#endif

#define UNUSED __attribute__((unused))

EXPORT extern struct cushim_dispatch_table fake_hooks;
EXPORT extern const struct cushim_dispatch_table fake_first_hooks;
EXPORT fake_call_counts fake_calls;
EXPORT enum fake_fault fake_fault = FAKE_CORRECT;

static void note_call(size_t index, int per_thread)
{
    __atomic_fetch_add(&fake_calls[index][per_thread], 1, __ATOMIC_RELAXED);
}

#define TYPED(driver_function, abi, params, args, per_thread)                                                          \
    UNUSED static CUresult CUDAAPI driver_function##_##abi##_##per_thread params                                       \
    {                                                                                                                  \
        note_call(ENTRY_##driver_function##_##abi, per_thread);                                                        \
        return fake_hooks.driver_function##_##abi != NULL ? fake_hooks.driver_function##_##abi args                    \
                                                          : FAKE_CODE(ENTRY_##driver_function##_##abi, per_thread);    \
    }
#define CUSHIM_ENTRY(driver_function, abi, since, params, args)                                                        \
    TYPED(driver_function, abi, params, args, 0) TYPED(driver_function, abi, params, args, 1)
#include "cushim/entry_points.h"

#if defined(FAKE_FUTURE)
EXPORT CUresult CUDAAPI cuFromTheFuture(void)
{
    return FAKE_FUTURE_CODE;
}

EXPORT CUresult CUDAAPI cuStreamQuery_v2(CUstream stream, int how)
{
    (void)stream;
    (void)how;
    return FAKE_FUTURE_ABI_CODE(0);
}

EXPORT CUresult CUDAAPI cuStreamQuery_v2_ptsz(CUstream stream, int how)
{
    (void)stream;
    (void)how;
    return FAKE_FUTURE_ABI_CODE(1);
}
#endif

struct entry {
    const char *driver_function;
    int since;
    int per_thread;
    cushim_fn function;
};

/* Grouped by driver function, oldest first, as in symbols.inc; those of the future driver come last. */
static const struct entry entries[] = {
#define FAKE_EXPORT(function, driver_function, since, symbol, per_thread, index)                                       \
    {"cu" #driver_function, since, per_thread, (cushim_fn)function},
#include FAKE_EXPORTS
#if defined(FAKE_FUTURE)
    {FAKE_FUTURE_FUNCTION, FAKE_FUTURE_VERSION, 0, (cushim_fn)cuFromTheFuture},
    {FAKE_FUTURE_ABI_FUNCTION, FAKE_FUTURE_VERSION, 0, (cushim_fn)cuStreamQuery_v2},
    {FAKE_FUTURE_ABI_FUNCTION, FAKE_FUTURE_VERSION, 1, (cushim_fn)cuStreamQuery_v2_ptsz},
#endif
};

static int has_per_thread_form(const char *driver_function)
{
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        if (entries[i].per_thread && strcmp(entries[i].driver_function, driver_function) == 0)
            return 1;
    }
    return 0;
}

/* If a driver function has per-thread variants, a request for such a form does not find the entry points without
 * one. */
static cushim_fn row_find(const char *driver_function, int version, int per_thread,
                          CUdriverProcAddressQueryResult *out_status)
{
    cushim_fn found = NULL;
    per_thread = per_thread && has_per_thread_form(driver_function);
    *out_status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        const struct entry *entry = &entries[i];
        if (strcmp(entry->driver_function, driver_function) != 0 || entry->per_thread != per_thread)
            continue;
        int since = entry->since;
        if (fake_fault == FAKE_LATER && since > CUSHIM_LIST_COMPARED_VERSION && since < FAKE_FUTURE_VERSION)
            since += 10;
        if (since <= version || fake_fault == FAKE_NEWEST) {
            found = entry->function;
            *out_status = CU_GET_PROC_ADDRESS_SUCCESS;
        } else if (found == NULL) {
            *out_status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
        }
    }
    return found;
}

static CUresult entry_look_up(const char *driver_function, void **pfn, int version, cuuint64_t flags,
                              CUdriverProcAddressQueryResult *status)
{
    if (driver_function == NULL || pfn == NULL || version > FAKE_VERSION)
        return CUDA_ERROR_INVALID_VALUE;
    int per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0 && fake_fault != FAKE_LEGACY;
    cushim_fn function = row_find(driver_function, version, per_thread, status);
    if (fake_fault == FAKE_SAME || fake_fault == FAKE_ERROR || fake_fault == FAKE_STATUS_IGNORED)
        function = entries[0].function;
    if (fake_fault == FAKE_SAME || fake_fault == FAKE_SAYS_FOUND)
        *status = CU_GET_PROC_ADDRESS_SUCCESS;
    if (fake_fault == FAKE_STATUS_IGNORED)
        *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    memcpy(pfn, &function, sizeof function);
    return fake_fault == FAKE_ERROR ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
}

static CUresult CUDAAPI get_proc_address_v1(const char *driver_function, void **pfn, int version, cuuint64_t flags)
{
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    void *found = NULL;
    if (pfn == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = entry_look_up(driver_function, &found, version, flags, &status);
    if (result == CUDA_SUCCESS && status != CU_GET_PROC_ADDRESS_SUCCESS)
        result = CUDA_ERROR_NOT_FOUND;
    if (result == CUDA_SUCCESS || fake_fault != FAKE_CORRECT)
        *pfn = found;
    return result;
}

static CUresult CUDAAPI get_proc_address_v2(const char *driver_function, void **pfn, int version, cuuint64_t flags,
                                            CUdriverProcAddressQueryResult *status)
{
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
    CUresult result = entry_look_up(driver_function, pfn, version, flags, &found);
    if (status != NULL && result == CUDA_SUCCESS && fake_fault != FAKE_NO_STATUS)
        *status = found;
    return result;
}

static CUresult CUDAAPI get_version(int *version)
{
    if (version == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *version = FAKE_VERSION;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI init(unsigned flags)
{
    return flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

#define FIRST_HOOKS                                                                                                    \
    {                                                                                                                  \
        .DriverGetVersion_v1 = get_version, .Init_v1 = init, .GetProcAddress_v1 = get_proc_address_v1,                 \
        .GetProcAddress_v2 = get_proc_address_v2                                                                       \
    }
struct cushim_dispatch_table fake_hooks = FIRST_HOOKS;
const struct cushim_dispatch_table fake_first_hooks = FIRST_HOOKS;

/* The exports: other names for the functions. */

#undef FAKE_EXPORT
#define FAKE_NAME(function, symbol) EXPORT extern __typeof__(function) symbol __attribute__((alias(#function)));
#if defined(FAKE_ASKED)
FAKE_NAME(Init_v1_0, cuInit)
FAKE_NAME(DriverGetVersion_v1_0, cuDriverGetVersion)
FAKE_NAME(GetProcAddress_v1_0, cuGetProcAddress)
#    if FAKE_VERSION >= 12000
FAKE_NAME(GetProcAddress_v2_0, cuGetProcAddress_v2)
#    endif
#else
#    define FAKE_EXPORT(function, driver_function, since, symbol, per_thread, index) FAKE_NAME(function, symbol)
#    include FAKE_EXPORTS
#endif
