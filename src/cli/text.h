/* SPDX-License-Identifier: MIT */
/* Output for people: aligned, with colour on a terminal only. What comes from outside cannot move the cursor. */
#ifndef CUSHIM_CLI_TEXT_H
#define CUSHIM_CLI_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "cushim/attributes.h"

enum tone { TONE_PLAIN, TONE_STRONG, TONE_FAINT, TONE_GOOD, TONE_DOUBTFUL, TONE_BAD };

/* Looks at stdout and at NO_COLOR; to be called once, before anything is written. */
void text_start(void);

/* Writes a string to stdout, with spaces up to `width` (0: none). Control characters become "?". */
void text_put(enum tone tone, const char *string, size_t width);

/* Writes formatted words. */
CUSHIM_PRINTF(2, 3)
void text_print(enum tone tone, const char *format, ...);

/* The larger of `width` and that of `string`, for a column. */
size_t text_wider(size_t width, const char *string);

/* A tick or a word for how something is, as wide as text_mark_width(). */
void text_mark(enum tone tone);
size_t text_mark_width(void);

/* One "  label   value" line. */
void text_field(const char *label, enum tone tone, const char *value);

/* A paragraph that starts where the cursor is, at column `indent`; broken into lines on a terminal. Ends the line. */
void text_paragraph(enum tone tone, size_t indent, const char *words);

/* Writes "cushim: ..." and a newline to stderr. */
CUSHIM_PRINTF(1, 2)
void text_complain(const char *format, ...);
void text_complain_list(const char *format, va_list arguments);

/* A CUDA version as "12.3". */
struct version_text {
    char text[24];
};
struct version_text text_version(int version);

#endif
