/* SPDX-License-Identifier: MIT */
/* Where a call was made: addresses as parts of programs and libraries, with lines of source if these are known. */
#ifndef CUSHIM_TRACE_PLACES_H
#define CUSHIM_TRACE_PLACES_H

#include "../file/reader.h"

/* "libfoo.so+0x13f1 (work, foo.c:12)", or "0x7f0013f1" if the file does not have its module. Valid until
 * trace_places_free(). Returns "" for the address 0, or if there is not enough memory. */
const char *trace_place_name(const struct trace_reader *reader, size_t process, uint64_t address);

/* The address in a call's backtrace from which on the program is not a layer between it and the driver, such as the
 * CUDA runtime: an index of its backtrace, or 0. */
size_t trace_first_frame(const struct trace_reader *reader, const struct trace_call *call);

/* Its address, or that of the caller if the call has no backtrace. */
uint64_t trace_site_of(const struct trace_reader *reader, const struct trace_call *call);

/* Whether a call was made by a module with this text in its path, or has it in its backtrace. */
bool trace_is_called_from(const struct trace_reader *reader, const struct trace_call *call, const char *text);

void trace_places_free(void);

#endif
