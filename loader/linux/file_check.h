/* SPDX-License-Identifier: MIT */
/* Checks a file before the dynamic loader opens it, because the dynamic loader checks too little. */
#ifndef CUSHIM_LOADER_FILE_CHECK_H
#define CUSHIM_LOADER_FILE_CHECK_H

#include "../os.h"

/*
 * Returns a text that says what is wrong with `path`, and sets *out_result to the result of opening it; or NULL.
 * glibc maps a library without a check of the file's length, so that a truncated file ends the process (SIGBUS). It
 * waits for ever on a FIFO, and it reports a library for another processor as absent. In a path with $ORIGIN, $LIB or
 * $PLATFORM, it would open another file, even outside of a root directory. It detects other faults itself.
 */
CUSHIM_COLD const char *cush_file_check(const char *path, enum os_library_result *out_result);

#endif
