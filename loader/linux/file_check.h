/* SPDX-License-Identifier: MIT */
/* Checks a file before the dynamic loader opens it, because the dynamic loader checks too little. */
#ifndef CUSHIM_LOADER_FILE_CHECK_H
#define CUSHIM_LOADER_FILE_CHECK_H

#include <stdbool.h>

/*
 * Returns a text that says what is wrong with `path`, or NULL. *out_damaged is true if opening the file would end or
 * block the process. glibc maps a library without a check of the file's length, so that a truncated file ends the
 * process (SIGBUS). It waits for ever on a FIFO, and it reports a library for another processor as absent. In a
 * path with $ORIGIN, $LIB or $PLATFORM, it would open another file, even outside of a root directory. It detects other
 * faults itself.
 */
const char *cush_file_check(const char *path, bool *out_damaged);

#endif
