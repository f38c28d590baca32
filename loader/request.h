/* SPDX-License-Identifier: MIT */
/* The request of a load: the options and the environment variables, merged and checked. */
#ifndef CUSHIM_LOADER_REQUEST_H
#define CUSHIM_LOADER_REQUEST_H

#include <stdbool.h>

#include "cushim/load.h"
#include "diagnosis.h"
#include "os.h"
#include "symbols.h"

/* The strings belong to the caller or to the environment and are valid during the call. */
struct request {
    const char *path; /* "": search; "none": load no driver. Shorter than OS_PATH_SIZE */
    const char *root; /* "": this machine. Shorter than OS_PATH_SIZE */
    void *handle;     /* NULL: not given */
    int max_version;  /* 0: no version limit */
    int min_version;  /* 0: accept every driver */
    struct hidden_set hidden;
    const char *layers; /* a list of shared objects, or "" */
};

/* Merges the options with the environment variables, and records in the builder which variables were set.
 * Returns false if an option or a variable has an invalid value; then the builder has the reason. */
CUSHIM_COLD bool cush_request_read(struct request *request, const struct cushim_load_options *options,
                                   struct diagnosis_builder *builder);

/* Does so without the environment variables. */
CUSHIM_COLD bool cush_request_read_options(struct request *request, const struct cushim_load_options *options,
                                           struct diagnosis_builder *builder);

#endif
