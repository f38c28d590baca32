/* SPDX-License-Identifier: MIT */
/*
 * The numbers of functions, of types of parameters and of the flags in flags.inc. A reader gives each slot and field
 * its number when it reads the schema, so that nobody else compares names. The numbers are those of this version, and
 * no file has them. 0: this version does not know the name.
 */
#ifndef CUSHIM_TRACE_NUMBERS_H
#define CUSHIM_TRACE_NUMBERS_H

enum trace_function {
    TRACE_FUNCTION_UNKNOWN,
    TRACE_FUNCTION_ANY = TRACE_FUNCTION_UNKNOWN, /* in lists: whatever the function is */
#define TRACE_FUNCTION(function) TRACE_FUNCTION_##function,
#define TRACE_TYPE(type, name)
#include "numbers.inc"
};

enum trace_type_number {
    TRACE_TYPE_UNKNOWN,
#define TRACE_FUNCTION(function)
#define TRACE_TYPE(type, name) TRACE_TYPE_##type,
#include "numbers.inc"
};

#endif
