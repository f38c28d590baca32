/* SPDX-License-Identifier: MIT */
/* Names of C++ as they stand in the source. */
#ifndef CUSHIM_TRACE_DEMANGLE_H
#define CUSHIM_TRACE_DEMANGLE_H

/* Returns "ns::kernel<float>" for a mangled name, without the type of its result and its parameters, or a copy of any
 * other name; NULL if there is not enough memory. Free it. */
char *trace_demangle(const char *name);

#endif
