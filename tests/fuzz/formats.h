/* SPDX-License-Identifier: MIT */
/* Whether an output is valid JSON, CSV or text, whatever names are in it. */
#ifndef FUZZ_FORMATS_H
#define FUZZ_FORMATS_H

#include <stdbool.h>
#include <string.h>

#include "utf8.h"

/* Whether all characters are UTF-8, and none but the end of a line is a control character. */
static inline bool format_is_plain(const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0';) {
        size_t length = utf8_length(c);
        if (length == 0 || (*c < 0x20 && *c != '\n') || *c == 0x7f || (c[0] == 0xc2 && c[1] < 0xa0))
            return false;
        c += length;
    }
    return true;
}

static inline const char *format_skip(const char *at)
{
    return at + strspn(at, " \n");
}

/* Each returns what is behind a string or a value, or NULL if it is not valid. */
static inline const char *format_json_string(const char *at)
{
    if (*at++ != '"')
        return NULL;
    while (*at != '"') {
        size_t length = utf8_length((const unsigned char *)at);
        if (length == 0 || (unsigned char)*at < 0x20)
            return NULL;
        if (*at == '\\' && strchr("\"\\/bfnrtu", at[1]) == NULL)
            return NULL;
        if (*at == '\\' && at[1] == 'u' && strspn(at + 2, "0123456789abcdefABCDEF") < 4)
            return NULL;
        at += *at == '\\' ? 2 : length;
    }
    return at + 1;
}

static inline const char *format_json_value(const char *at)
{
    static const char *const words[] = {"true", "false", "null"};
    char close = *at == '{' ? '}' : ']';
    if (*at == '"')
        return format_json_string(at);
    if (*at != '{' && *at != '[') {
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
            if (strncmp(at, words[i], strlen(words[i])) == 0)
                return at + strlen(words[i]);
        }
        size_t sign = *at == '-', digits = strspn(at + sign, "0123456789");
        bool is_number = digits == 1 || (digits > 1 && at[sign] != '0');
        at += sign + digits;
        return is_number ? (*at == '.' ? at + 1 + strspn(at + 1, "0123456789") : at) : NULL;
    }
    at = format_skip(at + 1);
    for (bool is_first = true; *at != close; is_first = false) {
        if (!is_first && *at++ != ',')
            return NULL;
        at = format_skip(at);
        if (close == '}' && ((at = format_json_string(at)) == NULL || *at++ != ':'))
            return NULL;
        if ((at = format_json_value(format_skip(at))) == NULL)
            return NULL;
        at = format_skip(at);
    }
    return at + 1;
}

static inline bool format_is_json(const char *text)
{
    const char *end = format_json_value(format_skip(text));
    return end != NULL && *format_skip(end) == '\0';
}

/* Whether each line has so many values. */
static inline bool format_is_csv(const char *text, size_t columns)
{
    while (*text != '\0') {
        for (size_t i = 0; i < columns; i++) {
            if (*text == '"') {
                for (text++; *text != '"' || text[1] == '"'; text += *text == '"' ? 2 : 1) {
                    if (*text == '\0')
                        return false;
                }
                text++;
            } else {
                text += strcspn(text, ",\n\"");
            }
            if (*text++ != (i + 1 < columns ? ',' : '\n'))
                return false;
        }
    }
    return true;
}

#endif
