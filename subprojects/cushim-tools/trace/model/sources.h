/* SPDX-License-Identifier: MIT */
/* Functions and lines of source, by addr2line(1). */
#ifndef CUSHIM_TRACE_SOURCES_H
#define CUSHIM_TRACE_SOURCES_H

#include "../file/reader.h"

/* Writes "work, foo.c:12" or "work" for the call that returns to an address. Returns false if nothing is known of it:
 * without addr2line, without symbols in the module, or if the module was changed since it was recorded. */
bool trace_source_find(const struct trace_module *module, uint64_t address, char *text, size_t size);

void trace_sources_free(void);

#endif
