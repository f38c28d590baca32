/* SPDX-License-Identifier: MIT */
/* What a driver could end or block runs in a child process first. */
#ifndef CUSHIM_IN_CHILD_H
#define CUSHIM_IN_CHILD_H

#include "cushim/diagnosis.h"
#include "options.h"
#include "text.h"

/*
 * Loads the driver in a child process first. The library checks files in known paths and a file that is given by its
 * path, but the dynamic loader opens a plain name without a check: a truncated file ends the process (SIGBUS), and a
 * FIFO blocks it. The constructor of a library, or a layer, can end the process too.
 *
 * Returns NULL if this process can load the driver with these options. Otherwise the null driver is current, and the
 * returned diagnosis, which is never freed, names the library or the layer and describes how the child ended. On
 * Windows there is no child: LoadLibrary compares a file with its header before it maps it, and a plain name is
 * searched in System32 only. The child has 10 seconds, or `seconds` if that is more.
 */
const struct cushim_diagnosis *load_in_child(const struct cushim_load_options *options, int seconds);

/* After a load that found nothing: finds a libcuda.so.1 that cannot be used, in the known paths and in the directories
 * of LD_LIBRARY_PATH, and what is wrong with it: the dynamic loader passes over one that this user may not read, that
 * is for another processor, or that is a link without its file. Returns false if there is none. */
bool load_find_unusable(char *fault, size_t size);

enum call_end {
    CALL_RETURNED,
    CALL_ENDED,   /* the driver ended the process: *out_signal is its signal, or 0 */
    CALL_LATE,    /* the time is over; the child was left, even if it cannot be ended */
    CALL_NOT_MADE /* no child could be created, as on Windows */
};

enum { CALL_SECONDS = 60 }; /* how long a call may take if the command line does not say it */

/* Calls the function in a child process and writes its result. If it has returned, its answer goes to stdout. */
enum call_end call_in_child(int (*function)(const struct options *), const struct options *options, int seconds,
                            int *out_result, int *out_signal);

/* For that function: from now on it writes its answer. What the driver has written to stdout before goes to stderr. */
void call_answers(void);

/* Why the driver has no answer: "The driver ended the process (Aborted)." */
struct call_failure {
    char text[160];
};
struct call_failure call_failure(enum call_end how, int seconds, int signal);

/* Calls a command that loads the driver in a child process and, if the driver ends that process, in this one without a
 * driver. */
enum status call_command(int (*answer)(const struct options *), const struct options *options);

#endif
