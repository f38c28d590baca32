/* SPDX-License-Identifier: MIT */
/* What is to be loaded: the caller's options and the environment, merged and checked. */
#ifndef CUSHIM_LOADER_REQUEST_H
#define CUSHIM_LOADER_REQUEST_H

#include "hidden_set.h"
#include "os_file.h"
#include "diagnosis.h"

/* The strings are the caller's or the environment's, and stay for the length of the call. */
struct request {
    const char *path; /* "": search; "none": load nothing. Shorter than OS_PATH_SIZE */
    const char *root; /* "": the machine itself. Shorter than OS_PATH_SIZE */
    void *handle;     /* NULL: not given */
    int max_version;  /* 0: no version limit */
    int min_version;  /* 0: any */
    struct hidden_set hidden;
    bool per_thread;
};

/*
 * Merges options (or NULL) with the environment. On false, the record has the reason: an option or variable that
 * makes no sense. Notes in the record which variables were set.
 */
bool cush_request_read(struct request *request, const struct cushim_load_options *options,
                       enum cushim_default_stream as_compiled, struct diagnosis_builder *builder);

/* The same of the options alone. */
bool cush_request_read_options(struct request *request, const struct cushim_load_options *options,
                               enum cushim_default_stream as_compiled, struct diagnosis_builder *builder);

#endif
