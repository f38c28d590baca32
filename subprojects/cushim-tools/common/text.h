/* SPDX-License-Identifier: MIT */
/* Aligned text, coloured only on a terminal; strings from outside cannot move the cursor. */
#ifndef CUSHIM_TOOLS_TEXT_H
#define CUSHIM_TOOLS_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "cushim/attributes.h"
#include "machine.h"

/* The exit status of the program. */
enum status {
    STATUS_USABLE = 0,
    STATUS_UNUSABLE = 1,
    STATUS_USAGE = 2,
    STATUS_CANNOT_EXECUTE = 126, /* the program of exec, as with env(1) and nohup(1) */
    STATUS_NO_PROGRAM = 127
};

enum tone { TONE_PLAIN, TONE_STRONG, TONE_FAINT, TONE_GOOD, TONE_DOUBTFUL, TONE_BAD };

/* Examines stdout and NO_COLOR. Call it once, before anything is written. */
void text_start(void);

/* Writes a string to stdout. Control characters, and bytes that are not UTF-8, become "?". */
void text_put_plain(const char *string);

/* Writes it padded with spaces to `width`. */
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

/* Writes a paragraph from the cursor on, which is at column `indent`, and ends the line. Breaks lines on a terminal
 * and, after text_break_lines(), elsewhere. */
void text_paragraph(enum tone tone, size_t indent, const char *text);
void text_break_lines(void);

/* Replaces each {name} of a text by the value that `find` writes. */
void text_fill(const char *pattern, void (*find)(const void *user, const char *name, char *value, size_t size),
               const void *user, char *text, size_t size);

/* Writes "cushim: ..." and a newline to stderr. */
CUSHIM_PRINTF(1, 2)
void text_complain(const char *format, ...);

/* Writes to stderr what is wrong with the command line, and how to get help. Returns STATUS_USAGE. */
CUSHIM_PRINTF(1, 2)
enum status text_refuse(const char *format, ...);

/* Writes bytes to stdout as they are. */
void text_write(const char *bytes, size_t size);

/* Writes what is buffered to stdout. Output that was not written is a failure: returns false after a message. */
bool text_flush(void);

/* Formats a CUDA version as "12.3". */
struct version_text text_version(int version);

bool text_starts_with(const char *text, const char *start);

/* Whether a text matches one of several patterns, which are separated by spaces: "*" matches any text and "#" matches a
 * number. */
bool pattern_matches(const char *patterns, const char *text);

/* Copies the next item of a list, such as a list of paths, and advances the list, which is NULL after its last item.
 * An item can be empty; one that is too long is cut. Returns false if there is no item. */
bool text_next_item(const char **list, const char *separators, char *item, size_t size);

/* Whether a list of names, separated by spaces or commas, contains a name. */
bool text_list_has(const char *list, const char *name);

enum { SLOT_STATES = 4 };

/* The words for the states of slots, by enum cushim_slot_state. */
struct slot_state {
    const char *word;
    enum tone tone;
};
extern const struct slot_state slot_states[SLOT_STATES];

#endif
