/* SPDX-License-Identifier: MIT */
/* The diagnosis while it is being written, and how it becomes an immutable cushim_diagnosis. */
#ifndef CUSHIM_RECORD_H
#define CUSHIM_RECORD_H

#include "cushim/loader.h"

enum { RECORD_ATTEMPTS = 32, RECORD_VARIABLES = 8, RECORD_TEXT = 32768, RECORD_MESSAGE = 6144 };

/* Texts are offsets into `text`; what does not fit is cut short. Guarded by the load lock. */
struct record {
    enum cushim_reason reason;
    CUresult code;
    int cuda_version;
    unsigned path, message; /* 0: none */
    size_t attempt_count, variable_count;
    struct record_pair {
        unsigned name, value;
        bool used;                 /* of a variable */
        enum cushim_reason reason; /* of an attempt */
    } attempts[RECORD_ATTEMPTS], variables[RECORD_VARIABLES];
    unsigned text_used;
    char text[RECORD_TEXT];
};

void cushim_priv_record_start(struct record *record);

/* Starts with the attempts and the driver of a finished diagnosis, to add to them. */
void cushim_priv_record_start_from(struct record *record, const struct cushim_diagnosis *diagnosis);

/* "tried `place`: `result`". The first attempt that found something tells the reason, if no driver is found later. */
void cushim_priv_record_attempt(struct record *record, const char *place, enum cushim_reason reason,
                                const char *result);

void cushim_priv_record_variable(struct record *record, const char *name, const char *value, bool used);
void cushim_priv_record_path(struct record *record, const char *path);

/* Sets the outcome. `format` may be NULL for the reason's own message. */
CUSHIM_PRINTF(4, 5)
void cushim_priv_record_outcome(struct record *record, enum cushim_reason reason, CUresult code, const char *format,
                                ...);

/*
 * Sets the outcome of a search that found no driver: the first attempt that found something tells the reason, and is
 * named in the message. `nothing` is the reason if none did.
 */
void cushim_priv_record_failure(struct record *record, enum cushim_reason nothing);

/*
 * Makes a diagnosis of the record that stays for ever. Equal records share one, so a program that retries every
 * second does not grow. Without memory for the whole it keeps the reason.
 */
const struct cushim_diagnosis *cushim_priv_record_keep(const struct record *record);

/* The same, and makes it the current diagnosis. */
const struct cushim_diagnosis *cushim_priv_record_publish(const struct record *record);

/* The code with which a reason ends a load. */
CUresult cushim_priv_reason_code(enum cushim_reason reason);

/* For tests: forgets every diagnosis. */
void cushim_priv_record_reset(void);

#endif
