/* SPDX-License-Identifier: MIT */
/* Text output: aligned, and coloured only on a terminal. Strings from outside cannot move the cursor. */
#ifndef CUSHIM_CLI_TEXT_H
#define CUSHIM_CLI_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "cushim/attributes.h"

enum tone { TONE_PLAIN, TONE_STRONG, TONE_FAINT, TONE_GOOD, TONE_DOUBTFUL, TONE_BAD };

/* Examines stdout and NO_COLOR. Call it once, before anything is written. */
void text_start(void);

/* Writes a string to stdout, padded with spaces to `width`. Control characters become "?". */
void text_put(enum tone tone, const char *string, size_t width);

/* Writes formatted text. */
CUSHIM_PRINTF(2, 3)
void text_print(enum tone tone, const char *format, ...);

/* Returns the larger of `width` and the width of `string`, for a column. */
size_t text_wider(size_t width, const char *string);

/* Writes a tick or a word for a tone, as wide as text_mark_width(). */
void text_mark(enum tone tone);
size_t text_mark_width(void);

/* Writes one "  label   value" line. */
void text_field(const char *label, enum tone tone, const char *value);

/* Writes a paragraph from the cursor on, which is at column `indent`, and ends the line. Breaks lines only on a
 * terminal. */
void text_paragraph(enum tone tone, size_t indent, const char *words);

/* Writes "cushim: ..." and a newline to stderr. */
CUSHIM_PRINTF(1, 2)
void text_complain(const char *format, ...);
void text_complain_list(const char *format, va_list arguments);

/* Formats a CUDA version as "12.3". */
struct version_text {
    char text[24];
};
struct version_text text_version(int version);

#endif
