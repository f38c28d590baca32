/* SPDX-License-Identifier: MIT */
/* The Python frames of a thread, without the interpreter's help. */
#ifndef CUSHIM_TRACE_PYTHON_FRAMES_H
#define CUSHIM_TRACE_PYTHON_FRAMES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Looks for the interpreter, with a lock of the dynamic loader. */
void python_prepare(void);

/*
 * Writes the words of the Python frames of this thread (TRACE_PYTHON in format.h), the newest one first: at most
 * TRACE_PYTHON_FRAMES, of which the second half leaves out those of packages if there are more. `self` is the number of
 * this process, which the caller knows: getpid() is a system call. Returns the number of words: 0 if the thread runs no
 * Python. It changes errno, takes no lock, and can be called anywhere, also in a child of fork().
 */
size_t python_frames(pid_t self, uint64_t *words, size_t room);

/* Returns why the frames of this process cannot be read (enum trace_no_python) with its number, or 0. */
unsigned python_problem(uint64_t *out_number);

#endif
