/* SPDX-License-Identifier: MIT */
/*
 * Every name that a driver exports, as a function that calls the slot of that name. The linker's version script decides
 * which of them a libcuda.so.1 exports. None of the names is one of <cuda.h>'s macros here: it is not included.
 */
#include "exports.h"

#include "cushim/abi/egl.h" /* a frame is passed by value */
#include "cushim/loader.h"
#include "proc_address.h"
#include "symbols.h"

/* By this name `cushim exec` recognises the library. */
extern const char cushim_exec_library[];
const char cushim_exec_library[] = "cushim exec";

/* These two are below. */
#define cuGetProcAddress table_GetProcAddress_v1
#define cuGetProcAddress_v2 table_GetProcAddress_v2

#define CUSHIM_EXPORT(symbol, kind, function, abi, version, params, args)                                              \
    CUresult CUDAAPI symbol params;                                                                                    \
    CUresult CUDAAPI symbol params                                                                                     \
    {                                                                                                                  \
        return cushim_table_##kind()->function##_##abi args;                                                           \
    }
#include "exports.inc"

#undef cuGetProcAddress
#undef cuGetProcAddress_v2

CUresult CUDAAPI cuGetProcAddress(const char *symbol, void **pfn, int version, cuuint64_t flags);
CUresult CUDAAPI cuGetProcAddress(const char *symbol, void **pfn, int version, cuuint64_t flags)
{
    CUresult result = table_GetProcAddress_v1(symbol, pfn, version, flags);
    if (result == CUDA_SUCCESS)
        exec_proc_address_replace(pfn);
    return result;
}

CUresult CUDAAPI cuGetProcAddress_v2(const char *symbol, void **pfn, int version, cuuint64_t flags,
                                     CUdriverProcAddressQueryResult *status);
CUresult CUDAAPI cuGetProcAddress_v2(const char *symbol, void **pfn, int version, cuuint64_t flags,
                                     CUdriverProcAddressQueryResult *status)
{
    CUresult result = table_GetProcAddress_v2(symbol, pfn, version, flags, status);
    if (result == CUDA_SUCCESS)
        exec_proc_address_replace(pfn);
    return result;
}

/*
 * The arguments of these are not known. Integers and pointers are passed in registers and then on the stack, so that
 * ten words reach the driver whatever they mean. No known function takes more.
 */
typedef CUresult(CUDAAPI *untyped_fn)(size_t, size_t, size_t, size_t, size_t, size_t, size_t, size_t, size_t, size_t);

#define CUSHIM_EXPORT_WITHOUT_SLOT(symbol, version)                                                                    \
    static cushim_fn driver_##symbol;                                                                                  \
    CUresult CUDAAPI symbol(size_t, size_t, size_t, size_t, size_t, size_t, size_t, size_t, size_t, size_t);           \
    CUresult CUDAAPI symbol(size_t a, size_t b, size_t c, size_t d, size_t e, size_t f, size_t g, size_t h, size_t i,  \
                            size_t j)                                                                                  \
    {                                                                                                                  \
        return driver_##symbol != NULL ? ((untyped_fn)driver_##symbol)(a, b, c, d, e, f, g, h, i, j)                   \
                                       : CUDA_ERROR_NOT_SUPPORTED;                                                     \
    }
#include "exports.inc"

#define KIND_legacy CUSHIM_DEFAULT_STREAM_LEGACY
#define KIND_per_thread CUSHIM_DEFAULT_STREAM_PER_THREAD
const struct exec_export exec_exports[] = {
#define CUSHIM_EXPORT(symbol, kind, function, abi, version, params, args)                                              \
    {#symbol, (cushim_fn)symbol, KIND_##kind, CUSHIM_SLOT_##function##_##abi, ROW_##function##_##abi, NULL},
#define CUSHIM_EXPORT_WITHOUT_SLOT(symbol, version)                                                                    \
    {#symbol, (cushim_fn)symbol, KIND_legacy, CUSHIM_SLOT_COUNT, ROW_COUNT, &driver_##symbol},
#include "exports.inc"
};
const size_t exec_export_count = sizeof exec_exports / sizeof exec_exports[0];
