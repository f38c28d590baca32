/* SPDX-License-Identifier: MIT */
/* The operations of a start that failed, and which of them matter. */
#ifndef CUSHIM_DOCTOR_OPERATIONS_H
#define CUSHIM_DOCTOR_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>

enum meaning { OPERATION_NORMAL, OPERATION_HARMLESS, OPERATION_CAUSE };

struct operation {
    char call[24];  /* "openat" */
    char path[200]; /* or the size of memory, or "" */
    int error;      /* an errno */
    unsigned count; /* how often in a row */
    enum meaning meaning;
};

enum { MAX_OPERATIONS = 256 };

/* Begin with a zeroed struct. If there are too many, the oldest are lost. */
struct operations {
    struct operation list[MAX_OPERATIONS];
    size_t count;
    unsigned long calls; /* all that were made */
};

void operations_add(struct operations *operations, const char *call, const char *path, int error);

/* A file was opened: that it, or a library of its name, was not found before did not matter. */
void operations_opened(struct operations *operations, const char *path);

/* The last operation, or the first, that can be a cause; NULL if there is none. */
const struct operation *operations_last_cause(const struct operations *operations);
const struct operation *operations_first_cause(const struct operations *operations);

/* The last operation that was refused, although driver 580 starts without it; NULL if there is none. */
const struct operation *operations_last_candidate(const struct operations *operations);

/* The last library of the driver that was sought and not found in any directory; NULL if there is none. */
const struct operation *operations_missing_library(const struct operations *operations);

/* The part of a path after its last slash. */
const char *path_name(const char *path);

/* Whether an operation has this call and this error; whatever it means. */
const struct operation *operations_find(const struct operations *operations, const char *calls);

/* An operation as the subject of a sentence: "opening /dev/nvidia0". */
void operation_phrase(const struct operation *operation, char *text, size_t size);

#endif
