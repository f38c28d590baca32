/* SPDX-License-Identifier: MIT */
/* Whether a file may be given to the dynamic loader, which trusts it too much. */
#ifndef CUSHIM_LOADER_FILE_CHECK_H
#define CUSHIM_LOADER_FILE_CHECK_H

#include <stdbool.h>

/*
 * Returns what is wrong with `path`, or NULL; *out_damaged is whether the process would end or hang on it. glibc maps a
 * library without looking at the length of its file, so that one that is cut short kills the process (SIGBUS); it waits
 * for ever on a FIFO; and one for another processor it calls absent. Other faults it finds by itself.
 */
const char *cush_file_check(const char *path, bool *out_damaged);

#endif
