/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cushim/slot.h"
#include "platform.h"
#include "utf8.h"

enum { LINE_WIDTH = 80, LABEL_WIDTH = 15 };

/* How to write to stdout; set once. */
static struct {
    bool colours;
    bool ticks;
    bool lines; /* break paragraphs */
} style;

/* Whether the name of the locale contains UTF-8. */
static bool has_utf8_locale(void)
{
    const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && value[0] != '\0')
            return strstr(value, "UTF-8") != NULL || strstr(value, "utf8") != NULL || strstr(value, "utf-8") != NULL;
    }
    return false;
}

void text_start(void)
{
    const char *no_color = getenv("NO_COLOR");
    style.lines = platform_on_terminal();
    style.colours = (no_color == NULL || no_color[0] == '\0') && platform_has_colours();
    style.ticks = style.lines && has_utf8_locale();
}

/* Replaces control characters, those of ASCII and c2 80 to c2 9f, and bytes that are not UTF-8. */
static void put_plain(FILE *out, const char *string)
{
    for (const unsigned char *c = (const unsigned char *)string; *c != '\0';) {
        size_t length = utf8_length(c);
        bool is_control = c[0] < 0x20 || c[0] == 0x7f || (c[0] == 0xc2 && length == 2 && c[1] < 0xa0);
        if (length == 0 || is_control)
            fputc('?', out);
        else
            fwrite(c, 1, length, out);
        c += length == 0 ? 1 : length;
    }
}

static void start_tone(enum tone tone)
{
    static const char *const codes[] = {"", "\033[1m", "\033[2m", "\033[32m", "\033[33m", "\033[31m"};
    if (style.colours)
        fputs(codes[tone], stdout);
}

static void end_tone(enum tone tone)
{
    if (style.colours && tone != TONE_PLAIN)
        fputs("\033[0m", stdout);
}

/* Counts characters, not bytes: continuation bytes do not count. */
static size_t width_of(const char *string, size_t bytes)
{
    size_t width = 0;
    for (size_t i = 0; i < bytes; i++)
        width += ((unsigned char)string[i] & 0xc0) != 0x80;
    return width;
}

void text_put(enum tone tone, const char *string, size_t width)
{
    start_tone(tone);
    put_plain(stdout, string);
    end_tone(tone);
    for (size_t i = width_of(string, strlen(string)); i < width; i++)
        fputc(' ', stdout);
}

size_t text_wider(size_t width, const char *string)
{
    size_t own = width_of(string, strlen(string));
    return own > width ? own : width;
}

void text_print(enum tone tone, const char *format, ...)
{
    char text[PLATFORM_PATH_SIZE + 256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    text_put(tone, text, 0);
}

void text_mark(enum tone tone)
{
    static const char *const ticks[] = {"-", "-", "-", "\xe2\x9c\x93", "!", "\xe2\x9c\x97"};
    static const char *const names[] = {"note", "note", "note", "ok", "note", "problem"};
    text_put(tone, style.ticks ? ticks[tone] : names[tone], text_mark_width());
}

size_t text_mark_width(void)
{
    return style.ticks ? 2 : 9;
}

void text_field(const char *label, enum tone tone, const char *value)
{
    fputs("  ", stdout);
    text_put(TONE_FAINT, label, LABEL_WIDTH);
    text_put(tone, value, 0);
    fputc('\n', stdout);
}

void text_break_lines(void)
{
    style.lines = true;
}

void text_paragraph(enum tone tone, size_t indent, const char *text)
{
    size_t column = indent;
    start_tone(tone);
    for (const char *word = text; *word != '\0'; word += strspn(word, " ")) {
        char copy[PLATFORM_PATH_SIZE];
        size_t length = strcspn(word, " ");
        size_t width = width_of(word, length);
        if (word != text) {
            bool full = style.lines && column + 1 + width > LINE_WIDTH;
            column = full ? indent : column + 1;
            if (full)
                printf("\n%*s", (int)indent, "");
            else
                fputc(' ', stdout);
        }
        snprintf(copy, sizeof copy, "%.*s", (int)length, word);
        put_plain(stdout, copy);
        column += width;
        word += length;
    }
    end_tone(tone);
    fputc('\n', stdout);
}

void text_fill(const char *pattern, void (*find)(const void *user, const char *name, char *value, size_t size),
               const void *user, char *text, size_t size)
{
    size_t used = 0;
    while (*pattern != '\0' && used + 1 < size) {
        size_t length = *pattern == '{' ? strcspn(pattern, "}") : 0;
        char name[32];
        if (length == 0 || length > sizeof name) {
            text[used++] = *pattern++;
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)length - 1, pattern + 1);
        find(user, name, text + used, size - used);
        used += strlen(text + used);
        pattern += length + 1;
    }
    text[used] = '\0';
}

void text_put_plain(const char *string)
{
    put_plain(stdout, string);
}

static void complain(const char *format, va_list arguments)
{
    char text[PLATFORM_PATH_SIZE + 256];
    vsnprintf(text, sizeof text, format, arguments);
    fputs("cushim: ", stderr);
    put_plain(stderr, text);
    fputc('\n', stderr);
}

void text_complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain(format, arguments);
    va_end(arguments);
}

enum status text_refuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain(format, arguments);
    va_end(arguments);
    fputs("Try: cushim --help\n", stderr);
    return STATUS_USAGE;
}

static int output_error; /* of text_write() */

void text_write(const char *bytes, size_t size)
{
    if (size > 0 && fwrite(bytes, 1, size, stdout) != size)
        output_error = errno;
}

bool text_flush(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    int error = errno != 0 ? errno : output_error; /* 0: an earlier write failed */
    text_complain("cannot write the output%s%s", error != 0 ? ": " : "", error != 0 ? strerror(error) : "");
    return false;
}

struct version_text text_version(int version)
{
    return cush_version_text(version);
}

bool text_starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* `end` is the end of the pattern. */
static bool one_matches(const char *pattern, const char *end, const char *text)
{
    if (pattern == end)
        return *text == '\0';
    if (*pattern == '*')
        return one_matches(pattern + 1, end, text) || (*text != '\0' && one_matches(pattern, end, text + 1));
    if (*pattern == '#') {
        size_t digits = strspn(text, "0123456789");
        return digits > 0 && one_matches(pattern + 1, end, text + digits);
    }
    return *pattern == *text && one_matches(pattern + 1, end, text + 1);
}

bool pattern_matches(const char *patterns, const char *text)
{
    for (size_t length; *patterns != '\0'; patterns += length + (patterns[length] == ' ')) {
        length = strcspn(patterns, " ");
        if (one_matches(patterns, patterns + length, text))
            return true;
    }
    return false;
}

bool text_next_item(const char **list, const char *separators, char *item, size_t size)
{
    if (*list == NULL)
        return false;
    size_t length = strcspn(*list, separators);
    snprintf(item, size, "%.*s", (int)length, *list);
    *list = (*list)[length] != '\0' ? *list + length + 1 : NULL;
    return true;
}

bool text_list_has(const char *list, const char *name)
{
    char item[PLATFORM_PATH_SIZE];
    while (text_next_item(&list, " ,", item, sizeof item)) {
        if (strcmp(item, name) == 0)
            return true;
    }
    return false;
}

const struct slot_state slot_states[SLOT_STATES] = {
    [CUSHIM_STATE_NATIVE] = {"native", TONE_GOOD},
    [CUSHIM_STATE_POLYFILL] = {"polyfill", TONE_DOUBTFUL},
    [CUSHIM_STATE_ADAPTED] = {"adapted", TONE_DOUBTFUL},
    [CUSHIM_STATE_MISSING] = {"missing", TONE_BAD},
};
