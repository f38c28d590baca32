/* SPDX-License-Identifier: MIT */
/* The errors that functions of many files return. `function` is the name of the public function. */
#ifndef CUSHIM_FAIL_H
#define CUSHIM_FAIL_H

#include "cushim/loader.h"

static inline CUresult fail_null_context(const char *function)
{
    return cushim_set_error(CUDA_ERROR_INVALID_CONTEXT, function, "The context is NULL or was destroyed.");
}

static inline CUresult fail_null_stream(const char *function)
{
    return cushim_set_error(CUDA_ERROR_INVALID_HANDLE, function, "The stream is NULL or was destroyed.");
}

static inline CUresult fail_null_event(const char *function)
{
    return cushim_set_error(CUDA_ERROR_INVALID_HANDLE, function, "The event is NULL or was destroyed.");
}

static inline CUresult fail_null_graph(const char *function)
{
    return cushim_set_error(CUDA_ERROR_INVALID_HANDLE, function,
                            "The graph is NULL, was destroyed, or was lost in a failed capture into it.");
}

static inline CUresult fail_null_output(const char *function)
{
    return cushim_set_error(CUDA_ERROR_INVALID_VALUE, function, "The output pointer is NULL.");
}

static inline CUresult fail_null_body(const char *function)
{
    return cushim_set_error(CUDA_ERROR_INVALID_VALUE, function, "The body is NULL.");
}

static inline CUresult fail_null_function(const char *function)
{
    return cushim_set_error(CUDA_ERROR_INVALID_VALUE, function, "The function is NULL.");
}

static inline CUresult fail_edges_without_nodes(const char *function)
{
    return cushim_set_error(CUDA_ERROR_INVALID_VALUE, function,
                            "The nodes are NULL, although the count is not 0 or the edges are not NULL.");
}

static inline CUresult fail_out_of_memory(const char *function)
{
    return cushim_set_error(CUDA_ERROR_OUT_OF_MEMORY, function, "The host is out of memory.");
}

#endif
