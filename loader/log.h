/* SPDX-License-Identifier: MIT */
/* The lines about a load and a start: for the callback of a load, and, with CUSHIM_LOG, for stderr or a file. */
#ifndef CUSHIM_LOADER_LOG_H
#define CUSHIM_LOADER_LOG_H

#include "cushim/diagnosis.h"
#include "cushim/load.h"

/* Passes the four texts to the callback of the options, which must have one, as one line. */
CUSHIM_COLD void cush_log_line(const struct cushim_load_options *options, const char *first, const char *second,
                               const char *third, const char *last);

/* Does so with the variables of a load, what it tried and its outcome; or, with `is_start`, with what the driver read
 * of the environment and the outcome of the start. */
CUSHIM_COLD void cush_log_diagnosis(const struct cushim_load_options *options, const struct cushim_diagnosis *diagnosis,
                                    bool is_start);

/* Writes the same lines to what CUSHIM_LOG names, if it is set. The caller holds the load lock. */
CUSHIM_COLD void cush_log_as_requested(const struct cushim_diagnosis *diagnosis, bool is_start);

#endif
