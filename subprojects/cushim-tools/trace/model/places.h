/* SPDX-License-Identifier: MIT */
/* Where a call was made: addresses as parts of programs and libraries, with lines of source if these are known. */
#ifndef CUSHIM_TRACE_PLACES_H
#define CUSHIM_TRACE_PLACES_H

#include "../file/reader.h"

/* "libfoo.so+0x13f1 (work, foo.c:12)", or "0x7f0013f1" if the file does not have its module. Valid until
 * trace_places_free(). Returns "" for the address 0, or if there is not enough memory. */
const char *trace_place_name(const struct trace_reader *reader, size_t process, uint64_t address);

/* The Python frames of a call as lines, the innermost one first: "model.py:7 (Block.forward)". Equal frames are the
 * same pointer, which is valid until trace_places_free(). Returns NULL if the call has none, or without enough
 * memory. */
const char *trace_python_lines(const struct trace_call *call);

/* Where a call was made, as lines, the innermost one first: the native place, unless the call has Python frames and the
 * native place is in a library that is not the program's; and the Python frames. As valid. "": unknown. */
const char *trace_place_lines(const struct trace_reader *reader, size_t process, uint64_t site, const char *python);

/* Whether a file is a library of CUDA, such as libcublas, which programs call, and which calls the driver. */
bool trace_is_cuda_library(const char *path);

/* Whether such a library made the call: it, or the layers between it and the driver. */
bool trace_is_from_cuda_library(const struct trace_reader *reader, const struct trace_call *call);

/* The frame of a call's backtrace that is the program's own: the first one that is not in a directory of the system, in
 * an installed package, or in a library of CUDA; without it, the first one that is not in a layer between the program
 * and the driver, such as the CUDA runtime. It is an index of the backtrace, or 0. */
size_t trace_first_frame(const struct trace_reader *reader, const struct trace_call *call);

/* Its address, or that of the caller if the call has no backtrace. */
uint64_t trace_site_of(const struct trace_reader *reader, const struct trace_call *call);

/* Whether a call was made by a module with this text in its path, or has it in its backtrace, or in the path of a file
 * or in the name of a function of its Python frames. */
bool trace_is_called_from(const struct trace_reader *reader, const struct trace_call *call, const char *text);

/* Whether a place has no name because there was not enough memory. */
bool trace_places_have_failed(void);

void trace_places_free(void);

/* Whether a process runs Python. */
bool trace_is_python(const struct trace_process *process);

#endif
