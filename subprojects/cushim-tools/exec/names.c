/* SPDX-License-Identifier: MIT */
/*
 * libcuda.so.1: every name that a driver exports, as a function that calls the slot of that name. The linker's version
 * script decides which of them a library exports. None of the names is a macro of <cuda.h> here: it is not included.
 */
#include "exec.h"

#include "cushim/abi/egl.h" /* a frame is passed by value */
#include "hide_symbol.h"

/* In each library, so that a call reads no address of another library first. */
static struct exec_names names = {
    .legacy = &cushim_exec_not_started, .per_thread = &cushim_exec_not_started, .hide = os_hide_symbol};

#define CUSHIM_EXPORT(symbol, kind, function, abi, params, args)                                                       \
    CUresult CUDAAPI symbol params;                                                                                    \
    CUresult CUDAAPI symbol params                                                                                     \
    {                                                                                                                  \
        return names.kind->named.function##_##abi args;                                                                \
    }

/*
 * The arguments of these are not known. Integers and pointers are passed in registers and then on the stack, so that
 * ten words reach the driver whatever they mean. No known function takes more.
 */
typedef CUresult(CUDAAPI *untyped_fn)(size_t, size_t, size_t, size_t, size_t, size_t, size_t, size_t, size_t, size_t);

#define CUSHIM_EXPORT_WITHOUT_SLOT(symbol)                                                                             \
    CUresult CUDAAPI symbol(size_t, size_t, size_t, size_t, size_t, size_t, size_t, size_t, size_t, size_t);           \
    CUresult CUDAAPI symbol(size_t a, size_t b, size_t c, size_t d, size_t e, size_t f, size_t g, size_t h, size_t i,  \
                            size_t j)                                                                                  \
    {                                                                                                                  \
        cushim_fn driver_fn = names.without_slot[EXEC_WITHOUT_SLOT_##symbol];                                          \
        return driver_fn != NULL ? ((untyped_fn)driver_fn)(a, b, c, d, e, f, g, h, i, j) : CUDA_ERROR_NOT_SUPPORTED;   \
    }
#include "lists/exports.inc"

/* A program that runs on softcuda looks this up in its driver. */
const struct softcuda_control *softcuda_control(int version);
const struct softcuda_control *softcuda_control(int version)
{
    return names.softcuda_control != NULL ? names.softcuda_control(version) : NULL;
}

static void names_start(void)
{
    cushim_exec_start(&names);
}

/* The dynamic loader calls this when it initialises the library. */
CUSHIM_ELF_SECTION(".init_array") static void (*start)(void) = names_start;
