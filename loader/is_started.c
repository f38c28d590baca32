/* SPDX-License-Identifier: MIT */
#include "cushim/gpu.h"

#include "driver.h"
#include "load.h"
#include "os.h"
#include "start.h"

#if defined(_WIN32)
static const char started_driver_file[] = "nvcuda.dll";
#else
static const char started_driver_file[] = "libcuda.so";
#endif

/* Asks the driver itself, not through a slot, which could load it, or be of a layer. It answers 3 before a start, after
 * one that failed, and in a child of fork(). */
static CUresult started_ask(void *library)
{
    cushim_fn symbol = cush_os_library_symbol(library, cush_symbols_symbol(ENTRY_DeviceGetCount_v1));
    int count = 0;
    return symbol != NULL ? ((CUresult(CUDAAPI *)(int *))symbol)(&count) : CUDA_ERROR_NOT_FOUND;
}

/* Adds the answer of one driver. A process can have several: that of `cushim exec` hands on to another one. */
static enum cushim_start_state started_add(enum cushim_start_state state, CUresult code, bool *out_is_forked)
{
    *out_is_forked |= code == CUDA_ERROR_NOT_INITIALIZED;
    if (code == CUDA_SUCCESS)
        return CUSHIM_START_YES;
    return code == CUDA_ERROR_DEINITIALIZED && state == CUSHIM_START_NO ? CUSHIM_START_ENDED : state;
}

CUSHIM_COLD enum cushim_start_state cushim_is_started(void)
{
    enum cushim_start_state state = CUSHIM_START_NO;
    bool may_be_forked = false;
    void *library;
    if (cush_load_has_succeeded())
        state = started_add(state, started_ask(cush_loaded_driver.library), &may_be_forked);
    for (size_t i = 0;
         state != CUSHIM_START_YES && (library = cush_os_library_open_again(started_driver_file, i)) != NULL; i++) {
        state = started_add(state, started_ask(library), &may_be_forked);
        cush_os_library_close(library);
    }
    return state == CUSHIM_START_NO && may_be_forked && cush_start_is_inherited() ? CUSHIM_START_FORKED : state;
}
