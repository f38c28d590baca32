/* SPDX-License-Identifier: MIT */
/* The diagnosis while it is being written, and how it becomes an immutable cushim_diagnosis. */
#ifndef CUSHIM_LOADER_DIAGNOSIS_H
#define CUSHIM_LOADER_DIAGNOSIS_H

#include "cushim/loader.h"

enum { DIAGNOSIS_ATTEMPTS = 32, DIAGNOSIS_VARIABLES = 8, DIAGNOSIS_TEXT = 32768, DIAGNOSIS_MESSAGE = 6144 };

/* Texts are offsets into `text`; what does not fit is cut short. Guarded by the load lock. */
struct diagnosis_builder {
    enum cushim_reason reason;
    CUresult code;
    int cuda_version;
    unsigned path, message; /* 0: none */
    size_t attempt_count, variable_count;
    struct record_attempt {
        unsigned place, result, file;
        enum cushim_reason reason;
    } attempts[DIAGNOSIS_ATTEMPTS];
    struct record_variable {
        unsigned name, value;
        bool used;
    } variables[DIAGNOSIS_VARIABLES];
    unsigned text_used;
    char text[DIAGNOSIS_TEXT];
};

void cush_diagnosis_start(struct diagnosis_builder *builder);

/* Starts with the attempts and the driver of a finished diagnosis, to add to them. */
void cush_diagnosis_start_from(struct diagnosis_builder *builder, const struct cushim_diagnosis *diagnosis);

/* "tried `place`: `result`"; `file` is that of a stub, or NULL. The first attempt that found something tells the
 * reason, if no driver is found later. */
void cush_diagnosis_add_attempt(struct diagnosis_builder *builder, const char *place, enum cushim_reason reason,
                                const char *result, const char *file);

void cush_diagnosis_add_variable(struct diagnosis_builder *builder, const char *name, const char *value, bool used);
void cush_diagnosis_set_path(struct diagnosis_builder *builder, const char *path);

/* Sets the outcome. `format` may be NULL for the reason's own message. */
CUSHIM_PRINTF(4, 5)
void cush_diagnosis_set_outcome(struct diagnosis_builder *builder, enum cushim_reason reason, CUresult code,
                                const char *format, ...);

/*
 * Sets the outcome of a search that found no driver: the first attempt that found something tells the reason, and is
 * named in the message. `nothing` is the reason if none did.
 */
void cush_diagnosis_set_failure(struct diagnosis_builder *builder, enum cushim_reason nothing);

/* The sentence of the outcome. Valid until the record changes. */
const char *cush_record_message(const struct diagnosis_builder *builder);

/*
 * Makes a diagnosis of the record that stays for ever, and makes it the current one. Equal records share one, so a
 * program that retries every second does not grow. Without memory for the whole it keeps the reason.
 */
const struct cushim_diagnosis *cush_diagnosis_publish(const struct diagnosis_builder *builder);

/* For tests: forgets every diagnosis. */
void cush_diagnosis_reset(void);

#endif
