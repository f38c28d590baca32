/* SPDX-License-Identifier: MIT */
/*
 * Facts for the analyzers, which read one source file at a time: these functions return the code that they are given,
 * or an error. Included before each source by the script "analyze"; never compiled into anything.
 */
#include "cushim/cushim.h"
#include "../../loader/error.h"

#define cushim_error_set(code, ...) (cushim_error_set(code, __VA_ARGS__), (code))
#define cush_error_set(code, ...) (cush_error_set(code, __VA_ARGS__), (code))
#define cush_fail_polyfill(...) (cush_fail_polyfill(__VA_ARGS__), CUDA_ERROR_NOT_SUPPORTED)
