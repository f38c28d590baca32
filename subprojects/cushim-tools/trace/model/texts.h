/* SPDX-License-Identifier: MIT */
/* Texts that outlive the call in which they were read, such as names of kernels: each is kept once. */
#ifndef CUSHIM_TRACE_TEXTS_H
#define CUSHIM_TRACE_TEXTS_H

#include <stddef.h>

#include "table.h"

/* Begin with a zeroed struct. */
struct trace_texts {
    struct trace_table table;
};

/* Keeps the text up to its first zero until trace_texts_free(). Returns it, or NULL if there is not enough memory. Of
 * more than a million texts, the others are "(too many names)". */
const char *trace_text_keep(struct trace_texts *texts, const char *text, size_t length);

void trace_texts_free(struct trace_texts *texts);

#endif
