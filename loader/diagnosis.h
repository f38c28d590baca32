/* SPDX-License-Identifier: MIT */
/* Builds a diagnosis, and publishes it as an immutable cushim_diagnosis. */
#ifndef CUSHIM_LOADER_DIAGNOSIS_H
#define CUSHIM_LOADER_DIAGNOSIS_H

#include "cushim/diagnosis.h"

enum { DIAGNOSIS_ATTEMPTS = 32, DIAGNOSIS_VARIABLES = 8, DIAGNOSIS_TEXT = 30720, DIAGNOSIS_MESSAGE = 6144 };

/* A diagnosis that is being built, guarded by the load lock. Its strings are offsets into `text`, which has
 * DIAGNOSIS_TEXT bytes, and fewer without memory. A string that does not fit is truncated. */
struct diagnosis_builder {
    enum cushim_reason reason;
    CUresult code;
    int cuda_version;
    unsigned path, message; /* 0: not set */
    const char *advice;     /* NULL: that of the reason */
    size_t attempt_count, variable_count;
    struct builder_attempt {
        unsigned path, result, file;
        enum cushim_reason reason;
    } attempts[DIAGNOSIS_ATTEMPTS];
    struct builder_variable {
        unsigned name, value;
        bool is_used;
    } variables[DIAGNOSIS_VARIABLES];
    unsigned text_used, text_size;
    char *text;
};

/* Begins a diagnosis that is not published, with texts in `text`. */
void cush_diagnosis_begin(struct diagnosis_builder *builder, char *text, unsigned size);

/* Begins a diagnosis in the only builder, and returns it. The caller must publish it. */
CUSHIM_COLD struct diagnosis_builder *cush_diagnosis_start(void);

/* Begins one with the attempts, the path and the version of an existing diagnosis. */
CUSHIM_COLD struct diagnosis_builder *cush_diagnosis_start_from(const struct cushim_diagnosis *diagnosis);

/* Adds an attempt: the path that was tried, and its result as a format. `file` is that of a stub, or NULL. If no driver
 * is found later, the reason is that of the first attempt that found something. */
CUSHIM_PRINTF(5, 6)
CUSHIM_COLD void cush_diagnosis_add_attempt(struct diagnosis_builder *builder, const char *path,
                                            enum cushim_reason reason, const char *file, const char *result, ...);

CUSHIM_COLD void cush_diagnosis_add_variable(struct diagnosis_builder *builder, const char *name, const char *value,
                                             bool is_used);
CUSHIM_COLD void cush_diagnosis_set_path(struct diagnosis_builder *builder, const char *path);

/* Sets the outcome. If `format` is NULL, the message is that of the reason. */
CUSHIM_PRINTF(4, 5)
void cush_diagnosis_set_outcome(struct diagnosis_builder *builder, enum cushim_reason reason, CUresult code,
                                const char *format, ...);

/*
 * Sets the outcome of a search that found no driver. The reason is that of the first attempt that found something, and
 * the message names that attempt. `is_named`: the only path that was tried is one that a person named.
 */
CUSHIM_COLD void cush_diagnosis_set_failure(struct diagnosis_builder *builder, bool is_named);

/* Returns the message of the outcome, which is valid until the builder changes. */
const char *cush_diagnosis_message(const struct diagnosis_builder *builder);

/*
 * Makes a permanent diagnosis from the builder, and makes it the current one. Equal diagnoses share one object, so that
 * a program that retries every second does not grow. Without memory for all of it, the diagnosis has only the reason.
 */
CUSHIM_COLD const struct cushim_diagnosis *cush_diagnosis_publish(struct diagnosis_builder *builder);

/* For tests: frees every diagnosis. */
void cush_diagnosis_reset(void);

/* The code of a reason in reasons.h. */
CUresult cush_reason_code(enum cushim_reason reason);

#endif
