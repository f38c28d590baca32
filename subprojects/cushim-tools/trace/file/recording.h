/* SPDX-License-Identifier: MIT */
/* The file of `cushim trace` while the program runs: it has a name of its own, and gets the requested one at the
 * end. */
#ifndef CUSHIM_RECORDING_H
#define CUSHIM_RECORDING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "platform.h"

struct recording {
    int file;                        /* stays open: nothing that happens to the names concerns it */
    char path[PLATFORM_PATH_SIZE];   /* the requested file; after recording_finish() the one that has the recording */
    char hidden[PLATFORM_PATH_SIZE]; /* beside it, while the program runs */
    bool was_there;                  /* whether a file had the requested name, and which */
    struct stat before;
};

/* Makes the file, empty of calls, beside the requested one, and names it in the environment. Returns NULL, or why that
 * is not possible. */
const char *recording_start(struct recording *recording, const char *path, uint64_t size, bool keeps_newest,
                            bool wants_stacks, bool wants_arguments, const char *command);

/* The same for a file without a name, of which nothing is left. */
const char *recording_start_unnamed(struct recording *recording, uint64_t size, const char *command);

/* Ends the recording: cuts the room that was not used, and gives the file its name. If another file got that name
 * meanwhile, the recording gets another one, `path`. Returns NULL, or why the file has no name. */
const char *recording_finish(struct recording *recording);

/* Finds the trace layer, in the build directory of this program or where both are installed. */
bool trace_layer_find(char *path, size_t size);

/* Removes a recording of a program that did not start. */
void recording_discard(const struct recording *recording);

#endif
